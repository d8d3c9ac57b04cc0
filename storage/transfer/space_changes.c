/* Namespaces made, changed, removed and listed: see spaces.h. */
#include "storage/transfer/spaces.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/text/json.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_NAMES = 1000 * 1000, MOST_DEPTH = 64 };

static enum hub_status not_found(const char *space, struct hub_error *err)
{
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_NAMESPACE_NOT_FOUND, "there is no namespace '%.200s'",
                       space);
}

/* ---- its folder ---- */

/* No level of it may be a dataset, which holds whatever is in it; and one that is called "data" would make
 * the folder above it look like one. */
static enum hub_status check_levels(const struct hub_private *place, const char *space, struct hub_error *err)
{
    char part[HUB_MAX_ID + 1];
    for (const char *end = space; *end; end += *end == '/') {
        HUB_CLEANUP(hub_closep) int folder = -1;
        const char *name;
        const char *const last = end;
        end += strcspn(end, "/");
        snprintf(part, sizeof part, "%.*s", (int)(end - space), space);
        if (strcmp(part + (last - space), "data") == 0)
            return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_ID,
                               "a namespace cannot be called 'data': a folder that has one is a dataset");
        const enum hub_status st = hub_private_parent(place, part, false, &folder, &name, err);
        if (st && st != HUB_NOT_FOUND)
            return st;
        if (st)
            continue; /* nothing of it is there */
        if (hub_private_is_dataset(folder, name))
            return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                               "'%.200s' is a dataset, and no namespace can be in its place: choose another "
                               "name",
                               part);
    }
    return HUB_OK;
}

/* Open it; `make` makes what is missing. */
static enum hub_status open_folder(const struct hub_private *place, const char *space, bool make, int *folder,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *inside = NULL;
    const char *name;
    if (asprintf(&inside, "%s/x", space) < 0)
        return hub_no_memory(err);
    const enum hub_status st = hub_private_parent(place, inside, make, folder, &name, err);
    return st == HUB_NOT_FOUND ? not_found(space, err) : st;
}

static bool has_file(int folder)
{
    return faccessat(folder, hub_space_file, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* ---- writing ---- */

/* It is written in the trash, out of which it comes when it is whole: a scanner would take anything else
 * beside the datasets for loose files. Under the lock of the root. */
static enum hub_status put(const struct hub_private *place, int folder, struct hub_view text,
                           struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int trash = -1;
    char name[48];
    hub_private_name(name);
    HUB_TRY(hub_private_folder(place->folder, "trash", true, &trash, err));
    HUB_TRY(hub_fs_write(trash, name, text, 0644, err));
    if (renameat(trash, name, folder, hub_space_file)) {
        const int why = errno;
        (void)unlinkat(trash, name, 0);
        return hub_fail_errno(err, why, "'%s' cannot be written", hub_space_file);
    }
    return hub_fs_sync_dir(folder, "", err);
}

enum hub_status hub_space_write(const struct hub_private *place, const char *space, enum hub_space_mode mode,
                                struct hub_view text, bool *made, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1, folder = -1;
    if (text.size > HUB_SPACE_BYTES || !hub_json_valid(text, HUB_JSON_OBJECT))
        return hub_fail(err, HUB_INVALID,
                        "what a namespace says of itself is a JSON object of at most 1 MiB, such as "
                        "{\"description\": \"...\"}");
    HUB_TRY(hub_private_lock(place, &lock, err));
    HUB_TRY(check_levels(place, space, err));
    HUB_TRY(open_folder(place, space, mode != HUB_SPACE_OVER, &folder, err));
    *made = !has_file(folder);
    if (!*made && mode == HUB_SPACE_NEW)
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS, "the namespace '%.200s' exists already",
                           space);
    if (*made && mode == HUB_SPACE_OVER)
        return not_found(space, err);
    return put(place, folder, text, err);
}

enum hub_status hub_space_fill(const struct hub_private *place, const char *space, bool *made,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1, folder = -1;
    HUB_TRY(hub_private_lock(place, &lock, err));
    HUB_TRY(open_folder(place, space, false, &folder, err));
    *made = !has_file(folder);
    return *made ? put(place, folder, HUB_VIEW("{}"), err) : HUB_OK;
}

/* ---- removing ---- */

/* The file goes to the trash first, and comes back where somebody has put something into the folder
 * meanwhile. */
static enum hub_status remove_folder(const struct hub_private *place, int parent, const char *name,
                                     int folder, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int trash = -1;
    char kept[48];
    hub_private_name(kept);
    HUB_TRY(hub_private_folder(place->folder, "trash", true, &trash, err));
    if (renameat(folder, hub_space_file, trash, kept))
        return hub_fail_errno(err, errno, "'%s' cannot be removed", hub_space_file);
    if (unlinkat(parent, name, AT_REMOVEDIR)) {
        const int why = errno;
        (void)renameat(trash, kept, folder, hub_space_file);
        return hub_fail_errno(err, why, "the folder '%s' cannot be removed", name);
    }
    (void)unlinkat(trash, kept, 0);
    return hub_fs_sync_dir(parent, "", err);
}

/* Take the file of the namespace itself out of a list. */
static void leave_file_out(struct hub_names *names)
{
    size_t kept = 0;
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->items[i].text, hub_space_file) != 0)
            names->items[kept++] = names->items[i];
    names->count = kept;
}

enum hub_status hub_space_remove(const struct hub_private *place, const char *space, struct hub_names *left,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1, parent = -1, folder = -1;
    const char *name;
    HUB_TRY(hub_private_lock(place, &lock, err));
    HUB_TRY(open_folder(place, space, false, &folder, err));
    if (!has_file(folder))
        return not_found(space, err);
    HUB_TRY(hub_private_parent(place, space, false, &parent, &name, err));
    HUB_TRY(hub_fs_list(folder, ".", MOST_NAMES, left, err));
    leave_file_out(left);
    if (left->count)
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                           "the namespace '%.200s' is not empty: delete what is in it first", space);
    return remove_folder(place, parent, name, folder, err);
}

/* ---- reading ---- */

enum hub_status hub_space_read(const char *root, const char *space, struct hub_buf *out,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd = -1;
    HUB_CLEANUP(hub_freep) char *path = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_SPACE_BYTES);
    if (asprintf(&path, "%s/%s", space, hub_space_file) < 0)
        return hub_no_memory(err);
    if (directory < 0)
        return not_found(space, err);
    const enum hub_status st = hub_fs_open_beneath(directory, path, O_RDONLY | O_NONBLOCK, 0, &fd, err);
    if (st)
        return st == HUB_NOT_FOUND ? not_found(space, err) : st;
    HUB_TRY(hub_fs_read_fd(fd, &text, err));
    const size_t before = out->size;
    HUB_TRY(hub_json_strict(hub_buf_view(&text), out, err));
    return hub_json_valid((struct hub_view){out->data + before, out->size - before}, HUB_JSON_OBJECT)
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "'%s' is not a JSON object: write it again", path);
}

struct found {
    char **items;
    uint32_t count, capacity;
};

static void dispose(struct found *found)
{
    for (uint32_t i = 0; i < found->count; i++)
        free(found->items[i]);
    free(found->items);
}

static enum hub_status add(struct found *found, const char *name, struct hub_error *err)
{
    HUB_TRY(hub_grow(&found->items, found->count, &found->capacity, sizeof *found->items, err));
    HUB_TRY(hub_dup(&found->items[found->count], name, err));
    found->count++;
    return HUB_OK;
}

static bool has(const struct hub_names *names, const char *name)
{
    const struct hub_name key = {.text = name};
    return names->count && bsearch(&key, names->items, names->count, sizeof *names->items, hub_by_text);
}

static enum hub_status walk(int directory, const char *below, unsigned depth, struct found *found,
                            struct hub_error *err);

/* A folder that cannot be opened has nothing to list: it may belong to somebody else, or be gone by now. */
static enum hub_status enter(int parent, const char *name, const char *path, unsigned depth,
                             struct found *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep)
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (folder < 0)
        return HUB_OK;
    if (has_file(folder))
        HUB_TRY(add(found, path, err));
    return depth < MOST_DEPTH ? walk(folder, path, depth + 1, found, err) : HUB_OK;
}

static enum hub_status walk(int directory, const char *below, unsigned depth, struct found *found,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_TRY(hub_fs_list(directory, ".", MOST_NAMES, &names, err));
    if (depth && has(&names, "data"))
        return HUB_OK;
    for (size_t i = 0; i < names.count; i++) {
        HUB_CLEANUP(hub_freep) char *path = NULL;
        const char *name = names.items[i].text;
        if (names.items[i].type != DT_DIR && names.items[i].type != DT_UNKNOWN)
            continue;
        if (hub_name_hidden(hub_view_of(name)))
            continue;
        if (asprintf(&path, "%s%s%s", below, *below ? "/" : "", name) < 0)
            return hub_no_memory(err);
        HUB_TRY(enter(directory, name, path, depth, found, err));
    }
    return HUB_OK;
}

enum hub_status hub_spaces_each(const char *root, hub_space_each each, void *user, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct found found = {0};
    HUB_CLEANUP(hub_closep) int directory = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return errno == ENOENT ? HUB_OK : hub_fail_errno(err, errno, "'%s' cannot be opened", root);
    HUB_TRY(walk(directory, "", 0, &found, err));
    if (found.count)
        qsort(found.items, found.count, sizeof *found.items, hub_by_text);
    for (uint32_t i = 0; i < found.count; i++)
        HUB_TRY(each(user, found.items[i], err));
    return HUB_OK;
}
