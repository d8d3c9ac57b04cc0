/* What is found in a folder, and every row of it, read from the layouts alone as the server does. */
#include "tests/contract/damage/damage.h"

#include "storage/io/fs.h"

#include "storage/base/digest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_VIEWS = 20000 };
#define MAX_READ_BYTES (64 * MIB) /* what a request may take in a hub of the default budget */

int view_compare(const struct view *a, const struct view *b)
{
    int c = strcmp(a->part, b->part);
    if (c == 0)
        c = strcmp(a->field, b->field);
    if (c)
        return c;
    return a->episode != b->episode ? (a->episode < b->episode ? -1 : 1)
                                    : (a->index > b->index) - (a->index < b->index);
}

static int compare_views(const void *a, const void *b)
{
    return view_compare(a, b);
}

void picture_dispose(struct picture *picture)
{
    for (uint32_t i = 0; i < picture->view_count; i++)
        ranges_dispose(&picture->views[i].where);
    for (uint32_t i = 0; i < picture->part_count; i++)
        hub_findings_dispose(&picture->parts[i]);
    hub_findings_dispose(&picture->plan);
    free(picture->views);
    free(picture->parts);
    *picture = (struct picture){0};
}

/* ---- one window ---- */

struct reading {
    struct stage *stage;
    const struct folder *folder;
    const struct hub_layout *layout;
    const struct hub_found_field *field;
    char side[32];
    struct hub_plan_files files;
};

static enum hub_status open_files(struct reading *r, struct hub_error *err)
{
    for (uint32_t i = 0; i < r->files.count; i++) {
        struct hub_plan_file *wanted = &r->files.items[i];
        const bool side = wanted->number == HUB_SIDE_FILE;
        const struct hub_file_ref ref = {.root = side ? HUB_ROOT_STATE : 0,
                                         .path = side ? r->side : r->folder->files[wanted->number].path};
        if (!wanted->file)
            HUB_TRY(hub_file_get(r->stage->store, &ref, &wanted->file, err));
    }
    return HUB_OK;
}

static void show(struct reading *r, const struct view *view, struct hub_rows *rows)
{
    bool leak = false;
    r->stage->counts.encoded += show_rows(r->field->type, rows, &leak);
    if (leak)
        stage_fail(r->stage, "rows of %s in episode %lld hold foreign bytes", view->field,
                   (long long)view->episode);
}

static enum hub_status read_window(struct reading *r, const struct hub_window *w, struct view *view)
{
    const struct hub_array *array = &r->layout->arrays[w->array];
    struct hub_error err = {0};
    struct hub_rows rows = {0};
    struct hub_plan plan = {.layout = r->layout,
                            .array = array,
                            .variant = &r->layout->variants[array->variant],
                            .files = &r->files,
                            .slice = {w->first, w->count, 1}};
    view->variant = *plan.variant;
    view->rows = w->count;
    HUB_TRY(hub_plan_price(&plan, &err));
    if (plan.bytes_out + plan.scratch_peak > MAX_READ_BYTES) {
        r->stage->counts.too_big++;
        plan.slice.count = 1; /* a client asks for less */
        HUB_TRY(hub_plan_price(&plan, &err));
        if (plan.bytes_out + plan.scratch_peak > MAX_READ_BYTES)
            return HUB_TOO_BIG;
        view->rows = 1;
    }
    HUB_TRY(open_files(r, &err));
    memory_poison(plan.bytes_out);
    const enum hub_status st = hub_read(&plan, 0, NULL, NULL, &rows, &err);
    if (st) {
        r->stage->counts.failed_reads++;
        return st;
    }
    const uint64_t size =
        rows.offsets ? rows.offsets[rows.rows] : rows.rows * hub_variant_row_bytes(&rows.variant);
    view->crc = hub_crc32c(0, rows.data, size);
    if (rows.offsets)
        view->crc = hub_crc32c(view->crc, rows.offsets, (rows.rows + 1) * sizeof *rows.offsets);
    if (rows.valid)
        view->crc = hub_crc32c(view->crc, rows.valid, rows.rows * hub_variant_row_items(&rows.variant));
    show(r, view, &rows);
    hub_rows_dispose(&rows);
    return HUB_OK;
}

/* ---- all windows of a part ---- */

static struct view *new_view(struct picture *p)
{
    if (p->view_count == p->view_capacity) {
        p->view_capacity = p->view_capacity * 2 + 64;
        p->views = realloc(p->views, p->view_capacity * sizeof *p->views);
        if (!p->views)
            die("out of memory");
    }
    p->views[p->view_count] = (struct view){0};
    return &p->views[p->view_count++];
}

static void take_field(struct reading *r, const char *part, const struct hub_findings *found, bool ranges,
                       struct picture *out)
{
    for (uint32_t i = 0; i < r->layout->counts[HUB_T_WINDOWS] && out->view_count < MAX_VIEWS; i++) {
        const struct hub_window *w = &r->layout->windows[i];
        if (hub_layout_refusal(r->layout, w))
            continue;
        struct view *view = new_view(out);
        view->part = part;
        view->field = r->field->path;
        view->episode = found->episodes[w->episode].number;
        view->index = view->episode < 0 ? w->episode : 0;
        view->status = read_window(r, w, view);
        if (ranges)
            view->addressed = ranges_of_window(r->layout, w, &view->where);
    }
}

static void prove_again(struct stage *stage, const struct folder *folder, const struct hub_findings *found,
                        const struct hub_found_field *field, struct hub_layout *layout)
{
    HUB_CLEANUP(hub_freep) uint64_t *sizes = calloc(folder->count + 1, sizeof *sizes);
    struct hub_error err = {0};
    for (uint32_t i = 0; sizes && i < folder->count; i++)
        sizes[i] = folder->files[i].size;
    if (!sizes || hub_layout_open(field->layout, field->layout_size, layout, &err) ||
        hub_layout_check(layout, sizes, folder->count, found->side_size, found->episode_count, &err))
        stage_fail(stage, "the layout of %s is not proven: %s", field->path, err.detail);
}

static void take_part(struct stage *stage, const struct folder *folder, const char *part, const char *side,
                      const struct hub_findings *found, bool ranges, struct picture *out)
{
    struct hub_layout layout;
    struct reading r = {.stage = stage, .folder = folder, .layout = &layout};
    snprintf(r.side, sizeof r.side, "%s", side);
    if (findings_leak(found))
        stage_fail(stage, "findings of %s hold foreign bytes", part);
    for (uint32_t i = 0; i < found->field_count; i++) {
        r.field = &found->fields[i];
        if (!r.field->layout)
            continue;
        prove_again(stage, folder, found, r.field, &layout);
        take_field(&r, part, found, ranges, out);
    }
    hub_plan_files_dispose(&r.files);
}

/* ---- inspection ---- */

/* What became of a job, by the problem's stable name. */
static void count_failure(struct stage *stage, enum hub_status st, const struct hub_error *err)
{
    struct counts *c = &stage->counts;
    c->crashed += err->problem == HUB_PROBLEM_INSPECTOR_CRASHED;
    c->killed += err->problem == HUB_PROBLEM_INSPECTOR_KILLED;
    c->timeouts += st == HUB_TIMEOUT;
    if (err->problem == HUB_PROBLEM_INSPECTOR_STOPPED) {
        c->stopped++;
        stage_fail(stage, "the sandbox had to stop the child: %s", err->detail);
    }
    if (err->problem == HUB_PROBLEM_INSPECTOR_LIED) {
        c->lied++;
        stage_fail(stage, "refused by the proofs: %s", err->detail);
    }
    if (strncmp(hub_problem_name(err->problem), "inspect", 7) == 0)
        printf("  %s: %s (%s)\n", hub_problem_name(err->problem), err->detail, now_doing);
    if (err->problem == HUB_PROBLEM_SANDBOX_UNAVAILABLE || st == HUB_IO)
        die("%s: %s", now_doing, err->detail);
}

static struct hub_job job_of(const struct folder *folder, enum hub_job_kind kind)
{
    return (struct hub_job){.kind = kind,
                            .format = folder->format,
                            .files = folder->files,
                            .file_count = folder->count,
                            .side_fd = -1,
                            .open_file = folder_open_file,
                            .user = (void *)folder};
}

static void inspect_part(struct stage *stage, const struct folder *folder, uint32_t number, bool ranges,
                         struct picture *out)
{
    const struct hub_found_part *part = &out->plan.parts[number];
    struct hub_job job = job_of(folder, HUB_JOB_INSPECT);
    struct hub_error err = {0};
    char side[32], path[1024];
    snprintf(side, sizeof side, "side-%u", number);
    snprintf(path, sizeof path, "%s/%s", stage->state, side);
    job.part = part->name;
    job.hint = part->hint;
    job.part_files = part->files;
    job.part_file_count = part->file_count;
    job.side_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (job.side_fd < 0)
        die("cannot write %s", path);
    const enum hub_status st = hub_inspector_run(stage->inspector, &job, &out->parts[number], &err);
    if (st) {
        stage->counts.parts_broken++;
        count_failure(stage, st, &err);
    } else {
        struct hub_stamp seal; /* what the hub puts behind side data, without which it is not opened */
        if (hub_fs_seal(job.side_fd, &seal, &err))
            die("%s: %s", now_doing, err.detail);
        stage->counts.parts_ok++;
        take_part(stage, folder, part->name, side, &out->parts[number], ranges, out);
    }
    close(job.side_fd);
    unlink(path);
}

void picture_take(struct stage *stage, const struct folder *folder, bool keep_ranges, struct picture *out)
{
    const struct hub_job job = job_of(folder, HUB_JOB_PLAN);
    struct hub_error err = {0};
    *out = (struct picture){0};
    hub_store_forget(stage->store, 0, "");
    hub_store_forget(stage->store, HUB_ROOT_STATE, "");
    const enum hub_status st = hub_inspector_run(stage->inspector, &job, &out->plan, &err);
    if (st) {
        stage->counts.plans_refused++;
        count_failure(stage, st, &err);
        return;
    }
    stage->counts.plans_ok++;
    if (findings_leak(&out->plan))
        stage_fail(stage, "the plan holds foreign bytes");
    out->part_count = out->plan.part_count;
    out->parts = calloc(out->part_count + 1, sizeof *out->parts);
    if (!out->parts)
        die("out of memory");
    for (uint32_t i = 0; i < out->part_count; i++)
        inspect_part(stage, folder, i, keep_ranges, out);
    if (out->view_count)
        qsort(out->views, out->view_count, sizeof *out->views, compare_views);
}
