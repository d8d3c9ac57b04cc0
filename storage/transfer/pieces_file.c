/* Files of a download that are being worked on: see pieces.h. */
#include "storage/transfer/pieces.h"

#include "storage/io/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL = 64 * 1024 };             /* files up to it are hashed as they come */
enum { TRAIL_BYTES = 2 * 1024 * 1024 }; /* of others, so many together by the hash pipeline */

struct hub_piece_file *hub_piece_file_find(struct hub_pieces *r, uint32_t file)
{
    for (size_t i = 0; i < HUB_COUNT(r->open); i++)
        if (r->open[i].fd >= 0 && r->open[i].file == file)
            return &r->open[i];
    return NULL;
}

/* All space at once: a full disk is reported before the network is used. */
static enum hub_status reserve(int fd, const struct hub_file_facts *item, struct hub_error *err)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return hub_fail(err, HUB_DENIED, "'%s' is not a regular file in the staging place", item->path);
    if ((uint64_t)st.st_size > item->size && ftruncate(fd, (off_t)item->size))
        return hub_fail_errno(err, errno, "'%s' cannot be truncated", item->path);
    if (item->size && fallocate(fd, 0, 0, (off_t)item->size) &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        return hub_fail_errno(err, errno, "'%s' of %" PRIu64 " bytes", item->path, item->size);
    if (ftruncate(fd, (off_t)item->size))
        return hub_fail_errno(err, errno, "'%s' cannot be created", item->path);
    return HUB_OK;
}

/* The CRC-32C of all is made of those of the pieces, in whatever order they come. What an earlier call left
 * is hashed already, and small files are in no time. */
static bool is_summed_later(const struct hub_download *t, const struct hub_piece_file *f)
{
    const struct hub_file_facts *item = &t->plan->items[f->file];
    return t->sha256_later && item->other == HUB_BY_CRC32C && !item->has_sha256 && !f->small && !f->here &&
           t->staging->segment_bytes % HUB_SUM_PIECE == 0;
}

static enum hub_status begin_sums(struct hub_piece_file *f, const struct hub_file_facts *item,
                                  struct hub_error *err)
{
    if (!f->later)
        return hub_file_hasher_begin(&f->trailed.hasher, item->other, item->size, err);
    f->trailed.hasher.at = 0;
    return hub_sums_begin(f->trailed.sums, item->size, err);
}

void hub_piece_file_release(struct hub_piece_file *f)
{
    hub_closep(&f->fd);
    f->fd = -1;
    hub_file_hasher_dispose(&f->trailed.hasher);
}

enum hub_status hub_piece_file_begin(struct hub_pieces *r, uint32_t file, struct hub_piece_file *slot,
                                     struct hub_error *err)
{
    struct hub_download *t = r->download;
    const struct hub_file_facts *item = &t->plan->items[file];
    int fd = -1;
    HUB_TRY(hub_staging_file(t->staging, item->path, &fd, err));
    const enum hub_status st = reserve(fd, item, err);
    r->begun[file] = !st;
    if (st || !t->staging->files[file].missing) { /* an empty file is complete by now */
        close(fd);
        t->files_done += !st;
        return st;
    }
    *slot = (struct hub_piece_file){.file = file, .fd = fd, .small = item->size <= SMALL};
    slot->here = hub_staging_bytes(t->staging, slot->file);
    slot->later = is_summed_later(t, slot);
    slot->trailed = (struct hub_hashed_file){
        .file = file, .fd = fd, .sums = &t->staging->files[file].sums, .summed = slot->later};
    struct hub_file_hasher *kept = t->staging->files[slot->file].hasher;
    if (!kept) {
        const enum hub_status begun = begin_sums(slot, item, err);
        if (begun) /* no memory for its sums: nothing may be put into them */
            hub_piece_file_release(slot);
        return begun;
    }
    slot->trailed.hasher = *kept;
    slot->front = slot->trailed.end = kept->at;
    *kept = (struct hub_file_hasher){0};
    hub_staging_drop_hasher(t->staging, slot->file);
    return HUB_OK;
}

/* Everything of the file comes again. */
enum hub_status hub_piece_file_restart(struct hub_pieces *r, struct hub_piece_file *f, struct hub_error *err)
{
    const struct hub_file_facts *item = &r->download->plan->items[f->file];
    hub_hash_pipeline_wait(r->trail, &f->trailed);
    hub_file_hasher_dispose(&f->trailed.hasher);
    f->front = f->trailed.end = 0;
    return begin_sums(f, item, err);
}

/* Hash the bytes that came ahead of the front; they are still in memory. */
enum hub_status hub_piece_file_catch_up(struct hub_pieces *r, struct hub_piece_file *f, struct hub_error *err)
{
    struct hub_staging *s = r->download->staging;
    const struct hub_staged_file *file = &s->files[f->file];
    uint64_t first, count;
    for (uint64_t i = f->front / s->segment_bytes;
         i < file->segments && s->states[file->base + i] == HUB_SEGMENT_DONE; i++) {
        hub_segment_range(r->download->plan->items[f->file].size, s->segment_bytes, i, &first, &count);
        f->front = first + count;
    }
    if (f->small)
        return hub_file_hasher_read(&f->trailed.hasher, f->fd, f->front, NULL, NULL, err);
    hub_hash_pipeline_to(r->trail, &f->trailed, f->front, false);
    return HUB_OK;
}

/* What is written where the front is. */
enum hub_status hub_piece_file_advance(struct hub_pieces *r, struct hub_piece_file *f, struct hub_view bytes,
                                       struct hub_error *err)
{
    f->front += bytes.size;
    if (f->small)
        return hub_file_hasher_add(&f->trailed.hasher, bytes, err);
    if (f->front - f->trailed.end >= TRAIL_BYTES)
        hub_hash_pipeline_to(r->trail, &f->trailed, f->front, false);
    return HUB_OK;
}

/* Report a complete file at once, not after all others. The check reports errors. */
void hub_piece_file_whole(void *user, uint32_t file)
{
    const struct hub_download *t = user;
    const struct hub_file_facts *item = &t->plan->items[file];
    const bool proven = hub_file_proven(item);
    if (!t->watch || (!proven && t->remote->kind->digests_come))
        return;
    if (proven && !hub_sums_agree(&t->staging->files[file].sums, item))
        t->watch->lost(file, t->watch->user);
    else
        t->watch->whole(file, t->watch->user);
}

enum hub_status hub_piece_file_forget(const struct hub_download *download, uint32_t file,
                                      struct hub_error *err)
{
    if (download->watch)
        download->watch->lost(file, download->watch->user);
    return hub_staging_forget(download->staging, file, err);
}

enum hub_status hub_piece_file_close(struct hub_pieces *r, struct hub_piece_file *f, struct hub_error *err)
{
    struct hub_download *t = r->download;
    t->files_done++;
    if (*f->etag && !t->plan->items[f->file].etag)
        t->plan->items[f->file].etag = strdup(f->etag); /* without memory for it, it is not known */
    if (!f->small) {
        f->closing = true;
        if (f->later)
            hub_sums_end(f->trailed.sums, t->plan->items[f->file].size);
        hub_hash_pipeline_to(r->trail, &f->trailed, t->plan->items[f->file].size, true);
        return HUB_OK;
    }
    close(f->fd);
    f->fd = -1;
    HUB_TRY(hub_file_hasher_end(&f->trailed.hasher, &t->staging->files[f->file].sums, err));
    hub_piece_file_whole(t, f->file);
    return HUB_OK;
}

/* Files that are hashed make room; where all are waiting for that, one of them is awaited. */
struct hub_piece_file *hub_piece_file_room(struct hub_pieces *r)
{
    struct hub_piece_file *closing = NULL;
    for (size_t i = 0; i < HUB_COUNT(r->open); i++) {
        struct hub_piece_file *f = &r->open[i];
        if (f->closing && f->fd >= 0 && !hub_hash_pipeline_busy(r->trail, &f->trailed))
            hub_piece_file_release(f);
        if (f->fd < 0)
            return f;
        closing = f->closing ? f : closing;
    }
    if (closing) {
        hub_hash_pipeline_wait(r->trail, &closing->trailed);
        hub_piece_file_release(closing);
    }
    return closing;
}
