/* Layouts on first use: read from index.db, file numbers brought to today's, proven again against today's
 * file sizes, kept in the cache under (part, field path, state of the dataset): the same part may be kept in
 * a later state with other file numbers.
 *
 * Memory: those in the cache and those in use share what the cache may have. What finds no room there is
 * taken from the memory of requests before it is read, and not kept. */
#include "storage/catalog/internal.h"

#include <stdlib.h>

enum { NO_FILE = INT32_MAX }; /* past every file table: the proof refuses it */

struct hub_layout_ref {
    struct hub_lru_item item; /* first */
    struct hub_catalog *catalog;
    struct hub_layout layout;
    bool other_type; /* than the parts before say: none of it can be read */
    void *blob;
    size_t taken; /* of the memory of requests */
    char path[];
};

static void ref_free(struct hub_lru_item *item)
{
    struct hub_layout_ref *ref = (struct hub_layout_ref *)item;
    const struct hub_catalog_options *options = &ref->catalog->options;
    atomic_fetch_sub(&ref->catalog->layout_bytes, item->bytes);
    if (ref->taken)
        options->give(options->memory, ref->taken);
    free(ref->blob);
    free(ref);
}

static enum hub_status reserve(struct hub_layout_ref *ref, size_t size, struct hub_error *err)
{
    struct hub_catalog *catalog = ref->catalog;
    const struct hub_catalog_options *options = &catalog->options;
    const size_t bytes = sizeof *ref + size + strlen(ref->path);
    hub_lru_make_room(catalog->lru, &ref->item.key, bytes);
    ref->item.bytes = bytes;
    const size_t all = atomic_fetch_add(&catalog->layout_bytes, bytes) + bytes;
    if (all <= options->cache_bytes || all == bytes || !options->take)
        return HUB_OK;
    const size_t over = HUB_MIN(bytes, all - options->cache_bytes);
    if (!options->take(options->memory, over)) {
        hub_fail_as(err, HUB_BUSY, "overloaded",
                    "no memory is free now to look up the rows of '%s' (%zu KiB): ask again, or for fewer "
                    "fields at once",
                    ref->path, bytes / KIB);
        return HUB_BUSY;
    }
    ref->taken = over;
    return HUB_OK;
}

/* The layout was written with the file numbers of its inspection. */
static void renumber(struct hub_layout *layout, const struct hub_part_files *map)
{
    struct hub_piece *pieces = (struct hub_piece *)layout->pieces; /* our own copy of the blob */
    for (uint32_t i = 0; map->count && i < layout->counts[HUB_T_PIECES]; i++) {
        if (pieces[i].file == HUB_NONE || pieces[i].file == HUB_SIDE_FILE)
            continue;
        const uint32_t today = hub_part_file(map, pieces[i].file);
        pieces[i].file = today == HUB_NONE ? NO_FILE : today;
    }
}

static enum hub_status prove(struct hub_layout_ref *ref, const struct hub_dataset_box *box, uint32_t part,
                             size_t size, struct hub_error *err)
{
    HUB_TRY(hub_layout_open(ref->blob, size, &ref->layout, err));
    renumber(&ref->layout, &box->maps[part]);
    const struct hub_dataset_part *p = &box->dataset.parts[part];
    const uint64_t side_size =
        p->side && p->side_stamp.size > HUB_SEAL_BYTES ? p->side_stamp.size - HUB_SEAL_BYTES : 0;
    return hub_layout_check(&ref->layout, box->file_sizes, box->dataset.file_count, side_size,
                            box->part_episodes[part], err);
}

static enum hub_status load(struct hub_catalog *catalog, const struct hub_dataset_box *box, uint32_t part,
                            uint32_t field, struct hub_layout_ref *ref, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const struct hub_dataset_part *p = &box->dataset.parts[part];
    const struct hub_dataset_field *f = &box->dataset.fields[field];
    struct hub_db *db;
    bool row;
    HUB_TRY(hub_catalog_reader(catalog, &db, err));
    HUB_TRY(hub_db_prepare(db,
                           "SELECT f.row, f.type, length(f.layout) FROM parts p LEFT JOIN"
                           " part_fields f ON f.part = p.row AND f.path = ? WHERE p.row = ?",
                           &stmt, err));
    hub_stmt_bind_text(stmt, 1, f->path);
    hub_stmt_bind_int(stmt, 2, p->row);
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail_as(err, HUB_CHANGED, "dataset-changing", "%s was published anew: ask again",
                           box->dataset.summary->id);
    if (hub_stmt_is_null(stmt, 2))
        return hub_fail_as(err, HUB_NOT_FOUND, "field-not-found", "%s has no rows in %s", f->path, p->name);
    ref->other_type = hub_stmt_int(stmt, 1) != (int64_t)f->type;
    const size_t size = (size_t)hub_stmt_int(stmt, 2);
    HUB_TRY(reserve(ref, size, err));
    ref->blob = malloc(size ? size : 1);
    HUB_TRY(hub_allocated(ref->blob, err));
    HUB_TRY(hub_db_read_blob(db, "part_fields", "layout", hub_stmt_int(stmt, 0), ref->blob, size, err));
    const enum hub_status st = prove(ref, box, part, size, err);
    if (st == HUB_CORRUPT) /* it was proven when it was stored */
        return hub_fail_as(err, st, "internal", "the catalogue's layout of %s is damaged", f->path);
    return st;
}

enum hub_status hub_layout_get(struct hub_catalog *catalog, const struct hub_dataset *dataset, uint32_t part,
                               uint32_t field, bool may_block, struct hub_layout_ref **out,
                               struct hub_error *err)
{
    const char *path = dataset->fields[field].path;
    const struct hub_lru_key key = {hub_cache_layouts(dataset->summary->serial),
                                    (uint64_t)dataset->parts[part].row, hub_text_hash(hub_view_of(path))};
    struct hub_layout_ref *ref = (struct hub_layout_ref *)hub_lru_get(catalog->lru, &key);
    if (ref && strcmp(ref->path, path) != 0) { /* another path of the same hash */
        hub_lru_drop(catalog->lru, &key);
        hub_lru_put(&ref->item);
        ref = NULL;
    }
    if (!ref && !may_block)
        return hub_fail(err, HUB_AGAIN, "the layout of %s is not in memory", path);
    if (!ref) {
        HUB_TRY(hub_new(&ref, 1, sizeof *ref + strlen(path) + 1, err));
        ref->item.key = key;
        ref->item.free = ref_free;
        ref->catalog = catalog;
        strcpy(ref->path, path);
        const enum hub_status st = load(catalog, hub_dataset_box_of(dataset), part, field, ref, err);
        if (st) {
            ref_free(&ref->item);
            return st;
        }
        if (ref->taken)
            atomic_store(&ref->item.refs, 1);
        else
            ref = (struct hub_layout_ref *)hub_lru_add(catalog->lru, &ref->item);
    }
    *out = ref;
    return HUB_OK;
}

const struct hub_layout *hub_layout_of(const struct hub_layout_ref *ref)
{
    return &ref->layout;
}

const char *hub_layout_why(const struct hub_layout_ref *ref, const struct hub_window *window)
{
    const char *why = hub_layout_refusal(&ref->layout, window);
    return why || !ref->other_type ? why : "it has another type in the parts before";
}

enum hub_status hub_layout_find(const struct hub_layout_ref *ref, const struct hub_dataset_episode *episode,
                                const struct hub_window **out, struct hub_error *err)
{
    const struct hub_window *window = hub_layout_window(&ref->layout, episode->index);
    if (!window)
        return hub_fail_as(err, HUB_NOT_FOUND, "field-not-found", "episode %lld has no '%s'",
                           (long long)episode->number, ref->path);
    const char *why = hub_layout_why(ref, window);
    if (why)
        return hub_fail_as(err, HUB_UNSUPPORTED, "field-unreadable", "'%s' cannot be read: %s", ref->path,
                           why);
    *out = window;
    return HUB_OK;
}

void hub_layout_put(struct hub_layout_ref *ref)
{
    if (ref)
        hub_lru_put(&ref->item);
}
