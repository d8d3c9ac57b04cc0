/* What is wrong with datasets: found while publishing, by the plan, and in the parts, in that order, of a
 * part by its inspection and then by measuring. Each of them is one blob: code, path and detail of one
 * problem after the other. */
#include "storage/catalog/publish.h"

#include "storage/base/pack.h"
#include "storage/model/problem.h"
#include "storage/text/json.h"

#include <stdarg.h>
#include <stdio.h>

#define MEASURED "measured" /* the blob of what measuring met; that of inspection is nameless */
enum { MAX_LISTED = 1000 };

#define MAX_PROBLEMS_BYTES (64 * MIB)

/* ---- writing ---- */

static enum hub_status put_problem(struct hub_buf *out, const struct hub_found_problem *problem,
                                   struct hub_error *err)
{
    HUB_TRY(hub_pack_text(out, problem->code, err));
    HUB_TRY(hub_pack_text(out, problem->path ? problem->path : "", err));
    return hub_pack_text(out, problem->detail ? problem->detail : "", err);
}

static enum hub_status put_problems(struct hub_buf *out, const struct hub_findings *found,
                                    struct hub_error *err)
{
    for (uint32_t i = 0; i < found->problem_count; i++)
        HUB_TRY(put_problem(out, &found->problems[i], err));
    return HUB_OK;
}

enum hub_status hub_problems_write(struct hub_db *db, int64_t owner, const struct hub_findings *found,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MAX_PROBLEMS_BYTES);
    HUB_TRY(put_problems(&out, found, err));
    return out.size ? hub_blob_write(db, owner, HUB_BLOB_PROBLEMS, "", hub_buf_view(&out), err) : HUB_OK;
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
    p->problem_count++;
    p->costly_count += hub_problem_cost(hub_view_of(code)) != HUB_COSTS_NOTHING;
    p->conflicts.limit = MAX_PROBLEMS_BYTES;
    return put_problem(&p->conflicts, &(struct hub_found_problem){code, path, detail}, err);
}

/* ---- one dataset ---- */

struct problem_query {
    struct hub_catalog *catalog;
    struct hub_db *db;
    uint32_t skip, limit; /* what is left of both */
    hub_problem_each each;
    void *user;
};

static enum hub_status each_in(struct problem_query *list, int64_t owner, enum hub_blob_kind kind,
                               const char *name, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_view blob;
    if (!list->limit)
        return HUB_OK;
    const struct hub_blob_id blob_id = {list->catalog, list->db, owner, kind, name};
    const enum hub_status st = hub_blob_read(&blob_id, &stmt, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    while (list->limit && hub_cursor_left(&c) && !c.failed) {
        const struct hub_view code = hub_unpack_view(&c), path = hub_unpack_view(&c),
                              detail = hub_unpack_view(&c);
        if (list->skip) {
            list->skip--;
            continue;
        }
        list->limit--;
        HUB_TRY(list->each(list->user, &(struct hub_problem){code, path, detail}, err));
    }
    return HUB_OK;
}

static enum hub_status each_problem(struct problem_query *list, int64_t row, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool more;
    HUB_TRY(each_in(list, hub_dataset_owner(row), HUB_BLOB_CONFLICTS, "", err));
    HUB_TRY(each_in(list, hub_dataset_owner(row), HUB_BLOB_PROBLEMS, "", err));
    HUB_TRY(hub_db_query(list->db,
                         "SELECT p.row, b.name FROM parts p JOIN blobs b ON b.owner = p.row AND b.kind = ?2"
                         " WHERE p.dataset = ?1 ORDER BY p.row, b.name",
                         row, &stmt, err));
    hub_stmt_bind_int(stmt, 2, HUB_BLOB_PROBLEMS);
    while (list->limit) {
        HUB_TRY(hub_stmt_step(stmt, &more, err));
        if (!more)
            break;
        const char *name = *hub_stmt_text(stmt, 1) ? MEASURED : "";
        HUB_TRY(each_in(list, hub_stmt_int(stmt, 0), HUB_BLOB_PROBLEMS, name, err));
    }
    return HUB_OK;
}

enum hub_status hub_dataset_each_problem(struct hub_catalog *catalog, const struct hub_summary *summary,
                                         uint32_t skip, uint32_t limit, hub_problem_each each, void *user,
                                         struct hub_error *err)
{
    struct problem_query list = {catalog, NULL, skip, limit, each, user};
    HUB_TRY(hub_catalog_reader(catalog, &list.db, err));
    const bool begun = hub_db_is_begun(list.db); /* by a state that this thread has open */
    if (!begun)
        HUB_TRY(hub_db_exec(list.db, "BEGIN", err)); /* all of them of one state */
    const enum hub_status st = each_problem(&list, summary->row, err);
    if (!begun)
        hub_db_rollback(list.db);
    return st;
}

static enum hub_status add_up(void *user, const struct hub_problem *problem, struct hub_error *err)
{
    struct hub_problem_tally *tally = user;
    (void)err;
    const enum hub_problem_cost cost = hub_problem_cost(problem->code);
    tally->count++;
    tally->costly += cost != HUB_COSTS_NOTHING;
    tally->refused |= cost == HUB_COSTS_LOADING;
    return HUB_OK;
}

enum hub_status hub_problems_count(struct hub_publication *p, struct hub_problem_tally *out,
                                   struct hub_error *err)
{
    struct problem_query list = {p->catalog, p->db, 0, UINT32_MAX, add_up, out};
    *out = (struct hub_problem_tally){0};
    return each_problem(&list, p->row, err);
}

enum hub_status hub_problems_write_measured(struct hub_catalog *catalog, int64_t part,
                                            const struct hub_findings *found, bool *changed,
                                            struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MAX_PROBLEMS_BYTES);
    struct hub_problem_tally before = {0}, now = {0};
    struct hub_db *db = catalog->index;
    struct problem_query list = {catalog, db, 0, UINT32_MAX, add_up, &before};
    struct hub_stmt *stmt;
    HUB_TRY(each_in(&list, part, HUB_BLOB_PROBLEMS, MEASURED, err));
    *changed = before.count || found->problem_count;
    if (!*changed)
        return HUB_OK;
    HUB_TRY(put_problems(&out, found, err));
    HUB_TRY(hub_blob_write(db, part, HUB_BLOB_PROBLEMS, MEASURED, hub_buf_view(&out), err));
    list.user = &now;
    HUB_TRY(each_in(&list, part, HUB_BLOB_PROBLEMS, MEASURED, err));
    HUB_TRY(hub_db_query(db,
                         "UPDATE datasets SET problems = problems + ?2, costly = costly + ?3"
                         " WHERE row = (SELECT dataset FROM parts WHERE row = ?1)",
                         part, &stmt, err));
    hub_stmt_bind_int(stmt, 2, (int64_t)now.count - before.count);
    hub_stmt_bind_int(stmt, 3, (int64_t)now.costly - before.costly);
    return hub_stmt_run(stmt, err);
}

struct problem_writer {
    struct hub_json json;
    uint32_t left;
};

static enum hub_status write_problem(void *user, const struct hub_problem *problem, struct hub_error *err)
{
    static const struct hub_problem more = {
        {"more-problems", 13}, {"", 0}, {"further problems are not listed", 31}};
    struct problem_writer *out = user;
    (void)err;
    if (!out->left--)
        problem = &more;
    hub_json_object(&out->json);
    hub_json_put_string(&out->json, "code", problem->code);
    if (problem->path.size)
        hub_json_put_string(&out->json, "path", problem->path);
    hub_json_put_string(&out->json, "detail", problem->detail);
    if (hub_problem_cost(problem->code))
        hub_json_put_text(&out->json, "costs", hub_problem_cost_name(hub_problem_cost(problem->code)));
    hub_json_end_object(&out->json);
    return hub_json_status(&out->json);
}

enum hub_status hub_dataset_problems(const struct hub_state *state, struct hub_buf *out,
                                     struct hub_error *err)
{
    struct problem_writer written = {hub_json_to(out, err), MAX_LISTED};
    struct problem_query list = {state->catalog, state->db, 0, MAX_LISTED + 1, write_problem, &written};
    hub_json_array(&written.json);
    HUB_TRY(each_problem(&list, state->dataset->summary->row, err));
    hub_json_end_array(&written.json);
    return hub_json_status(&written.json);
}
