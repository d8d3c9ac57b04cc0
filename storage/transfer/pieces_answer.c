/* What answers bring of the files of a download: see pieces.h. */
#include "storage/transfer/pieces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

enum { GATHERED = 256 * 1024 }; /* bytes of a write */
enum { NEAR = 4 };              /* segments: so far ahead, what comes is waited for */

/* ---- its head ---- */

static enum hub_status changed(struct hub_error *err, const struct hub_file_facts *item, const char *how)
{
    return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_CHANGED,
                       "'%s' changed while it was being downloaded: %s", item->path, how);
}

/* The validator of all answers about one file must be the same. */
static enum hub_status check_etag(struct hub_piece_file *f, struct hub_piece_request *p,
                                  const struct hub_answer *a, struct hub_error *err)
{
    if (!*a->etag)
        return HUB_OK;
    if (*f->etag && strcmp(f->etag, a->etag) != 0)
        return changed(err, &p->run->download->plan->items[p->file], "its ETag changed");
    memcpy(f->etag, a->etag, sizeof f->etag);
    memcpy(p->fetch.if_range, a->etag, sizeof p->fetch.if_range);
    return HUB_OK;
}

/* A part: exactly the one that was asked for, of a file of the size we know. */
static enum hub_status check_part(const struct hub_piece_request *p, const struct hub_answer *a,
                                  struct hub_error *err)
{
    const struct hub_file_facts *item = &p->run->download->plan->items[p->file];
    const uint64_t from = p->fetch.first + p->fetch.done, last = p->fetch.first + p->fetch.count - 1;
    if (!a->has_range || a->first != from || a->last != last)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the server did not send the requested part of '%s', bytes %" PRIu64 "-%" PRIu64,
                           item->path, from, last);
    return a->total == item->size ? HUB_OK : changed(err, item, "its size changed");
}

/* Everything from the first byte on. */
static enum hub_status check_whole(struct hub_piece_request *p, struct hub_piece_file *f,
                                   const struct hub_answer *a, struct hub_error *err)
{
    struct hub_download *t = p->run->download;
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
    HUB_TRY(hub_piece_file_forget(t, p->file, err));
    return hub_piece_file_restart(p->run, f, err);
}

enum hub_status hub_piece_head(struct hub_fetch *fetch, const struct hub_answer *a, struct hub_error *err)
{
    struct hub_piece_request *p = fetch->user;
    struct hub_piece_file *f = hub_piece_file_find(p->run, p->file);
    struct hub_file_facts *item = &p->run->download->plan->items[p->file];
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
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the server answered %u for '%s'", a->status,
                       item->path);
}

/* ---- its bytes ---- */

static enum hub_status write_at(const struct hub_piece_file *f, struct hub_view bytes, uint64_t at,
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

static enum hub_status done(const struct hub_download *t, uint32_t file, uint32_t segment, uint32_t crc32c,
                            struct hub_error *err)
{
    HUB_TRY(hub_staging_done(t->staging, file, segment, crc32c, err));
    if (t->watch)
        t->watch->segment(file, segment, t->watch->user);
    return HUB_OK;
}

/* Add bytes up to a segment's end to its CRC. Pieces of the sums end within it or with it. @return how
 * many */
static size_t add_to_crc(struct hub_piece_request *p, const struct hub_piece_file *f, struct hub_view bytes,
                         uint64_t at, uint64_t end)
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
static enum hub_status enter(struct hub_piece_request *p, const struct hub_piece_file *f,
                             struct hub_view bytes, uint64_t at, struct hub_error *err)
{
    struct hub_staging *s = p->run->download->staging;
    const uint64_t size = p->run->download->plan->items[p->file].size;
    while (bytes.size) {
        const uint64_t end = HUB_MIN((p->segment + 1) * s->segment_bytes, size);
        const size_t n = add_to_crc(p, f, bytes, at, end);
        bytes.data += n;
        bytes.size -= n;
        at += n;
        if (at < end)
            continue;
        if (!f->whole || p->whole) /* else a part of a file that is being started over */
            HUB_TRY(done(p->run->download, p->file, p->segment, p->crc, err));
        p->segment++;
        p->crc = 0;
    }
    return HUB_OK;
}

/* ---- what is waited for elsewhere ---- */

/* The rest is for others to fetch. */
static void cut(struct hub_piece_request *p, struct hub_piece_file *f, uint32_t end)
{
    struct hub_staging *s = p->run->download->staging;
    memset(s->states + s->files[f->file].base + end, HUB_SEGMENT_MISSING, p->end - end);
    p->end = end;
    p->cut = true;
    f->cursor = HUB_MIN(f->cursor, end);
}

/* Is it still to be asked for? What another request comes to only after much else is taken away from it. */
static bool is_missed(struct hub_pieces *r, uint32_t file, uint32_t segment)
{
    const struct hub_staging *s = r->download->staging;
    struct hub_piece_file *f = hub_piece_file_find(r, file);
    if (!f)
        return !r->begun[file] && s->files[file].missing && hub_piece_file_room(r);
    if (f->whole)
        return !f->in_flight && !f->whole_asked;
    for (size_t i = 0; i < HUB_MAX_CONNECTIONS; i++) {
        struct hub_piece_request *p = &r->pieces[i];
        if (p->used && !p->whole && p->file == file && p->segment + NEAR < segment && segment < p->end)
            cut(p, f, segment);
    }
    return s->states[s->files[file].base + segment] == HUB_SEGMENT_MISSING;
}

/* A segment of the piece will be complete now: its connection is for what somebody waits for, unless that
 * is what it fetches. */
static void give_way(struct hub_piece_request *p, struct hub_piece_file *f)
{
    const struct hub_transfer_watch *watch = p->run->download->watch;
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
static enum hub_status gather(struct hub_piece_request *p, struct hub_piece_file *f, struct hub_view bytes,
                              uint64_t at, struct hub_error *err)
{
    const struct hub_download *t = p->run->download;
    const uint64_t end = at + bytes.size;
    HUB_TRY(hub_buf_add(&p->gathered, bytes.data, bytes.size, err));
    if (p->gathered.size < GATHERED && end < (p->segment + 1) * t->staging->segment_bytes &&
        end < p->fetch.first + p->fetch.count)
        return HUB_OK;
    const struct hub_view all = hub_buf_view(&p->gathered);
    p->gathered.size = 0;
    HUB_TRY(write_at(f, all, end - all.size, &t->plan->items[p->file], err));
    if (end - all.size == f->front)
        HUB_TRY(hub_piece_file_advance(p->run, f, all, err));
    return enter(p, f, all, end - all.size, err);
}

enum hub_status hub_piece_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    struct hub_piece_request *p = fetch->user;
    struct hub_piece_file *f = hub_piece_file_find(p->run, p->file);
    const uint64_t at = fetch->first + fetch->done, segment_bytes = p->run->download->staging->segment_bytes;
    if (!f->whole && at + bytes.size >= (p->segment + 1) * segment_bytes)
        give_way(p, f);
    if (p->cut)
        bytes.size = HUB_MIN(bytes.size, p->end * segment_bytes - at);
    p->run->download->bytes_done += bytes.size;
    f->here += bytes.size;
    HUB_TRY(gather(p, f, bytes, at, err));
    return p->cut && p->segment == p->end ? hub_fail(err, HUB_AGAIN, "other bytes are needed first") : HUB_OK;
}

/* ---- its end ---- */

/* The server turned out not to do ranges: what came in parts is dropped when the last of them is back. */
static enum hub_status drop_parts(struct hub_pieces *r, struct hub_piece_file *f, struct hub_error *err)
{
    r->download->bytes_done -= f->here;
    f->here = 0;
    HUB_TRY(hub_piece_file_forget(r->download, f->file, err));
    return hub_piece_file_restart(r, f, err);
}

static enum hub_status part_finished(struct hub_pieces *r, struct hub_piece_request *p,
                                     struct hub_piece_file *f, struct hub_error *err)
{
    struct hub_staging *s = r->download->staging;
    if (!f->whole || p->whole)
        HUB_TRY(hub_piece_file_catch_up(r, f, err));
    return s->files[f->file].missing || f->in_flight ? HUB_OK : hub_piece_file_close(r, f, err);
}

enum hub_status hub_piece_finished(struct hub_fetch *fetch, enum hub_status st, struct hub_error *err)
{
    struct hub_piece_request *p = fetch->user;
    struct hub_pieces *r = p->run;
    struct hub_piece_file *f = hub_piece_file_find(r, p->file);
    p->used = false;
    f->in_flight--;
    if (st == HUB_NOT_FOUND || st == HUB_OUT_OF_RANGE ||
        st == HUB_CHANGED) /* its received bytes are useless */
        HUB_TRY(hub_piece_file_forget(r->download, p->file, err));
    if (st == HUB_NOT_FOUND || st == HUB_OUT_OF_RANGE)
        return changed(err, &r->download->plan->items[p->file],
                       st == HUB_NOT_FOUND ? "it no longer exists" : "it is shorter now");
    if (st && st != HUB_AGAIN)
        return st;
    if (!st || p->cut)
        HUB_TRY(part_finished(r, p, f, err));
    if (f->fd >= 0 && f->whole && !f->whole_asked && !f->in_flight)
        HUB_TRY(drop_parts(r, f, err));
    return hub_pieces_ask(r, err);
}
