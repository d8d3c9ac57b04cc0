/* Side data of a part: what an inspection had to decode once, a file below the state directory. */
#ifndef HUB_SCAN_SIDE_H
#define HUB_SCAN_SIDE_H

#include "storage/scan/state.h"

struct hub_side {
    char temporary[64], name[64]; /* below the state directory */
    int fd;
};

/** Open a new file for side data of part number `part`; hub_side_end closes it. */
HUB_MUST_USE enum hub_status hub_side_begin(struct hub_scanner *s, const struct hub_work *w, uint32_t part,
                                            struct hub_side *side, struct hub_error *err);
/** Give side data their name, sealed and lasting, and say their stamp; or drop what was not needed. */
HUB_MUST_USE enum hub_status hub_side_end(struct hub_scanner *s, struct hub_side *side, bool keep,
                                          struct hub_stamp *stamp, struct hub_error *err);
/** Remove what part `number` of the work has kept, for no row says that it is there. None: nothing. */
void hub_side_drop(struct hub_work *w, uint32_t number);

#endif
