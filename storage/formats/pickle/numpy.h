/** What the few known globals of a pickle mean. */
#ifndef HUB_FORMATS_PICKLE_NUMPY_H
#define HUB_FORMATS_PICKLE_NUMPY_H

#include "storage/formats/pickle/pickle.h"

/** callable(*args): known ones become plain values, all others opaque objects. Nothing is called. */
HUB_MUST_USE enum hub_status hub_pickle_reduce(struct hub_pickle *p, uint32_t callable, uint32_t args,
                                               uint32_t *out, struct hub_error *err);
/** object.__setstate__(state) */
HUB_MUST_USE enum hub_status hub_pickle_build(struct hub_pickle *p, uint32_t object, uint32_t state,
                                              struct hub_error *err);

#endif
