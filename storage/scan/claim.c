/* Asking the drivers about one directory. The answer is remembered under what the directory looked like
 * (names, sizes, times of its entries, and of those in "data" and "meta"), so that a restart asks nobody
 * about what did not change. */
#include "storage/scan/discover.h"

#include "storage/catalog/pack.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_NOTE_BYTES (16 * MIB)

/* One entry of what the drivers see: `of` is its number in the directory's own listing, HUB_NONE for those
 * inside "data" and "meta", which are claimed with their directory or not at all. */
struct asked {
    struct hub_job_file file;
    uint32_t of;
};

/* The listing as the drivers see it, sorted by path bytes. */
struct question {
    const struct hub_discovery *discovery;
    uint32_t root;
    const char *path;
    struct asked *entries;
    struct hub_job_file *files; /* of the entries, for the job */
    uint32_t count, capacity;
    uint32_t own; /* entries of the directory itself */
    uint64_t signature;
};

static void question_dispose(struct question *q)
{
    for (uint32_t i = 0; i < q->count; i++)
        free((void *)q->entries[i].file.path);
    free(q->entries);
    free(q->files);
}

void hub_bids_dispose(struct hub_bids *bids)
{
    for (uint32_t i = 0; bids->bids && i < bids->count; i++) {
        free(bids->bids[i].format);
        free(bids->bids[i].name);
        free(bids->bids[i].files);
    }
    free(bids->bids);
    *bids = (struct hub_bids){0};
}

static uint64_t mix(uint64_t h, const char *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        h = (h ^ (uint8_t)data[i]) * 0x100000001B3U;
    return h;
}

static uint64_t mix_uint(uint64_t h, uint64_t value)
{
    for (unsigned shift = 0; shift < 64; shift += 8)
        h = (h ^ (value >> shift & 0xFF)) * 0x100000001B3U;
    return h;
}

static enum hub_status add(struct question *q, const char *prefix, const struct hub_entry *entry, uint32_t of,
                           struct hub_error *err)
{
    if (q->count == q->capacity) {
        const uint32_t capacity = q->capacity ? q->capacity * 2 : 32;
        struct asked *entries = realloc(q->entries, capacity * sizeof *entries);
        if (!entries)
            return hub_fail(err, HUB_NO_MEMORY, "no memory for a listing");
        q->entries = entries;
        q->capacity = capacity;
    }
    char *path = hub_walk_join(prefix, entry->name);
    if (!path)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a listing");
    q->entries[q->count++] =
        (struct asked){{path, entry->directory ? 0 : entry->stamp.size, entry->directory}, of};
    q->signature = mix(q->signature, path, strlen(path) + 1);
    if (!entry->directory) {
        q->signature = mix_uint(q->signature, entry->stamp.size);
        q->signature = mix_uint(q->signature, entry->stamp.mtime_ns);
        q->signature = mix_uint(q->signature, entry->stamp.tag);
    }
    return HUB_OK;
}

static enum hub_status add_all(struct question *q, const char *prefix, const struct hub_listing *listing,
                               struct hub_error *err)
{
    for (uint32_t i = 0; i < listing->count; i++)
        HUB_TRY(add(q, prefix, &listing->entries[i], *prefix ? HUB_NONE : i, err));
    return HUB_OK;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct asked *)a)->file.path, ((const struct asked *)b)->file.path);
}

/* Drivers look paths up by halving: "data/x" stands behind "data-old", not behind all of the folder's own. */
static enum hub_status sort_entries(struct question *q, struct hub_error *err)
{
    q->files = malloc((q->count + (size_t)1) * sizeof *q->files);
    if (!q->files)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a listing");
    if (q->count)
        qsort(q->entries, q->count, sizeof *q->entries, compare_entries);
    for (uint32_t i = 0; i < q->count; i++)
        q->files[i] = q->entries[i].file;
    return HUB_OK;
}

static bool matters(const struct hub_entry *entry)
{
    return entry->directory && (strcmp(entry->name, "data") == 0 || strcmp(entry->name, "meta") == 0);
}

static enum hub_status make_question(struct question *q, const struct hub_listing *listing,
                                     struct hub_error *err)
{
    q->signature = mix(0xCBF29CE484222325U, q->discovery->drivers, strlen(q->discovery->drivers) + 1);
    HUB_TRY(add_all(q, "", listing, err));
    q->own = q->count;
    for (uint32_t i = 0; i < listing->count; i++) {
        HUB_CLEANUP(hub_listing_dispose) struct hub_listing inner = {0};
        if (!matters(&listing->entries[i]))
            continue;
        HUB_CLEANUP(hub_freep) char *path = hub_walk_join(q->path, listing->entries[i].name);
        if (!path)
            return hub_fail(err, HUB_NO_MEMORY, "no memory for a listing");
        if (hub_walk_list(q->discovery->walk, q->root, path, &inner, NULL) == HUB_OK)
            HUB_TRY(add_all(q, listing->entries[i].name, &inner, err));
    }
    return sort_entries(q, err);
}

/* ---- asking ---- */

static enum hub_status open_entry(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    const struct question *q = user;
    HUB_CLEANUP(hub_freep) char *path = hub_walk_join(q->path, q->files[number].path);
    if (!path)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a path");
    return hub_walk_open(q->discovery->walk, q->root, path, O_RDONLY, fd, err);
}

static enum hub_status copy_bid(const struct question *q, struct hub_bid *bid,
                                const struct hub_found_claim *claim, struct hub_error *err)
{
    bid->format = strdup(claim->format);
    bid->name = claim->name ? strdup(claim->name) : NULL;
    bid->files = malloc((claim->file_count + (size_t)1) * sizeof *bid->files);
    if (!bid->format || !bid->files || (claim->name && !bid->name))
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a claim");
    for (uint32_t i = 0; i < claim->file_count; i++)
        if (q->entries[claim->files[i]].of != HUB_NONE)
            bid->files[bid->file_count++] = q->entries[claim->files[i]].of;
    return HUB_OK;
}

static enum hub_status copy_bids(const struct question *q, const struct hub_findings *found,
                                 struct hub_bids *out, struct hub_error *err)
{
    out->bids = calloc(found->claim_count + (size_t)1, sizeof *out->bids);
    if (!out->bids)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for claims");
    for (uint32_t i = 0; i < found->claim_count; i++) {
        const struct hub_found_claim *claim = &found->claims[i];
        struct hub_bid *bid = &out->bids[out->count];
        out->count++;
        HUB_TRY(copy_bid(q, bid, claim, err));
        if (claim->name && !bid->file_count) {
            free(bid->format);
            free(bid->name);
            free(bid->files);
            *bid = (struct hub_bid){0};
            out->count--;
        }
    }
    return HUB_OK;
}

static enum hub_status ask(struct question *q, struct hub_bids *out, struct hub_error *err)
{
    struct hub_findings found = {0};
    const struct hub_job job = {.kind = HUB_JOB_CLAIM,
                                .files = q->files,
                                .file_count = q->count,
                                .side_fd = -1,
                                .open_file = open_entry,
                                .user = q,
                                .cancel = q->discovery->cancel};
    HUB_TRY(hub_inspector_run(q->discovery->inspector, &job, &found, err));
    const enum hub_status st = copy_bids(q, &found, out, err);
    hub_findings_dispose(&found);
    return st;
}

/* ---- remembering ---- */

static enum hub_status key_of(const struct question *q, struct hub_buf *key, struct hub_error *err)
{
    return hub_buf_addf(key, err, "claim:%s/%s", q->discovery->walk->roots[q->root], q->path);
}

static enum hub_status pack(const struct question *q, const struct hub_bids *bids, struct hub_buf *out,
                            struct hub_error *err)
{
    HUB_TRY(hub_buf_add(out, &q->signature, sizeof q->signature, err));
    HUB_TRY(hub_pack_uint(out, bids->count, err));
    for (uint32_t i = 0; i < bids->count; i++) {
        HUB_TRY(hub_pack_text(out, bids->bids[i].format, err));
        HUB_TRY(hub_pack_option(out, bids->bids[i].name, err));
        HUB_TRY(hub_pack_uint(out, bids->bids[i].file_count, err));
        for (uint32_t j = 0; j < bids->bids[i].file_count; j++)
            HUB_TRY(hub_pack_uint(out, bids->bids[i].files[j], err));
    }
    return HUB_OK;
}

static bool unpack_bid(const struct question *q, struct hub_cursor *c, struct hub_bid *bid)
{
    bid->format = hub_view_dup(hub_unpack_view(c));
    bid->name = hub_unpack_uint(c) ? hub_view_dup(hub_unpack_view(c)) : NULL;
    const uint32_t count = hub_unpack_count(c);
    bid->files = calloc(count + (size_t)1, sizeof *bid->files);
    if (!bid->format || !bid->files)
        return false;
    bid->file_count = count;
    for (uint32_t i = 0; i < count; i++) {
        bid->files[i] = hub_unpack_u32(c);
        if (bid->files[i] >= q->own)
            c->failed = true;
    }
    return !c->failed;
}

static bool recall(const struct question *q, const char *key, struct hub_bids *out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf note = HUB_BUF_INIT(MAX_NOTE_BYTES);
    if (!q->discovery->recall || q->discovery->recall(q->discovery->user, key, &note, NULL))
        return false;
    struct hub_cursor c = hub_cursor_of(note.data, note.size);
    if (hub_cursor_u64(&c) != q->signature || c.failed)
        return false;
    const uint32_t count = hub_unpack_count(&c);
    out->bids = calloc(count + (size_t)1, sizeof *out->bids);
    bool ok = out->bids && !c.failed;
    while (ok && out->count < count)
        ok = unpack_bid(q, &c, &out->bids[out->count++]);
    if (!ok)
        hub_bids_dispose(out);
    return ok;
}

static void remember(const struct question *q, const char *key, const struct hub_bids *bids)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf note = HUB_BUF_INIT(MAX_NOTE_BYTES);
    if (q->discovery->remember && pack(q, bids, &note, NULL) == HUB_OK &&
        q->discovery->remember(q->discovery->user, key, hub_buf_view(&note), NULL))
        return; /* asked again next time */
}

enum hub_status hub_claim_ask(const struct hub_discovery *discovery, uint32_t root, const char *path,
                              const struct hub_listing *listing, struct hub_bids *out, struct hub_error *err)
{
    HUB_CLEANUP(question_dispose) struct question q = {.discovery = discovery, .root = root, .path = path};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf key = HUB_BUF_INIT(64 * KIB);
    *out = (struct hub_bids){0};
    HUB_TRY(make_question(&q, listing, err));
    HUB_TRY(key_of(&q, &key, err));
    if (recall(&q, key.data, out))
        return HUB_OK;
    const enum hub_status st = ask(&q, out, err);
    if (st)
        hub_bids_dispose(out);
    else
        remember(&q, key.data, out);
    return st;
}
