/* What pushed datasets hold, and may: see quotas.h. */
#include "storage/truth/quotas.h"

#include "storage/text/number.h"
#include "storage/truth/quota_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_LOOKED_AT = 1000000 };

void hub_truth_set_quotas(struct hub_truth *truth, const struct hub_quotas *quotas)
{
    truth->quotas = quotas;
}

/* ---- what is used ---- */

/* What takes the place of a dataset counts beyond that alone: files that stay are shared. The prefix ends
 * with '/', and '0' follows '/': what is below it lies between the two. */
static enum hub_status read_used(struct hub_db *db, const char *prefix, uint64_t *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(
        db,
        "SELECT (SELECT coalesce(sum(bytes), 0) FROM holdings WHERE NOT gone AND dataset >= ?1"
        " AND (?1 = '' OR dataset < rtrim(?1, '/') || '0'))"
        " + (SELECT coalesce(sum(max(0, max(stated, declared) - coalesce((SELECT bytes FROM holdings AS h"
        " WHERE base <> '' AND NOT h.gone AND h.dataset = drafts.dataset), 0))), 0)"
        " FROM drafts WHERE state IN ('open', 'committing', 'publishing')"
        " AND dataset >= ?1 AND (?1 = '' OR dataset < rtrim(?1, '/') || '0'))",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, prefix);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    *out = row ? (uint64_t)hub_stmt_int(stmt, 0) : 0;
    return HUB_OK;
}

enum hub_status hub_quotas_each(struct hub_truth *truth, hub_quota_each each, void *user,
                                struct hub_error *err)
{
    struct hub_db *db;
    const uint32_t count = truth->quotas ? truth->quotas->count : 0;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t used;
        HUB_TRY(read_used(db, truth->quotas->items[i].prefix, &used, err));
        HUB_TRY(each(user, &truth->quotas->items[i], used, err));
    }
    return HUB_OK;
}

/* ---- what may be used ---- */

static enum hub_status find_dataset(struct hub_db *db, const char *draft, char **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT dataset FROM drafts WHERE id = ?1", &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return hub_dup(out, row ? hub_stmt_text(stmt, 0) : "", err);
}

static enum hub_status refuse(const char *dataset, const struct hub_quota *quota, uint64_t used,
                              struct hub_error *err)
{
    char limit[HUB_SIZE_CHARS], needed[HUB_SIZE_CHARS];
    hub_number_size(quota->bytes, limit);
    hub_number_size(used, needed);
    return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_QUOTA_EXCEEDED,
                       "'%.200s' does not fit: the datasets below '%.200s' may hold %s (%llu bytes), and "
                       "with this they would hold %s (%llu bytes), open drafts included: drop drafts or "
                       "datasets there, or ask for a larger --quota",
                       dataset, quota->prefix, limit, (unsigned long long)quota->bytes, needed,
                       (unsigned long long)used);
}

enum hub_status hub_quotas_check_move(const struct hub_truth *held, const char *from, const char *to,
                                      struct hub_error *err)
{
    const uint32_t count = held->quotas ? held->quotas->count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct hub_quota *quota = &held->quotas->items[i];
        uint64_t used;
        if (!hub_view_starts(hub_view_of(to), quota->prefix) ||
            (*from && hub_view_starts(hub_view_of(from), quota->prefix)))
            continue;
        HUB_TRY(read_used(held->db, quota->prefix, &used, err));
        if (used > quota->bytes)
            return refuse(to, quota, used, err);
    }
    return HUB_OK;
}

enum hub_status hub_quotas_check(const struct hub_truth *held, const char *dataset, struct hub_error *err)
{
    return hub_quotas_check_move(held, "", dataset, err);
}

enum hub_status hub_quotas_check_draft(const struct hub_truth *held, const char *draft, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *dataset = NULL;
    if (!held->quotas || !held->quotas->count)
        return HUB_OK;
    HUB_TRY(find_dataset(held->db, draft, &dataset, err));
    return hub_quotas_check(held, dataset, err);
}

enum hub_status hub_holding_put(struct hub_db *db, const char *draft, struct hub_error *err)
{
    return hub_db_run_texts(db,
                            "INSERT OR REPLACE INTO holdings (dataset, root, path, bytes)"
                            " SELECT dataset, root, path, stated FROM drafts WHERE id = ?1",
                            draft, NULL, err);
}

enum hub_status hub_holding_set(const struct hub_truth *held, const char *dataset, uint32_t root,
                                const char *path, uint64_t bytes, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char number[16];
    HUB_TRY(hub_db_prepare(held->db,
                           "INSERT OR REPLACE INTO holdings (dataset, root, path, bytes)"
                           " VALUES (?1, ?2, ?3, ?4)",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, dataset);
    hub_stmt_bind_text(stmt, 2, hub_roots_key(held->roots, root, number));
    hub_stmt_bind_text(stmt, 3, path);
    hub_stmt_bind_int(stmt, 4, (int64_t)bytes);
    return hub_stmt_run(stmt, err);
}

/* ---- what is there ---- */

struct holding {
    char *dataset;
    bool gone;
};
struct holdings {
    struct holding *items;
    uint32_t count, capacity;
};

static void holdings_dispose(struct holdings *all)
{
    for (uint32_t i = 0; i < all->count; i++)
        free(all->items[i].dataset);
    free(all->items);
}

/* What cannot be looked at counts as it did. */
static bool is_gone(const struct hub_truth *truth, struct hub_stmt *row, bool before)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    const uint32_t root = hub_roots_number(truth->roots, hub_stmt_text(row, 1));
    if (!truth->roots || root >= truth->roots->count)
        return before;
    const enum hub_status st = hub_roots_open(truth->roots, root, hub_stmt_text(row, 2), O_PATH, &fd, NULL);
    return st == HUB_NOT_FOUND || (st && before);
}

/* Those that are not as hub.db has them. */
static enum hub_status find_changed(struct hub_truth *truth, struct holdings *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT dataset, root, path, gone FROM holdings LIMIT ?1", &stmt, err));
    hub_stmt_bind_int(stmt, 1, MOST_LOOKED_AT);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const bool before = hub_stmt_int(stmt, 3), gone = is_gone(truth, stmt, before);
        if (gone == before)
            continue;
        HUB_TRY(hub_grow(&out->items, out->count, &out->capacity, sizeof *out->items, err));
        out->items[out->count] = (struct holding){.gone = gone};
        HUB_TRY(hub_dup(&out->items[out->count++].dataset, hub_stmt_text(stmt, 0), err));
    }
}

enum hub_status hub_holdings_look(struct hub_truth *truth, bool *changed, struct hub_error *err)
{
    HUB_CLEANUP(holdings_dispose) struct holdings found = {0};
    *changed = false;
    if (!truth->quotas || !truth->quotas->count)
        return HUB_OK;
    HUB_TRY(find_changed(truth, &found, err));
    if (!found.count)
        return HUB_OK;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    for (uint32_t i = 0; i < found.count; i++) {
        struct hub_stmt *stmt;
        HUB_TRY(hub_db_prepare(held->db, "UPDATE holdings SET gone = ?2 WHERE dataset = ?1", &stmt, err));
        hub_stmt_bind_text(stmt, 1, found.items[i].dataset);
        hub_stmt_bind_int(stmt, 2, found.items[i].gone);
        HUB_TRY(hub_stmt_run(stmt, err));
    }
    *changed = true;
    return hub_db_commit(held->db, err);
}
