/* Datasets found below a directory as discovery finds them, and copies of them that may be damaged. */
#include "tests/contract/damage/damage.h"

#include "storage/io/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum hub_status folder_open_file(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    const struct folder *folder = user;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder->path, folder->files[number].path);
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return *fd >= 0 ? HUB_OK : hub_fail_errno(err, errno, "opening '%s'", path);
}

static void add_file(struct folder *f, const char *path, uint64_t size, bool directory)
{
    f->files = realloc(f->files, (f->count + 1) * sizeof *f->files);
    if (!f->files)
        die("out of memory");
    f->files[f->count++] = (struct hub_job_file){strdup(path), size, directory};
}

static bool looked_into(const char *name)
{
    static const char *const names[] = {"data", "meta", "train", "val", "test"};
    bool found = false;
    for (size_t i = 0; i < HUB_COUNT(names); i++)
        found |= strcmp(name, names[i]) == 0;
    return found;
}

/* In a listing: the direct children, and those of folders that names look into. Else all files. */
static void list(struct folder *f, const char *below, bool listing, unsigned depth)
{
    char path[4096], name[2048];
    snprintf(path, sizeof path, "%s/%s", f->path, below);
    DIR *handle = opendir(path);
    for (const struct dirent *e; handle && (e = readdir(handle));) {
        struct stat st;
        if (e->d_name[0] == '.' || fstatat(dirfd(handle), e->d_name, &st, AT_SYMLINK_NOFOLLOW))
            continue;
        snprintf(name, sizeof name, "%s%s%s", below, *below ? "/" : "", e->d_name);
        const bool directory = S_ISDIR(st.st_mode);
        if (S_ISREG(st.st_mode) || (directory && listing))
            add_file(f, name, directory ? 0 : (uint64_t)st.st_size, directory);
        if (directory && (!listing || (depth == 0 && looked_into(name))))
            list(f, name, listing, depth + 1);
    }
    if (handle)
        closedir(handle);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct hub_job_file *)a)->path, ((const struct hub_job_file *)b)->path);
}

static void list_sorted(struct folder *f, bool listing)
{
    list(f, "", listing, 0);
    if (f->count)
        qsort(f->files, f->count, sizeof *f->files, by_path);
}

void folder_dispose(struct folder *folder)
{
    for (uint32_t i = 0; i < folder->count; i++) {
        free((char *)folder->files[i].path);
        if (folder->bytes)
            hub_buf_dispose(&folder->bytes[i]);
    }
    free(folder->files);
    free(folder->bytes);
    *folder = (struct folder){0};
}

/* The files of one claim as a dataset of its own. */
static void found_files(const struct folder *listing, const struct hub_found_claim *claim,
                        void (*found)(void *user, const struct folder *folder), void *user)
{
    struct folder f = {0};
    snprintf(f.path, sizeof f.path, "%s", listing->path);
    snprintf(f.shown, sizeof f.shown, "%.400s#%.64s", listing->shown, claim->name);
    snprintf(f.format, sizeof f.format, "%s", claim->format);
    for (uint32_t i = 0; i < claim->file_count; i++)
        add_file(&f, listing->files[claim->files[i]].path, listing->files[claim->files[i]].size, false);
    found(user, &f);
    folder_dispose(&f);
}

static void found_directory(const struct folder *listing, const char *format,
                            void (*found)(void *user, const struct folder *folder), void *user)
{
    struct folder f = {0};
    snprintf(f.path, sizeof f.path, "%s", listing->path);
    snprintf(f.shown, sizeof f.shown, "%s", listing->shown);
    snprintf(f.format, sizeof f.format, "%s", format);
    list_sorted(&f, false);
    found(user, &f);
    folder_dispose(&f);
}

void folder_walk(struct hub_inspector *inspector, const char *path, const char *shown,
                 void (*found)(void *user, const struct folder *folder), void *user)
{
    struct folder listing = {0};
    struct hub_findings claims = {0};
    struct hub_error err = {0};
    snprintf(listing.path, sizeof listing.path, "%s", path);
    snprintf(listing.shown, sizeof listing.shown, "%s", shown);
    list_sorted(&listing, true);
    const struct hub_job job = {.kind = HUB_JOB_CLAIM,
                                .files = listing.files,
                                .file_count = listing.count,
                                .side_fd = -1,
                                .open_file = folder_open_file,
                                .user = &listing};
    if (hub_inspector_run(inspector, &job, &claims, &err))
        die("claims of %s: %s", path, err.detail);
    const bool whole = claims.claim_count && !claims.claims[0].name;
    if (whole)
        found_directory(&listing, claims.claims[0].format, found, user);
    for (uint32_t i = 0; !whole && i < claims.claim_count; i++)
        found_files(&listing, &claims.claims[i], found, user);
    for (uint32_t i = 0; !whole && i < listing.count; i++) {
        char below[2048], below_shown[1024];
        if (!listing.files[i].directory || strchr(listing.files[i].path, '/'))
            continue;
        snprintf(below, sizeof below, "%s/%s", path, listing.files[i].path);
        snprintf(below_shown, sizeof below_shown, "%s/%s", shown, listing.files[i].path);
        folder_walk(inspector, below, below_shown, found, user);
    }
    hub_findings_dispose(&claims);
    folder_dispose(&listing);
}

/* ---- copies ---- */

void write_file(const char *path, const void *bytes, size_t size)
{
    HUB_CLEANUP(hub_closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || hub_fs_write_fd(fd, (struct hub_view){bytes, size}, NULL))
        die("writing %s: %s", path, strerror(errno));
}

void folder_copy(const struct folder *from, const char *to, struct folder *out)
{
    *out = *from;
    out->files = NULL;
    out->count = 0;
    snprintf(out->path, sizeof out->path, "%s", to);
    out->bytes = calloc(from->count + 1, sizeof *out->bytes);
    for (uint32_t i = 0; i < from->count; i++) {
        char path[4096];
        struct hub_error err = {0};
        snprintf(path, sizeof path, "%s/%s", from->path, from->files[i].path);
        out->bytes[i] = HUB_BUF_INIT(64 * MIB);
        if (hub_fs_read(AT_FDCWD, path, &out->bytes[i], &err))
            die("%s: %s", path, err.detail);
        add_file(out, from->files[i].path, out->bytes[i].size, false);
        snprintf(path, sizeof path, "%s/%s", to, from->files[i].path);
        char *name = strrchr(path, '/');
        *name = '\0';
        if (hub_fs_make_dirs(AT_FDCWD, path, 0700, &err))
            die("%s: %s", path, err.detail);
        folder_mend(out, i);
    }
}

void folder_write(struct folder *folder, uint32_t file, const void *bytes, size_t size)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder->path, folder->files[file].path);
    write_file(path, bytes, size);
    folder->files[file].size = size;
}

void folder_mend(struct folder *folder, uint32_t file)
{
    folder_write(folder, file, folder->bytes[file].data, folder->bytes[file].size);
}
