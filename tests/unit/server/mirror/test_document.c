/* server/mirror/document.c: a rule as everybody sees it, and as the admin does. */
#include "kit.h"
#include "server/mirror/document.h"

#include "storage/text/time.h"

#include <criterion/criterion.h>

TestSuite(document, .init = kit_begin, .fini = kit_end);

Test(document, the_state_of_a_rule)
{
    static const struct {
        struct hub_rule rule;
        const char *state;
    } cases[] = {
        {{.begun_ms = 5, .synced_ms = 5}, "idle"},
        {{.begun_ms = 5, .synced_ms = 3}, "running"},
        {{.begun_ms = 5, .synced_ms = 5, .waiting = 1}, "running"},
        {{.begun_ms = 5, .synced_ms = 5, .running = 1}, "running"},
        {{.begun_ms = 5, .synced_ms = 3, .waiting = 1, .error = "unreachable: x"}, "failing"},
        {{.paused = true, .waiting = 1, .error = "unreachable: x"}, "paused"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_str_eq(hub_mirror_state(&cases[i].rule), cases[i].state, "%zu", i);
}

Test(document, the_lag_begins_when_all_was_as_upstream)
{
    const int64_t now_ms = hub_time_now_s() * 1000;
    const struct hub_rule synced = {.made_ms = now_ms - 90000, .synced_ms = now_ms - 30000},
                          never = {.made_ms = now_ms - 90000}, later = {.made_ms = now_ms + 90000};
    cr_expect_geq(hub_mirror_lag_s(&synced), 30);
    cr_expect_leq(hub_mirror_lag_s(&synced), 60);
    cr_expect_geq(hub_mirror_lag_s(&never), 90);
    cr_expect_eq(hub_mirror_lag_s(&later), 0, "clocks jump");
}

Test(document, of_an_error_everybody_hears_its_name)
{
    cr_expect(hub_view_is(hub_mirror_error("unreachable: 10.0.0.7 refused", false), "unreachable"));
    cr_expect(hub_view_is(hub_mirror_error("unreachable: 10.0.0.7 refused", true),
                          "unreachable: 10.0.0.7 refused"));
    cr_expect(hub_view_is(hub_mirror_error("stopped", false), "stopped"));
    cr_expect(hub_view_is(hub_mirror_error("", false), ""));
}

static json_t *written(const struct hub_rule *rule, bool local)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(16 * KIB);
    struct hub_json json = hub_json_to(&text, NULL);
    hub_mirror_write(&json, rule, &kit.roots, local, "");
    cr_assert_eq(hub_json_status(&json), HUB_OK);
    json_t *out = json_loads(text.data, 0, NULL);
    cr_assert_not_null(out, "%s", text.data);
    return out;
}

static const char *text_of(const json_t *document, const char *key)
{
    const char *text = json_string_value(json_object_get(document, key));
    return text ? text : "";
}

Test(document, a_rule)
{
    struct hub_rule rule = {.name = "lab",
                            .from_file = true,
                            .made_ms = 1,
                            .begun_ms = 1700000000000,
                            .synced_ms = 1700000000000,
                            .due_ms = 1700000060500,
                            .datasets = 7,
                            .bytes = UINT64_C(1) << 52,
                            .error = "denied: /srv/token cannot be read"};
    rule.spec = kit_json("{'remote':'gcp://b','as':'lab/','root':'named','every':60,'delete':true,"
                         "'include':['a','b'],'token-file':'/srv/token'}");
    HUB_CLEANUP(hub_json_decrefp) json_t *local = written(&rule, true), *all = written(&rule, false);
    cr_expect_str_eq(text_of(all, "name"), "lab");
    cr_expect_str_eq(text_of(all, "remote"), "gcp://b");
    cr_expect_str_eq(text_of(all, "as"), "lab/");
    cr_expect_str_eq(text_of(all, "root"), "named");
    cr_expect_eq(json_integer_value(json_object_get(all, "every")), 60);
    cr_expect_eq(json_array_size(json_object_get(all, "include")), 2);
    cr_expect_null(json_object_get(all, "exclude"), "what was not asked for is left out");
    cr_expect(json_is_true(json_object_get(all, "delete")));
    cr_expect(json_is_false(json_object_get(all, "internal")));
    cr_expect_str_eq(text_of(all, "from"), "file");
    cr_expect_str_eq(text_of(all, "state"), "failing");
    cr_expect_str_eq(text_of(all, "synced"), "2023-11-14T22:13:20.000Z");
    cr_expect_str_eq(text_of(all, "next"), "2023-11-14T22:14:20.500Z");
    cr_expect_eq(json_integer_value(json_object_get(all, "bytes")), (json_int_t)1 << 52);
    cr_expect_str_eq(text_of(all, "error"), "denied");
    cr_expect_null(json_object_get(all, "token_file"), "paths are for the admin");
    cr_expect_str_eq(text_of(local, "token_file"), "/srv/token");
    cr_expect_str_eq(text_of(local, "error"), "denied: /srv/token cannot be read");
    json_decref(rule.spec);
}

Test(document, the_path_of_a_root_is_for_the_admin)
{
    struct hub_rule rule = {.name = "lab", .paused = true, .due_ms = 5, .spec = kit_json("{}")};
    json_object_set_new(rule.spec, "root", json_string(kit.roots.roots[0].path));
    HUB_CLEANUP(hub_json_decrefp) json_t *local = written(&rule, true), *all = written(&rule, false);
    cr_expect_str_eq(text_of(local, "root"), kit.roots.roots[0].path);
    cr_expect_str_eq(text_of(all, "root"), "");
    cr_expect_null(json_object_get(all, "next"), "it is paused");
    cr_expect_null(json_object_get(all, "begun"), "not yet");
    cr_expect_null(json_object_get(all, "error"));
    json_decref(rule.spec);
}
