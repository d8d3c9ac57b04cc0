#include "storage/model/space.h"

#include <criterion/criterion.h>

static const char text[] =
    "{\"type\":\"Tuple\",\"subspaces\":[{\"type\":\"Discrete\",\"n\":3},"
    "{\"type\":\"Dict\",\"subspaces\":{\"0\":{\"type\":\"Box\",\"low\":-1,\"high\":[1,2]}}}]}";

/* As the fields of each of Minari's formats are called. */
Test(space, finds_what_is_in_a_tuple)
{
    static const char *const there[] = {"actions/_index_1/0", "actions/1/0"},
                             *const not_there[] = {"actions/2",   "actions/_index_", "actions/x",
                                                   "actions/1/1", "actions/-1",      "actions/0/0"};
    HUB_CLEANUP(hub_json_decrefp) json_t *space = NULL;
    double low[2], high[2];
    cr_assert_eq(hub_json_parse(hub_view_of(text), sizeof text, &space, NULL), HUB_OK);
    for (size_t i = 0; i < HUB_COUNT(there); i++) {
        const json_t *box = hub_space_at(space, there[i]);
        cr_assert(box && hub_space_bounds(box, 2, low, high), "%s", there[i]);
        cr_assert(low[0] == -1 && low[1] == -1 && high[0] == 1 && high[1] == 2);
    }
    for (size_t i = 0; i < HUB_COUNT(not_there); i++)
        cr_assert_null(hub_space_at(space, not_there[i]), "%s", not_there[i]);
}
