/* A dataset as a tar: namespace_metadata.json of the namespaces it lies in, its files in the order of their
 * paths, below its id, so that `tar x` in a folder of datasets installs it, then .minari-hub.json with
 * their digests. Whoever makes it of one revision makes the same bytes: see storage/io/tar.h. Nothing of it
 * is kept: where a member lies follows from names, sizes and times. The record is as long with unknown
 * digests as with known ones. What answers with a part of it, or with its headers alone, has to know them;
 * who sends all of it computes those that are missing on the way, and keeps them where hub.db can be
 * written. Without hashing there is no record. */
#include "server/api/files/listing.h"
#include "server/api/handlers.h"
#include "server/api/namespace_file.h"
#include "server/api/resolve.h"
#include "server/http/stream.h"
#include "storage/rows/open.h"

#include "storage/base/order.h"
#include "storage/ids/spell.h"
#include "storage/io/tar.h"
#include "storage/text/json.h"
#include "storage/transfer/private.h"
#include "storage/transfer/record.h"
#include "storage/truth/damage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEPT = 128, KEPT_BYTES = 64 * 1024 * 1024 };
#define RECORD_BYTES (1 * GIB)

struct archive {
    struct hub_parts base;
    struct hub_app *app;
    const struct hub_dataset *dataset; /* counted */
    struct hub_buf spaces;             /* members before the first file */
    /* of each file's bytes; what follows to the next end is padding, headers and bytes of the next */
    uint64_t *ends;
    uint64_t size;
    bool with_record;
    bool hashes;     /* files whose digests are not known, as they are sent */
    uint32_t turned; /* to this part */
    struct hub_buf head;
    struct hub_file *file;
    bool hashing; /* the file: */
    struct hub_file_hasher sums;
    struct hub_file_digests known; /* of the file that is hashed */
    uint64_t summed;
    char (*sent)[2 * HUB_SHA256_BYTES + 1]; /* of all files: those that were computed on the way; or NULL */
    struct hub_digest_item kept[KEPT];      /* to be stored together; their paths are ours */
    uint32_t kept_count;
    uint64_t kept_bytes;
};

static void dispose(struct hub_parts *parts)
{
    struct archive *a = (struct archive *)parts;
    hub_file_hasher_dispose(&a->sums);
    while (a->kept_count)
        free((char *)a->kept[--a->kept_count].path);
    hub_file_put(a->file);
    hub_buf_dispose(&a->head);
    hub_buf_dispose(&a->spaces);
    hub_dataset_put(a->dataset);
    free(a->sent);
    free(a->ends);
    free(a);
}

static void disposep(struct archive **a)
{
    if (*a)
        dispose(&(*a)->base);
}

/* ---- what it is made of ---- */

static enum hub_status put_header(const struct hub_dataset *dataset, const char *path, uint64_t size,
                                  int64_t mtime_ns, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(64 * KIB);
    const char *id = dataset->summary->id;
    HUB_TRY(hub_id_folder(hub_view_of(id), &name, err));
    HUB_TRY(hub_buf_add_text(&name, "/", err));
    HUB_TRY(hub_spell_path(hub_view_of(path), &name, err));
    const bool spelled = strchr(id, '\\') || !hub_view_ends(hub_buf_view(&name), path);
    return hub_tar_header(&(struct hub_tar_file){name.data, size, mtime_ns, spelled}, out, err);
}

/* Of the topmost first; what says nothing, or nonsense, is left out. */
static enum hub_status put_spaces(const struct hub_app *app, const struct hub_dataset *dataset,
                                  struct hub_buf *out, struct hub_error *err)
{
    const struct hub_summary *summary = dataset->summary;
    for (const char *slash = summary->id; (slash = strchr(slash, '/')); slash++) {
        HUB_CLEANUP(hub_buf_dispose)
        struct hub_buf name = HUB_BUF_INIT(8 * KIB), text = HUB_BUF_INIT(4 * MIB);
        const struct hub_view space = {summary->id, (size_t)(slash - summary->id)};
        struct hub_error why = {0};
        int64_t modified_ns;
        const enum hub_status st =
            hub_namespace_of(app->roots, summary->root, space, &text, &modified_ns, &why);
        if (st == HUB_NO_MEMORY)
            return hub_pass(st, &why, err);
        if (st)
            continue;
        HUB_TRY(hub_id_folder(space, &name, err));
        HUB_TRY(hub_buf_addf(&name, err, "/%s", hub_namespace_file_name));
        HUB_TRY(hub_tar_header(
            &(struct hub_tar_file){name.data, text.size, modified_ns, memchr(space.data, '\\', space.size)},
            out, err));
        HUB_TRY(hub_buf_add_view(out, hub_buf_view(&text), err));
        HUB_TRY(hub_tar_pad(text.size, out, err));
    }
    return HUB_OK;
}

static enum hub_status put_record(const struct hub_dataset *dataset, const struct hub_file_digests *digests,
                                  struct hub_buf *out, struct hub_error *err)
{
    static const char unknown[] = "0000000000000000000000000000000000000000000000000000000000000000";
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(64 * KIB);
    struct hub_json json = hub_json_to(out, err);
    hub_record_begin(&json, dataset->summary->id, NULL, dataset->summary->revision);
    hub_json_put_array(&json, "files");
    for (uint32_t i = 0; i < dataset->file_count; i++) {
        path.size = 0;
        HUB_TRY(hub_spell_path(hub_view_of(dataset->files[i].path), &path, err));
        hub_record_file(&json, path.data, dataset->files[i].stamp.size, digests ? digests[i].sha256 : unknown,
                        "hub");
    }
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_buf_add(out, "\n", 1, err);
}

/* Behind the last file: its padding, the record, the end. */
static enum hub_status put_end(const struct archive *a, const struct hub_file_digests *digests,
                               struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf record = HUB_BUF_INIT(RECORD_BYTES);
    const struct hub_dataset *dataset = a->dataset;
    const uint32_t count = dataset->file_count;
    HUB_TRY(hub_tar_pad(count ? a->ends[count - 1] : 0, out, err)); /* `spaces` are padded */
    if (a->with_record) {
        HUB_TRY(put_record(dataset, digests, &record, err));
        HUB_TRY(put_header(dataset, HUB_RECORD_FILE, record.size, dataset->summary->modified_ns, out, err));
        HUB_TRY(hub_buf_add_view(out, hub_buf_view(&record), err));
        HUB_TRY(hub_tar_pad(record.size, out, err));
    }
    return hub_tar_end(out, err);
}

/* Where its members lie. */
static enum hub_status lay_out(struct archive *a, struct hub_error *err)
{
    const struct hub_dataset *dataset = a->dataset;
    uint64_t at = a->spaces.size;
    HUB_TRY(hub_new(&a->ends, dataset->file_count + 1, sizeof *a->ends, err));
    for (uint32_t i = 0; i < dataset->file_count; i++) {
        const struct hub_stamp *stamp = &dataset->files[i].stamp;
        a->head.size = 0;
        HUB_TRY(hub_tar_pad(at, &a->head, err));
        HUB_TRY(put_header(dataset, dataset->files[i].path, stamp->size, (int64_t)stamp->mtime_ns, &a->head,
                           err));
        at += a->head.size + stamp->size;
        a->ends[i] = at;
    }
    a->head.size = 0;
    HUB_TRY(put_end(a, NULL, &a->head, err));
    a->size = at + a->head.size;
    hub_buf_dispose(&a->head);
    return HUB_OK;
}

/* ---- sending ---- */

static enum hub_status look(struct hub_parts *parts, struct hub_view bytes)
{
    struct archive *a = (struct archive *)parts;
    a->summed += bytes.size;
    return hub_file_hasher_add(&a->sums, bytes, NULL);
}

/* On a disk that is full they are lost, and computed again by the next one. */
static void store_digests(struct archive *a)
{
    (void)!hub_digests_store(a->app->truth, a->dataset->summary->root, a->kept, a->kept_count, NULL);
    while (a->kept_count)
        free((char *)a->kept[--a->kept_count].path);
    a->kept_bytes = 0;
}

/* All bytes of the file were sent: what was computed on the way is kept. */
static enum hub_status end_file(struct archive *a)
{
    const struct hub_dataset_file *entry = &a->dataset->files[a->turned];
    struct hub_digest_item *kept = &a->kept[a->kept_count];
    if (!a->hashing)
        return HUB_OK;
    a->hashing = false;
    if (a->summed != entry->stamp.size)
        return HUB_CHANGED;
    HUB_TRY(hub_file_unchanged(a->file, NULL));
    kept->digests = (struct hub_file_digests){0};
    HUB_TRY(hub_digests_end(&a->sums, &kept->digests, NULL));
    kept->stamp = entry->stamp;
    kept->path = hub_path_join(a->dataset->summary->path, entry->path);
    HUB_TRY(hub_allocated(kept->path, NULL));
    if (!hub_digests_agree(&a->known, &kept->digests)) { /* the hasher finds so too, and says it */
        hub_digest_queue_want(a->app->hasher, a->dataset->summary->root, kept->path, &entry->stamp);
        free((char *)kept->path);
        return HUB_CORRUPT;
    }
    memcpy(a->sent[a->turned], kept->digests.sha256, sizeof a->sent[0]);
    a->kept_bytes += a->summed;
    if (++a->kept_count == KEPT || a->kept_bytes >= KEPT_BYTES)
        store_digests(a);
    return HUB_OK;
}

static enum hub_status begin_sums(struct archive *a, const struct hub_dataset_file *entry)
{
    char path[PATH_MAX];
    HUB_TRY(hub_files_path(a->dataset, entry, path, NULL));
    const enum hub_status st =
        hub_digest_find(a->app->truth, a->dataset->summary->root, path, &entry->stamp, &a->known, NULL);
    if (st ? st != HUB_NOT_FOUND : *a->known.sha256)
        return st;
    if (st)
        a->known = (struct hub_file_digests){0};
    a->hashing = true;
    a->summed = 0;
    hub_file_hasher_dispose(&a->sums);
    return hub_file_hasher_begin(&a->sums, hub_digests_kind(&a->known), entry->stamp.size, NULL);
}

static enum hub_status turn_to_file(struct archive *a, bool may_block, struct hub_stream *stream)
{
    const struct hub_dataset_file *entry = &a->dataset->files[a->turned];
    const struct hub_rows_context rows = hub_rows_of(a->app, may_block, NULL);
    HUB_TRY(hub_files_open(&rows, a->dataset, entry, &a->file, NULL));
    if (a->hashes)
        HUB_TRY(begin_sums(a, entry));
    HUB_TRY(hub_tar_pad(stream->begin, &a->head, NULL));
    HUB_TRY(put_header(a->dataset, entry->path, entry->stamp.size, (int64_t)entry->stamp.mtime_ns, &a->head,
                       NULL));
    stream->file = a->file;
    stream->length = entry->stamp.size;
    stream->looked = a->hashing;
    return HUB_OK;
}

static enum hub_status turn_to_end(struct archive *a)
{
    HUB_CLEANUP(hub_freep) struct hub_file_digests *digests = NULL;
    store_digests(a);
    HUB_TRY(hub_files_digests(a->app->truth, a->dataset, &digests, NULL));
    for (uint32_t i = 0; a->with_record && i < a->dataset->file_count; i++) {
        if (!*digests[i].sha256 && a->sent)
            memcpy(digests[i].sha256, a->sent[i], sizeof a->sent[i]);
        if (!*digests[i].sha256)
            return HUB_CHANGED;
    }
    return put_end(a, digests, &a->head, NULL);
}

static enum hub_status turn(struct hub_parts *parts, struct hub_stream *stream, uint64_t at, bool may_block)
{
    struct archive *a = (struct archive *)parts;
    const uint32_t count = a->dataset->file_count;
    const uint32_t part = hub_lower_bound(&(uint64_t){at + 1}, a->ends, count, sizeof *a->ends, hub_by_u64);
    if (!may_block && (a->hashes || part == count)) /* hub.db is asked */
        return HUB_AGAIN;
    HUB_TRY(end_file(a));
    hub_file_put(a->file);
    a->file = NULL;
    a->turned = part;
    a->head.size = 0;
    stream->begin = part ? a->ends[part - 1] : 0;
    stream->offset = 0;
    stream->looked = false;
    if (!part)
        HUB_TRY(hub_buf_add_view(&a->head, hub_buf_view(&a->spaces), NULL));
    HUB_TRY(part < count ? turn_to_file(a, may_block, stream) : turn_to_end(a));
    stream->head = hub_buf_view(&a->head);
    return at - stream->begin < stream->head.size + stream->length ? HUB_OK : HUB_OUT_OF_RANGE;
}

static enum hub_status make(struct hub_app *app, struct hub_target *target, struct hub_buf *spaces,
                            struct archive **out, struct hub_error *err)
{
    HUB_CLEANUP(disposep) struct archive *a = NULL;
    HUB_TRY(hub_new(&a, 1, sizeof *a, err));
    *a = (struct archive){.base = {.turn = turn, .look = look, .free = dispose},
                          .app = app,
                          .dataset = target->state.dataset,
                          .spaces = *spaces,
                          .with_record = app->hasher != NULL,
                          .head = HUB_BUF_INIT(RECORD_BYTES)};
    target->state.dataset = NULL; /* the archive's now, as these are */
    *spaces = HUB_BUF_INIT(0);
    HUB_TRY(lay_out(a, err));
    *out = a;
    a = NULL;
    return HUB_OK;
}

/* ---- the answer ---- */

/* The digests of all files are known; else they soon are. */
static enum hub_status count_digests(const struct archive *a, bool want, uint32_t *known,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_file_digests *digests = NULL;
    const struct hub_dataset *dataset = a->dataset;
    char path[PATH_MAX];
    HUB_TRY(hub_files_digests(a->app->truth, dataset, &digests, err));
    *known = 0;
    for (uint32_t i = dataset->file_count; i-- > 0;) /* what is wanted last is hashed first */
        if (*digests[i].sha256)
            ++*known;
        else if (want && !hub_files_path(dataset, &dataset->files[i], path, NULL))
            hub_digest_queue_want(a->app->hasher, dataset->summary->root, path, &dataset->files[i].stamp);
    return HUB_OK;
}

/* Only who sends all of it can compute digests on the way. */
static enum hub_status check_digests(const struct hub_request *request, struct hub_response *response,
                                     struct archive *a, bool partial, struct hub_error *err)
{
    const uint32_t count = a->dataset->file_count;
    const bool needed = partial || request->method == HUB_HEAD;
    uint32_t known;
    if (!a->with_record)
        return HUB_OK;
    HUB_TRY(count_digests(a, needed, &known, err));
    a->hashes = known < count;
    if (a->hashes)
        HUB_TRY(hub_new(&a->sent, count, sizeof *a->sent, err));
    if (!needed || !a->hashes)
        return HUB_OK;
    if (asprintf(&response->problem_extra, "\"parts\":%" PRIu32 ",\"done\":%" PRIu32, count, known) < 0)
        response->problem_extra = NULL;
    return hub_fail_as(
        err, HUB_BUSY, HUB_PROBLEM_PENDING,
        "%" PRIu32 " of the %" PRIu32
        " files of '%s' are still being hashed; a GET of the whole archive does not wait for that",
        count - known, count, a->dataset->summary->id);
}

static enum hub_status headers(struct hub_request *request, const struct hub_target *target,
                               struct hub_response *response, struct hub_error *err)
{
    const char *slash = strrchr(target->summary->id, '/');
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(4 * KIB);
    HUB_TRY(hub_resolve_headers(request, target, response, err));
    HUB_TRY(hub_response_header(response, err, "Content-Type", "application/x-tar"));
    HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    HUB_TRY(hub_buf_addf(&name, err, "%s.tar", slash ? slash + 1 : target->summary->id));
    return hub_response_file_name(response, "attachment", hub_buf_view(&name), err);
}

/* HUB_CORRUPT "file-damaged": it would end where that file begins. */
static enum hub_status check_damage(struct hub_truth *truth, const struct hub_dataset *dataset,
                                    struct hub_error *err)
{
    const struct hub_summary *summary = dataset->summary;
    char path[PATH_MAX];
    if (!hub_damage_count(truth, summary->root, summary->path))
        return HUB_OK;
    for (uint32_t i = 0; i < dataset->file_count; i++) {
        HUB_TRY(hub_files_path(dataset, &dataset->files[i], path, err));
        HUB_TRY(hub_damage_check(truth, summary->root, path, &dataset->files[i].stamp, err));
    }
    return HUB_OK;
}

static enum hub_status answer(struct hub_request *request, struct hub_target *target, struct hub_buf *spaces,
                              const struct hub_validators *validators, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(disposep) struct archive *a = NULL;
    struct hub_byte_range range = {0};
    const uint64_t files = target->state.dataset->file_count;
    HUB_TRY(check_damage(request->app->truth, target->state.dataset, err));
    HUB_TRY(hub_budget_take(
        request->app->budget, request, response,
        files * (sizeof(uint64_t) + 2 * sizeof(struct hub_file_digests) + 256) + 3 * spaces->size, err));
    HUB_TRY(make(request->app, target, spaces, &a, err));
    HUB_TRY(hub_bytes_range(request, validators, a->size, response, &range, err));
    if (range.answered)
        return HUB_OK;
    HUB_TRY(check_digests(request, response, a, range.partial, err));
    response->kind = HUB_BODY_FILE;
    response->offset = range.first;
    response->length = range.count;
    response->parts = &a->base;
    a = NULL; /* the response's now */
    return HUB_OK;
}

enum hub_status hub_archive_data(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf spaces = HUB_BUF_INIT(RECORD_BYTES);
    char etag[40];
    bool done = false;
    HUB_TRY(hub_resolve(request, response, HUB_TO_DATASET, &target, err));
    const struct hub_summary *summary = target.summary;
    if (!*summary->revision)
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING, "the files of '%s' are still being listed",
                           summary->id);
    if (!request->may_block && strchr(summary->id, '/'))
        return HUB_AGAIN;
    HUB_TRY(put_spaces(request->app, target.state.dataset, &spaces, err));
    target.pinned &= !spaces.size; /* they have no revision */
    const struct hub_view named[] = {hub_view_of(summary->revision), hub_view_of(summary->id),
                                     hub_buf_view(&spaces),
                                     hub_view_of(request->app->hasher ? "tar" : "tar without a record")};
    hub_fingerprint(etag, named, HUB_COUNT(named));
    const struct hub_validators validators = {etag, summary->modified_ns / 1000000000};
    HUB_TRY(headers(request, &target, response, err));
    HUB_TRY(hub_resolve_conditions(request, response, etag, validators.modified_s, &done, err));
    if (done)
        return HUB_OK;
    return request->may_block ? answer(request, &target, &spaces, &validators, response, err) : HUB_AGAIN;
}
