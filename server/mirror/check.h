/**
 * Checks of what is here: files are read whole, past the page cache, and compared with the digests that are
 * known of them. A job of kind "check" in hub.db: what it found is its result, and one that was interrupted
 * goes on where it was.
 */
#ifndef HUB_MIRROR_CHECK_H
#define HUB_MIRROR_CHECK_H

#include "storage/catalog/catalog.h"
#include "storage/text/json.h"
#include "storage/truth/truth.h"

/**
 * Ask for one. The spec: {"ids": [id or glob], left out: all; "repair": true; "rate": bytes a second;
 * "deep": true}. A deep check is of what the hub owns, by its commits: what is kept of a dataset, objects of
 * repos, and what is gone.
 *
 * @param id  of the job; also where it is HUB_EXISTS: the same is being checked already
 * @return HUB_INVALID; HUB_NOT_FOUND "dataset-not-found": nothing is called so
 */
HUB_MUST_USE enum hub_status hub_check_request(struct hub_truth *truth, struct hub_catalog *catalog,
                                               const json_t *spec, int64_t *id, struct hub_error *err);

#endif
