/* Files of a dataset: the listing and their bytes, by range, with every conditional. No status of a dataset
 * blocks its bytes. */
#include "server/api/files.h"
#include "server/api/coming.h"
#include "server/api/episodes.h"
#include "server/api/handlers.h"

#include "server/api/coverage.h"
#include "server/api/listing.h"
#include "server/api/open.h"
#include "server/api/put.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "storage/base/base64.h"
#include "storage/base/digest.h"
#include "storage/base/order.h"
#include "storage/base/spell.h"
#include "storage/base/time.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUFFERED_RANGE = 1024 * 1024 }; /* up to this a range is read at once and checked as a whole */

/* ---- those of some episodes ---- */

/* Where a file or a folder is of some episodes, and what reads the format can do without the others. */
static bool comes_apart(const char *format)
{
    static const char *const formats[] = {"lerobot",     "aloha",     "minari-arrow", "minari-parquet",
                                          "molmospaces", "il-native", "webdataset",   "molmospaces-shards"};
    for (size_t i = 0; i < HUB_COUNT(formats); i++)
        if (strcmp(format, formats[i]) == 0)
            return true;
    return false;
}

/* A number from the first to the one before the last, or behind the colon nothing. */
static bool read_bound(const char **at, int64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

/* "0:10,15,20:": leaves chosen only those that have these numbers. */
static bool choose_numbers(const struct hub_dataset *dataset, const char *text, bool *chosen)
{
    HUB_CLEANUP(hub_freep) bool *named = calloc(dataset->episode_count + 1, sizeof *named);
    for (const char *at = text; named; at++) {
        int64_t from = 0, to = INT64_MAX;
        const bool has_from = read_bound(&at, &from);
        if (!has_from && *at != ':')
            return false;
        if (*at != ':')
            to = from < INT64_MAX ? from + 1 : from;
        else if (*++at >= '0' && *at <= '9' && !read_bound(&at, &to))
            return false;
        const struct hub_dataset_episode *e = dataset->episodes;
        for (uint32_t i = hub_lower_bound(&from, e, dataset->episode_count, sizeof *e, hub_by_i64);
             i < dataset->episode_count && e[i].number < to; i++)
            named[i] = true;
        if (*at != ',' && *at)
            return false;
        if (!*at)
            break;
    }
    for (uint32_t i = 0; i < dataset->episode_count; i++)
        chosen[i] = chosen[i] && named && named[i];
    return named;
}

static enum hub_status choose(struct hub_request *request, const struct hub_state *state, bool *chosen,
                              uint32_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_episodes_asked_dispose) struct hub_episodes_asked asked = {0};
    const char *numbers = hub_request_query(request, "episodes").data;
    HUB_TRY(hub_episodes_asked(request, &asked, err));
    HUB_TRY(hub_episodes_admit(request, state, &asked.query, err));
    HUB_TRY(hub_episode_choose(state, &asked.query, chosen, err));
    if (numbers && !choose_numbers(state->dataset, numbers, chosen))
        return hub_request_wrong(request, "episodes", err,
                                 "episodes are numbers and ranges of them, such as 0:10,15,20:");
    *count = 0;
    for (uint32_t i = 0; i < state->dataset->episode_count; i++)
        *count += chosen[i];
    return *count ? HUB_OK
                  : hub_fail_about(err, HUB_NOT_FOUND, "episode-missing", "episodes", numbers,
                                   "%s has no such episodes", state->dataset->summary->id);
}

static enum hub_status write_chosen(struct hub_request *request, const struct hub_target *target,
                                    struct hub_json *json, struct hub_error *err)
{
    const struct hub_dataset *dataset = target->state.dataset;
    HUB_CLEANUP(hub_freep) bool *chosen = NULL, *needed = NULL;
    uint32_t count = 0, left_out = 0;
    bool hashed;
    HUB_TRY(hub_new(&chosen, dataset->episode_count + 1, sizeof *chosen, err));
    HUB_TRY(hub_new(&needed, dataset->file_count + 1, sizeof *needed, err));
    HUB_TRY(choose(request, &target->state, chosen, &count, err));
    const bool apart = comes_apart(dataset->summary->format);
    if (apart)
        HUB_TRY(hub_files_needed(&target->state, chosen, needed, err));
    for (uint32_t i = 0; apart && i < dataset->file_count; i++)
        left_out += !needed[i];
    hub_json_object(json);
    HUB_TRY(hub_files_write(json, &target->state, apart ? needed : NULL, &hashed, err));
    hub_json_put_uint(json, "episodes", count);
    hub_json_put_uint(json, "left_out", left_out);
    hub_json_end_object(json);
    return hub_json_status(json);
}

static enum hub_status list_chosen(struct hub_request *request, struct hub_response *response,
                                   const char *const *parameters, struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_STATE | HUB_TO_READY, &target, err));
    const struct hub_dataset *dataset = target.state.dataset;
    struct hub_coverage measured;
    HUB_TRY(hub_coverage_require(request, response, &target, NULL, 0, &measured, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            dataset->file_count * (sizeof(struct hub_file_digests) + 64) +
                                dataset->episode_count * (uint64_t)8,
                            err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", 256 * MIB), err);
    HUB_TRY(write_chosen(request, &target, &json, err));
    HUB_TRY(hub_coverage_named_headers(request, &target, &measured, response, err));
    return hub_reply_document(request, response, err);
}

/* ---- the listing ---- */

enum hub_status hub_files_list(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    enum { CHOICES = 4 };
    static const char *const parameters[] = {
        "episodes", "where", "split", "task", "for", "revision", HUB_MEASURED_PARAMETERS NULL};
    static const char *const of_page[] = {"prefix", "delimiter", "limit", "cursor", "format"};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    for (size_t i = 0; i < CHOICES; i++)
        if (hub_request_query(request, parameters[i]).data)
            return list_chosen(request, response, parameters, err);
    for (size_t i = 0; i < HUB_COUNT(of_page); i++)
        if (hub_request_query(request, of_page[i]).data)
            return hub_files_page(request, response, err);
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_SUMMARY | HUB_TO_REMOTE, &target, err));
    if (hub_remote_is_fetching(request, target.summary))
        return hub_pulled_files_list(request, &target, response, err);
    return hub_document_answer(request, &target, &hub_files_document, response, err);
}

/* ---- bytes ---- */

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
    struct hub_catalog *catalog = request->app->catalog;
    const struct hub_stamp *stamp = &b->part->entry->stamp;
    const uint32_t root = b->dataset->summary->root;
    enum hub_status st = hub_digest_recall(catalog, root, b->path, stamp, &digests);
    if (st == HUB_AGAIN && !request->may_block)
        return st;
    if (st == HUB_AGAIN)
        st = hub_digest_find(catalog, root, b->path, stamp, &digests, NULL);
    if (st && request->app->hasher)
        hub_hasher_want(request->app->hasher, root, b->path, stamp);
    *known = !st && hub_unhex(hub_view_of(digests.sha256), sum, HUB_SHA256_BYTES);
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

/* Of the whole answer the bytes that are asked for: `first` and `count` of the file, behind what is left of the
 * head. */
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

enum hub_status hub_file_data(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    static const char *const parameters[] = {"for", "revision", NULL};
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf raw = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_resolve(request, response, parameters, HUB_TO_DATASET | HUB_TO_REMOTE, &target, err));
    if (hub_remote_is_fetching(request, target.summary))
        return hub_pulled_file_data(request, &target, response, err);
    const struct hub_dataset *dataset = target.state.dataset;
    const struct hub_view path = hub_request_capture(request, "path");
    const struct hub_file_part part = {.entry = hub_unspell(path, &raw, NULL)
                                                    ? NULL
                                                    : bsearch(&raw.data, dataset->files, dataset->file_count,
                                                              sizeof *dataset->files, hub_by_text)};
    if (!part.entry)
        return hub_fail_about(err, HUB_NOT_FOUND, "file-not-found", "path", path.data,
                              "'%s' has no file '%s'", target.summary->id, path.data);
    return hub_file_send(request, &target, &part, response, err);
}
