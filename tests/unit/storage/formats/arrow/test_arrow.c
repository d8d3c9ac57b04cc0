/* storage/formats/arrow over the fixtures' files: schemas, columns, what their rows are; and damaged ones. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "storage/formats/arrow/arrow.h"
#include "storage/formats/arrow/flat.h"
#include "tests/support/slurp.h"

struct opened {
    uint8_t *data;
    size_t size;
    struct hub_byte_source source;
    struct hub_arrow arrow;
};

static enum hub_status open_part(struct opened *o, const char *set, unsigned number, struct hub_error *err)
{
    char path[200];
    snprintf(path, sizeof path, "arrow/%s/data/%u/part-0.arrow", set, number);
    *o = (struct opened){.size = 0};
    o->data = slurp(path, &o->size);
    hub_byte_source_memory(&o->source, o->data, o->size);
    return hub_arrow_add(&o->arrow, &o->source, err);
}

static void close_part(struct opened *o)
{
    hub_arrow_dispose(&o->arrow);
    free(o->data);
}

struct column_case {
    char set[16], path[24];
    unsigned part;
    enum hub_field_type type;
    uint8_t kind, item_size, rank;
    uint32_t dims[2];
    uint64_t nulls;
};

ParameterizedTestParameters(arrow, columns)
{
    static struct column_case cases[] = {
        {"types-v0", "infos/int8", 0, HUB_FIELD_NUMBER, HUB_KIND_INT, 1, 0, {0}, 0},
        {"types-v0", "infos/uint64", 0, HUB_FIELD_NUMBER, HUB_KIND_UINT, 8, 0, {0}, 0},
        {"types-v0", "infos/float16", 0, HUB_FIELD_NUMBER, HUB_KIND_FLOAT, 2, 0, {0}, 0},
        {"types-v0", "infos/flag", 0, HUB_FIELD_BOOL, HUB_KIND_BOOL, 1, 0, {0}, 0},
        {"types-v0", "infos/large_text", 1, HUB_FIELD_TEXT, HUB_KIND_VAR, 0, 0, {0}, 0},
        {"types-v0", "infos/four", 1, HUB_FIELD_BYTES, HUB_KIND_VAR, 0, 0, {0}, 0},
        {"types-v0", "infos/jpeg", 1, HUB_FIELD_IMAGE_JPEG, HUB_KIND_VAR, 0, 0, {0}, 0},
        {"types-v0", "infos/clock", 2, HUB_FIELD_NUMBER, HUB_KIND_INT, 8, 0, {0}, 0},
        {"types-v0", "observations", 4, HUB_FIELD_NUMBER, HUB_KIND_FLOAT, 4, 1, {2}, 0},
        {"lists-v0", "infos/shaped", 0, HUB_FIELD_NUMBER, HUB_KIND_FLOAT, 4, 1, {12}, 0},
        {"lists-v0", "infos/nested", 1, HUB_FIELD_NUMBER, HUB_KIND_FLOAT, 8, 2, {3, 4}, 0},
        {"lists-v0", "infos/mixed", 2, HUB_FIELD_NUMBER, HUB_KIND_FLOAT, 4, 2, {3, 4}, 0},
        {"lists-v0", "infos/ragged", 0, HUB_FIELD_NUMBER, HUB_KIND_VAR, 8, 0, {0}, 0},
        {"lists-v0", "infos/deep/a/b", 0, HUB_FIELD_NUMBER, HUB_KIND_FLOAT, 4, 1, {12}, 0},
        {"nulls-v0", "infos/int", 0, HUB_FIELD_NUMBER, HUB_KIND_INT, 4, 0, {0}, 3},
        {"nulls-v0", "infos/list", 1, HUB_FIELD_NUMBER, HUB_KIND_INT, 8, 1, {2}, 3},
        {"nulls-v0", "infos/struct/t", 2, HUB_FIELD_TEXT, HUB_KIND_VAR, 0, 0, {0}, 3},
        {"nulls-v0", "infos/ragged", 0, HUB_FIELD_TEXT, HUB_KIND_VAR, 0, 0, {0}, 2},
        {"refused-v0", "texts", 0, HUB_FIELD_TEXT, HUB_KIND_VAR, 0, 0, {0}, 0},
        {"refused-v0", "structs", 1, HUB_FIELD_TEXT, HUB_KIND_VAR, 0, 0, {0}, 0},
        {"refused-v0", "ragged", 1, HUB_FIELD_TEXT, HUB_KIND_VAR, 0, 0, {0}, 0},
        {"codecs-v0", "infos/zeros", 0, HUB_FIELD_NUMBER, HUB_KIND_FLOAT, 8, 1, {6}, 0},
        {"codecs-v0", "infos/nested", 4, HUB_FIELD_NUMBER, HUB_KIND_INT, 8, 2, {2, 2}, 0},
    };
    return cr_make_param_array(struct column_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct column_case *c, arrow, columns)
{
    struct opened o;
    struct hub_error err = {0};
    cr_assert_eq(open_part(&o, c->set, c->part, &err), HUB_OK, "%s", err.detail);
    struct hub_arrow_rows rows = {.column = hub_arrow_find(&o.arrow, c->path), .limit = UINT64_MAX};
    cr_assert_neq(rows.column, HUB_NONE, "%s", c->path);
    cr_assert_eq(hub_arrow_describe(&o.arrow, &rows, &err), HUB_OK, "%s: %s", c->path, err.detail);
    cr_expect_eq(rows.rows, o.arrow.rows);
    cr_expect_eq(rows.nulls, c->nulls, "%s: %lu", c->path, rows.nulls);
    cr_expect_eq(rows.type, c->type, "%s", c->path);
    cr_expect_eq(rows.variant.kind, c->kind);
    cr_expect_eq(rows.variant.item_size, c->item_size);
    cr_expect_eq(rows.variant.rank, c->rank, "%s: %u", c->path, rows.variant.rank);
    cr_expect_eq(rows.variant.dims[0], c->dims[0]);
    cr_expect_eq(rows.variant.dims[1], c->dims[1]);
    close_part(&o);
}

Test(arrow, a_padded_row_does_not_count)
{
    struct opened o;
    cr_assert_eq(open_part(&o, "nulls-v0", 0, NULL), HUB_OK);
    struct hub_arrow_rows rows = {.column = hub_arrow_find(&o.arrow, "infos/last"),
                                  .limit = o.arrow.rows - 1};
    double numbers[8];
    cr_assert_eq(hub_arrow_describe(&o.arrow, &rows, NULL), HUB_OK);
    cr_expect(rows.rows == 5 && rows.nulls == 0, "%lu rows, %lu nulls", rows.rows, rows.nulls);
    cr_assert_eq(hub_arrow_numbers(&o.arrow, &rows, numbers, NULL), HUB_OK);
    cr_expect(numbers[0] == 1 && numbers[4] == 5);
    close_part(&o);
}

struct trouble_case {
    char path[16], why[48];
};

ParameterizedTestParameters(arrow, troubles)
{
    static struct trouble_case cases[] = {
        {"dictionary", "dictionary-encoded; write it plain"},
        {"sparse", "a union; write each of its types as a column"},
        {"map", "a map; write it as a struct"},
        {"decimal", "decimal numbers; write them as floats"},
        {"view", "string views; write them as utf8 or binary"},
        {"none", "nothing but nulls"},
        {"runs", "run-end encoded; write it plain"},
        {"views", "list views; write them as lists"},
    };
    return cr_make_param_array(struct trouble_case, cases, HUB_COUNT(cases));
}

/* What stands before and behind them is read: their buffers are counted. */
ParameterizedTest(struct trouble_case *c, arrow, troubles)
{
    for (unsigned part = 0; part < 2; part++) {
        struct opened o;
        struct hub_error err = {0};
        double numbers[8];
        cr_assert_eq(open_part(&o, "refused-v0", part, &err), HUB_OK, "%s", err.detail);
        struct hub_arrow_rows rows = {.column = hub_arrow_find(&o.arrow, c->path), .limit = UINT64_MAX};
        cr_expect_eq(hub_arrow_describe(&o.arrow, &rows, &err), HUB_UNSUPPORTED);
        cr_expect_str_eq(err.detail, c->why);
        rows.column = hub_arrow_find(&o.arrow, "good");
        cr_assert_eq(hub_arrow_describe(&o.arrow, &rows, &err), HUB_OK);
        cr_assert_eq(hub_arrow_numbers(&o.arrow, &rows, numbers, &err), HUB_OK);
        cr_expect(numbers[0] == 100 && numbers[5] == 105);
        close_part(&o);
    }
}

/* The damaged parts, by their number; the first is good. */
Test(arrow, damaged)
{
    for (unsigned part = 1; part < 10; part++) {
        struct opened o;
        struct hub_error err = {0};
        cr_expect_eq(open_part(&o, "damaged-v0", part, &err), HUB_CORRUPT, "%u", part);
        cr_expect(err.detail[0]);
        close_part(&o);
    }
}

/* Wherever it is cut: a file lacks its footer, a stream ends between two messages or is refused. */
Test(arrow, cut_anywhere)
{
    static const char *const sets[] = {"types-v0", "lists-v0"};
    for (unsigned set = 0; set < 2; set++) {
        struct opened o;
        cr_assert_eq(open_part(&o, sets[set], set ? 2 : 0, NULL), HUB_OK);
        for (size_t size = 0; size < o.size; size += 37) {
            struct hub_arrow arrow = {0};
            hub_byte_source_memory(&o.source, o.data, size);
            const enum hub_status st = hub_arrow_add(&arrow, &o.source, NULL);
            cr_expect(st == HUB_CORRUPT || (set && !st && arrow.rows < 6), "%zu bytes: %d", size, st);
            hub_arrow_dispose(&arrow);
        }
        close_part(&o);
    }
}

Test(arrow, files_of_one_schema_are_one_table)
{
    struct opened o;
    struct hub_error err = {0};
    size_t size;
    double numbers[40];
    cr_assert_eq(open_part(&o, "types-v0", 3, NULL), HUB_OK);
    cr_assert_eq(hub_arrow_add(&o.arrow, &o.source, &err), HUB_OK, "%s", err.detail);
    cr_expect_eq(o.arrow.rows, 12);
    uint8_t *other = slurp("arrow/types-v0/data/0/part-0.arrow", &size);
    struct hub_byte_source source;
    hub_byte_source_memory(&source, other, size);
    cr_expect_eq(hub_arrow_add(&o.arrow, &source, &err), HUB_UNSUPPORTED);
    cr_expect_eq(o.arrow.rows, 12);
    hub_byte_source_memory(&o.arrow.source, o.data, o.size);
    struct hub_arrow_rows rows = {.column = hub_arrow_find(&o.arrow, "actions"), .limit = UINT64_MAX};
    cr_assert_eq(hub_arrow_describe(&o.arrow, &rows, NULL), HUB_OK);
    cr_assert_eq(hub_arrow_numbers(&o.arrow, &rows, numbers, NULL), HUB_OK);
    cr_expect(numbers[5] == 5 && numbers[6] == 0 && numbers[11] == 5);
    free(other);
    close_part(&o);
}

/* ---- FlatBuffers ---- */

/* A table of two fields: 7 as a byte, and the text "ab". */
static const uint8_t table[] = {12, 0, 0, 0, 8, 0, 12, 0, 4, 0, 8, 0, 8,   0,   0, 0,
                                7,  0, 0, 0, 4, 0, 0,  0, 2, 0, 0, 0, 'a', 'b', 0, 0};

Test(flat, a_table)
{
    struct hub_flat in = hub_flat_of(table, sizeof table);
    const struct hub_flat_table t = hub_flat_root(&in);
    cr_expect_eq(hub_flat_int(&t, 0, 1, -1), 7);
    cr_expect(hub_view_is(hub_flat_text(&t, 1), "ab"));
    cr_expect_eq(hub_flat_int(&t, 2, 4, -5), -5, "absent");
    cr_expect_not(in.failed);
}

/* Every byte changed to a few values, every length: nothing outside is read (with sanitizers), nothing
 * hangs. */
Test(flat, damaged)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < sizeof table; i++)
        for (size_t k = 0; k < HUB_COUNT(values); k++) {
            uint8_t *bent = malloc(sizeof table);
            memcpy(bent, table, sizeof table);
            bent[i] = values[k];
            for (size_t size = 0; size <= sizeof table; size += i == 0 ? 1 : sizeof table) {
                struct hub_flat in = hub_flat_of(bent, size);
                const struct hub_flat_table t = hub_flat_root(&in);
                (void)hub_flat_int(&t, 0, 8, 0);
                const struct hub_view text = hub_flat_text(&t, 1);
                cr_expect(!text.size || (const uint8_t *)text.data + text.size <= bent + size);
            }
            free(bent);
        }
}
