/* What the parts say together: one list of fields (where they disagree, the first part's word stands and a
 * problem says so), and one list of episodes by number, in which the later of two with the same number is
 * dropped. */
#include "storage/base/order.h"
#include "storage/catalog/columns.h"
#include "storage/catalog/publish.h"

#include <stdio.h>
#include <stdlib.h>

/* Numbers inside rows of JSON are fields of their own up to here, so that all fields fit one answer. */
enum { MOST_WITH_INSIDE = 128 };

/* ---- fields ---- */

static uint32_t lower_bound_field(const struct hub_publication *p, const char *path)
{
    return hub_lower_bound(&path, p->fields, p->field_count, sizeof *p->fields, hub_by_text);
}

static enum hub_status insert_field(struct hub_publication *p, uint32_t at, const struct hub_kept_field *like,
                                    struct hub_error *err)
{
    struct hub_kept_field field = {.type = like->type, .role = like->role, .axis = like->axis};
    HUB_TRY(hub_grow(&p->fields, p->field_count, &p->field_capacity, sizeof *p->fields, err));
    HUB_TRY(hub_dup(&field.path, like->path, err));
    memmove(&p->fields[at + 1], &p->fields[at], (p->field_count - at) * sizeof *p->fields);
    p->fields[at] = field;
    p->field_count++;
    return HUB_OK;
}

static const char *part_name(const struct hub_publication *p, uint32_t part)
{
    return p->draft->parts[part].name;
}

static enum hub_status check_agreement(struct hub_publication *p, const struct hub_kept_field *f,
                                       uint32_t part, const struct hub_kept_field *more,
                                       struct hub_error *err)
{
    if (f->type != more->type)
        return hub_publication_problem(p, "field-type-conflict", f->path, err,
                                       "it is %s in %s, but %s in earlier parts: it cannot be read there",
                                       hub_field_type_name(more->type), part_name(p, part),
                                       hub_field_type_name(f->type));
    if (f->role != more->role || f->axis != more->axis)
        return hub_publication_problem(p, "field-conflict", f->path, err,
                                       "it is %s by %s in %s, but %s by %s in earlier parts",
                                       hub_role_name(more->role), hub_axis_name(more->axis),
                                       part_name(p, part), hub_role_name(f->role), hub_axis_name(f->axis));
    return HUB_OK;
}

static bool is_there(const struct hub_publication *p, uint32_t at, const char *path)
{
    return at < p->field_count && strcmp(p->fields[at].path, path) == 0;
}

/* A part of the rows of a field that is JSON? */
static bool is_inside(const struct hub_publication *p, const char *path)
{
    char above[HUB_MAX_PATH + 1];
    snprintf(above, sizeof above, "%s", path);
    for (char *slash; (slash = strrchr(above, '/'));) {
        *slash = '\0';
        const uint32_t at = lower_bound_field(p, above);
        if (is_there(p, at, above))
            return p->fields[at].type == HUB_FIELD_PADDED_JSON;
    }
    return false;
}

static enum hub_status leave_inside(struct hub_publication *p, const char *path, struct hub_error *err)
{
    const bool reported = p->inside_left;
    p->inside_left = true;
    return reported ? HUB_OK
                    : hub_publication_problem(p, "too-many-fields", path, err,
                                              "from here on, numbers inside rows of JSON are not separate "
                                              "fields: there are already %d fields",
                                              MOST_WITH_INSIDE);
}

static enum hub_status merge_field(struct hub_publication *p, uint32_t part,
                                   const struct hub_kept_field *more, struct hub_error *err)
{
    const uint32_t at = lower_bound_field(p, more->path);
    if (!is_there(p, at, more->path)) {
        if (p->field_count >= MOST_WITH_INSIDE && is_inside(p, more->path))
            return leave_inside(p, more->path, err);
        if (p->field_count == HUB_MAX_FIELDS)
            return hub_publication_problem(p, "too-many-fields", more->path, err,
                                           "the dataset has more than %d fields", HUB_MAX_FIELDS);
        HUB_TRY(insert_field(p, at, more, err));
    }
    struct hub_kept_field *f = &p->fields[at];
    if (!f->readable && !more->unreadable) { /* the first part that can be read says what it is */
        f->type = more->type;
        f->role = more->role;
        f->axis = more->axis;
    }
    if (!more->unreadable)
        HUB_TRY(check_agreement(p, f, part, more, err));
    f->episodes += more->episodes;
    if (more->unreadable) {
        if (!f->unreadable)
            f->unreadable = strdup(more->unreadable);
        return hub_publication_problem(p, "field-unreadable", more->path, err, "%s: %s", part_name(p, part),
                                       more->unreadable);
    }
    if (f->type != more->type)
        return HUB_OK;
    hub_shape_add(&f->shape, &more->shape);
    f->readable = true;
    return HUB_OK;
}

enum hub_status hub_merge_fields(struct hub_publication *p, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->draft->part_count; i++) {
        HUB_CLEANUP(hub_fields_dispose) struct hub_fields fields = {0};
        HUB_TRY(hub_fields_read(p->catalog, p->db, p->part_rows[i], &fields, err));
        for (uint32_t k = 0; k < fields.count; k++)
            HUB_TRY(merge_field(p, i, &fields.items[k], err));
    }
    return HUB_OK;
}

/* ---- episodes ---- */

enum hub_status hub_text_set_add(struct hub_text_set *said, const char *text, struct hub_error *err)
{
    const uint32_t at = hub_lower_bound(&text, said->items, said->count, sizeof *said->items, hub_by_text);
    if (said->count == HUB_MAX_SAID || (at < said->count && strcmp(said->items[at], text) == 0))
        return HUB_OK;
    char *copy;
    HUB_TRY(hub_dup(&copy, text, err));
    memmove(&said->items[at + 1], &said->items[at], (said->count - at) * sizeof *said->items);
    said->items[at] = copy;
    said->count++;
    return HUB_OK;
}

void hub_text_set_dispose(struct hub_text_set *said)
{
    for (uint32_t i = 0; i < said->count; i++)
        free(said->items[i]);
}

/* The episodes of one blob: as many as the part has from there on, or a full run. */
static enum hub_status read_run(struct hub_publication *p, uint32_t part, uint32_t first, uint32_t count,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_stmt_resetp) struct hub_stmt *stmt = NULL;
    const int64_t row = p->part_rows[part];
    struct hub_columns columns;
    struct hub_view blob;
    char name[HUB_COLUMN_NAME];
    (void)hub_column_name(HUB_ROWS, (struct hub_view){0}, first / HUB_ROWS_RUN, name);
    const struct hub_blob_id id = {p->catalog, p->db, row, HUB_BLOB_EPISODES, name};
    const enum hub_status st = hub_blob_read(&id, &stmt, &blob, err);
    if (st)
        return st == HUB_NOT_FOUND ? hub_blob_missing(p->catalog, p->db, row, err) : st;
    if (!hub_columns_open_rows(blob, &columns) || columns.count != count)
        return hub_blob_damaged(p->catalog, p->db, row, err);
    for (uint32_t i = 0; i < count; i++) {
        struct hub_found_episode e;
        hub_columns_row(&columns, i, &e);
        HUB_TRY(hub_grow(&p->episodes, p->episode_count, &p->episode_capacity, sizeof *p->episodes, err));
        p->episodes[p->episode_count] =
            (struct hub_dataset_episode){.number = e.number >= 0 ? e.number : (int64_t)p->episode_count,
                                         .part = part,
                                         .index = first + i,
                                         .steps = e.steps};
        p->episode_count++;
        if (e.task)
            HUB_TRY(hub_text_set_add(&p->tasks, e.task, err));
    }
    return HUB_OK;
}

static enum hub_status read_part(struct hub_publication *p, uint32_t part, struct hub_error *err)
{
    const uint32_t run = HUB_ROWS_RUN;
    uint32_t count;
    HUB_TRY(hub_part_episodes(p->db, p->part_rows[part], &count, err));
    for (uint32_t first = 0; first < count; first += run)
        HUB_TRY(read_run(p, part, first, HUB_MIN(count - first, run), err));
    return count && !p->cameras.count ? hub_media_cameras(p, p->part_rows[part], err) : HUB_OK;
}

static int compare_episodes(const void *a, const void *b)
{
    const struct hub_dataset_episode *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static enum hub_status report_duplicates(struct hub_publication *p, const uint32_t *dropped,
                                         const int64_t *example, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->draft->part_count; i++)
        if (dropped[i])
            HUB_TRY(hub_publication_problem(
                p, "duplicate-episode", part_name(p, i), err,
                "episode %lld is already in an earlier part: %u of its episodes are left out",
                (long long)example[i], dropped[i]));
    return HUB_OK;
}

/* Keep the first of each number. */
static void resolve(struct hub_publication *p, uint32_t *dropped, int64_t *example)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->episode_count; i++) {
        const struct hub_dataset_episode *e = &p->episodes[i];
        if (kept && p->episodes[kept - 1].number == e->number) {
            if (!dropped[e->part]++)
                example[e->part] = e->number;
            continue;
        }
        p->steps += e->steps;
        p->episodes[kept++] = *e;
    }
    p->episode_count = kept;
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
    resolve(p, dropped, example);
    return report_duplicates(p, dropped, example, err);
}
