/* Buckets: see gcs.h. */
#include "server/facade/gcs.h"
#include "server/facade/handlers.h"

#include "server/api/reply.h"
#include "storage/ids/spell.h"
#include "storage/text/time.h"

void hub_gcs_bucket_dispose(struct hub_gcs_bucket *bucket)
{
    hub_buf_dispose(&bucket->begins);
}

enum hub_status hub_gcs_bucket_of(const struct hub_request *request, struct hub_gcs_bucket *out,
                                  struct hub_error *err)
{
    *out = (struct hub_gcs_bucket){hub_request_capture(request, "bucket"), HUB_BUF_INIT(64 * KIB)};
    HUB_TRY(hub_buf_add_text(&out->begins, "", err));
    if (hub_view_is(out->name, request->app->bucket))
        return HUB_OK;
    HUB_TRY(hub_unspell(out->name, &out->begins, err));
    return hub_buf_add_text(&out->begins, "/", err);
}

enum hub_status hub_gcs_bucket_check(struct hub_request *request, const struct hub_gcs_bucket *bucket,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_objects_dispose) struct hub_objects objects = {0};
    struct hub_object first;
    const struct hub_view begins = hub_buf_view(&bucket->begins);
    if (!begins.size)
        return HUB_OK;
    HUB_TRY(hub_objects_open(request, &objects, err));
    HUB_TRY(hub_objects_seek(&objects, begins, err));
    const enum hub_status st = hub_objects_next(&objects, &first, err);
    if (!st && first.name.size > begins.size && memcmp(first.name.data, begins.data, begins.size) == 0)
        return HUB_OK;
    return st && st != HUB_NOT_FOUND
               ? st
               : hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "bucket", bucket->name.data,
                                "The specified bucket does not exist: '%s'; the bucket of this hub is '%s'",
                                bucket->name.data, request->app->bucket);
}

static void write_bucket(struct hub_json *json, const struct hub_request *request, struct hub_view name)
{
    char since[HUB_TIME_CHARS];
    hub_time_rfc3339_ns(request->app->started_ms * 1000000, since);
    hub_json_object(json);
    hub_json_put_text(json, "kind", "storage#bucket");
    hub_json_put_string(json, "id", name);
    hub_json_put_string(json, "name", name);
    hub_json_put_text(json, "projectNumber", "0");
    hub_json_put_text(json, "metageneration", "1");
    hub_json_put_text(json, "location", "US");
    hub_json_put_text(json, "locationType", "region");
    hub_json_put_text(json, "storageClass", "STANDARD");
    hub_json_put_text(json, "etag", "CAE=");
    hub_json_put_text(json, "timeCreated", since);
    hub_json_put_text(json, "updated", since);
    hub_json_end_object(json);
}

enum hub_status hub_gcs_bucket(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_gcs_bucket_dispose) struct hub_gcs_bucket bucket = {0};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_gcs_bucket_of(request, &bucket, err));
    HUB_TRY(hub_gcs_bucket_check(request, &bucket, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", MIB), err);
    write_bucket(&json, request, bucket.name);
    return hub_json_status(&json);
}

enum hub_status hub_gcs_buckets(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", MIB), err);
    const struct hub_roots *roots = request->app->roots;
    const struct hub_view prefix = hub_request_query(request, "prefix");
    hub_json_object(&json);
    hub_json_put_text(&json, "kind", "storage#buckets");
    hub_json_put_array(&json, "items");
    if (!prefix.size || hub_view_starts(hub_view_of(request->app->bucket), prefix.data))
        write_bucket(&json, request, hub_view_of(request->app->bucket));
    for (uint32_t i = 0; i < roots->count; i++)
        if (roots->roots[i].name &&
            (!prefix.size || hub_view_starts(hub_view_of(roots->roots[i].name), prefix.data)))
            write_bucket(&json, request, hub_view_of(roots->roots[i].name));
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

enum hub_status hub_gcs_nothing(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    (void)response;
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROUTE_NOT_FOUND,
                       "nothing at %.200s: the buckets of this hub are read-only", request->target);
}
