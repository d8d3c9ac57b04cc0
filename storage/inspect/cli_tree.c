/* Directories as lists of files for jobs. Nothing is read here but names and sizes. */
#include "storage/inspect/cli.h"

#include "storage/base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_FILES = 4 * 1000 * 1000, MAX_DEPTH = 64 };

void hub_tree_dispose(struct hub_tree *tree)
{
    for (uint32_t i = 0; i < tree->count; i++)
        free((void *)tree->files[i].path);
    free(tree->files);
    *tree = (struct hub_tree){.directory = -1};
}

enum hub_status hub_tree_open(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    const struct hub_tree *tree = user;
    return hub_fs_open_beneath(tree->directory, tree->files[number].path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
                               fd, err);
}

static enum hub_status add(struct hub_tree *tree, const char *path, uint64_t size, bool directory,
                           struct hub_error *err)
{
    if (tree->count == MAX_FILES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d files", MAX_FILES);
    if (tree->count == tree->capacity) {
        const size_t capacity = tree->capacity ? tree->capacity * 2 : 64;
        struct hub_job_file *files = realloc(tree->files, capacity * sizeof *files);
        if (!files)
            return hub_fail(err, HUB_NO_MEMORY, "no memory for %zu files", capacity);
        tree->files = files;
        tree->capacity = capacity;
    }
    char *copy = strdup(path);
    if (!copy)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a path");
    tree->files[tree->count++] = (struct hub_job_file){.path = copy, .size = size, .directory = directory};
    tree->bytes += size;
    return HUB_OK;
}

/* The size of a regular file, links followed where they stay beneath. False: it is none. */
static bool regular(int directory, const char *path, uint64_t *size)
{
    struct stat st;
    if (fstatat(directory, path, &st, AT_SYMLINK_NOFOLLOW))
        return false;
    if (S_ISLNK(st.st_mode)) {
        HUB_CLEANUP(hub_closep) int fd = -1;
        if (hub_fs_open_beneath(directory, path, O_PATH, 0, &fd, NULL) || fstat(fd, &st))
            return false;
    }
    *size = (uint64_t)st.st_size;
    return S_ISREG(st.st_mode);
}

static bool is_directory(int directory, const char *path, const struct hub_name *name)
{
    struct stat st;
    if (name->type != DT_UNKNOWN)
        return name->type == DT_DIR;
    return fstatat(directory, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* How deep to go, and which directories to enter. */
struct walk {
    struct hub_tree *tree;
    bool listing;
};

static enum hub_status visit(const struct walk *w, const char *path, unsigned depth, struct hub_error *err);

static enum hub_status visit_name(const struct walk *w, const char *path, const struct hub_name *name,
                                  unsigned depth, struct hub_error *err)
{
    char inner[4096];
    uint64_t size;
    if (name->text[0] == '.')
        return HUB_OK;
    const int n = snprintf(inner, sizeof inner, "%s%s%s", path, path[0] ? "/" : "", name->text);
    if (n < 0 || (size_t)n >= sizeof inner)
        return HUB_OK;
    if (!is_directory(w->tree->directory, inner, name))
        return regular(w->tree->directory, inner, &size) ? add(w->tree, inner, size, false, err) : HUB_OK;
    if (!w->listing)
        return visit(w, inner, depth + 1, err);
    HUB_TRY(add(w->tree, inner, 0, true, err));
    const bool matters = strcmp(name->text, "data") == 0 || strcmp(name->text, "meta") == 0;
    return depth == 0 && matters ? visit(w, inner, depth + 1, err) : HUB_OK;
}

static enum hub_status visit(const struct walk *w, const char *path, unsigned depth, struct hub_error *err)
{
    struct hub_names names;
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (depth > MAX_DEPTH)
        return hub_fail(err, HUB_TOO_BIG, "%s: more than %d folders deep", path, MAX_DEPTH);
    const enum hub_status st =
        hub_fs_open_beneath(w->tree->directory, path, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, &fd, err);
    if (st)
        return depth ? HUB_OK : st; /* a folder nobody may read hides no other */
    HUB_TRY(hub_fs_list(fd, ".", MAX_FILES, &names, err));
    enum hub_status inner = HUB_OK;
    for (size_t i = 0; i < names.count && !inner; i++)
        inner = visit_name(w, path, &names.items[i], depth, err);
    hub_names_dispose(&names);
    return inner;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(((const struct hub_job_file *)a)->path, ((const struct hub_job_file *)b)->path);
}

static enum hub_status build(int directory, bool listing, struct hub_tree *out, struct hub_error *err)
{
    *out = (struct hub_tree){.directory = directory};
    const struct walk w = {out, listing};
    const enum hub_status st = visit(&w, "", 0, err);
    if (st)
        hub_tree_dispose(out);
    else if (out->count)
        qsort(out->files, out->count, sizeof *out->files, compare_paths);
    return st;
}

enum hub_status hub_tree_all(int directory, struct hub_tree *out, struct hub_error *err)
{
    return build(directory, false, out, err);
}

enum hub_status hub_tree_listing(int directory, struct hub_tree *out, struct hub_error *err)
{
    return build(directory, true, out, err);
}

enum hub_status hub_tree_pick(const struct hub_tree *listing, const uint32_t *files, uint32_t count,
                              struct hub_tree *out, struct hub_error *err)
{
    *out = (struct hub_tree){.directory = listing->directory};
    for (uint32_t i = 0; i < count; i++) {
        const enum hub_status st =
            add(out, listing->files[files[i]].path, listing->files[files[i]].size, false, err);
        if (st) {
            hub_tree_dispose(out);
            return st;
        }
    }
    return HUB_OK;
}
