/** Spaces of Minari as documents show them. */
#ifndef HUB_REMOTE_BOUNDS_H
#define HUB_REMOTE_BOUNDS_H

#include "storage/text/json.h"

/** Write the bounds of a Box that are all the same once, as storage/model/space.h has them: those of two
 * cameras of 480x640 come to 17 MB otherwise. In a Dict and a Tuple too. */
void hub_bounds_collapse(json_t *space);

#endif
