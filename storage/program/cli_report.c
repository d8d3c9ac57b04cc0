/* One dataset: plan, inspect part by part, sum up. Only the sums of a part are kept. */
#include "storage/formats/registry.h"
#include "storage/model/claims.h"
#include "storage/model/format_row.h"
#include "storage/program/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LIST_LIMIT (1 * GIB)

const char *hub_report_fact(const struct hub_report *report, const char *key)
{
    return hub_findings_fact(&report->plan, key);
}

const struct hub_format *hub_report_format(const struct hub_report *report)
{
    return report->format ? hub_format_find(hub_formats, report->format) : NULL;
}

const struct hub_load_rule *hub_report_rule(const struct hub_report *report)
{
    return hub_load_rule_of(hub_format_library(report->format));
}

void hub_report_dispose(struct hub_report *r)
{
    hub_tree_dispose(&r->tree);
    hub_findings_dispose(&r->plan);
    for (uint32_t i = 0; i < r->field_count; i++) {
        free(r->fields[i].path);
        free(r->fields[i].unreadable);
        free(r->fields[i].dictionaries);
    }
    free(r->fields);
    hub_buf_dispose(&r->episode_list);
    hub_buf_dispose(&r->part_list);
    hub_buf_dispose(&r->media_list);
    free(r->refused);
    hub_buf_dispose(&r->problem_list);
    hub_buf_dispose(&r->problem_text);
}

/* ---- fields ---- */

static enum hub_status find_field(struct hub_report *r, const struct hub_found_field *found,
                                  struct hub_report_field **out, struct hub_error *err)
{
    for (uint32_t i = 0; i < r->field_count; i++) {
        if (strcmp(r->fields[i].path, found->path) == 0) {
            *out = &r->fields[i];
            return HUB_OK;
        }
    }
    if (r->field_count == HUB_MAX_FIELDS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d fields", HUB_MAX_FIELDS);
    HUB_TRY(hub_grow(&r->fields, r->field_count, &r->field_capacity, sizeof *r->fields, err));
    *out = &r->fields[r->field_count];
    **out = (struct hub_report_field){
        .path = strdup(found->path), .type = found->type, .role = found->role, .axis = found->axis};
    if (!(*out)->path)
        return hub_no_memory(err);
    r->field_count++;
    return HUB_OK;
}

static void add_variant(struct hub_report_field *field, const struct hub_variant *variant)
{
    if (field->variants++ == 0) {
        field->variant = *variant;
        return;
    }
    struct hub_variant other = *variant;
    if (other.rank != field->variant.rank) {
        field->varies |= UINT32_C(1) << 31;
        return;
    }
    for (unsigned d = 0; d < other.rank; d++) {
        if (other.dims[d] != field->variant.dims[d])
            field->varies |= UINT32_C(1) << d;
        other.dims[d] = field->variant.dims[d];
    }
    if (!hub_variant_equal(&other, &field->variant))
        field->varies |= UINT32_C(1) << 31;
}

static enum hub_status add_dictionary(struct hub_report_field *field, const struct hub_layout *l,
                                      const struct hub_piece *piece, struct hub_error *err)
{
    const uint32_t number =
        piece->kind == HUB_PIECE_PAGES ? l->columns[piece->geometry].dictionary : HUB_NONE;
    if (number == HUB_NONE)
        return HUB_OK;
    HUB_TRY(hub_grow(&field->dictionaries, field->dictionary_count, &field->dictionary_capacity,
                     sizeof *field->dictionaries, err));
    field->dictionaries[field->dictionary_count++] =
        (struct hub_report_dictionary){l->pages[number].offset, piece->file, l->pages[number].stored};
    return HUB_OK;
}

static int by_offset(const void *a, const void *b)
{
    const struct hub_report_dictionary *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void count_dictionaries(struct hub_report_field *field)
{
    const struct hub_report_dictionary *d = field->dictionaries;
    if (field->dictionary_count)
        qsort(field->dictionaries, field->dictionary_count, sizeof *d, by_offset);
    for (uint32_t i = 0; i < field->dictionary_count; i++)
        field->stored += i == 0 || by_offset(&d[i - 1], &d[i]) ? d[i].stored : 0;
}

static enum hub_status add_layout(struct hub_report_field *field, const struct hub_found_field *found,
                                  struct hub_error *err)
{
    struct hub_layout l;
    HUB_TRY(hub_layout_open(found->layout, found->layout_size, &l, err));
    field->layout_bytes += found->layout_size;
    for (uint32_t a = 0; a < l.counts[HUB_T_ARRAYS]; a++) {
        const struct hub_array *array = &l.arrays[a];
        for (uint32_t p = 0; p < array->piece_count; p++) {
            const struct hub_piece *piece = &l.pieces[array->first_piece + p];
            field->pieces[piece->kind]++;
            field->stored += hub_piece_stored(&l, piece, &l.variants[array->variant]);
            HUB_TRY(add_dictionary(field, &l, piece, err));
        }
    }
    for (uint32_t v = 0; v < l.counts[HUB_T_VARIANTS]; v++)
        add_variant(field, &l.variants[v]);
    for (uint32_t w = 0; w < l.counts[HUB_T_WINDOWS]; w++)
        if (!hub_layout_refusal(&l, &l.windows[w]))
            field->rows += l.windows[w].count;
    field->episodes += l.counts[HUB_T_WINDOWS];
    field->chunks += l.counts[HUB_T_CHUNKS];
    return HUB_OK;
}

static enum hub_status add_field(struct hub_report *r, const struct hub_found_field *found,
                                 struct hub_error *err)
{
    struct hub_report_field *field = NULL;
    HUB_TRY(find_field(r, found, &field, err));
    if (found->unreadable && !field->unreadable)
        field->unreadable = strdup(found->unreadable);
    return found->layout ? add_layout(field, found, err) : HUB_OK;
}

/* ---- lists ---- */

static enum hub_status comma(struct hub_buf *list, struct hub_error *err)
{
    return list->size ? hub_buf_add_text(list, ",", err) : HUB_OK;
}

static enum hub_status add_problem(struct hub_report *r, const struct hub_found_problem *p,
                                   struct hub_error *err)
{
    const char *path = p->path ? p->path : "";
    r->problems++;
    if (strcmp(p->code, "not-loadable") == 0 && !r->refused &&
        asprintf(&r->refused, "%s%s%s", path, *path ? ": " : "", p->detail) < 0)
        r->refused = NULL;
    HUB_TRY(comma(&r->problem_list, err));
    HUB_TRY(hub_report_json_problem(&r->problem_list, p, err));
    return hub_buf_addf(&r->problem_text, err, "  %-20s %s%s%s\n", p->code, path,
                        *path && p->detail[0] ? ": " : "", p->detail);
}

static enum hub_status add_episodes(struct hub_report *r, const struct hub_findings *found,
                                    struct hub_error *err)
{
    for (uint32_t i = 0; i < found->episode_count; i++) {
        const struct hub_found_episode *e = &found->episodes[i];
        HUB_TRY(comma(&r->episode_list, err));
        HUB_TRY(hub_report_json_episode(&r->episode_list, e,
                                        e->number < 0 ? (int64_t)(r->episodes + i) : e->number,
                                        r->tree.files[e->file].path, err));
        r->steps += e->steps;
    }
    for (uint32_t i = 0; i < found->media_count; i++) {
        const struct hub_found_media *m = &found->media[i];
        const int64_t number = found->episodes[m->episode].number;
        HUB_TRY(comma(&r->media_list, err));
        HUB_TRY(hub_report_json_media(&r->media_list, m,
                                      number < 0 ? (int64_t)(r->episodes + m->episode) : number,
                                      m->file == HUB_NONE ? NULL : r->tree.files[m->file].path, err));
    }
    r->episodes += found->episode_count;
    return HUB_OK;
}

/* ---- parts ---- */

/* Side data goes to a file without a name: it is only there to be measured. */
static int open_side(void)
{
    const char *folder = getenv("TMPDIR");
    return open(folder && folder[0] ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static bool local_trouble(enum hub_status st)
{
    return st == HUB_IO || st == HUB_NO_MEMORY || st == HUB_CANCELLED;
}

static enum hub_status add_part(struct hub_report *r, const struct hub_found_part *part,
                                const struct hub_findings *found, enum hub_status st,
                                const struct hub_error *why, struct hub_error *err)
{
    HUB_TRY(comma(&r->part_list, err));
    struct hub_json j = hub_json_to(&r->part_list, err);
    hub_json_object(&j);
    hub_json_put_text(&j, "name", part->name);
    hub_json_put_text(&j, "status", st ? "broken" : "ready");
    if (st)
        hub_json_put_text(&j, "reason", why->detail);
    hub_json_put_uint(&j, "episodes", found->episode_count);
    hub_json_put_uint(&j, "side", found->side_size);
    hub_json_end_object(&j);
    HUB_TRY(hub_json_status(&j));
    if (!st)
        return HUB_OK;
    r->broken_parts++;
    r->why = *why;
    return add_problem(r, &(struct hub_found_problem){"part-broken", part->name, r->why.detail}, err);
}

static struct hub_job job_of(struct hub_report *r)
{
    return (struct hub_job){.files = r->tree.files,
                            .file_count = r->tree.set.count,
                            .open_file = hub_tree_open,
                            .user = &r->tree};
}

static enum hub_status inspect_part(struct hub_inspector *inspector, struct hub_report *r,
                                    const struct hub_found_part *part, struct hub_error *err)
{
    HUB_CLEANUP(hub_findings_dispose) struct hub_findings found = {0};
    struct hub_error why = {0};
    HUB_CLEANUP(hub_closep) const int side = open_side();
    struct hub_job job = job_of(r);
    job.kind = HUB_JOB_INSPECT;
    job.format = r->format;
    job.part = part->name;
    job.hint = part->hint;
    job.part_files = part->files;
    job.part_file_count = part->file_count;
    job.side_fd = side;
    const enum hub_status st = hub_inspector_run(inspector, &job, &found, &why);
    if (local_trouble(st))
        return hub_fail_as(err, st, why.problem, "%s", why.detail);
    HUB_TRY(add_part(r, part, &found, st, &why, err));
    for (uint32_t i = 0; i < found.field_count; i++)
        HUB_TRY(add_field(r, &found.fields[i], err));
    for (uint32_t i = 0; i < found.problem_count; i++)
        HUB_TRY(add_problem(r, &found.problems[i], err));
    return add_episodes(r, &found, err);
}

/* ---- the dataset ---- */

static enum hub_status plan(struct hub_inspector *inspector, struct hub_report *r, const char *const *formats,
                            uint32_t count, struct hub_error *err)
{
    const char *format = NULL;
    struct hub_job job = job_of(r);
    if (hub_format_is_files(formats[0]))
        return HUB_OK;
    HUB_CLEANUP(hub_freep)
    char *folder = hub_path_join(r->tree.walk->roots->roots[0].path, r->tree.path);
    HUB_TRY(hub_allocated(folder, err));
    job.hint = folder;
    const enum hub_status st = hub_inspector_plan(inspector, job, formats, count, &format, &r->plan, &r->why);
    if (local_trouble(st))
        return hub_fail_as(err, st, r->why.problem, "%s", r->why.detail);
    if (st == HUB_NOT_ACCEPTABLE)
        return HUB_OK; /* no bidder wants it after a closer look */
    r->format = format;
    r->status = st == HUB_OK ? "ready" : st == HUB_UNSUPPORTED ? "unsupported" : "broken";
    return HUB_OK;
}

static enum hub_status add_difference(void *user, const struct hub_found_problem *problem,
                                      struct hub_error *err)
{
    return add_problem(user, problem, err);
}

static enum hub_status inspect(struct hub_inspector *inspector, struct hub_report *r, struct hub_error *err)
{
    for (uint32_t i = 0; i < r->plan.problem_count; i++)
        HUB_TRY(add_problem(r, &r->plan.problems[i], err));
    for (uint32_t i = 0; i < r->plan.part_count; i++)
        HUB_TRY(inspect_part(inspector, r, &r->plan.parts[i], err));
    for (uint32_t i = 0; i < r->field_count; i++)
        count_dictionaries(&r->fields[i]);
    if (r->broken_parts && r->broken_parts == r->plan.part_count)
        r->status = "broken";
    const struct hub_claims claims = hub_claims_of(&r->plan);
    return strcmp(r->status, "ready") != 0
               ? HUB_OK
               : hub_claims_check(&claims, r->episodes, r->steps, add_difference, r, err);
}

enum hub_status hub_report_make(struct hub_inspector *inspector, const struct hub_report_target *target,
                                struct hub_tree *tree, struct hub_report *out, struct hub_error *err)
{
    struct hub_report r = {.path = target->path,
                           .id = target->id,
                           .status = "files",
                           .tree = *tree,
                           .episode_list = HUB_BUF_INIT(LIST_LIMIT),
                           .part_list = HUB_BUF_INIT(LIST_LIMIT),
                           .media_list = HUB_BUF_INIT(LIST_LIMIT),
                           .problem_list = HUB_BUF_INIT(LIST_LIMIT),
                           .problem_text = HUB_BUF_INIT(LIST_LIMIT)};
    enum hub_status st = plan(inspector, &r, target->formats, target->format_count, err);
    for (uint32_t i = 0; i < r.tree.set.problem_count && !st; i++)
        st = add_problem(&r, &r.tree.set.problems[i], err);
    if (!st && strcmp(r.status, "ready") == 0)
        st = inspect(inspector, &r, err);
    if (st) {
        hub_report_dispose(&r);
        return st;
    }
    *out = r;
    return HUB_OK;
}
