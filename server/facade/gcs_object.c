/* One object: what is known of it, and its bytes. */
#include "server/facade/gcs.h"
#include "server/facade/handlers.h"
#include "server/facade/space.h"

#include "server/api/files/listing.h"
#include "storage/base/digest.h"
#include "storage/base/hex.h"
#include "storage/ids/spell.h"
#include "storage/text/base64.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"
#include "storage/truth/digests.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

/* ---- the resource ---- */

/* Hexadecimal digits as base64; "" where there are none. */
static enum hub_status as_base64(const char *hex, struct hub_buf *out, struct hub_error *err)
{
    uint8_t bytes[32];
    const size_t size = strlen(hex) / 2;
    out->size = 0;
    HUB_TRY(hub_buf_add_text(out, "", err));
    if (!size || size > sizeof bytes || !hub_unhex(hub_view_of(hex), bytes, size))
        return HUB_OK;
    return hub_base64_encode((struct hub_view){(const char *)bytes, size}, out, err);
}

static enum hub_status put_base64(struct hub_json *json, const char *key, const char *hex,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    HUB_TRY(as_base64(hex, &text, err));
    if (text.size)
        hub_json_put_string(json, key, hub_buf_view(&text));
    return HUB_OK;
}

/* Minari up to 0.4 lists the objects whose metadata name a dataset: the attributes of the file, each as
 * text. */
static bool has_metadata(const struct hub_object *object)
{
    return object->file && hub_is_minari(object->dataset->summary) &&
           strcmp(object->dataset->summary->era, "E5") != 0 &&
           hub_view_is(hub_view_behind(hub_view_of(object->file->path), '/'), "main_data.hdf5");
}

static void put_as_text(struct hub_json *json, const char *key, const json_t *value)
{
    if (json_is_string(value)) {
        hub_json_put_text(json, key, json_string_value(value));
    } else if (json_is_boolean(value)) {
        hub_json_put_text(json, key, json_is_true(value) ? "True" : "False");
    } else if (json_is_real(value)) {
        char digits[HUB_NUMBER_CHARS];
        hub_json_put_string(json, key,
                            (struct hub_view){digits, hub_number_double(json_real_value(value), digits)});
    } else {
        HUB_CLEANUP(hub_freep) char *dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
        hub_json_put_text(json, key, dumped);
    }
}

static enum hub_status put_metadata(struct hub_json *json, const struct hub_request *request,
                                    const struct hub_object *object, struct hub_error *err)
{
    static const char *const spaces[] = {"observation_space", "action_space"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(16 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *metadata = NULL;
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    json_t *custom = object->view ? hub_remote_facts(object->view, object->file)->custom : NULL, *value;
    const char *key;
    if (!object->view) {
        HUB_TRY(hub_state_open(request->app->catalog, object->dataset->summary, &state, err));
        HUB_TRY(hub_dataset_fact(&state, "metadata", &text, err));
    }
    if (!text.size && !custom)
        return HUB_OK;
    if (!custom)
        HUB_TRY(hub_json_parse(hub_buf_view(&text), text.limit, &metadata, err));
    hub_json_put_object(json, "metadata");
    json_object_foreach(custom ? custom : metadata, key, value) put_as_text(json, key, value);
    for (size_t i = 0; !custom && i < HUB_COUNT(spaces); i++) {
        text.size = 0;
        HUB_TRY(hub_dataset_fact(&state, spaces[i], &text, err));
        if (text.size)
            hub_json_put_string(json, spaces[i], hub_buf_view(&text));
    }
    hub_json_end_object(json);
    return HUB_OK;
}

/* `generation` 0: it has none before it is here, and a link would end with that. */
static enum hub_status put_links(struct hub_json *json, const struct hub_request *request,
                                 const struct hub_gcs_bucket *bucket, struct hub_view name,
                                 int64_t generation, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf link = HUB_BUF_INIT(256 * KIB), path = HUB_BUF_INIT(256 * KIB);
    HUB_TRY(hub_uri_encode_segment(bucket->name, &path, err));
    HUB_TRY(hub_buf_add_text(&path, "/o/", err));
    HUB_TRY(hub_uri_encode_segment(name, &path, err));
    HUB_TRY(hub_buf_add_text(&link, hub_base_url(request), err));
    HUB_TRY(hub_buf_add_text(&link, "/storage/v1/b/", err));
    HUB_TRY(hub_buf_add_view(&link, hub_buf_view(&path), err));
    hub_json_put_string(json, "selfLink", hub_buf_view(&link));
    link.size = 0;
    HUB_TRY(hub_buf_add_text(&link, hub_base_url(request), err));
    HUB_TRY(hub_buf_add_text(&link, "/download/storage/v1/b/", err));
    HUB_TRY(hub_buf_add_view(&link, hub_buf_view(&path), err));
    HUB_TRY(hub_buf_add_text(&link, "?", err));
    if (generation)
        HUB_TRY(hub_buf_addf(&link, err, "generation=%" PRId64 "&", generation));
    HUB_TRY(hub_buf_add_text(&link, "alt=media", err));
    hub_json_put_string(json, "mediaLink", hub_buf_view(&link));
    return HUB_OK;
}

static void put_number(struct hub_json *json, const char *key, uint64_t number)
{
    char digits[HUB_NUMBER_CHARS];
    hub_json_put_string(json, key, (struct hub_view){digits, hub_number_u64(number, digits)});
}

void hub_gcs_etag(int64_t generation, char out[32])
{
    snprintf(out, 32, "\"g%" PRId64 "\"", generation);
}

static enum hub_status put_members(struct hub_json *json, const struct hub_request *request,
                                   const struct hub_gcs_bucket *bucket, const struct hub_object *object,
                                   const struct hub_object_facts *facts, struct hub_view name,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(256 * KIB);
    char modified[HUB_TIME_CHARS];
    hub_time_rfc3339_ns(facts->modified_ns, modified);
    HUB_TRY(hub_buf_add_view(&id, bucket->name, err));
    HUB_TRY(hub_buf_add_text(&id, "/", err));
    HUB_TRY(hub_buf_add_view(&id, name, err));
    HUB_TRY(hub_buf_addf(&id, err, "/%" PRId64, facts->generation));
    hub_json_put_text(json, "kind", "storage#object");
    hub_json_put_string(json, "id", hub_buf_view(&id));
    hub_json_put_string(json, "name", name);
    hub_json_put_string(json, "bucket", bucket->name);
    put_number(json, "generation", (uint64_t)facts->generation);
    hub_json_put_text(json, "metageneration", "1");
    put_number(json, "size", facts->size);
    hub_json_put_text(json, "contentType", hub_file_type(name.data));
    hub_json_put_text(json, "storageClass", "STANDARD");
    hub_json_put_text(json, "timeCreated", modified);
    hub_json_put_text(json, "updated", modified);
    char etag[32];
    hub_gcs_etag(facts->generation, etag);
    hub_json_put_string(json, "etag", (struct hub_view){etag + 1, strlen(etag) - 2});
    HUB_TRY(put_base64(json, "md5Hash", facts->digests.md5,
                       err)); /* if it is there: a listing waits for no hashing */
    HUB_TRY(put_base64(json, "crc32c", facts->digests.crc32c, err));
    if (has_metadata(object))
        HUB_TRY(put_metadata(json, request, object, err));
    return put_links(json, request, bucket, name, object->view && !facts->modified_ns ? 0 : facts->generation,
                     err);
}

enum hub_status hub_gcs_object_write(struct hub_json *json, const struct hub_request *request,
                                     const struct hub_gcs_bucket *bucket, const struct hub_object *object,
                                     struct hub_view name, struct hub_error *err)
{
    HUB_CLEANUP(hub_object_facts_dispose) struct hub_object_facts facts = {0};
    HUB_TRY(hub_object_facts(request, object, true, &facts, err));
    hub_json_object(json);
    HUB_TRY(put_members(json, request, bucket, object, &facts, name, err));
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- finding it ---- */

struct gcs_object {
    struct hub_gcs_bucket bucket;
    struct hub_target target;
    struct hub_buf name; /* as it is here */
    struct hub_object object;
    struct hub_object_facts facts;
};

static void found_dispose(struct gcs_object *found)
{
    hub_object_facts_dispose(&found->facts);
    hub_gcs_bucket_dispose(&found->bucket);
    hub_target_dispose(&found->target);
    hub_buf_dispose(&found->name);
}

/* Below 0 where the request does not have it. */
static enum hub_status read_generation(const struct hub_request *request, const char *parameter, int64_t *out,
                                       struct hub_error *err)
{
    const struct hub_view text = hub_request_query(request, parameter);
    uint64_t number = 0;
    *out = -1;
    if (!text.size)
        return HUB_OK;
    if (!hub_number_read(text, INT64_MAX, &number))
        return hub_request_wrong(request, parameter, err, "Invalid value for %s: it must be a whole number",
                                 parameter);
    *out = (int64_t)number;
    return HUB_OK;
}

/* 0 in a condition is an object that is not there. */
static enum hub_status check_conditions(const struct hub_request *request, int64_t generation,
                                        struct hub_response *response, bool *done, struct hub_error *err)
{
    static const char *const match[] = {"ifGenerationMatch", "ifMetagenerationMatch"},
                             *const differ[] = {"ifGenerationNotMatch", "ifMetagenerationNotMatch"};
    const int64_t now[] = {generation, 1};
    int64_t wanted = -1;
    for (size_t i = 0; i < 2; i++) {
        HUB_TRY(read_generation(request, match[i], &wanted, err));
        if (wanted >= 0 && wanted != now[i])
            return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_PRECONDITION_FAILED,
                               "At least one of the pre-conditions you specified did not hold: %s", match[i]);
        HUB_TRY(read_generation(request, differ[i], &wanted, err));
        if (wanted >= 0 && wanted == now[i]) {
            response->status = 304;
            response->kind = HUB_BODY_NONE;
            *done = true;
        }
    }
    return HUB_OK;
}

static enum hub_status find(struct hub_request *request, struct gcs_object *found,
                            struct hub_response *response, bool *done, struct hub_error *err)
{
    const struct hub_view path = hub_request_capture(request, "path");
    int64_t wanted = -1;
    found->name = HUB_BUF_INIT(128 * KIB);
    HUB_TRY(hub_gcs_bucket_of(request, &found->bucket, err));
    HUB_TRY(hub_buf_add_view(&found->name, hub_buf_view(&found->bucket.begins), err));
    HUB_TRY(hub_unspell(path, &found->name, err));
    HUB_TRY(hub_object_find(request, hub_buf_view(&found->name), &found->target, &found->object, err));
    HUB_TRY(hub_object_facts(request, &found->object, request->may_block, &found->facts, err));
    const int64_t generation = found->facts.generation;
    HUB_TRY(read_generation(request, "generation", &wanted, err));
    if (wanted >= 0 && wanted != generation)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "generation",
                              hub_request_query(request, "generation").data,
                              "No such object: %s; its current generation is %" PRId64, path.data,
                              generation);
    return check_conditions(request, generation, response, done, err);
}

/* ---- its bytes ---- */

static enum hub_status hash_header(const struct hub_file_digests *digests, struct hub_response *response,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf crc = HUB_BUF_INIT(KIB), md5 = HUB_BUF_INIT(KIB);
    HUB_TRY(as_base64(digests->crc32c, &crc, err));
    HUB_TRY(as_base64(digests->md5, &md5, err));
    if (!crc.size && !md5.size)
        return HUB_OK;
    return hub_response_header(response, err, "X-Goog-Hash", "%s%s%s%s%s", crc.size ? "crc32c=" : "",
                               crc.data, crc.size && md5.size ? "," : "", md5.size ? "md5=" : "", md5.data);
}

static enum hub_status send(struct hub_request *request, struct gcs_object *found,
                            struct hub_response *response, struct hub_error *err)
{
    struct hub_object_facts *facts = &found->facts;
    hub_gcs_etag(facts->generation, facts->etag);
    HUB_TRY(hash_header(&facts->digests, response, err));
    HUB_TRY(hub_response_header(response, err, "X-Goog-Generation", "%" PRId64, facts->generation));
    HUB_TRY(hub_response_header(response, err, "X-Goog-Metageneration", "1"));
    HUB_TRY(hub_response_header(response, err, "X-Goog-Storage-Class", "STANDARD"));
    HUB_TRY(hub_response_header(response, err, "X-Goog-Stored-Content-Encoding", "identity"));
    HUB_TRY(hub_response_header(response, err, "X-Goog-Stored-Content-Length", "%" PRIu64, facts->size));
    return hub_object_send(request, &found->target, &found->object, facts, response, err);
}

/* Does it refuse bytes that came without a checksum? Then it waits until there is one. */
static bool wants_digests(const struct hub_request *request)
{
    const char *agent = hub_request_header(request, "User-Agent");
    return agent && strstr(agent, "gcloud-node") && !hub_request_header(request, "Range");
}

static enum hub_status await_digests(struct hub_request *request, struct gcs_object *found,
                                     struct hub_error *err)
{
    if (found->facts.digests.crc32c[0] || !request->app->hasher || !wants_digests(request))
        return HUB_OK;
    struct hub_pull_progress progress;
    const struct hub_object *object = &found->object;
    if (object->view) /* they are made of what is here */
        return hub_pull_request(request->app->mirrors, object->dataset->summary, request->may_block,
                                &progress, err);
    HUB_TRY(hub_object_await(request, &found->object, &found->facts, err));
    return found->facts.digests.crc32c[0] ? HUB_OK
                                          : hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_OVERLOADED,
                                                        "its checksums are being computed: try again");
}

enum hub_status hub_gcs_media(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(found_dispose) struct gcs_object found = {0};
    bool done = false;
    HUB_TRY(find(request, &found, response, &done, err));
    if (!done)
        HUB_TRY(await_digests(request, &found, err));
    return done ? HUB_OK : send(request, &found, response, err);
}

enum hub_status hub_gcs_object(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(found_dispose) struct gcs_object found = {0};
    bool done = false;
    if (hub_view_is(hub_request_query(request, "alt"), "media"))
        return hub_gcs_media(request, response, err);
    if (!request->may_block) /* digests may have to be asked for */
        return HUB_AGAIN;
    char etag[32];
    HUB_TRY(find(request, &found, response, &done, err));
    if (done)
        return HUB_OK;
    hub_gcs_etag(found.facts.generation, etag);
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    if (done)
        return HUB_OK;
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=UTF-8", 2 * MIB), err);
    return hub_gcs_object_write(&json, request, &found.bucket, &found.object,
                                hub_request_capture(request, "path"), err);
}
