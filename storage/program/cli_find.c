/* The datasets at a path: discovered as the hub does it, then reported on in order. */
#include "storage/discover/claim.h"
#include "storage/model/format_row.h"
#include "storage/program/cli.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_BIDS = 16 };

/* A dataset, from its discovery to its report. */
struct found_dataset {
    char *id, *path; /* path: below PATH */
    char *name;      /* of a claim of single files, or NULL */
    char *broken;    /* why it cannot be inspected, or NULL */
    char *formats[MAX_BIDS];
    uint32_t format_count;
    struct hub_fileset files;
};

struct gathering {
    struct found_dataset *items;
    uint32_t count, capacity;
};

static void found_dispose(struct found_dataset *f)
{
    for (uint32_t i = 0; i < f->format_count; i++)
        free(f->formats[i]);
    free(f->broken);
    free(f->id);
    free(f->path);
    free(f->name);
    hub_fileset_dispose(&f->files);
}

static void gathering_dispose(struct gathering *g)
{
    for (size_t i = 0; i < g->count; i++)
        found_dispose(&g->items[i]);
    free(g->items);
}

static enum hub_status gather(void *user, struct hub_found_dataset *dataset, struct hub_error *err)
{
    struct gathering *g = user;
    HUB_TRY(hub_grow(&g->items, g->count, &g->capacity, sizeof *g->items, err));
    struct found_dataset *f = &g->items[g->count++];
    const char *slash = strrchr(dataset->id, '/');
    *f = (struct found_dataset){
        .id = strdup(dataset->id), .path = strdup(dataset->path), .files = *dataset->files};
    *dataset->files = (struct hub_fileset){0};
    /* loose files lie in the folder, and have no name of their own */
    const bool named =
        dataset->single_files && (dataset->broken || !hub_format_is_files(dataset->formats[0]));
    if (named)
        f->name = strdup(slash ? slash + 1 : dataset->id);
    if (dataset->broken)
        f->broken = strdup(dataset->broken);
    bool whole = f->id && f->path && (f->name || !named) && (f->broken || !dataset->broken);
    while (whole && f->format_count < HUB_MIN(dataset->format_count, (uint32_t)MAX_BIDS)) {
        f->formats[f->format_count] = strdup(dataset->formats[f->format_count]);
        whole = f->formats[f->format_count++] != NULL;
    }
    return hub_allocated(whole, err);
}

static int compare_found(const void *a, const void *b)
{
    const struct found_dataset *x = a, *y = b;
    const int order = strcmp(x->path, y->path);
    return order ? order : strcmp(x->id, y->id);
}

static enum hub_status take_roots(const struct hub_find *find, const char *path, struct hub_roots *out,
                                  struct hub_error *err)
{
    HUB_TRY(hub_roots_add(out, path, NULL, err));
    for (uint32_t i = 0; i < find->target_count; i++)
        HUB_TRY(hub_roots_allow(out, find->targets[i], err));
    return HUB_OK;
}

static enum hub_status report(const struct hub_find *find, const struct hub_walk *walk,
                              struct found_dataset *f, struct hub_error *err)
{
    struct hub_report r;
    struct hub_tree tree;
    HUB_CLEANUP(hub_freep) char *below = hub_path_join(f->path, f->name ? f->name : "");
    HUB_CLEANUP(hub_freep) char *path = below ? hub_path_join(walk->roots->roots[0].path, below) : NULL;
    HUB_TRY(hub_allocated(path, err));
    HUB_TRY(hub_tree_take(walk, f->path, &f->files, &tree, err));
    const struct hub_report_target target = {path, f->id, (const char *const *)f->formats, f->format_count};
    HUB_TRY(hub_report_make(find->inspector, &target, &tree, &r, err));
    if (f->broken) {
        r.status = "broken";
        hub_fail(&r.why, HUB_DENIED, "%s", f->broken);
    }
    const enum hub_status st = find->each(find->user, &r, err);
    hub_report_dispose(&r);
    return st;
}

static enum hub_status report_all(const struct hub_find *find, const struct hub_walk *walk,
                                  struct gathering *g, struct hub_error *err)
{
    enum hub_status st = HUB_OK;
    if (g->count)
        qsort(g->items, g->count, sizeof *g->items, compare_found);
    for (size_t i = 0; i < g->count && !st; i++)
        st = report(find, walk, &g->items[i], err);
    return st;
}

/* ---- folders ---- */

/* An empty folder is nothing to a hub; a person who asks about it is answered. */
static enum hub_status gather_bare(const struct hub_walk *walk, struct gathering *g, struct hub_error *err)
{
    static const char *const format = HUB_FILES_FORMAT;
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset files = {0};
    const char *slash = strrchr(walk->roots->roots[0].path, '/');
    HUB_TRY(hub_walk_collect(walk, 0, "", NULL, NULL, &files, err));
    struct hub_found_dataset dataset = {.id = slash && slash[1] ? slash + 1 : walk->roots->roots[0].path,
                                        .path = "",
                                        .formats = &format,
                                        .format_count = 1,
                                        .files = &files};
    return gather(g, &dataset, err);
}

static enum hub_status find_folder(const struct hub_find *find, const struct hub_walk *walk,
                                   struct hub_error *err)
{
    HUB_CLEANUP(gathering_dispose) struct gathering g = {0};
    struct hub_discovered out = {0};
    const struct hub_discovery discovery = {
        .walk = walk, .inspector = find->inspector, .drivers = HUB_VERSION, .each = gather, .user = &g};
    HUB_TRY(hub_scan_discover(&discovery, &out, err));
    if (g.count == 0)
        HUB_TRY(gather_bare(walk, &g, err));
    return report_all(find, walk, &g, err);
}

/* ---- files ---- */

/* The formats that bid. */
static uint32_t bidders(const struct hub_bids *bids, const char *formats[MAX_BIDS])
{
    const uint32_t count = HUB_MIN(bids->count, (uint32_t)MAX_BIDS);
    for (uint32_t i = 0; i < count; i++)
        formats[i] = bids->bids[i].format;
    return count;
}

/* Those who bid on a folder may decline it: then its files are what is left. */
static enum hub_status look_closer(const struct hub_discovery *discovery, const struct hub_listing *listing,
                                   struct hub_fileset *files, struct hub_bids *bids, struct hub_error *err)
{
    const char *formats[MAX_BIDS];
    const struct hub_found_dataset claim = {
        .path = "", .formats = formats, .format_count = bidders(bids, formats), .files = files};
    bool declined = false;
    HUB_TRY(hub_claim_declined(discovery, &claim, &declined, err));
    if (!declined)
        return HUB_OK;
    hub_bids_dispose(bids);
    return hub_claim_request_files(discovery, 0, "", listing, bids, err);
}

/* What would be claimed of a folder, or of one file if it were alone in it; `as_file`: in a folder that is
 * none as a whole. */
static enum hub_status find_claimed(const struct hub_find *find, const struct hub_walk *walk,
                                    const char *only, bool as_file, bool *found, struct hub_error *err)
{
    HUB_CLEANUP(gathering_dispose) struct gathering g = {0};
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing listing = {0};
    HUB_CLEANUP(hub_bids_dispose) struct hub_bids bids = {0};
    HUB_CLEANUP(hub_fileset_dispose) struct hub_fileset files = {0};
    const struct hub_discovery discovery = {
        .walk = walk, .inspector = find->inspector, .drivers = HUB_VERSION};
    HUB_TRY(hub_walk_list(walk, 0, "", &listing, err));
    struct hub_listing narrowed = listing; /* borrows */
    for (narrowed.count = only ? 0 : listing.count;
         only && narrowed.count == 0 && narrowed.entries < listing.entries + listing.count;) {
        if (strcmp(narrowed.entries->name, only) == 0)
            narrowed.count = 1;
        else
            narrowed.entries++;
    }
    HUB_TRY(as_file ? hub_claim_request_files(&discovery, 0, "", &narrowed, &bids, err)
                    : hub_claim_request(&discovery, 0, "", &narrowed, &bids, err));
    if (bids.count)
        HUB_TRY(only ? hub_fileset_add(&files, "", &narrowed.entries[0], err)
                     : hub_walk_collect(walk, 0, "", NULL, NULL, &files, err));
    if (bids.count && !bids.bids[0].name)
        HUB_TRY(look_closer(&discovery, &narrowed, &files, &bids, err));
    *found = bids.count && (bids.bids[0].name != NULL) == (only != NULL);
    if (!*found)
        return HUB_OK;
    const char *formats[MAX_BIDS];
    const uint32_t all = bidders(&bids, formats), count = only ? 1 : all;
    const char *slash = strrchr(walk->roots->roots[0].path, '/');
    struct hub_found_dataset dataset = {.id = only                ? bids.bids[0].name
                                              : slash && slash[1] ? slash + 1
                                                                  : walk->roots->roots[0].path,
                                        .path = "",
                                        .single_files = only != NULL,
                                        .formats = formats,
                                        .format_count = count,
                                        .files = &files};
    HUB_TRY(gather(&g, &dataset, err));
    return report_all(find, walk, &g, err);
}

static enum hub_status find_at(const struct hub_find *find, const char *folder, const char *only,
                               bool as_file, bool *found, struct hub_error *err)
{
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots roots = {0};
    HUB_TRY(take_roots(find, folder, &roots, err));
    const struct hub_walk walk = {.roots = &roots, .max_directories = HUB_MAX_DIRECTORIES};
    return find_claimed(find, &walk, only, as_file, found, err);
}

/* The dataset that the files of a folder belong to: the folder, or one above, as
 * videos/KEY/chunk-000/FILE.mp4 lies. */
static enum hub_status find_around(const struct hub_find *find, const char *folder, bool *found,
                                   struct hub_error *err)
{
    enum { LEVELS = 4 };
    HUB_CLEANUP(hub_freep) char *path = strdup(folder);
    HUB_TRY(hub_allocated(path, err));
    for (unsigned i = 0; i < LEVELS && !*found; i++) {
        HUB_TRY(find_at(find, path, NULL, false, found, err));
        if (strcmp(path, "/") == 0)
            break;
        (void)dirname(path); /* cuts it in place */
    }
    return HUB_OK;
}

/* The file by itself, else the dataset it belongs to. Where there is none, a file that would make a folder of
 * its own kind one is a dataset all the same, as the hub lists it. */
static enum hub_status find_file(const struct hub_find *find, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *name_copy = strdup(find->path);
    HUB_CLEANUP(hub_freep) char *folder_copy = strdup(find->path);
    HUB_CLEANUP(hub_freep) char *folder = folder_copy ? realpath(dirname(folder_copy), NULL) : NULL;
    bool found = false;
    if (!name_copy || !folder)
        return hub_fail_errno(err, errno, "%s", find->path);
    const char *name = basename(name_copy);
    HUB_TRY(find_at(find, folder, name, false, &found, err));
    if (!found)
        HUB_TRY(find_around(find, folder, &found, err));
    if (!found)
        HUB_TRY(find_at(find, folder, name, true, &found, err));
    return found ? HUB_OK
                 : hub_fail(err, HUB_NOT_FOUND, "neither %s nor its folder is a dataset", find->path);
}

enum hub_status hub_find_datasets(const struct hub_find *find, struct hub_error *err)
{
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots roots = {0};
    const struct hub_walk walk = {.roots = &roots, .max_directories = HUB_MAX_DIRECTORIES};
    struct stat st;
    if (stat(find->path, &st))
        return hub_fail_errno(err, errno, "%s", find->path);
    if (!S_ISDIR(st.st_mode))
        return find_file(find, err);
    HUB_TRY(take_roots(find, find->path, &roots, err));
    return find_folder(find, &walk, err);
}
