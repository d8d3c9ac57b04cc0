/* What follows from the parts, facts and problems of a dataset: what the files claim against what they hold,
 * who loads it, and its row. */
#include "storage/catalog/publish.h"

#include "storage/base/version.h"

#include <stdio.h>
#include <stdlib.h>

static enum hub_status fact(struct hub_publication *p, const char *key, char **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row;
    HUB_TRY(hub_db_prepare(p->db, "SELECT text FROM facts WHERE dataset = ? AND key = ?", &stmt, err));
    hub_stmt_bind_int(stmt, 1, p->row);
    hub_stmt_bind_text(stmt, 2, key);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    *out = strdup(row ? hub_stmt_text(stmt, 0) : "");
    return *out ? HUB_OK : hub_fail(err, HUB_NO_MEMORY, "no memory to publish");
}

static enum hub_status check_count(struct hub_publication *p, const char *key, const char *what,
                                   uint64_t found, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *claimed = NULL;
    HUB_TRY(fact(p, key, &claimed, err));
    if (!claimed[0] || strtoull(claimed, NULL, 10) == found)
        return HUB_OK;
    return hub_publication_problem(p, "count-mismatch", "", err, "the files claim %s %s, but hold %llu",
                                   claimed, what, (unsigned long long)found);
}

static enum hub_status check_claims(struct hub_publication *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *id = NULL;
    HUB_TRY(check_count(p, "claimed_episodes", "episodes", p->episode_count, err));
    HUB_TRY(check_count(p, "claimed_steps", "steps", p->steps, err));
    HUB_TRY(fact(p, "id", &id, err));
    if (!id[0] || strcmp(id, p->draft->id) == 0 || strcmp(id, p->draft->path) == 0)
        return HUB_OK; /* the path: a named root puts its name before the id */
    return hub_publication_problem(p, "id-mismatch", "", err, "the files call themselves %s, but lie at %s",
                                   id, p->draft->id);
}

/* Why each broken part is; the first reason is that of the dataset when nothing could be read. */
static enum hub_status check_parts(struct hub_publication *p, uint32_t *broken, char **reason,
                                   struct hub_error *err)
{
    for (uint32_t i = 0; i < p->draft->part_count; i++) {
        HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
        bool row;
        if (!p->parts[i].broken)
            continue;
        HUB_TRY(hub_db_prepare(p->db, "SELECT name, broken FROM parts WHERE row = ?", &stmt, err));
        hub_stmt_bind_int(stmt, 1, p->parts[i].row);
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            continue;
        const char *name = hub_stmt_text(stmt, 0), *why = hub_stmt_text(stmt, 1);
        HUB_TRY(hub_publication_problem(p, "part-broken", name, err, "%s", why));
        if (!(*broken)++ && asprintf(reason, "%s: %s", name, why) < 0)
            *reason = NULL;
    }
    if (*broken == 0 || *broken < p->draft->part_count) {
        free(*reason);
        *reason = NULL;
    }
    return HUB_OK;
}

static enum hub_status has_problem(struct hub_publication *p, const char *code, bool *has,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    HUB_TRY(hub_db_prepare(p->db,
                           "SELECT 1 FROM problems WHERE code = ?2 AND ((source IN (0, 1) AND owner = ?1) OR "
                           "(source = 2 AND owner IN (SELECT row FROM parts WHERE dataset = ?1))) LIMIT 1",
                           &stmt, err));
    hub_stmt_bind_int(stmt, 1, p->row);
    hub_stmt_bind_text(stmt, 2, code);
    return hub_stmt_step(stmt, has, err);
}

/* The releases of its library that load it, "" for formats without such a rule; "[]" where its own library
 * refuses it, of whatever format: there is a problem that says why. */
static enum hub_status loadable_by(struct hub_publication *p, const char *era, const char *version,
                                   uint32_t broken, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_load_rule *rule = hub_load_rule_find(p->draft->rule ? p->draft->rule : "");
    bool refused = false;
    if (broken)
        HUB_TRY(hub_publication_problem(p, "not-loadable", "", err, "%u of %u parts cannot be read", broken,
                                        p->draft->part_count));
    HUB_TRY(has_problem(p, "not-loadable", &refused, err));
    if (!rule && !refused)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, "[", err));
    for (const char *const *r = refused ? NULL : rule->releases; r && *r; r++)
        if (rule->loads(hub_view_of(version), hub_view_of(era), hub_view_of(*r)))
            HUB_TRY(hub_buf_addf(out, err, "%s\"%s\"", out->size > 1 ? "," : "", *r));
    if (!refused && out->size == 1)
        HUB_TRY(hub_publication_problem(p, "not-loadable", "", err,
                                        "no release of %s reads a set of era %s with %s '%s'", rule->library,
                                        era, rule->version_key, version));
    return hub_buf_add_text(out, "]", err);
}

struct texts {
    char *era, *version, *description, *authors, *reason;
    struct hub_buf loadable;
};

static void texts_dispose(struct texts *t)
{
    free(t->era);
    free(t->version);
    free(t->description);
    free(t->authors);
    free(t->reason);
    hub_buf_dispose(&t->loadable);
}

static enum hub_status update_row(struct hub_publication *p, const struct texts *t, uint64_t serial,
                                  struct hub_error *err)
{
    struct hub_stmt *stmt;
    uint64_t size = 0, newest = 0;
    for (uint32_t i = 0; i < p->draft->file_count; i++) {
        size += p->draft->files[i].stamp.size;
        newest = HUB_MAX(newest, p->draft->files[i].stamp.mtime_ns);
    }
    HUB_TRY(hub_db_prepare(p->db,
                           "UPDATE datasets SET serial = ?, path = ?, format = ?, status = ?, reason = ?, "
                           "era = ?, stated_version = ?,"
                           " description = ?, loadable_by = ?, authors = ?, revision = ?, episodes = ?, "
                           "steps = ?, size = ?, files = ?,"
                           " modified_ns = ?, rule = ? WHERE row = ?",
                           &stmt, err));
    hub_stmt_bind_int(stmt, 1, (int64_t)serial);
    hub_stmt_bind_text(stmt, 2, p->draft->path);
    hub_stmt_bind_text(stmt, 3, p->draft->format);
    hub_stmt_bind_int(stmt, 4, t->reason ? HUB_DATASET_BROKEN : p->draft->status);
    hub_stmt_bind_text(stmt, 5, t->reason ? t->reason : p->draft->reason ? p->draft->reason : "");
    hub_stmt_bind_text(stmt, 6, t->era);
    hub_stmt_bind_text(stmt, 7, t->version);
    hub_stmt_bind_text(stmt, 8, t->description);
    hub_stmt_bind_view(stmt, 9, hub_buf_view(&t->loadable));
    hub_stmt_bind_text(stmt, 10, t->authors);
    hub_stmt_bind_text(stmt, 11, p->draft->revision ? p->draft->revision : "");
    hub_stmt_bind_int(stmt, 12, p->episode_count);
    hub_stmt_bind_int(stmt, 13, (int64_t)p->steps);
    hub_stmt_bind_int(stmt, 14, (int64_t)size);
    hub_stmt_bind_int(stmt, 15, p->draft->file_count);
    hub_stmt_bind_int(stmt, 16, (int64_t)newest);
    hub_stmt_bind_text(stmt, 17, p->draft->rule ? p->draft->rule : "");
    hub_stmt_bind_int(stmt, 18, p->row);
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_head_write(struct hub_publication *p, uint64_t serial, struct hub_error *err)
{
    HUB_CLEANUP(texts_dispose) struct texts t = {.loadable = HUB_BUF_INIT(4096)};
    uint32_t broken = 0;
    HUB_TRY(check_parts(p, &broken, &t.reason, err));
    if (p->draft->status == HUB_DATASET_READY)
        HUB_TRY(check_claims(p, err));
    HUB_TRY(fact(p, "era", &t.era, err));
    HUB_TRY(fact(p, "stated_version", &t.version, err));
    HUB_TRY(fact(p, "description", &t.description, err));
    HUB_TRY(fact(p, "authors", &t.authors, err));
    if (p->draft->status == HUB_DATASET_READY && !t.reason)
        HUB_TRY(loadable_by(p, t.era, t.version, broken, &t.loadable, err));
    return update_row(p, &t, serial, err);
}
