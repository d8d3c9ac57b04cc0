/* What roots are called in the index: their numbers may be others at the next start. */
#include "storage/catalog/internal.h"

#include <stdlib.h>

const char *hub_catalog_root(const struct hub_catalog *catalog, uint32_t root, char number[16])
{
    if (root >= HUB_MAX_ROOTS && root - HUB_MAX_ROOTS < catalog->gone_count)
        return catalog->gone[root - HUB_MAX_ROOTS];
    return hub_roots_key(catalog->options.roots, root, number);
}

uint32_t hub_catalog_root_number(const struct hub_catalog *catalog, const char *key)
{
    for (uint32_t i = 0; i < catalog->gone_count; i++)
        if (strcmp(catalog->gone[i], key) == 0)
            return HUB_MAX_ROOTS + i;
    return hub_roots_number(catalog->options.roots, key);
}

enum hub_status hub_catalog_know_root(struct hub_catalog *catalog, const char *key, struct hub_error *err)
{
    if (hub_catalog_root_number(catalog, key) != HUB_NONE)
        return HUB_OK;
    char **gone = realloc(catalog->gone, (catalog->gone_count + (size_t)1) * sizeof *gone);
    if (gone)
        catalog->gone = gone;
    if (!gone || !(gone[catalog->gone_count] = strdup(key)))
        return hub_no_memory(err);
    catalog->gone_count++;
    return HUB_OK;
}
