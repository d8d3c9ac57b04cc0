/* What roots are called in both databases: their numbers may be others at the next start. */
#include "storage/catalog/internal.h"

#include <stdio.h>
#include <stdlib.h>

const char *hub_catalog_root(const struct hub_catalog *catalog, uint32_t root, char number[16])
{
    const struct hub_roots *roots = catalog->options.roots;
    if (roots && root < roots->count)
        return hub_root_key(&roots->roots[root]);
    if (root >= HUB_MAX_ROOTS && root - HUB_MAX_ROOTS < catalog->gone_count)
        return catalog->gone[root - HUB_MAX_ROOTS];
    snprintf(number, 16, "#%u", root);
    return number;
}

uint32_t hub_catalog_root_number(const struct hub_catalog *catalog, const char *key)
{
    char number[16];
    for (uint32_t i = 0; i < HUB_MAX_ROOTS + catalog->gone_count; i++)
        if (strcmp(hub_catalog_root(catalog, i, number), key) == 0)
            return i;
    return HUB_NONE;
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
