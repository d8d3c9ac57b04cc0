#include "client/lib/decide.h"

#include <criterion/criterion.h>

static const char *const both[] = {"0.4.3", "0.5.0"}, *const newer[] = {"0.5.0"};
static const struct minari_summary versions[] = {
    {.id = "a-v0", .version = 0, .loadable_by = both, .loadable_count = 2},
    {.id = "a-v1", .version = 1, .loadable_by = both, .loadable_count = 2},
    {.id = "a-v2", .version = 2, .loadable_by = newer, .loadable_count = 1},
};

static enum hub_status ask(unsigned chosen, const char *release, bool force, struct hub_buf *notices,
                           struct hub_error *err)
{
    notices->size = 0;
    return hub_decide(&versions[chosen], versions, 3, release, force, notices, err);
}

Test(decide, in_minaris_order)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf n = HUB_BUF_INIT(4096);
    struct hub_error err = {0};
    cr_assert_eq(ask(2, NULL, false, &n, &err), HUB_OK);
    cr_assert_eq(n.size, 0, "the newest, and nothing to say");
    cr_assert_eq(ask(0, NULL, false, &n, &err), HUB_OK);
    cr_assert_str_eq(n.data, "a newer version is there: 'a-v2'\n");
    cr_assert_eq(ask(0, "0.4.3", false, &n, &err), HUB_OK);
    cr_assert_str_eq(n.data, "a newer version is there: 'a-v1'\n", "newer and compatible");
    cr_assert_eq(ask(1, "0.4.3", false, &n, &err), HUB_OK);
    cr_assert_eq(n.size, 0);
    cr_assert_eq(ask(2, "0.4.3", false, &n, &err), HUB_UNSUPPORTED);
    cr_assert_eq(err.problem, HUB_PROBLEM_INCOMPATIBLE);
    cr_assert_str_eq(err.detail, "Minari 0.4.3 does not read 'a-v2'; 'a-v1' is the newest that does");
    cr_assert_eq(ask(2, "0.4.3", true, &n, &err), HUB_OK);
    cr_assert_not_null(strstr(n.data, "downloading it anyway"));
    cr_assert_eq(ask(2, "0.3.1", false, &n, &err), HUB_UNSUPPORTED);
    cr_assert_str_eq(err.detail, "Minari 0.3.1 does not read 'a-v2'; no version of it does");
}
