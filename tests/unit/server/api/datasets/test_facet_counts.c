/* How many datasets have a value, whatever its upper and lower case. */
#include "server/api/datasets/facet_counts.h"

#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

/* "value=count," of the values, which are given as "dataset:value". */
static void counted(const char *const *given, size_t size, bool exact, char *out, size_t room)
{
    HUB_CLEANUP(hub_facet_counts_dispose) struct hub_facet_counts counts = {.exact = exact};
    for (size_t i = 0; i < size; i++)
        cr_assert_eq(
            hub_facet_counts_add(&counts, hub_view_of(given[i] + 2), (uint32_t)(given[i][0] - '0'), NULL),
            HUB_OK);
    hub_facet_counts_sum(&counts);
    *out = '\0';
    for (uint32_t i = 0; i < counts.count; i++)
        snprintf(out + strlen(out), room - strlen(out), "%.*s=%u,", (int)counts.items[i].text.size,
                 counts.items[i].text.data, (unsigned)counts.items[i].count);
}

Test(facet_counts, case_makes_no_other_value)
{
    static const char *const given[] = {"0:panda", "1:Panda", "2:Panda", "3:PANDA", "4:ur5e", "5:Pand"};
    char out[200];
    counted(given, HUB_COUNT(given), false, out, sizeof out);
    cr_assert_str_eq(out, "Panda=4,Pand=1,ur5e=1,");
}

Test(facet_counts, a_dataset_counts_once)
{
    static const char *const given[] = {"0:lift it", "0:Lift it", "0:lift it", "1:lift it", "1:place it"};
    char out[200];
    counted(given, HUB_COUNT(given), false, out, sizeof out);
    cr_assert_str_eq(out, "Lift it=2,place it=1,");
}

Test(facet_counts, parts_of_ids_are_exact)
{
    static const char *const given[] = {"0:D4RL", "1:d4rl", "2:d4rl"};
    char out[200];
    counted(given, HUB_COUNT(given), true, out, sizeof out);
    cr_assert_str_eq(out, "d4rl=2,D4RL=1,");
}

Test(facet_counts, of_none)
{
    char out[200];
    counted(NULL, 0, false, out, sizeof out);
    cr_assert_str_empty(out);
}
