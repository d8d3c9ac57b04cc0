/* Names of levels: see level.h. */
#include "storage/access/level.h"

const char *const hub_level_names[] = {"none", "read", "label", "write", "admin", NULL};

bool hub_level_read(struct hub_view name, enum hub_level *out)
{
    for (unsigned i = 0; hub_level_names[i]; i++)
        if (hub_view_is(name, hub_level_names[i])) {
            *out = (enum hub_level)i;
            return true;
        }
    return false;
}
