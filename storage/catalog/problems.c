/* What is wrong with datasets: found while publishing, by the plan, and in the parts, in that order. */
#include "storage/catalog/publish.h"

#include "storage/base/json.h"
#include "storage/base/order.h"

#include <stdarg.h>
#include <stdio.h>

#include <stdlib.h>

enum { MAX_LISTED = 1000 };

/* Who found a problem, as SQL spells it: a value that stands in the text lets the index of the table
 * serve. */
#define OF_DATASET "(" HUB_SQL(HUB_PROBLEM_PUBLISH) ", " HUB_SQL(HUB_PROBLEM_PLAN) ")"
#define OF_PARTS HUB_SQL(HUB_PROBLEM_PART)

static const char of_dataset[] =
    "SELECT code, path, detail FROM problems WHERE source IN " OF_DATASET " AND owner = ?1 "
    "ORDER BY source, position LIMIT ?2 OFFSET ?3";
static const char of_parts[] =
    "SELECT p.code, p.path, p.detail FROM parts JOIN problems p ON p.source = " OF_PARTS " AND "
    "p.owner = parts.row WHERE parts.dataset = ?1 ORDER BY parts.row, p.position "
    "LIMIT ?2 OFFSET ?3";

/* ---- writing ---- */

enum hub_status hub_problem_store(struct hub_db *db, unsigned source, int64_t owner, uint32_t position,
                                  const struct hub_found_problem *problem, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_ask(
        db, "INSERT INTO problems (source, owner, position, code, path, detail) VALUES (?, ?, ?, ?, ?, ?)",
        source, &stmt, err));
    hub_stmt_bind_int(stmt, 2, owner);
    hub_stmt_bind_int(stmt, 3, position);
    hub_stmt_bind_text(stmt, 4, problem->code);
    hub_stmt_bind_text(stmt, 5, problem->path ? problem->path : "");
    hub_stmt_bind_text(stmt, 6, problem->detail ? problem->detail : "");
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_publication_problem(struct hub_publication *p, const char *code, const char *path,
                                        struct hub_error *err, const char *fmt, ...)
{
    char detail[1024];
    va_list args;
    if (p->problem_count == HUB_MAX_PROBLEMS)
        return HUB_OK;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    return hub_problem_store(p->db, HUB_PROBLEM_PUBLISH, p->row, p->problem_count++,
                             &(struct hub_found_problem){code, path, detail}, err);
}

enum hub_status hub_problems_delete(struct hub_db *db, unsigned source, int64_t owner, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_ask(db, "DELETE FROM problems WHERE source = ? AND owner = ?", source, &stmt, err));
    hub_stmt_bind_int(stmt, 2, owner);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_problems_have(struct hub_db *db, int64_t dataset, const char *code, bool *have,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_TRY(hub_db_ask(db,
                       "SELECT 1 FROM problems p WHERE code = ?2 AND ((p.source IN " OF_DATASET " AND"
                       " owner = ?1) OR (p.source = " OF_PARTS " AND"
                       " owner IN (SELECT row FROM parts WHERE dataset = ?1))) LIMIT 1",
                       dataset, &stmt, err));
    hub_stmt_bind_text(stmt, 2, code);
    return hub_stmt_step(stmt, have, err);
}

/* ---- one dataset ---- */

struct listing {
    uint32_t skip, limit; /* what is left of both */
    hub_problem_each each;
    void *user;
};

static enum hub_status count_rows(struct hub_db *db, const char *sql, int64_t row, uint32_t *count,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool more;
    HUB_TRY(hub_db_ask(db, sql, row, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &more, err));
    *count = more ? (uint32_t)hub_stmt_int(stmt, 0) : 0;
    return HUB_OK;
}

static enum hub_status each_row(struct hub_db *db, const char *sql, int64_t row, struct listing *list,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool more;
    HUB_TRY(hub_db_ask(db, sql, row, &stmt, err));
    hub_stmt_bind_int(stmt, 2, list->limit);
    hub_stmt_bind_int(stmt, 3, list->skip);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &more, err));
        if (!more)
            return HUB_OK;
        const struct hub_problem problem = {hub_stmt_view(stmt, 0), hub_stmt_view(stmt, 1),
                                            hub_stmt_view(stmt, 2)};
        list->limit--;
        HUB_TRY(list->each(list->user, &problem, err));
    }
}

static enum hub_status each_problem(struct hub_db *db, int64_t row, struct listing list,
                                    struct hub_error *err)
{
    uint32_t own = 0;
    HUB_TRY(count_rows(db, "SELECT count(*) FROM problems WHERE source IN " OF_DATASET " AND owner = ?", row,
                       &own, err));
    if (list.skip < own)
        HUB_TRY(each_row(db, of_dataset, row, &list, err));
    list.skip = list.skip > own ? list.skip - own : 0;
    return list.limit ? each_row(db, of_parts, row, &list, err) : HUB_OK;
}

enum hub_status hub_dataset_each_problem(struct hub_catalog *catalog, const struct hub_summary *summary,
                                         uint32_t skip, uint32_t limit, hub_problem_each each, void *user,
                                         struct hub_error *err)
{
    struct hub_db *db;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    return each_problem(db, summary->row, (struct listing){skip, limit, each, user}, err);
}

static enum hub_status write_problem(void *user, const struct hub_problem *problem, struct hub_error *err)
{
    struct hub_json *json = user;
    (void)err;
    hub_json_object(json);
    hub_json_put_string(json, "code", problem->code);
    if (problem->path.size)
        hub_json_put_string(json, "path", problem->path);
    hub_json_put_string(json, "detail", problem->detail);
    hub_json_end_object(json);
    return hub_json_status(json);
}

static enum hub_status only_count(void *user, const struct hub_problem *problem, struct hub_error *err)
{
    (void)problem;
    (void)err;
    ++*(unsigned *)user;
    return HUB_OK;
}

enum hub_status hub_dataset_problems(const struct hub_state *state, struct hub_buf *out,
                                     struct hub_error *err)
{
    const int64_t row = state->dataset->summary->row;
    struct hub_json json = hub_json_to(out, err);
    unsigned omitted = 0;
    hub_json_array(&json);
    HUB_TRY(each_problem(state->db, row, (struct listing){0, MAX_LISTED, write_problem, &json}, err));
    HUB_TRY(each_problem(state->db, row, (struct listing){MAX_LISTED, 1, only_count, &omitted}, err));
    if (omitted) {
        const struct hub_problem more = {
            HUB_VIEW("more-problems"), {"", 0}, HUB_VIEW("further problems are not listed")};
        HUB_TRY(write_problem(&json, &more, err));
    }
    hub_json_end_array(&json);
    return hub_json_status(&json);
}

/* ---- all datasets ---- */

static enum hub_status add_count(struct hub_problem_counts *counts, int64_t row, uint32_t count,
                                 struct hub_error *err)
{
    HUB_TRY(hub_grow(&counts->items, counts->size, &counts->capacity, sizeof *counts->items, err));
    counts->items[counts->size++] = (struct hub_problem_count){row, count};
    return HUB_OK;
}

enum hub_status hub_catalog_problem_counts(struct hub_catalog *catalog, struct hub_problem_counts *out,
                                           struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_db *db;
    bool more;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    HUB_TRY(
        hub_db_prepare(db,
                       "SELECT dataset, count(*) FROM (SELECT owner AS dataset FROM problems WHERE source IN "
                       "(0, 1) UNION ALL SELECT parts.dataset FROM problems p JOIN parts ON parts.row = "
                       "p.owner WHERE p.source = " OF_PARTS ") GROUP BY dataset ORDER BY dataset",
                       &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &more, err));
        if (!more)
            return HUB_OK;
        HUB_TRY(add_count(out, hub_stmt_int(stmt, 0), (uint32_t)hub_stmt_int(stmt, 1), err));
    }
}

uint32_t hub_problem_count_of(const struct hub_problem_counts *counts, const struct hub_summary *summary)
{
    const struct hub_problem_count *found =
        counts->size ? bsearch(&summary->row, counts->items, counts->size, sizeof *found, hub_by_i64) : NULL;
    return found ? found->count : 0;
}

void hub_problem_counts_dispose(struct hub_problem_counts *counts)
{
    free(counts->items);
    *counts = (struct hub_problem_counts){0};
}
