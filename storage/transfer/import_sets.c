/* Which datasets there are in a tar: see import_sets.h. */
#include "storage/transfer/import_sets.h"

#include "storage/base/order.h"

#include <stdio.h>
#include <stdlib.h>

static enum hub_status add_set(struct hub_import *im, const char *path, size_t root_size, bool recorded,
                               struct hub_error *err)
{
    HUB_TRY(hub_grow(&im->sets, im->count, &im->capacity, sizeof *im->sets, err));
    im->sets[im->count] =
        (struct hub_imported){.root = hub_view_dup((struct hub_view){path, root_size}), .recorded = recorded};
    return hub_allocated(im->sets[im->count++].root, err);
}

void hub_imported_dispose(struct hub_imported *set)
{
    hub_record_dispose(&set->record);
    free(set->root);
    free(set->target);
}

bool hub_path_is_named(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* Where the name of the folder ends that `path` names a child of, 0 at the top. */
static size_t folder_size(const char *path, const char *child)
{
    return child == path ? 0 : (size_t)(child - path - 1);
}

/* The first segment "data" that is a folder; NULL: none is. */
static const char *find_data(const char *path)
{
    const char *found = strncmp(path, "data/", 5) == 0 ? path : strstr(path, "/data/");
    return found && *found == '/' ? found + 1 : found;
}

/* By root; of one that is found in two ways first the recorded. */
static int by_root(const void *a, const void *b)
{
    const struct hub_imported *x = a, *y = b;
    const int order = strcmp(x->root, y->root);
    return order ? order : y->recorded - x->recorded;
}

static void sort_sets(struct hub_import *im)
{
    uint32_t kept = 0;
    if (im->count)
        qsort(im->sets, im->count, sizeof *im->sets, by_root);
    for (uint32_t i = 0; i < im->count; i++)
        if (kept && strcmp(im->sets[kept - 1].root, im->sets[i].root) == 0)
            hub_imported_dispose(&im->sets[i]);
        else
            im->sets[kept++] = im->sets[i];
    im->count = kept;
}

/* The set around the folder `root` whose name has `size` bytes; NULL: none. */
struct hub_imported *hub_import_around(const struct hub_import *im, const char *root, size_t size)
{
    char above[PATH_MAX];
    const char *key = above;
    snprintf(above, sizeof above, "%.*s", (int)size, root);
    return bsearch(&key, im->sets, im->count, sizeof *im->sets, hub_by_text);
}

/* Datasets do not nest: of one in another the outer one is meant, unless only the inner one has a record. */
static enum hub_status drop_nested(struct hub_import *im, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) bool *dropped = NULL;
    uint32_t kept = 0;
    HUB_TRY(hub_new(&dropped, im->count + 1, sizeof *dropped, err));
    for (uint32_t i = 0; i < im->count; i++) {
        struct hub_imported *in = &im->sets[i];
        for (size_t size = strlen(in->root); size > 0;) {
            const char *slash = memrchr(in->root, '/', size);
            size = slash ? (size_t)(slash - in->root) : 0;
            struct hub_imported *out = hub_import_around(im, in->root, size);
            if (out)
                dropped[in->recorded && !out->recorded ? out - im->sets : i] = true;
        }
    }
    for (uint32_t i = 0; i < im->count; i++)
        if (dropped[i])
            hub_imported_dispose(&im->sets[i]);
        else
            im->sets[kept++] = im->sets[i];
    im->count = kept;
    return HUB_OK;
}

/* "NAME" and not "NAME/". */
bool hub_import_names_one(const struct hub_import *im)
{
    return im->as && !hub_view_ends(hub_view_of(im->as), "/");
}

/* Without a recognisable dataset: the topmost folders, or all of it where it is one by its name. */
static enum hub_status take_topmost(struct hub_import *im, struct hub_error *err)
{
    const struct hub_unpack *u = &im->unpack;
    bool loose = false;
    for (uint32_t i = 0; i < u->count; i++) {
        const size_t size = strcspn(u->files[i].path, "/");
        loose = loose || !u->files[i].path[size];
        if (u->files[i].path[size] &&
            (!im->count || strncmp(im->sets[im->count - 1].root, u->files[i].path, size) != 0 ||
             im->sets[im->count - 1].root[size]))
            HUB_TRY(add_set(im, u->files[i].path, size, false, err));
    }
    if (hub_import_names_one(im) && (loose || im->count != 1)) {
        for (uint32_t i = 0; i < im->count; i++)
            hub_imported_dispose(&im->sets[i]);
        im->count = 0;
        return u->count ? add_set(im, "", 0, false, err) : HUB_OK;
    }
    sort_sets(im);
    return HUB_OK;
}

enum hub_status hub_import_find_sets(struct hub_import *im, struct hub_error *err)
{
    const struct hub_unpack *u = &im->unpack;
    for (uint32_t i = 0; i < u->count; i++) {
        const char *path = u->files[i].path, *data = find_data(path);
        const bool recorded = hub_path_is_named(path, HUB_RECORD_FILE);
        if (recorded)
            HUB_TRY(add_set(im, path, folder_size(path, path + strlen(path) - strlen(HUB_RECORD_FILE)), true,
                            err));
        else if (data && (!im->count || im->sets[im->count - 1].recorded ||
                          strncmp(im->sets[im->count - 1].root, path, folder_size(path, data)) != 0 ||
                          im->sets[im->count - 1].root[folder_size(path, data)]))
            HUB_TRY(add_set(im, path, folder_size(path, data), false, err));
    }
    sort_sets(im);
    HUB_TRY(drop_nested(im, err));
    return im->count ? HUB_OK : take_topmost(im, err);
}
