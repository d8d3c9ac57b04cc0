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
                                  struct hub_plan_files *files, char *side, struct hub_error *err)
{
    for (uint32_t i = 0; i < files->count; i++) {
        struct hub_plan_file *wanted = &files->items[i];
        struct hub_file_ref ref = {.root = HUB_ROOT_STATE, .path = strrchr(side, '/') + 1};
        if (wanted->number == HUB_SIDE_FILE)
            HUB_TRY(copy_side(d->side[part], side, err));
        else
            ref = (struct hub_file_ref){.path = d->files[wanted->number].path};
        HUB_TRY(hub_file_get(store, &ref, &wanted->file, err));
    }
    return HUB_OK;
}

static enum hub_status gather(const struct inspected *d, uint32_t part, const struct hub_layout *layout,
                              const struct hub_window *window, struct hub_slice slice,
                              struct hub_store *store, char *side, struct hub_rows *rows,
                              struct hub_error *err)
{
    const struct hub_array *array = &layout->arrays[window->array];
    HUB_CLEANUP(hub_plan_files_dispose) struct hub_plan_files files = {0};
    struct hub_plan plan = {.layout = layout,
                            .array = array,
                            .variant = &layout->variants[array->variant],
                            .files = &files,
                            .slice = slice};
    plan.slice.start += window->first;
    HUB_TRY(hub_plan_price(&plan, err));
    HUB_TRY(open_files(d, part, store, &files, side, err));
    return hub_read(&plan, 0, NULL, NULL, rows, err);
}

enum hub_status rows_read(const struct inspected *d, uint32_t part, const struct hub_layout *layout,
                          const struct hub_window *window, struct hub_rows *rows, struct hub_error *err)
{
    return rows_read_slice(d, part, layout, window, (struct hub_slice){.count = window->count, .step = 1},
                           rows, err);
}

enum hub_status rows_read_slice(const struct inspected *d, uint32_t part, const struct hub_layout *layout,
                                const struct hub_window *window, struct hub_slice slice,
                                struct hub_rows *rows, struct hub_error *err)
{
    char root[PATH_MAX], side[] = "/tmp/hub-side-XXXXXX";
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots roots = {0};
    const struct hub_store_options options = {.roots = &roots, .state = "/tmp"};
    struct hub_store *store = NULL;
    HUB_TRY(hub_roots_add(&roots, realpath(d->dir, root), NULL, err));
    HUB_TRY(hub_store_open(&options, &store, err));
    const enum hub_status st = gather(d, part, layout, window, slice, store, side, rows, err);
    hub_store_close(store);
    unlink(side);
    return st;
}
