#include "storage/base/cursor.h"
#include "storage/codec/codec.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX = 3000 };

static uint32_t random_state = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)random_state * below >> 32);
}

/* ---- an encoder of runs, to compare with ---- */

static void put_varint(struct hub_buf *out, uint32_t value)
{
    do {
        const uint8_t byte = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        cr_assert_eq(hub_buf_add(out, &byte, 1, NULL), HUB_OK);
        value >>= 7;
    } while (value);
}

static void put_packed(struct hub_buf *out, const uint32_t *values, uint32_t count, unsigned width)
{
    const uint32_t groups = (count + 7) / 8;
    uint8_t *bytes = calloc(1, (size_t)groups * width + 8);
    for (uint32_t i = 0; i < count; i++)
        for (unsigned b = 0; b < width; b++)
            if (values[i] >> b & 1)
                bytes[(i * width + b) / 8] |= (uint8_t)(1u << (i * width + b) % 8);
    put_varint(out, groups << 1 | 1);
    cr_assert_eq(hub_buf_add(out, bytes, (size_t)groups * width, NULL), HUB_OK);
    free(bytes);
}

static void put_runs(struct hub_buf *out, const uint32_t *values, uint32_t count, unsigned width)
{
    uint32_t i = 0;
    while (i < count) {
        uint32_t same = 1;
        while (i + same < count && values[i + same] == values[i])
            same++;
        if (same >= 8 || draw(3) == 0) {
            put_varint(out, same << 1);
            cr_assert_eq(hub_buf_add(out, &values[i], (width + 7) / 8, NULL), HUB_OK);
            i += same;
        } else {
            uint32_t n = 8 * (1 + draw(4));
            if (i + n > count)
                n = count - i; /* only the last group may be padded */
            put_packed(out, values + i, n, width);
            i += n;
        }
    }
}

static uint8_t *exact(const struct hub_buf *buf)
{
    uint8_t *copy = malloc(buf->size ? buf->size : 1); /* so that a read past the end is seen */
    if (buf->size)
        memcpy(copy, buf->data, buf->size);
    return copy;
}

Test(page, levels_of_every_width)
{
    uint32_t values[MAX];
    uint8_t out[MAX];
    for (unsigned round = 0; round < 400; round++) {
        const unsigned width = 1 + round % 8;
        const uint32_t count = 1 + draw(MAX);
        for (uint32_t i = 0; i < count; i++)
            values[i] = i && draw(4) ? values[i - 1] : draw(1u << width);
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf buf = HUB_BUF_INIT(MIB);
        put_runs(&buf, values, count, width);
        uint8_t *data = exact(&buf);
        size_t used = 0;
        cr_assert_eq(hub_rle_levels(data, buf.size, width, count, out, &used, NULL), HUB_OK);
        cr_assert_eq(used, buf.size);
        for (uint32_t i = 0; i < count; i++)
            cr_assert_eq(out[i], values[i]);
        cr_assert_eq(hub_rle_levels(data, buf.size, width, count + 64, out, &used, NULL), HUB_CORRUPT);
        free(data);
    }
}

struct run_case {
    uint8_t data[8];
    size_t size;
    unsigned width;
    uint32_t count;
    enum hub_status st;
};

ParameterizedTestParameters(page, runs)
{
    static struct run_case cases[] = {
        {{0}, 0, 0, 5, HUB_OK},                                    /* no bits: nothing is stored */
        {{0}, 0, 1, 1, HUB_CORRUPT},                               /* nothing where something must be */
        {{0x0a, 1}, 2, 1, 5, HUB_OK},                              /* five ones */
        {{0x0a, 2}, 2, 1, 5, HUB_CORRUPT},                         /* 2 does not fit a bit */
        {{0x0a}, 1, 1, 5, HUB_CORRUPT},                            /* no value */
        {{0x00, 1, 0x0a, 1}, 4, 1, 5, HUB_OK},                     /* an empty run */
        {{0x80, 0x80, 0x80, 0x80, 0x80, 1}, 6, 1, 1, HUB_CORRUPT}, /* header over 32 bits */
        {{0x80, 0x80, 0x80, 0x80, 0x7f}, 5, 1, 1, HUB_CORRUPT},
        {{0x80}, 1, 1, 1, HUB_CORRUPT},
        {{0x03, 0x55}, 2, 1, 8, HUB_OK}, /* one group */
        {{0x03, 0x55}, 2, 1, 9, HUB_CORRUPT},
        {{0x05, 0x55}, 2, 1, 8, HUB_OK}, /* padding of the last run left out */
        {{0xff, 0xff, 0xff, 0xff, 0x0f}, 5, 8, 1, HUB_CORRUPT},
        {{0x02, 1}, 2, 9, 1, HUB_CORRUPT}, /* a level has a byte */
    };
    return cr_make_param_array(struct run_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct run_case *c, page, runs)
{
    uint8_t out[16] = {0};
    size_t used;
    uint8_t *data = malloc(HUB_MAX(c->size, 1));
    memcpy(data, c->data, c->size);
    cr_expect_eq(hub_rle_levels(data, c->size, c->width, c->count, out, &used, NULL), c->st);
    free(data);
}

/* ---- whole pages, random, against what they were made from ---- */

struct made {
    struct hub_column column;
    struct hub_page page, dictionary;
    struct hub_buf data, words;
    uint32_t count;
    bool present[MAX];
    uint8_t values[MAX][8]; /* fixed: the physical value */
    uint32_t choice[MAX];   /* dictionary index, or number of the text */
    unsigned width;
};

static void text_of(uint32_t number, char out[24])
{
    snprintf(out, 24, "%.*s%u", (int)(number % 7), "abcdefgh", number);
}

static void put_u32(struct hub_buf *buf, uint32_t value)
{
    cr_assert_eq(hub_buf_add(buf, &value, 4, NULL), HUB_OK);
}

static void put_text(struct hub_buf *buf, uint32_t number)
{
    char text[24];
    text_of(number, text);
    put_u32(buf, (uint32_t)strlen(text));
    cr_assert_eq(hub_buf_add_text(buf, text, NULL), HUB_OK);
}

static void put_levels(struct made *m)
{
    uint32_t levels[MAX];
    if (m->column.max_rep) {
        const size_t at = m->data.size;
        if (m->page.version == 1)
            put_u32(&m->data, 0);
        for (uint32_t i = 0; i < m->count; i++)
            levels[i] = i % 3 != 0;
        put_runs(&m->data, levels, m->count, 1);
        m->page.rep_bytes = (uint32_t)(m->data.size - at);
        const uint32_t length = m->page.rep_bytes - 4;
        if (m->page.version == 1)
            memcpy(m->data.data + at, &length, 4);
    }
    if (m->column.max_def) {
        const size_t at = m->data.size;
        if (m->page.version == 1)
            put_u32(&m->data, 0);
        for (uint32_t i = 0; i < m->count; i++)
            levels[i] = m->present[i] ? m->column.max_def : draw(m->column.max_def);
        unsigned width = 0;
        while (m->column.max_def >> width)
            width++;
        put_runs(&m->data, levels, m->count, width);
        m->page.def_bytes = (uint32_t)(m->data.size - at);
        const uint32_t length = m->page.def_bytes - 4;
        if (m->page.version == 1)
            memcpy(m->data.data + at, &length, 4);
    }
    if (m->page.version == 1)
        m->page.rep_bytes = m->page.def_bytes = 0;
}

static void put_values(struct made *m)
{
    uint32_t stored[MAX], n = 0;
    for (uint32_t i = 0; i < m->count; i++)
        if (m->present[i])
            stored[n++] = i;
    if (m->page.encoding == HUB_ENC_RLE_DICTIONARY) {
        const uint32_t words = 1 + draw(200);
        for (uint32_t w = 0; w < words; w++)
            if (m->column.physical == HUB_PHYS_BYTE_ARRAY)
                put_text(&m->words, w);
            else
                for (unsigned b = 0; b < m->width; b++) {
                    const uint8_t byte = (uint8_t)(w * 31 + b * 7);
                    cr_assert_eq(hub_buf_add(&m->words, &byte, 1, NULL), HUB_OK);
                }
        uint8_t width = 0;
        while ((words - 1) >> width)
            width++;
        uint32_t at[MAX];
        for (uint32_t i = 0; i < n; i++) {
            at[i] = draw(words);
            m->choice[stored[i]] = at[i];
            if (m->column.physical != HUB_PHYS_BYTE_ARRAY)
                memcpy(m->values[stored[i]], m->words.data + at[i] * m->width, m->width);
        }
        cr_assert_eq(hub_buf_add(&m->data, &width, 1, NULL), HUB_OK);
        put_runs(&m->data, at, n, width);
        m->dictionary = (struct hub_page){.values = words, .decoded = (uint32_t)m->words.size};
        return;
    }
    uint32_t bits[MAX];
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = stored[i];
        m->choice[at] = draw(100000);
        bits[i] = draw(2);
        if (m->column.physical == HUB_PHYS_BOOLEAN) {
            m->values[at][0] = (uint8_t)bits[i];
            continue;
        }
        for (unsigned b = 0; b < m->width; b++)
            m->values[at][b] = (uint8_t)draw(256);
        if (m->column.physical == HUB_PHYS_BYTE_ARRAY)
            put_text(&m->data, m->choice[at]);
        else
            cr_assert_eq(hub_buf_add(&m->data, m->values[at], m->width, NULL), HUB_OK);
    }
    if (m->page.encoding == HUB_ENC_RLE) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf runs = HUB_BUF_INIT(MIB);
        put_runs(&runs, bits, n, 1);
        put_u32(&m->data, (uint32_t)runs.size);
        cr_assert_eq(hub_buf_add_view(&m->data, hub_buf_view(&runs), NULL), HUB_OK);
    } else if (m->column.physical == HUB_PHYS_BOOLEAN) {
        uint8_t packed[MAX / 8 + 1] = {0};
        for (uint32_t i = 0; i < n; i++)
            packed[i / 8] |= (uint8_t)(bits[i] << i % 8);
        cr_assert_eq(hub_buf_add(&m->data, packed, (n + 7) / 8, NULL), HUB_OK);
    }
}

static void make(struct made *m, unsigned round)
{
    static const uint8_t physicals[] = {HUB_PHYS_BOOLEAN, HUB_PHYS_INT32,      HUB_PHYS_INT64, HUB_PHYS_FLOAT,
                                        HUB_PHYS_DOUBLE,  HUB_PHYS_BYTE_ARRAY, HUB_PHYS_FIXED};
    static const unsigned widths[] = {1, 4, 8, 4, 8, 0, 2};
    const unsigned p = round % 7;
    memset(m, 0, sizeof *m);
    m->data = m->words = HUB_BUF_INIT(MIB);
    m->column = (struct hub_column){.physical = physicals[p],
                                    .width = physicals[p] == HUB_PHYS_FIXED ? 2 : 0,
                                    .max_def = (uint8_t)(round / 7 % 4),
                                    .max_rep = round / 28 % 2};
    m->width = widths[p];
    m->page.version = (uint8_t)(1 + round / 56 % 2);
    m->page.encoding =
        p == 0 ? (draw(2) ? HUB_ENC_RLE : HUB_ENC_PLAIN) : (draw(2) ? HUB_ENC_RLE_DICTIONARY : HUB_ENC_PLAIN);
    m->count = draw(8) ? 1 + draw(MAX - 1) : draw(10);
    const uint32_t nulls = draw(4);
    for (uint32_t i = 0; i < m->count; i++)
        m->present[i] = !m->column.max_def || draw(4) >= nulls;
    put_levels(m);
    put_values(m);
    m->page.values = m->count;
    m->page.decoded = (uint32_t)m->data.size;
}

static void compare_fixed(const struct made *m, const struct hub_page_job *job, const uint8_t *out,
                          const uint8_t *valid)
{
    for (uint32_t i = 0; i < job->count; i++) {
        const uint32_t at = job->skip + i;
        uint8_t expected[8] = {0};
        if (m->present[at])
            memcpy(expected, m->values[at], 8);
        else if (job->is_float)
            memcpy(expected,
                   job->item_size == 2   ? "\0\x7e"
                   : job->item_size == 4 ? "\0\0\xc0\x7f"
                                         : "\0\0\0\0\0\0\xf8\x7f",
                   job->item_size);
        cr_assert_eq(memcmp(out + (size_t)i * job->item_size, expected, job->item_size), 0, "value %u", at);
        cr_assert_eq(valid[i], m->present[at]);
    }
}

/* The bytes of the page's values are those of its views. */
static void compare_total(const struct hub_page_job *job)
{
    struct hub_page_job all = *job;
    uint64_t total = 0, sum = 0;
    uint32_t longest = 0, most = 0;
    all.skip = 0;
    all.count = job->page->values;
    struct hub_page_view *views = calloc(all.count + 1, sizeof *views);
    cr_assert_eq(hub_page_values(&all, NULL, views, NULL, NULL), HUB_OK);
    for (uint32_t i = 0; i < all.count; i++) {
        sum += views[i].length;
        most = HUB_MAX(most, views[i].length);
    }
    cr_assert_eq(hub_page_total(&all, &total, &longest, NULL), HUB_OK);
    cr_assert_eq(total, sum);
    cr_assert_eq(longest, most);
    free(views);
}

static void compare_views(const struct made *m, const struct hub_page_job *job,
                          const struct hub_page_view *views)
{
    for (uint32_t i = 0; i < job->count; i++) {
        char text[24] = "";
        if (m->present[job->skip + i])
            text_of(m->choice[job->skip + i], text);
        cr_assert_eq(views[i].length, strlen(text));
        cr_assert_eq(memcmp(hub_page_bytes(job, &views[i]), text, views[i].length), 0);
    }
}

Test(page, random_pages_of_every_kind)
{
    struct made *m = malloc(sizeof *m);
    uint8_t *valid = malloc(MAX), *out = malloc(MAX * 8);
    struct hub_page_view *views = malloc(MAX * sizeof *views);
    for (unsigned round = 0; round < 1500; round++) {
        make(m, round);
        uint8_t *data = exact(&m->data), *words = exact(&m->words);
        const bool bytes = m->column.physical == HUB_PHYS_BYTE_ARRAY;
        struct hub_page_job job = {
            .column = &m->column, .page = &m->page, .data = data, .dictionary_data = words};
        job.dictionary = m->page.encoding == HUB_ENC_RLE_DICTIONARY ? &m->dictionary : NULL;
        struct hub_page_view *index = calloc(m->dictionary.values + 1, sizeof *index);
        job.dictionary_views = index;
        if (bytes && job.dictionary)
            cr_assert_eq(hub_page_index(&m->dictionary, words, 1000000, index, NULL), HUB_OK);
        job.item_size = m->width;
        if (m->column.physical == HUB_PHYS_INT32)
            job.item_size = 1u << draw(3);
        job.is_float =
            m->column.physical == HUB_PHYS_FLOAT || m->column.physical == HUB_PHYS_DOUBLE || m->width == 2;
        job.skip = draw(2) ? 0 : draw(m->count + 1);
        job.count = draw(2) ? m->count - job.skip : draw(m->count - job.skip + 1);
        struct hub_error err = {0};
        cr_assert_eq(hub_page_values(&job, bytes ? NULL : out, bytes ? views : NULL, valid, &err), HUB_OK,
                     "round %u: %s", round, err.detail);
        if (bytes)
            compare_views(m, &job, views);
        if (bytes)
            compare_total(&job);
        else
            compare_fixed(m, &job, out, valid);
        job.skip = 0;
        job.count = m->count + 1;
        cr_assert_eq(hub_page_values(&job, bytes ? NULL : out, bytes ? views : NULL, valid, NULL),
                     HUB_OUT_OF_RANGE);
        free(index);
        free(data);
        free(words);
        hub_buf_dispose(&m->data);
        hub_buf_dispose(&m->words);
    }
    free(m);
    free(valid);
    free(out);
    free(views);
}

Test(page, a_dictionary_is_indexed_within_its_bytes_and_its_longest_value)
{
    const uint8_t words[] = {1, 0, 0, 0, 'a', 3, 0, 0, 0, 'b', 'c', 'd'};
    struct hub_page dictionary = {.values = 2, .decoded = sizeof words};
    struct hub_page_view index[3];
    cr_assert_eq(hub_page_index(&dictionary, words, 3, index, NULL), HUB_OK);
    cr_expect(index[1].offset == 9 && index[1].length == 3 && index[1].in_dictionary);
    cr_expect_eq(hub_page_index(&dictionary, words, 2, index, NULL), HUB_CORRUPT);
    dictionary.values = 3;
    cr_expect_eq(hub_page_index(&dictionary, words, 3, index, NULL), HUB_CORRUPT);
    dictionary.values = 2;
    dictionary.decoded--;
    cr_expect_eq(hub_page_index(&dictionary, words, 3, index, NULL), HUB_CORRUPT);
}

Test(page, refuses_what_the_page_does_not_hold)
{
    const uint8_t data[] = {2, 0x04, 3, 0, 0, 0, 0, 0, 0, 0}, words[16] = {0};
    const struct hub_column column = {.physical = HUB_PHYS_INT32};
    struct hub_page page = {.values = 2, .decoded = 3, .encoding = HUB_ENC_RLE_DICTIONARY, .version = 1};
    struct hub_page dictionary = {.values = 4, .decoded = 16};
    uint32_t out[8];
    struct hub_page_job job = {.column = &column,
                               .page = &page,
                               .data = data,
                               .dictionary = &dictionary,
                               .dictionary_data = words,
                               .item_size = 4,
                               .count = 2};
    cr_expect_eq(hub_page_values(&job, out, NULL, NULL, NULL), HUB_OK); /* two threes of four */
    dictionary.values = 3;
    cr_expect_eq(hub_page_values(&job, out, NULL, NULL, NULL), HUB_CORRUPT); /* the fourth is not there */
    dictionary.values = 5;
    cr_expect_eq(hub_page_values(&job, out, NULL, NULL, NULL), HUB_CORRUPT); /* longer than its page */
    job.dictionary = NULL;
    cr_expect_eq(hub_page_values(&job, out, NULL, NULL, NULL), HUB_CORRUPT);
    page.encoding = HUB_ENC_PLAIN;
    page.decoded = 7;
    cr_expect_eq(hub_page_values(&job, out, NULL, NULL, NULL), HUB_CORRUPT);
    job.item_size = 8;
    cr_expect_eq(hub_page_values(&job, out, NULL, NULL, NULL), HUB_INVALID);
    job.item_size = 4;
    page.encoding = 4;
    cr_expect_eq(hub_page_values(&job, out, NULL, NULL, NULL), HUB_UNSUPPORTED);
}

Test(page, levels_that_end_early_are_not_nulls)
{
    /* a run of eight levels without its value, then four numbers */
    const uint8_t data[] = {1, 0, 0, 0, 8 << 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    const struct hub_column column = {.physical = HUB_PHYS_INT32, .max_def = 1};
    const struct hub_page page = {.values = 8, .decoded = sizeof data, .version = 1};
    const struct hub_page_job job = {
        .column = &column, .page = &page, .data = data, .item_size = 4, .count = 8};
    uint8_t valid[8];
    uint32_t out[8];
    cr_expect_eq(hub_page_values(&job, out, NULL, valid, NULL), HUB_CORRUPT);
}

Test(page, unpack_keeps_levels_of_v2_as_they_are)
{
    const struct hub_column column = {.physical = HUB_PHYS_INT32, .codec = HUB_PAGE_LZ4_RAW};
    struct hub_page page = {
        .version = 2, .compressed = 1, .def_bytes = 2, .rep_bytes = 1, .stored = 3, .decoded = 3};
    char out[8] = "";
    cr_expect_eq(hub_page_unpack(&column, &page, "abc", out, NULL),
                 HUB_OK); /* nulls only: no values, not even compressed */
    cr_expect_arr_eq(out, "abc", 3);
    page.compressed = 0;
    page.stored = page.decoded = 5;
    cr_expect_eq(hub_page_unpack(&column, &page, "abcde", out, NULL), HUB_OK);
    cr_expect_arr_eq(out, "abcde", 5);
    page.stored = 4;
    cr_expect_eq(hub_page_unpack(&column, &page, "abcd", out, NULL), HUB_CORRUPT);
    page.compressed = 1;
    page.stored = 7; /* lz4: literals "de" behind the token 0x20 */
    cr_expect_eq(hub_page_unpack(&column, &page,
                                 "abc\x20"
                                 "de!",
                                 out, NULL),
                 HUB_CORRUPT);
    page.stored = 6;
    cr_expect_eq(hub_page_unpack(&column, &page,
                                 "abc\x20"
                                 "de",
                                 out, NULL),
                 HUB_OK);
    cr_expect_arr_eq(out, "abcde", 5);
    page.def_bytes = UINT32_MAX;
    cr_expect_eq(hub_page_unpack(&column, &page,
                                 "abc\x20"
                                 "de",
                                 out, NULL),
                 HUB_CORRUPT);
}
