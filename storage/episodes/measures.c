/* Measures of parts: see measures.h. */
#include "storage/episodes/measures.h"

#include "storage/catalog/publish.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- how far ---- */

static int by_row(const void *a, const void *b)
{
    const struct hub_dataset_part *const *x = a, *const *y = b;
    return ((*x)->row > (*y)->row) - ((*x)->row < (*y)->row);
}

static const struct hub_dataset_part *part_of(const struct hub_dataset_part **sorted, uint32_t count,
                                              int64_t row)
{
    const struct hub_dataset_part key = {.row = row}, *at = &key;
    const struct hub_dataset_part **found = bsearch(&at, sorted, count, sizeof *sorted, by_row);
    return found ? *found : NULL;
}

static struct hub_lost take_lost(struct hub_stmt *stmt, int first)
{
    return (struct hub_lost){(uint32_t)hub_stmt_int(stmt, first), (uint64_t)hub_stmt_int(stmt, first + 1)};
}

enum hub_status hub_measures_states(const struct hub_state *state, struct hub_measured_state **out,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_CLEANUP(hub_freep) struct hub_measured_state *states = NULL;
    HUB_CLEANUP(hub_freep) const struct hub_dataset_part **sorted = NULL;
    const struct hub_dataset *dataset = state->dataset;
    bool row;
    HUB_TRY(hub_new(&states, (size_t)dataset->part_count + 1, sizeof *states, err));
    HUB_TRY(hub_new(&sorted, (size_t)dataset->part_count + 1, sizeof *sorted, err));
    for (uint32_t i = 0; i < dataset->part_count; i++)
        sorted[i] = &dataset->parts[i];
    qsort(sorted, dataset->part_count, sizeof *sorted, by_row);
    HUB_TRY(hub_db_query(state->db,
                         "SELECT row, how_far, measured, ranges, reward_episodes_lost, reward_steps_lost,"
                         " episodes_lost, steps_lost FROM parts WHERE dataset = ?",
                         dataset->summary->row, &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            break;
        const struct hub_dataset_part *part = part_of(sorted, dataset->part_count, hub_stmt_int(stmt, 0));
        if (part)
            states[part - dataset->parts] =
                (struct hub_measured_state){.how_far = (enum hub_measured)hub_stmt_int(stmt, 1),
                                            .stamp = (uint64_t)hub_stmt_int(stmt, 2),
                                            .ranges = (uint64_t)hub_stmt_int(stmt, 3),
                                            .rewards_lost = take_lost(stmt, 4),
                                            .lost = take_lost(stmt, 6),
                                            .failed = hub_measures_failed(state->catalog, part->row)};
    }
    *out = states;
    states = NULL;
    return HUB_OK;
}

enum hub_status hub_measures_due(struct hub_catalog *catalog, enum hub_measured how_far, int64_t **rows,
                                 uint32_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf found = HUB_BUF_INIT(64 * MIB);
    struct hub_db *db;
    bool row;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    HUB_TRY(hub_db_query(
        db, "SELECT DISTINCT dataset FROM parts WHERE how_far < ? AND broken IS NULL ORDER BY dataset",
        how_far, &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            break;
        const int64_t dataset = hub_stmt_int(stmt, 0);
        HUB_TRY(hub_buf_add(&found, &dataset, sizeof dataset, err));
    }
    *count = (uint32_t)(found.size / sizeof **rows);
    *rows = (int64_t *)(void *)hub_buf_take(&found, NULL);
    return HUB_OK;
}

enum hub_status hub_measures_count(struct hub_catalog *catalog, enum hub_measured how_far, uint64_t *parts,
                                   uint64_t *done, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool found;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    HUB_TRY(hub_db_query(db,
                         "SELECT count(*), ifnull(sum(how_far >= ?1), 0) FROM parts p WHERE broken IS NULL"
                         " AND (SELECT serial FROM datasets d WHERE d.row = p.dataset) > 0",
                         how_far, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    *parts = found ? (uint64_t)hub_stmt_int(stmt, 0) : 0;
    *done = found ? (uint64_t)hub_stmt_int(stmt, 1) : 0;
    return HUB_OK;
}

uint64_t hub_measures_generation(const struct hub_catalog *catalog)
{
    return atomic_load(&catalog->measures_stored);
}

/* ---- writing ---- */

/* Later than the one before, whatever the clock says. */
static enum hub_status next_stamp(struct hub_db *db, int64_t part, int64_t *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(hub_db_query(db, "SELECT measured FROM parts WHERE row = ?", part, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return hub_fail(err, HUB_NOT_FOUND, "the part was replaced while it was measured");
    *out = HUB_MAX(hub_time_now_ns() / 1000, hub_stmt_int(stmt, 0) + 1);
    return HUB_OK;
}

static enum hub_status write_state(struct hub_db *db, int64_t part, const struct hub_measured_state *state,
                                   int64_t stamp, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(db,
                         "UPDATE parts SET blobs = (SELECT count(*) FROM blobs WHERE owner = ?1),"
                         " how_far = ?2, measured = ?3, ranges = ?4, reward_episodes_lost = ?5,"
                         " reward_steps_lost = ?6, episodes_lost = ?7, steps_lost = ?8 WHERE row = ?1",
                         part, &stmt, err));
    hub_stmt_bind_int(stmt, 2, state->how_far);
    hub_stmt_bind_int(stmt, 3, stamp);
    hub_stmt_bind_int(stmt, 4, (int64_t)state->ranges);
    hub_stmt_bind_int(stmt, 5, state->rewards_lost.episodes);
    hub_stmt_bind_int(stmt, 6, (int64_t)state->rewards_lost.steps);
    hub_stmt_bind_int(stmt, 7, state->lost.episodes);
    hub_stmt_bind_int(stmt, 8, (int64_t)state->lost.steps);
    return hub_stmt_run(stmt, err);
}

/* What is written of a part. */
struct part_measures {
    int64_t part;
    const struct hub_measured_state *state;
    const struct hub_measure_blob *blobs;
    uint32_t count;
    const struct hub_findings *found; /* or NULL */
    bool changed;                     /* the dataset has other problems than before */
};

static enum hub_status write_blobs(struct hub_catalog *catalog, struct part_measures *w,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *db = catalog->index;
    int64_t stamp = 0;
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(next_stamp(db, w->part, &stamp, err));
    for (uint32_t i = 0; i < w->count; i++)
        HUB_TRY(hub_blob_write(db, w->part, HUB_BLOB_MEASURES, w->blobs[i].name, w->blobs[i].data, err));
    if (w->found)
        HUB_TRY(hub_problems_write_measured(catalog, w->part, w->found, &w->changed, err));
    HUB_TRY(write_state(db, w->part, w->state, stamp, err));
    return hub_db_commit(db, err);
}

static enum hub_status show_dataset_of(struct hub_catalog *catalog, int64_t part, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_summary_box *summary;
    bool found;
    HUB_TRY(hub_db_query(catalog->index, "SELECT dataset FROM parts WHERE row = ?", part, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return HUB_OK;
    HUB_TRY(hub_summary_load(catalog, catalog->index, hub_stmt_int(stmt, 0), &summary, err));
    const enum hub_status st = hub_summaries_put(catalog, summary, err);
    if (st)
        hub_summary_unref(&summary->summary);
    return st ? st : hub_summaries_show(catalog, true, err);
}

enum hub_status hub_measures_write(struct hub_catalog *catalog, int64_t part,
                                   const struct hub_measured_state *state,
                                   const struct hub_measure_blob *blobs, uint32_t count,
                                   const struct hub_findings *found, struct hub_error *err)
{
    struct part_measures w = {part, state, blobs, count, found, false};
    pthread_mutex_lock(&catalog->write_lock);
    enum hub_status st = write_blobs(catalog, &w, err);
    if (!st && w.changed)
        st = show_dataset_of(catalog, part, err);
    pthread_mutex_unlock(&catalog->write_lock);
    if (!st)
        atomic_fetch_add(&catalog->measures_stored, 1);
    return st;
}

/* ---- reading ---- */

enum hub_status hub_measures_read(const struct hub_state *state, uint32_t part, const char *name,
                                  struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const struct hub_blob_id id = {state->catalog, state->db, state->dataset->parts[part].row,
                                   HUB_BLOB_MEASURES, name};
    struct hub_view data;
    HUB_TRY(hub_blob_read(&id, &stmt, &data, err));
    return hub_buf_add_view(out, data, err);
}

enum hub_status hub_measures_stamp(const struct hub_state *state, uint32_t part, uint64_t *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(hub_db_query(state->db, "SELECT measured FROM parts WHERE row = ?",
                         state->dataset->parts[part].row, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    *out = found ? (uint64_t)hub_stmt_int(stmt, 0) : 0;
    return HUB_OK;
}
