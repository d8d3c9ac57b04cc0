/**
 * Adoption: datasets that somebody put below a root by hand become the hub's own. A job of kind "adopt" in
 * hub.db: what became of each dataset is its result, and one that was interrupted goes on where it was.
 */
#ifndef HUB_MIRROR_ADOPT_H
#define HUB_MIRROR_ADOPT_H

#include "storage/catalog/catalog.h"
#include "storage/text/json.h"
#include "storage/truth/truth.h"

/**
 * Ask for one. The spec: {"ids": [id]}, or {"all": prefix}: whole segments, "" for all datasets. "who" is the
 * writer of the commits.
 *
 * @param id  of the job; also where it is HUB_EXISTS: the same is under way already
 * @return HUB_INVALID; HUB_NOT_FOUND "dataset-not-found": nothing is called so
 */
HUB_MUST_USE enum hub_status hub_adopt_request(struct hub_truth *truth, struct hub_catalog *catalog,
                                               const json_t *spec, const char *who, int64_t *id,
                                               struct hub_error *err);

#endif
