/* Roots as they were seen last: see seen.h. */
#include "storage/truth/seen.h"

#include "storage/truth/hubdb.h"

enum hub_status hub_seen_get(struct hub_truth *truth, uint32_t root, struct hub_root_seen *out,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    char number[16];
    struct hub_db *db;
    *out = (struct hub_root_seen){0};
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT datasets, device, marked FROM roots WHERE root = ?", &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(truth->roots, root, number));
    HUB_TRY(hub_stmt_step(stmt, &out->known, err));
    if (out->known) {
        out->datasets = (uint64_t)hub_stmt_int(stmt, 0);
        out->device = hub_stmt_int(stmt, 1);
        out->marked = hub_stmt_int(stmt, 2) != 0;
    }
    return HUB_OK;
}

enum hub_status hub_seen_put(struct hub_truth *truth, uint32_t root, const struct hub_root_seen *seen,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(held->db, "INSERT OR REPLACE INTO roots VALUES (?, ?, ?, ?)", &stmt, err));
    hub_stmt_bind_text(stmt, 1, hub_roots_key(truth->roots, root, number));
    hub_stmt_bind_int(stmt, 2, (int64_t)seen->datasets);
    hub_stmt_bind_int(stmt, 3, seen->device);
    hub_stmt_bind_int(stmt, 4, seen->marked);
    return hub_stmt_run(stmt, err);
}
