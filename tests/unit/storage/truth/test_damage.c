/* Damaged files, and those that were changed in place: the ones are not served, the others are. */
#include "storage/truth/damage.h"

#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static char state[64], root[80];
static struct hub_truth *truth;
static struct hub_roots roots;

static void open_truth(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    DRAFT_OK(hub_truth_open(&options, &truth, err));
}

static void begin(void)
{
    snprintf(state, sizeof state, "/tmp/hub-damage-XXXXXX");
    cr_assert(mkdtemp(state));
    snprintf(root, sizeof root, "%s/root", state);
    cr_assert_eq(mkdir(root, 0700), 0);
    DRAFT_OK(hub_roots_add(&roots, root, NULL, err));
    open_truth();
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(damage, .init = begin, .fini = end);

static const struct hub_stamp stamp = {.size = 6, .mtime_ns = 7, .tag = 8};

static void put(const char *path, bool served)
{
    const struct hub_damage damage = {
        .path = path, .dataset = "set", .stamp = stamp, .served = served, .why = "another one"};
    DRAFT_OK(hub_damage_put(truth, &damage, err));
}

static void note_code(void *user, const struct hub_damage *damage)
{
    struct hub_buf *out = user;
    (void)!hub_buf_addf(out, NULL, "%s %s;", damage->path, hub_damage_code(damage));
}

Test(damage, what_was_changed_in_place_is_served_also_after_a_restart)
{
    put("set/changed", true);
    put("set/damaged", false);
    for (int run = 0; run < 2; run++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf found = HUB_BUF_INIT(KIB);
        cr_expect_eq(hub_damage_check(truth, 0, "set/changed", &stamp, NULL), HUB_OK);
        cr_expect_eq(hub_damage_check(truth, 0, "set/damaged", &stamp, NULL), HUB_CORRUPT);
        cr_expect_eq(hub_damage_each(truth, 0, "set", note_code, &found), 2);
        cr_expect_str_eq(found.data, "set/changed object-changed;set/damaged file-damaged;");
        cr_expect_eq(hub_damage_count(truth, 0, "set"), 1);
        hub_truth_close(truth);
        open_truth();
    }
    DRAFT_OK(hub_damage_clear(truth, 0, "set/changed", err));
    cr_expect_eq(hub_damage_each(truth, 0, NULL, NULL, NULL), 1);
}

Test(damage, what_changed_and_is_damaged_later_is_not_served)
{
    put("set/a", true);
    put("set/a", false);
    cr_expect_eq(hub_damage_check(truth, 0, "set/a", &stamp, NULL), HUB_CORRUPT);
    cr_expect_eq(hub_damage_count(truth, 0, NULL), 1);
}
