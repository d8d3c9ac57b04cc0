/* Columns of Parquet files: see column.h. */
#include "storage/formats/parquet/column.h"

#include "storage/formats/parquet/extents.h"
#include "storage/model/picture.h"

#include <stdlib.h>

static enum hub_status walk_groups(const struct hub_parquet *parquet, uint32_t leaf,
                                   struct hub_parquet_decoder *d, struct hub_parquet_column *out,
                                   struct hub_error *err)
{
    const struct hub_parquet_leaf *l = &parquet->leaves[leaf];
    for (uint32_t g = 0; g < parquet->group_count; g++) {
        const struct hub_parquet_chunk *chunk = &parquet->chunks[(size_t)g * parquet->leaf_count + leaf];
        const uint64_t rows = parquet->group_rows[g];
        if (rows == 0)
            continue;
        if (chunk->trouble)
            return hub_fail(err, HUB_UNSUPPORTED, "%s", chunk->trouble);
        HUB_TRY(hub_parquet_walk(d->source, l, chunk, &out->groups[g], err));
        HUB_TRY(hub_parquet_verify(d, &out->groups[g], err));
        HUB_TRY(hub_parquet_measure(d, l, &out->groups[g], err));
        if (l->max_rep == 0 && chunk->values != rows)
            return hub_fail(err, HUB_CORRUPT, "%llu values in %llu rows", (unsigned long long)chunk->values,
                            (unsigned long long)rows);
        if (l->max_rep == 0 && chunk->nulls >= 0)
            out->shape.nulls += (uint64_t)chunk->nulls;
        else
            HUB_TRY(hub_parquet_scan(d, l, &out->groups[g], rows, &out->shape, err));
    }
    return HUB_OK;
}

static enum hub_status strings_type(const struct hub_parquet_leaf *leaf, struct hub_parquet_decoder *d,
                                    struct hub_parquet_column *l, struct hub_error *err)
{
    uint8_t head[8];
    size_t got = 0;
    l->type = leaf->text ? HUB_FIELD_TEXT : HUB_FIELD_BYTES;
    if (leaf->text)
        return HUB_OK;
    for (uint32_t g = 0; g < l->count && got == 0; g++)
        if (l->groups[g].count)
            HUB_TRY(hub_parquet_first_bytes(d, leaf, &l->groups[g], head, sizeof head, &got, err));
    if (got == 0 && leaf->image && l->count)
        return hub_fail(err, HUB_UNSUPPORTED, "the images are not in the file");
    l->type = hub_image_type(head, got);
    return HUB_OK;
}

/* Which rows the pages of lists begin with matters where lists are of varying length. */
static void forget_rows(struct hub_parquet_column *l)
{
    for (uint32_t g = 0; g < l->count; g++)
        for (uint32_t i = hub_parquet_first_data(&l->groups[g]); i < l->groups[g].count; i++)
            l->groups[g].pages[i].sum = l->groups[g].pages[i].continues = 0;
}

/* Are rows of varying length not just a sequence of numbers? */
static bool needs_json(const struct hub_parquet_leaf *leaf, const struct hub_parquet_shape *shape)
{
    return leaf->max_rep &&
           (leaf->item.kind == HUB_KIND_VAR ||
            (shape->ragged && (leaf->max_rep > 1 || leaf->item.kind == HUB_KIND_BOOL || shape->nulls)));
}

/* Lists of varying length: a row is a sequence of numbers. */
static enum hub_status describe_sequences(struct hub_parquet_column *l, struct hub_error *err)
{
    const uint64_t longest = (uint64_t)l->shape.longest * l->variant.item_size;
    if (longest > HUB_MAX_CHUNK_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a row of %llu bytes", (unsigned long long)longest);
    l->variant.sequence = l->variant.kind;
    l->variant.kind = HUB_KIND_VAR;
    l->shape.nulls = l->shape.null_rows;
    for (uint32_t g = 0; g < l->count; g++)
        l->groups[g].column.longest = (uint32_t)longest;
    return HUB_OK;
}

static enum hub_status describe(const struct hub_parquet_leaf *leaf, struct hub_parquet_decoder *d,
                                struct hub_parquet_column *l, struct hub_error *err)
{
    l->variant = leaf->item;
    if (leaf->item.kind == HUB_KIND_VAR)
        return strings_type(leaf, d, l, err);
    l->type = leaf->item.kind == HUB_KIND_BOOL ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER;
    if (l->shape.ragged)
        return describe_sequences(l, err);
    forget_rows(l);
    l->variant.rank = leaf->max_rep;
    memcpy(l->variant.dims, l->shape.dims, leaf->max_rep * sizeof l->variant.dims[0]);
    return hub_variant_valid(&l->variant) ? HUB_OK : hub_fail(err, HUB_TOO_BIG, "a row of more than 1 GiB");
}

static enum hub_status read_pages(const struct hub_parquet *parquet, uint32_t leaf,
                                  struct hub_parquet_decoder *d, struct hub_parquet_column *out,
                                  struct hub_error *err)
{
    if (parquet->leaves[leaf].trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", parquet->leaves[leaf].trouble);
    out->count = parquet->group_count;
    HUB_TRY(hub_new(&out->groups, (size_t)out->count + 1, sizeof *out->groups, err));
    return walk_groups(parquet, leaf, d, out, err);
}

static enum hub_status locate_values(struct hub_parquet_decoder *d, struct hub_parquet_column *out,
                                     struct hub_error *err)
{
    HUB_TRY(hub_new(&out->extents, (size_t)out->count + 1, sizeof *out->extents, err));
    for (uint32_t g = 0; g < out->count; g++)
        if (out->groups[g].count)
            HUB_TRY(hub_parquet_extents(d, &out->groups[g], &out->extents[g], err));
    return HUB_OK;
}

enum hub_status hub_parquet_column_read(const struct hub_parquet *parquet, uint32_t leaf,
                                        struct hub_parquet_decoder *d, struct hub_parquet_column *out,
                                        struct hub_error *err)
{
    const struct hub_parquet_leaf *l = &parquet->leaves[leaf];
    *out = (struct hub_parquet_column){.count = 0};
    if (l->trouble)
        return hub_fail(err, HUB_UNSUPPORTED, "%s", l->trouble);
    out->json = l->node != HUB_NONE || needs_json(l, &out->shape);
    if (!out->json)
        HUB_TRY(read_pages(parquet, leaf, d, out, err));
    out->json |= needs_json(l, &out->shape);
    if (!out->json) {
        HUB_TRY(describe(l, d, out, err));
        return out->shape.nulls == 0 ? locate_values(d, out, err) : HUB_OK;
    }
    out->type = HUB_FIELD_TEXT;
    out->variant = (struct hub_variant){.kind = HUB_KIND_VAR};
    out->shape.known[0] = true;
    return hub_parquet_json(parquet, leaf, d->source, &out->texts, err);
}

/* What an item is: of lists of lists the inner ones, all of one length. */
static enum hub_status describe_items(const struct hub_parquet_leaf *leaf, struct hub_parquet_decoder *d,
                                      struct hub_parquet_column *l, struct hub_error *err)
{
    if (l->shape.gaps)
        return hub_fail(err, HUB_UNSUPPORTED, "a list that is empty or null");
    if (l->shape.uneven)
        return hub_fail(err, HUB_UNSUPPORTED, "ragged lists of lists");
    l->items = true;
    l->variant = leaf->item;
    if (leaf->item.kind == HUB_KIND_VAR)
        return leaf->max_rep > 1
                   ? hub_fail(err, HUB_UNSUPPORTED, "lists of lists of %s", leaf->text ? "texts" : "bytes")
                   : strings_type(leaf, d, l, err);
    l->type = leaf->item.kind == HUB_KIND_BOOL ? HUB_FIELD_BOOL : HUB_FIELD_NUMBER;
    forget_rows(l);
    l->variant.rank = (uint8_t)(leaf->max_rep - 1);
    memcpy(l->variant.dims, l->shape.dims + 1, l->variant.rank * sizeof l->variant.dims[0]);
    return hub_variant_valid(&l->variant) ? HUB_OK : hub_fail(err, HUB_TOO_BIG, "a row of more than 1 GiB");
}

enum hub_status hub_parquet_items_read(const struct hub_parquet *parquet, uint32_t leaf,
                                       struct hub_parquet_decoder *d, uint64_t *offsets,
                                       struct hub_parquet_column *out, struct hub_error *err)
{
    *out = (struct hub_parquet_column){.shape.lengths = offsets + 1};
    if (parquet->leaves[leaf].max_rep == 0 || parquet->leaves[leaf].node != HUB_NONE)
        return hub_fail(err, HUB_UNSUPPORTED, "not lists of single values");
    HUB_TRY(read_pages(parquet, leaf, d, out, err));
    HUB_TRY(describe_items(&parquet->leaves[leaf], d, out, err));
    offsets[0] = 0;
    for (uint64_t i = 0; i < parquet->rows; i++)
        offsets[i + 1] += offsets[i];
    return HUB_OK;
}

/* The rows of a group are its entries, but where each is a list. */
static uint64_t rows_of(const struct hub_parquet_column *column, uint32_t group)
{
    const uint64_t each = hub_variant_row_items(&column->variant);
    return each ? hub_parquet_entries(&column->groups[group]) / each : 0;
}

enum hub_status hub_parquet_column_numbers(const struct hub_parquet_column *column,
                                           const struct hub_parquet_leaf *leaf, struct hub_parquet_decoder *d,
                                           uint64_t count, double *out, struct hub_error *err)
{
    for (uint32_t g = 0; g < column->count; g++) {
        const uint64_t rows = column->groups[g].count ? rows_of(column, g) : 0;
        if (rows == 0)
            continue;
        if (column->variant.rank)
            return hub_fail(err, HUB_UNSUPPORTED, "not a column of single numbers");
        HUB_TRY(hub_parquet_element_numbers(d, leaf, &column->groups[g], count, out, err));
        out += rows;
        count -= rows;
    }
    return count ? hub_fail(err, HUB_CORRUPT, "fewer numbers than rows") : HUB_OK;
}

/* One piece a row group. Pages are appended, so the column's dictionary is the page put right before its data
 * pages. */
static enum hub_status add_piece(struct hub_layout_builder *b, struct hub_parquet_pages *pages, uint32_t file,
                                 uint64_t rows, struct hub_error *err)
{
    const uint32_t data = hub_parquet_first_data(pages);
    struct hub_piece piece = {
        .kind = HUB_PIECE_PAGES, .file = file, .rows = rows, .count = pages->count - data};
    uint32_t first = 0;
    HUB_TRY(hub_layout_pages(b, pages->pages, pages->count, &first, err));
    if (data)
        pages->column.dictionary = first;
    HUB_TRY(hub_layout_column(b, &pages->column, &piece.geometry, err));
    piece.table = first + data;
    return hub_layout_piece(b, &piece, err);
}

static enum hub_status add_extents(struct hub_layout_builder *b, const struct hub_extent *extents,
                                   uint32_t file, uint64_t rows, struct hub_error *err)
{
    struct hub_piece piece = {.kind = HUB_PIECE_EXTENTS, .file = file, .rows = rows, .count = (uint32_t)rows};
    HUB_TRY(hub_layout_extents(b, extents, piece.count, &piece.table, err));
    return hub_layout_piece(b, &piece, err);
}

enum hub_status hub_parquet_column_lay_out(struct hub_parquet_column *column,
                                           const struct hub_parquet *parquet, uint32_t file,
                                           struct hub_layout_builder *builder, struct hub_error *err)
{
    for (uint32_t i = 0; i < column->texts.count; i++)
        HUB_TRY(add_piece(builder, &column->texts.batches[i], HUB_SIDE_FILE,
                          hub_parquet_entries(&column->texts.batches[i]), err));
    for (uint32_t g = 0; !column->json && g < column->count; g++)
        if (parquet->group_rows[g] && column->extents && column->extents[g])
            HUB_TRY(add_extents(builder, column->extents[g], file, parquet->group_rows[g], err));
        else if (parquet->group_rows[g])
            HUB_TRY(add_piece(builder, &column->groups[g], file,
                              column->items ? rows_of(column, g) : parquet->group_rows[g], err));
    return HUB_OK;
}

void hub_parquet_column_dispose(struct hub_parquet_column *column)
{
    for (uint32_t i = 0; column->groups && i < column->count; i++)
        hub_parquet_pages_dispose(&column->groups[i]);
    for (uint32_t i = 0; column->extents && i < column->count; i++)
        free(column->extents[i]);
    free(column->extents);
    free(column->groups);
    hub_parquet_texts_dispose(&column->texts);
    *column = (struct hub_parquet_column){0};
}
