#include "client/cli/progress.h"

#include <criterion/criterion.h>
#include <string.h>

Test(progress, times)
{
    char text[32];
    const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0:00"},  {7.9, "0:07"}, {754, "12:34"},     {3723, "1:02:03"},
                 {-1, "-:--"}, {1e9, "-:--"}, {0.0 / 0.0, "-:--"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        progress_time(cases[i].seconds, text);
        cr_assert_str_eq(text, cases[i].text);
    }
}

Test(progress, bars)
{
    char text[256];
    struct minari_progress p = {.id = "door-human-v0", .bytes_done = 12300000, .bytes_total = 27000000};
    progress_bar(&p, 1e6, 100, text, sizeof text);
    cr_assert_not_null(strstr(text, "door-human-v0"));
    cr_assert_not_null(strstr(text, " 45% 12.3 MB/27.0 MB 1.0 MB/s 0:14"), "%s", text);
    cr_assert_not_null(strchr(text, '#'));
    for (unsigned columns = 20; columns < 200; columns++) {
        progress_bar(&p, 1e6, columns, text, sizeof text);
        cr_assert(strlen(text) <= columns || columns < 60, "%u: %s", columns, text);
    }
    p.bytes_total = 0; /* an answer that does not say how long it is */
    progress_bar(&p, 1e6, 79, text, sizeof text);
    cr_assert_str_eq(text, "door-human-v0  12.3 MB 1.0 MB/s");
    p.bytes_done = p.bytes_total = 0; /* a dataset of empty files is done, not stuck */
    progress_bar(&p, 0, 79, text, sizeof text);
    cr_assert_not_null(strstr(text, "100%"));
}
