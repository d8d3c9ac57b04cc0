/* Blobs of episodes: see columns.h. Cells have one size, so that each is found without reading the others; of
 * texts that are the same as shortly before one is kept. */
#include "storage/catalog/columns.h"

#include "storage/text/json.h"
#include "storage/text/number.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_TEXT_BYTES (900 * MIB)

enum { TEXTS = 6, FLAG_RETURN = 1, FLAG_COMPUTED = 2 };

struct episode_row {
    int64_t number;
    uint64_t steps;
    double episode_return;
    uint32_t file;
    uint32_t texts[TEXTS]; /* where each begins; 0: unknown */
    int8_t success, terminated, truncated;
    uint8_t flags;
};

bool hub_column_name(const char *word, struct hub_view of, uint32_t run, char name[HUB_COLUMN_NAME])
{
    const int size = snprintf(name, HUB_COLUMN_NAME, "%u.%s%s%.*s", run, word, of.size ? ":" : "",
                              (int)of.size, of.size ? of.data : "");
    return size > 0 && size < HUB_COLUMN_NAME;
}

/* ---- writing ---- */

void hub_column_run_dispose(struct hub_column_run *run)
{
    hub_buf_dispose(&run->cells);
    hub_buf_dispose(&run->kinds);
    hub_buf_dispose(&run->texts);
}

enum hub_status hub_column_run_begin(struct hub_column_run *run, size_t max_texts, struct hub_error *err)
{
    *run = (struct hub_column_run){.cells =
                                       HUB_BUF_INIT(HUB_COLUMN_RUN * sizeof(struct episode_row) + max_texts),
                                   .kinds = HUB_BUF_INIT(HUB_COLUMN_RUN),
                                   .texts = HUB_BUF_INIT(max_texts)};
    HUB_TRY(hub_buf_add(&run->cells, &(uint32_t[2]){0}, 2 * sizeof(uint32_t), err));
    return hub_buf_add(&run->texts, "", 1, err); /* no text begins at 0 */
}

enum hub_status hub_column_run_end(struct hub_column_run *run, struct hub_error *err)
{
    const uint32_t head[2] = {run->count, (uint32_t)run->texts.size};
    memcpy(run->cells.data, head, sizeof head);
    HUB_TRY(hub_buf_add_view(&run->cells, hub_buf_view(&run->kinds), err));
    return hub_buf_add_view(&run->cells, hub_buf_view(&run->texts), err);
}

static enum hub_status write_run(struct hub_column_run *run, struct hub_db *db, int64_t part,
                                 const char *word, uint32_t number, struct hub_error *err)
{
    char name[HUB_COLUMN_NAME];
    HUB_TRY(hub_column_run_end(run, err));
    (void)hub_column_name(word, (struct hub_view){0}, number, name);
    return hub_blob_write(db, part, HUB_BLOB_EPISODES, name, hub_buf_view(&run->cells), err);
}

/* Where the text begins, again or at one of the `known` places. Several texts lie behind each other. */
static enum hub_status add_text(struct hub_buf *texts, struct hub_view text, const uint32_t *known,
                                unsigned count, uint32_t *out, struct hub_error *err)
{
    for (unsigned i = 0; i < count; i++)
        if (known[i] && texts->size - known[i] >= text.size &&
            memcmp(texts->data + known[i], text.data, text.size) == 0) {
            *out = known[i];
            return HUB_OK;
        }
    *out = (uint32_t)texts->size;
    return hub_buf_add(texts, text.data, text.size, err);
}

static struct hub_view whole(const char *text)
{
    return (struct hub_view){text, strlen(text) + 1};
}

static enum hub_status add_row(struct hub_column_run *run, const struct hub_found_episode *e,
                               struct episode_row *row, struct hub_error *err)
{
    const char *const all[TEXTS] = {e->name, e->seed, e->task, e->splits, e->attributes, e->statistics};
    if (e->steps > INT64_MAX)
        return hub_fail(err, HUB_CORRUPT, "an episode of %llu steps", (unsigned long long)e->steps);
    row->number = e->number;
    row->steps = e->steps;
    row->episode_return = e->episode_return;
    row->file = e->file;
    row->success = e->success;
    row->terminated = e->terminated;
    row->truncated = e->truncated;
    row->flags = (uint8_t)((e->has_return ? FLAG_RETURN : 0) | (e->return_computed ? FLAG_COMPUTED : 0));
    for (unsigned i = 0; i < TEXTS; i++) {
        const uint32_t before = row->texts[i];
        row->texts[i] = 0;
        if (all[i])
            HUB_TRY(add_text(&run->texts, whole(all[i]), &before, 1, &row->texts[i], err));
    }
    run->count++;
    return hub_buf_add(&run->cells, row, sizeof *row, err);
}

static enum hub_status write_rows(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                  uint32_t first, uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_column_run_dispose) struct hub_column_run run = {0};
    struct episode_row row;
    memset(&row, 0, sizeof row); /* its padding goes into the blob too */
    HUB_TRY(hub_column_run_begin(&run, MAX_TEXT_BYTES, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(add_row(&run, &found->episodes[first + i], &row, err));
    return write_run(&run, db, part, HUB_ROWS, first / HUB_ROWS_RUN, err);
}

/* Seeds are numbers as far as 64 bits hold them, else the text that they are. */
static struct hub_value value_of_seed(const char *seed)
{
    const struct hub_view text = hub_view_of(seed);
    const bool negative = seed[0] == '-';
    const struct hub_view digits = {seed + negative, text.size - negative};
    uint64_t number;
    if ((digits.size > 1 && digits.data[0] == '0') ||
        !hub_number_read(digits, negative ? INT64_MAX : UINT64_MAX, &number))
        return hub_value_text(text);
    return negative ? (struct hub_value){.kind = HUB_VALUE_INT, .number = -(int64_t)number}
                    : hub_value_uint(number);
}

/* The values of episodes under a name, and what they lie in. */
struct column_writer {
    struct hub_value *set;
    uint32_t count, room;
    char *text; /* the JSON that the set was read from: of neighbours it is often the same */
    json_t *json;
};

static void writer_dispose(struct column_writer *w)
{
    free(w->set);
    free(w->text);
    json_decref(w->json);
}

static enum hub_status add_to_set(struct column_writer *w, const char *text, struct hub_error *err)
{
    HUB_TRY(hub_grow(&w->set, w->count, &w->room, sizeof *w->set, err));
    w->set[w->count++] = hub_value_text(hub_view_of(text));
    return HUB_OK;
}

/* The texts of an array but for one. */
static enum hub_status add_array(struct column_writer *w, const json_t *array, const char *but,
                                 struct hub_error *err)
{
    const json_t *item;
    size_t i;
    json_array_foreach(array, i, item)
    {
        const char *text = json_string_value(item);
        if (text && (!but || strcmp(text, but) != 0))
            HUB_TRY(add_to_set(w, text, err));
    }
    return HUB_OK;
}

static enum hub_status parse(struct column_writer *w, const char *text, struct hub_error *err)
{
    if (w->text && strcmp(w->text, text) == 0)
        return HUB_OK;
    free(w->text);
    json_decref(w->json);
    w->json = NULL;
    w->text = strdup(text);
    HUB_TRY(hub_allocated(w->text, err));
    return hub_json_parse(hub_view_of(text), HUB_MAX_ATTRIBUTES, &w->json, err);
}

static enum hub_status splits_of(struct column_writer *w, const struct hub_found_episode *e,
                                 struct hub_error *err)
{
    if (!e->splits)
        return HUB_OK;
    HUB_TRY(parse(w, e->splits, err));
    return add_array(w, w->json, NULL, err);
}

/* An episode of several tasks has the first as its own, and all in its attributes. */
static enum hub_status tasks_of(struct column_writer *w, const struct hub_found_episode *e,
                                struct hub_error *err)
{
    if (!e->task)
        return HUB_OK;
    HUB_TRY(add_to_set(w, e->task, err));
    if (!e->attributes || !strstr(e->attributes, "\"tasks\"")) /* which saves most from being parsed */
        return HUB_OK;
    HUB_TRY(parse(w, e->attributes, err));
    return add_array(w, json_object_get(w->json, "tasks"), e->task, err);
}

static void give(struct column_writer *w, struct hub_value value)
{
    w->set[w->count++] = value;
}

static void give_truth(struct column_writer *w, int8_t truth)
{
    if (truth >= 0)
        give(w, hub_value_uint(truth > 0));
}

static enum hub_status read_values(struct column_writer *w, const struct hub_found_episode *e,
                                   enum hub_property_kind kind, struct hub_error *err)
{
    w->count = 0;
    HUB_TRY(hub_grow(&w->set, w->count, &w->room, sizeof *w->set, err));
    if (kind == HUB_PROPERTY_SPLIT)
        return splits_of(w, e, err);
    if (kind == HUB_PROPERTY_TASK)
        return tasks_of(w, e, err);
    if (kind == HUB_PROPERTY_SEED && e->seed)
        give(w, value_of_seed(e->seed));
    else if (kind == HUB_PROPERTY_SUCCESS)
        give_truth(w, e->success);
    else if (kind == HUB_PROPERTY_TERMINATED)
        give_truth(w, e->terminated);
    else if (kind == HUB_PROPERTY_TRUNCATED)
        give_truth(w, e->truncated);
    else if (kind == HUB_PROPERTY_RETURN && e->has_return && e->episode_return == e->episode_return) {
        give(w, hub_value_real(e->episode_return));
        w->set->computed = e->return_computed;
    }
    return HUB_OK;
}

static enum hub_status add_texts(struct hub_column_run *run, const struct hub_value *values, size_t count,
                                 uint64_t *out, struct hub_error *err)
{
    const size_t before = run->texts.size;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(run->texts.limit);
    uint32_t at;
    for (size_t i = 0; i < count; i++) {
        HUB_TRY(hub_buf_add_view(&all, values[i].text, err));
        HUB_TRY(hub_buf_add(&all, "", 1, err));
    }
    HUB_TRY(add_text(&run->texts, hub_buf_view(&all), run->recent, HUB_COUNT(run->recent), &at, err));
    if (at == before)
        run->recent[run->next++ % HUB_COUNT(run->recent)] = at;
    *out = (uint64_t)count << 32 | at;
    return HUB_OK;
}

enum hub_status hub_column_run_add(struct hub_column_run *run, const struct hub_value *values, size_t count,
                                   struct hub_error *err)
{
    const char kind = count ? (char)((1 + values->kind) | values->computed * HUB_CELL_COMPUTED) : 0;
    uint64_t bits = 0;
    if (count && values->kind == HUB_VALUE_TEXT)
        HUB_TRY(add_texts(run, values, count, &bits, err));
    else if (count)
        memcpy(&bits, &values->number, sizeof bits); /* or of `large`, or of `real` */
    run->count++;
    HUB_TRY(hub_buf_add(&run->cells, &bits, sizeof bits, err));
    return hub_buf_add(&run->kinds, &kind, 1, err);
}

static enum hub_status write_column(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                    enum hub_property_kind kind, struct hub_error *err)
{
    HUB_CLEANUP(writer_dispose) struct column_writer w = {0};
    for (uint32_t first = 0; first < found->episode_count; first += HUB_COLUMN_RUN) {
        HUB_CLEANUP(hub_column_run_dispose) struct hub_column_run run = {0};
        HUB_TRY(hub_column_run_begin(&run, MAX_TEXT_BYTES, err));
        for (uint32_t i = first; i < found->episode_count && i - first < HUB_COLUMN_RUN; i++) {
            HUB_TRY(read_values(&w, &found->episodes[i], kind, err));
            HUB_TRY(hub_column_run_add(&run, w.set, w.count, err));
        }
        HUB_TRY(write_run(&run, db, part, hub_property_word(kind), first / HUB_COLUMN_RUN, err));
    }
    return HUB_OK;
}

enum hub_status hub_columns_write(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                  struct hub_error *err)
{
    for (uint32_t first = 0; first < found->episode_count; first += HUB_ROWS_RUN)
        HUB_TRY(write_rows(db, part, found, first,
                           HUB_MIN(found->episode_count - first, (uint32_t)HUB_ROWS_RUN), err));
    for (unsigned kind = 0; kind < HUB_PROPERTY_COUNT; kind++)
        if (hub_property_row((enum hub_property_kind)kind)->source == HUB_FROM_COLUMN)
            HUB_TRY(write_column(db, part, found, (enum hub_property_kind)kind, err));
    return HUB_OK;
}

/* ---- reading ---- */

static bool open_cells(struct hub_view blob, size_t cell, struct hub_columns *out)
{
    uint32_t head[2];
    if (blob.size < sizeof head)
        return false;
    memcpy(head, blob.data, sizeof head);
    if (blob.size != sizeof head + head[0] * cell + head[1] || blob.data[blob.size - 1])
        return false;
    *out = (struct hub_columns){head[0], blob.data + sizeof head, blob.data + sizeof head + head[0] * cell};
    return true;
}

bool hub_columns_open(struct hub_view blob, struct hub_columns *out)
{
    return open_cells(blob, sizeof(uint64_t) + 1, out);
}

bool hub_columns_open_rows(struct hub_view blob, struct hub_columns *out)
{
    return open_cells(blob, sizeof(struct episode_row), out);
}

void hub_columns_row(const struct hub_columns *rows, uint32_t at, struct hub_found_episode *out)
{
    struct episode_row row;
    const char *texts[TEXTS];
    memcpy(&row, rows->cells + at * sizeof row, sizeof row); /* perhaps not aligned */
    for (unsigned i = 0; i < TEXTS; i++)
        texts[i] = row.texts[i] ? rows->texts + row.texts[i] : NULL;
    *out = (struct hub_found_episode){
        .number = row.number,
        .name = texts[0],
        .seed = texts[1],
        .task = texts[2],
        .splits = texts[3],
        .attributes = texts[4],
        .statistics = texts[5],
        .file = row.file,
        .steps = row.steps,
        .has_return = row.flags & FLAG_RETURN,
        .return_computed = row.flags & FLAG_COMPUTED,
        .episode_return = row.episode_return,
        .success = row.success,
        .terminated = row.terminated,
        .truncated = row.truncated,
    };
}
