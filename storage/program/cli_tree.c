/* The files of a dataset as a job's list. */
#include "storage/program/cli.h"

#include <fcntl.h>
#include <stdlib.h>

void hub_tree_dispose(struct hub_tree *tree)
{
    hub_fileset_dispose(&tree->set);
    free(tree->files);
    free(tree->path);
    *tree = (struct hub_tree){0};
}

enum hub_status hub_tree_take(const struct hub_walk *walk, const char *path, struct hub_fileset *files,
                              struct hub_tree *out, struct hub_error *err)
{
    *out = (struct hub_tree){.walk = walk, .path = strdup(path)};
    out->files = calloc(files->count + (size_t)1, sizeof *out->files);
    if (!out->path || !out->files) {
        hub_tree_dispose(out);
        return hub_no_memory(err);
    }
    for (uint32_t i = 0; i < files->count; i++) {
        out->files[i] =
            (struct hub_job_file){.path = files->files[i].path, .size = files->files[i].stamp.size};
        out->bytes += files->files[i].stamp.size;
    }
    out->set = *files;
    *files = (struct hub_fileset){0};
    return HUB_OK;
}

enum hub_status hub_tree_open(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    const struct hub_tree *tree = user;
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(tree->path, tree->files[number].path);
    HUB_TRY(hub_allocated(path, err));
    return hub_roots_open(tree->walk->roots, 0, path, O_RDONLY, fd, err);
}
