/* Formats by name, in whatever list a program brings. */
#include "storage/worker/format.h"

const struct hub_format *hub_format_find(const struct hub_format *const *formats, const char *name)
{
    for (const struct hub_format *const *f = formats; *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}
