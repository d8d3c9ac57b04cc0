/**
 * Copying an n-dimensional box of elements between two memories whose axes have strides of their own: how
 * chunks, strided pieces and fill values become rows. Internal to storage/read.
 */
#ifndef HUB_READ_BOX_H
#define HUB_READ_BOX_H

#include "storage/model/layout.h"

struct hub_box_dim {
    uint64_t n;
    int64_t from, to; /* bytes from one to the next in the source and in the destination */
};

struct hub_box {
    unsigned rank;
    size_t item;                              /* bytes that lie together on both sides */
    struct hub_box_dim dim[HUB_MAX_RANK + 2]; /* outermost first */
};

/** Leave out axes of one, join axes that follow each other without gap, and widen the item by what lies
 * together. */
void hub_box_simplify(struct hub_box *box);

/** Copy a simplified box. `from` NULL: zeros. */
void hub_box_copy(const struct hub_box *box, uint8_t *to, const uint8_t *from);

/** Elements or runs that are copied one by one: what copying costs besides the bytes. */
uint64_t hub_box_moves(const struct hub_box *box);

#endif
