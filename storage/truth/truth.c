/* Opening and closing hub.db: see truth.h. */
#include "storage/sqlite/open_db.h"
#include "storage/truth/hubdb.h"

#include <stdio.h>
#include <stdlib.h>

#define DIGEST_BYTES (2 * MIB) /* of some 8,000 files */

/* What to do about a damaged file, besides why. */
static enum hub_status explain(const char *path, enum hub_status st, struct hub_error *err)
{
    const struct hub_error why = err ? *err : (struct hub_error){0};
    if (st != HUB_CORRUPT)
        return hub_db_explain(path, st, err);
    return hub_fail(err, st,
                    "%s is damaged (%.200s). It holds the digests of files and other data that only this hub "
                    "has: restore it from a backup, or move it away to start with an empty one",
                    path, why.detail);
}

int hub_truth_newest(void)
{
    int newest = 0;
    while (hub_migrations[newest].sql)
        newest++;
    return newest;
}

/* In one transaction: each that is synced takes 1 ms or more, and a new state directory runs all of them. */
static enum hub_status run_migrations(struct hub_db *db, int have, int newest, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *open = db;
    HUB_TRY(hub_db_begin(open, err));
    for (; have < newest; have++)
        HUB_TRY(hub_db_exec(open, hub_migrations[have].sql, err));
    HUB_TRY(hub_db_set_user_version(open, newest, err));
    return hub_db_commit(open, err);
}

enum hub_status hub_truth_migrate(struct hub_db *db, const char *path, bool check, struct hub_error *err)
{
    const int newest = hub_truth_newest();
    int have = 0;
    HUB_TRY(hub_db_user_version(db, &have, err));
    if (check)
        HUB_TRY(hub_db_quick_check(db, err));
    if (have < 0 || have > newest)
        return hub_fail(err, HUB_UNSUPPORTED,
                        "%s was written by a newer minari-hub (version %d; this one supports %d): start the "
                        "newer one, or give another state directory with --state DIR",
                        path, have, newest);
    return have < newest ? run_migrations(db, have, newest, err) : HUB_OK;
}

static enum hub_status open_file(struct hub_truth *truth, const char *path, bool check, struct hub_error *err)
{
    enum hub_status st = hub_db_open(path, HUB_DB_TRUTH, &truth->db, err);
    if (!st)
        st = hub_truth_migrate(truth->db, path, check, err);
    return st ? explain(path, st, err) : HUB_OK;
}

static enum hub_status open_all(struct hub_truth *truth, const struct hub_truth_options *options,
                                struct hub_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/hub.db", options->state);
    HUB_TRY(open_file(truth, path, options->check, err));
    HUB_TRY(hub_db_readers_new(path, NULL, NULL, &truth->readers, err));
    HUB_TRY(hub_jobs_void(truth, err));
    /* a failure shows again where digests are looked up */
    (void)!hub_db_name_roots(truth->db, truth->roots, "UPDATE OR IGNORE digests SET root = ? WHERE root = ?",
                             NULL);
    HUB_TRY(hub_lru_new(DIGEST_BYTES, &truth->digests, err));
    hub_lru_enter(truth->digests, options->room, "digests");
    HUB_TRY(hub_aliases_load(truth, err));
    HUB_TRY(hub_repos_load(truth, err));
    return hub_damages_load(truth, err);
}

enum hub_status hub_truth_open(const struct hub_truth_options *options, struct hub_truth **out,
                               struct hub_error *err)
{
    struct hub_truth *truth = calloc(1, sizeof *truth);
    HUB_TRY(hub_allocated(truth, err));
    truth->roots = options->roots;
    pthread_mutex_init(&truth->lock, NULL);
    pthread_mutex_init(&truth->damage_lock, NULL);
    const enum hub_status st = open_all(truth, options, err);
    if (st)
        hub_truth_close(truth);
    else
        *out = truth;
    return st;
}

void hub_truth_close(struct hub_truth *truth)
{
    if (!truth)
        return;
    hub_db_readers_free(truth->readers);
    hub_db_close(truth->db);
    hub_lru_free(truth->digests);
    hub_damages_free(truth->damages);
    pthread_mutex_destroy(&truth->lock);
    pthread_mutex_destroy(&truth->damage_lock);
    free(truth);
}
