/* Mirror rules in hub.db: see rules.h. */
#include "storage/truth/rules.h"

#include "storage/truth/hubdb.h"

#include <stdio.h>
#include <stdlib.h>

enum { SPEC_BYTES = 64 * 1024 };

void hub_rule_dispose(struct hub_rule *rule)
{
    json_decref(rule->spec);
    json_decref(rule->left_out);
    rule->spec = rule->left_out = NULL;
}

enum hub_status hub_rule_absent(const char *name, struct hub_error *err)
{
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_MIRROR_NOT_FOUND,
                       "there is no mirror rule '%.64s'; `minari-hub mirror list` shows all", name);
}

/* A statement about one rule, its name the first parameter, that returns a row if there is one. */
static enum hub_status run_about(struct hub_stmt *stmt, const char *name, struct hub_error *err)
{
    bool row = false, more = false;
    hub_stmt_bind_text(stmt, 1, name);
    enum hub_status st = hub_stmt_step(stmt, &row, err);
    if (!st && row)
        st = hub_stmt_step(stmt, &more, err);
    hub_stmt_reset(stmt);
    return st ? st : row ? HUB_OK : hub_rule_absent(name, err);
}

static enum hub_status about(struct hub_truth *truth, const char *sql, const char *name, int64_t value,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(held->db, sql, &stmt, err));
    hub_stmt_bind_int(stmt, 2, value);
    return run_about(stmt, name, err);
}

/* ---- what is asked for ---- */

/* Another rule than before may want other files: what it has copied is compared again. */
static enum hub_status compare_anew(struct hub_db *db, const char *name, const char *spec,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_TRY(hub_db_prepare(db,
                           "UPDATE origins SET revision = '' WHERE rule = ?1 AND"
                           " NOT EXISTS (SELECT 1 FROM rules WHERE name = ?1 AND spec = ?2)",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    hub_stmt_bind_text(stmt, 2, spec);
    return hub_stmt_run(stmt, err);
}

/* The text of a specification: as it is stored, if that says the same. A migration may have added to it, in
 * another order. */
static enum hub_status text_of(struct hub_db *db, const char *name, const json_t *spec, char **out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *stored = NULL;
    bool row = false;
    HUB_TRY(hub_db_prepare(db, "SELECT spec FROM rules WHERE name = ?", &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (row && !hub_json_parse(hub_stmt_view(stmt, 0), SPEC_BYTES, &stored, NULL) && json_equal(stored, spec))
        *out = hub_view_dup(hub_stmt_view(stmt, 0));
    else
        *out = json_dumps(spec, JSON_COMPACT | JSON_SORT_KEYS);
    return hub_allocated(*out, err);
}

enum hub_status hub_rule_put(struct hub_truth *truth, const char *name, bool from_file, const json_t *spec,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *text = NULL;
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    bool row = false, more = false;
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(text_of(held->db, name, spec, &text, err));
    HUB_TRY(compare_anew(held->db, name, text, err));
    HUB_TRY(hub_db_prepare(
        held->db,
        "INSERT INTO rules (name, source, spec, made, due) VALUES (?1, ?2, ?3, " HUB_DB_NOW ", 0)"
        " ON CONFLICT (name) DO UPDATE SET due = CASE WHEN spec = excluded.spec THEN due ELSE 0 END,"
        " spec = excluded.spec WHERE source = 'file' AND excluded.source = 'file' RETURNING 1",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    hub_stmt_bind_text(stmt, 2, from_file ? "file" : "command");
    hub_stmt_bind_text(stmt, 3, text);
    enum hub_status st = hub_stmt_step(stmt, &row, err);
    if (!st && row)
        st = hub_stmt_step(stmt, &more, err);
    hub_stmt_reset(stmt);
    if (st)
        return st;
    return row ? hub_db_commit(held->db, err)
               : hub_fail(err, HUB_EXISTS, "there is a mirror rule '%.64s' already", name);
}

static enum hub_status forget_jobs(struct hub_db *db, const char *name, struct hub_error *err)
{
    return hub_db_run_texts(db, "DELETE FROM jobs WHERE rule = ? AND state IN ('waiting', 'running')", name,
                            NULL, err);
}

enum hub_status hub_rule_remove(struct hub_truth *truth, const char *name, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "DELETE FROM rules WHERE name = ? RETURNING 1", &stmt, err));
    HUB_TRY(run_about(stmt, name, err));
    HUB_TRY(forget_jobs(held->db, name, err));
    return hub_db_commit(held->db, err);
}

enum hub_status hub_rule_pause(struct hub_truth *truth, const char *name, bool paused, struct hub_error *err)
{
    return about(truth, "UPDATE rules SET paused = ?2 WHERE name = ?1 RETURNING 1", name, paused, err);
}

/* Of jobs that wait for another try: now. */
static enum hub_status run_jobs_now(struct hub_db *db, const char *name, struct hub_error *err)
{
    return hub_db_run_texts(db, "UPDATE jobs SET run_at = 0 WHERE rule = ? AND state = 'waiting'", name, NULL,
                            err);
}

enum hub_status hub_rule_run(struct hub_truth *truth, const char *name, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_begin(held->db, err));
    HUB_TRY(hub_db_prepare(held->db, "UPDATE rules SET due = 0, paused = 0 WHERE name = ? RETURNING 1", &stmt,
                           err));
    HUB_TRY(run_about(stmt, name, err));
    HUB_TRY(run_jobs_now(held->db, name, err));
    return hub_db_commit(held->db, err);
}

/* ---- looking ---- */

#define COLUMNS                                                                                              \
    "SELECT name, source = 'file', paused, made, due, begun, synced, datasets, transfers, bytes, failures,"  \
    " error, spec, left_out, "
#define UNCOUNTED COLUMNS "0, 0, 0 FROM rules "
#define RULES                                                                                                \
    COLUMNS                                                                                                  \
    "(SELECT count(*) FROM jobs WHERE rule = name AND state = 'waiting' AND kind <> '" HUB_JOB_MIRROR "'),"  \
    " (SELECT count(*) FROM jobs WHERE rule = name AND state = 'running' AND kind <> 'mirror'),"             \
    " (SELECT count(*) FROM origins WHERE rule = name AND unlisted > 0) FROM rules "

static enum hub_status read_rule(struct hub_stmt *stmt, struct hub_rule *out, struct hub_error *err)
{
    *out = (struct hub_rule){.from_file = hub_stmt_int(stmt, 1) != 0,
                             .paused = hub_stmt_int(stmt, 2) != 0,
                             .made_ms = hub_stmt_int(stmt, 3),
                             .due_ms = hub_stmt_int(stmt, 4),
                             .begun_ms = hub_stmt_int(stmt, 5),
                             .synced_ms = hub_stmt_int(stmt, 6),
                             .datasets = (uint64_t)hub_stmt_int(stmt, 7),
                             .transfers = (uint64_t)hub_stmt_int(stmt, 8),
                             .bytes = (uint64_t)hub_stmt_int(stmt, 9),
                             .failures = (uint64_t)hub_stmt_int(stmt, 10),
                             .waiting = (uint32_t)hub_stmt_int(stmt, 14),
                             .running = (uint32_t)hub_stmt_int(stmt, 15),
                             .unlisted = (uint64_t)hub_stmt_int(stmt, 16)};
    snprintf(out->name, sizeof out->name, "%s", hub_stmt_text(stmt, 0));
    snprintf(out->error, sizeof out->error, "%s", hub_stmt_text(stmt, 11));
    const struct hub_view left = hub_stmt_view(stmt, 13);
    if (left.size)
        HUB_TRY(hub_json_parse(left, SPEC_BYTES, &out->left_out, err));
    const enum hub_status st = hub_json_parse(hub_stmt_view(stmt, 12), SPEC_BYTES, &out->spec, err);
    if (st)
        hub_rule_dispose(out);
    return st;
}

static enum hub_status find(struct hub_truth *truth, const char *sql, const char *name, struct hub_rule *out,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    return row ? read_rule(stmt, out, err) : hub_rule_absent(name, err);
}

enum hub_status hub_rule_find(struct hub_truth *truth, const char *name, struct hub_rule *out,
                              struct hub_error *err)
{
    return find(truth, RULES "WHERE name = ?", name, out, err);
}

enum hub_status hub_rule_find_uncounted(struct hub_truth *truth, const char *name, struct hub_rule *out,
                                        struct hub_error *err)
{
    return find(truth, UNCOUNTED "WHERE name = ?", name, out, err);
}

enum hub_status hub_rules_each(struct hub_truth *truth, hub_rule_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool row = false;
    HUB_TRY(hub_truth_reader(truth, &db, err));
    HUB_TRY(hub_db_prepare(db, RULES "ORDER BY name", &stmt, err));
    for (;;) {
        struct hub_rule rule;
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        HUB_TRY(read_rule(stmt, &rule, err));
        const enum hub_status st = each(user, &rule, err);
        hub_rule_dispose(&rule);
        if (st)
            return st;
    }
}

/* ---- passes ---- */

static enum hub_status begin_pass(struct hub_db *db, const char *name, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char public_id[HUB_JOB_ID + 1];
    /* what failed before failed in an earlier pass, whatever the clock said then */
    HUB_TRY(hub_db_prepare(
        db,
        "UPDATE jobs SET finished = min(finished, (SELECT begun FROM rules WHERE name = ?1) - 1)"
        " WHERE rule = ?1 AND state = 'failed'",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    HUB_TRY(hub_stmt_run(stmt, err));
    HUB_TRY(
        hub_db_prepare(db,
                       "INSERT INTO jobs (kind, target, rule, payload, state, priority, run_at, public_id)"
                       " VALUES ('" HUB_JOB_MIRROR "', ?1, ?1, '{}', 'waiting', 1, " HUB_DB_NOW ", ?2)",
                       &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    hub_job_make_id(public_id);
    hub_stmt_bind_text(stmt, 2, public_id);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_rules_due(struct hub_truth *truth, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(hub_db_begin(held->db, err));
    /* a time that lies too far ahead was set by a clock that was wrong */
    HUB_TRY(hub_db_prepare(held->db,
                           "UPDATE rules SET begun = max(" HUB_DB_NOW ", 1) + (begun = " HUB_DB_NOW
                           "), due = " HUB_DB_NOW " + 86400000, error = ''"
                           " WHERE NOT paused AND (due <= " HUB_DB_NOW " OR due > " HUB_DB_NOW
                           " + 1000 * coalesce(json_extract(spec, '$.every'), 86400)) AND NOT EXISTS (SELECT "
                           "1 FROM jobs WHERE kind = '" HUB_JOB_MIRROR "' AND"
                           " target = name AND state IN ('waiting', 'running')) RETURNING name",
                           &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return hub_db_commit(held->db, err);
        HUB_TRY(begin_pass(held->db, hub_stmt_text(stmt, 0), err));
    }
}

enum hub_status hub_rule_run_soon(struct hub_truth *truth, const char *name, uint64_t after_ms,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        held->db, "UPDATE rules SET due = 0 WHERE name = ?1 AND NOT paused AND begun <= " HUB_DB_NOW " - ?2",
        &stmt, err));
    hub_stmt_bind_text(stmt, 1, name);
    hub_stmt_bind_int(stmt, 2, (int64_t)after_ms);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_rule_listed(struct hub_truth *truth, const char *name, uint64_t datasets,
                                uint64_t every_ms, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        held->db,
        "UPDATE rules SET datasets = ?2, due = CASE WHEN due = 0 THEN 0 /* asked for meanwhile */"
        " ELSE " HUB_DB_NOW " + ?3 END WHERE name = ?1 RETURNING 1",
        &stmt, err));
    hub_stmt_bind_int(stmt, 2, (int64_t)datasets);
    hub_stmt_bind_int(stmt, 3, (int64_t)every_ms);
    return run_about(stmt, name, err);
}

enum hub_status hub_rule_left_out(struct hub_truth *truth, const char *name, const char *left,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    struct hub_stmt *stmt;
    HUB_TRY(
        hub_db_prepare(held->db, "UPDATE rules SET left_out = ?2 WHERE name = ?1 RETURNING 1", &stmt, err));
    hub_stmt_bind_text(stmt, 2, left);
    return run_about(stmt, name, err);
}

enum hub_status hub_rule_count(struct hub_truth *truth, const char *name, uint64_t bytes, const char *why,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(held->db,
                           "UPDATE rules SET bytes = bytes + ?2, transfers = transfers + (?3 IS NULL),"
                           " failures = failures + (?3 IS NOT NULL), error = coalesce(?3, error)"
                           " WHERE name = ?1 RETURNING 1",
                           &stmt, err));
    hub_stmt_bind_int(stmt, 2, (int64_t)bytes);
    hub_stmt_bind_text(stmt, 3, why);
    return run_about(stmt, name, err);
}

enum hub_status hub_rules_finish(struct hub_truth *truth, struct hub_error *err)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock_unsynced(truth);
    return hub_db_exec(
        held->db,
        "UPDATE rules SET synced = begun, error = '' WHERE synced <> begun AND NOT EXISTS (SELECT 1 FROM jobs"
        " WHERE rule = name AND kind <> '" HUB_JOB_PULL "' AND (state IN ('waiting', 'running')"
        " OR (state = 'failed' AND finished >= begun)))",
        err);
}
