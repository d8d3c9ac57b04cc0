/* Paths that cannot lie beside each other: see twins.h. Each question is one look at the index of folded
 * paths: as no twin is let in, all rows below a folder spell it alike, and one of them speaks for all. */
#include "storage/truth/twins.h"

struct question {
    const char *draft, *path;
    struct hub_view folded; /* of the path, or of a folder of it */
    size_t own;             /* bytes of the path that belong to it */
};

static enum hub_status refuse(const struct question *q, const char *other, struct hub_error *err)
{
    return hub_fail(
        err, HUB_INVALID,
        "'%.200s' and '%.200s' cannot lie beside each other: one is a folder of the other, or names in them "
        "differ in the case of letters, or in how Unicode composes them, alone",
        q->path, other);
}

static enum hub_status first_row(struct hub_db *db, const char *sql, const struct question *q,
                                 struct hub_stmt **out, bool *row, struct hub_error *err)
{
    HUB_TRY(hub_db_prepare(db, sql, out, err));
    hub_stmt_bind_text(*out, 1, q->draft);
    hub_stmt_bind_view(*out, 2, q->folded);
    hub_stmt_bind_text(*out, 3, q->path);
    return hub_stmt_step(*out, row, err);
}

/* Another file whose path is folded to this. */
static enum hub_status check_file(struct hub_db *db, const struct question *q, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(first_row(db,
                      "SELECT path FROM draft_files WHERE draft = ?1 AND folded = ?2 AND path <> ?3 LIMIT 1",
                      q, &stmt, &row, err));
    return row ? refuse(q, hub_stmt_text(stmt, 0), err) : HUB_OK;
}

/* Files below a folder that is folded to this: there may be some where the path goes through it, too. */
static enum hub_status check_folder(struct hub_db *db, const struct question *q, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row = false;
    HUB_TRY(first_row(db,
                      "SELECT path FROM draft_files WHERE draft = ?1 AND folded > ?2 || '/'"
                      " AND folded < ?2 || '0' AND path <> ?3 LIMIT 1",
                      q, &stmt, &row, err));
    if (!row)
        return HUB_OK;
    const char *other = hub_stmt_text(stmt, 0);
    const bool same = q->path[q->own] && strncmp(other, q->path, q->own + 1) == 0;
    return same ? HUB_OK : refuse(q, other, err);
}

enum hub_status hub_twins_check(struct hub_db *db, const char *draft, const char *path,
                                struct hub_view folded, struct hub_error *err)
{
    const char *own = path, *at = folded.data;
    for (bool last = false; !last;) {
        const char *end = memchr(at, '/', (size_t)(folded.data + folded.size - at));
        own += strcspn(own, "/");
        last = !end;
        at = end ? end : folded.data + folded.size;
        const struct question q = {
            draft, path, {folded.data, (size_t)(at - folded.data)}, (size_t)(own - path)};
        HUB_TRY(check_file(db, &q, err));
        HUB_TRY(check_folder(db, &q, err));
        at += !last;
        own += !last;
    }
    return HUB_OK;
}
