/* Between pickle.c (the opcodes) and numpy.c (what the few known globals mean). */
#ifndef HUB_FORMATS_PICKLE_VALUES_H
#define HUB_FORMATS_PICKLE_VALUES_H

#include "storage/formats/pickle/pickle.h"

/** A new zeroed value of a kind; HUB_TOO_BIG over the limit. May move `p->values`. */
HUB_MUST_USE enum hub_status hub_pickle_new(struct hub_pickle *p, enum hub_pickle_kind kind, uint32_t *out,
                                            struct hub_error *err);
/** Append to a container. */
HUB_MUST_USE enum hub_status hub_pickle_append(struct hub_pickle *p, uint32_t container, uint32_t value,
                                               struct hub_error *err);

/** callable(*args): known ones become plain values, all others opaque objects. Nothing is called. */
HUB_MUST_USE enum hub_status hub_pickle_reduce(struct hub_pickle *p, uint32_t callable, uint32_t args,
                                               uint32_t *out, struct hub_error *err);
/** object.__setstate__(state) */
HUB_MUST_USE enum hub_status hub_pickle_build(struct hub_pickle *p, uint32_t object, uint32_t state,
                                              struct hub_error *err);

#endif
