/* The facts of a dataset: one blob, of keys and texts one after the other, that every dataset has. One that
 * is not in it is not known; a blob that is not there is damage. */
#include "storage/base/pack.h"
#include "storage/catalog/publish.h"
#include "storage/model/facet.h"

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

/* All of them, until `stmt` is reset. */
static enum hub_status read_all(struct hub_catalog *catalog, struct hub_db *db, int64_t dataset,
                                struct hub_stmt **stmt, struct hub_view *blob, struct hub_error *err)
{
    const struct hub_blob_id id = {catalog, db, hub_dataset_owner(dataset), HUB_BLOB_FACTS, ""};
    const enum hub_status st = hub_blob_read(&id, stmt, blob, err);
    return st == HUB_NOT_FOUND ? hub_blob_missing(catalog, db, id.owner, err) : st;
}

/* Empty where it is not known. False: the blob is damaged. */
static bool find(struct hub_view blob, const char *key, struct hub_view *found)
{
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    *found = (struct hub_view){"", 0};
    while (hub_cursor_left(&c) && !c.failed) {
        const struct hub_view known = hub_unpack_view(&c), text = hub_unpack_view(&c);
        if (!c.failed && hub_view_is(known, key))
            *found = text;
    }
    return !c.failed;
}

enum hub_status hub_fact_read(struct hub_catalog *catalog, struct hub_db *db, int64_t dataset,
                              const char *key, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_view blob, found;
    HUB_TRY(read_all(catalog, db, dataset, &stmt, &blob, err));
    return find(blob, key, &found) ? hub_buf_add_view(out, found, err)
                                   : hub_blob_damaged(catalog, db, hub_dataset_owner(dataset), err);
}

/* ---- what sets are chosen by ---- */

struct facts_source {
    const struct hub_publication *p;
    struct hub_view blob;
};

static enum hub_status fact_of(void *user, const char *key, struct hub_view *out, struct hub_error *err)
{
    const struct facts_source *t = user;
    return find(t->blob, key, out)
               ? HUB_OK
               : hub_blob_damaged(t->p->catalog, t->p->db, hub_dataset_owner(t->p->row), err);
}

static bool field_of(void *user, uint32_t number, struct hub_facet_field *out)
{
    const struct facts_source *t = user;
    if (number >= t->p->field_count)
        return false;
    struct hub_kept_field *f = &t->p->fields[number];
    *out = (struct hub_facet_field){.path = f->path,
                                    .type = f->type,
                                    .role = f->role,
                                    .is_byte = strcmp(f->shape.dtype, "uint8") == 0,
                                    .known = f->shape.known && f->shape.dtype[0],
                                    .rank = f->shape.rank,
                                    .dims = f->shape.dims};
    return true;
}

static const char *text_of(void *user, enum hub_facet kind, uint32_t number)
{
    const struct facts_source *t = user;
    const struct hub_text_set *said = kind == HUB_FACET_TASK     ? &t->p->tasks
                                      : kind == HUB_FACET_CAMERA ? &t->p->cameras
                                                                 : NULL;
    return said && number < said->count ? said->items[number] : NULL;
}

enum hub_status hub_facets_read(struct hub_publication *p, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct facts_source t = {.p = p};
    HUB_TRY(read_all(p->catalog, p->db, p->row, &stmt, &t.blob, err));
    const struct hub_facet_source source = {&t, p->draft->path, fact_of, field_of, text_of};
    return hub_facet_collect(&source, out, err);
}

enum hub_status hub_dataset_fact(const struct hub_state *state, const char *key, struct hub_buf *out,
                                 struct hub_error *err)
{
    return hub_fact_read(state->catalog, state->db, state->dataset->summary->row, key, out, err);
}
