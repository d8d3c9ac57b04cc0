/* Folders that hold datasets which are here: see internal.h. Folders are known by their hashes. */
#include "storage/catalog/internal.h"

#include "storage/base/order.h"

#include <stdlib.h>

static uint64_t hash_of(uint32_t root, const char *path, size_t size)
{
    return hub_hash(hub_hash(HUB_HASH_START, &root, sizeof root), path, size);
}

/* The folder of one dataset, which others may share with it, and those above; neighbours mostly have the
 * same. */
static enum hub_status add_folders(struct hub_covered *c, const struct hub_summary *summary,
                                   struct hub_error *err)
{
    for (size_t size = strlen(summary->path); size; size--) {
        if (summary->path[size] && summary->path[size] != '/')
            continue;
        const uint64_t hash = hash_of(summary->root, summary->path, size);
        bool known = false;
        for (uint32_t i = c->count; i-- > 0 && c->count - i <= 8 && !known;)
            known = c->hashes[i] == hash;
        if (known)
            continue;
        HUB_TRY(hub_grow(&c->hashes, c->count, &c->capacity, sizeof *c->hashes, err));
        c->hashes[c->count++] = hash;
    }
    return HUB_OK;
}

enum hub_status hub_covered_find(const struct hub_catalog *catalog, struct hub_covered *out,
                                 struct hub_error *err)
{
    *out = (struct hub_covered){0};
    for (uint32_t i = 0; i < catalog->summary_count && catalog->remote_count; i++)
        HUB_TRY(add_folders(out, &catalog->summaries[i]->summary, err));
    if (out->count)
        qsort(out->hashes, out->count, sizeof *out->hashes, hub_by_u64);
    return HUB_OK;
}

bool hub_covered_has(const struct hub_covered *c, const struct hub_summary *remote)
{
    const uint64_t hash = hash_of(remote->root, remote->path, strlen(remote->path));
    return c->count && bsearch(&hash, c->hashes, c->count, sizeof hash, hub_by_u64);
}

void hub_covered_dispose(struct hub_covered *c)
{
    free(c->hashes);
    *c = (struct hub_covered){0};
}
