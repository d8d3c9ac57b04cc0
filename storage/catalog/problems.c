/* The problems of a dataset as JSON: found while publishing, by the plan, and in its parts, in that order. */
#include "storage/catalog/internal.h"

#include "storage/base/json.h"

enum { MAX_LISTED = 1000 };

struct listing {
    struct hub_json json;
    unsigned count;
    bool omitted;
};

static enum hub_status add_rows(struct hub_db *db, const char *sql, int64_t row, struct listing *list,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool more;
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    hub_stmt_bind_int(stmt, 1, row);
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &more, err));
        list->omitted = more && list->count == MAX_LISTED;
        if (!more || list->omitted)
            return HUB_OK;
        list->count++;
        hub_json_object(&list->json);
        hub_json_put_string(&list->json, "code", hub_stmt_view(stmt, 0));
        if (hub_stmt_view(stmt, 1).size)
            hub_json_put_string(&list->json, "path", hub_stmt_view(stmt, 1));
        hub_json_put_string(&list->json, "detail", hub_stmt_view(stmt, 2));
        hub_json_end_object(&list->json);
    }
}

enum hub_status hub_dataset_problems(const struct hub_state *state, struct hub_buf *out,
                                     struct hub_error *err)
{
    struct listing list = {.json = hub_json_to(out, err)};
    const int64_t row = state->dataset->head->row;
    hub_json_array(&list.json);
    HUB_TRY(add_rows(state->db,
                     "SELECT code, path, detail FROM problems WHERE source IN (0, 1) AND owner = ? ORDER BY "
                     "source, position",
                     row, &list, err));
    if (!list.omitted)
        HUB_TRY(add_rows(state->db,
                         "SELECT p.code, p.path, p.detail FROM parts JOIN problems p ON p.source = 2 AND "
                         "p.owner = parts.row"
                         " WHERE parts.dataset = ? ORDER BY parts.row, p.position",
                         row, &list, err));
    if (list.omitted) {
        hub_json_object(&list.json);
        hub_json_put_text(&list.json, "code", "more-problems");
        hub_json_put_text(&list.json, "detail", "further problems are not listed");
        hub_json_end_object(&list.json);
    }
    hub_json_end_array(&list.json);
    return hub_json_status(&list.json);
}
