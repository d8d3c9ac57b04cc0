/* Requests for the segments of a plan: see pieces.h. */
#include "storage/transfer/pieces.h"

#include <stdlib.h>

static const uint64_t long_piece = 64 * MIB; /* at most, while there is enough for all connections */
static const uint64_t short_piece = 8 * MIB; /* at least, where segments are small for those who watch */

/* ---- what to ask for next ---- */

/* Those in a row that are missing, from this one on: as many as one request is good for. */
static bool take_from(struct hub_pieces *r, const struct hub_piece_file *f, uint32_t segment,
                      struct hub_piece_request *p)
{
    const struct hub_download *t = r->download;
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
static bool take_segments(struct hub_pieces *r, struct hub_piece_file *f, struct hub_piece_request *p)
{
    const struct hub_staging *s = r->download->staging;
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
static struct hub_piece_file *share(struct hub_pieces *r, struct hub_piece_request *p)
{
    for (size_t i = 0; i < HUB_COUNT(r->open); i++)
        if (r->open[i].fd >= 0 && take_segments(r, &r->open[i], p))
            return &r->open[i];
    return NULL;
}

/* As many as there are: none is left. */
static uint32_t next_file(struct hub_pieces *r)
{
    struct hub_download *t = r->download;
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

/* What somebody waits for, wherever it lies. NULL: nothing, or it is on its way. */
static enum hub_status choose_wanted(struct hub_pieces *r, struct hub_piece_request *p,
                                     struct hub_piece_file **out, struct hub_error *err)
{
    const struct hub_download *t = r->download;
    uint32_t file, segment;
    for (unsigned i = 0; t->watch && t->watch->wanted(i, &file, &segment, t->watch->user); i++) {
        struct hub_piece_file *f = hub_piece_file_find(r, file),
                              *room = f || r->begun[file] ? NULL : hub_piece_file_room(r);
        if (room && t->staging->files[file].missing) {
            HUB_TRY(hub_piece_file_begin(r, file, room, err));
            f = hub_piece_file_find(r, file);
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
static enum hub_status choose(struct hub_pieces *r, struct hub_piece_request *p, struct hub_piece_file **out,
                              struct hub_error *err)
{
    struct hub_download *t = r->download;
    *out = NULL;
    HUB_TRY(choose_wanted(r, p, out, err));
    while (!*out) {
        for (size_t i = 0; i < HUB_COUNT(r->open); i++) {
            if (r->open[i].fd >= 0 && !r->open[i].in_flight && take_segments(r, &r->open[i], p)) {
                *out = &r->open[i];
                return HUB_OK;
            }
        }
        struct hub_piece_file *room = hub_piece_file_room(r);
        const uint32_t file = next_file(r);
        if (!room || file >= t->plan->count) {
            *out = share(r, p);
            return HUB_OK;
        }
        HUB_TRY(hub_piece_file_begin(r, file, room, err));
    }
    return HUB_OK;
}

static enum hub_status aim(struct hub_pieces *r, struct hub_piece_request *p, struct hub_piece_file *f,
                           struct hub_error *err)
{
    struct hub_download *t = r->download;
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
                                  .head = hub_piece_head,
                                  .body = hub_piece_body,
                                  .finished = hub_piece_finished,
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
enum hub_status hub_pieces_ask(struct hub_pieces *r, struct hub_error *err)
{
    const unsigned most = HUB_MIN(r->download->connections, (unsigned)HUB_MAX_CONNECTIONS);
    for (unsigned i = 0; i < most; i++) {
        struct hub_piece_request *p = &r->pieces[i];
        struct hub_piece_file *f;
        if (p->used)
            continue;
        HUB_TRY(choose(r, p, &f, err));
        if (!f)
            return HUB_OK;
        HUB_TRY(aim(r, p, f, err));
        hub_transport_submit(r->download->remote->transport, &p->fetch);
    }
    return HUB_OK;
}

/* ---- all of it ---- */

/* What is left when a run ends. */
static void dispose(struct hub_pieces *r)
{
    for (size_t i = 0; i < HUB_COUNT(r->open); i++)
        hub_piece_file_release(&r->open[i]);
    for (size_t i = 0; i < HUB_MAX_CONNECTIONS; i++) {
        hub_buf_dispose(&r->pieces[i].url);
        hub_buf_dispose(&r->pieces[i].gathered);
    }
    free(r->begun);
    free(r);
}

static enum hub_status run(struct hub_pieces *r, struct hub_error *err)
{
    struct hub_download *t = r->download;
    HUB_TRY(hub_hash_pipeline_start(hub_piece_file_whole, t, &r->trail, err));
    enum hub_status st = hub_pieces_ask(r, err);
    if (st)
        hub_transport_drop(t->remote->transport);
    else
        st = hub_transport_drive(t->remote->transport, &(struct hub_drive){.tick = t->tick, .user = t->user},
                                 err);
    const enum hub_status trailed = hub_hash_pipeline_stop(r->trail, st != HUB_OK, st ? NULL : err);
    return st ? st : trailed;
}

enum hub_status hub_download_fetch(struct hub_download *d, struct hub_error *err)
{
    struct hub_pieces *r;
    HUB_TRY(hub_new(&r, 1, sizeof *r, err));
    r->download = d;
    r->begun = calloc((size_t)d->plan->count + 1, sizeof *r->begun);
    d->bytes_done = d->staging->bytes_kept + d->staging->bytes_taken;
    d->files_done = 0;
    for (size_t i = 0; i < HUB_COUNT(r->open); i++)
        r->open[i].fd = -1;
    enum hub_status st = hub_allocated(r->begun, err);
    if (!st)
        st = run(r, err);
    dispose(r);
    return st;
}
