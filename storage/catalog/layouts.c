/* Layouts on first use: read from the index, file numbers brought to today's, proven again against today's
 * file sizes, kept in the cache under (part, field path, state of the dataset): the same part may be kept in
 * a later state with other file numbers. */
#include "storage/catalog/fields.h"

#include <stdlib.h>

enum { NO_FILE = INT32_MAX }; /* past every file table: the proof refuses it */

struct hub_layout_ref {
    struct hub_cached_blob blob; /* first; its name is the field's path */
    struct hub_layout layout;
    bool other_type; /* its type differs from that in earlier parts: unreadable */
};

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

struct layout_source {
    struct hub_dataset_box *box;
    struct hub_db *db;
    uint32_t part, field;
    bool other_type;
};

/* A field may have such a name: its key is another. */
static struct hub_lru_key windows_key(const struct layout_source *source, const char *name)
{
    return (struct hub_lru_key){hub_cache_layouts(source->box->dataset.summary->serial),
                                (uint64_t)source->box->dataset.parts[source->part].row,
                                ~hub_text_hash(hub_view_of(name))};
}

static enum hub_status no_more(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    (void)blob, (void)user, (void)err;
    return HUB_OK;
}

/* The windows that it has in common with others. */
static enum hub_status use_windows(struct hub_cached_blob *blob, const struct layout_source *source,
                                   uint32_t number, struct hub_error *err)
{
    const struct hub_blob_maker maker = {.size = sizeof *blob, .make = no_more};
    const int64_t row = source->box->dataset.parts[source->part].row;
    char name[HUB_WINDOWS_NAME];
    hub_windows_name(number, name);
    const struct hub_lru_key key = windows_key(source, name);
    const struct hub_blob_id id = {blob->catalog, source->db, row, HUB_BLOB_WINDOWS, name};
    blob->uses = hub_blob_cached(blob->catalog, &key, name);
    if (blob->uses)
        return HUB_OK;
    const enum hub_status st = hub_blob_load(&id, &key, &maker, &blob->uses, err);
    return st == HUB_NOT_FOUND ? hub_blob_missing(blob->catalog, source->db, row, err) : st;
}

static enum hub_status open_layout(struct hub_cached_blob *blob, const struct layout_source *source,
                                   struct hub_layout *out, struct hub_error *err)
{
    const uint32_t number = hub_layout_apart(blob->data, blob->size);
    if (!number)
        return hub_layout_open(blob->data, blob->size, out, err);
    HUB_TRY(use_windows(blob, source, number, err));
    const struct hub_view windows = {blob->uses->data, blob->uses->size};
    return hub_layout_join(blob->data, blob->size, windows, out, err);
}

static enum hub_status prove(struct hub_cached_blob *blob, void *user, struct hub_error *err)
{
    struct hub_layout_ref *ref = (struct hub_layout_ref *)blob;
    const struct layout_source *source = user;
    const struct hub_dataset_box *box = source->box;
    const struct hub_dataset_part *p = &box->dataset.parts[source->part];
    const uint64_t side_size =
        p->side && p->side_stamp.size > HUB_SEAL_BYTES ? p->side_stamp.size - HUB_SEAL_BYTES : 0;
    enum hub_status st = open_layout(blob, source, &ref->layout, err);
    if (!st) {
        renumber(&ref->layout, &box->maps[source->part]);
        st = hub_layout_check(&ref->layout, box->file_sizes, box->dataset.file_count, side_size,
                              box->part_episodes[source->part], err);
    }
    ref->other_type = source->other_type;
    ref->layout.serial = atomic_fetch_add(&blob->catalog->layouts_opened, 1) + 1;
    ref->layout.decoded = blob->catalog->options.decoded;
    ref->layout.levels = blob->catalog->options.levels;
    /* it was proven when it was stored */
    return st == HUB_CORRUPT ? hub_blob_damaged(blob->catalog, source->db, p->row, err) : st;
}

static enum hub_status changing(const struct layout_source *source, struct hub_error *err)
{
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DATASET_CHANGING,
                       "%s has just been published again: retry", source->box->dataset.summary->id);
}

/* The part's own word about the field: it may have another type there. */
static enum hub_status find_in_part(struct hub_catalog *catalog, struct layout_source *source,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_fields_dispose) struct hub_fields fields = {0};
    const struct hub_dataset_part *part = &source->box->dataset.parts[source->part];
    const struct hub_dataset_field *field = &source->box->dataset.fields[source->field];
    if (atomic_load(&source->box->fields_agree) && field->episodes)
        return HUB_OK;
    const enum hub_status st = hub_fields_read(catalog, source->db, part->row, &fields, err);
    if (st)
        return st == HUB_NOT_FOUND ? changing(source, err) : st;
    for (uint32_t i = 0; i < fields.count; i++) {
        if (strcmp(fields.items[i].path, field->path) != 0 || !fields.items[i].episodes)
            continue;
        source->other_type = fields.items[i].type != field->type;
        atomic_store(&source->box->fields_agree, source->box->dataset.part_count == 1);
        return HUB_OK;
    }
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "%s has no rows in %s", field->path,
                       part->name);
}

static enum hub_status load(struct hub_catalog *catalog, struct layout_source *source,
                            const struct hub_lru_key *key, struct hub_cached_blob **out,
                            struct hub_error *err)
{
    const struct hub_blob_maker maker = {sizeof(struct hub_layout_ref), prove, source};
    const int64_t row = source->box->dataset.parts[source->part].row;
    const char *path = source->box->dataset.fields[source->field].path;
    HUB_TRY(hub_catalog_reader(catalog, &source->db, err));
    HUB_TRY(find_in_part(catalog, source, err));
    const struct hub_blob_id id = {catalog, source->db, row, HUB_BLOB_LAYOUT, path};
    enum hub_status st = hub_blob_load(&id, key, &maker, out, err);
    if (st == HUB_NOT_FOUND)
        st = hub_blob_missing(catalog, source->db, row, err);
    return st == HUB_NOT_FOUND ? changing(source, err) : st;
}

enum hub_status hub_layout_get(struct hub_catalog *catalog, const struct hub_dataset *dataset, uint32_t part,
                               uint32_t field, bool may_block, struct hub_layout_ref **out,
                               struct hub_error *err)
{
    struct layout_source source = {.box = hub_dataset_box_of(dataset), .part = part, .field = field};
    const char *path = dataset->fields[field].path;
    const struct hub_lru_key key = {hub_cache_layouts(dataset->summary->serial),
                                    (uint64_t)dataset->parts[part].row, hub_text_hash(hub_view_of(path))};
    struct hub_cached_blob *blob = hub_blob_cached(catalog, &key, path);
    if (!blob && !may_block)
        return hub_fail(err, HUB_AGAIN, "the layout of %s is not in memory", path);
    if (!blob)
        HUB_TRY(load(catalog, &source, &key, &blob, err));
    else if (blob->uses) /* as new as its user */
        hub_lru_put(hub_lru_get(catalog->lru, &blob->uses->item.key));
    *out = (struct hub_layout_ref *)blob;
    return HUB_OK;
}

const struct hub_layout *hub_layout_of(const struct hub_layout_ref *ref)
{
    return &ref->layout;
}

const char *hub_layout_why(const struct hub_layout_ref *ref, const struct hub_window *window)
{
    const char *why = hub_layout_refusal(&ref->layout, window);
    return why || !ref->other_type ? why : "its type differs from that in earlier parts";
}

enum hub_status hub_layout_find(const struct hub_layout_ref *ref, const struct hub_dataset_episode *episode,
                                const struct hub_window **out, struct hub_error *err)
{
    const struct hub_window *window = hub_layout_window(&ref->layout, episode->index);
    if (!window)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "episode %lld has no '%s'",
                           (long long)episode->number, ref->blob.name);
    const char *why = hub_layout_why(ref, window);
    if (why)
        return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_FIELD_UNREADABLE, "'%s' cannot be read: %s",
                           ref->blob.name, why);
    *out = window;
    return HUB_OK;
}

void hub_layout_put(struct hub_layout_ref *ref)
{
    if (ref)
        hub_lru_put(&ref->blob.item);
}
