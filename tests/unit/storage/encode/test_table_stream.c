/* storage/encode/table_stream.c and the writers of tables: the bytes are the same whatever a source reads at
 * once, and however little is written at once. */
#include "rows.h"

#include "storage/encode/representation.h"

#include <criterion/criterion.h>

enum { ROWS = 5 };

/* Numbers, texts and runs of bytes, `most` rows of them at once. */
struct small {
    struct hub_table_stream table; /* first */
    struct hub_stream_column columns[4];
    uint64_t most, reads, padded;
    int inside; /* entered and not left */
    uint64_t offsets[ROWS + 1];
};

static const double numbers[ROWS] = {0, 0.5, -1, 2, 1e300};
static const char letters[] = "aab\xC3\xA9"
                              "abc"; /* "", "a", "ab", "é", "abc" */
static const uint64_t begins[ROWS + 1] = {0, 0, 1, 3, 5, 8};
static uint64_t ends[] = {2, 5};

static enum hub_status read_small(struct hub_table_stream *table, struct hub_stream_part *part,
                                  struct hub_error *err)
{
    struct small *s = (struct small *)table;
    (void)err;
    cr_assert_eq(s->inside, 1);
    cr_assert(part->first + part->count <= table->count && part->rows > 0);
    s->reads++;
    part->rows = HUB_MIN(part->rows, s->most);
    for (uint64_t i = 0; i <= part->rows && part->at + i <= ROWS; i++)
        s->offsets[i] = begins[part->at + i] - begins[part->at];
    for (uint32_t i = 0; i < part->count; i++) {
        const uint32_t c = part->first + i;
        const char *data = c == 0   ? (const char *)(numbers + part->at)
                           : c == 3 ? (const char *)(ends + part->at)
                                    : letters + begins[part->at];
        part->of[i] = (struct hub_rows){.variant = table->columns[c].variant,
                                        .rows = part->rows,
                                        .data = (uint8_t *)(uintptr_t)data,
                                        .offsets = c == 1 || c == 2 ? s->offsets : NULL};
    }
    return HUB_OK;
}

static enum hub_status enter(struct hub_table_stream *table, struct hub_error *err)
{
    (void)err;
    ((struct small *)table)->inside++;
    return HUB_OK;
}

static void leave(struct hub_table_stream *table)
{
    ((struct small *)table)->inside--;
}

static enum hub_status pad(struct hub_table_stream *table, uint32_t column, uint64_t bytes,
                           struct hub_error *err)
{
    struct small *s = (struct small *)table;
    (void)column;
    s->padded = HUB_MAX(s->padded, bytes);
    return bytes > 1000 ? hub_fail(err, HUB_TOO_BIG, "too wide") : HUB_OK;
}

static void dispose(struct hub_table_stream *table)
{
    ((struct small *)table)->most = 0;
}

static struct small small_of(const char *as, uint64_t most)
{
    static const struct hub_stream_source source = {
        .read = read_small, .enter = enter, .leave = leave, .pad = pad, .dispose = dispose};
    const struct hub_variant any = {.kind = HUB_KIND_VAR};
    struct small s = {.table = {.source = &source, .rows = ROWS}, .most = most};
    s.columns[0] = (struct hub_stream_column){
        .name = "x", .type = HUB_FIELD_NUMBER, .variant = {.kind = HUB_KIND_FLOAT, .item_size = 8}};
    s.columns[1] = (struct hub_stream_column){.name = "word", .type = HUB_FIELD_TEXT, .variant = any};
    s.columns[2] = (struct hub_stream_column){.name = "raw", .type = HUB_FIELD_BYTES, .variant = any};
    s.columns[3] = (struct hub_stream_column){.name = "ends",
                                              .type = HUB_FIELD_NUMBER,
                                              .variant = {.kind = HUB_KIND_INT, .item_size = 8},
                                              .apart = true,
                                              .rows = 2};
    s.table.as = hub_representation_named(as);
    s.table.count = strcmp(as, "npz") == 0 ? 4 : strcmp(as, "csv") == 0 ? 2 : 3;
    return s;
}

/* With chunks of about `enough` bytes, put together. */
static void write_small(const char *as, uint64_t most, size_t enough, struct hub_buf *out, uint64_t *length)
{
    struct small s = small_of(as, most);
    s.table.columns = s.columns;
    *out = HUB_BUF_INIT(1 * MIB);
    for (int round = 0; round < 2; round++) { /* and again from its start */
        out->size = 0;
        while (!s.table.ended) {
            HUB_CLEANUP(hub_buf_dispose) struct hub_buf chunk = HUB_BUF_INIT(1 * MIB);
            cr_assert_eq(hub_table_stream_more(&s.table, enough, &chunk, NULL), HUB_OK);
            cr_assert_eq(hub_buf_add_view(out, hub_buf_view(&chunk), NULL), HUB_OK);
        }
        cr_assert_eq(hub_table_stream_length(&s.table, length, NULL), HUB_OK);
        if (!round)
            hub_table_stream_rewind(&s.table);
    }
    cr_expect_eq(s.inside, 0);
    hub_table_stream_dispose(&s.table);
    cr_expect_eq(s.most, 0, "its source was disposed of");
}

Test(table, chunks_are_the_whole)
{
    for (const struct hub_representation *as = hub_representations; as->name; as++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf whole = {0};
        uint64_t length;
        if (!as->writer->table)
            continue;
        write_small(as->name, ROWS, 1 * MIB, &whole, &length);
        cr_expect_gt(whole.size, 0);
        for (uint64_t most = 1; most <= ROWS; most++)
            for (size_t enough = 1; enough < 200; enough *= 8) {
                HUB_CLEANUP(hub_buf_dispose) struct hub_buf again = {0};
                uint64_t bytes;
                write_small(as->name, most, enough, &again, &bytes);
                const bool batches = strncmp(as->name, "arrow", 5) == 0 && most < ROWS; /* smaller ones */
                cr_expect(batches || hub_view_equal(hub_buf_view(&again), hub_buf_view(&whole)),
                          "%s, %d rows, chunks of %zu: %zu and %zu bytes", as->name, (int)most, enough,
                          again.size, whole.size);
            }
        cr_expect(length == UINT64_MAX || length == whole.size, "%s: %zu bytes", as->name, whole.size);
    }
}

Test(table, text_forms)
{
    static const struct {
        const char *as, *want;
    } cases[] = {
        {"csv", "x,word\n0.0,\"\"\n0.5,a\n-1.0,ab\n2.0,\xC3\xA9\n1e+300,abc\n"},
        {"json",
         "{\"columns\":{\"x\":[0.0,0.5,-1.0,2.0,1e+300],\"word\":[\"\",\"a\",\"ab\",\"\xC3\xA9\",\"abc\"],"
         "\"raw\":[\"\",\"YQ==\",\"YWI=\",\"w6k=\",\"YWJj\"]}}\n"},
        {"jsonl",
         "{\"x\":0.0,\"word\":\"\",\"raw\":\"\"}\n{\"x\":0.5,\"word\":\"a\",\"raw\":\"YQ==\"}\n"
         "{\"x\":-1.0,\"word\":\"ab\",\"raw\":\"YWI=\"}\n{\"x\":2.0,\"word\":\"\xC3\xA9\",\"raw\":\"w6k=\"}\n"
         "{\"x\":1e+300,\"word\":\"abc\",\"raw\":\"YWJj\"}\n"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = {0};
        uint64_t length;
        write_small(cases[i].as, 2, 1, &out, &length);
        cr_expect_str_eq(out.data, cases[i].want);
    }
}

/* JSON that is ready stands as it is, behind what the source says first. */
Test(table, verbatim)
{
    struct small s = small_of("json", ROWS);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    s.table.columns = s.columns + 1;
    s.table.count = 1;
    s.table.rows = 0;
    s.table.head = "\"total\":0";
    cr_assert_eq(hub_table_stream_write(&s.table, &out, NULL), HUB_OK);
    cr_expect_str_eq(out.data, "{\"total\":0,\"columns\":{\"word\":[]}}\n");
    hub_table_stream_dispose(&s.table);
    s = small_of("jsonl", ROWS);
    s.columns[1].verbatim = true;
    s.table.columns = s.columns;
    s.table.count = 2;
    out.size = 0;
    cr_assert_eq(hub_table_stream_write(&s.table, &out, NULL), HUB_OK);
    cr_expect_not_null(strstr(out.data, "{\"x\":-1.0,\"word\":ab}\n"), "%s", out.data);
    hub_table_stream_dispose(&s.table);
}

/* All rows of what is padded are looked at first, and its source may refuse. */
Test(table, padding)
{
    struct small s = small_of("npz", 2);
    struct hub_error err = {0};
    s.table.columns = s.columns;
    s.inside = 1;
    cr_assert_eq(hub_table_stream_measure(&s.table, 0, NULL), HUB_OK);
    cr_expect_eq(s.reads, 0);
    cr_assert_eq(hub_table_stream_measure(&s.table, 1, NULL), HUB_OK);
    cr_expect_eq(s.columns[1].longest, 3);
    cr_expect_eq(s.reads, 3);
    cr_expect_eq(s.padded, ROWS * 3 * 4);
    cr_assert_eq(hub_table_stream_measure(&s.table, 1, NULL), HUB_OK);
    cr_expect_eq(s.reads, 3, "it is known");
    s.columns[2].rows = 1000;
    s.columns[2].apart = true;
    cr_expect_eq(hub_table_stream_measure(&s.table, 2, &err), HUB_TOO_BIG);
    hub_table_stream_dispose(&s.table);
}

/* The lengths of one column, and another column, may have one name. */
Test(table, names_of_lengths)
{
    struct small s = small_of("npz", ROWS);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(64 * KIB);
    s.table.columns = s.columns;
    s.columns[0].name = "raw__length";
    cr_expect_eq(hub_table_stream_write(&s.table, &out, NULL), HUB_NOT_ACCEPTABLE);
    hub_table_stream_dispose(&s.table);
}
