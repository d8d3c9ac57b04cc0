/* Jobs in hub.db: see jobs.h. SQLite has one process at a time, so at open the leases of all others are void;
 * nothing else here counts on that. */
#include "storage/truth/jobs.h"

#include "storage/truth/hubdb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define COLUMNS                                                                                              \
    " id, fence, attempt, kind, target, rule, payload, error, state, run_at, started, finished, done, "      \
    "total, attempts, result, public_id "
#define HELD " WHERE id = ?1 AND fence = ?2 AND state = 'running' RETURNING 1"

const char *const hub_job_states[] = {"waiting", "running", "done", "failed", NULL};

void hub_job_dispose(struct hub_job_row *job)
{
    free(job->kind);
    free(job->target);
    free(job->rule);
    free(job->payload);
    free(job->error);
    free(job->result);
    *job = (struct hub_job_row){0};
}

static enum hub_job_state state_of(const char *word)
{
    enum hub_job_state state = HUB_JOB_WAITING;
    while (hub_job_states[state] && strcmp(hub_job_states[state], word) != 0)
        state++;
    return state;
}

static enum hub_status read_job(struct hub_stmt *stmt, struct hub_job_row *out, struct hub_error *err)
{
    *out = (struct hub_job_row){.id = hub_stmt_int(stmt, 0),
                                .fence = hub_stmt_int(stmt, 1),
                                .attempt = hub_stmt_int(stmt, 2),
                                .state = state_of(hub_stmt_text(stmt, 8)),
                                .run_at_ms = hub_stmt_int(stmt, 9),
                                .started_ms = hub_stmt_int(stmt, 10),
                                .finished_ms = hub_stmt_int(stmt, 11),
                                .done = (uint64_t)hub_stmt_int(stmt, 12),
                                .total = (uint64_t)hub_stmt_int(stmt, 13),
                                .attempts = (unsigned)hub_stmt_int(stmt, 14)};
    char **const texts[] = {&out->kind, &out->target, &out->rule, &out->payload, &out->error};
    enum hub_status st = hub_dup(&out->result, hub_stmt_text(stmt, 15), err);
    for (int i = 0; i < (int)HUB_COUNT(texts) && !st; i++)
        st = hub_dup(texts[i], hub_stmt_text(stmt, 3 + i), err);
    snprintf(out->public_id, sizeof out->public_id, "%s", hub_stmt_text(stmt, 16));
    if (st)
        hub_job_dispose(out);
    return st;
}

static int64_t random_number(void)
{
    uint64_t n = 0;
    (void)!getrandom(&n, sizeof n, 0);
    return (int64_t)(n >> 1);
}

void hub_job_make_id(char out[HUB_JOB_ID + 1])
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    int64_t bits = random_number();
    for (unsigned i = 0; i < HUB_JOB_ID; i++, bits >>= 5)
        out[i] = digits[bits & 31];
    out[HUB_JOB_ID] = '\0';
}

enum hub_status hub_jobs_void(struct hub_truth *truth, struct hub_error *err)
{
    snprintf(truth->owner, sizeof truth->owner, "%016" PRIx64 "%016" PRIx64, (uint64_t)random_number(),
             (uint64_t)random_number());
    /* what a kill interrupted was no try */
    return hub_db_exec(truth->db,
                       "UPDATE jobs SET state = 'waiting', run_at = 0, attempts = max(attempts - 1, 0)"
                       " WHERE state = 'running'",
                       err);
}

/* ---- asking ---- */

static enum hub_status find_open(struct hub_db *db, const struct hub_job_draft *draft, int64_t *id,
                                 bool *running, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    *id = 0;
    HUB_TRY(hub_db_prepare(db,
                           "SELECT id, state = 'running' FROM jobs WHERE kind = ? AND target = ?"
                           " AND state IN ('waiting', 'running')",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft->kind);
    hub_stmt_bind_text(stmt, 2, draft->target);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (row) {
        *id = hub_stmt_int(stmt, 0);
        *running = hub_stmt_int(stmt, 1) != 0;
    }
    return HUB_OK;
}

static enum hub_status renew(struct hub_db *db, int64_t id, const struct hub_job_draft *draft,
                             struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(db,
                         "UPDATE jobs SET payload = ?2, rule = ?3, run_at = min(run_at, " HUB_DB_NOW
                         " + ?4), attempts = 0 WHERE id = ?1",
                         id, &stmt, err));
    hub_stmt_bind_text(stmt, 2, draft->payload);
    hub_stmt_bind_text(stmt, 3, draft->rule);
    hub_stmt_bind_int(stmt, 4, (int64_t)draft->after_ms);
    return hub_stmt_run(stmt, err);
}

static enum hub_status add(struct hub_db *db, const struct hub_job_draft *draft, int64_t *id,
                           struct hub_error *err)
{
    struct hub_stmt *stmt;
    char public_id[HUB_JOB_ID + 1];
    bool running = false;
    HUB_TRY(find_open(db, draft, id, &running, err));
    if (*id)
        return running ? hub_fail(err, HUB_EXISTS, "a job for '%.200s' is running", draft->target)
                       : renew(db, *id, draft, err);
    HUB_TRY(
        hub_db_prepare(db,
                       "INSERT INTO jobs (kind, target, rule, payload, state, priority, run_at, public_id)"
                       " VALUES (?, ?, ?, ?, 'waiting', ?, " HUB_DB_NOW " + ?, ?)",
                       &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft->kind);
    hub_stmt_bind_text(stmt, 2, draft->target);
    hub_stmt_bind_text(stmt, 3, draft->rule);
    hub_stmt_bind_text(stmt, 4, draft->payload);
    hub_stmt_bind_int(stmt, 5, draft->priority);
    hub_stmt_bind_int(stmt, 6, (int64_t)draft->after_ms);
    hub_job_make_id(public_id);
    hub_stmt_bind_text(stmt, 7, public_id);
    HUB_TRY(hub_stmt_run(stmt, err));
    *id = hub_db_last_row(db);
    return HUB_OK;
}

enum hub_status hub_job_add(struct hub_truth *truth, const struct hub_job_draft *draft, int64_t *id,
                            struct hub_error *err)
{
    int64_t own = 0;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_db *db = held->db;
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(add(db, draft, id ? id : &own, err));
    return hub_db_commit(db, err);
}

enum hub_status hub_jobs_add(struct hub_truth *truth, const struct hub_job_draft *drafts, uint32_t count,
                             uint32_t *added, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    uint32_t new = 0;
    HUB_TRY(hub_db_begin(held->db, err));
    for (uint32_t i = 0; i < count; i++) {
        int64_t id = 0;
        const enum hub_status st = add(held->db, &drafts[i], &id, err);
        if (st && st != HUB_EXISTS)
            return st;
        new += !st;
    }
    HUB_TRY(hub_db_commit(held->db, err));
    *added += new;
    return HUB_OK;
}

bool hub_job_is_open(struct hub_truth *truth, const char *kind, const char *target)
{
    struct hub_db *db;
    int64_t id = 0;
    bool running;
    return !hub_truth_reader(truth, &db, NULL) &&
           !find_open(db, &(struct hub_job_draft){.kind = kind, .target = target}, &id, &running, NULL) && id;
}

/* Its owner is nobody here, so that whoever takes jobs gets it when its lease has run out. */
static enum hub_status begin(struct hub_db *db, const struct hub_job_draft *draft, unsigned ttl_s,
                             struct hub_lease *out, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char public_id[HUB_JOB_ID + 1];
    bool running = false;
    HUB_TRY(find_open(db, draft, &out->job, &running, err));
    if (out->job)
        return hub_fail(err, HUB_EXISTS, "a job for '%.200s' is running", draft->target);
    HUB_TRY(hub_db_prepare(
        db,
        "INSERT INTO jobs (kind, target, rule, payload, state, priority, run_at, owner, fence, "
        "attempt, attempts, lease_until, started, public_id) VALUES (?, ?, '', '{}', 'running', "
        "0, " HUB_DB_NOW ", 'outside', 1, ?, 1, " HUB_DB_NOW " + ?, " HUB_DB_NOW ", ?)",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, draft->kind);
    hub_stmt_bind_text(stmt, 2, draft->target);
    hub_stmt_bind_int(stmt, 3, random_number());
    hub_stmt_bind_int(stmt, 4, ttl_s * INT64_C(1000));
    hub_job_make_id(public_id);
    hub_stmt_bind_text(stmt, 5, public_id);
    HUB_TRY(hub_stmt_run(stmt, err));
    *out = (struct hub_lease){hub_db_last_row(db), 1};
    return HUB_OK;
}

enum hub_status hub_job_begin(struct hub_truth *truth, const struct hub_job_draft *draft, unsigned ttl_s,
                              struct hub_lease *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(begin(held->db, draft, ttl_s, out, err));
    return hub_db_commit(held->db, err);
}

/* ---- taking, keeping, ending ---- */

/* Conditions on jobs j: it is due, and another job of its rule runs. Parameter 1 is who takes jobs, 2 is
 * HUB_JOB_MAX_WAIT_MS, 3 is `kinds` of the lane. The index of open jobs is read, which lacks those that ended
 * within a week. */
#define OF_LANE                                                                                              \
    "state IN ('waiting', 'running') AND (?3 IS NULL OR instr(' ' || ?3 || ' ', ' ' || kind || ' ') > 0)"
#define WITH_BUSY                                                                                            \
    "WITH busy AS MATERIALIZED (SELECT rule FROM jobs WHERE state = 'running' AND owner = ?1 AND " OF_LANE   \
    ") "
#define IS_DUE                                                                                               \
    "((state = 'waiting' AND (run_at <= " HUB_DB_NOW " OR run_at > " HUB_DB_NOW " + ?2))"                    \
    " OR (state = 'running' AND owner <> ?1 AND lease_until <= " HUB_DB_NOW ")) AND " OF_LANE                \
    " AND rule NOT IN (SELECT name FROM rules WHERE paused)"
#define RULE_IS_BUSY "(rule IN (SELECT rule FROM busy))"

static void bind_lane(struct hub_stmt *stmt, const struct hub_truth *truth, const struct hub_job_lane *lane)
{
    hub_stmt_bind_text(stmt, 1, truth->owner);
    hub_stmt_bind_int(stmt, 2, HUB_JOB_MAX_WAIT_MS);
    hub_stmt_bind_text(stmt, 3, lane->kinds);
}

enum hub_status hub_job_take(struct hub_truth *truth, const struct hub_job_lane *lane, unsigned ttl_s,
                             struct hub_job_row *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    struct hub_db *db = held->db;
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_begin(db, err));
    HUB_TRY(hub_db_prepare(
        db,
        WITH_BUSY "UPDATE jobs SET state = 'running', owner = ?1, fence = fence + 1, attempt = ?4, "
                  "attempts = attempts + 1,"
                  " lease_until = " HUB_DB_NOW " + ?5, started = " HUB_DB_NOW ", done = 0 WHERE id = ("
                  "SELECT id FROM jobs j WHERE " IS_DUE " AND (?6 = 0 OR NOT " RULE_IS_BUSY
                  " OR (SELECT count(*) FROM busy) + 1 < ?6)"
                  " ORDER BY " RULE_IS_BUSY ", priority DESC, run_at, id LIMIT 1) RETURNING" COLUMNS,
        &stmt, err));
    bind_lane(stmt, truth, lane);
    hub_stmt_bind_int(stmt, 4, random_number());
    hub_stmt_bind_int(stmt, 5, ttl_s * INT64_C(1000));
    hub_stmt_bind_int(stmt, 6, lane->threads);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail(err, HUB_NOT_FOUND, "no job is due");
    HUB_TRY(read_job(stmt, out, err));
    hub_stmt_reset(stmt);
    const enum hub_status st = hub_db_commit(db, err);
    if (st)
        hub_job_dispose(out);
    return st;
}

bool hub_job_rule_waits(struct hub_truth *truth, const struct hub_job_lane *lane)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    if (hub_truth_reader(truth, &db, NULL) ||
        hub_db_prepare(db,
                       WITH_BUSY "SELECT 1 FROM jobs j WHERE " IS_DUE " AND NOT " RULE_IS_BUSY
                                 " AND (SELECT count(*) FROM busy) >= ?4 LIMIT 1",
                       &stmt, NULL))
        return false;
    bind_lane(stmt, truth, lane);
    hub_stmt_bind_int(stmt, 4, lane->threads);
    return hub_stmt_step(stmt, &row, NULL) == HUB_OK && row;
}

static enum hub_status fenced(struct hub_error *err)
{
    return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FENCED, "the job or its rule was removed");
}

/* A statement about a held job, that returns a row if it is held. */
static enum hub_status run_held(struct hub_stmt *stmt, struct hub_error *err)
{
    bool row = false;
    enum hub_status st = hub_stmt_step(stmt, &row, err);
    const bool held = row;
    if (!st && row)
        st = hub_stmt_step(stmt, &row, err); /* to its end: without it nothing is written */
    hub_stmt_reset(stmt);
    return st ? st : held ? HUB_OK : fenced(err);
}

static enum hub_status about_held(struct hub_db *db, const char *sql, struct hub_lease lease,
                                  struct hub_stmt **out, struct hub_error *err)
{
    HUB_TRY(hub_db_query(db, sql, lease.job, out, err));
    hub_stmt_bind_int(*out, 2, lease.fence);
    return HUB_OK;
}

enum hub_status hub_lease_check(struct hub_db *db, struct hub_lease lease, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(about_held(db, "SELECT 1 FROM jobs WHERE id = ?1 AND fence = ?2 AND state = 'running'", lease,
                       &stmt, err));
    return run_held(stmt, err);
}

enum hub_status hub_job_keep(struct hub_truth *truth, struct hub_lease lease, unsigned ttl_s, uint64_t done,
                             uint64_t total, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    struct hub_db *db = held->db;
    struct hub_stmt *stmt;
    HUB_TRY(about_held(db, "UPDATE jobs SET lease_until = " HUB_DB_NOW " + ?3, done = ?4, total = ?5" HELD,
                       lease, &stmt, err));
    hub_stmt_bind_int(stmt, 3, ttl_s * INT64_C(1000));
    hub_stmt_bind_int(stmt, 4, (int64_t)done);
    hub_stmt_bind_int(stmt, 5, (int64_t)total);
    return run_held(stmt, err);
}

enum hub_status hub_job_end(struct hub_truth *truth, struct hub_lease lease, enum hub_job_state state,
                            uint64_t retry_ms, bool counted, const char *why, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    struct hub_db *db = held->db;
    const bool again = state == HUB_JOB_WAITING;
    struct hub_stmt *stmt;
    HUB_TRY(
        about_held(db,
                   "UPDATE jobs SET state = ?3, run_at = CASE WHEN ?3 = 'waiting' THEN " HUB_DB_NOW
                   " + ?4 ELSE run_at END, finished = CASE WHEN ?3 = 'waiting' THEN 0 ELSE max(" HUB_DB_NOW
                   ", coalesce((SELECT begun FROM rules WHERE name = rule), 0)) END, attempts = attempts - "
                   "?5, error = ?6" HELD,
                   lease, &stmt, err));
    hub_stmt_bind_text(stmt, 3, hub_job_states[state]);
    hub_stmt_bind_int(stmt, 4, (int64_t)HUB_MIN(retry_ms, (uint64_t)HUB_JOB_MAX_WAIT_MS));
    hub_stmt_bind_int(stmt, 5, again && !counted);
    hub_stmt_bind_text(stmt, 6, why ? why : "");
    return run_held(stmt, err);
}

enum hub_status hub_job_note(struct hub_truth *truth, struct hub_lease lease, const char *result,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    HUB_TRY(about_held(held->db, "UPDATE jobs SET result = ?3" HELD, lease, &stmt, err));
    hub_stmt_bind_text(stmt, 3, result);
    return run_held(stmt, err);
}

enum hub_status hub_job_stop(struct hub_truth *truth, int64_t id, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    return hub_db_run(held->db,
                      "UPDATE jobs SET state = 'failed', error = 'stopped', fence = fence + 1, finished"
                      " = " HUB_DB_NOW " WHERE id = ?1 AND state IN ('waiting', 'running')",
                      id, err);
}

/* ---- looking ---- */

enum hub_status hub_jobs_each(struct hub_truth *truth, const char *kind, int state, hub_job_each each,
                              void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT" COLUMNS "FROM jobs WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR"
                           " state = ?2) ORDER BY kind, target, id",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, kind);
    hub_stmt_bind_text(stmt, 2, state < 0 ? NULL : hub_job_states[state]);
    for (;;) {
        struct hub_job_row job;
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        HUB_TRY(read_job(stmt, &job, err));
        const enum hub_status st = each(user, &job, err);
        hub_job_dispose(&job);
        if (st)
            return st;
    }
}

enum hub_status hub_job_find(struct hub_truth *truth, int64_t id, struct hub_job_row *out,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_query(db, "SELECT" COLUMNS "FROM jobs WHERE id = ?", id, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_JOB_NOT_FOUND, "the job is no longer listed");
    return read_job(stmt, out, err);
}

enum hub_status hub_job_public_id(struct hub_truth *truth, int64_t id, char out[HUB_JOB_ID + 1],
                                  struct hub_error *err)
{
    struct hub_job_row job;
    HUB_TRY(hub_job_find(truth, id, &job, err));
    memcpy(out, job.public_id, HUB_JOB_ID + 1);
    hub_job_dispose(&job);
    return HUB_OK;
}

enum hub_status hub_job_of(struct hub_truth *truth, struct hub_view public_id, int64_t *id,
                           struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, "SELECT id FROM jobs WHERE public_id = ?", &stmt, err));
    hub_stmt_bind_view(stmt, 1, public_id);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_JOB_NOT_FOUND,
                           "there is no job '%.*s'; /api/v1/jobs lists all",
                           (int)HUB_MIN(public_id.size, (size_t)200), public_id.data);
    *id = hub_stmt_int(stmt, 0);
    return HUB_OK;
}

enum hub_status hub_jobs_tidy(struct hub_truth *truth, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_db *db = held->db;
    return hub_db_exec(
        db, "DELETE FROM jobs WHERE state IN ('done', 'failed') AND finished < " HUB_DB_NOW " - 604800000",
        err);
}
