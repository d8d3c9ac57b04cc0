/** Files that lie here already: see hub_reuse in transfer.h. */
#ifndef HUB_TRANSFER_REUSE_H
#define HUB_TRANSFER_REUSE_H

#include "storage/transfer/transfer.h"

/** Put what is the same into the staging place, as complete files. What cannot be had so is left to be
 * fetched. */
void hub_reuse_take(const struct hub_reuse *have, struct hub_staging *staging);

#endif
