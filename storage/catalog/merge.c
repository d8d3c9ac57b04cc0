/* What the parts say together: one list of fields (where they disagree, the first part's word stands and a
 * problem says so), and one list of episodes by number, in which the later of two with the same number is
 * dropped. */
#include "storage/base/order.h"
#include "storage/catalog/publish.h"

#include <stdlib.h>

/* ---- shapes ---- */

void hub_shape_add(struct hub_shape *shape, const struct hub_shape *more)
{
    if (!more->dtype[0])
        return;
    if (!shape->dtype[0]) {
        *shape = *more;
        return;
    }
    shape->known = shape->known && more->known && shape->rank == more->rank;
    for (uint32_t i = 0; shape->known && i < shape->rank; i++)
        if (shape->dims[i] != more->dims[i])
            shape->dims[i] = HUB_DIMS_VARIES;
}

void hub_shape_of_layout(const struct hub_layout *layout, enum hub_field_type type, struct hub_shape *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < layout->counts[HUB_T_ARRAYS]; i++) {
        const uint32_t number = layout->arrays[i].variant;
        if (number >= layout->counts[HUB_T_VARIANTS])
            continue;
        const struct hub_variant *variant = &layout->variants[number];
        struct hub_shape one = {.known = variant->rank <= HUB_MAX_RANK, .rank = variant->rank};
        hub_variant_name(variant, type, one.dtype);
        for (uint32_t j = 0; one.known && j < one.rank; j++)
            one.dims[j] = variant->dims[j];
        if (variant->kind == HUB_KIND_VAR && variant->sequence) {
            one.rank = 1;
            one.dims[0] = HUB_DIMS_VARIES;
        }
        hub_shape_add(out, &one);
    }
}

/* ---- fields ---- */

static uint32_t field_place(const struct hub_publication *p, const char *path)
{
    return hub_lower_bound(&path, p->fields, p->field_count, sizeof *p->fields, hub_by_text);
}

static enum hub_status insert_field(struct hub_publication *p, uint32_t at, const char *path,
                                    struct hub_error *err)
{
    HUB_TRY(hub_grow(&p->fields, p->field_count, &p->field_capacity, sizeof *p->fields, err));
    char *copy = strdup(path);
    HUB_TRY(hub_allocated(copy, err));
    memmove(&p->fields[at + 1], &p->fields[at], (p->field_count - at) * sizeof *p->fields);
    memset(&p->fields[at], 0, sizeof *p->fields);
    p->fields[at].path = copy;
    p->field_count++;
    return HUB_OK;
}

static const char *part_name(const struct hub_publication *p, uint32_t part)
{
    return p->draft->parts[part].name;
}

static enum hub_status check_agreement(struct hub_publication *p, const struct hub_merged_field *f,
                                       uint32_t part, uint32_t type, uint32_t role, uint32_t axis,
                                       struct hub_error *err)
{
    if (f->type != type)
        return hub_publication_problem(p, "field-type-conflict", f->path, err,
                                       "it is %s in %s, but %s in the parts before: not readable there",
                                       hub_field_type_name((enum hub_field_type)type), part_name(p, part),
                                       hub_field_type_name((enum hub_field_type)f->type));
    if (f->role != role || f->axis != axis)
        return hub_publication_problem(
            p, "field-conflict", f->path, err, "it is %s by %s in %s, but %s by %s in the parts before",
            hub_role_name((enum hub_role)role), hub_axis_name((enum hub_axis)axis), part_name(p, part),
            hub_role_name((enum hub_role)f->role), hub_axis_name((enum hub_axis)f->axis));
    return HUB_OK;
}

/* path 0, type 1, role 2, axis 3, unreadable 4, dtype 5, dims 6, episodes 7 */
static enum hub_status merge_row(struct hub_publication *p, uint32_t part, struct hub_stmt *row,
                                 struct hub_error *err)
{
    const char *path = hub_stmt_text(row, 0), *unreadable = hub_stmt_text(row, 4),
               *dtype = hub_stmt_text(row, 5);
    const uint32_t type = (uint32_t)hub_stmt_int(row, 1), role = (uint32_t)hub_stmt_int(row, 2),
                   axis = (uint32_t)hub_stmt_int(row, 3);
    const uint32_t at = field_place(p, path);
    if (at == p->field_count || strcmp(p->fields[at].path, path) != 0) {
        if (p->field_count == HUB_MAX_FIELDS)
            return hub_publication_problem(p, "too-many-fields", path, err,
                                           "the dataset has more than %d fields", HUB_MAX_FIELDS);
        HUB_TRY(insert_field(p, at, path, err));
        p->fields[at].type = type;
        p->fields[at].role = role;
        p->fields[at].axis = axis;
    }
    struct hub_merged_field *f = &p->fields[at];
    HUB_TRY(check_agreement(p, f, part, type, role, axis, err));
    f->episodes += (uint32_t)hub_stmt_int(row, 7);
    if (unreadable) {
        if (!f->unreadable)
            f->unreadable = strdup(unreadable);
        return hub_publication_problem(p, "field-unreadable", path, err, "%s: %s", part_name(p, part),
                                       unreadable);
    }
    if (f->type != type)
        return HUB_OK;
    struct hub_shape shape = {.known = !hub_stmt_is_null(row, 6)};
    const struct hub_view dims = hub_stmt_blob(row, 6);
    memcpy(shape.dtype, dtype, HUB_MIN(strlen(dtype), sizeof shape.dtype - 1));
    shape.rank = (uint32_t)HUB_MIN(dims.size / sizeof(uint32_t), (size_t)HUB_MAX_RANK);
    if (shape.rank)
        memcpy(shape.dims, dims.data, shape.rank * sizeof(uint32_t));
    hub_shape_add(&f->shape, &shape);
    f->readable = true;
    return HUB_OK;
}

enum hub_status hub_merge_fields(struct hub_publication *p, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->draft->part_count; i++) {
        HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
        bool row;
        HUB_TRY(hub_db_ask(p->db,
                           "SELECT path, type, role, axis, unreadable, dtype, dims, episodes FROM part_fields"
                           " WHERE part = ? ORDER BY row",
                           p->part_rows[i], &stmt, err));
        for (;;) {
            HUB_TRY(hub_stmt_step(stmt, &row, err));
            if (!row)
                break;
            HUB_TRY(merge_row(p, i, stmt, err));
        }
    }
    return HUB_OK;
}

/* ---- episodes ---- */

static enum hub_status add_episode(struct hub_publication *p, const struct hub_merged_episode *episode,
                                   struct hub_error *err)
{
    HUB_TRY(hub_grow(&p->episodes, p->episode_count, &p->episode_capacity, sizeof *p->episodes, err));
    p->episodes[p->episode_count++] = *episode;
    return HUB_OK;
}

static enum hub_status read_part(struct hub_publication *p, uint32_t part, struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    bool row;
    HUB_TRY(hub_db_ask(
        p->db, "SELECT position, own, steps, dataset, number FROM episodes WHERE part = ? ORDER BY position",
        p->part_rows[part], &stmt, err));
    for (;;) {
        HUB_TRY(hub_stmt_step(stmt, &row, err));
        if (!row)
            return HUB_OK;
        const int64_t own = hub_stmt_int(stmt, 1);
        const struct hub_merged_episode episode = {
            .number = own >= 0 ? own : (int64_t)p->episode_count,
            .shown = hub_stmt_int(stmt, 3) ? hub_stmt_int(stmt, 4) : -1,
            .steps = (uint64_t)hub_stmt_int(stmt, 2),
            .part = part,
            .position = (uint32_t)hub_stmt_int(stmt, 0),
        };
        HUB_TRY(add_episode(p, &episode, err));
    }
}

static int compare_episodes(const void *a, const void *b)
{
    const struct hub_merged_episode *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

static enum hub_status show(struct hub_publication *p, const struct hub_merged_episode *e, bool shown,
                            struct hub_error *err)
{
    static const char *const tables[] = {
        "UPDATE episodes SET dataset = ?, number = ? WHERE part = ? AND position = ?",
        "UPDATE episode_splits SET dataset = ?, number = ? WHERE part = ? AND position = ?",
    };
    for (size_t i = 0; i < HUB_COUNT(tables); i++) {
        struct hub_stmt *stmt;
        HUB_TRY(hub_db_prepare(p->db, tables[i], &stmt, err));
        hub_stmt_bind_int(stmt, 1, shown ? p->row : 0);
        if (shown)
            hub_stmt_bind_int(stmt, 2, e->number);
        hub_stmt_bind_int(stmt, 3, p->part_rows[e->part]);
        hub_stmt_bind_int(stmt, 4, e->position);
        HUB_TRY(hub_stmt_run(stmt, err));
    }
    return HUB_OK;
}

static enum hub_status report_duplicates(struct hub_publication *p, const uint32_t *dropped,
                                         const int64_t *example, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->draft->part_count; i++)
        if (dropped[i])
            HUB_TRY(hub_publication_problem(p, "duplicate-episode", part_name(p, i), err,
                                            "episode %lld is there already: %u of its episodes are left out",
                                            (long long)example[i], dropped[i]));
    return HUB_OK;
}

/* Keep the first of each number, and bring the table's rows to what was resolved. */
static enum hub_status resolve(struct hub_publication *p, uint32_t *dropped, int64_t *example,
                               struct hub_error *err)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->episode_count; i++) {
        const struct hub_merged_episode *e = &p->episodes[i];
        const bool duplicate = kept && p->episodes[kept - 1].number == e->number;
        if (duplicate) {
            if (!dropped[e->part]++)
                example[e->part] = e->number;
            if (e->shown >= 0)
                HUB_TRY(show(p, e, false, err));
            continue;
        }
        if (e->shown != e->number)
            HUB_TRY(show(p, e, true, err));
        p->steps += e->steps;
        p->episodes[kept++] = *e;
    }
    p->episode_count = kept;
    return HUB_OK;
}

enum hub_status hub_merge_episodes(struct hub_publication *p, struct hub_error *err)
{
    const size_t parts = p->draft->part_count;
    HUB_CLEANUP(hub_freep) uint32_t *dropped = calloc(parts + 1, sizeof *dropped);
    HUB_CLEANUP(hub_freep) int64_t *example = calloc(parts + 1, sizeof *example);
    HUB_TRY(hub_allocated(dropped && example, err));
    for (uint32_t i = 0; i < parts; i++)
        HUB_TRY(read_part(p, i, err));
    bool sorted = true;
    for (uint32_t i = 1; sorted && i < p->episode_count; i++)
        sorted = compare_episodes(&p->episodes[i - 1], &p->episodes[i]) < 0;
    if (!sorted)
        qsort(p->episodes, p->episode_count, sizeof *p->episodes, compare_episodes);
    HUB_TRY(resolve(p, dropped, example, err));
    return report_duplicates(p, dropped, example, err);
}
