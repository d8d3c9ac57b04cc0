/* storage/model/format_marks.h: each row has its driver, which bids by the names of that row. */
#include "storage/formats/registry.h"

#include <criterion/criterion.h>

#define DECLARE(row, ...) extern const struct hub_format hub_format_##row;
#define CHECK(row, ...)                                                                                      \
    cr_expect_str_eq(hub_format_##row.name, hub_format_rows[HUB_FORMAT_##row].name);                         \
    cr_expect_eq(hub_format_##row.marks, hub_marks_##row, #row);
HUB_FORMATS(DECLARE)

Test(marks, are_those_of_the_drivers)
{
    HUB_FORMATS(CHECK)
}
