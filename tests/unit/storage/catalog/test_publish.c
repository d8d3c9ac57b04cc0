/* Publishing and reading back: datasets, parts, fields, layouts, facts, problems. */
#include "tests/support/catalog_draft.h"
#include "tests/support/see_episode.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>

static char *state;
static struct hub_catalog *catalog;
static struct hub_catalog_options options;

static void open_it(void)
{
    options.state = state;
    DRAFT_OK(hub_catalog_open(&options, &catalog, err));
}

static void set_up(void)
{
    state = draft_state();
    open_it();
}

static void tear_down(void)
{
    hub_catalog_close(catalog);
    DRAFT_OK(hub_fs_remove(AT_FDCWD, state, err));
    free(state);
}

TestSuite(publish, .init = set_up, .fini = tear_down);

static const struct draft_field two_fields[] = {{"actions", HUB_FIELD_NUMBER, 2},
                                                {"observations/qpos", HUB_FIELD_NUMBER, 3}};

static struct hub_draft draft_of(const char *id, const struct hub_dataset_file *files, uint32_t file_count,
                                 const struct hub_draft_part *parts, uint32_t part_count)
{
    return (struct hub_draft){.id = id,
                              .path = id,
                              .format = "minari-hdf5",
                              .status = HUB_DATASET_READY,
                              .files = files,
                              .file_count = file_count,
                              .parts = parts,
                              .part_count = part_count,
                              .revision = "0123456789012345678901234567890123456789"};
}

static void publish(const struct hub_draft *draft)
{
    DRAFT_OK(hub_catalog_publish(catalog, draft, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
}

static const struct hub_summary *summary_of(const char *id)
{
    return hub_snapshot_find(snapshot_now(catalog), hub_view_of(id));
}

static const struct hub_dataset *opened(const char *id)
{
    const struct hub_dataset *dataset = NULL;
    DRAFT_OK(hub_dataset_get(catalog, summary_of(id), true, &dataset, err));
    return dataset;
}

static struct hub_state state_of(const char *id)
{
    struct hub_state of_id;
    DRAFT_OK(hub_state_open(catalog, summary_of(id), &of_id, err));
    return of_id;
}

static void expect_problem(const char *id, const char *part_of_it)
{
    struct hub_buf text = HUB_BUF_INIT(MIB);
    HUB_CLEANUP(hub_state_close) struct hub_state now = state_of(id);
    DRAFT_OK(hub_dataset_problems(&now, &text, err));
    cr_expect(strstr(text.data, part_of_it), "%s not in %s", part_of_it, text.data);
    hub_buf_dispose(&text);
}

/* The layout's first piece: which file it names today. */
static uint32_t file_of(const struct hub_dataset *dataset, uint32_t part, const char *path)
{
    struct hub_layout_ref *ref = NULL;
    const uint32_t field = hub_dataset_find_field(dataset, hub_view_of(path));
    DRAFT_OK(hub_layout_get(catalog, dataset, part, field, true, &ref, err));
    const uint32_t file = hub_layout_of(ref)->pieces[0].file;
    hub_layout_put(ref);
    return file;
}

static void publish_simple(const char *id, uint32_t episodes)
{
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_findings *found = draft_findings(two_fields, 2, 0, 0, episodes, 5);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    const struct hub_draft draft = draft_of(id, files, 1, &part, 1);
    publish(&draft);
    draft_findings_free(found);
}

Test(publish, a_dataset_is_read_back)
{
    publish_simple("D4RL/door/human-v2", 4);
    const struct hub_summary *summary = summary_of("D4RL/door/human-v2");
    cr_assert_not_null(summary);
    cr_expect_str_eq(summary->ns, "D4RL/door");
    cr_expect_str_eq(summary->name, "human");
    cr_expect_str_eq(summary->key, "D4RL/door/human");
    cr_expect_eq(summary->version, 2);
    cr_expect_eq(summary->episodes, 4);
    cr_expect_eq(summary->steps, 20);
    cr_expect_eq(summary->size, 1 << 20);
    cr_expect_eq(summary->status, HUB_DATASET_READY);
    cr_expect_str_eq(summary->description, "");
    const struct hub_dataset *dataset = opened("D4RL/door/human-v2");
    cr_expect_eq(dataset->file_count, 1);
    cr_expect_str_eq(dataset->files[0].path, "data/main_data.hdf5");
    cr_expect_eq(dataset->files[0].stamp.tag, 1700000000000000001U);
    cr_expect_eq(dataset->field_count, 2);
    cr_expect_str_eq(dataset->fields[1].path, "observations/qpos");
    cr_expect_str_eq(dataset->fields[1].dtype, "float32");
    cr_expect_str_eq(dataset->fields[1].shape, "[3]");
    cr_expect_eq(dataset->fields[1].episodes, 4);
    cr_expect_eq(hub_dataset_find_episode(dataset, 3)->index, 3);
    cr_expect_null(hub_dataset_find_episode(dataset, 4));
    cr_expect_null(hub_dataset_find_episode(dataset, -1));
    uint32_t first;
    size_t size;
    cr_expect_eq(hub_dataset_find_group(dataset, HUB_VIEW("observations"), &first, &size), 1);
    cr_expect_eq(first, 1);
    cr_expect_eq(hub_dataset_find_group(dataset, HUB_VIEW("obs"), &first, &size), 0);
    cr_expect_eq(hub_dataset_find_group(dataset, HUB_VIEW(""), &first, &size), 2);
    cr_expect_eq(hub_dataset_find_field(dataset, HUB_VIEW("observations")), HUB_NONE);
    cr_expect_eq(file_of(dataset, 0, "actions"), 0);
    hub_dataset_put(dataset);
}

Test(publish, all_is_there_after_reopening)
{
    publish_simple("door-human-v1", 3);
    hub_catalog_close(catalog);
    open_it();
    const struct hub_dataset *dataset = opened("door-human-v1");
    cr_expect_eq(dataset->episode_count, 3);
    cr_expect_eq(file_of(dataset, 0, "observations/qpos"), 0);
    hub_dataset_put(dataset);
    cr_expect(hub_catalog_has_part(catalog, 0, "door-human-v1", "main_data.hdf5", 11));
    cr_expect_not(hub_catalog_has_part(catalog, 0, "door-human-v1", "main_data.hdf5", 12));
}

Test(publish, nothing_blocks_when_warm)
{
    const struct hub_dataset *dataset = NULL;
    struct hub_layout_ref *ref = NULL;
    publish_simple("door-human-v1", 3);
    cr_expect_eq(hub_dataset_get(catalog, summary_of("door-human-v1"), false, &dataset, NULL), HUB_AGAIN);
    hub_dataset_put(opened("door-human-v1"));
    cr_assert_eq(hub_dataset_get(catalog, summary_of("door-human-v1"), false, &dataset, NULL), HUB_OK);
    cr_expect_eq(hub_layout_get(catalog, dataset, 0, 0, false, &ref, NULL), HUB_AGAIN);
    (void)file_of(dataset, 0, "actions");
    cr_assert_eq(hub_layout_get(catalog, dataset, 0, 0, false, &ref, NULL), HUB_OK);
    hub_layout_put(ref);
    hub_dataset_put(dataset);
}

struct memory {
    uint64_t used, most;
};

static bool take(void *user, uint64_t bytes)
{
    struct memory *m = user;
    if (m->used + bytes > m->most)
        return false;
    m->used += bytes;
    return true;
}

static void give(void *user, uint64_t bytes)
{
    ((struct memory *)user)->used -= bytes;
}

static void expect_no_room_for_episodes(const char *id)
{
    struct hub_error err = {0};
    struct hub_state now;
    DRAFT_OK(hub_state_open(catalog, summary_of(id), &now, err));
    cr_expect_eq(see_episode(&now, 0, NULL, NULL, &err), HUB_BUSY);
    cr_expect_eq(err.problem, HUB_PROBLEM_OVERLOADED);
    cr_expect(strstr(err.detail, "the episodes of this dataset") && !strstr(err.detail, "fields"), "%s",
              err.detail);
    hub_state_close(&now);
}

/* Of a part of many episodes the windows of all fields are in memory once, as long as one of them is in
 * use. */
Test(publish, windows_are_shared)
{
    enum { MANY = 5000 };
    const struct draft_field fields[] = {{"a", HUB_FIELD_NUMBER, 1}, {"b", HUB_FIELD_NUMBER, 1}};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_layout_ref *refs[2] = {0};
    hub_catalog_close(catalog);
    options = (struct hub_catalog_options){.cache_bytes = 200 * KIB}; /* not for long */
    open_it();
    struct hub_findings *found = draft_findings(fields, 2, 0, 0, MANY, 1);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    const struct hub_draft draft = draft_of("many-v0", files, 1, &part, 1);
    publish(&draft);
    draft_findings_free(found);
    const struct hub_dataset *dataset = opened("many-v0");
    for (uint32_t i = 0; i < 2; i++)
        DRAFT_OK(hub_layout_get(catalog, dataset, 0, i, true, &refs[i], err));
    const struct hub_layout *a = hub_layout_of(refs[0]), *b = hub_layout_of(refs[1]);
    cr_expect_eq(a->windows, b->windows);
    cr_expect_neq(a->pieces, b->pieces);
    hub_layout_put(refs[0]);
    hub_dataset_put(opened("many-v0"));
    cr_expect_eq(b->counts[HUB_T_WINDOWS], MANY);
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert_eq(hub_layout_window(b, i)->episode, i);
    DRAFT_OK(hub_layout_get(catalog, dataset, 0, 0, true, &refs[0], err));
    cr_expect_eq(hub_layout_window(hub_layout_of(refs[0]), MANY - 1)->episode, MANY - 1);
    for (uint32_t i = 0; i < 2; i++)
        hub_layout_put(refs[i]);
    hub_dataset_put(dataset);
}

Test(publish, layouts_in_use_have_a_ceiling)
{
    struct draft_field fields[6];
    struct hub_layout_ref *refs[6] = {0};
    struct memory memory = {.most = 70 * KIB};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    char names[6][8];
    for (uint32_t i = 0; i < 6; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        fields[i] = (struct draft_field){names[i], HUB_FIELD_NUMBER, 1};
    }
    hub_catalog_close(catalog);
    options =
        (struct hub_catalog_options){.cache_bytes = 150 * KIB, .take = take, .give = give, .memory = &memory};
    open_it();
    struct hub_findings *found = draft_findings(fields, 6, 0, 0, 2000, 1); /* 24 bytes an episode and field */
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    const struct hub_draft draft = draft_of("many-v0", files, 1, &part, 1);
    publish(&draft);
    draft_findings_free(found);

    const struct hub_dataset *dataset = opened("many-v0");
    struct hub_error err = {0};
    uint32_t i = 0;
    enum hub_status st = HUB_OK;
    while (i < 6 && !(st = hub_layout_get(catalog, dataset, 0, i, true, &refs[i], &err)))
        i++;
    cr_assert_eq(st, HUB_BUSY);
    cr_expect_eq(err.problem, HUB_PROBLEM_OVERLOADED);
    cr_expect(strstr(err.detail, "fewer fields"), "%s", err.detail);
    cr_expect_geq(i, 3);
    cr_expect_lt(i, 6);
    cr_expect_gt(memory.used, 0);
    memory.most = memory.used;
    expect_no_room_for_episodes("many-v0");
    memory.most = 70 * KIB;
    while (i > 0)
        hub_layout_put(refs[--i]);
    cr_expect_eq(memory.used, 0, "what found no room is not kept");
    for (i = 0; i < 6; i++) {
        DRAFT_OK(hub_layout_get(catalog, dataset, 0, i, true, &refs[i], err));
        hub_layout_put(refs[i]);
    }
    cr_expect_eq(memory.used, 0, "one after the other they fit");
    hub_dataset_put(dataset);
}

/* A kept part's layouts follow their files when the numbers of those change; other parts' unnumbered episodes
 * move up. */
Test(publish, a_kept_part_follows_its_files)
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
    cr_expect_eq(dataset->parts[1].row, row_of_b, "it was not written anew");
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

Test(publish, the_first_readable_part_says_what_a_field_is)
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

Test(publish, parts_that_disagree)
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

Test(publish, a_set_of_a_later_release_is_no_refused_one)
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
Test(publish, numbers_inside_json_leave_room)
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

Test(publish, a_dropped_episode_comes_back)
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

Test(publish, nothing_readable_is_broken)
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

Test(publish, staged_parts_show_with_the_publication)
{
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(two_fields, 2, 0, 0, 3, 5);
    const struct hub_draft_part part = {.name = "a", .signature = 9, .found = a},
                                kept = {.name = "a", .signature = 9};
    const struct hub_draft draft = draft_of("set", files, 1, &kept, 1);
    DRAFT_OK(hub_catalog_stage(catalog, &draft, &part, err));
    cr_expect_null(summary_of("set"));
    cr_expect(hub_catalog_has_part(catalog, 0, "set", "a", 9));
    publish(&draft);
    cr_expect_eq(summary_of("set")->episodes, 3);
    draft_findings_free(a);
}

static void touch(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", state, path);
    const int fd = open(full, O_CREAT | O_WRONLY, 0600);
    cr_assert_geq(fd, 0);
    close(fd);
}

static bool exists(const char *path)
{
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", state, path);
    return access(full, F_OK) == 0;
}

Test(publish, side_data_goes_with_its_last_reader)
{
    const struct hub_dataset_file files[] = {draft_file("a.h5", 1 << 20)};
    struct hub_findings *a = draft_findings(two_fields, 2, 0, 0, 1, 5);
    struct hub_draft_part part = {.name = "a", .signature = 1, .found = a, .side = "side/1-a-1"};
    const struct hub_draft draft = draft_of("set", files, 1, &part, 1);
    touch("side/1-a-1");
    publish(&draft);
    const struct hub_dataset *dataset = opened("set");
    cr_expect_str_eq(dataset->parts[0].side, "side/1-a-1");
    part = (struct hub_draft_part){.name = "a", .signature = 2, .found = a, .side = "side/1-a-2"};
    touch("side/1-a-2");
    publish(&draft);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect(exists("side/1-a-1"), "somebody reads the old state");
    hub_dataset_put(dataset);
    cr_expect(exists("side/1-a-1"), "whoever puts it back need not wait for the disk");
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_not(exists("side/1-a-1"));
    cr_expect(exists("side/1-a-2"));
    touch("side/orphan");
    hub_catalog_close(catalog);
    open_it();
    cr_expect(exists("side/1-a-2"));
    cr_expect_not(exists("side/orphan"));
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set", err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_null(summary_of("set"));
    cr_expect_not(exists("side/1-a-2"));
    draft_findings_free(a);
}

Test(publish, an_old_summary_opens_the_new_state)
{
    publish_simple("set", 3);
    const struct hub_summary *old = summary_of("set");
    publish_simple("other", 1);
    publish_simple("set", 5);
    (void)old;
    const struct hub_dataset *dataset = opened("set");
    cr_expect_eq(dataset->episode_count, 5);
    cr_expect_eq(dataset->summary->episodes, 5);
    hub_dataset_put(dataset);
}

Test(publish, facts_are_kept_until_the_next_plan)
{
    struct hub_found_fact facts[] = {{"metadata", "{\"a\":1}"}, {"description", "a door"}};
    const struct hub_findings plan = {.facts = facts, .fact_count = 2};
    const struct hub_dataset_file files[] = {draft_file("a.h5", 10)};
    struct hub_draft draft = draft_of("set", files, 1, NULL, 0);
    struct hub_buf text = HUB_BUF_INIT(MIB);
    draft.plan = &plan;
    publish(&draft);
    draft.plan = NULL;
    publish(&draft);
    HUB_CLEANUP(hub_state_close) struct hub_state now = state_of("set");
    DRAFT_OK(hub_dataset_fact(&now, "metadata", &text, err));
    cr_expect_str_eq(text.data, "{\"a\":1}");
    cr_expect_str_eq(summary_of("set")->description, "a door");
    text.size = 0;
    DRAFT_OK(hub_dataset_fact(&now, "env_spec", &text, err));
    cr_expect_eq(text.size, 0);
    hub_buf_dispose(&text);
}

static void publish_described(const char *description, const char *revision, uint32_t episodes)
{
    struct hub_found_fact facts[] = {{"description", (char *)description}};
    const struct hub_findings plan = {.facts = facts, .fact_count = 1};
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_findings *found = draft_findings(two_fields, 2, 0, 0, episodes, 5);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = episodes, .found = found};
    struct hub_draft draft = draft_of("set", files, 1, &part, 1);
    draft.plan = &plan;
    draft.revision = revision;
    DRAFT_OK(hub_catalog_publish(catalog, &draft, err));
    draft_findings_free(found);
}

static void expect_state(const struct hub_state *of, const char *revision, const char *description,
                         uint32_t episodes)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_episode_page_dispose) struct hub_episode_page page = {0};
    const struct hub_episode_query query = {.limit = 100};
    cr_expect_str_eq(of->dataset->summary->revision, revision);
    cr_expect_eq(of->dataset->episode_count, episodes);
    DRAFT_OK(hub_dataset_fact(of, "description", &text, err));
    cr_expect_str_eq(text.data, description);
    DRAFT_OK(hub_episode_page(of, &query, &page, err));
    cr_expect(page.count == episodes && page.total == episodes, "%u of %u episodes", page.count, episodes);
    for (uint32_t i = 0; i < page.count; i++)
        DRAFT_OK(see_episode(of, of->dataset->episodes[page.places[i]].number, NULL, NULL, err));
}

Test(publish, a_state_stays_one_while_others_are_published)
{
    publish_described("old", "1111111111111111111111111111111111111111", 3);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    struct hub_state old = state_of("set");
    publish_described("new", "2222222222222222222222222222222222222222", 5);
    expect_state(&old, "1111111111111111111111111111111111111111", "old", 3);
    hub_state_close(&old);
    struct hub_state now = state_of("set"); /* the snapshot need not show it yet */
    expect_state(&now, "2222222222222222222222222222222222222222", "new", 5);
    hub_state_close(&now);
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set", err));
    hub_state_close(&now);
}

Test(publish, no_state_of_what_is_gone)
{
    publish_described("old", "1111111111111111111111111111111111111111", 3);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    const struct hub_summary *summary = summary_of("set"); /* this thread's snapshot keeps it */
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set", err));
    struct hub_state gone = {0};
    cr_expect_eq(hub_state_open(catalog, summary, &gone, NULL), HUB_NOT_FOUND);
    hub_state_close(&gone);
}

Test(publish, a_draft_that_makes_no_sense_changes_nothing)
{
    const struct hub_dataset_file files[] = {draft_file("b", 1), draft_file("a", 1)};
    const struct hub_draft_part kept = {.name = "never seen", .signature = 1};
    const struct hub_draft unsorted = draft_of("set", files, 2, NULL, 0),
                           unknown = draft_of("set", files, 1, &kept, 1);
    cr_expect_eq(hub_catalog_publish(catalog, &unsorted, NULL), HUB_INVALID);
    cr_expect_eq(hub_catalog_publish(catalog, &unknown, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_null(summary_of("set"));
    cr_expect_eq(hub_catalog_remove(catalog, 0, "set", NULL), HUB_NOT_FOUND);
}

static struct hub_draft noted(const char *id, const struct hub_dataset_file *file, const char *note)
{
    struct hub_draft draft = draft_of(id, file, 1, NULL, 0);
    draft.format = "files";
    draft.note = note;
    draft.note_value = hub_view_of(id);
    return draft;
}

static void expect_note(const char *key, const char *value)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    DRAFT_OK(hub_catalog_note_get(catalog, key, &text, err));
    cr_expect_str_eq(text.data, value);
}

Test(publish, several_are_published_together)
{
    const struct hub_dataset_file file = draft_file("a.txt", 1);
    publish_simple("b", 2);
    const struct hub_snapshot *before = snapshot_now(catalog);
    const uint64_t generation = before->generation, serial = summary_of("b")->serial;
    const struct hub_draft drafts[] = {noted("c", &file, "note c"), noted("b", &file, "note b"),
                                       noted("a", &file, "note a")};
    DRAFT_OK(hub_catalog_publish_all(catalog, drafts, 3, err));
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_eq(snapshot_now(catalog)->generation, generation + 1);
    for (int again = 0; again < 2; again++) {
        cr_assert_eq(snapshot_now(catalog)->count, 3);
        cr_expect_str_eq(summary_of("b")->format, "files");
        cr_expect_eq(summary_of("b")->episodes, 0);
        cr_expect_gt(summary_of("c")->serial, serial);
        cr_expect_gt(summary_of("b")->serial, summary_of("c")->serial);
        cr_expect_gt(summary_of("a")->serial, summary_of("b")->serial);
        expect_note("note a", "a");
        expect_note("note b", "b");
        expect_note("note c", "c");
        hub_catalog_close(catalog);
        open_it();
    }
    const struct hub_dataset *dataset = opened("b");
    cr_expect_eq(dataset->part_count, 0);
    hub_dataset_put(dataset);
    DRAFT_OK(hub_catalog_publish_all(catalog, drafts, 0, err));
}

Test(publish, one_that_fails_leaves_all_as_they_were)
{
    const struct hub_dataset_file file = draft_file("a.txt", 1);
    const struct hub_draft_part kept = {.name = "never seen", .signature = 1};
    const struct hub_draft drafts[] = {noted("a", &file, "note a"), draft_of("b", &file, 1, &kept, 1)};
    publish_simple("a", 2);
    const uint64_t serial = summary_of("a")->serial;
    cr_expect_eq(hub_catalog_publish_all(catalog, drafts, 2, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    cr_expect_eq(summary_of("a")->serial, serial);
    cr_expect_eq(summary_of("a")->episodes, 2);
    cr_expect_null(summary_of("b"));
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    cr_expect_eq(hub_catalog_note_get(catalog, "note a", &text, NULL), HUB_NOT_FOUND);
}

/* ---- turns ---- */

static struct hub_turn turn_of(const char *id)
{
    const struct hub_draft draft = draft_of(id, NULL, 0, NULL, 0);
    struct hub_turn turn = {0};
    DRAFT_OK(hub_catalog_take_turn(catalog, &draft, &turn, err));
    return turn;
}

/* "files" is what each publication shows, to tell them apart. */
static enum hub_status publish_in(const struct hub_turn *turn, const char *id, uint32_t files)
{
    const struct hub_dataset_file of[] = {draft_file("a", 1), draft_file("b", 1), draft_file("c", 1)};
    struct hub_draft draft = draft_of(id, of, files, NULL, 0);
    draft.turn = turn;
    const enum hub_status st = hub_catalog_publish(catalog, &draft, NULL);
    DRAFT_OK(hub_catalog_flush(catalog, err));
    return st;
}

Test(publish, whoever_lost_his_turn_cannot_overwrite)
{
    const struct hub_turn slow = turn_of("set-v0"), quick = turn_of("set-v0");
    cr_expect_eq(slow.expect, 0);
    cr_expect_gt(quick.fence, slow.fence);
    cr_expect_eq(publish_in(&slow, "set-v0", 1), HUB_CHANGED, "before the other one published");
    cr_expect_eq(publish_in(&quick, "set-v0", 2), HUB_OK);
    cr_expect_eq(publish_in(&slow, "set-v0", 1), HUB_CHANGED, "and after");
    cr_expect_eq(summary_of("set-v0")->files, 2);
    hub_catalog_close(catalog); /* also by a later process */
    open_it();
    const struct hub_turn later = turn_of("set-v0");
    cr_expect_gt(later.fence, quick.fence);
    cr_expect_eq(publish_in(&slow, "set-v0", 1), HUB_CHANGED);
    cr_expect_eq(publish_in(&later, "set-v0", 3), HUB_OK);
    cr_expect_eq(summary_of("set-v0")->files, 3);
}

Test(publish, a_turn_is_for_the_state_it_was_taken_on)
{
    const struct hub_turn turn = turn_of("set-v0");
    cr_expect_eq(publish_in(NULL, "set-v0", 1), HUB_OK);
    cr_expect_eq(publish_in(&turn, "set-v0", 2), HUB_CHANGED);
    const struct hub_turn next = turn_of("set-v0");
    cr_expect_eq(next.expect, summary_of("set-v0")->serial);
    DRAFT_OK(hub_catalog_remove(catalog, 0, "set-v0", err));
    cr_expect_eq(publish_in(&next, "set-v0", 2), HUB_CHANGED, "it was removed");
    cr_expect_null(summary_of("set-v0"));
}

Test(publish, an_attempt_that_is_repeated_counts_once)
{
    const struct hub_turn turn = turn_of("set-v0");
    cr_expect_eq(publish_in(&turn, "set-v0", 1), HUB_OK);
    const uint64_t serial = summary_of("set-v0")->serial;
    cr_expect_eq(publish_in(&turn, "set-v0", 1), HUB_OK);
    cr_expect_eq(summary_of("set-v0")->serial, serial);
    cr_expect_eq(publish_in(NULL, "set-v0", 2), HUB_OK);
    cr_expect_eq(publish_in(&turn, "set-v0", 1), HUB_CHANGED, "another state followed it");
    cr_expect_eq(summary_of("set-v0")->files, 2);
}

Test(publish, whoever_lost_his_turn_stages_nothing)
{
    const struct hub_dataset_file files[] = {draft_file("data/main_data.hdf5", 1 << 20)};
    struct hub_findings *found = draft_findings(two_fields, 2, 0, 0, 3, 5);
    const struct hub_draft_part part = {.name = "main_data.hdf5", .signature = 11, .found = found};
    struct hub_draft draft = draft_of("set-v0", files, 1, &part, 1);
    const struct hub_turn slow = turn_of("set-v0"), quick = turn_of("set-v0");
    draft.turn = &slow;
    cr_expect_eq(hub_catalog_stage(catalog, &draft, &part, NULL), HUB_CHANGED);
    cr_expect_not(hub_catalog_has_part(catalog, 0, "set-v0", "main_data.hdf5", 11));
    draft.turn = &quick;
    DRAFT_OK(hub_catalog_stage(catalog, &draft, &part, err));
    cr_expect(hub_catalog_has_part(catalog, 0, "set-v0", "main_data.hdf5", 11));
    draft_findings_free(found);
}
