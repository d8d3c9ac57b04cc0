/**
 * Memory a thread keeps between reads, so that small answers allocate nothing. Each slot holds one thing at a
 * time; what is larger than SCRATCH_KEEP is given back when the read ends. Internal to storage/read.
 */
#ifndef HUB_READ_SCRATCH_H
#define HUB_READ_SCRATCH_H

#include "storage/base/buf.h"

enum hub_scratch_slot {
    HUB_SCRATCH_STORED,
    HUB_SCRATCH_DECODED,
    HUB_SCRATCH_FILTER,
    HUB_SCRATCH_DICTIONARY,
    HUB_SCRATCH_INDEX,
    HUB_SCRATCH_VALUES,
    HUB_SCRATCH_BUILT,
    HUB_SCRATCH_SLOTS
};

/** At least `size` bytes of this thread's slot, contents unspecified; NULL: no memory. Valid until asked for
 * again. */
void *hub_scratch(enum hub_scratch_slot slot, size_t size);

/** End of a read on this thread. */
void hub_scratch_trim(void);

#endif
