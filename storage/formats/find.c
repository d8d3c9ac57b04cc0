/* Formats by name. Apart from the list itself, so that a program may bring its own, and from files.c, so that
 * the parsers do not bring all drivers with them. */
#include "storage/formats/format.h"

const struct hub_format *hub_format_find(const char *name)
{
    for (const struct hub_format *const *f = hub_formats; *f; f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}
