/**
 * Google Cloud Storage's JSON API as its clients speak it
 * (https://cloud.google.com/storage/docs/json_api/v1): numbers of 64 bits are strings, digests are base64.
 *
 * The bucket of the settings holds all that is here; a root with a name, or any folder at the top, is a
 * bucket too.
 */
#ifndef HUB_FACADE_GCS_H
#define HUB_FACADE_GCS_H

#include "server/facade/object.h"
#include "storage/text/json.h"

struct hub_gcs_bucket {
    struct hub_view name;
    struct hub_buf begins; /* what all its objects' names begin with here: "", or ends with a slash */
};
void hub_gcs_bucket_dispose(struct hub_gcs_bucket *bucket);
/** The one that {bucket} names; whether it is there is not asked. */
HUB_MUST_USE enum hub_status hub_gcs_bucket_of(const struct hub_request *request, struct hub_gcs_bucket *out,
                                               struct hub_error *err);
/** HUB_NOT_FOUND: nothing in it. Blocking. */
HUB_MUST_USE enum hub_status hub_gcs_bucket_check(struct hub_request *request,
                                                  const struct hub_gcs_bucket *bucket, struct hub_error *err);

/** Of a state of an object, with its quotes: in its resource and over its bytes, as clients take it from the
 * one and ask for the other. */
void hub_gcs_etag(int64_t generation, char out[32]);

/** The resource of an object, which is called so in the bucket. */
HUB_MUST_USE enum hub_status hub_gcs_object_write(struct hub_json *json, const struct hub_request *request,
                                                  const struct hub_gcs_bucket *bucket,
                                                  const struct hub_object *object, struct hub_view name,
                                                  struct hub_error *err);

#endif
