/* Mending one file: see repair.h. */
#include "storage/transfer/repair.h"

#include "storage/base/order.h"
#include "storage/io/fs.h"
#include "storage/transfer/download.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CONNECTIONS = 4, DIGEST_WAIT_MS = 30000 };

struct work {
    struct hub_repair *m;
    struct hub_remote_files plan; /* the one file; all borrowed */
    struct hub_file_facts file;   /* its ETag is not borrowed */
    struct hub_staging staging;
    char id[PATH_MAX];
    int dataset; /* its folder */
};

static void dispose(struct work *w)
{
    hub_closep(&w->dataset);
    free((char *)w->file.etag);
}

/* ---- what to fetch ---- */

static enum hub_status find(struct work *w, struct hub_error *err)
{
    const struct hub_repair *m = w->m;
    const struct hub_file_facts *file = m->files->items ? bsearch(&m->origin->path, m->files->items,
                                                                  m->files->count, sizeof *file, hub_by_text)
                                                        : NULL;
    if (!file || !hub_file_same(m->origin, file))
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED, "'%s' is %s", m->origin->path,
                           file ? "now another file on the remote" : "deleted on the remote");
    w->file = *file;
    w->file.etag = NULL;
    w->plan = *m->files;
    w->plan.items = &w->file;
    w->plan.count = 1;
    w->plan.bytes = file->size;
    w->plan.partial = true;
    return HUB_OK;
}

/* The pieces of a segment as they should be. */
static bool is_good(const struct hub_repair *m, struct hub_view bytes, uint64_t at)
{
    for (size_t from = 0; from < bytes.size; from += HUB_SUM_PIECE) {
        const size_t n = HUB_MIN(bytes.size - from, (size_t)HUB_SUM_PIECE),
                     i = (at + from) / HUB_SUM_PIECE * 4;
        const uint32_t crc = hub_crc32c(0, bytes.data + from, n);
        const uint8_t sum[] = {(uint8_t)(crc >> 24), (uint8_t)(crc >> 16), (uint8_t)(crc >> 8), (uint8_t)crc};
        if (i + 4 > m->pieces.size || memcmp(m->pieces.data + i, sum, 4) != 0)
            return false;
    }
    return true;
}

static enum hub_status copy_segment(struct work *w, int from, int to, uint32_t segment, char *buffer,
                                    struct hub_error *err)
{
    uint64_t first, count;
    hub_segment_range(w->file.size, w->staging.segment_bytes, segment, &first, &count);
    if (hub_fs_pread(from, buffer, (size_t)count, first) != (ssize_t)count) /* the disk cannot: fetched */
        return HUB_OK;
    if (!is_good(w->m, (struct hub_view){buffer, (size_t)count}, first))
        return HUB_OK;
    if (pwrite(to, buffer, (size_t)count, (off_t)first) != (ssize_t)count)
        return hub_fail_errno(err, errno ? errno : ENOSPC, "'%s' cannot be written", w->file.path);
    return hub_staging_done(&w->staging, 0, segment, hub_crc32c(0, buffer, (size_t)count), err);
}

/* What is good of it. */
static enum hub_status copy_good(struct work *w, struct hub_error *err)
{
    struct hub_staging *s = &w->staging;
    HUB_CLEANUP(hub_closep) int from = -1, to = -1;
    HUB_CLEANUP(hub_freep) char *buffer = malloc(s->segment_bytes);
    HUB_TRY(hub_allocated(buffer, err));
    HUB_TRY(
        hub_fs_open_beneath(w->dataset, w->file.path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, &from, err));
    HUB_TRY(hub_staging_file(s, w->file.path, &to, err));
    for (uint32_t i = 0; w->m->pieces.size && i < s->files[0].segments; i++) {
        if (s->states[i] != HUB_SEGMENT_DONE)
            HUB_TRY(copy_segment(w, from, to, i, buffer, err));
        HUB_TRY(w->m->tick(w->m->user, err));
    }
    hub_staging_drop_hasher(s, 0); /* it knew of fewer segments */
    return HUB_OK;
}

static enum hub_status fetch(struct work *w, struct hub_error *err)
{
    struct hub_repair *m = w->m;
    struct hub_staging *s = &w->staging;
    uint64_t segment = HUB_SUM_PIECE;
    while (w->file.size / segment >= HUB_SINK_SEGMENTS)
        segment *= 2;
    HUB_TRY(hub_staging_plan(s, &w->plan, segment, m->tick, m->user, err));
    HUB_TRY(copy_good(w, err));
    m->segments = s->files[0].segments;
    m->fetched = s->files[0].missing;
    m->bytes_fetched = w->file.size - HUB_MIN(w->file.size, hub_staging_bytes(s, 0));
    struct hub_download download = {.remote = m->remote,
                                    .staging = s,
                                    .plan = &w->plan,
                                    .connections = CONNECTIONS,
                                    .wait_ms = DIGEST_WAIT_MS,
                                    .tick = m->tick,
                                    .user = m->user};
    HUB_TRY(hub_download_fetch(&download, err));
    HUB_TRY(hub_download_check(&download, err));
    memcpy(m->sha256, s->files[0].sums.sha256, sizeof m->sha256);
    if (hub_sums_agree(&s->files[0].sums, m->origin))
        return HUB_OK;
    HUB_TRY(hub_staging_forget(s, 0, err));
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DIGEST_MISMATCH, "'%s' has changed since it was copied",
                       w->file.path);
}

/* ---- into its place ---- */

static enum hub_status dress(const struct work *w, mode_t mode, struct hub_error *err)
{
    const int64_t ns = w->m->origin->modified_ns;
    const struct timespec modified = {ns / 1000000000, ns % 1000000000};
    HUB_CLEANUP(hub_closep) int fd = -1;
    HUB_TRY(
        hub_fs_open_beneath(w->staging.tree, w->file.path, O_RDONLY | O_NOFOLLOW, HUB_FS_NO_LINKS, &fd, err));
    if (fchmod(fd, mode & 07777) || futimens(fd, (const struct timespec[]){modified, modified}) || fsync(fd))
        return hub_fail_errno(err, errno, "'%s' cannot be synced", w->file.path);
    return HUB_OK;
}

/* One at a time publishes in a root: what is found damaged there is what is replaced. */
static enum hub_status swap_in(const struct work *w, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1, folder = -1;
    char above[PATH_MAX];
    struct stat st;
    const char *slash = strrchr(w->file.path, '/'), *name = slash ? slash + 1 : w->file.path;
    snprintf(above, sizeof above, "%s%s%.*s", w->m->target, slash && *w->m->target ? "/" : "",
             slash ? (int)(slash - w->file.path) : 0, w->file.path);
    HUB_TRY(hub_private_lock(w->m->place, &lock, err));
    HUB_TRY(
        hub_fs_open_beneath(w->m->place->root, above, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS, &folder, err));
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW))
        return hub_fail_errno(err, errno, "'%s'", w->file.path);
    const struct hub_stamp now = hub_stamp_of(&st);
    if (!hub_stamp_equal(&now, w->m->stamp))
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED, "'%s' is now another file here",
                           w->file.path);
    HUB_TRY(dress(w, st.st_mode, err));
    if (renameat(w->staging.tree, w->file.path, folder, name))
        return hub_fail_errno(err, errno, "'%s' cannot be replaced", w->file.path);
    return hub_fs_sync_dir(folder, "", err);
}

static enum hub_status run(struct work *w, struct hub_error *err)
{
    const struct hub_repair *m = w->m;
    HUB_TRY(find(w, err));
    HUB_TRY(hub_fs_open_beneath(m->place->root, m->target, O_RDONLY | O_DIRECTORY, HUB_FS_NO_LINKS,
                                &w->dataset, err));
    snprintf(w->id, sizeof w->id, "%s/%s", m->target, m->origin->path);
    HUB_TRY(hub_staging_open(m->place, w->id, &w->staging, err));
    HUB_TRY(fetch(w, err));
    return swap_in(w, err);
}

enum hub_status hub_repair_run(struct hub_repair *m, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct work w = {.m = m, .staging = HUB_STAGING_INIT, .dataset = -1};
    const enum hub_status st = run(&w, err);
    hub_staging_close(&w.staging, st == HUB_OK);
    return st;
}
