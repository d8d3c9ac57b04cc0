/* Writing one part: its row, the files it names, its fields with their layouts, its episodes with their
 * splits, its problems. */
#include "storage/base/pack.h"
#include "storage/catalog/publish.h"

#include "storage/base/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLAG_RETURN_COMPUTED = 1, FLAG_RETURN_NAN = 2 };
#define MAX_PART_FILES_BYTES (64 * MIB)

uint32_t hub_draft_file(const struct hub_draft *draft, struct hub_view path)
{
    uint32_t low = 0, high = draft->file_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const char *at = draft->files[middle].path;
        int order = strncmp(at, path.data ? path.data : "", path.size);
        if (!order && at[path.size])
            order = 1;
        if (!order)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return HUB_NONE;
}

enum hub_status hub_part_find(struct hub_db *db, int64_t dataset, const char *name, uint64_t signature,
                              int64_t *row, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(hub_db_prepare(db, "SELECT row FROM parts WHERE dataset = ? AND name = ? AND signature = ?",
                           &stmt, err));
    hub_stmt_bind_int(stmt, 1, dataset);
    hub_stmt_bind_text(stmt, 2, name);
    hub_stmt_bind_int(stmt, 3, (int64_t)signature);
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return hub_fail(err, HUB_NOT_FOUND, "the part %s is not in the catalogue", name);
    *row = hub_stmt_int(stmt, 0);
    return HUB_OK;
}

static enum hub_status delete_from(struct hub_db *db, const char *sql, int64_t row, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(db, sql, &stmt, err));
    hub_stmt_bind_int(stmt, 1, row);
    return hub_stmt_run(stmt, err);
}

/* Remember the side data of a part that goes; it is unlinked once the transaction stands. */
static enum hub_status doom_side(struct hub_publication *p, int64_t row, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool found;
    HUB_TRY(hub_db_prepare(p->db, "SELECT side FROM parts WHERE row = ? AND side IS NOT NULL", &stmt, err));
    hub_stmt_bind_int(stmt, 1, row);
    HUB_TRY(hub_stmt_step(stmt, &found, err));
    if (!found)
        return HUB_OK;
    const struct hub_view side = hub_stmt_view(stmt, 0);
    struct hub_doomed *doomed = calloc(1, sizeof *doomed + side.size + 1);
    if (!doomed)
        return hub_fail(err, HUB_NO_MEMORY, "no memory to publish");
    memcpy(doomed->path, side.data, side.size);
    doomed->row = p->row;
    doomed->next = p->doomed;
    p->doomed = doomed;
    return HUB_OK;
}

enum hub_status hub_part_delete(struct hub_publication *p, int64_t row, struct hub_error *err)
{
    HUB_TRY(doom_side(p, row, err));
    HUB_TRY(delete_from(p->db, "DELETE FROM episode_splits WHERE part = ?", row, err));
    HUB_TRY(delete_from(p->db, "DELETE FROM episodes WHERE part = ?", row, err));
    HUB_TRY(delete_from(p->db, "DELETE FROM part_fields WHERE part = ?", row, err));
    HUB_TRY(delete_from(p->db, "DELETE FROM problems WHERE source = 2 AND owner = ?", row, err));
    return delete_from(p->db, "DELETE FROM parts WHERE row = ?", row, err);
}

/* ---- problems ---- */

enum hub_status hub_part_problem(struct hub_publication *p, enum hub_problem_source source, int64_t owner,
                                 uint32_t position, const char *code, const char *path, const char *detail,
                                 struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        p->db, "INSERT INTO problems (source, owner, position, code, path, detail) VALUES (?, ?, ?, ?, ?, ?)",
        &stmt, err));
    hub_stmt_bind_int(stmt, 1, source);
    hub_stmt_bind_int(stmt, 2, owner);
    hub_stmt_bind_int(stmt, 3, position);
    hub_stmt_bind_text(stmt, 4, code ? code : "");
    hub_stmt_bind_text(stmt, 5, path ? path : "");
    hub_stmt_bind_text(stmt, 6, detail ? detail : "");
    return hub_stmt_run(stmt, err);
}

enum hub_status hub_publication_problem(struct hub_publication *p, const char *code, const char *path,
                                        struct hub_error *err, const char *fmt, ...)
{
    char detail[1024];
    va_list args;
    if (p->problem_count == HUB_MAX_PROBLEMS)
        return HUB_OK;
    va_start(args, fmt);
    vsnprintf(detail, sizeof detail, fmt, args);
    va_end(args);
    return hub_part_problem(p, HUB_PROBLEM_PUBLISH, p->row, p->problem_count++, code, path, detail, err);
}

/* ---- the files a part names ---- */

static void mark(uint8_t *used, uint32_t file_count, uint32_t number)
{
    if (number < file_count)
        used[number] = 1;
}

static enum hub_status pack_files(const struct hub_draft *draft, const struct hub_findings *found,
                                  struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint8_t *used = calloc(draft->file_count + 1, 1);
    if (!used)
        return hub_fail(err, HUB_NO_MEMORY, "no memory to publish");
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
    HUB_TRY(hub_pack_uint(out, count, err));
    for (uint32_t i = 0; i < draft->file_count; i++) {
        if (!used[i])
            continue;
        HUB_TRY(hub_pack_uint(out, i, err));
        HUB_TRY(hub_pack_text(out, draft->files[i].path, err));
    }
    return HUB_OK;
}

/* ---- fields ---- */

static enum hub_status write_field(struct hub_db *db, int64_t part, const struct hub_found_field *field,
                                   struct hub_error *err)
{
    struct hub_stmt *stmt;
    struct hub_shape shape = {.dtype = ""};
    uint32_t windows = 0;
    if (field->layout) {
        struct hub_layout opened;
        HUB_TRY(hub_layout_open(field->layout, field->layout_size, &opened, err));
        hub_shape_of_layout(&opened, field->type, &shape);
        windows = opened.counts[HUB_T_WINDOWS];
    }
    HUB_TRY(hub_db_prepare(
        db,
        "INSERT INTO part_fields (part, path, type, role, axis, unreadable, dtype, dims, episodes, layout)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &stmt, err));
    hub_stmt_bind_int(stmt, 1, part);
    hub_stmt_bind_text(stmt, 2, field->path);
    hub_stmt_bind_int(stmt, 3, field->type);
    hub_stmt_bind_int(stmt, 4, field->role);
    hub_stmt_bind_int(stmt, 5, field->axis);
    hub_stmt_bind_text(stmt, 6, field->unreadable);
    hub_stmt_bind_text(stmt, 7, shape.dtype);
    if (shape.known)
        hub_stmt_bind_blob(stmt, 8, shape.dims, shape.rank * sizeof shape.dims[0]);
    hub_stmt_bind_int(stmt, 9, windows);
    if (field->layout)
        hub_stmt_bind_blob(stmt, 10, field->layout, field->layout_size);
    return hub_stmt_run(stmt, err);
}

/* ---- episodes ---- */

/* A seed is kept so that seeds sort as numbers: within int64 as one, up to uint64 as 20 digits, else as the
 * text it is. */
static void bind_seed(struct hub_stmt *stmt, int parameter, const char *seed, char padded[24])
{
    const size_t size = seed ? strlen(seed) : 0;
    const bool negative = size && seed[0] == '-';
    const char *digits = seed ? seed + negative : "";
    const size_t count = strlen(digits);
    const bool canonical = count && count <= 20 && strspn(digits, "0123456789") == count &&
                           (digits[0] != '0' || (count == 1 && !negative));
    if (!seed) {
        hub_stmt_bind_null(stmt, parameter);
    } else if (canonical && (count < 19 || (count == 19 && strcmp(digits, "9223372036854775807") <= 0))) {
        hub_stmt_bind_int(stmt, parameter, strtoll(seed, NULL, 10));
    } else if (canonical && !negative) {
        snprintf(padded, 24, "%020llu", strtoull(seed, NULL, 10));
        hub_stmt_bind_text(stmt, parameter, count == 20 ? seed : padded);
    } else {
        hub_stmt_bind_text(stmt, parameter, seed);
    }
}

static void bind_flag(struct hub_stmt *stmt, int parameter, int8_t value)
{
    if (value < 0)
        hub_stmt_bind_null(stmt, parameter);
    else
        hub_stmt_bind_int(stmt, parameter, value != 0);
}

static enum hub_status write_episode(struct hub_db *db, int64_t part, uint32_t position, int64_t dataset,
                                     int64_t number, const struct hub_found_episode *e, struct hub_error *err)
{
    struct hub_stmt *stmt;
    char padded[24];
    const bool nan = e->has_return && e->episode_return != e->episode_return;
    HUB_TRY(hub_db_prepare(
        db,
        "INSERT INTO episodes (part, position, dataset, number, own, steps, return, flags, seed, success,"
        " terminated, truncated, task, file, name, splits, attributes, statistics)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        &stmt, err));
    hub_stmt_bind_int(stmt, 1, part);
    hub_stmt_bind_int(stmt, 2, position);
    hub_stmt_bind_int(stmt, 3, dataset);
    if (dataset)
        hub_stmt_bind_int(stmt, 4, number);
    hub_stmt_bind_int(stmt, 5, e->number);
    hub_stmt_bind_int(stmt, 6, (int64_t)e->steps);
    if (e->has_return && !nan)
        hub_stmt_bind_real(stmt, 7, e->episode_return);
    hub_stmt_bind_int(stmt, 8, (e->return_computed ? FLAG_RETURN_COMPUTED : 0) | (nan ? FLAG_RETURN_NAN : 0));
    bind_seed(stmt, 9, e->seed, padded);
    bind_flag(stmt, 10, e->success);
    bind_flag(stmt, 11, e->terminated);
    bind_flag(stmt, 12, e->truncated);
    hub_stmt_bind_text(stmt, 13, e->task);
    hub_stmt_bind_int(stmt, 14, e->file);
    hub_stmt_bind_text(stmt, 15, e->name);
    hub_stmt_bind_text(stmt, 16, e->splits);
    hub_stmt_bind_text(stmt, 17, e->attributes);
    hub_stmt_bind_text(stmt, 18, e->statistics);
    return hub_stmt_run(stmt, err);
}

/* The episode's row once more, for each of its splits. */
static enum hub_status write_split(struct hub_db *db, int64_t part, uint32_t position, const char *split,
                                   struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        db,
        "INSERT OR IGNORE INTO episode_splits (part, position, split, dataset, number, steps,"
        " return, seed, success, task) SELECT part, position, ?3, dataset, number, steps, return,"
        " seed, success, task FROM episodes WHERE part = ?1 AND position = ?2",
        &stmt, err));
    hub_stmt_bind_int(stmt, 1, part);
    hub_stmt_bind_int(stmt, 2, position);
    hub_stmt_bind_text(stmt, 3, split);
    return hub_stmt_run(stmt, err);
}

static enum hub_status write_splits(struct hub_db *db, int64_t part, uint32_t position, const char *splits,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *array = NULL;
    size_t i;
    json_t *split;
    HUB_TRY(hub_json_parse(hub_view_of(splits), HUB_MAX_ATTRIBUTES, &array, err));
    json_array_foreach(array, i, split) if (json_is_string(split))
        HUB_TRY(write_split(db, part, position, json_string_value(split), err));
    return HUB_OK;
}

static enum hub_status write_episodes(struct hub_publication *p, int64_t part,
                                      const struct hub_findings *found, bool show, uint64_t base,
                                      struct hub_error *err)
{
    const int64_t dataset = show ? p->row : 0;
    for (uint32_t i = 0; i < found->episode_count; i++) {
        const struct hub_found_episode *e = &found->episodes[i];
        const int64_t number = e->number >= 0 ? e->number : (int64_t)(base + i);
        if (e->steps > INT64_MAX)
            return hub_fail(err, HUB_CORRUPT, "an episode of %llu steps", (unsigned long long)e->steps);
        HUB_TRY(write_episode(p->db, part, i, dataset, number, e, err));
        if (e->splits)
            HUB_TRY(write_splits(p->db, part, i, e->splits, err));
    }
    return HUB_OK;
}

/* ---- the part ---- */

static enum hub_status write_row(struct hub_publication *p, const struct hub_draft_part *part,
                                 const struct hub_buf *files, int64_t *row, struct hub_error *err)
{
    struct hub_stmt *stmt;
    HUB_TRY(hub_db_prepare(
        p->db,
        "INSERT INTO parts (dataset, name, signature, broken, side, side_stamp, files, episodes)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        &stmt, err));
    hub_stmt_bind_int(stmt, 1, p->row);
    hub_stmt_bind_text(stmt, 2, part->name);
    hub_stmt_bind_int(stmt, 3, (int64_t)part->signature);
    hub_stmt_bind_text(stmt, 4, part->broken);
    hub_stmt_bind_text(stmt, 5, part->side);
    if (part->side)
        hub_stmt_bind_blob(stmt, 6, &part->side_stamp, sizeof part->side_stamp);
    hub_stmt_bind_blob(stmt, 7, files->data, files->size);
    hub_stmt_bind_int(stmt, 8, part->found ? part->found->episode_count : 0);
    HUB_TRY(hub_stmt_run(stmt, err));
    *row = hub_db_last_row(p->db);
    return HUB_OK;
}

enum hub_status hub_part_write(struct hub_publication *p, const struct hub_draft_part *part, bool show,
                               uint64_t base, int64_t *row, struct hub_error *err)
{
    static const struct hub_findings nothing;
    const struct hub_findings *found = part->found ? part->found : &nothing;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf files = HUB_BUF_INIT(MAX_PART_FILES_BYTES);
    int64_t old;
    const enum hub_status known = hub_part_find(p->db, p->row, part->name, part->signature, &old, err);
    if (known && known != HUB_NOT_FOUND)
        return known;
    if (!known)
        HUB_TRY(hub_part_delete(p, old, err));
    HUB_TRY(pack_files(p->draft, found, &files, err));
    HUB_TRY(write_row(p, part, &files, row, err));
    for (uint32_t i = 0; i < found->field_count; i++)
        HUB_TRY(write_field(p->db, *row, &found->fields[i], err));
    for (uint32_t i = 0; i < found->problem_count; i++)
        HUB_TRY(hub_part_problem(p, HUB_PROBLEM_PART, *row, i, found->problems[i].code,
                                 found->problems[i].path, found->problems[i].detail, err));
    return write_episodes(p, *row, found, show, base, err);
}
