/* One object: see object.h. */
#include "server/facade/object.h"

#include "server/api/files/file_bytes.h"
#include "server/api/files/pulled_file.h"
#include "server/facade/space.h"
#include "storage/base/digest.h"
#include "storage/rows/open.h"
#include "storage/text/time.h"

#include <limits.h>
#include <stdio.h>

int64_t hub_object_generation(uint64_t size, int64_t modified_ns)
{
    const uint64_t hash =
        hub_hash(hub_hash(HUB_HASH_START, &size, sizeof size), &modified_ns, sizeof modified_ns);
    return (int64_t)(hash >> 1) | 1;
}

void hub_object_facts_dispose(struct hub_object_facts *facts)
{
    hub_buf_dispose(&facts->text);
}

enum hub_status hub_object_facts_of_space(const struct hub_objects *objects, const struct hub_object *object,
                                          struct hub_object_facts *out, struct hub_error *err)
{
    uint8_t sum[HUB_DIGEST_MAX];
    *out = (struct hub_object_facts){.text = HUB_BUF_INIT(64 * MIB)};
    HUB_TRY(hub_space_text(objects, object, &out->text, &out->modified_ns, err));
    const struct hub_view text = hub_buf_view(&out->text);
    out->size = text.size;
    out->generation = (int64_t)(hub_hash(HUB_HASH_START, text.data, text.size) >> 1) | 1;
    HUB_TRY(hub_digest_of(HUB_SHA256, text, sum, err));
    hub_hex(sum, HUB_SHA256_BYTES, out->digests.sha256);
    HUB_TRY(hub_digest_of(HUB_MD5, text, sum, err));
    hub_hex(sum, HUB_MD5_BYTES, out->digests.md5);
    snprintf(out->digests.crc32c, sizeof out->digests.crc32c, "%08x", hub_crc32c(0, text.data, text.size));
    return HUB_OK;
}

static enum hub_status facts_of_space(const struct hub_request *request, const struct hub_object *object,
                                      struct hub_object_facts *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_objects_dispose) struct hub_objects objects = {0};
    HUB_TRY(hub_objects_open(request, &objects, err));
    return hub_object_facts_of_space(&objects, object, out, err);
}

enum hub_status hub_object_facts(const struct hub_request *request, const struct hub_object *object,
                                 bool may_block, struct hub_object_facts *out, struct hub_error *err)
{
    char path[PATH_MAX];
    *out = (struct hub_object_facts){.text = HUB_BUF_INIT(64 * MIB)};
    if (!object->file)
        return may_block ? facts_of_space(request, object, out, err) : HUB_AGAIN;
    const struct hub_stamp *stamp = &object->file->stamp;
    const uint32_t root = object->dataset->summary->root;
    out->size = stamp->size;
    out->modified_ns = (int64_t)stamp->mtime_ns;
    out->generation = hub_object_generation(stamp->size, out->modified_ns);
    if (object->view) {
        hub_digests_stated(hub_remote_facts(object->view, object->file), &out->digests);
        return HUB_OK;
    }
    HUB_TRY(hub_files_path(object->dataset, object->file, path, err));
    enum hub_status st = hub_digest_recall(request->app->truth, root, path, stamp, &out->digests);
    if (st == HUB_AGAIN && !may_block)
        return HUB_AGAIN;
    if (st == HUB_AGAIN)
        st = hub_digest_find(request->app->truth, root, path, stamp, &out->digests, NULL);
    if (st)
        out->digests = (struct hub_file_digests){0};
    return HUB_OK;
}

/* Copied files have those digests that their remote states. */
static bool are_complete(const struct hub_file_digests *digests)
{
    return digests->sha256[0] && digests->crc32c[0];
}

enum hub_status hub_object_await(struct hub_request *request, const struct hub_object *object,
                                 struct hub_object_facts *facts, struct hub_error *err)
{
    enum { WAIT_MS = 1500 };
    char path[PATH_MAX];
    if (!object->file || object->view || are_complete(&facts->digests) || !request->app->hasher)
        return HUB_OK;
    if (!request->heavy)
        return request->may_block ? hub_await_heavy(request) : HUB_AGAIN;
    const struct hub_stamp *stamp = &object->file->stamp;
    const uint32_t root = object->dataset->summary->root;
    HUB_TRY(hub_files_path(object->dataset, object->file, path, err));
    struct hub_digest_queue *hasher = request->app->hasher;
    const int64_t until_ms = hub_time_mono_ms() + WAIT_MS;
    uint64_t seen = hub_digest_queue_finished(hasher);
    hub_digest_queue_want(hasher, root, path, stamp);
    while (!are_complete(&facts->digests) && hub_digest_queue_wait(hasher, &seen, until_ms))
        if (hub_digest_find(request->app->truth, root, path, stamp, &facts->digests, NULL))
            facts->digests = (struct hub_file_digests){0};
    return HUB_OK;
}

/* Python Minari reads it of every dataset to tell what there is. */
static bool is_metadata(const struct hub_object *object)
{
    return hub_is_minari(object->dataset->summary) &&
           hub_view_is(hub_view_behind(hub_view_of(object->file->path), '/'), "metadata.json") &&
           object->file->stamp.size <= MIB;
}

enum hub_status hub_object_send(struct hub_request *request, const struct hub_target *target,
                                const struct hub_object *object, struct hub_object_facts *facts,
                                struct hub_response *response, struct hub_error *err)
{
    const char *etag = *facts->etag ? facts->etag : NULL;
    const struct hub_file_part part = {.entry = object->file, .etag = etag};
    if (object->view && is_metadata(object) && !hub_pull_comes(request->app->mirrors, target->summary->id)) {
        if (!request->may_block)
            return HUB_AGAIN;
        HUB_TRY(hub_remote_text(request->app, object->view, object->file, &facts->text, err));
    } else if (object->view) {
        return hub_pulled_file_send(request, target, object->file->path, response, err);
    }
    return object->file && !object->view
               ? hub_file_send(request, target, &part, response, err)
               : hub_space_send(request, &facts->text, facts->modified_ns, etag, response, err);
}
