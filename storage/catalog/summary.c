/* What follows from the parts, facts and problems of a dataset: what the files claim against what they hold,
 * who loads it, and its row. */
#include "storage/catalog/search.h"

#include "storage/ids/version.h"
#include "storage/model/claims.h"
#include "storage/model/facet.h"

#include <stdio.h>
#include <stdlib.h>

static enum hub_status fact(struct hub_publication *p, const char *key, char **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(900 * MIB);
    HUB_TRY(hub_fact_read(p->catalog, p->db, p->row, key, &text, err));
    *out = hub_view_dup(hub_buf_view(&text));
    return hub_allocated(*out, err);
}

static enum hub_status add_difference(void *user, const struct hub_found_problem *problem,
                                      struct hub_error *err)
{
    return hub_publication_problem(user, problem->code, problem->path ? problem->path : "", err, "%s",
                                   problem->detail);
}

static enum hub_status check_counts(struct hub_publication *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *episodes = NULL, *steps = NULL, *file = NULL;
    HUB_TRY(fact(p, "claimed_episodes", &episodes, err));
    HUB_TRY(fact(p, "claimed_steps", &steps, err));
    HUB_TRY(fact(p, "claimed_in", &file, err));
    const struct hub_claims claims = {episodes, steps, file};
    return hub_claims_check(&claims, p->episode_count, p->steps, add_difference, p, err);
}

/* The id is the place, or its end, as copies and imports put it: "theirs/D4RL/door/human-v2". */
static bool lies_at(const char *place, const char *id)
{
    const size_t n = strlen(place), size = strlen(id);
    return n >= size && strcmp(place + n - size, id) == 0 && (n == size || place[n - size - 1] == '/');
}

static enum hub_status check_claims(struct hub_publication *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *id = NULL;
    HUB_TRY(check_counts(p, err));
    HUB_TRY(fact(p, "id", &id, err));
    if (!id[0] || lies_at(p->draft->id, id) || lies_at(p->draft->path, id))
        return HUB_OK; /* the path: a named root puts its name before the id */
    return hub_publication_problem(p, "id-mismatch", "", err,
                                   "metadata says the id is %s, the folder says %s", id, p->draft->id);
}

/* The releases of its library that load it, "" for formats without such a rule; "[]" where its own library
 * refuses it, of whatever format: there is a problem that says why. */
static enum hub_status loadable_by(struct hub_publication *p, const char *era, const char *version,
                                   bool refused, struct hub_buf *out, struct hub_error *err)
{
    const struct hub_load_rule *rule = hub_load_rule_find(p->draft->rule ? p->draft->rule : "");
    refused = refused || p->broken_parts;
    if (p->broken_parts)
        HUB_TRY(hub_publication_problem(p, "not-loadable", "", err, "%u of %u parts cannot be read",
                                        p->broken_parts, p->draft->part_count));
    if (!rule && !refused)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, "[", err));
    const struct hub_view stated = hub_view_of(version), of_era = hub_view_of(era);
    const char *release;
    for (size_t at = 0; !refused && (release = hub_load_rule_next(rule, stated, of_era, &at));)
        HUB_TRY(hub_buf_addf(out, err, "%s\"%s\"", out->size > 1 ? "," : "", release));
    if (!refused && out->size == 1)
        HUB_TRY(hub_publication_problem(p, "not-loadable", "", err,
                                        "no release of %s can load a dataset of era %s with %s '%s'",
                                        rule->library, era, rule->version_key, version));
    return hub_buf_add_text(out, "]", err);
}

struct texts {
    char *era, *version, *description, *authors;
    const char *reason; /* why it is broken, or NULL */
    struct hub_buf loadable, known;
    struct hub_problem_tally problems; /* of the plan and the parts */
};

static void texts_dispose(struct texts *t)
{
    free(t->era);
    free(t->version);
    free(t->description);
    free(t->authors);
    hub_buf_dispose(&t->loadable);
    hub_buf_dispose(&t->known);
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
    HUB_TRY(hub_db_query(
        p->db,
        "UPDATE datasets SET serial = ?, path = ?, format = ?, status = ?, reason = ?, "
        "era = ?, stated_version = ?,"
        " description = ?, loadable_by = ?, authors = ?, revision = ?, episodes = ?, "
        "steps = ?, size = ?, files = ?,"
        " modified_ns = ?, rule = ?, attempt = ?, problems = ?, known = ?, costly = ? WHERE row = ?",
        (int64_t)serial, &stmt, err));
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
    hub_stmt_bind_int(stmt, 18, p->draft->turn ? (int64_t)p->draft->turn->attempt : 0);
    hub_stmt_bind_int(stmt, 19, t->problems.count + p->problem_count);
    hub_stmt_bind_view(stmt, 20, hub_buf_view(&t->known));
    hub_stmt_bind_int(stmt, 21, t->problems.costly + p->costly_count);
    hub_stmt_bind_int(stmt, 22, p->row);
    return hub_stmt_run(stmt, err);
}

static enum hub_status store_words(struct hub_publication *p, const struct texts *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf said = HUB_BUF_INIT(900 * MIB), known = HUB_BUF_INIT(64 * KIB);
    struct hub_view lines = hub_buf_view(&t->known), value;
    enum hub_facet kind;
    HUB_TRY(hub_buf_add_text(&said, t->authors, err));
    HUB_TRY(hub_buf_add_text(&said, " ", err));
    HUB_TRY(hub_buf_add_text(&said, t->description, err));
    HUB_TRY(hub_buf_add_text(&known, p->draft->format, err));
    while (hub_facet_take(&lines, &kind, &value))
        if (kind != HUB_FACET_AUTHOR && kind != HUB_FACET_ACTION_DIM)
            HUB_TRY(hub_buf_addf(&known, err, " %.*s", (int)value.size, value.data));
    return hub_search_store(p, &(struct hub_search_words){.known = known.data, .said = said.data}, err);
}

enum hub_status hub_summary_store(struct hub_publication *p, uint64_t serial, struct hub_error *err)
{
    HUB_CLEANUP(texts_dispose)
    struct texts t = {.loadable = HUB_BUF_INIT(4096), .known = HUB_BUF_INIT(64 * KIB)};
    if (p->broken_parts == p->draft->part_count)
        t.reason = p->broken_why;
    if (p->draft->status == HUB_DATASET_READY)
        HUB_TRY(check_claims(p, err));
    HUB_TRY(fact(p, "era", &t.era, err));
    HUB_TRY(fact(p, "stated_version", &t.version, err));
    HUB_TRY(fact(p, "description", &t.description, err));
    HUB_TRY(fact(p, "authors", &t.authors, err));
    HUB_TRY(hub_problems_count(p, &t.problems, err));
    if (p->draft->status == HUB_DATASET_READY && !t.reason)
        HUB_TRY(loadable_by(p, t.era, t.version, t.problems.refused, &t.loadable, err));
    if (p->problem_count)
        HUB_TRY(hub_blob_write(p->db, hub_dataset_owner(p->row), HUB_BLOB_CONFLICTS, "",
                               hub_buf_view(&p->conflicts), err));
    HUB_TRY(hub_facets_read(p, &t.known, err));
    HUB_TRY(store_words(p, &t, err));
    return update_row(p, &t, serial, err);
}

const char *hub_dataset_status_name(enum hub_dataset_status status)
{
    switch (status) {
    case HUB_DATASET_READY:
        return "ready";
    case HUB_DATASET_PENDING:
        return "pending";
    case HUB_DATASET_BROKEN:
        return "broken";
    case HUB_DATASET_UNSUPPORTED:
        return "unsupported";
    case HUB_DATASET_REMOTE:
        return "remote";
    }
    return "broken";
}
