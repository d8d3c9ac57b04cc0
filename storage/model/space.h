/** The spaces of a dataset as their facts have them: Minari's JSON, where bounds that are all the same are
 * one number. */
#ifndef HUB_MODEL_SPACE_H
#define HUB_MODEL_SPACE_H

#include "storage/text/json.h"

/** The box of "actions/arm/left" lies in the action space at arm, left. Borrowed; NULL: there is none. */
const json_t *hub_space_at(const json_t *space, const char *path);
/** Bounds of a box of `dims` numbers, in their order; what is no finite number is Infinity. False: it does
 * not have as many. */
bool hub_space_bounds(const json_t *box, uint32_t dims, double *low, double *high);

#endif
