/* Every encoding of Parquet against pages that pyarrow wrote: golden_pages.py. */
#include "storage/codec/codec.h"

#include <criterion/criterion.h>
#include <stdlib.h>

struct golden {
    const char *name;
    const uint8_t *page, *values; /* PLAIN; of nulls nothing */
    uint32_t size, count, nulls, def_bytes;
    uint8_t physical, encoding, version;
    uint32_t width, item; /* item 0: BYTE_ARRAY */
};

#include "golden_pages_table.h"

enum { MAX = 200, ROOM = 4096 };

/* Value `i` of a golden page, a null that has none: length 0. */
static const uint8_t *value_of(const struct golden *g, uint32_t i, uint32_t *length)
{
    const uint8_t *at = g->values;
    *length = g->item;
    for (uint32_t k = 0;; k++) {
        const bool null = g->nulls && k % 4 == 1;
        if (!g->item && !null) {
            memcpy(length, at, 4);
            at += 4;
        }
        if (k == i) {
            *length = null ? 0 : *length;
            return at;
        }
        at += null ? 0 : *length;
    }
}

struct opened {
    struct hub_column column;
    struct hub_page page;
    struct hub_page_job job;
    uint8_t built[ROOM], *data;
};

static void open_golden(struct opened *o, const struct golden *g, uint32_t size)
{
    o->column = (struct hub_column){.physical = g->physical, .max_def = g->nulls > 0, .width = g->width};
    o->page = (struct hub_page){.values = g->count,
                                .decoded = size,
                                .encoding = g->encoding,
                                .version = g->version,
                                .def_bytes = g->version == 2 ? g->def_bytes : 0};
    o->data = malloc(HUB_MAX(size, 1)); /* so that a read past the end is seen */
    memcpy(o->data, g->page, size);
    o->job = (struct hub_page_job){.column = &o->column,
                                   .page = &o->page,
                                   .data = o->data,
                                   .item_size = g->item,
                                   .built = o->built,
                                   .built_size = ROOM};
}

static void compare(const struct golden *g, const struct hub_page_job *job, bool views)
{
    struct hub_page_view at[MAX];
    uint8_t out[MAX * 8], valid[MAX];
    struct hub_error err = {0};
    cr_assert_eq(hub_page_values(job, views ? NULL : out, views ? at : NULL, valid, &err), HUB_OK, "%s: %s",
                 g->name, err.detail);
    for (uint32_t i = 0; i < job->count; i++) {
        uint32_t length;
        const uint8_t *expected = value_of(g, job->skip + i, &length);
        cr_assert_eq(valid[i], !(g->nulls && (job->skip + i) % 4 == 1));
        if (!valid[i])
            continue;
        cr_assert(!views || at[i].length == length, "%s: value %u has %u bytes", g->name, job->skip + i,
                  at[i].length);
        const uint8_t *got = views ? hub_page_bytes(job, &at[i]) : out + (size_t)i * g->item;
        cr_assert_eq(memcmp(got, expected, length), 0, "%s: value %u", g->name, job->skip + i);
    }
}

Test(page_encodings, any_part_of_any_page)
{
    struct opened o;
    for (size_t n = 0; n < HUB_COUNT(goldens); n++) {
        const struct golden *g = &goldens[n];
        open_golden(&o, g, g->size);
        for (o.job.skip = 0; o.job.skip <= g->count; o.job.skip++) {
            const uint32_t left = g->count - o.job.skip, counts[] = {0, HUB_MIN(left, 3), left};
            for (size_t k = 0; k < HUB_COUNT(counts); k++) {
                o.job.count = counts[k];
                compare(g, &o.job, g->item == 0);
                if (g->physical == HUB_PHYS_FIXED)
                    compare(g, &o.job, true);
            }
        }
        free(o.data);
    }
}

/* INT(8) and the like keep the low bytes. */
Test(page_encodings, narrow_numbers_are_the_low_bytes)
{
    struct opened o;
    uint8_t out[MAX];
    for (size_t n = 0; n < HUB_COUNT(goldens); n++) {
        const struct golden *g = &goldens[n];
        if ((g->physical != HUB_PHYS_INT32 && g->physical != HUB_PHYS_INT64) || g->nulls)
            continue;
        open_golden(&o, g, g->size);
        o.job.item_size = 1;
        o.job.count = g->count;
        cr_assert_eq(hub_page_values(&o.job, out, NULL, NULL, NULL), HUB_OK);
        for (uint32_t i = 0; i < g->count; i++)
            cr_assert_eq(out[i], g->values[(size_t)i * g->item], "%s: value %u", g->name, i);
        free(o.data);
    }
}

Test(page_encodings, lengths_are_known_without_the_values)
{
    struct opened o;
    for (size_t n = 0; n < HUB_COUNT(goldens); n++) {
        const struct golden *g = &goldens[n];
        uint64_t bytes, sum = 0;
        uint32_t longest, most = 0, length;
        if (g->physical != HUB_PHYS_BYTE_ARRAY)
            continue;
        for (uint32_t i = 0; i < g->count; i++) {
            (void)value_of(g, i, &length);
            sum += length;
            most = HUB_MAX(most, length);
        }
        open_golden(&o, g, g->size);
        cr_assert_eq(hub_page_total(&o.job, &bytes, &longest, NULL), HUB_OK);
        cr_expect_eq(bytes, sum, "%s", g->name);
        cr_expect_eq(longest, most, "%s", g->name);
        free(o.data);
    }
}

Test(page_encodings, no_page_does_with_less)
{
    struct opened o;
    struct hub_page_view at[MAX];
    uint8_t out[MAX * 8];
    for (size_t n = 0; n < HUB_COUNT(goldens); n++) {
        const struct golden *g = &goldens[n];
        for (uint32_t size = 0; size < g->size; size++) {
            open_golden(&o, g, size);
            o.job.count = g->count;
            const bool views = g->item == 0;
            cr_assert_eq(hub_page_values(&o.job, views ? NULL : out, views ? at : NULL, NULL, NULL),
                         HUB_CORRUPT, "%s: %u of %u bytes", g->name, size, g->size);
            free(o.data);
        }
    }
}

Test(page_encodings, what_is_built_keeps_within_its_room)
{
    struct opened o;
    struct hub_page_view at[MAX];
    for (size_t n = 0; n < HUB_COUNT(goldens); n++) {
        const struct golden *g = &goldens[n];
        if (g->encoding != HUB_ENC_DELTA_BYTES && g->encoding != HUB_ENC_SPLIT)
            continue;
        if (g->physical != HUB_PHYS_BYTE_ARRAY && g->physical != HUB_PHYS_FIXED)
            continue;
        uint64_t bytes = (uint64_t)g->count * g->width;
        uint32_t longest;
        open_golden(&o, g, g->size);
        if (!g->width)
            cr_assert_eq(hub_page_total(&o.job, &bytes, &longest, NULL), HUB_OK);
        o.job.count = g->count;
        o.job.built = malloc(bytes);
        o.job.built_size = bytes;
        cr_expect_eq(hub_page_values(&o.job, NULL, at, NULL, NULL), HUB_OK, "%s", g->name);
        o.job.built_size = bytes - 1;
        cr_expect_eq(hub_page_values(&o.job, NULL, at, NULL, NULL), HUB_CORRUPT, "%s", g->name);
        free(o.job.built);
        free(o.data);
    }
}

/* Heads that cannot be: of blocks, of widths, of lengths. */
Test(page_encodings, impossible_differences)
{
    static const struct {
        uint8_t physical, encoding, size, bytes[14];
    } cases[] = {
        {HUB_PHYS_INT32, 5, 4, {0, 1, 1, 0}},                               /* no block */
        {HUB_PHYS_INT32, 5, 5, {0x80, 1, 0, 1, 0}},                         /* no miniblocks */
        {HUB_PHYS_INT32, 5, 5, {0x80, 1, 3, 1, 0}},                         /* not whole ones */
        {HUB_PHYS_INT32, 5, 7, {0x80, 0x80, 0x80, 0x80, 1, 1, 1}},          /* a block of 2^28 */
        {HUB_PHYS_INT32, 5, 4, {0x80, 1, 4, 0}},                            /* no first value */
        {HUB_PHYS_INT32, 5, 10, {0x80, 1, 4, 2, 0, 0, 65, 0, 0, 0}},        /* 65 bits */
        {HUB_PHYS_INT32, 5, 6, {0x80, 1, 4, 2, 0, 0}},                      /* no widths */
        {HUB_PHYS_BYTE_ARRAY, 6, 5, {0x80, 1, 4, 1, 1}},                    /* a length of -1 */
        {HUB_PHYS_BYTE_ARRAY, 6, 6, {0x80, 1, 4, 1, 4, 'a'}},               /* two bytes, one is there */
        {HUB_PHYS_BYTE_ARRAY, 7, 11, {0x80, 1, 4, 1, 2, 0x80, 1, 4, 1, 0}}, /* shares with nothing */
        {HUB_PHYS_FIXED, 7, 11, {0x80, 1, 4, 1, 0, 0x80, 1, 4, 1, 2, 'a'}}, /* one byte of two */
        {HUB_PHYS_FIXED, 9, 3, {1, 2, 3}},                                  /* one and a half */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_column column = {.physical = cases[i].physical,
                                          .width = cases[i].physical == HUB_PHYS_FIXED ? 2 : 0};
        const struct hub_page page = {
            .values = 2, .decoded = cases[i].size, .encoding = cases[i].encoding, .version = 1};
        uint8_t built[64], out[16];
        struct hub_page_view at[2];
        const bool views = column.physical == HUB_PHYS_BYTE_ARRAY;
        const struct hub_page_job job = {.column = &column,
                                         .page = &page,
                                         .data = cases[i].bytes,
                                         .item_size = views          ? 0
                                                      : column.width ? 2
                                                                     : 4,
                                         .count = 1,
                                         .built = built,
                                         .built_size = sizeof built};
        cr_expect_eq(hub_page_values(&job, views ? NULL : out, views ? at : NULL, NULL, NULL), HUB_CORRUPT,
                     "case %zu", i);
    }
}
