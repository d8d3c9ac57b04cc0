/* See inspected.h. */
#include "tests/support/inspected.h"

#include "storage/ids/id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct hub_job_file *)a)->path, ((const struct hub_job_file *)b)->path);
}

static void add(struct inspected *d, const char *path, uint64_t size, bool directory)
{
    d->files = realloc(d->files, (d->file_count + 1) * sizeof *d->files);
    d->files[d->file_count++] =
        (struct hub_job_file){.path = strdup(path), .size = size, .directory = directory};
}

static bool looked_into(const char *name)
{
    static const char *const names[] = {"data", "meta", "train", "val", "test", "train_shards", "val_shards"};
    bool found = false;
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        found |= strcmp(name, names[i]) == 0;
    return found;
}

/* Files below `below` ("" for all); directories too when `depth` is limited. */
static void list(struct inspected *d, const char *below, int depth)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", d->dir, below);
    DIR *handle = opendir(path);
    const struct dirent *entry;
    while (handle && (entry = readdir(handle))) {
        struct stat st;
        if (hub_name_hidden(hub_view_of(entry->d_name)) || (d->only && strcmp(entry->d_name, d->only) != 0))
            continue;
        snprintf(path, sizeof path, "%s%s%s", below, below[0] ? "/" : "", entry->d_name);
        if (fstatat(dirfd(handle), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        if (S_ISREG(st.st_mode) || depth >= 0)
            add(d, path, S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0, S_ISDIR(st.st_mode));
        const bool enter = depth < 0 || (depth > 0 && looked_into(entry->d_name));
        if (S_ISDIR(st.st_mode) && enter)
            list(d, path, depth - 1);
    }
    if (handle)
        closedir(handle);
}

static void drop_files(struct inspected *d)
{
    for (uint32_t i = 0; i < d->file_count; i++)
        free((char *)d->files[i].path);
    free(d->files);
    d->files = NULL;
    d->file_count = 0;
}

static void relist(struct inspected *d, int depth)
{
    drop_files(d);
    list(d, "", depth);
    if (d->file_count)
        qsort(d->files, d->file_count, sizeof *d->files, compare);
}

static enum hub_status open_file(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    const struct inspected *d = user;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", d->dir, d->files[number].path);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 ? HUB_OK : hub_fail_errno(err, errno, "opening %s", path);
}

static struct hub_job job_of(struct inspected *d, enum hub_job_kind kind)
{
    return (struct hub_job){.kind = kind,
                            .format = d->format,
                            .files = d->files,
                            .file_count = d->file_count,
                            .side_fd = -1,
                            .open_file = open_file,
                            .user = d};
}

static enum hub_status inspect_parts(struct inspected *d, struct hub_error *err)
{
    const uint32_t n = d->plan.part_count;
    d->parts = calloc(n + 1, sizeof *d->parts);
    d->part_status = calloc(n + 1, sizeof *d->part_status);
    d->part_errors = calloc(n + 1, sizeof *d->part_errors);
    d->side = calloc(n + 1, sizeof *d->side);
    if (!d->parts || !d->part_status || !d->part_errors || !d->side)
        return hub_fail(err, HUB_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        const struct hub_found_part *part = &d->plan.parts[i];
        struct hub_job job = job_of(d, HUB_JOB_INSPECT);
        job.part = part->name;
        job.hint = part->hint;
        job.part_files = part->files;
        job.part_file_count = part->file_count;
        job.side_fd = d->side[i] = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        d->part_status[i] = hub_inspector_run(d->inspector, &job, &d->parts[i], &d->part_errors[i]);
    }
    return HUB_OK;
}

static enum hub_status open_dataset(struct inspected *d, const char *program, struct hub_error *err)
{
    struct hub_inspector_options options = HUB_INSPECTOR_OPTIONS_INIT;
    options.program = program;
    options.side_budget = 256 * MIB;
    HUB_TRY(hub_inspector_new(&options, &d->inspector, err));
    struct hub_findings claim = {0};
    relist(d, 1);
    struct hub_job job = job_of(d, HUB_JOB_CLAIM);
    HUB_TRY(hub_inspector_run(d->inspector, &job, &claim, err));
    if (claim.claim_count)
        snprintf(d->format, sizeof d->format, "%s", claim.claims[0].format);
    hub_findings_dispose(&claim);
    if (!d->format[0])
        return hub_fail(err, HUB_NOT_FOUND, "nobody claims %s", d->dir);
    relist(d, -1);
    job = job_of(d, HUB_JOB_PLAN);
    job.hint = d->dir;
    HUB_TRY(hub_inspector_run(d->inspector, &job, &d->plan, err));
    return inspect_parts(d, err);
}

enum hub_status inspected_open(struct inspected *d, const char *program, const char *dir,
                               struct hub_error *err)
{
    *d = (struct inspected){.dir = strdup(dir)};
    return open_dataset(d, program, err);
}

enum hub_status inspected_open_file(struct inspected *d, const char *program, const char *path,
                                    struct hub_error *err)
{
    *d = (struct inspected){.dir = strdup(path)};
    d->only = strrchr(d->dir, '/') + 1;
    d->dir[d->only - d->dir - 1] = '\0';
    return open_dataset(d, program, err);
}

void inspected_close(struct inspected *d)
{
    for (uint32_t i = 0; d->parts && i < d->plan.part_count; i++) {
        hub_findings_dispose(&d->parts[i]);
        if (d->side[i] >= 0)
            close(d->side[i]);
    }
    hub_findings_dispose(&d->plan);
    hub_inspector_free(d->inspector);
    drop_files(d);
    free(d->parts);
    free(d->part_status);
    free(d->part_errors);
    free(d->side);
    free(d->dir);
    *d = (struct inspected){0};
}

const char *inspected_fact(const struct inspected *d, const char *key)
{
    for (uint32_t i = 0; i < d->plan.fact_count; i++)
        if (strcmp(d->plan.facts[i].key, key) == 0)
            return d->plan.facts[i].text;
    return "";
}

static const struct hub_found_problem *find_problem(const struct hub_findings *f, const char *code,
                                                    const char *path)
{
    for (uint32_t i = 0; i < f->problem_count; i++)
        if (strcmp(f->problems[i].code, code) == 0 &&
            (!path || strcmp(f->problems[i].path ? f->problems[i].path : "", path) == 0))
            return &f->problems[i];
    return NULL;
}

const struct hub_found_problem *inspected_problem(const struct inspected *d, const char *code,
                                                  const char *path)
{
    const struct hub_found_problem *found = find_problem(&d->plan, code, path);
    for (uint32_t i = 0; !found && d->parts && i < d->plan.part_count; i++)
        found = find_problem(&d->parts[i], code, path);
    return found;
}

const struct hub_found_field *inspected_field(const struct hub_findings *part, const char *path)
{
    for (uint32_t i = 0; i < part->field_count; i++)
        if (strcmp(part->fields[i].path, path) == 0)
            return &part->fields[i];
    return NULL;
}
