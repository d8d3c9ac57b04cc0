/* The facts of a dataset: one blob, of keys and texts one after the other, that every dataset has. One that is
 * not in it is not known; a blob that is not there is damage. */
#include "storage/base/pack.h"
#include "storage/catalog/publish.h"

#define MAX_FACTS_BYTES (900 * MIB)

enum hub_status hub_facts_write(struct hub_db *db, int64_t dataset, const struct hub_findings *plan,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MAX_FACTS_BYTES);
    for (uint32_t i = 0; i < plan->fact_count; i++) {
        HUB_TRY(hub_pack_text(&out, plan->facts[i].key, err));
        HUB_TRY(hub_pack_text(&out, plan->facts[i].text, err));
    }
    return hub_blob_write(db, hub_dataset_owner(dataset), HUB_BLOB_FACTS, "", hub_buf_view(&out), err);
}

enum hub_status hub_fact_read(struct hub_catalog *catalog, struct hub_db *db, int64_t dataset,
                              const char *key, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const struct hub_blob_id id = {catalog, db, hub_dataset_owner(dataset), HUB_BLOB_FACTS, ""};
    struct hub_view blob, found = {"", 0};
    const enum hub_status st = hub_blob_read(&id, &stmt, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_missing(catalog, db, id.owner, err) : st;
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    while (hub_cursor_left(&c) && !c.failed) {
        const struct hub_view known = hub_unpack_view(&c), text = hub_unpack_view(&c);
        if (!c.failed && hub_view_is(known, key))
            found = text;
    }
    return c.failed ? hub_blob_damaged(catalog, db, id.owner, err) : hub_buf_add_view(out, found, err);
}

enum hub_status hub_dataset_fact(const struct hub_state *state, const char *key, struct hub_buf *out,
                                 struct hub_error *err)
{
    return hub_fact_read(state->catalog, state->db, state->dataset->summary->row, key, out, err);
}
