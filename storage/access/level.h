/** What somebody may do with a dataset; each level includes those before it. */
#ifndef HUB_ACCESS_LEVEL_H
#define HUB_ACCESS_LEVEL_H

#include "storage/base/buf.h"

enum hub_level {
    HUB_LEVEL_NONE,  /* it does not exist for them */
    HUB_LEVEL_READ,  /* see and download */
    HUB_LEVEL_LABEL, /* also label episodes */
    HUB_LEVEL_WRITE, /* also publish and remove */
    HUB_LEVEL_ADMIN, /* also change tokens, rules and mirrors */
};

/** "none", "read", "label", "write", "admin", NULL. */
extern const char *const hub_level_names[];
/** By its name; false: there is no such level. */
bool hub_level_read(struct hub_view name, enum hub_level *out);

#endif
