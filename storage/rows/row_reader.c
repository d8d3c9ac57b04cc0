/* Rows of many episodes, read in blocks: see row_reader.h. */
#include "storage/rows/row_reader.h"

#include "storage/text/time.h"

#include <assert.h>
#include <stdlib.h>

enum {
    MOST_WAIT_MS = 30 * 1000, /* for bytes that do not lie in place */
};
#define MOST_AT_ONCE (4 * MIB) /* of rows of varying length */

void hub_row_reader_dispose(struct hub_row_reader *r)
{
    r->now.fields = r->fields; /* all of them */
    r->now.count = r->fields ? r->field_count : 0;
    hub_selection_dispose(&r->now);
    r->fields = NULL;
    while (r->column_count)
        hub_row_reader_drop(r);
    if (r->holds)
        r->context.resized(r->context.user, r->holds, 0);
    hub_dataset_put(r->dataset);
    free(r->places);
    free(r->ends);
    free(r->runs);
    free(r->wholes);
    *r = (struct hub_row_reader){0};
}

/* ---- to begin with ---- */

static void begin(struct hub_row_reader *r)
{
    r->episode = HUB_NONE;
    r->field_count = r->column_count;
    r->context.may_block = true;
}

enum hub_status hub_row_reader_wanted(const struct hub_row_reader *r, struct hub_error *err)
{
    return hub_parallel_cancelled(r->context.parallel)
               ? hub_fail(err, HUB_CANCELLED, "the request for these rows has ended")
               : HUB_OK;
}

enum hub_status hub_row_reader_begin(struct hub_row_reader *r, struct hub_error *err)
{
    begin(r);
    r->now.dataset = r->dataset;
    return hub_new(&r->fields, r->field_count, sizeof *r->fields, err);
}

enum hub_status hub_row_reader_begin_at(struct hub_row_reader *r, struct hub_selection *selection,
                                        struct hub_error *err)
{
    begin(r);
    HUB_TRY(hub_new(&r->ends, 1, sizeof *r->ends, err));
    r->count = 1;
    r->episode = 0;
    r->sliced = true;
    r->now = *selection;
    *selection = (struct hub_selection){0};
    r->fields = r->now.fields;
    for (uint32_t c = 0; c < r->column_count; c++) {
        struct hub_selected_field *selected = &r->fields[c];
        selected->slice = selected->plan.slice; /* of the array */
        r->as[c].type = r->dataset->fields[selected->field].type;
        r->as[c].variant = *selected->plan.variant;
        r->ends[0] = HUB_MAX(r->ends[0], selected->slice.count);
    }
    return HUB_OK;
}

void hub_row_reader_add_computed(struct hub_row_reader *r, const char *name, enum hub_computed_column made)
{
    const bool number = made == HUB_COMPUTED_EPISODE || made == HUB_COMPUTED_STEP;
    const struct hub_variant variant = {.kind = number ? HUB_KIND_INT : HUB_KIND_BOOL,
                                        .item_size = number ? 8 : 1};
    r->columns[r->column_count] = (struct hub_row_reader_column){.made = made};
    r->as[r->column_count++] = (struct hub_stream_column){
        .name = name, .type = number ? HUB_FIELD_NUMBER : HUB_FIELD_BOOL, .variant = variant};
}

void hub_row_reader_drop(struct hub_row_reader *r)
{
    const uint32_t c = --r->column_count;
    if (r->fields && c < r->field_count)
        hub_row_reader_release(r, c);
    hub_rows_dispose(&r->rows[c]);
    hub_held_dispose(&r->held[c]);
    r->capacity[c] = 0;
    r->field_count = HUB_MIN(r->field_count, c);
}

/* ---- rows ---- */

uint64_t hub_row_reader_count(const struct hub_row_reader *r)
{
    return r->count ? r->ends[r->count - 1] : 0;
}

uint32_t hub_row_reader_episode(const struct hub_row_reader *r, uint64_t row)
{
    uint32_t low = 0, high = r->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (r->ends[middle] <= row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t hub_row_reader_row_bytes(const struct hub_row_reader *r, uint32_t first, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t c = first; c < first + count; c++)
        bytes += hub_table_stream_row_bytes(&r->as[c]);
    return bytes;
}

/* Files that are open may be those of the next episode too; side data is its part's own. */
static void keep_files(struct hub_row_reader *r, const struct hub_dataset_episode *next)
{
    enum { MOST_FILES = 64 };
    const bool same = r->now.episode && r->now.episode->part == next->part;
    if (!same || r->now.files.count > MOST_FILES)
        hub_plan_files_dispose(&r->now.files);
}

/* From here on `now` is of these columns in this episode. */
static enum hub_status enter(struct hub_row_reader *r, uint32_t episode, struct hub_error *err)
{
    const struct hub_dataset_episode *e = &r->dataset->episodes[r->places[episode]];
    keep_files(r, e);
    r->episode = HUB_NONE;
    for (uint32_t c = r->first; c < r->first + r->now.count; c++) {
        struct hub_selected_field *selected = &r->fields[c];
        const struct hub_window *window;
        HUB_TRY(hub_row_reader_window(r, c, e, &window, err));
        const struct hub_layout *layout = hub_layout_of(selected->layout);
        selected->plan = (struct hub_plan){.layout = layout, .array = &layout->arrays[window->array]};
        selected->plan.variant = &layout->variants[selected->plan.array->variant];
        selected->slice = (struct hub_slice){window->first, window->count, 1};
    }
    r->now.episode = e;
    r->episode = episode;
    return HUB_OK;
}

/* Rows of a column in the episode that was entered, `first` and those behind it, become its plan, as far as
 * there are any. */
static void cut(struct hub_row_reader *r, uint32_t column, uint64_t first, uint64_t count)
{
    struct hub_selected_field *selected = &r->fields[column];
    const struct hub_slice *all = &selected->slice;
    const uint64_t stride = r->runs ? r->stride : 1;
    first += r->sliced ? 0 : hub_row_reader_skipped(r, column);
    const uint64_t there = first < all->count ? HUB_MIN(count, (all->count - first - 1) / stride + 1) : 0;
    selected->plan.slice = (struct hub_slice){there ? all->start + first * (uint64_t)all->step : 0, there,
                                              all->step * (int64_t)stride};
    selected->plan.held = &r->held[column];
}

/* A chunk that the next block goes on in is memory that nobody else can have. */
static void charge_held(struct hub_row_reader *r)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < r->field_count; c++)
        bytes += hub_held_bytes(&r->held[c]);
    if (bytes != r->holds)
        r->context.resized(r->context.user, r->holds, bytes);
    r->holds = bytes;
}

/* What does not lie in place is waited for, but not for ever. */
struct patience {
    const struct hub_row_reader *reading;
    int64_t until_ms;
};

static bool stops(void *user)
{
    const struct patience *patience = user;
    return hub_parallel_cancelled(patience->reading->context.parallel) ||
           hub_time_mono_ms() > patience->until_ms;
}

static enum hub_status await_bytes(struct hub_row_reader *r, struct hub_error *err)
{
    const enum hub_status st = hub_selection_fetch(&r->now, err);
    struct patience patience = {r, hub_time_mono_ms() + MOST_WAIT_MS};
    return st == HUB_AGAIN ? hub_fetch_join(r->now.fetch, stops, &patience, err) : st;
}

/* Open the files of the priced rows. */
static enum hub_status open_files(struct hub_row_reader *r, struct hub_error *err)
{
    hub_fetch_put(r->now.fetch);
    r->now.fetch = NULL;
    HUB_TRY(hub_selection_open(&r->context, &r->now, err));
    return await_bytes(r, err);
}

/* ---- columns that grow ---- */

void hub_row_reader_into(struct hub_row_reader *r, uint32_t column, void *data, size_t bytes)
{
    struct hub_rows *rows = &r->rows[column];
    if (rows->owned)
        free(rows->data);
    rows->data = data;
    rows->owned = false;
    r->capacity[column] = bytes;
}

static enum hub_status grow(struct hub_row_reader *r, uint32_t column, uint64_t size, struct hub_error *err)
{
    struct hub_rows *rows = &r->rows[column];
    if (rows->data && size <= r->capacity[column])
        return HUB_OK;
    assert(!rows->data || rows->owned);
    const size_t capacity = HUB_MAX((size_t)size, r->capacity[column] * 2) + 64;
    uint8_t *data = realloc(rows->data, capacity);
    HUB_TRY(hub_allocated(data, err));
    rows->data = data;
    rows->owned = true;
    r->capacity[column] = capacity;
    return HUB_OK;
}

/* Rows [at, at + count) of `most` are there, those of `from` (NULL: all). */
static enum hub_status set_valid(struct hub_rows *rows, uint64_t most, uint64_t at, uint64_t count,
                                 const uint8_t *from, struct hub_error *err)
{
    const uint64_t values = hub_variant_row_items(&rows->variant);
    if (!rows->valid && !from)
        return HUB_OK;
    if (!rows->valid) {
        HUB_TRY(hub_new(&rows->valid, (size_t)(most * values), 1, err));
        memset(rows->valid, 1, (size_t)(most * values));
    }
    if (from)
        memcpy(rows->valid + at * values, from, (size_t)(count * values));
    return HUB_OK;
}

static struct hub_view item_of(const struct hub_rows *rows, enum hub_field_type type, uint64_t i)
{
    struct hub_view item = type == HUB_FIELD_TEXT ? hub_item_text(rows, i) : hub_item_at(rows, i);
    if (type == HUB_FIELD_IMAGE_JPEG || type == HUB_FIELD_IMAGE_PNG)
        while (!rows->offsets && item.size && !item.data[item.size - 1])
            item.size--;
    return item;
}

/* Items behind those that are there. */
static enum hub_status add_items(struct hub_row_reader *r, uint32_t column, uint64_t most, uint64_t at,
                                 const struct hub_rows *from, struct hub_error *err)
{
    struct hub_rows *rows = &r->rows[column];
    for (uint64_t i = 0; i < from->rows; i++) {
        static const uint8_t no = 0;
        const struct hub_view item = item_of(from, r->as[column].type, i);
        const uint64_t end = rows->offsets[at + i];
        HUB_TRY(grow(r, column, end + item.size, err));
        memcpy(rows->data + end, item.data, item.size);
        rows->offsets[at + i + 1] = end + item.size;
        HUB_TRY(set_valid(rows, most, at + i, 1, hub_item_null(from, i) ? &no : NULL, err));
    }
    return HUB_OK;
}

/* The rows that its plan names, behind the `at` rows that are there. */
static enum hub_status add_rows(struct hub_row_reader *r, uint32_t column, uint64_t most, uint64_t at,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_rows_dispose) struct hub_rows some = {0};
    struct hub_rows *rows = &r->rows[column];
    const struct hub_selected_field *selected = &r->fields[column];
    const uint64_t row = hub_variant_row_bytes(&rows->variant), count = selected->plan.slice.count;
    if (rows->offsets) {
        HUB_TRY(hub_selection_read(&r->context, &r->now, selected, NULL, &some, err));
        return add_items(r, column, most, at, &some, err);
    }
    HUB_TRY(grow(r, column, (at + count) * row, err));
    HUB_TRY(hub_selection_read(&r->context, &r->now, selected, rows->data + at * row, &some, err));
    return set_valid(rows, most, at, count, some.valid, err);
}

/* Rows that the episode has not: the last one again, or nulls. */
static enum hub_status add_missing(struct hub_row_reader *r, uint32_t column, uint64_t most, uint64_t at,
                                   uint64_t count, struct hub_error *err)
{
    struct hub_rows *rows = &r->rows[column];
    const uint64_t row = hub_variant_row_bytes(&rows->variant),
                   values = hub_variant_row_items(&rows->variant);
    if (r->columns[column].last_again) {
        struct hub_selected_field *selected = &r->fields[column];
        selected->plan.slice = (struct hub_slice){selected->slice.start + selected->slice.count - 1, 1, 1};
        HUB_TRY(hub_selection_price(&r->context, &r->now, err));
        HUB_TRY(open_files(r, err));
        return add_rows(r, column, most, at, err);
    }
    HUB_CLEANUP(hub_freep) uint8_t *none = calloc((size_t)(count * values) + 1, 1);
    HUB_TRY(hub_allocated(none, err));
    HUB_TRY(grow(r, column, rows->offsets ? rows->offsets[at] : (at + count) * row, err));
    for (uint64_t i = at; i < at + count && rows->offsets; i++)
        rows->offsets[i + 1] = rows->offsets[i];
    if (!rows->offsets)
        memset(rows->data + at * row, 0, (size_t)(count * row));
    return set_valid(rows, most, at, count, none, err);
}

/* ---- the rows ---- */

static enum hub_status clear(struct hub_row_reader *r, uint32_t column, uint64_t most, struct hub_error *err)
{
    struct hub_rows *rows = &r->rows[column];
    const struct hub_variant *variant = &r->as[column].variant;
    const bool items = hub_row_reader_has_items(r, column);
    free(rows->valid);
    free(rows->offsets);
    rows->valid = NULL;
    rows->offsets = NULL;
    rows->rows = 0;
    rows->variant = items ? (struct hub_variant){.kind = HUB_KIND_VAR} : *variant;
    if (rows->variant.kind == HUB_KIND_VAR)
        HUB_TRY(hub_new(&rows->offsets, (size_t)most + 1, sizeof *rows->offsets, err));
    return grow(r, column, 1, err);
}

/* How many of the rows are read at once: of what is of varying length, what fits. */
static enum hub_status price(struct hub_row_reader *r, uint64_t first, uint64_t *count, struct hub_error *err)
{
    for (;; *count = (*count + 1) / 2) {
        for (uint32_t c = r->first; c < r->first + r->now.count; c++)
            cut(r, c, first, *count);
        HUB_TRY(hub_selection_price(&r->context, &r->now, err));
        if (r->now.bytes_out <= MOST_AT_ONCE || *count == 1)
            return HUB_OK;
    }
}

/* Some of the rows of one episode, behind those that are there. */
static enum hub_status add_of_episode(struct hub_row_reader *r, uint64_t first, uint64_t most, uint64_t at,
                                      uint64_t *count, struct hub_error *err)
{
    uint64_t there[HUB_MAX_SELECTED];
    const uint32_t begin = r->first, end = begin + r->now.count;
    HUB_TRY(price(r, first, count, err));
    HUB_TRY(open_files(r, err));
    for (uint32_t c = begin; c < end; c++) {
        there[c] = r->fields[c].plan.slice.count;
        if (there[c])
            HUB_TRY(add_rows(r, c, most, at, err));
    }
    charge_held(r);
    for (uint32_t c = begin; c < end; c++)
        if (there[c] < *count)
            HUB_TRY(add_missing(r, c, most, at + there[c], *count - there[c], err));
    return hub_selection_unchanged(&r->context, &r->now, err);
}

static bool is_full(const struct hub_row_reader *r, uint64_t rows)
{
    uint64_t bytes = 0;
    for (uint32_t c = r->first; c < r->first + r->now.count; c++)
        bytes += r->rows[c].offsets ? r->rows[c].offsets[rows] : 0;
    return bytes >= MOST_AT_ONCE;
}

/* ---- what is made ---- */

/* Is the first value of a row another than 0? `column` may be HUB_NONE. */
static bool is_set(const struct hub_row_reader *r, uint32_t column, uint64_t row)
{
    if (column == HUB_NONE)
        return false;
    const struct hub_rows *rows = &r->rows[column];
    const struct hub_scalar value =
        hub_variant_scalar(&rows->variant, rows->data + row * hub_variant_row_bytes(&rows->variant));
    return value.real != 0;
}

/* An episode that is said to be done there, and not why, has come to its end; one that just ends was cut
 * off. */
static bool made_flag(const struct hub_row_reader *r, enum hub_computed_column made, uint64_t row, bool last)
{
    const bool done = is_set(r, r->done, row);
    const bool terminated = r->terminated != HUB_NONE ? is_set(r, r->terminated, row) : done;
    const bool reported = r->terminated != HUB_NONE || r->truncated != HUB_NONE;
    const bool truncated =
        r->truncated != HUB_NONE ? is_set(r, r->truncated, row) : last && !terminated && !reported;
    if (made == HUB_COMPUTED_DONE && r->done != HUB_NONE)
        return done;
    return made == HUB_COMPUTED_DONE         ? terminated || truncated
           : made == HUB_COMPUTED_TERMINATED ? terminated
                                             : truncated;
}

static enum hub_status make_rows(struct hub_row_reader *r, uint32_t column, uint64_t first, uint64_t count,
                                 struct hub_error *err)
{
    struct hub_rows *rows = &r->rows[column];
    const enum hub_computed_column made = r->columns[column].made;
    struct hub_row_reader_spot spot = {0};
    uint32_t e = hub_row_reader_episode(r, first);
    rows->variant = r->as[column].variant;
    HUB_TRY(grow(r, column, count * rows->variant.item_size, err));
    for (uint64_t i = 0; i < count; i++, spot.row += r->runs ? r->stride : 1, spot.left--) {
        while (first + i >= r->ends[e])
            e++;
        if (!spot.left)
            spot = hub_row_reader_spot(r, e, first + i);
        const int64_t number =
            made == HUB_COMPUTED_EPISODE ? r->dataset->episodes[r->places[e]].number : (int64_t)spot.row;
        if (rows->variant.item_size == sizeof number)
            memcpy(rows->data + i * sizeof number, &number, sizeof number);
        else
            rows->data[i] = made_flag(r, made, i, spot.row + 1 == hub_row_reader_whole(r, e));
    }
    rows->rows = count;
    return HUB_OK;
}

/* ---- a block ---- */

static uint64_t rows_of(const struct hub_row_reader *r, uint32_t episode)
{
    return r->ends[episode] - (episode ? r->ends[episode - 1] : 0);
}

/* The columns that are read from here on, and made empty. */
static enum hub_status begin_block(struct hub_row_reader *r, uint32_t first, uint32_t end, uint64_t most,
                                   struct hub_error *err)
{
    if (!r->sliced && (r->first != first || r->now.count != end - first))
        r->episode = HUB_NONE;
    r->first = first;
    r->now.fields = r->fields + first;
    r->now.count = end - first;
    for (uint32_t c = first; c < end; c++)
        HUB_TRY(clear(r, c, most, err));
    return HUB_OK;
}

static enum hub_status read_fields(struct hub_row_reader *r, uint64_t first, uint64_t count, uint64_t *got,
                                   struct hub_error *err)
{
    uint64_t at = 0;
    for (uint32_t e = hub_row_reader_episode(r, first); at < count && e < r->count && !is_full(r, at); e++) {
        if (!rows_of(r, e))
            continue;
        if (r->episode != e)
            HUB_TRY(enter(r, e, err));
        while (at < count && first + at < r->ends[e] && !is_full(r, at)) {
            const struct hub_row_reader_spot spot = hub_row_reader_spot(r, e, first + at);
            uint64_t some = HUB_MIN(count - at, spot.left);
            HUB_TRY(hub_row_reader_wanted(r, err));
            HUB_TRY(add_of_episode(r, spot.row, count, at, &some, err));
            at += some;
        }
    }
    for (uint32_t c = r->first; c < r->first + r->now.count; c++)
        r->rows[c].rows = at;
    *got = at;
    return HUB_OK;
}

enum hub_status hub_row_reader_rows(struct hub_row_reader *r, uint32_t first_column, uint32_t columns,
                                    uint64_t first, uint64_t count, uint64_t *got, struct hub_error *err)
{
    const uint32_t end = first_column + columns;
    uint32_t from = HUB_MIN(first_column, r->field_count);
    *got = count;
    while (first_column >= r->field_count && from && r->columns[from - 1].hidden)
        from--; /* what others are made of */
    HUB_TRY(begin_block(r, from, HUB_MIN(HUB_MAX(end, from), r->field_count), count, err));
    if (r->now.count)
        HUB_TRY(read_fields(r, first, count, got, err));
    for (uint32_t c = HUB_MAX(first_column, r->field_count); c < end; c++)
        HUB_TRY(make_rows(r, c, first, *got, err));
    return HUB_OK;
}
