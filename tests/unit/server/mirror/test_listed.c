/* server/mirror/listed.c: what upstreams list, kept and shown. */
#include "kit.h"
#include "server/mirror/listed.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(listed, .init = kit_begin, .fini = kit_end);

static struct hub_rule rule_of(const char *name)
{
    struct hub_rule rule;
    cr_assert_eq(hub_rule_find(kit.truth, name, &rule, NULL), HUB_OK);
    return rule;
}

static void put(const char *name, const char *lines)
{
    HUB_CLEANUP(hub_rule_dispose) struct hub_rule rule = rule_of(name);
    struct hub_error err = {0};
    cr_assert_eq(hub_listed_put(&kit.mirrors, &rule, hub_view_of(lines), &err), HUB_OK, "%s", err.detail);
}

/* "id " of all that is shown */
static const char *shown(void)
{
    static char text[1024];
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(kit.catalog);
    text[0] = '\0';
    for (uint32_t i = 0; i < snapshot->count; i++) {
        strcat(text, snapshot->summaries[i]->id);
        strcat(text, " ");
    }
    return text;
}

#define PEN                                                                                                  \
    "{\"id\":\"D4RL/pen-v1\",\"format\":\"minari-hdf5\",\"revision\":\"r1\",\"episodes\":5,\"steps\":50,"    \
    "\"size\":7,\"minari_version\":\"0.5.3\",\"loadable_by\":[\"0.5.3\"],\"authors\":[\"A\"],"               \
    "\"modified\":\"2023-11-14T22:13:20Z\",\"description\":\"d\"}\n"

Test(listed, what_is_said_of_a_dataset_is_shown)
{
    kit_put_rule("lab", "{'remote':'http://hub','pull':true,'as':'lab/'}");
    put("lab", PEN);
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(kit.catalog);
    const struct hub_summary *s = hub_snapshot_find(snapshot, hub_view_of("lab/D4RL/pen-v1"));
    cr_assert_not_null(s);
    cr_expect_eq(s->status, HUB_DATASET_REMOTE);
    cr_expect_str_eq(s->upstream, "lab");
    cr_expect_str_eq(s->remote_id, "D4RL/pen-v1");
    cr_expect_str_eq(s->path, "lab/D4RL/pen-v1");
    cr_expect_str_eq(s->format, "minari-hdf5");
    cr_expect_str_eq(s->revision, "r1");
    cr_expect_str_eq(s->stated_version, "0.5.3");
    cr_expect_str_eq(s->rule, "minari");
    cr_expect_str_eq(s->loadable_by, "[\"0.5.3\"]");
    cr_expect_str_eq(s->authors, "[\"A\"]");
    cr_expect_eq(s->episodes, 5);
    cr_expect_eq(s->steps, 50);
    cr_expect_eq(s->size, 7);
    cr_expect_eq(s->modified_ns, INT64_C(1700000000000000000));
    cr_expect_eq(s->version, 1);
}

Test(listed, members_of_other_types_are_unknown)
{
    kit_put_rule("lab", "{'remote':'http://hub','pull':true}");
    put("lab",
        "{\"id\":\"a-v0\",\"format\":7,\"revision\":[],\"episodes\":-5,\"size\":\"7\",\"authors\":\"A\","
        "\"modified\":\"yesterday\",\"loadable_by\":{}}\n");
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(kit.catalog);
    const struct hub_summary *s = hub_snapshot_find(snapshot, hub_view_of("a-v0"));
    cr_assert_not_null(s);
    cr_expect_str_eq(s->format, "");
    cr_expect_str_eq(s->revision, "");
    cr_expect_str_eq(s->authors, "");
    cr_expect_str_eq(s->loadable_by, "");
    cr_expect_eq(s->episodes, 0);
    cr_expect_eq(s->size, 0);
    cr_expect_eq(s->modified_ns, 0);
}

Test(listed, ids_that_cannot_be_here_are_left_out)
{
    kit_put_rule("lab", "{'remote':'http://hub','pull':true}");
    put("lab",
        "{\"id\":\"../up\"}\n{\"id\":7}\n{}\n[]\n{\"id\":\"good-v0\"}\n{\"id\":\"/abs\"}\n{\"id\":\"cut");
    cr_expect_str_eq(shown(), "good-v0 ", "a line without its end is not there yet");
}

Test(listed, a_line_that_is_not_json_is_refused)
{
    kit_put_rule("lab", "{'remote':'http://hub','pull':true}");
    HUB_CLEANUP(hub_rule_dispose) struct hub_rule rule = rule_of("lab");
    cr_expect_neq(hub_listed_put(&kit.mirrors, &rule, hub_view_of("{\"id\":\"a-v0\"}\n<html>\n"), NULL),
                  HUB_OK);
    cr_expect_str_eq(shown(), "", "all or nothing");
}

Test(listed, a_new_list_takes_the_place_of_the_old)
{
    kit_put_rule("lab", "{'remote':'http://hub','pull':true}");
    kit_put_rule("more", "{'remote':'http://more','pull':true,'root':'named'}");
    put("lab", "{\"id\":\"a-v0\"}\n{\"id\":\"b-v0\"}\n");
    put("more", "{\"id\":\"a-v0\"}\n");
    cr_expect_str_eq(shown(), "a-v0 b-v0 named/a-v0 ", "in a named root ids begin with its name");
    put("lab", "{\"id\":\"c-v0\"}\n");
    cr_expect_str_eq(shown(), "c-v0 named/a-v0 ");
    put("lab", "");
    cr_expect_str_eq(shown(), "named/a-v0 ");
}

Test(listed, what_was_kept_is_loaded_and_what_is_of_no_rule_is_removed)
{
    unsigned upstreams = 99;
    kit_put_rule("lab", "{'remote':'http://hub','pull':true}");
    kit_put_rule("new", "{'remote':'http://new','pull':true}");
    kit_put_rule("damaged", "{'remote':'http://damaged','pull':true}");
    kit_put_rule("copies", "{'remote':'gcp://b'}");
    kit_write("state/listings/lab.jsonl", "{\"id\":\"a-v0\"}\n");
    kit_write("state/listings/damaged.jsonl", "{\"id\":\"x-v0\"}\n\x01\n");
    kit_write("state/listings/copies.jsonl", "{\"id\":\"b-v0\"}\n");
    kit_write("state/listings/gone.jsonl", "{\"id\":\"c-v0\"}\n");
    cr_assert_eq(hub_listed_load(&kit.mirrors, &upstreams, NULL), HUB_OK);
    cr_expect_eq(upstreams, 3);
    cr_expect_str_eq(shown(), "a-v0 ");
    cr_expect(kit_is_there("state/listings/lab.jsonl"));
    cr_expect(kit_is_there("state/listings/damaged.jsonl"), "the next pass writes it again");
    cr_expect_not(kit_is_there("state/listings/copies.jsonl"));
    cr_expect_not(kit_is_there("state/listings/gone.jsonl"));
}

Test(listed, nothing_was_kept_yet)
{
    unsigned upstreams = 99;
    cr_assert_eq(hub_listed_load(&kit.mirrors, &upstreams, NULL), HUB_OK);
    cr_expect_eq(upstreams, 0);
}

Test(listed, only_a_rule_that_says_so_pulls)
{
    static const struct {
        const char *spec;
        bool pulls;
    } cases[] = {{"{'pull':true}", true},
                 {"{'pull':false}", false},
                 {"{}", false},
                 {"{'pull':1}", false},
                 {"{'pull':'true'}", false}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_rule rule = {.spec = kit_json(cases[i].spec)};
        cr_expect_eq(hub_rule_pulls(&rule), cases[i].pulls, "%s", cases[i].spec);
        json_decref(rule.spec);
    }
}
