/** Files that lie here already: see hub_have in transfer.h. */
#ifndef HUB_TRANSFER_HAVE_H
#define HUB_TRANSFER_HAVE_H

#include "storage/transfer/transfer.h"

/** Put what is the same into the staging place, as complete files. What cannot be had so is left to be fetched. */
void hub_have_take(const struct hub_have *have, struct hub_staging *staging);

#endif
