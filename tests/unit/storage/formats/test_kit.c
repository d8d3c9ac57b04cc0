/* What drivers share: roles by name, numbered names, tallies, returns, tables. */
#include "storage/formats/kit/table_kit.h"

#include <criterion/criterion.h>
#include <math.h>

Test(kit, roles)
{
    static const struct {
        const char *path;
        enum hub_role role;
    } cases[] = {
        {"observations", HUB_ROLE_OBSERVATION},
        {"observations/achieved_goal", HUB_ROLE_OBSERVATION},
        {"observation.state", HUB_ROLE_OBSERVATION},
        {"obs", HUB_ROLE_OBSERVATION},
        {"obs.npy", HUB_ROLE_OBSERVATION},
        {"next_obs/flat", HUB_ROLE_OBSERVATION},
        {"obstacles", HUB_ROLE_OTHER},
        {"actions", HUB_ROLE_ACTION},
        {"acts", HUB_ROLE_ACTION},
        {"action_dict/rel_pos", HUB_ROLE_ACTION},
        {"actuators", HUB_ROLE_OTHER},
        {"rewards", HUB_ROLE_REWARD},
        {"rews", HUB_ROLE_REWARD},
        {"next.reward", HUB_ROLE_REWARD},
        {"dones", HUB_ROLE_DONE},
        {"terminations", HUB_ROLE_DONE},
        {"truncated", HUB_ROLE_DONE},
        {"next.success", HUB_ROLE_DONE},
        {"infos/qpos", HUB_ROLE_INFO},
        {"information", HUB_ROLE_OTHER},
        {"states", HUB_ROLE_OTHER},
        {"next_", HUB_ROLE_OTHER},
        {"s", HUB_ROLE_OTHER},
        {"", HUB_ROLE_OTHER},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_eq(hub_role_of(hub_view_of(cases[i].path)), cases[i].role, "%s: %s", cases[i].path,
                     hub_role_name(hub_role_of(hub_view_of(cases[i].path))));
}

Test(kit, the_first_of_many_is_kept)
{
    struct hub_tally tally = {0};
    hub_tally_add(&tally, "%s has %d rows", "demo_3", 7);
    hub_tally_add(&tally, "%s has %d rows", "demo_4", 8);
    cr_expect_eq(tally.count, 2);
    cr_expect_str_eq(tally.first, "demo_3 has 7 rows");
}

Test(kit, what_concerns_the_machine_is_not_local)
{
    static const enum hub_status machine[] = {HUB_OK, HUB_CHANGED,  HUB_BUSY,      HUB_AGAIN,    HUB_TIMEOUT,
                                              HUB_IO, HUB_NO_SPACE, HUB_NO_MEMORY, HUB_CANCELLED};
    for (size_t i = 0; i < HUB_COUNT(machine); i++)
        cr_expect_not(hub_is_local(machine[i]), "%s", hub_status_name(machine[i]));
    cr_expect(hub_is_local(HUB_CORRUPT) && hub_is_local(HUB_UNSUPPORTED) && hub_is_local(HUB_TOO_BIG));
}

Test(kit, rows_of_an_episode)
{
    cr_expect_eq(hub_axis_of(7, 7), HUB_AXIS_STEP);
    cr_expect_eq(hub_axis_of(8, 7), HUB_AXIS_STATE);
    cr_expect_eq(hub_axis_of(6, 7), HUB_AXIS_NONE);
    cr_expect_eq(hub_axis_of(1, 0), HUB_AXIS_STATE);
}

Test(kit, lists_are_windows_of_their_items)
{
    const uint64_t offsets[] = {0, 3, 3, 7};
    struct hub_window windows[] = {{.episode = 4}, {.episode = 5}, {.episode = 6}};
    hub_table_cut(offsets, windows, HUB_COUNT(windows));
    for (size_t i = 0; i < HUB_COUNT(windows); i++) {
        cr_expect_eq(windows[i].episode, i + 4);
        cr_expect_eq(windows[i].first, offsets[i]);
        cr_expect_eq(windows[i].count, offsets[i + 1] - offsets[i]);
    }
}

Test(kit, a_table_is_some_of_its_row_groups)
{
    uint64_t rows[] = {5, 0, 7, 2};
    struct hub_parquet_chunk chunks[8] = {{.offset = 0}};
    const struct hub_parquet whole = {
        .leaf_count = 2, .group_rows = rows, .group_count = 4, .chunks = chunks, .rows = 14};
    struct hub_table table = {.is_parquet = true, .parquet = whole, .rows = 14};
    cr_expect_eq(hub_table_narrow(&table, &whole, 2, 1), 5);
    cr_expect(table.rows == 7 && table.parquet.group_count == 1 && table.parquet.chunks == &chunks[4]);
    cr_expect_eq(hub_table_narrow(&table, &whole, 1, 3), 5);
    cr_expect(table.rows == 9 && table.parquet.group_rows == &rows[1]);
    cr_expect_eq(hub_table_narrow(&table, &whole, 0, 4), 0);
    cr_expect(table.rows == 14 && table.parquet.chunks == chunks);
}

Test(kit, a_return_lacks_no_reward)
{
    const double all[] = {1, 2.5, -1}, gap[] = {1, NAN};
    struct hub_episode e = {.number = 0};
    hub_episode_sum(&e, all, HUB_COUNT(all));
    cr_expect(e.has_return && e.return_computed && e.episode_return == 2.5);
    hub_episode_sum(&e, gap, HUB_COUNT(gap));
    cr_expect(!e.has_return && !e.return_computed && e.episode_return == 0);
    hub_episode_sum(&e, NULL, 3);
    cr_expect_not(e.has_return);
    hub_episode_sum(&e, all, 0);
    cr_expect(e.has_return && e.episode_return == 0);
}
