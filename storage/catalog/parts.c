/* Writing one part: its row, and the blobs of what was found in it. */
#include "storage/base/order.h"
#include "storage/base/pack.h"
#include "storage/catalog/columns.h"
#include "storage/catalog/publish.h"

#include <stdlib.h>

#define MAX_PART_FILES_BYTES (64 * MIB)

uint32_t hub_draft_file(const struct hub_draft *draft, struct hub_view path)
{
    const uint32_t at =
        hub_lower_bound(&path, draft->files, draft->file_count, sizeof *draft->files, hub_view_by_text);
    return at < draft->file_count && hub_view_is(path, draft->files[at].path) ? at : HUB_NONE;
}

enum hub_status hub_part_find(struct hub_db *db, int64_t dataset, const char *name, uint64_t signature,
                              int64_t *row, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(hub_db_query(db, "SELECT row FROM parts WHERE dataset = ? AND name = ? AND signature = ?",
                         dataset, &stmt, err));
    hub_stmt_bind_text(stmt, 2, name);
    hub_stmt_bind_int(stmt, 3, (int64_t)signature);
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return hub_fail(err, HUB_NOT_FOUND, "the part %s is not in the catalogue", name);
    *row = hub_stmt_int(stmt, 0);
    return HUB_OK;
}

enum hub_status hub_part_episodes(struct hub_db *db, int64_t row, uint32_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(hub_db_query(db, "SELECT episodes FROM parts WHERE row = ?", row, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    *count = found ? (uint32_t)hub_stmt_int(stmt, 0) : 0;
    return found ? HUB_OK : hub_fail(err, HUB_NOT_FOUND, "a part is gone from the catalogue");
}

/* Remember the side data of a part that goes; it is unlinked once the transaction stands. */
static enum hub_status doom_side(struct hub_publication *p, int64_t row, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(
        hub_db_query(p->db, "SELECT side FROM parts WHERE row = ? AND side IS NOT NULL", row, &stmt, err));
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return HUB_OK;
    const struct hub_view side = hub_stmt_view(stmt, 0);
    struct hub_retired *retired = calloc(1, sizeof *retired + side.size + 1);
    HUB_TRY(hub_allocated(retired, err));
    memcpy(retired->path, side.data, side.size);
    retired->row = p->row;
    retired->next = p->retired;
    p->retired = retired;
    return HUB_OK;
}

enum hub_status hub_part_delete(struct hub_publication *p, int64_t row, struct hub_error *err)
{
    HUB_TRY(doom_side(p, row, err));
    HUB_TRY(hub_blobs_delete(p->db, row, err));
    return hub_db_run(p->db, "DELETE FROM parts WHERE row = ?", row, err);
}

/* ---- the files a part names ---- */

static void mark(uint8_t *used, uint32_t file_count, uint32_t number)
{
    if (number < file_count)
        used[number] = 1;
}

static enum hub_status write_files(struct hub_publication *p, const struct hub_findings *found, int64_t row,
                                   struct hub_error *err)
{
    const struct hub_draft *draft = p->draft;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(MAX_PART_FILES_BYTES);
    HUB_CLEANUP(hub_freep) uint8_t *used = calloc(draft->file_count + 1, 1);
    HUB_TRY(hub_allocated(used, err));
    for (uint32_t i = 0; i < found->episode_count; i++)
        mark(used, draft->file_count, found->episodes[i].file);
    for (uint32_t i = 0; i < found->media_count; i++)
        mark(used, draft->file_count, found->media[i].file);
    for (uint32_t i = 0; i < found->field_count; i++) {
        struct hub_layout layout;
        if (!found->fields[i].layout)
            continue;
        HUB_TRY(hub_layout_open(found->fields[i].layout, found->fields[i].layout_size, &layout, err));
        for (uint32_t j = 0; j < layout.counts[HUB_T_PIECES]; j++)
            mark(used, draft->file_count, layout.pieces[j].file);
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < draft->file_count; i++)
        count += used[i];
    HUB_TRY(hub_pack_uint(&out, count, err));
    for (uint32_t i = 0; i < draft->file_count; i++) {
        if (!used[i])
            continue;
        HUB_TRY(hub_pack_uint(&out, i, err));
        HUB_TRY(hub_pack_text(&out, draft->files[i].path, err));
    }
    return hub_blob_write(p->db, row, HUB_BLOB_FILES, "", hub_buf_view(&out), err);
}

/* ---- the part ---- */

static enum hub_status write_row(struct hub_publication *p, const struct hub_draft_part *part, int64_t *row,
                                 struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_query(p->db,
                         "INSERT INTO parts (dataset, name, signature, broken, side, side_stamp, episodes)"
                         " VALUES (?, ?, ?, ?, ?, ?, ?)",
                         p->row, &stmt, err));
    hub_stmt_bind_text(stmt, 2, part->name);
    hub_stmt_bind_int(stmt, 3, (int64_t)part->signature);
    hub_stmt_bind_text(stmt, 4, part->broken);
    hub_stmt_bind_text(stmt, 5, part->side);
    if (part->side)
        hub_stmt_bind_blob(stmt, 6, &part->side_stamp, sizeof part->side_stamp);
    hub_stmt_bind_int(stmt, 7, part->found ? part->found->episode_count : 0);
    HUB_TRY(hub_stmt_run(stmt, err));
    *row = hub_db_last_row(p->db);
    return HUB_OK;
}

enum hub_status hub_part_write(struct hub_publication *p, const struct hub_draft_part *part, int64_t *row,
                               struct hub_error *err)
{
    static const struct hub_findings nothing;
    const struct hub_findings *found = part->found ? part->found : &nothing;
    int64_t old;
    const enum hub_status known = hub_part_find(p->db, p->row, part->name, part->signature, &old, err);
    if (known && known != HUB_NOT_FOUND)
        return known;
    if (!known)
        HUB_TRY(hub_part_delete(p, old, err));
    HUB_TRY(write_row(p, part, row, err));
    HUB_TRY(write_files(p, found, *row, err));
    HUB_TRY(hub_fields_write(p->db, *row, found, err));
    HUB_TRY(hub_columns_write(p->db, *row, found, err));
    HUB_TRY(hub_media_write(p, *row, found, err));
    HUB_TRY(hub_problems_write(p->db, *row, found, err));
    return hub_db_run(p->db,
                      "UPDATE parts SET blobs = (SELECT count(*) FROM blobs WHERE owner = ?1) WHERE row = ?1",
                      *row, err);
}
