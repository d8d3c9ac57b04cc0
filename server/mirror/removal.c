/* Removing a copy: see removal.h. */
#include "server/mirror/removal.h"

#include "storage/scan/presence.h"
#include "storage/transfer/publish.h"
#include "storage/truth/upstream.h"

static enum hub_status withdraw(const struct hub_mirrors_options *o, uint32_t root, const char *path,
                                const struct hub_upstream *known, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_freep) const char **paths = NULL;
    HUB_TRY(hub_new(&paths, known->file_count + (size_t)1, sizeof *paths, err));
    for (uint32_t i = 0; i < known->file_count; i++)
        paths[i] = known->files[i].path;
    HUB_TRY(hub_private_open(o->roots->roots[root].path, true, &place, err));
    return hub_withdraw(&place, path, &(struct hub_fetched){paths, known->file_count}, err);
}

enum hub_status hub_copy_remove(const struct hub_mirrors_options *o, uint32_t root, const char *path,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_upstream_dispose) struct hub_upstream known = {0};
    struct hub_error why = {0};
    HUB_TRY(hub_presence_check(o->truth, o->catalog, o->roots, root, err));
    HUB_TRY(hub_upstream_find(o->truth, root, path, true, &known, err));
    const enum hub_status st = withdraw(o, root, path, &known, &why);
    if (st && st != HUB_NOT_FOUND)
        return hub_pass(st, &why, err);
    return hub_upstream_forget(o->truth, root, path, err);
}
