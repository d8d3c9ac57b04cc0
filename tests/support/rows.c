/* See rows.h. Side data has no name here, so it is found through /proc. */
#include "tests/support/rows.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A copy of the side data with a name, for the store opens by name. */
static enum hub_status copy_side(int fd, char *path, struct hub_error *err)
{
    char buf[65536];
    const int out = mkstemp(path);
    if (out < 0)
        return hub_fail(err, HUB_IO, "no temporary file");
    off_t at = 0;
    for (ssize_t n; (n = pread(fd, buf, sizeof buf, at)) > 0; at += n)
        if (write(out, buf, (size_t)n) != n)
            break;
    struct hub_stamp stamp;
    const enum hub_status st = hub_fs_seal(out, &stamp, err);
    close(out);
    return st;
}

static enum hub_status open_files(const struct inspected *d, uint32_t part, struct hub_store *store,
                                  uint32_t root, const uint64_t *wanted, char *side, struct hub_file **files,
                                  struct hub_error *err)
{
    const uint32_t n = d->file_count;
    for (uint32_t i = 0; i < n; i++) {
        const struct hub_file_ref ref = {.root = root, .path = d->files[i].path};
        if (wanted[i / 64] >> (i % 64) & 1)
            HUB_TRY(hub_file_get(store, &ref, &files[i], err));
    }
    if (!(wanted[n / 64] >> (n % 64) & 1))
        return HUB_OK;
    HUB_TRY(copy_side(d->side[part], side, err));
    const struct hub_file_ref ref = {.root = HUB_ROOT_STATE, .path = strrchr(side, '/') + 1};
    return hub_file_get(store, &ref, &files[n], err);
}

static enum hub_status gather(const struct inspected *d, uint32_t part, const struct hub_layout *layout,
                              const struct hub_window *window, struct hub_store *store, char *side,
                              struct hub_rows *rows, struct hub_error *err)
{
    const uint32_t n = d->file_count;
    const struct hub_array *array = &layout->arrays[window->array];
    struct hub_file **files = calloc(n + 1, sizeof(struct hub_file *));
    uint64_t *wanted = calloc((n + 64) / 64 + 1, sizeof *wanted);
    struct hub_plan plan = {.layout = layout,
                            .array = array,
                            .variant = &layout->variants[array->variant],
                            .files = files,
                            .file_count = n,
                            .slice = {.start = window->first, .count = window->count, .step = 1}};
    hub_plan_files(layout, array, &plan.slice, n, wanted);
    enum hub_status st = open_files(d, part, store, 0, wanted, side, files, err);
    if (!st)
        st = hub_plan_price(&plan, err);
    if (!st)
        st = hub_read(&plan, 0, NULL, NULL, rows, err);
    for (uint32_t i = 0; i <= n; i++)
        if (files[i])
            hub_file_put(files[i]);
    free(files);
    free(wanted);
    return st;
}

enum hub_status rows_read(const struct inspected *d, uint32_t part, const struct hub_layout *layout,
                          const struct hub_window *window, struct hub_rows *rows, struct hub_error *err)
{
    char root[PATH_MAX], side[] = "/tmp/hub-side-XXXXXX";
    const char *roots[] = {realpath(d->dir, root)};
    const struct hub_store_options options = {.roots = roots, .root_count = 1, .state = "/tmp"};
    struct hub_store *store = NULL;
    HUB_TRY(hub_store_open(&options, &store, err));
    const enum hub_status st = gather(d, part, layout, window, store, side, rows, err);
    hub_store_close(store);
    unlink(side);
    return st;
}
