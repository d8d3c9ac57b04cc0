/* Fetching the segments of a plan: see pieces.h. */
#include "storage/transfer/pieces.h"

#include "storage/io/fs.h"
#include "storage/text/uri.h"
#include "storage/transfer/hash_pipeline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_PIECES = HUB_MAX_CONNECTIONS };
static const uint64_t long_piece = 64 * MIB; /* at most, while there is enough for all connections */
static const uint64_t short_piece = 8 * MIB; /* at least, where segments are small for those who watch */
enum { SMALL = 64 * 1024 };                  /* files up to it are hashed as they come */
enum { GATHERED = 256 * 1024 };              /* bytes of a write */
enum { TRAIL_BYTES = 2 * 1024 * 1024 };      /* of others, so many together by the trail */
enum { NEAR = 4 };                           /* segments: so far ahead, what comes is waited for */

/* One request under way. */
struct piece {
    struct hub_fetch fetch;
    struct pieces_run *run;
    struct hub_buf url;
    uint32_t file, segment, end; /* the next segment to be complete, and where they end */
    uint32_t crc;                /* CRC-32C of the received bytes of the segment */
    uint32_t sum;                /* of the received bytes of the current piece */
    struct hub_buf gathered;     /* received bytes that are not written yet, for few large writes */
    bool whole;                  /* the file in one answer */
    bool cut;                    /* it ends before what was asked for: somebody waits for something else */
    bool used;
};

/* A file being worked on. */
struct open_file {
    uint32_t file;
    int fd; /* -1: the slot is free */
    unsigned in_flight;
    uint32_t cursor; /* all segments before it are taken */
    bool whole;      /* the server does not do ranges: everything in one answer */
    bool whole_asked;
    bool small;
    bool later;     /* it gets no SHA-256 here; its sums are made of the pieces as they come */
    bool closing;   /* all of it is there, and being hashed */
    uint64_t here;  /* bytes of it that count as done */
    uint64_t front; /* all bytes before it are there; of a small one, and hashed */
    struct hub_hashed_file trailed; /* of a small one only its hasher */
    char etag[160];
};

struct pieces_run {
    struct hub_pieces *transfer;
    struct hub_hash_pipeline *trail;
    struct piece pieces[MAX_PIECES];
    struct open_file open[MAX_PIECES + 1];
    uint32_t next_file; /* all before it are finished or open */
    bool *begun;        /* files that were opened, some before it was their turn */
};

/* ---- files ---- */

static struct open_file *find_open(struct pieces_run *r, uint32_t file)
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
static bool is_summed_later(const struct hub_pieces *t, const struct open_file *f)
{
    const struct hub_file_facts *item = &t->plan->items[f->file];
    return t->sha256_later && item->other == HUB_BY_CRC32C && !item->has_sha256 && !f->small && !f->here &&
           t->staging->segment_bytes % HUB_SUM_PIECE == 0;
}

static enum hub_status begin_sums(struct open_file *f, const struct hub_file_facts *item,
                                  struct hub_error *err)
{
    if (!f->later)
        return hub_file_hasher_begin(&f->trailed.hasher, item->other, item->size, err);
    f->trailed.hasher.at = 0;
    return hub_sums_begin(f->trailed.sums, item->size, err);
}

static enum hub_status begin_file(struct pieces_run *r, uint32_t file, struct open_file *slot,
                                  struct hub_error *err)
{
    struct hub_pieces *t = r->transfer;
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
    *slot = (struct open_file){.file = file, .fd = fd, .small = item->size <= SMALL};
    slot->here = hub_staging_bytes(t->staging, slot->file);
    slot->later = is_summed_later(t, slot);
    slot->trailed = (struct hub_hashed_file){
        .file = file, .fd = fd, .sums = &t->staging->sums[file], .summed = slot->later};
    struct hub_file_hasher *kept = t->staging->files[slot->file].hasher;
    if (!kept)
        return begin_sums(slot, item, err);
    slot->trailed.hasher = *kept;
    slot->front = slot->trailed.end = kept->at;
    *kept = (struct hub_file_hasher){0};
    hub_staging_drop_hasher(t->staging, slot->file);
    return HUB_OK;
}

/* Everything of the file comes anew. */
static enum hub_status hash_anew(struct pieces_run *r, struct open_file *f, struct hub_error *err)
{
    const struct hub_file_facts *item = &r->transfer->plan->items[f->file];
    hub_hash_pipeline_wait(r->trail, &f->trailed);
    hub_file_hasher_dispose(&f->trailed.hasher);
    f->front = f->trailed.end = 0;
    return begin_sums(f, item, err);
}

/* Hash the bytes that came ahead of the front; they are still in memory. */
static enum hub_status catch_up(struct pieces_run *r, struct open_file *f, struct hub_error *err)
{
    struct hub_staging *s = r->transfer->staging;
    const struct hub_staged_file *file = &s->files[f->file];
    uint64_t first, count;
    for (uint64_t i = f->front / s->segment_bytes;
         i < file->segments && s->states[file->base + i] == HUB_SEGMENT_DONE; i++) {
        hub_segment_range(r->transfer->plan->items[f->file].size, s->segment_bytes, i, &first, &count);
        f->front = first + count;
    }
    if (f->small)
        return hub_file_hasher_read(&f->trailed.hasher, f->fd, f->front, NULL, NULL, err);
    hub_hash_pipeline_to(r->trail, &f->trailed, f->front, false);
    return HUB_OK;
}

/* What is written where the front is. */
static enum hub_status advance(struct pieces_run *r, struct open_file *f, struct hub_view bytes,
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
static void report_whole(void *user, uint32_t file)
{
    const struct hub_pieces *t = user;
    const struct hub_file_facts *item = &t->plan->items[file];
    const bool proven = hub_file_proven(item);
    if (!t->watch || (!proven && t->remote->kind->digests_come))
        return;
    if (proven && !hub_sums_agree(&t->staging->sums[file], item))
        t->watch->lost(file, t->watch->user);
    else
        t->watch->whole(file, t->watch->user);
}

static enum hub_status forget(const struct hub_pieces *t, uint32_t file, struct hub_error *err)
{
    if (t->watch)
        t->watch->lost(file, t->watch->user);
    return hub_staging_forget(t->staging, file, err);
}

static enum hub_status close_file(struct pieces_run *r, struct open_file *f, struct hub_error *err)
{
    struct hub_pieces *t = r->transfer;
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
    HUB_TRY(hub_file_hasher_end(&f->trailed.hasher, &t->staging->sums[f->file], err));
    report_whole(t, f->file);
    return HUB_OK;
}

/* ---- what to ask for next ---- */

/* Those in a row that are missing, from this one on: as many as one request is good for. */
static bool take_from(struct pieces_run *r, const struct open_file *f, uint32_t segment, struct piece *p)
{
    const struct hub_pieces *t = r->transfer;
    struct hub_staging *s = t->staging;
    const struct hub_staged_file *file = &s->files[f->file];
    uint8_t *states = s->states + file->base;
    const uint64_t share = (t->plan->bytes - HUB_MIN(t->plan->bytes, t->bytes_done)) / (2 * t->connections);
    const uint64_t best = t->remote->kind->piece_bytes, least = t->watch ? short_piece : 0;
    const uint64_t bytes = best ? best : HUB_MAX(HUB_MIN(share, long_piece), least);
    if (segment >= file->segments || states[segment] != HUB_SEGMENT_MISSING)
        return false;
    p->segment = p->end = segment;
    do
        states[p->end++] = HUB_SEGMENT_TAKEN;
    while (p->end < file->segments && states[p->end] == HUB_SEGMENT_MISSING &&
           (p->end + 1 - segment) * s->segment_bytes <= bytes);
    return true;
}

/* The first that are missing. */
static bool take_segments(struct pieces_run *r, struct open_file *f, struct piece *p)
{
    const struct hub_staging *s = r->transfer->staging;
    const struct hub_staged_file *file = &s->files[f->file];
    p->whole = f->whole;
    if (f->whole) {
        if (f->in_flight || f->whole_asked)
            return false;
        f->whole_asked = true;
        p->segment = 0;
        p->end = file->segments;
        return true;
    }
    while (f->cursor < file->segments && s->states[file->base + f->cursor] != HUB_SEGMENT_MISSING)
        f->cursor++;
    return take_from(r, f, f->cursor, p);
}

/* A part of a file that another connection works on as well, or NULL. */
static struct open_file *share(struct pieces_run *r, struct piece *p)
{
    for (size_t i = 0; i < HUB_COUNT(r->open); i++)
        if (r->open[i].fd >= 0 && take_segments(r, &r->open[i], p))
            return &r->open[i];
    return NULL;
}

/* As many as there are: none is left. */
static uint32_t next_file(struct pieces_run *r)
{
    struct hub_pieces *t = r->transfer;
    const struct hub_staged_file *files = t->staging->files;
    for (; r->next_file < t->plan->count; r->next_file++) {
        if (r->begun[r->next_file])
            continue;
        if (files[r->next_file].missing || !t->plan->items[r->next_file].size)
            break;
        r->begun[r->next_file] = true; /* complete from an earlier download */
        t->files_done++;
    }
    return r->next_file;
}

static void release(struct open_file *f)
{
    hub_closep(&f->fd);
    f->fd = -1;
    hub_file_hasher_dispose(&f->trailed.hasher);
}

/* Files that are hashed make room; where all are waiting for that, one of them is awaited. */
static struct open_file *find_room(struct pieces_run *r)
{
    struct open_file *closing = NULL;
    for (size_t i = 0; i < HUB_COUNT(r->open); i++) {
        struct open_file *f = &r->open[i];
        if (f->closing && f->fd >= 0 && !hub_hash_pipeline_busy(r->trail, &f->trailed))
            release(f);
        if (f->fd < 0)
            return f;
        closing = f->closing ? f : closing;
    }
    if (closing) {
        hub_hash_pipeline_wait(r->trail, &closing->trailed);
        release(closing);
    }
    return closing;
}

/* What somebody waits for, wherever it lies. NULL: nothing, or it is on its way. */
static enum hub_status choose_wanted(struct pieces_run *r, struct piece *p, struct open_file **out,
                                     struct hub_error *err)
{
    const struct hub_pieces *t = r->transfer;
    uint32_t file, segment;
    for (unsigned i = 0; t->watch && t->watch->wanted(i, &file, &segment, t->watch->user); i++) {
        struct open_file *f = find_open(r, file), *room = f || r->begun[file] ? NULL : find_room(r);
        if (room && t->staging->files[file].missing) {
            HUB_TRY(begin_file(r, file, room, err));
            f = find_open(r, file);
        }
        p->whole = false;
        if (f && (f->whole ? take_segments(r, f, p) : take_from(r, f, segment, p))) {
            *out = f;
            return HUB_OK;
        }
    }
    return HUB_OK;
}

/* What is waited for. Then a file for each connection, as long as there are files: one that nobody works
 * on, or the next one; then parts of the same. NULL: nothing now. */
static enum hub_status choose(struct pieces_run *r, struct piece *p, struct open_file **out,
                              struct hub_error *err)
{
    struct hub_pieces *t = r->transfer;
    *out = NULL;
    HUB_TRY(choose_wanted(r, p, out, err));
    while (!*out) {
        for (size_t i = 0; i < HUB_COUNT(r->open); i++) {
            if (r->open[i].fd >= 0 && !r->open[i].in_flight && take_segments(r, &r->open[i], p)) {
                *out = &r->open[i];
                return HUB_OK;
            }
        }
        struct open_file *room = find_room(r);
        const uint32_t file = next_file(r);
        if (!room || file >= t->plan->count) {
            *out = share(r, p);
            return HUB_OK;
        }
        HUB_TRY(begin_file(r, file, room, err));
    }
    return HUB_OK;
}

static enum hub_status piece_head(struct hub_fetch *fetch, const struct hub_answer *a, struct hub_error *err);
static enum hub_status piece_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err);
static enum hub_status piece_finished(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err);

static enum hub_status aim(struct pieces_run *r, struct piece *p, struct open_file *f, struct hub_error *err)
{
    struct hub_pieces *t = r->transfer;
    const struct hub_file_facts *item = &t->plan->items[f->file];
    const struct hub_remote *remote = t->remote;
    p->run = r;
    p->used = true;
    p->file = f->file;
    p->cut = false;
    p->crc = p->sum = 0;
    p->url.limit = 64 * KIB;
    p->url.size = 0;
    p->gathered.limit = 64 * MIB;
    p->gathered.size = 0;
    p->fetch = (struct hub_fetch){.resumable = true,
                                  .count = item->size,
                                  .head = piece_head,
                                  .body = piece_body,
                                  .finished = piece_finished,
                                  .user = p};
    HUB_TRY(remote->kind->open(remote, t->plan, item, &p->url, &p->fetch, err));
    p->fetch.url = p->url.data;
    p->fetch.first = p->segment * t->staging->segment_bytes;
    p->fetch.count = HUB_MIN(p->end * t->staging->segment_bytes, item->size) - p->fetch.first;
    p->fetch.by_range = p->fetch.count != item->size;
    memcpy(p->fetch.if_range, f->etag, sizeof p->fetch.if_range);
    f->in_flight++;
    return HUB_OK;
}

/* As many requests as there may be, each for what is missing. */
static enum hub_status request_more(struct pieces_run *r, struct hub_error *err)
{
    const unsigned most = HUB_MIN(r->transfer->connections, (unsigned)MAX_PIECES);
    for (unsigned i = 0; i < most; i++) {
        struct piece *p = &r->pieces[i];
        struct open_file *f;
        if (p->used)
            continue;
        HUB_TRY(choose(r, p, &f, err));
        if (!f)
            return HUB_OK;
        HUB_TRY(aim(r, p, f, err));
        hub_transport_submit(r->transfer->remote->transport, &p->fetch);
    }
    return HUB_OK;
}

/* ---- what comes ---- */

static enum hub_status changed(struct hub_error *err, const struct hub_file_facts *item, const char *how)
{
    return hub_fail_as(err, HUB_CHANGED, "changed", "'%s' changed while it was being downloaded: %s",
                       item->path, how);
}

/* The validator of all answers about one file must be the same. */
static enum hub_status check_etag(struct open_file *f, struct piece *p, const struct hub_answer *a,
                                  struct hub_error *err)
{
    if (!*a->etag)
        return HUB_OK;
    if (*f->etag && strcmp(f->etag, a->etag) != 0)
        return changed(err, &p->run->transfer->plan->items[p->file], "its ETag changed");
    memcpy(f->etag, a->etag, sizeof f->etag);
    memcpy(p->fetch.if_range, a->etag, sizeof p->fetch.if_range);
    return HUB_OK;
}

/* A part: exactly the one that was asked for, of a file of the size we know. */
static enum hub_status check_part(const struct piece *p, const struct hub_answer *a, struct hub_error *err)
{
    const struct hub_file_facts *item = &p->run->transfer->plan->items[p->file];
    const uint64_t from = p->fetch.first + p->fetch.done, last = p->fetch.first + p->fetch.count - 1;
    if (!a->has_range || a->first != from || a->last != last)
        return hub_fail_as(err, HUB_CORRUPT, "protocol",
                           "the server did not send the requested part of '%s', bytes %" PRIu64 "-%" PRIu64,
                           item->path, from, last);
    return a->total == item->size ? HUB_OK : changed(err, item, "its size changed");
}

/* Everything from the first byte on. */
static enum hub_status check_whole(struct piece *p, struct open_file *f, const struct hub_answer *a,
                                   struct hub_error *err)
{
    struct hub_pieces *t = p->run->transfer;
    const struct hub_file_facts *item = &t->plan->items[p->file];
    if (a->has_length && a->length != item->size)
        return changed(err, item, "its size changed");
    if (p->fetch.count != item->size) { /* a part was asked for: this server does not do ranges */
        f->whole = true;
        return hub_fail(err, HUB_AGAIN, "no ranges");
    }
    if (!p->fetch.done)
        return HUB_OK;
    t->bytes_done -= p->fetch.done; /* start over */
    f->here -= p->fetch.done;
    p->fetch.done = 0;
    p->segment = 0;
    p->crc = p->sum = 0;
    p->gathered.size = 0;
    HUB_TRY(forget(t, p->file, err));
    return hash_anew(p->run, f, err);
}

static enum hub_status piece_head(struct hub_fetch *fetch, const struct hub_answer *a, struct hub_error *err)
{
    struct piece *p = fetch->user;
    struct open_file *f = find_open(p->run, p->file);
    struct hub_file_facts *item = &p->run->transfer->plan->items[p->file];
    HUB_TRY(check_etag(f, p, a, err));
    if (a->generation && item->generation && a->generation != item->generation)
        return changed(err, item, "its generation changed");
    if (a->has_sha256 && item->has_sha256 && memcmp(a->sha256, item->sha256, HUB_SHA256_BYTES) != 0)
        return changed(err, item, "its digest changed");
    if (a->has_sha256) {
        memcpy(item->sha256, a->sha256, HUB_SHA256_BYTES);
        item->has_sha256 = true;
    }
    if (a->status == 206)
        return check_part(p, a, err);
    if (a->status == 200)
        return check_whole(p, f, a, err);
    return hub_fail_as(err, HUB_CORRUPT, "protocol", "the server answered %u for '%s'", a->status,
                       item->path);
}

static enum hub_status write_at(const struct open_file *f, struct hub_view bytes, uint64_t at,
                                const struct hub_file_facts *item, struct hub_error *err)
{
    while (bytes.size) {
        const ssize_t n = pwrite(f->fd, bytes.data, bytes.size, (off_t)at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return hub_fail_errno(err, errno, "'%s' cannot be written", item->path);
        bytes.data += n;
        bytes.size -= (size_t)n;
        at += (uint64_t)n;
    }
    return HUB_OK;
}

static enum hub_status done(const struct hub_pieces *t, uint32_t file, uint32_t segment, uint32_t crc32c,
                            struct hub_error *err)
{
    HUB_TRY(hub_staging_done(t->staging, file, segment, crc32c, err));
    if (t->watch)
        t->watch->segment(file, segment, t->watch->user);
    return HUB_OK;
}

/* Add bytes up to a segment's end to its CRC. Pieces of the sums end within it or with it. @return how
 * many */
static size_t add_to_crc(struct piece *p, const struct open_file *f, struct hub_view bytes, uint64_t at,
                         uint64_t end)
{
    const uint64_t stop = HUB_MIN(end, (at / HUB_SUM_PIECE + 1) * HUB_SUM_PIECE);
    const size_t n = (size_t)HUB_MIN(bytes.size, (f->later ? stop : end) - at);
    if (!f->later) {
        p->crc = hub_crc32c(p->crc, bytes.data, n);
        return n;
    }
    p->sum = hub_crc32c(p->sum, bytes.data, n);
    if (at + n == stop) {
        const uint64_t piece = at / HUB_SUM_PIECE;
        hub_sums_put(f->trailed.sums, piece, p->sum);
        p->crc = hub_crc32c_join(p->crc, p->sum, stop - piece * HUB_SUM_PIECE);
        p->sum = 0;
    }
    return n;
}

/* Enter the segments that are complete with these bytes, which are written. */
static enum hub_status enter(struct piece *p, const struct open_file *f, struct hub_view bytes, uint64_t at,
                             struct hub_error *err)
{
    struct hub_staging *s = p->run->transfer->staging;
    const uint64_t size = p->run->transfer->plan->items[p->file].size;
    while (bytes.size) {
        const uint64_t end = HUB_MIN((p->segment + 1) * s->segment_bytes, size);
        const size_t n = add_to_crc(p, f, bytes, at, end);
        bytes.data += n;
        bytes.size -= n;
        at += n;
        if (at < end)
            continue;
        if (!f->whole || p->whole) /* else a part of a file that is being started over */
            HUB_TRY(done(p->run->transfer, p->file, p->segment, p->crc, err));
        p->segment++;
        p->crc = 0;
    }
    return HUB_OK;
}

/* ---- what is waited for elsewhere ---- */

/* The rest is for others to fetch. */
static void cut(struct piece *p, struct open_file *f, uint32_t end)
{
    struct hub_staging *s = p->run->transfer->staging;
    memset(s->states + s->files[f->file].base + end, HUB_SEGMENT_MISSING, p->end - end);
    p->end = end;
    p->cut = true;
    f->cursor = HUB_MIN(f->cursor, end);
}

/* Is it still to be asked for? What another request comes to only after much else is taken away from it. */
static bool is_missed(struct pieces_run *r, uint32_t file, uint32_t segment)
{
    const struct hub_staging *s = r->transfer->staging;
    struct open_file *f = find_open(r, file);
    if (!f)
        return !r->begun[file] && s->files[file].missing && find_room(r);
    if (f->whole)
        return !f->in_flight && !f->whole_asked;
    for (size_t i = 0; i < MAX_PIECES; i++) {
        struct piece *p = &r->pieces[i];
        if (p->used && !p->whole && p->file == file && p->segment + NEAR < segment && segment < p->end)
            cut(p, f, segment);
    }
    return s->states[s->files[file].base + segment] == HUB_SEGMENT_MISSING;
}

/* A segment of the piece will be complete now: its connection is for what somebody waits for, unless that
 * is what it fetches. */
static void give_way(struct piece *p, struct open_file *f)
{
    const struct hub_transfer_watch *watch = p->run->transfer->watch;
    uint32_t file, segment;
    bool missed = false;
    for (unsigned i = 0; watch && watch->wanted(i, &file, &segment, watch->user); i++) {
        if (file == p->file && segment >= p->segment && segment <= p->segment + NEAR && segment < p->end)
            return;
        missed = is_missed(p->run, file, segment) || missed;
    }
    if (missed && p->segment + 1 < p->end)
        cut(p, f, p->segment + 1);
}

/* Written are many bytes at once, and those that complete a segment or the piece. */
static enum hub_status gather(struct piece *p, struct open_file *f, struct hub_view bytes, uint64_t at,
                              struct hub_error *err)
{
    const struct hub_pieces *t = p->run->transfer;
    const uint64_t end = at + bytes.size;
    HUB_TRY(hub_buf_add(&p->gathered, bytes.data, bytes.size, err));
    if (p->gathered.size < GATHERED && end < (p->segment + 1) * t->staging->segment_bytes &&
        end < p->fetch.first + p->fetch.count)
        return HUB_OK;
    const struct hub_view all = hub_buf_view(&p->gathered);
    p->gathered.size = 0;
    HUB_TRY(write_at(f, all, end - all.size, &t->plan->items[p->file], err));
    if (end - all.size == f->front)
        HUB_TRY(advance(p->run, f, all, err));
    return enter(p, f, all, end - all.size, err);
}

static enum hub_status piece_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    struct piece *p = fetch->user;
    struct open_file *f = find_open(p->run, p->file);
    const uint64_t at = fetch->first + fetch->done, segment_bytes = p->run->transfer->staging->segment_bytes;
    if (!f->whole && at + bytes.size >= (p->segment + 1) * segment_bytes)
        give_way(p, f);
    if (p->cut)
        bytes.size = HUB_MIN(bytes.size, p->end * segment_bytes - at);
    p->run->transfer->bytes_done += bytes.size;
    f->here += bytes.size;
    HUB_TRY(gather(p, f, bytes, at, err));
    return p->cut && p->segment == p->end ? hub_fail(err, HUB_AGAIN, "other bytes are needed first") : HUB_OK;
}

/* ---- what is finished ---- */

/* The server turned out not to do ranges: what came in parts is dropped when the last of them is back. */
static enum hub_status drop_parts(struct pieces_run *r, struct open_file *f, struct hub_error *err)
{
    r->transfer->bytes_done -= f->here;
    f->here = 0;
    HUB_TRY(forget(r->transfer, f->file, err));
    return hash_anew(r, f, err);
}

static enum hub_status part_finished(struct pieces_run *r, struct piece *p, struct open_file *f,
                                     struct hub_error *err)
{
    struct hub_staging *s = r->transfer->staging;
    if (!f->whole || p->whole)
        HUB_TRY(catch_up(r, f, err));
    return s->files[f->file].missing || f->in_flight ? HUB_OK : close_file(r, f, err);
}

static enum hub_status piece_finished(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err)
{
    struct piece *p = fetch->user;
    struct pieces_run *r = p->run;
    struct open_file *f = find_open(r, p->file);
    p->used = false;
    f->in_flight--;
    if (st == HUB_NOT_FOUND || st == HUB_OUT_OF_RANGE ||
        st == HUB_CHANGED) /* its received bytes are useless */
        HUB_TRY(forget(r->transfer, p->file, err));
    if (st == HUB_NOT_FOUND || st == HUB_OUT_OF_RANGE)
        return changed(err, &r->transfer->plan->items[p->file],
                       st == HUB_NOT_FOUND ? "it no longer exists" : "it is shorter now");
    if (st && st != HUB_AGAIN)
        return st;
    if (!st || p->cut)
        HUB_TRY(part_finished(r, p, f, err));
    if (f->fd >= 0 && f->whole && !f->whole_asked && !f->in_flight)
        HUB_TRY(drop_parts(r, f, err));
    return request_more(r, err);
}

/* What is left when a run ends. */
static void dispose(struct pieces_run *r)
{
    for (size_t i = 0; i < HUB_COUNT(r->open); i++)
        release(&r->open[i]);
    for (size_t i = 0; i < MAX_PIECES; i++) {
        hub_buf_dispose(&r->pieces[i].url);
        hub_buf_dispose(&r->pieces[i].gathered);
    }
    free(r->begun);
    free(r);
}

static enum hub_status run(struct pieces_run *r, struct hub_error *err)
{
    struct hub_pieces *t = r->transfer;
    HUB_TRY(hub_hash_pipeline_start(report_whole, t, &r->trail, err));
    enum hub_status st = request_more(r, err);
    if (st)
        hub_transport_drop(t->remote->transport);
    else
        st = hub_transport_drive(t->remote->transport, &(struct hub_drive){.tick = t->tick, .user = t->user},
                                 err);
    const enum hub_status trailed = hub_hash_pipeline_stop(r->trail, st != HUB_OK, st ? NULL : err);
    return st ? st : trailed;
}

enum hub_status hub_pieces_run(struct hub_pieces *t, struct hub_error *err)
{
    struct pieces_run *r;
    HUB_TRY(hub_new(&r, 1, sizeof *r, err));
    r->transfer = t;
    r->begun = calloc((size_t)t->plan->count + 1, sizeof *r->begun);
    t->bytes_done = t->staging->bytes_kept + t->staging->bytes_taken;
    t->files_done = 0;
    for (size_t i = 0; i < HUB_COUNT(r->open); i++)
        r->open[i].fd = -1;
    enum hub_status st = hub_allocated(r->begun, err);
    if (!st)
        st = run(r, err);
    dispose(r);
    return st;
}
