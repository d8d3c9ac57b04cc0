/* storage/encode/pixels.c */
#include "rows.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { SIDE = 32 };

static struct hub_pixels drawn(const struct hub_rows *rows, struct hub_drawn_range *range)
{
    struct hub_error err = {0};
    struct hub_pixels pixels = {0};
    cr_assert_eq(hub_pixels_of_row(rows, range, &pixels, &err), HUB_OK, "%s", err.detail);
    return pixels;
}

/* Element i of the row is i % 251: where each of them is drawn says which axis is which. */
Test(pixels, of_each_layout)
{
    static const struct {
        uint32_t dims[HUB_MAX_RANK];
        uint32_t frames, channels;
        uint64_t frame, line, column, channel; /* strides */
    } cases[] = {
        {{SIDE, SIDE + 1}, 1, 1, 0, SIDE + 1, 1, 0},
        {{SIDE, SIDE + 1, 3}, 1, 3, 0, 3 * (SIDE + 1), 3, 1},
        {{3, SIDE, SIDE + 1}, 1, 3, 0, SIDE + 1, 1, SIDE * (SIDE + 1)},
        {{4, SIDE, SIDE + 1}, 4, 1, SIDE * (SIDE + 1), SIDE + 1, 1, 0},
        {{6, SIDE, SIDE + 1}, 2, 3, 3 * SIDE * (SIDE + 1), SIDE + 1, 1, SIDE * (SIDE + 1)},
        {{SIDE, SIDE + 1, 6}, 2, 3, 3, 6 * (SIDE + 1), 6, 1},
        {{2, SIDE, SIDE + 1, 3}, 2, 3, 3 * SIDE * (SIDE + 1), 3 * (SIDE + 1), 3, 1},
        {{2, 3, SIDE, SIDE + 1}, 2, 3, 3 * SIDE * (SIDE + 1), SIDE + 1, 1, SIDE * (SIDE + 1)},
    };
    static uint8_t data[6 * SIDE * (SIDE + 1)];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i % 251);
    for (size_t k = 0; k < HUB_COUNT(cases); k++) {
        struct hub_drawn_range range = {.known = true};
        const struct hub_rows r = fixed_rows(HUB_KIND_UINT, 1, cases[k].dims, 1, data);
        HUB_CLEANUP(hub_pixels_dispose) struct hub_pixels p = drawn(&r, &range);
        const uint32_t width = SIDE + 1, channels = cases[k].channels;
        cr_expect_not(range.known, "bytes have none");
        cr_assert(p.height == SIDE && p.width == width * cases[k].frames && p.channels == channels,
                  "case %zu", k);
        for (uint32_t y = 0; y < SIDE; y++)
            for (uint32_t x = 0; x < p.width * channels; x++) {
                const uint32_t column = x / channels;
                const uint64_t at = column / width * cases[k].frame + y * cases[k].line +
                                    column % width * cases[k].column + x % channels * cases[k].channel;
                cr_assert_eq(p.data[y * p.width * channels + x], at % 251, "case %zu", k);
            }
    }
}

Test(pixels, numbers_are_drawn_in_their_range)
{
    static const uint32_t dims[HUB_MAX_RANK] = {2, 3, 1};
    float depth[] = {0.5F, 1.5F, 2.5F, (float)NAN, (float)INFINITY, 1.0F};
    struct hub_drawn_range range = {0};
    const struct hub_rows r = fixed_rows(HUB_KIND_FLOAT, 4, dims, 1, depth);
    HUB_CLEANUP(hub_pixels_dispose) struct hub_pixels own = drawn(&r, &range);
    cr_expect(range.known && range.least == 0.5 && range.greatest == 2.5);
    cr_expect_arr_eq(own.data, ((uint8_t[]){0, 128, 255, 0, 255, 64}), 6);
    struct hub_drawn_range given = {true, 1, 2};
    HUB_CLEANUP(hub_pixels_dispose) struct hub_pixels same = drawn(&r, &given);
    cr_expect(given.known && given.least == 1 && given.greatest == 2);
    cr_expect_arr_eq(same.data, ((uint8_t[]){0, 128, 255, 0, 255, 0}), 6);
}

Test(pixels, of_one_value_or_of_none)
{
    static const uint32_t dims[HUB_MAX_RANK] = {1, 2};
    static const uint16_t same[] = {700, 700};
    double none[] = {NAN, NAN};
    struct hub_drawn_range range = {0}, empty = {0};
    const struct hub_rows r = fixed_rows(HUB_KIND_UINT, 2, dims, 1, same),
                          nothing = fixed_rows(HUB_KIND_FLOAT, 8, dims, 1, none);
    HUB_CLEANUP(hub_pixels_dispose) struct hub_pixels a = drawn(&r, &range), b = drawn(&nothing, &empty);
    cr_expect(range.least == 700 && range.greatest == 700 && empty.least == 0 && empty.greatest == 0);
    cr_expect(a.data[0] == 0 && a.data[1] == 0 && b.data[0] == 0 && b.data[1] == 0);
}

Test(pixels, colours_keep_the_usual_range)
{
    static const uint32_t dims[HUB_MAX_RANK] = {1, 1, 3};
    static const struct {
        float data[3];
        double least, greatest;
    } cases[] = {{{0.25F, 0.5F, 0.75F}, 0, 1},
                 {{0, 100, 200}, 0, 255},
                 {{-0.5F, 0, 1}, -1, 1},
                 {{-2, 0, 300}, -2, 300}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_drawn_range range = {0};
        const struct hub_rows r = fixed_rows(HUB_KIND_FLOAT, 4, dims, 1, cases[i].data);
        HUB_CLEANUP(hub_pixels_dispose) struct hub_pixels p = drawn(&r, &range);
        cr_expect(range.least == cases[i].least && range.greatest == cases[i].greatest, "case %zu", i);
    }
}
