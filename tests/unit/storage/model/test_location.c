#include "storage/model/record.h"

#include <criterion/criterion.h>

Test(location, reads_what_it_wrote)
{
    const struct hub_location location = {
        .file = 7, .offset = 99999999999, .stored = 1000, .decoded = 900, .escaped = true};
    struct hub_location read;
    char text[HUB_LOCATION_CHARS];
    hub_location_write(&location, text);
    cr_assert_str_eq(text, "7 99999999999 1000 900 1");
    cr_assert(hub_location_read(hub_view_of(text), &read));
    cr_expect(read.file == 7 && read.offset == location.offset && read.stored == 1000 &&
              read.decoded == 900 && read.escaped);
}

Test(location, refuses_the_rest)
{
    static const char *const bad[] = {"",
                                      "1 2 3 4",
                                      "1 2 3 3 0 5",
                                      "1 2 3 4 0",
                                      "1 2 3 4 1",
                                      "1 2 3 3 2",
                                      "-1 2 3 3 0",
                                      "1 2 3 3 x",
                                      "1  2 3 3 0",
                                      "4294967296 2 3 3 0",
                                      "1 2 3 3 0 ",
                                      "1 1234567890123456789 3 3 0"};
    struct hub_location location;
    for (size_t i = 0; i < HUB_COUNT(bad); i++)
        cr_expect_not(hub_location_read(hub_view_of(bad[i]), &location), "%s", bad[i]);
    cr_expect(hub_location_read(HUB_VIEW("1 2 3 3 0"), &location));
}
