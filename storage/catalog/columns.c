/* Columns of episodes: see columns.h. Rows have one size, so that each is found without reading the others;
 * a text that is the same as in the row before is kept once. */
#include "storage/catalog/columns.h"

#include <stdio.h>

#define MAX_TEXT_BYTES (900 * MIB)

enum { TEXTS = 6, FLAG_RETURN = 1, FLAG_COMPUTED = 2 };

struct row {
    int64_t number;
    uint64_t steps;
    double episode_return;
    uint32_t file;
    uint32_t texts[TEXTS]; /* where each begins; 0: unknown */
    int8_t success, terminated, truncated;
    uint8_t flags;
};

void hub_columns_name(uint32_t episode, char name[16])
{
    snprintf(name, 16, "%u", episode / HUB_COLUMNS_ROWS);
}

static enum hub_status add_text(struct hub_buf *texts, const char *text, uint32_t before, uint32_t *out,
                                struct hub_error *err)
{
    *out = 0;
    if (!text)
        return HUB_OK;
    *out = before;
    if (before && strcmp(texts->data + before, text) == 0)
        return HUB_OK;
    *out = (uint32_t)texts->size;
    return hub_buf_add(texts, text, strlen(text) + 1, err);
}

static enum hub_status add_row(const struct hub_found_episode *e, struct row *row, struct hub_buf *rows,
                               struct hub_buf *texts, struct hub_error *err)
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
    for (unsigned i = 0; i < TEXTS; i++)
        HUB_TRY(add_text(texts, all[i], row->texts[i], &row->texts[i], err));
    return hub_buf_add(rows, row, sizeof *row, err);
}

static enum hub_status write_run(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                 uint32_t first, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rows = HUB_BUF_INIT(2 * MAX_TEXT_BYTES);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf texts = HUB_BUF_INIT(MAX_TEXT_BYTES);
    const uint32_t count = HUB_MIN(found->episode_count - first, (uint32_t)HUB_COLUMNS_ROWS);
    uint32_t head[2] = {count, 0};
    struct row row;
    char name[16];
    memset(&row, 0, sizeof row); /* its padding goes into the blob too */
    HUB_TRY(hub_buf_add(&rows, head, sizeof head, err));
    HUB_TRY(hub_buf_add(&texts, "", 1, err)); /* no text begins at 0 */
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(add_row(&found->episodes[first + i], &row, &rows, &texts, err));
    head[1] = (uint32_t)texts.size;
    memcpy(rows.data, head, sizeof head);
    HUB_TRY(hub_buf_add_view(&rows, hub_buf_view(&texts), err));
    hub_columns_name(first, name);
    return hub_blob_write(db, part, HUB_BLOB_EPISODES, name, hub_buf_view(&rows), err);
}

enum hub_status hub_columns_write(struct hub_db *db, int64_t part, const struct hub_findings *found,
                                  struct hub_error *err)
{
    for (uint32_t first = 0; first < found->episode_count; first += HUB_COLUMNS_ROWS)
        HUB_TRY(write_run(db, part, found, first, err));
    return HUB_OK;
}

bool hub_columns_open(struct hub_view blob, struct hub_columns *out)
{
    uint32_t head[2];
    if (blob.size < sizeof head)
        return false;
    memcpy(head, blob.data, sizeof head);
    if (blob.size != sizeof head + head[0] * sizeof(struct row) + head[1] || blob.data[blob.size - 1])
        return false;
    *out = (struct hub_columns){head[0], blob.data + sizeof head,
                                blob.data + sizeof head + head[0] * sizeof(struct row)};
    return true;
}

void hub_columns_get(const struct hub_columns *columns, uint32_t number, struct hub_found_episode *out)
{
    struct row row;
    const char *texts[TEXTS];
    memcpy(&row, columns->rows + number * sizeof row, sizeof row); /* perhaps not aligned */
    for (unsigned i = 0; i < TEXTS; i++)
        texts[i] = row.texts[i] ? columns->texts + row.texts[i] : NULL;
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
