/* Blobs of episodes: see columns.h. Cells have one size, so that each is found without reading the others; of
 * texts that are the same as shortly before one is kept. */
#include "storage/catalog/columns.h"

#include "storage/text/number.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_TEXT_BYTES (900 * MIB)

enum { TEXTS = 6, FLAG_RETURN = 1, FLAG_COMPUTED = 2 };
enum { KEY_KIND = 15 /* 0: none */, KEY_COMPUTED = 16, KEY_SEVERAL = 32 };
enum { ROWS_RUN = 128, KEYS_RUN = 16384 };

struct episode_row {
    int64_t number;
    uint64_t steps;
    double episode_return;
    uint32_t file;
    uint32_t texts[TEXTS]; /* where each begins; 0: unknown */
    int8_t success, terminated, truncated;
    uint8_t flags;
};

uint32_t hub_columns_run(enum hub_episode_column column)
{
    return column == HUB_COLUMN_ROWS ? ROWS_RUN : KEYS_RUN;
}

void hub_columns_name(enum hub_episode_column column, uint32_t episode, char name[HUB_COLUMN_NAME])
{
    snprintf(name, HUB_COLUMN_NAME, "%u.%u", (unsigned)column, episode / hub_columns_run(column));
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
    *run = (struct hub_column_run){.cells = HUB_BUF_INIT(KEYS_RUN * sizeof(struct episode_row) + max_texts),
                                   .kinds = HUB_BUF_INIT(KEYS_RUN),
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
                                 enum hub_episode_column column, uint32_t first, struct hub_error *err)
{
    char name[HUB_COLUMN_NAME];
    HUB_TRY(hub_column_run_end(run, err));
    hub_columns_name(column, first, name);
    return hub_blob_write(db, part, HUB_BLOB_EPISODES, name, hub_buf_view(&run->cells), err);
}

/* Where the text begins, anew or at one of the `known` places. */
static enum hub_status add_text(struct hub_buf *texts, const char *text, const uint32_t *known,
                                unsigned count, uint32_t *out, struct hub_error *err)
{
    for (unsigned i = 0; i < count; i++)
        if (known[i] && strcmp(texts->data + known[i], text) == 0) {
            *out = known[i];
            return HUB_OK;
        }
    *out = (uint32_t)texts->size;
    return hub_buf_add(texts, text, strlen(text) + 1, err);
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
            HUB_TRY(add_text(&run->texts, all[i], &before, 1, &row->texts[i], err));
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
    return write_run(&run, db, part, HUB_COLUMN_ROWS, first, err);
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

static bool text_of(const char *text, struct hub_value *out)
{
    if (text)
        *out = hub_value_text(hub_view_of(text));
    return text;
}

/* An episode of several tasks has the first as its own, and all in its attributes. */
static bool task_of(const struct hub_found_episode *e, struct hub_value *out)
{
    if (!text_of(e->task, out))
        return false;
    out->several = e->attributes && strstr(e->attributes, "\"tasks\"");
    return true;
}

static bool truth_of(int8_t truth, struct hub_value *out)
{
    *out = hub_value_uint(truth > 0);
    return truth >= 0;
}

/* False: the episode has none. */
static bool key_of(const struct hub_found_episode *e, enum hub_episode_column column, struct hub_value *out)
{
    switch (column) {
    case HUB_COLUMN_RETURN:
        *out = hub_value_real(e->episode_return);
        out->computed = e->return_computed;
        return e->has_return && e->episode_return == e->episode_return;
    case HUB_COLUMN_SEED:
        if (e->seed)
            *out = value_of_seed(e->seed);
        return e->seed;
    case HUB_COLUMN_TASK:
        return task_of(e, out);
    case HUB_COLUMN_SPLITS:
        return text_of(e->splits, out);
    case HUB_COLUMN_SUCCESS:
        return truth_of(e->success, out);
    case HUB_COLUMN_TERMINATED:
        return truth_of(e->terminated, out);
    case HUB_COLUMN_TRUNCATED:
        return truth_of(e->truncated, out);
    case HUB_COLUMN_ROWS:
    case HUB_COLUMN_COUNT:
        break;
    }
    return false;
}

enum hub_status hub_column_run_add(struct hub_column_run *run, const struct hub_value *key,
                                   struct hub_error *err)
{
    const char kind =
        key ? (char)((1 + key->kind) | key->computed * KEY_COMPUTED | key->several * KEY_SEVERAL) : 0;
    uint64_t bits = 0;
    if (key && key->kind == HUB_VALUE_TEXT) {
        const size_t before = run->texts.size;
        uint32_t at;
        HUB_TRY(add_text(&run->texts, key->text.data, run->recent, HUB_COUNT(run->recent), &at, err));
        if (at == before)
            run->recent[run->next++ % HUB_COUNT(run->recent)] = at;
        bits = at;
    } else if (key) {
        memcpy(&bits, &key->number, sizeof bits); /* or of `large`, or of `real` */
    }
    run->count++;
    HUB_TRY(hub_buf_add(&run->cells, &bits, sizeof bits, err));
    return hub_buf_add(&run->kinds, &kind, 1, err);
}

static enum hub_status write_keys(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                  enum hub_episode_column column, uint32_t first, uint32_t count,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_column_run_dispose) struct hub_column_run run = {0};
    HUB_TRY(hub_column_run_begin(&run, MAX_TEXT_BYTES, err));
    for (uint32_t i = 0; i < count; i++) {
        struct hub_value key;
        const bool has = key_of(&found->episodes[first + i], column, &key);
        HUB_TRY(hub_column_run_add(&run, has ? &key : NULL, err));
    }
    return write_run(&run, db, part, column, first, err);
}

enum hub_status hub_columns_write(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                  struct hub_error *err)
{
    for (enum hub_episode_column column = HUB_COLUMN_ROWS; column < HUB_COLUMN_COUNT; column++) {
        const uint32_t run = hub_columns_run(column);
        for (uint32_t first = 0; first < found->episode_count; first += run) {
            const uint32_t count = HUB_MIN(found->episode_count - first, run);
            HUB_TRY(column == HUB_COLUMN_ROWS ? write_rows(db, part, found, first, count, err)
                                              : write_keys(db, part, found, column, first, count, err));
        }
    }
    return HUB_OK;
}

/* ---- reading ---- */

bool hub_columns_open(struct hub_view blob, enum hub_episode_column column, struct hub_columns *out)
{
    const size_t cell = column == HUB_COLUMN_ROWS ? sizeof(struct episode_row) : sizeof(int64_t) + 1;
    uint32_t head[2];
    if (blob.size < sizeof head)
        return false;
    memcpy(head, blob.data, sizeof head);
    if (blob.size != sizeof head + head[0] * cell + head[1] || blob.data[blob.size - 1])
        return false;
    *out = (struct hub_columns){head[0], blob.data + sizeof head, blob.data + sizeof head + head[0] * cell};
    return true;
}

bool hub_columns_key(const struct hub_columns *keys, uint32_t at, struct hub_value *out)
{
    uint64_t bits;
    memcpy(&bits, keys->cells + at * sizeof bits, sizeof bits); /* perhaps not aligned */
    const unsigned char kind = (unsigned char)keys->cells[keys->count * sizeof bits + at];
    if (!kind)
        return false;
    *out = (struct hub_value){
        .kind = (kind & KEY_KIND) - 1U, .computed = kind & KEY_COMPUTED, .several = kind & KEY_SEVERAL};
    if (out->kind == HUB_VALUE_TEXT)
        out->text = hub_view_of(keys->texts + bits);
    else
        memcpy(&out->number, &bits, sizeof bits); /* or `large`, or `real` */
    return true;
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
