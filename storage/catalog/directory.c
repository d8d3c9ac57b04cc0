/* The packed directory of a dataset, as dataset.c reads it: files, parts with their file numbers, fields,
 * episodes. */
#include "storage/base/pack.h"
#include "storage/catalog/publish.h"

#include <stdio.h>

#define MAX_DIRECTORY_BYTES (900 * MIB)

static enum hub_status put_stamp(struct hub_buf *out, const struct hub_stamp *stamp, struct hub_error *err)
{
    HUB_TRY(hub_pack_uint(out, stamp->size, err));
    HUB_TRY(hub_pack_uint(out, stamp->mtime_ns, err));
    return hub_pack_uint(out, stamp->tag, err);
}

static enum hub_status put_files(const struct hub_draft *draft, struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_pack_uint(out, draft->file_count, err));
    for (uint32_t i = 0; i < draft->file_count; i++) {
        HUB_TRY(hub_pack_text(out, draft->files[i].path, err));
        HUB_TRY(put_stamp(out, &draft->files[i].stamp, err));
    }
    return HUB_OK;
}

/* The part's files by number then and now, in the order of then; none when nothing moved. */
static enum hub_status map_files(struct hub_publication *p, int64_t part, struct hub_buf *from,
                                 struct hub_buf *to, uint32_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_view blob;
    const struct hub_blob_id id = {p->catalog, p->db, part, HUB_BLOB_FILES, ""};
    const enum hub_status st = hub_blob_read(&id, &stmt, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_missing(p->catalog, p->db, part, err) : st;
    struct hub_cursor c = hub_cursor_of(blob.data, blob.size);
    const uint32_t n = hub_unpack_count(&c);
    bool same = true;
    from->size = to->size = 0;
    for (uint32_t i = 0; i < n && !c.failed; i++) {
        const uint32_t then = hub_unpack_u32(&c);
        const struct hub_view path = hub_unpack_view(&c);
        const uint32_t now = hub_draft_file(p->draft, path);
        if (now == HUB_NONE)
            return hub_fail(err, HUB_INVALID, "%s: a kept part names %.*s, which is not among the files",
                            p->draft->id, (int)path.size, path.data);
        same = same && then == now;
        HUB_TRY(hub_pack_uint(from, then, err));
        HUB_TRY(hub_pack_uint(to, now, err));
    }
    *count = same || c.failed ? 0 : n;
    return c.failed ? hub_blob_damaged(p->catalog, p->db, part, err) : HUB_OK;
}

static enum hub_status note_broken(struct hub_publication *p, const char *name, const char *why,
                                   struct hub_error *err)
{
    if (!p->broken_parts++ && asprintf(&p->broken_why, "%s: %s", name, why) < 0)
        p->broken_why = NULL;
    return hub_publication_problem(p, "part-broken", name, err, "%s", why);
}

static enum hub_status put_part(struct hub_publication *p, uint32_t part, struct hub_buf *out,
                                uint32_t *entries, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf from = HUB_BUF_INIT(MAX_DIRECTORY_BYTES);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf to = HUB_BUF_INIT(MAX_DIRECTORY_BYTES);
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    struct hub_stamp stamp = {0};
    uint32_t count = 0;
    bool row;
    HUB_TRY(hub_db_query(p->db, "SELECT name, broken, side, side_stamp, episodes FROM parts WHERE row = ?",
                         p->part_rows[part], &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &row, err));
    if (!row)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INTERNAL, "a part of %s is gone from the catalogue",
                           p->draft->id);
    HUB_TRY(map_files(p, p->part_rows[part], &from, &to, &count, err));
    if (!hub_stmt_is_null(stmt, 1))
        HUB_TRY(note_broken(p, hub_stmt_text(stmt, 0), hub_stmt_text(stmt, 1), err));
    HUB_TRY(hub_pack_int(out, p->part_rows[part], err));
    HUB_TRY(hub_pack_text(out, hub_stmt_text(stmt, 0), err));
    HUB_TRY(hub_pack_option(out, hub_stmt_text(stmt, 1), err));
    HUB_TRY(hub_pack_option(out, hub_stmt_text(stmt, 2), err));
    const struct hub_view stored = hub_stmt_blob(stmt, 3);
    if (stored.size == sizeof stamp)
        memcpy(&stamp, stored.data, sizeof stamp);
    if (!hub_stmt_is_null(stmt, 2))
        HUB_TRY(put_stamp(out, &stamp, err));
    HUB_TRY(hub_pack_uint(out, (uint64_t)hub_stmt_int(stmt, 4), err));
    HUB_TRY(hub_pack_uint(out, count, err));
    *entries += count;
    if (!count)
        return HUB_OK;
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(&from), err));
    return hub_buf_add_view(out, hub_buf_view(&to), err);
}

static enum hub_status put_parts(struct hub_publication *p, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf parts = HUB_BUF_INIT(MAX_DIRECTORY_BYTES);
    uint32_t entries = 0;
    for (uint32_t i = 0; i < p->draft->part_count; i++)
        HUB_TRY(put_part(p, i, &parts, &entries, err));
    HUB_TRY(hub_pack_uint(out, p->draft->part_count, err));
    HUB_TRY(hub_pack_uint(out, entries, err));
    return hub_buf_add_view(out, hub_buf_view(&parts), err);
}

static enum hub_status put_shape(struct hub_buf *out, const struct hub_shape *shape, struct hub_error *err)
{
    char text[16 * HUB_MAX_RANK];
    struct hub_buf json = HUB_BUF_INIT(sizeof text);
    if (!shape->dtype[0] || !shape->known)
        return hub_pack_text(out, "", err);
    enum hub_status st = hub_buf_add_text(&json, "[", err);
    for (uint32_t i = 0; !st && i < shape->rank; i++) {
        if (shape->dims[i] == HUB_DIMS_VARIES)
            st = hub_buf_addf(&json, err, "%snull", i ? "," : "");
        else
            st = hub_buf_addf(&json, err, "%s%u", i ? "," : "", shape->dims[i]);
    }
    if (!st)
        st = hub_buf_add_text(&json, "]", err);
    if (!st)
        st = hub_pack_text(out, json.data, err);
    hub_buf_dispose(&json);
    return st;
}

static enum hub_status put_fields(const struct hub_publication *p, struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_pack_uint(out, p->field_count, err));
    for (uint32_t i = 0; i < p->field_count; i++) {
        const struct hub_kept_field *f = &p->fields[i];
        HUB_TRY(hub_pack_text(out, f->path, err));
        HUB_TRY(hub_pack_uint(out, f->type, err));
        HUB_TRY(hub_pack_uint(out, f->role, err));
        HUB_TRY(hub_pack_uint(out, f->axis, err));
        HUB_TRY(hub_pack_option(out, f->readable ? NULL : f->unreadable, err));
        HUB_TRY(hub_pack_text(out, f->shape.dtype, err));
        HUB_TRY(put_shape(out, &f->shape, err));
        HUB_TRY(hub_pack_uint(out, f->episodes, err));
    }
    return HUB_OK;
}

static enum hub_status put_episodes(const struct hub_publication *p, struct hub_buf *out,
                                    struct hub_error *err)
{
    int64_t number = -1;
    uint32_t part = 0, index = UINT32_MAX;
    HUB_TRY(hub_pack_uint(out, p->episode_count, err));
    for (uint32_t i = 0; i < p->episode_count; i++) {
        const struct hub_dataset_episode *e = &p->episodes[i];
        HUB_TRY(hub_pack_int(out, e->number - number - 1, err));
        HUB_TRY(hub_pack_int(out, (int32_t)(e->part - part), err));
        HUB_TRY(hub_pack_int(out, (int32_t)(e->index - index - 1), err));
        HUB_TRY(hub_pack_uint(out, e->steps, err));
        number = e->number;
        part = e->part;
        index = e->index;
    }
    return HUB_OK;
}

enum hub_status hub_directory_write(struct hub_publication *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf blob = HUB_BUF_INIT(MAX_DIRECTORY_BYTES);
    HUB_TRY(put_files(p->draft, &blob, err));
    HUB_TRY(put_parts(p, &blob, err));
    HUB_TRY(put_fields(p, &blob, err));
    HUB_TRY(put_episodes(p, &blob, err));
    return hub_blob_write(p->db, hub_dataset_owner(p->row), HUB_BLOB_DIRECTORY, "", hub_buf_view(&blob), err);
}
