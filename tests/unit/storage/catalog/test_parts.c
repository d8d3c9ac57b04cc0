/* Datasets of several parts: what is kept of each, and what they disagree about. */
#include "publishing.h"

TestSuite(parts, .init = set_up, .fini = tear_down);

/* A kept part's layouts follow their files when the numbers of those change; other parts' unnumbered episodes
 * move up. */
Test(parts, a_kept_part_follows_its_files)
{
    const struct hub_dataset_file before[] = {draft_file("b.h5", 1 << 20), draft_file("c.h5", 1 << 20)};
    const struct hub_dataset_file after[] = {draft_file("a.h5", 1 << 20), draft_file("b.h5", 1 << 20),
                                             draft_file("c.h5", 1 << 20)};
    struct hub_findings *b = draft_findings(two_fields, 2, 0, -1, 3, 5),
                        *c = draft_findings(two_fields, 2, 1, -1, 2, 5),
                        *a = draft_findings(two_fields, 2, 0, -1, 4, 5);
    const struct hub_draft_part old_parts[] = {{.name = "b", .signature = 1, .found = b},
                                               {.name = "c", .signature = 2, .found = c}};
    const struct hub_draft_part new_parts[] = {{.name = "a", .signature = 3, .found = a},
                                               {.name = "b", .signature = 1},
                                               {.name = "c", .signature = 2}};
    const struct hub_draft first = draft_of("set", before, 2, old_parts, 2),
                           second = draft_of("set", after, 3, new_parts, 3);
    publish(&first);
    const struct hub_dataset *old = opened("set");
    cr_expect_eq(file_of(old, 1, "actions"), 1);
    const int64_t row_of_b = old->parts[0].row;
    publish(&second);
    const struct hub_dataset *dataset = opened("set");
    cr_expect_eq(dataset->parts[1].row, row_of_b, "it was not written again");
    cr_expect_eq(file_of(dataset, 0, "actions"), 0);
    cr_expect_eq(file_of(dataset, 1, "actions"), 1);
    cr_expect_eq(file_of(dataset, 2, "actions"), 2);
    cr_expect_eq(file_of(old, 1, "actions"), 1, "the old state still reads");
    cr_expect_eq(dataset->episode_count, 9);
    cr_expect_eq(hub_dataset_find_episode(dataset, 4)->part, 1);
    cr_expect_eq(hub_dataset_find_episode(dataset, 4)->index, 0);
    cr_expect_eq(hub_dataset_find_episode(dataset, 8)->index, 1);
    hub_dataset_put(dataset);
    hub_dataset_put(old);
    draft_findings_free(a);
    draft_findings_free(b);
    draft_findings_free(c);
}

Test(parts, the_first_readable_part_says_what_a_field_is)
{
    static const struct draft_field odd[] = {{"actions", HUB_FIELD_NUMBER, 7},
                                             {"observations/qpos", HUB_FIELD_OPAQUE, 3}};
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20), draft_file("b.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(odd, 2, 0, 0, 3, 5),
                        *b = draft_findings(two_fields, 2, 1, 3, 2, 5);
    a->fields[1].unreadable = "references";
    const struct hub_draft_part parts[] = {{.name = "a", .found = a}, {.name = "b", .found = b}};
    struct hub_draft draft = draft_of("door-human-v1", files, 2, parts, 2);
    publish(&draft);
    const struct hub_dataset *dataset = opened("door-human-v1");
    cr_expect_eq(dataset->fields[1].type, HUB_FIELD_NUMBER);
    cr_expect_null(dataset->fields[1].unreadable);
    hub_dataset_put(dataset);
    expect_problem("door-human-v1", "\"field-unreadable\",\"path\":\"observations/qpos\"");
    draft_findings_free(a);
    draft_findings_free(b);
}

Test(parts, parts_that_disagree)
{
    static const struct draft_field longer[] = {{"actions", HUB_FIELD_NUMBER, 7},
                                                {"observations/qpos", HUB_FIELD_BYTES, 3}};
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20), draft_file("b.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(two_fields, 2, 0, 0, 3, 5),
                        *b = draft_findings(longer, 2, 1, 2, 3, 5);
    const struct hub_draft_part parts[] = {
        {.name = "a", .found = a}, {.name = "b", .found = b}, {.name = "c", .broken = "not HDF5"}};
    struct hub_found_fact facts[] = {{"id", "door-human-v0"},
                                     {"claimed_episodes", "6"},
                                     {"claimed_steps", "25"},
                                     {"era", "E4b"},
                                     {"stated_version", "~=0.4"}};
    struct hub_found_problem declared[] = {{"odd", "", "seen by the plan"}};
    const struct hub_findings plan = {
        .facts = facts, .fact_count = 5, .problems = declared, .problem_count = 1};
    struct hub_draft draft = draft_of("door-human-v1", files, 2, parts, 3);
    draft.plan = &plan;
    draft.rule = "minari";
    publish(&draft);
    const struct hub_dataset *dataset = opened("door-human-v1");
    cr_expect_eq(dataset->summary->status, HUB_DATASET_READY);
    cr_expect_eq(dataset->summary->episodes, 5);
    cr_expect_str_eq(dataset->fields[0].shape, "[null]");
    cr_expect_eq(hub_dataset_find_episode(dataset, 2)->part, 0, "the first of two stays");
    cr_expect_eq(hub_dataset_find_episode(dataset, 3)->part, 1);
    cr_expect_eq(hub_dataset_find_episode(dataset, 3)->index, 1);
    struct hub_layout_ref *ref;
    struct hub_error err;
    const struct hub_window *window;
    cr_assert_eq(hub_layout_get(catalog, dataset, 1, 1, true, &ref, &err), HUB_OK);
    cr_expect_eq(hub_layout_find(ref, hub_dataset_find_episode(dataset, 3), &window, &err), HUB_UNSUPPORTED);
    cr_expect_eq(err.problem, HUB_PROBLEM_FIELD_UNREADABLE);
    hub_layout_put(ref);
    cr_expect_eq(hub_layout_get(catalog, dataset, 2, 1, true, &ref, &err), HUB_NOT_FOUND);
    cr_expect_str_eq(dataset->parts[2].broken, "not HDF5");
    hub_dataset_put(dataset);
    expect_problem("door-human-v1", "\"field-type-conflict\",\"path\":\"observations/qpos\"");
    expect_problem("door-human-v1", "\"duplicate-episode\",\"path\":\"b\"");
    expect_problem("door-human-v1", "metadata says 6 episodes, the files hold 5");
    expect_problem("door-human-v1", "\"id-mismatch\"");
    expect_problem("door-human-v1", "\"part-broken\",\"path\":\"c\",\"detail\":\"not HDF5\"");
    expect_problem("door-human-v1", "seen by the plan");
    cr_expect(hub_summary_refused(summary_of("door-human-v1")),
              "nothing loads a set of which a part is broken");
    cr_expect_not(hub_summary_loadable(summary_of("door-human-v1"), "0.4.3"));
    cr_expect_eq(hub_summary_loads(summary_of("door-human-v1")), 0);
    cr_expect_eq(summary_of("door-human-v1")->costly, summary_of("door-human-v1")->problems - 2,
                 "another id, and what the plan saw, cost nothing");
    cr_expect_str_eq(summary_of("door-human-v1")->loadable_by, "[]");
    expect_problem("door-human-v1", "\"not-loadable\",\"detail\":\"1 of 3 parts cannot be read\"");
    draft.part_count = 2;
    publish(&draft);
    cr_expect(strstr(summary_of("door-human-v1")->loadable_by, "\"0.4.3\""));
    draft_findings_free(a);
    draft_findings_free(b);
}

Test(parts, a_set_of_a_later_release_is_no_refused_one)
{
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(two_fields, 2, 0, 0, 3, 5);
    const struct hub_draft_part parts[] = {{.name = "a", .found = a}};
    struct hub_found_fact facts[] = {{"era", "E5"}, {"stated_version", "0.6.0"}};
    const struct hub_findings plan = {.facts = facts, .fact_count = 2};
    struct hub_draft draft = draft_of("door-human-v2", files, 1, parts, 1);
    draft.plan = &plan;
    draft.rule = "minari";
    publish(&draft);
    cr_expect_str_eq(summary_of("door-human-v2")->loadable_by, "[\"newer than 0.5.4\"]");
    cr_expect_eq(hub_summary_loads(summary_of("door-human-v2")), 1);
    cr_expect(hub_summary_loadable(summary_of("door-human-v2"), "0.6.0"));
    cr_expect_not(hub_summary_loadable(summary_of("door-human-v2"), "0.5.4"));
    draft_findings_free(a);
}

/* What differs from part to part, as names of objects do, does not crowd an answer of all fields. */
Test(parts, numbers_inside_json_leave_room)
{
    enum { PARTS = 4, OWN = 60 };
    static char names[PARTS * OWN][16];
    struct draft_field fields[OWN];
    struct hub_dataset_file files[PARTS];
    struct hub_draft_part parts[PARTS];
    for (unsigned i = 0; i < PARTS * OWN; i++)
        snprintf(names[i], sizeof names[i], i % OWN == 0 ? "poses" : i % OWN > 50 ? "z%u" : "poses/k%u", i);
    for (unsigned p = 0; p < PARTS; p++) {
        char file[8];
        snprintf(file, sizeof file, "%u.h5", p);
        files[p] = draft_file(strdup(file), 1 << 20);
        for (unsigned i = 0; i < OWN; i++)
            fields[i] =
                (struct draft_field){names[p * OWN + i], i ? HUB_FIELD_NUMBER : HUB_FIELD_PADDED_JSON, 2};
        parts[p] = (struct hub_draft_part){.name = files[p].path,
                                           .found = draft_findings(fields, OWN, p, p * INT64_C(3), 3, 5)};
    }
    const struct hub_draft draft = draft_of("house-v1", files, PARTS, parts, PARTS);
    publish(&draft);
    const struct hub_dataset *dataset = opened("house-v1");
    uint32_t inside, first;
    size_t size;
    inside = hub_dataset_find_group(dataset, HUB_VIEW("poses"), &first, &size);
    cr_expect_eq(dataset->field_count - inside, 1 + PARTS * 9, "all others are there");
    cr_expect(dataset->field_count >= 128 && dataset->field_count <= 128 + PARTS * 9, "%u",
              dataset->field_count);
    cr_expect(hub_dataset_is_inside(dataset, first) && !hub_dataset_is_inside(dataset, first + inside));
    hub_dataset_put(dataset);
    expect_problem("house-v1", "\"too-many-fields\",\"path\":\"poses/k");
    cr_expect_eq(summary_of("house-v1")->problems, 1, "it is reported once");
    for (unsigned p = 0; p < PARTS; p++) {
        draft_findings_free((struct hub_findings *)parts[p].found);
        free((void *)files[p].path);
    }
}

Test(parts, a_dropped_episode_comes_back)
{
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20), draft_file("b.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(two_fields, 2, 0, 0, 3, 5),
                        *b = draft_findings(two_fields, 2, 1, 2, 3, 5);
    const struct hub_draft_part parts[] = {{.name = "a", .found = a}, {.name = "b", .found = b}};
    const struct hub_draft_part kept[] = {{.name = "b"}};
    const struct hub_draft both = draft_of("set-v0", files, 2, parts, 2),
                           one = draft_of("set-v0", files + 1, 1, kept, 1);
    publish(&both);
    cr_expect_eq(summary_of("set-v0")->episodes, 5);
    publish(&one);
    cr_expect_eq(summary_of("set-v0")->episodes, 3);
    const struct hub_dataset *dataset = opened("set-v0");
    cr_expect_not_null(hub_dataset_find_episode(dataset, 2));
    cr_expect_eq(file_of(dataset, 0, "actions"), 0);
    hub_dataset_put(dataset);
    draft_findings_free(a);
    draft_findings_free(b);
}

Test(parts, nothing_readable_is_broken)
{
    const struct hub_dataset_file files[] = {draft_file("a.h5", 10)};
    const struct hub_draft_part parts[] = {{.name = "a.h5", .broken = "truncated"}};
    const struct hub_draft draft = draft_of("bad-v0", files, 1, parts, 1);
    publish(&draft);
    const struct hub_summary *summary = summary_of("bad-v0");
    cr_expect_eq(summary->status, HUB_DATASET_BROKEN);
    cr_expect_str_eq(summary->reason, "a.h5: truncated");
    const struct hub_dataset *dataset = opened("bad-v0");
    cr_expect_eq(dataset->file_count, 1, "its files can be downloaded");
    hub_dataset_put(dataset);
}
