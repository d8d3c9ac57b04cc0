/*
 * Discovery, top-down: a claimed directory is one dataset and nothing below is looked at; in an unclaimed one
 * files are bid for and folders are entered. Folders without any dataset are told once, at the shallowest.
 */
#include "storage/inspect/cli.h"

#include "storage/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_DEPTH = 32, MAX_BIDS = 32 };

struct finder {
    struct hub_inspector *inspector;
    hub_report_each *each;
    void *user;
};

static enum hub_status claim(const struct finder *f, struct hub_tree *listing, struct hub_findings *found,
                             struct hub_error *err)
{
    const struct hub_job job = {.kind = HUB_JOB_CLAIM,
                                .files = listing->files,
                                .file_count = listing->count,
                                .side_fd = -1,
                                .open_file = hub_tree_open,
                                .user = listing};
    *found = (struct hub_findings){0};
    const enum hub_status st = hub_inspector_run(f->inspector, &job, found, err);
    /* a child that crashed on a listing claims nothing; what it was is told when its files are listed */
    return st == HUB_CORRUPT || st == HUB_TIMEOUT || st == HUB_TOO_BIG ? HUB_OK : st;
}

static enum hub_status report(const struct finder *f, const char *path, const char *const *formats,
                              uint32_t count, struct hub_tree *tree, struct hub_error *err)
{
    struct hub_report r;
    const enum hub_status st = hub_report_make(f->inspector, path, formats, count, tree, &r, err);
    if (st)
        return st;
    const enum hub_status told = f->each(f->user, &r, err);
    hub_report_dispose(&r);
    return told;
}

static enum hub_status report_directory(const struct finder *f, int directory, const char *path,
                                        const struct hub_findings *found, struct hub_error *err)
{
    struct hub_tree tree;
    const char *formats[MAX_BIDS];
    const uint32_t count = found ? HUB_MIN(found->claim_count, (uint32_t)MAX_BIDS) : 0;
    for (uint32_t i = 0; i < count; i++)
        formats[i] = found->claims[i].format;
    HUB_TRY(hub_tree_all(directory, &tree, err));
    return report(f, path, formats, count, &tree, err);
}

static enum hub_status report_files(const struct finder *f, const char *path, const struct hub_tree *listing,
                                    const struct hub_found_claim *c, struct hub_error *err)
{
    char name[4096];
    struct hub_tree tree;
    snprintf(name, sizeof name, "%s/%s", path, c->name);
    HUB_TRY(hub_tree_pick(listing, c->files, c->file_count, &tree, err));
    return report(f, name, (const char *const *)&c->format, 1, &tree, err);
}

static enum hub_status walk(const struct finder *f, const char *path, unsigned depth, bool *any,
                            struct hub_error *err);

/* Folders without datasets wait in `bare` until it is known whether this one has any. */
static enum hub_status walk_children(const struct finder *f, const char *path, const struct hub_tree *listing,
                                     unsigned depth, bool *any, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) bool *bare = calloc(listing->count + (size_t)1, sizeof *bare);
    char inner[4096];
    if (!bare)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a walk");
    for (uint32_t i = 0; i < listing->count; i++) {
        if (!listing->files[i].directory || strchr(listing->files[i].path, '/'))
            continue;
        bool below = false;
        snprintf(inner, sizeof inner, "%s/%s", path, listing->files[i].path);
        HUB_TRY(walk(f, inner, depth + 1, &below, err));
        bare[i] = !below;
        *any = *any || below;
    }
    for (uint32_t i = 0; i < listing->count && *any; i++) {
        if (!bare[i])
            continue;
        HUB_CLEANUP(hub_closep) int fd = -1;
        HUB_TRY(hub_fs_open_beneath(listing->directory, listing->files[i].path, O_RDONLY | O_DIRECTORY,
                                    HUB_FS_NO_LINKS, &fd, err));
        snprintf(inner, sizeof inner, "%s/%s", path, listing->files[i].path);
        HUB_TRY(report_directory(f, fd, inner, NULL, err));
    }
    return HUB_OK;
}

static enum hub_status walk_listing(const struct finder *f, const char *path, struct hub_tree *listing,
                                    unsigned depth, bool *any, struct hub_error *err)
{
    struct hub_findings found;
    HUB_TRY(claim(f, listing, &found, err));
    enum hub_status st = HUB_OK;
    *any = found.claim_count > 0;
    if (found.claim_count && found.claims[0].file_count == 0) {
        st = report_directory(f, listing->directory, path, &found, err);
    } else {
        for (uint32_t i = 0; i < found.claim_count && !st; i++)
            st = report_files(f, path, listing, &found.claims[i], err);
        if (!st)
            st = walk_children(f, path, listing, depth, any, err);
    }
    hub_findings_dispose(&found);
    return st;
}

static enum hub_status walk(const struct finder *f, const char *path, unsigned depth, bool *any,
                            struct hub_error *err)
{
    struct hub_tree listing;
    HUB_CLEANUP(hub_closep)
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (depth ? O_NOFOLLOW : 0));
    *any = false;
    if (fd < 0)
        return depth ? HUB_OK : hub_fail_errno(err, errno, "%s", path);
    if (depth > MAX_DEPTH)
        return HUB_OK;
    HUB_TRY(hub_tree_listing(fd, &listing, err));
    const enum hub_status st = walk_listing(f, path, &listing, depth, any, err);
    hub_tree_dispose(&listing);
    return st;
}

/* The dataset that a folder is as a whole, if it is one. */
static enum hub_status find_directory(const struct finder *f, const char *path, bool *found_one,
                                      struct hub_error *err)
{
    struct hub_tree listing;
    struct hub_findings found;
    HUB_CLEANUP(hub_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "%s", path);
    HUB_TRY(hub_tree_listing(fd, &listing, err));
    enum hub_status st = claim(f, &listing, &found, err);
    *found_one = !st && found.claim_count && found.claims[0].file_count == 0;
    if (*found_one)
        st = report_directory(f, fd, path, &found, err);
    hub_findings_dispose(&found);
    hub_tree_dispose(&listing);
    return st;
}

/* One file: what would be claimed if it were alone in its folder. */
static enum hub_status find_alone(const struct finder *f, const char *folder, const char *name,
                                  bool *found_one, struct hub_error *err)
{
    struct hub_findings found;
    struct stat st;
    HUB_CLEANUP(hub_closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || fstatat(fd, name, &st, 0))
        return hub_fail_errno(err, errno, "%s/%s", folder, name);
    struct hub_job_file file = {.path = name, .size = (uint64_t)st.st_size};
    struct hub_tree listing = {.directory = fd, .files = &file, .count = 1};
    HUB_TRY(claim(f, &listing, &found, err));
    *found_one = found.claim_count && found.claims[0].file_count;
    const enum hub_status told =
        *found_one ? report_files(f, folder, &listing, &found.claims[0], err) : HUB_OK;
    hub_findings_dispose(&found);
    return told;
}

/* Else the dataset it belongs to: its folder, or the one above ("data"). */
static enum hub_status find_file(const struct finder *f, const char *path, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *folder_copy = strdup(path);
    HUB_CLEANUP(hub_freep) char *name_copy = strdup(path);
    if (!folder_copy || !name_copy)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a path");
    const char *folder = dirname(folder_copy);
    bool found = false;
    HUB_TRY(find_alone(f, folder, basename(name_copy), &found, err));
    for (int up = 0; up < 2 && !found; up++) {
        char above[4096];
        snprintf(above, sizeof above, "%s%s", folder, up ? "/.." : "");
        HUB_CLEANUP(hub_freep) char *real = realpath(above, NULL);
        if (real)
            HUB_TRY(find_directory(f, real, &found, err));
    }
    return found ? HUB_OK
                 : hub_fail(err, HUB_NOT_FOUND, "%s is no dataset by itself, nor is its folder", path);
}

enum hub_status hub_find_datasets(struct hub_inspector *inspector, const char *path, hub_report_each *each,
                                  void *user, struct hub_error *err)
{
    const struct finder f = {inspector, each, user};
    struct stat st;
    if (stat(path, &st))
        return hub_fail_errno(err, errno, "%s", path);
    if (!S_ISDIR(st.st_mode))
        return find_file(&f, path, err);
    bool any;
    HUB_TRY(walk(&f, path, 0, &any, err));
    if (any)
        return HUB_OK;
    HUB_CLEANUP(hub_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "%s", path);
    return report_directory(&f, fd, path, NULL, err);
}
