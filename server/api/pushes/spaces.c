/* See spaces.h. */
#include "server/api/pushes/spaces.h"

#include "storage/deposits/deposit.h"
#include "storage/transfer/spaces.h"
#include "storage/truth/namespaces.h"

#include <stdlib.h>

struct folding {
    const struct hub_app *app;
    const struct hub_repo_row *repo;
    const struct hub_push *push;
    struct hub_private place;
};

static char *below(const char *repo, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(repo);
    HUB_CLEANUP(hub_freep) char *folder = strndup(path, (size_t)(slash - path));
    return folder ? hub_path_join(repo, folder) : NULL;
}

static enum hub_status write_space(struct folding *f, const struct hub_push_file *file, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_SPACE_BYTES);
    HUB_CLEANUP(hub_freep)
    char *name = below(f->repo->id, file->path), *path = below(f->repo->path, file->path);
    bool made = false;
    HUB_TRY(hub_allocated(name, err));
    HUB_TRY(hub_allocated(path, err));
    HUB_TRY(hub_object_file_open(f->app->deposits, f->repo->root, file->sha256, &fd, err));
    HUB_TRY(hub_fs_read_fd(fd, &text, err));
    HUB_TRY(hub_space_write(&f->place, path, HUB_SPACE_ANY, hub_buf_view(&text), &made, err));
    const struct hub_namespace_row row = {.name = name, .who = f->push->who, .root = f->repo->root};
    return hub_namespace_set(f->app->truth, &row, made, err);
}

static enum hub_status look_at(void *user, const struct hub_push_file *file, struct hub_error *err)
{
    if (!hub_view_is(hub_view_behind(hub_view_of(file->path), '/'), hub_space_file))
        return HUB_OK;
    return write_space(user, file, err);
}

enum hub_status hub_push_fold_spaces(const struct hub_app *app, const struct hub_repo_row *repo,
                                     const struct hub_push *push, struct hub_error *err)
{
    struct folding f = {.app = app, .repo = repo, .push = push, .place = HUB_PRIVATE_INIT};
    if (repo->root >= app->roots->count)
        return HUB_OK;
    HUB_TRY(hub_private_open(app->roots->roots[repo->root].path, true, &f.place, err));
    const enum hub_status st = hub_push_files_each(app->truth, push, "", "", look_at, &f, err);
    hub_private_close(&f.place);
    return st;
}
