/** The tree of values while it is built. */
#ifndef HUB_FORMATS_PICKLE_VALUES_H
#define HUB_FORMATS_PICKLE_VALUES_H

#include "storage/formats/pickle/pickle.h"

/** Room for one more in an array that doubles up to HUB_PICKLE_MAX_VALUES; HUB_TOO_BIG beyond. */
HUB_MUST_USE enum hub_status hub_pickle_grow(void *array, uint32_t count, uint32_t *capacity, size_t item,
                                             struct hub_error *err);
/** A new zeroed value of a kind; HUB_TOO_BIG over the limit. May move `p->values`. */
HUB_MUST_USE enum hub_status hub_pickle_new(struct hub_pickle *p, enum hub_pickle_kind kind, uint32_t *out,
                                            struct hub_error *err);
/** Append to a container. */
HUB_MUST_USE enum hub_status hub_pickle_append(struct hub_pickle *p, uint32_t container, uint32_t value,
                                               struct hub_error *err);

#endif
