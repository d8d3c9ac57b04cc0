/** What other protocols ask of the hub; their rows are in server/routes.c. */
#ifndef HUB_FACADE_HANDLERS_H
#define HUB_FACADE_HANDLERS_H

#include "server/http/http.h"

/* Google Cloud Storage */
extern const struct hub_problem_shape hub_gcs_shape;
hub_handler hub_gcs_buckets, hub_gcs_bucket; /* gcs_bucket.c */
hub_handler hub_gcs_list;                    /* gcs_list.c */
hub_handler hub_gcs_object, hub_gcs_media;   /* gcs_object.c: what is known of an object, and its bytes */

#endif
