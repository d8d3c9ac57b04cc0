/* Levels and values at inspection: see decode.h. The decoders themselves are storage/codec's, the same that
 * serve. */
#include "storage/formats/parquet/decode.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#define VALUES_AT_ONCE 4096
#define MAX_SUMMED (256 * MIB)

void hub_parquet_decoder_init(struct hub_parquet_decoder *d, struct hub_byte_source *source)
{
    const struct hub_buf empty = HUB_BUF_INIT(HUB_MAX_CHUNK_BYTES + 64);
    *d = (struct hub_parquet_decoder){source, 0, 0, empty, empty, empty, empty, empty, empty, empty};
    d->built.limit = 2 * (size_t)HUB_MAX_CHUNK_BYTES;
    d->views.limit = (HUB_MAX_CHUNK_BYTES / 4 + 1) * sizeof(struct hub_page_view);
}

void hub_parquet_decoder_dispose(struct hub_parquet_decoder *d)
{
    hub_buf_dispose(&d->stored);
    hub_buf_dispose(&d->page);
    hub_buf_dispose(&d->dictionary);
    hub_buf_dispose(&d->views);
    hub_buf_dispose(&d->levels);
    hub_buf_dispose(&d->values);
    hub_buf_dispose(&d->built);
}

static enum hub_status unpack(struct hub_parquet_decoder *d, const struct hub_parquet_pages *pages,
                              const struct hub_page *page, struct hub_buf *into, struct hub_error *err)
{
    d->stored.size = 0;
    into->size = 0;
    HUB_TRY(hub_buf_reserve(&d->stored, page->stored, err));
    HUB_TRY(hub_buf_reserve(into, page->decoded, err));
    HUB_TRY(hub_byte_source_read(d->source, page->offset, d->stored.data, page->stored, err));
    HUB_TRY(hub_page_unpack(&pages->column, page, d->stored.data, into->data, err));
    into->size = page->decoded;
    return HUB_OK;
}

static enum hub_status unpack_dictionary(struct hub_parquet_decoder *d, const struct hub_parquet_pages *pages,
                                         struct hub_error *err)
{
    const struct hub_page *page = pages->pages;
    if (!hub_parquet_first_data(pages))
        return HUB_OK;
    HUB_TRY(unpack(d, pages, page, &d->dictionary, err));
    if (pages->column.physical != HUB_PHYS_BYTE_ARRAY)
        return HUB_OK;
    if (page->values > page->decoded / 4)
        return hub_fail(err, HUB_CORRUPT, "dictionary shorter than it says");
    d->views.size = 0;
    HUB_TRY(hub_buf_reserve(&d->views, (page->values + (size_t)1) * sizeof(struct hub_page_view), err));
    return hub_page_index(page, (const uint8_t *)d->dictionary.data, UINT32_MAX,
                          (struct hub_page_view *)(void *)d->views.data, err);
}

static struct hub_page_job job_of(const struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                  const struct hub_parquet_pages *pages, const struct hub_page *page)
{
    const bool dictionary = hub_parquet_first_data(pages) == 1;
    return (struct hub_page_job){.column = &pages->column,
                                 .page = page,
                                 .data = (const uint8_t *)d->page.data,
                                 .dictionary = dictionary ? &pages->pages[0] : NULL,
                                 .dictionary_data = dictionary ? (const uint8_t *)d->dictionary.data : NULL,
                                 .dictionary_views = (const struct hub_page_view *)(void *)d->views.data,
                                 .item_size = leaf->item.item_size,
                                 .is_float = leaf->item.kind == HUB_KIND_FLOAT};
}

static enum hub_status verify_page(struct hub_parquet_decoder *d, const struct hub_page *page, uint32_t crc,
                                   struct hub_error *err)
{
    d->stored.size = 0;
    d->summed += page->stored;
    HUB_TRY(hub_buf_reserve(&d->stored, page->stored, err));
    HUB_TRY(hub_byte_source_read(d->source, page->offset, d->stored.data, page->stored, err));
    if (page->stored && crc32(0, (const Bytef *)d->stored.data, page->stored) != crc)
        return hub_fail(err, HUB_CORRUPT, "the page at %llu is damaged: its checksum is wrong",
                        (unsigned long long)page->offset);
    return HUB_OK;
}

enum hub_status hub_parquet_verify(struct hub_parquet_decoder *d, const struct hub_parquet_pages *pages,
                                   struct hub_error *err)
{
    for (uint32_t i = 0; i < pages->sum_count; i++) {
        const struct hub_page *page = &pages->pages[pages->sums[i].page];
        if (d->summed + page->stored <= MAX_SUMMED)
            HUB_TRY(verify_page(d, page, pages->sums[i].crc, err));
    }
    return HUB_OK;
}

/* ---- levels ---- */

/* Counts elements at every list level; a list that ends must be as long as the first of its level was. */
struct scan {
    struct hub_parquet_shape *shape;
    unsigned max_rep;
    uint32_t length[HUB_MAX_RANK];
    uint32_t elements; /* of the row */
    uint64_t end;      /* rows up to the end of the row group */
    bool open;
};

static void close_lists(struct scan *s, unsigned above)
{
    for (unsigned k = s->max_rep; k > above; k--) {
        struct hub_parquet_shape *shape = s->shape;
        if (!shape->known[k - 1]) {
            shape->known[k - 1] = true;
            shape->dims[k - 1] = s->length[k - 1];
        } else if (shape->dims[k - 1] != s->length[k - 1]) {
            shape->ragged = true;
            shape->uneven |= k > 1;
        }
        if (k == 1 && shape->lengths)
            shape->lengths[shape->rows - 1] = s->length[0];
        s->length[k - 1] = 1;
    }
}

static enum hub_status scan_entries(struct scan *s, const struct hub_parquet_leaf *leaf, const uint8_t *reps,
                                    const uint8_t *defs, uint32_t count, struct hub_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        const unsigned rep = reps[i];
        if (!s->open && rep != 0)
            return hub_fail(err, HUB_CORRUPT, "a column begins inside a row");
        if (rep == 0 && s->shape->rows == s->end)
            return hub_fail(err, HUB_CORRUPT, "a column of more rows than its row group");
        if (s->open)
            close_lists(s, rep);
        else
            for (unsigned k = 0; k < s->max_rep; k++)
                s->length[k] = 1;
        s->open = true;
        if (rep > 0)
            s->length[rep - 1]++;
        else
            s->shape->rows++;
        s->elements = (rep > 0 ? s->elements : 0) + (defs[i] >= leaf->element_def);
        s->shape->longest = HUB_MAX(s->shape->longest, s->elements);
        s->shape->nulls += defs[i] >= leaf->element_def && defs[i] < leaf->max_def;
        s->shape->null_rows += defs[i] + 1 < leaf->element_def;
        s->shape->ragged |= defs[i] < leaf->element_def;
        s->shape->gaps += defs[i] < leaf->element_def;
    }
    return HUB_OK;
}

/* Of lists of texts `sum` are their bytes. */
static bool notes_rows(const struct hub_parquet_leaf *leaf)
{
    return leaf->max_rep && leaf->item.kind != HUB_KIND_VAR;
}

static enum hub_status scan_page(struct hub_parquet_decoder *d, struct scan *s,
                                 const struct hub_parquet_leaf *leaf, const struct hub_parquet_pages *pages,
                                 struct hub_page *page, struct hub_error *err)
{
    d->levels.size = 0;
    HUB_TRY(hub_buf_reserve(&d->levels, (size_t)page->values * 2 + 1, err));
    uint8_t *reps = (uint8_t *)d->levels.data, *defs = reps + page->values;
    HUB_TRY(unpack(d, pages, page, &d->page, err));
    const struct hub_page_job job = job_of(d, leaf, pages, page);
    HUB_TRY(hub_page_levels(&job, reps, defs, err));
    page->continues = notes_rows(leaf) && page->values && reps[0] > 0;
    return scan_entries(s, leaf, reps, defs, page->values, err);
}

enum hub_status hub_parquet_scan(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                 struct hub_parquet_pages *pages, uint64_t rows,
                                 struct hub_parquet_shape *shape, struct hub_error *err)
{
    const uint64_t before = shape->rows;
    struct scan s = {.shape = shape, .max_rep = leaf->max_rep, .end = before + rows};
    if (leaf->max_rep > HUB_MAX_RANK)
        return hub_fail(err, HUB_UNSUPPORTED, "lists are nested too deeply");
    for (uint32_t i = hub_parquet_first_data(pages); i < pages->count; i++) {
        if (notes_rows(leaf))
            pages->pages[i].sum = (uint32_t)(shape->rows - before); /* fewer than values: 32 bits */
        HUB_TRY(scan_page(d, &s, leaf, pages, &pages->pages[i], err));
    }
    if (s.open)
        close_lists(&s, 0);
    if (shape->rows - before != rows)
        return hub_fail(err, HUB_CORRUPT, "a column of %llu rows in a row group of %llu",
                        (unsigned long long)(shape->rows - before), (unsigned long long)rows);
    return HUB_OK;
}

/* Room for the values that do not lie in their page as they are. */
static enum hub_status make_room(struct hub_parquet_decoder *d, struct hub_page_job *job,
                                 struct hub_error *err)
{
    const struct hub_column *column = job->column;
    uint64_t sum = (uint64_t)job->page->values * column->width;
    uint32_t longest = column->width;
    d->built.size = 0;
    if (job->page->encoding != HUB_ENC_DELTA_BYTES && job->page->encoding != HUB_ENC_SPLIT)
        return HUB_OK;
    if (column->physical == HUB_PHYS_BYTE_ARRAY)
        HUB_TRY(hub_page_total(job, &sum, &longest, err));
    if (sum > HUB_MAX_CHUNK_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a page whose values come to %llu bytes", (unsigned long long)sum);
    HUB_TRY(hub_buf_reserve(&d->built, sum + longest + 1, err));
    job->built = (uint8_t *)d->built.data;
    job->built_size = sum + longest;
    return HUB_OK;
}

enum hub_status hub_parquet_load(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                 const struct hub_parquet_pages *pages, uint32_t page,
                                 struct hub_parquet_entries *out, struct hub_error *err)
{
    const bool strings = leaf->item.kind == HUB_KIND_VAR;
    const uint32_t count = pages->pages[page].values;
    if (page == hub_parquet_first_data(pages))
        HUB_TRY(unpack_dictionary(d, pages, err));
    HUB_TRY(unpack(d, pages, &pages->pages[page], &d->page, err));
    d->levels.size = d->values.size = 0;
    HUB_TRY(hub_buf_reserve(&d->levels, (size_t)count * 2 + 1, err));
    HUB_TRY(hub_buf_reserve(
        &d->values, (size_t)count * (strings ? sizeof(struct hub_page_view) : leaf->item.item_size) + 1,
        err));
    struct hub_page_job job = job_of(d, leaf, pages, &pages->pages[page]);
    uint8_t *reps = (uint8_t *)d->levels.data;
    struct hub_page_view *views = strings ? (struct hub_page_view *)(void *)d->values.data : NULL;
    HUB_TRY(hub_page_levels(&job, reps, reps + count, err));
    job.count = count;
    HUB_TRY(make_room(d, &job, err));
    HUB_TRY(hub_page_values(&job, strings ? NULL : d->values.data, views, NULL, err));
    *out =
        (struct hub_parquet_entries){count, reps, reps + count, strings ? NULL : d->values.data, views, job};
    return HUB_OK;
}

/* ---- values ---- */

static enum hub_status page_numbers(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                    struct hub_page_job *job, int64_t *integers, double *reals,
                                    struct hub_error *err)
{
    const uint32_t item = leaf->item.item_size;
    for (uint32_t at = 0; at < job->page->values; at += job->count) {
        job->skip = at;
        job->count = HUB_MIN(VALUES_AT_ONCE, job->page->values - at);
        d->values.size = 0;
        HUB_TRY(hub_buf_reserve(&d->values, (size_t)job->count * item, err));
        HUB_TRY(hub_page_values(job, d->values.data, NULL, NULL, err));
        for (uint32_t i = 0; i < job->count; i++) {
            struct hub_scalar n = hub_variant_scalar(&leaf->item, d->values.data + (size_t)i * item);
            if (leaf->item.kind == HUB_KIND_FLOAT)
                n.integer = fabs(n.real) < 9e18 ? (int64_t)n.real : 0;
            const size_t to = (size_t)job->page->first_value + at + i;
            if (integers)
                integers[to] = n.integer;
            if (reals)
                reals[to] = n.real;
        }
    }
    return HUB_OK;
}

static enum hub_status all_numbers(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                   const struct hub_parquet_pages *pages, int64_t *integers, double *reals,
                                   struct hub_error *err)
{
    const uint8_t kind = leaf->item.kind;
    if (leaf->trouble || leaf->item.item_size > 8 || (kind == HUB_KIND_FLOAT && leaf->item.item_size < 4) ||
        (kind != HUB_KIND_BOOL && kind != HUB_KIND_INT && kind != HUB_KIND_UINT && kind != HUB_KIND_FLOAT))
        return hub_fail(err, HUB_UNSUPPORTED, "not a column of plain numbers");
    HUB_TRY(unpack_dictionary(d, pages, err));
    for (uint32_t i = hub_parquet_first_data(pages); i < pages->count; i++) {
        struct hub_page_job job = job_of(d, leaf, pages, &pages->pages[i]);
        HUB_TRY(unpack(d, pages, &pages->pages[i], &d->page, err));
        job.data = (const uint8_t *)d->page.data; /* it may have moved */
        HUB_TRY(page_numbers(d, leaf, &job, integers, reals, err));
    }
    return HUB_OK;
}

enum hub_status hub_parquet_numbers(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                    const struct hub_parquet_pages *pages, int64_t *integers, double *reals,
                                    struct hub_error *err)
{
    return leaf->max_rep ? hub_fail(err, HUB_UNSUPPORTED, "not a column of plain numbers")
                         : all_numbers(d, leaf, pages, integers, reals, err);
}

enum hub_status hub_parquet_element_numbers(struct hub_parquet_decoder *d,
                                            const struct hub_parquet_leaf *leaf,
                                            const struct hub_parquet_pages *pages, uint64_t room,
                                            double *reals, struct hub_error *err)
{
    return hub_parquet_entries(pages) > room ? hub_fail(err, HUB_CORRUPT, "more elements than the lists say")
                                             : all_numbers(d, leaf, pages, NULL, reals, err);
}

/* ---- rows of tables that describe ---- */

static enum hub_status begin_row(struct hub_parquet_items *items, struct hub_error *err)
{
    const uint64_t row = items->seen++;
    if (row < items->first_row || row - items->first_row >= items->row_count)
        return HUB_OK;
    if (!items->starts)
        HUB_TRY(hub_new(&items->starts, (size_t)items->row_count + 1, sizeof *items->starts, err));
    items->starts[row - items->first_row] = items->numbers.size / sizeof(double);
    return HUB_OK;
}

static enum hub_status add_string(const struct hub_page_job *job, const struct hub_page_view *view,
                                  struct hub_parquet_items *items, struct hub_error *err)
{
    HUB_TRY(hub_buf_add(&items->text, hub_page_bytes(job, view), view->length, err));
    const uint64_t end = items->text.size;
    return hub_buf_add(&items->numbers, &end, sizeof end, err);
}

static enum hub_status add_number(const struct hub_variant *item, const char *at,
                                  struct hub_parquet_items *items, struct hub_error *err)
{
    const struct hub_scalar n = hub_variant_scalar(item, at);
    const double real = item->kind == HUB_KIND_FLOAT ? n.real : (double)n.integer;
    return hub_buf_add(&items->numbers, &real, sizeof real, err);
}

static enum hub_status page_items(const struct hub_parquet_leaf *leaf, const struct hub_parquet_entries *page,
                                  struct hub_parquet_items *items, struct hub_error *err)
{
    for (uint32_t i = 0; i < page->count; i++) {
        if (page->reps[i] == 0)
            HUB_TRY(begin_row(items, err));
        const uint64_t row = items->seen - 1; /* before the first: not wanted either */
        if (page->defs[i] < leaf->max_def || row < items->first_row ||
            row - items->first_row >= items->row_count)
            continue;
        HUB_TRY(page->views
                    ? add_string(&page->job, &page->views[i], items, err)
                    : add_number(&leaf->item, page->values + (size_t)i * leaf->item.item_size, items, err));
    }
    return HUB_OK;
}

enum hub_status hub_parquet_items(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                  const struct hub_parquet_pages *pages, struct hub_parquet_items *items,
                                  struct hub_error *err)
{
    struct hub_parquet_entries page;
    if (leaf->trouble || leaf->item.item_size > 8 ||
        (leaf->item.kind == HUB_KIND_FLOAT && leaf->item.item_size < 4))
        return hub_fail(err, HUB_UNSUPPORTED, "not a column of numbers or strings");
    items->numbers.limit = items->text.limit = HUB_PARQUET_MAX_FOOTER;
    for (uint32_t i = hub_parquet_first_data(pages); i < pages->count; i++) {
        HUB_TRY(hub_parquet_load(d, leaf, pages, i, &page, err));
        HUB_TRY(page_items(leaf, &page, items, err));
    }
    return HUB_OK;
}

void hub_parquet_items_dispose(struct hub_parquet_items *items)
{
    free(items->starts);
    hub_buf_dispose(&items->numbers);
    hub_buf_dispose(&items->text);
    *items = (struct hub_parquet_items){0};
}

/* ---- strings ---- */

static enum hub_status measure_page(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                    struct hub_parquet_pages *pages, struct hub_page *page,
                                    struct hub_error *err)
{
    uint64_t sum = 0;
    uint32_t longest = 0;
    HUB_TRY(unpack(d, pages, page, &d->page, err));
    const struct hub_page_job job = job_of(d, leaf, pages, page);
    HUB_TRY(hub_page_total(&job, &sum, &longest, err));
    if (page->encoding == HUB_ENC_DELTA_BYTES && sum > HUB_MAX_CHUNK_BYTES)
        return hub_fail(err, HUB_TOO_BIG, "a page whose values come to %llu bytes", (unsigned long long)sum);
    pages->column.longest = HUB_MAX(pages->column.longest, longest);
    page->sum = (uint32_t)HUB_MIN(sum, UINT32_MAX);
    return HUB_OK;
}

enum hub_status hub_parquet_measure(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                    struct hub_parquet_pages *pages, struct hub_error *err)
{
    const uint32_t first = hub_parquet_first_data(pages);
    if (leaf->physical != HUB_PHYS_BYTE_ARRAY)
        return HUB_OK;
    HUB_TRY(unpack_dictionary(d, pages, err));
    const struct hub_page_view *views = (const struct hub_page_view *)(void *)d->views.data;
    for (uint32_t i = 0; first && i < pages->pages[0].values; i++)
        pages->column.longest = HUB_MAX(pages->column.longest, views[i].length);
    for (uint32_t i = first; i < pages->count; i++)
        if (hub_encoding_expands(pages->pages[i].encoding))
            HUB_TRY(measure_page(d, leaf, pages, &pages->pages[i], err));
    return HUB_OK;
}

enum hub_status hub_parquet_first_bytes(struct hub_parquet_decoder *d, const struct hub_parquet_leaf *leaf,
                                        const struct hub_parquet_pages *pages, void *out, size_t size,
                                        size_t *got, struct hub_error *err)
{
    const size_t longest = leaf->physical == HUB_PHYS_FIXED ? pages->column.width : pages->column.longest;
    *got = 0;
    HUB_TRY(unpack_dictionary(d, pages, err));
    d->built.size = 0;
    HUB_TRY(hub_buf_reserve(&d->built, 2 * longest + 1, err));
    for (uint32_t i = hub_parquet_first_data(pages); i < pages->count; i++) {
        const struct hub_page *page = &pages->pages[i];
        HUB_TRY(unpack(d, pages, page, &d->page, err));
        struct hub_page_job job = job_of(d, leaf, pages, page);
        job.built = (uint8_t *)d->built.data;
        job.built_size = 2 * longest;
        for (uint32_t at = 0; at < HUB_MIN(page->values, VALUES_AT_ONCE); at++) {
            struct hub_page_view view;
            uint8_t valid = 1;
            job.skip = at;
            job.count = 1;
            HUB_TRY(hub_page_values(&job, NULL, &view, &valid, err));
            if (!valid)
                continue;
            *got = HUB_MIN(size, view.length);
            memcpy(out, hub_page_bytes(&job, &view), *got);
            return HUB_OK;
        }
    }
    return HUB_OK;
}
