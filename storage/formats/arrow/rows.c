/* What the rows of Arrow columns are: their type and shape, their nulls, their numbers. */
#include "storage/formats/arrow/json.h"
#include "storage/model/picture.h"

#include <math.h>

static enum hub_status first_bytes(struct hub_arrow *a, const struct hub_arrow_run *r,
                                   const struct hub_arrow_field *f, uint8_t head[8], size_t *got,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
    HUB_TRY(hub_arrow_load_offsets(a, r, f, &offsets, err));
    for (uint64_t i = 0; i < r->count && *got == 0; i++) {
        *got = (size_t)HUB_MIN(offsets[i + 1] - offsets[i], 8);
        if (*got)
            HUB_TRY(hub_arrow_load(a, r->batch, f->buffer + HUB_ARROW_TEXT, offsets[i], *got, head, err));
    }
    return HUB_OK;
}

/* Lists of what is no number have no other form, whatever they hold: their types say so. Of lists of
 * numbers only those of one length are arrays, and of those of varying length only the plain ones are
 * sequences. */
static bool needs_json(const struct hub_arrow_rows *rows, const struct hub_arrow_field *leaf,
                       const struct hub_arrow_shape *s, bool sequences)
{
    if (leaf->type == HUB_ARROW_STRUCT || (leaf->item.kind == HUB_KIND_NONE && s->rank))
        return true;
    return sequences && rows->rows &&
           (s->rank > 1 || leaf->item.kind == HUB_KIND_BOOL || rows->nulls || s->null_lists);
}

static const char *list_trouble(const struct hub_arrow_field *leaf, const struct hub_arrow_shape *s,
                                bool sequences)
{
    if (s->rank > HUB_MAX_RANK)
        return "lists nested too deep";
    return sequences && (s->rank > 1 || leaf->item.kind == HUB_KIND_BOOL)
               ? "it has no rows, so that its shape is unknown"
               : NULL;
}

static enum hub_status describe_json(struct hub_arrow *a, struct hub_arrow_rows *rows, struct hub_error *err)
{
    const uint32_t root = hub_arrow_json_root(a, rows);
    const char *trouble = hub_arrow_json_trouble(a, root);
    if (trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", trouble);
    rows->nulls = 0;
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(hub_arrow_run_dispose) struct hub_arrow_run r = {.valid = NULL};
        HUB_TRY(hub_arrow_follow(a, rows, &a->batches[i], root, NULL, &r, err));
        for (uint64_t k = 0; r.valid && k < r.count; k++)
            rows->nulls += !r.valid[k];
    }
    rows->json = true;
    rows->type = HUB_FIELD_TEXT;
    rows->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
    return HUB_OK;
}

static enum hub_status decide_type(struct hub_arrow *a, struct hub_arrow_rows *rows,
                                   const struct hub_arrow_field *leaf, const struct hub_arrow_shape *s,
                                   const uint8_t *head, size_t got, struct hub_error *err)
{
    bool sequences = s->ragged;
    for (unsigned i = 0; i < s->rank; i++) /* without rows nothing tells */
        sequences |= !s->known[i];
    if (needs_json(rows, leaf, s, sequences))
        return describe_json(a, rows, err);
    const char *trouble = list_trouble(leaf, s, sequences);
    if (trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", trouble);
    rows->sequences = sequences;
    rows->variant = leaf->item;
    rows->type = leaf->item.kind == HUB_KIND_BOOL ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER;
    if (leaf->item.kind == HUB_KIND_NONE) {
        const bool text = leaf->type == HUB_ARROW_UTF8 || leaf->type == HUB_ARROW_LARGE_UTF8;
        rows->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
        rows->type = text ? HUB_FIELD_TEXT : hub_image_type(head, got);
    } else if (sequences) {
        rows->variant.kind = HUB_KIND_VAR;
        rows->variant.sequence = leaf->item.kind;
    } else {
        rows->variant.rank = (uint8_t)s->rank;
        for (unsigned i = 0; i < s->rank; i++)
            rows->variant.dims[i] = (uint32_t)HUB_MIN(s->dims[i], UINT32_MAX);
    }
    if (!hub_variant_valid(&rows->variant))
        return hub_fail(err, HUB_TOO_BIG, "a row of more than 1 GiB");
    return HUB_OK;
}

enum hub_status hub_arrow_describe(struct hub_arrow *a, struct hub_arrow_rows *rows, struct hub_error *err)
{
    const struct hub_arrow_column *column = &a->columns[rows->column];
    const struct hub_arrow_field *leaf = &a->fields[column->leaf];
    const bool binary = leaf->type == HUB_ARROW_BINARY || leaf->type == HUB_ARROW_LARGE_BINARY;
    struct hub_arrow_shape s = hub_arrow_shape_of(a, rows);
    uint8_t head[8];
    size_t got = 0;
    if (column->trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", column->trouble);
    rows->rows = rows->nulls = 0;
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(hub_arrow_run_dispose) struct hub_arrow_run r = {.valid = NULL};
        HUB_TRY(hub_arrow_follow(a, rows, &a->batches[i], column->leaf, &s, &r, err));
        rows->rows += r.rows;
        for (uint64_t k = 0; r.valid && k < r.count; k++)
            rows->nulls += !r.valid[k];
        if (binary && got == 0)
            HUB_TRY(first_bytes(a, &r, leaf, head, &got, err));
    }
    return decide_type(a, rows, leaf, &s, head, got, err);
}

bool hub_arrow_is_list(const struct hub_arrow *a, uint32_t column)
{
    const struct hub_arrow_field *f = &a->fields[a->columns[column].top];
    return hub_arrow_lists(f->type) && !f->trouble;
}

enum hub_status hub_arrow_offsets(struct hub_arrow *a, uint32_t column, uint64_t *out, struct hub_error *err)
{
    const struct hub_arrow_field *f = &a->fields[a->columns[column].top];
    uint64_t base = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(hub_freep) uint64_t *offsets = NULL;
        const struct hub_arrow_batch *b = &a->batches[i];
        const struct hub_arrow_run r = {.batch = b, .count = b->rows};
        HUB_TRY(hub_arrow_load_offsets(a, &r, f, &offsets, err));
        for (uint64_t k = 1; k <= b->rows; k++)
            out[b->first_row + k] = base + offsets[k] - offsets[0];
        base += offsets[b->rows] - offsets[0];
    }
    return HUB_OK;
}

/* ---- numbers ---- */

enum hub_status hub_arrow_numbers(struct hub_arrow *a, const struct hub_arrow_rows *rows, double *out,
                                  struct hub_error *err)
{
    const struct hub_arrow_field *leaf = &a->fields[a->columns[rows->column].leaf];
    if (rows->variant.kind == HUB_KIND_VAR || hub_variant_row_items(&rows->variant) != 1 ||
        (leaf->item.kind == HUB_KIND_FLOAT && leaf->item.item_size < 4))
        return hub_fail(err, HUB_UNSUPPORTED, "not a column of single numbers");
    for (uint32_t i = 0; i < a->batch_count; i++) {
        HUB_CLEANUP(hub_arrow_run_dispose) struct hub_arrow_run r = {.valid = NULL};
        HUB_CLEANUP(hub_freep) uint8_t *values = NULL;
        HUB_TRY(hub_arrow_follow(a, rows, &a->batches[i], a->columns[rows->column].leaf, NULL, &r, err));
        HUB_TRY(hub_arrow_load_values(a, &r, leaf, &values, err));
        for (uint64_t k = 0; k < r.count; k++)
            *out++ = r.valid && !r.valid[k]
                         ? NAN
                         : hub_variant_scalar(&leaf->item, values + k * leaf->item.item_size).real;
    }
    return HUB_OK;
}
