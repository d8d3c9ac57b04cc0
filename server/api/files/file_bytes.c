/* Bytes of files as answers: see file_bytes.h. */
#include "server/api/files/file_bytes.h"

#include "server/api/files/listing.h"
#include "storage/base/digest.h"
#include "storage/ids/spell.h"
#include "storage/rows/open.h"
#include "storage/text/base64.h"

#include <inttypes.h>
#include <stdio.h>

enum { BUFFERED_RANGE = 1024 * 1024 }; /* up to this a range is read at once and checked as a whole */

/* An opened file and what its answer says about it. */
struct bytes {
    const struct hub_file_part *part;
    const struct hub_dataset *dataset;
    struct hub_file *file;
    char path[PATH_MAX];
    uint64_t first, count; /* of the file */
};

static void bytes_dispose(struct bytes *b)
{
    hub_file_put(b->file);
}

/* As it was computed here; else the file is hashed soon. */
static enum hub_status find_digest(struct hub_request *request, const struct bytes *b,
                                   uint8_t sum[HUB_SHA256_BYTES], bool *known)
{
    struct hub_file_digests digests;
    struct hub_truth *truth = request->app->truth;
    const struct hub_stamp *stamp = &b->part->entry->stamp;
    const uint32_t root = b->dataset->summary->root;
    enum hub_status st = hub_digest_recall(truth, root, b->path, stamp, &digests);
    if (st == HUB_AGAIN && !request->may_block)
        return st;
    if (st == HUB_AGAIN)
        st = hub_digest_find(truth, root, b->path, stamp, &digests, NULL);
    *known = !st && hub_unhex(hub_view_of(digests.sha256), sum, HUB_SHA256_BYTES);
    if (!*known && request->app->hasher)
        hub_digest_queue_want(request->app->hasher, root, b->path, stamp);
    return HUB_OK;
}

/* RFC 9530 Repr-Digest when the digest is known. */
static enum hub_status digest_header(struct hub_request *request, const struct bytes *b,
                                     struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    uint8_t sum[HUB_SHA256_BYTES];
    bool known = b->part->sha256 != NULL;
    if (known)
        memcpy(sum, b->part->sha256, sizeof sum);
    if (!b->part->coming)
        HUB_TRY(find_digest(request, b, sum, &known));
    if (!known)
        return HUB_OK;
    HUB_TRY(hub_base64_encode((struct hub_view){(const char *)sum, sizeof sum}, &text, err));
    return hub_response_header(response, err, "Repr-Digest", "sha-256=:%s:", text.data);
}

static enum hub_status headers(struct hub_request *request, const struct hub_target *target,
                               const struct bytes *b, struct hub_response *response, struct hub_error *err)
{
    const char *path = b->part->entry->path, *name = strrchr(path, '/');
    const char *type = hub_file_type(path);
    name = b->part->name ? b->part->name : name ? name + 1 : path;
    const bool shown = b->part->version || hub_view_starts(hub_view_of(type), "image/") ||
                       hub_view_starts(hub_view_of(type), "video/");
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    HUB_TRY(hub_resolve_headers(request, target, response, err));
    if (!b->part->version)
        HUB_TRY(hub_response_header(response, err, "Content-Type", "%s", type));
    HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    HUB_TRY(hub_response_header(response, err, "Content-Security-Policy", "sandbox; default-src 'none'"));
    HUB_TRY(hub_spell_path(hub_view_of(name), &text, err));
    HUB_TRY(hub_response_file_name(response, shown ? "inline" : "attachment", hub_buf_view(&text), err));
    return b->part->version ? HUB_OK : digest_header(request, b, response, err);
}

static void put_fetch(void *fetch)
{
    hub_fetch_put(fetch);
}

/* The range where it does not lie in place. It may have been fetched for this request, from this very
 * file. */
static enum hub_status fetch_range(struct hub_request *request, const struct bytes *b, void *out,
                                   struct hub_error *err)
{
    struct hub_file_fetch *fetch = request->state;
    enum hub_status st;
    if (fetch && fetch->items->offset == b->first && fetch->items->size == b->count &&
        hub_stamp_equal(&fetch->items->file->stamp, &b->file->stamp)) {
        st = hub_fetch_result(fetch, err);
    } else {
        hub_fetch_put(fetch);
        request->free_state = put_fetch;
        st = hub_fetch_range(b->file, b->first, b->count, &fetch, err);
        request->state = fetch;
    }
    if (st == HUB_AGAIN)
        return hub_await_bytes(request, fetch);
    if (!st)
        memcpy(out, fetch->items->data, (size_t)b->count);
    return st;
}

/* Behind what is in the response's buffer. */
static enum hub_status read_range(struct hub_request *request, struct bytes *b, struct hub_response *response,
                                  struct hub_error *err)
{
    struct hub_buf *out = &response->buffer;
    const uint64_t fetched = b->file->source ? b->count : 0;
    HUB_TRY(hub_budget_take(request->app->budget, request, response, b->count + fetched + 4096, err));
    response->kind = HUB_BODY_BUFFER;
    out->limit = out->size + BUFFERED_RANGE + 4096;
    HUB_TRY(hub_buf_reserve(out, (size_t)b->count, err));
    HUB_TRY(fetched ? fetch_range(request, b, out->data + out->size, err)
                    : hub_read_bytes(b->file, b->first, out->data + out->size, (size_t)b->count,
                                     request->may_block ? 0 : HUB_READ_NOWAIT, err));
    out->size += (size_t)b->count;
    return hub_file_unchanged(b->file, err);
}

/* Of the whole answer the bytes that are asked for: `first` and `count` of the file, behind what is left
 * of the head. */
static void cut_head(struct bytes *b, struct hub_buf *head)
{
    const uint64_t skipped = HUB_MIN(b->first, head->size), kept = HUB_MIN(head->size - skipped, b->count);
    if (skipped && kept)
        memmove(head->data, head->data + skipped, (size_t)kept);
    b->first = b->part->offset + (b->first - skipped);
    b->count -= kept;
    head->size = (size_t)kept;
}

static enum hub_status send(struct hub_request *request, const struct hub_target *target, struct bytes *b,
                            struct hub_response *response, struct hub_error *err)
{
    char etag[40];
    bool done = false;
    const struct hub_dataset_file *entry = b->part->entry;
    const bool timed = !b->part->coming || entry->stamp.mtime_ns;
    const int64_t modified_s = timed ? (int64_t)(entry->stamp.mtime_ns / 1000000000u) : -1;
    const char *revision = b->part->revision ? b->part->revision : target->summary->revision;
    const struct hub_view parts[] = {hub_view_of(revision), hub_view_of(entry->path),
                                     hub_view_of(b->part->version)};
    if (b->part->etag)
        snprintf(etag, sizeof etag, "%s", b->part->etag);
    else
        hub_fingerprint(etag, parts, b->part->version ? 3 : 2);
    HUB_TRY(headers(request, target, b, response, err));
    HUB_TRY(hub_resolve_conditions(request, response, etag, modified_s, &done, err));
    if (done)
        return HUB_OK;
    struct hub_buf *head = &response->buffer;
    const uint64_t size = b->part->version ? head->size + b->part->length : entry->stamp.size;
    const struct hub_validators validators = {etag, modified_s};
    struct hub_byte_range range = {0};
    HUB_TRY(hub_bytes_range(request, &validators, size, response, &range, err));
    if (range.answered)
        return HUB_OK;
    b->first = range.first;
    b->count = range.count;
    cut_head(b, head);
    const bool at_once = b->count <= BUFFERED_RANGE && (range.partial || !b->part->coming);
    if (at_once && request->method != HUB_HEAD)
        return read_range(request, b, response, err);
    response->kind = b->count ? HUB_BODY_FILE : HUB_BODY_BUFFER;
    response->file = b->file;
    response->offset = b->first;
    response->length = b->count;
    b->file = NULL; /* the response's now */
    return HUB_OK;
}

enum hub_status hub_file_send(struct hub_request *request, const struct hub_target *target,
                              const struct hub_file_part *part, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(bytes_dispose) struct bytes b = {.part = part, .dataset = target->state.dataset};
    const struct hub_rows_context rows = hub_request_rows(request);
    b.file = part->coming;
    if (!b.file)
        HUB_TRY(hub_files_path(b.dataset, part->entry, b.path, err));
    if (!b.file)
        HUB_TRY(hub_files_open(&rows, b.dataset, part->entry, &b.file, err));
    return send(request, target, &b, response, err);
}
