/* Namespaces: see spaces.h. */
#include "storage/transfer/spaces.h"

#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/io/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SPACE_BYTES = 16 * 1024 * 1024 };

const char hub_space_file[] = "namespace_metadata.json";

/* Into a folder beneath the root that is open, never over one that has come meanwhile. It is written in the
 * trash, out of which it is linked when it is whole: a scanner would take anything else beside the datasets
 * for loose files. The lock keeps those away who empty the trash. */
static enum hub_status put_into(const struct hub_private *place, int folder, struct hub_view text,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int lock = -1, trash = -1;
    char name[48];
    hub_private_name(name);
    HUB_TRY(hub_private_lock(place, &lock, err));
    HUB_TRY(hub_private_folder(place->folder, "trash", true, &trash, err));
    HUB_TRY(hub_fs_write(trash, name, text, 0644, err));
    const bool linked = linkat(trash, name, folder, hub_space_file, 0) == 0;
    (void)unlinkat(trash, name, 0);
    return linked ? hub_fs_sync_dir(folder, "", err) : HUB_OK;
}

/* If none is there. */
static enum hub_status fetch_into(struct hub_remote *remote, const struct hub_private *place, int folder,
                                  const char *space, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf url = HUB_BUF_INIT(32 * KIB), text = HUB_BUF_INIT(SPACE_BYTES);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    if (!faccessat(folder, hub_space_file, F_OK, AT_SYMLINK_NOFOLLOW))
        return HUB_OK;
    HUB_TRY(remote->kind->space(remote, space, &url, err));
    const enum hub_status st = hub_remote_document(remote, url.data, SPACE_BYTES, &text, &document, err);
    if (st == HUB_NOT_FOUND || st == HUB_CORRUPT)
        return HUB_OK;
    return st ? st : put_into(place, folder, hub_buf_view(&text), err);
}

enum hub_status hub_spaces_fetch(struct hub_remote *remote, const struct hub_private *place, const char *id,
                                 struct hub_error *err)
{
    char space[HUB_MAX_ID + 1];
    if (!remote->kind->space)
        return HUB_OK;
    for (const char *slash = id; (slash = strchr(slash, '/')); slash++) {
        HUB_CLEANUP(hub_closep) int folder = -1;
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf inside = HUB_BUF_INIT(8 * KIB);
        const char *name;
        snprintf(space, sizeof space, "%.*s", (int)(slash - id), id);
        HUB_TRY(hub_id_folder(hub_view_of(space), &inside, err));
        HUB_TRY(hub_buf_add_text(&inside, "/x", err));
        HUB_TRY(hub_private_parent(place, inside.data, false, &folder, &name, err));
        HUB_TRY(fetch_into(remote, place, folder, space, err));
    }
    return HUB_OK;
}

enum hub_status hub_space_put(const struct hub_private *place, const char *space, int from, const char *path,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(SPACE_BYTES);
    HUB_CLEANUP(hub_closep) int folder = -1;
    HUB_CLEANUP(hub_freep) char *inside = NULL;
    const char *name;
    if (asprintf(&inside, "%sx", space) < 0)
        return hub_no_memory(err);
    HUB_TRY(hub_private_parent(place, inside, false, &folder, &name, err));
    if (!faccessat(folder, hub_space_file, F_OK, AT_SYMLINK_NOFOLLOW))
        return HUB_OK;
    HUB_TRY(hub_fs_read(from, path, &text, err));
    return put_into(place, folder, hub_buf_view(&text), err);
}
