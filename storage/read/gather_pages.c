/*
 * Parquet column pages: only the pages that hold wanted values are read and decoded, and their dictionary
 * once a cut. Those of which a part is taken are kept for the next slice.
 */
#include "storage/read/page_reader.h"
#include "storage/read/scratch.h"

#include <stdlib.h>

#define VALUES_LIMIT (256 * MIB) /* of one page, where they cannot be decoded into place */

/* The last page and the dictionary are what the next block begins with. */
static void release(struct page_reader *r)
{
    for (unsigned i = 0; i < HUB_COUNT(r->held); i++) {
        if (r->g)
            hub_decoded_hold(r->g->plan, r->held[i]);
        hub_decoded_put(r->held[i]);
    }
}

static enum hub_status decompress(const struct page_reader *r, const struct hub_page *page, uint8_t *decoded,
                                  struct hub_error *err)
{
    const bool plain = r->column->codec == HUB_PAGE_PLAIN || (page->version == 2 && !page->compressed);
    uint8_t *stored = plain ? decoded : hub_scratch(HUB_SCRATCH_STORED, page->stored);
    HUB_TRY(hub_allocated(decoded && stored, err));
    HUB_TRY(hub_gather_read(r->g, r->file, page->offset, stored, page->stored, err));
    return plain ? HUB_OK : hub_page_unpack(r->column, page, stored, decoded, err);
}

/* The decoded bytes of a page or dictionary, until the next one. */
static enum hub_status unpack(struct page_reader *r, const struct hub_page *page, bool dictionary,
                              const uint8_t **out, struct hub_error *err)
{
    const struct hub_plan *plan = r->g->plan;
    const uint64_t number = (uint64_t)(page - plan->layout->pages);
    struct hub_decoded **held = &r->held[dictionary], *made = NULL;
    hub_decoded_put(*held);
    *held = r->partial ? hub_decoded_get(plan, HUB_DECODED_PAGE, number) : NULL;
    if (!*held && r->partial)
        *held = made = hub_decoded_new(plan, HUB_DECODED_PAGE, number, page->decoded);
    uint8_t *decoded = *held        ? (*held)->data
                       : dictionary ? hub_scratch(HUB_SCRATCH_DICTIONARY, page->decoded)
                                    : hub_scratch(HUB_SCRATCH_DECODED, page->decoded);
    if (!*held || made)
        HUB_TRY(decompress(r, page, decoded, err));
    if (made) {
        made->full = !dictionary && hub_page_is_full(r->column, page, decoded);
        *held = hub_decoded_add(plan, made);
        decoded = (*held)->data;
    }
    *out = decoded;
    return HUB_OK;
}

/* The dictionary, decoded and indexed once for all pages of the cut. */
static enum hub_status open_dictionary(struct page_reader *r, const struct hub_page *page,
                                       struct hub_error *err)
{
    HUB_TRY(unpack(r, page, true, &r->dictionary, err));
    if (r->column->physical != HUB_PHYS_BYTE_ARRAY)
        return HUB_OK;
    struct hub_page_view *views = hub_scratch(HUB_SCRATCH_INDEX, (page->values + (size_t)1) * sizeof *views);
    HUB_TRY(hub_allocated(views, err));
    r->views = views;
    return hub_page_index(page, r->dictionary, r->column->longest, views, err);
}

/* A page, and its dictionary, decompressed; both stay until the next page. */
static enum hub_status open_page(struct page_reader *r, const struct hub_page *page, struct hub_page_job *job,
                                 struct hub_error *err)
{
    const struct hub_variant v = hub_variant_item(r->g->plan->variant);
    *job = (struct hub_page_job){
        .column = r->column, .page = page, .item_size = v.item_size, .is_float = v.kind == HUB_KIND_FLOAT};
    if (hub_encoding_in_dictionary(page->encoding)) {
        const struct hub_page *dictionary = &r->g->plan->layout->pages[r->column->dictionary];
        if (!r->dictionary)
            HUB_TRY(open_dictionary(r, dictionary, err));
        job->dictionary = dictionary;
        job->dictionary_data = r->dictionary;
        job->dictionary_views = r->views;
    }
    return unpack(r, page, false, &job->data, err);
}

/* The values that the job's `skip` and `count` name. */
static enum hub_status decode_values(const struct page_reader *r, struct hub_page_job *job, void *out,
                                     struct hub_page_view *views, uint8_t *valid, struct hub_error *err)
{
    job->built_size = hub_page_room_to_build(r->column, job->page, job->count, views != NULL);
    job->built = hub_scratch(HUB_SCRATCH_BUILT, job->built_size);
    HUB_TRY(hub_allocated(job->built, err));
    return hub_page_values(job, out, views, valid, err);
}

static enum hub_status decode(struct page_reader *r, const struct page_part *part, struct hub_page_job *job,
                              void *out, struct hub_page_view *views, uint8_t *valid, struct hub_error *err)
{
    HUB_TRY(open_page(r, part->page, job, err));
    job->skip = (uint32_t)(part->from - part->page->first_value);
    job->count = (uint32_t)(part->to - part->from);
    return decode_values(r, job, out, views, valid, err);
}

/* The bytes of the wanted values of a part go to their rows. */
static void scatter_values(const struct page_reader *r, const struct page_part *part, const uint8_t *values,
                           size_t size, uint8_t *out)
{
    const struct hub_cut *cut = r->cut;
    for (uint64_t i = part->first; i < part->first + part->count; i++) {
        const uint64_t begin = r->low + i * cut->step * r->items;
        const uint64_t from = HUB_MAX(begin, part->from), to = HUB_MIN(begin + r->items, part->to);
        uint8_t *row = out + hub_cut_index(cut, i) * r->items * size;
        memcpy(row + (from - begin) * size, values + (from - part->from) * size, (to - from) * size);
    }
}

/* The first null was met. */
static enum hub_status begin_validity(const struct page_reader *r, struct hub_error *err)
{
    const uint64_t all = r->g->plan->slice.count * r->items;
    if (r->g->valid)
        return HUB_OK;
    r->g->valid = malloc(HUB_MAX(all, 1));
    HUB_TRY(hub_allocated(r->g->valid, err));
    memset(r->g->valid, 1, all);
    return HUB_OK;
}

/* `valid`: of the values of the part. */
static enum hub_status note_nulls(const struct page_reader *r, const struct page_part *part,
                                  const uint8_t *valid, struct hub_error *err)
{
    if (!memchr(valid, 0, part->to - part->from))
        return HUB_OK;
    HUB_TRY(begin_validity(r, err));
    scatter_values(r, part, valid, 1, r->g->valid);
    return HUB_OK;
}

/* ---- rows of fixed size ---- */

static enum hub_status decode_fixed(struct page_reader *r, const struct page_part *part,
                                    struct hub_error *err)
{
    const struct hub_cut *cut = r->cut;
    const size_t size = r->g->plan->variant->item_size;
    const uint64_t count = part->to - part->from;
    const bool nulls = r->column->max_def, straight = cut->step == 1 && cut->direction > 0;
    if (!straight && count > VALUES_LIMIT / size)
        return hub_fail(err, HUB_TOO_BIG, "page of %llu values", (unsigned long long)count);
    uint8_t *temporary = hub_scratch(HUB_SCRATCH_VALUES, (straight ? 0 : count * size) + (nulls ? count : 0));
    HUB_TRY(hub_allocated(temporary, err));
    uint8_t *values =
        straight ? r->g->data + cut->first * r->g->row_bytes + (part->from - r->low) * size : temporary;
    uint8_t *valid = nulls ? temporary + (straight ? 0 : count * size) : NULL;
    struct hub_page_job job;
    HUB_TRY(decode(r, part, &job, values, NULL, valid, err));
    if (!straight)
        scatter_values(r, part, values, size, r->g->data);
    return nulls ? note_nulls(r, part, valid, err) : HUB_OK;
}

/* ---- rows of varying length: their bytes are pooled, their lengths noted ---- */

static enum hub_status decode_var(struct page_reader *r, const struct page_part *part, struct hub_error *err)
{
    struct hub_gather *g = r->g;
    const uint64_t count = part->to - part->from;
    if (count > VALUES_LIMIT / sizeof(struct hub_page_view))
        return hub_fail(err, HUB_TOO_BIG, "page of %llu values", (unsigned long long)count);
    struct hub_page_view *views = hub_scratch(HUB_SCRATCH_VALUES, count * (sizeof *views + 1));
    HUB_TRY(hub_allocated(views, err));
    uint8_t *valid = (uint8_t *)(views + count);
    struct hub_page_job job;
    HUB_TRY(decode(r, part, &job, NULL, views, valid, err));
    for (uint64_t i = part->first; i < part->first + part->count; i++) {
        const uint64_t at = r->low + i * r->cut->step - part->from, index = hub_cut_index(r->cut, i);
        const struct hub_page_view *view = &views[at];
        g->pooled[index] = g->pool.size;
        g->offsets[index + 1] = view->length;
        HUB_TRY(hub_buf_add(&g->pool, hub_page_bytes(&job, view), view->length, err));
    }
    return r->column->max_def ? note_nulls(r, part, valid, err) : HUB_OK;
}

/* ---- lists of varying length: a row is a run of values, whose first has repetition level 0 ---- */

/* The values of a page from those of the first wanted row on, to those of the last. */
struct value_run {
    const uint8_t *reps, *defs;
    uint64_t row; /* that value `from` belongs to */
    uint32_t from, to;
};

static enum hub_status find_run(const struct page_reader *r, const struct hub_page *page,
                                struct value_run *run, struct hub_error *err)
{
    const uint64_t first = r->cut->row, last = hub_cut_last_row(r->cut);
    const bool is_last = page + 1 == r->pages + r->page_count;
    uint64_t begun = page->sum;
    run->from = run->to = page->values;
    for (uint32_t i = 0; i < page->values; i++) {
        begun += run->reps[i] == 0;
        if (!begun)
            return hub_fail(err, HUB_CORRUPT, "a column begins inside a row");
        if (run->from == page->values && begun > first) {
            run->from = i;
            run->row = begun - 1;
        }
        if (run->to == page->values && begun > last + 1)
            run->to = i;
    }
    if (begun != (is_last ? r->cut->piece->rows : page[1].sum))
        return hub_fail(err, HUB_CORRUPT, "a page does not have the stated rows");
    run->from = HUB_MIN(run->from, run->to);
    return HUB_OK;
}

/* Values from .. to of one row, all elements, or an entry that holds none: an empty list, or none at all. */
static enum hub_status add_elements(struct page_reader *r, const struct value_run *run, uint32_t from,
                                    uint32_t to, const uint8_t *values, uint64_t index, struct hub_error *err)
{
    struct hub_gather *g = r->g;
    const size_t size = hub_variant_item(g->plan->variant).item_size;
    if (run->reps[from] == 0)
        g->pooled[index] = g->pool.size;
    if (to - from == 1 && run->defs[from] < r->column->element_def) {
        if (run->defs[from] + 1 == r->column->element_def)
            return HUB_OK;
        HUB_TRY(begin_validity(r, err));
        g->valid[index] = 0;
        return HUB_OK;
    }
    for (uint32_t i = from; i < to; i++)
        if (run->defs[i] != r->column->max_def)
            return hub_fail(err, HUB_CORRUPT, "a null among the elements of a list");
    g->offsets[index + 1] += (to - from) * size;
    return hub_buf_add(&g->pool, values + (from - run->from) * size, (to - from) * size, err);
}

static enum hub_status add_lists(struct page_reader *r, const struct value_run *run, const uint8_t *values,
                                 struct hub_error *err)
{
    const struct hub_cut *cut = r->cut;
    uint64_t row = run->row;
    for (uint32_t from = run->from, to; from < run->to; from = to, row++) {
        for (to = from + 1; to < run->to && run->reps[to] > 0; to++)
            ;
        if (row >= cut->row && (row - cut->row) % cut->step == 0)
            HUB_TRY(add_elements(r, run, from, to, values, hub_cut_index(cut, (row - cut->row) / cut->step),
                                 err));
    }
    return HUB_OK;
}

static enum hub_status decode_lists(struct page_reader *r, const struct hub_page *page, struct hub_error *err)
{
    const size_t size = hub_variant_item(r->g->plan->variant).item_size;
    struct hub_page_job job;
    struct value_run run;
    HUB_TRY(open_page(r, page, &job, err));
    uint8_t *reps = hub_scratch(HUB_SCRATCH_VALUES, page->values * (size + 2));
    HUB_TRY(hub_allocated(reps, err));
    uint8_t *defs = reps + page->values, *values = defs + page->values;
    HUB_TRY(hub_page_levels(&job, reps, defs, err));
    run = (struct value_run){.reps = reps, .defs = defs};
    HUB_TRY(find_run(r, page, &run, err));
    job.skip = run.from;
    job.count = run.to - run.from;
    HUB_TRY(decode_values(r, &job, values, NULL, NULL, err));
    return add_lists(r, &run, values, err);
}

static enum hub_status lengths_of_lists(struct page_reader *r, struct hub_error *err)
{
    const uint64_t last = hub_cut_last_row(r->cut);
    for (uint32_t i = hub_page_with_row(r, r->cut->row);
         i < r->page_count && hub_page_reaches(&r->pages[i], last); i++)
        HUB_TRY(decode_lists(r, &r->pages[i], err));
    return HUB_OK;
}

static enum hub_status decode_cut(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    HUB_CLEANUP(release) struct page_reader r = hub_page_reader_of(g->plan, cut);
    r.g = g;
    HUB_TRY(hub_gather_file(g, cut->piece, &r.file, err));
    if (r.lists)
        return lengths_of_lists(&r, err);
    const uint64_t end = r.low + ((cut->count - 1) * cut->step + 1) * r.items;
    for (uint32_t i = hub_page_with(&r, r.low); i < r.page_count && r.pages[i].first_value < end; i++) {
        struct page_part part;
        if (!hub_page_part_of(&r, &r.pages[i], &part))
            continue;
        HUB_TRY(g->offsets ? decode_var(&r, &part, err) : decode_fixed(&r, &part, err));
    }
    return HUB_OK;
}

static enum hub_status lengths(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    if (!g->pooled)
        g->pooled = malloc(g->plan->slice.count * sizeof *g->pooled);
    return g->pooled ? decode_cut(g, cut, err) : hub_no_memory(err);
}

static enum hub_status gather(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err)
{
    if (!g->offsets)
        return decode_cut(g, cut, err);
    for (uint64_t i = 0; i < cut->count; i++) {
        const uint64_t index = hub_cut_index(cut, i), size = g->offsets[index + 1] - g->offsets[index];
        if (size)
            memcpy(g->data + g->offsets[index], g->pool.data + g->pooled[index], size);
    }
    return HUB_OK;
}

/* Rows with a value in the page that ends the row; of lists of varying length it is only known which begin
 * in it. */
static uint64_t together(const struct hub_layout *layout, const struct hub_variant *variant,
                         const struct hub_piece *piece, uint64_t row)
{
    const struct hub_cut cut = {.piece = piece, .row = row, .count = 1, .step = 1};
    const struct hub_plan plan = {.layout = layout, .variant = variant};
    const struct page_reader r = hub_page_reader_of(&plan, &cut);
    if (r.lists)
        return row + 1;
    const struct hub_page *page = &r.pages[hub_page_with(&r, (row + 1) * r.items - 1)];
    return ((uint64_t)page->first_value + page->values + r.items - 1) / r.items;
}

const struct hub_piece_ops hub_piece_pages = {
    .price = hub_pages_price, .lengths = lengths, .gather = gather, .together = together};
