/* A repo in the cache of huggingface_hub: one of its snapshots is its dataset, others are called by their
 * commits. */
#include "storage/discover/discover_state.h"
#include "storage/ids/hf_cache.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_COMMIT = 255 };

/* The commit that refs/main names; "" where it names none. */
static void read_main(const struct hub_walk *walk, uint32_t root, const char *repo, char out[MAX_COMMIT + 1])
{
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(repo, "refs/main");
    HUB_CLEANUP(hub_closep) int fd = -1;
    const ssize_t got = path && !hub_roots_open(walk->roots, root, path, O_RDONLY, &fd, NULL)
                            ? hub_fs_pread(fd, out, MAX_COMMIT, 0)
                            : 0;
    out[HUB_MAX(got, 0)] = '\0';
    out[strcspn(out, " \r\n")] = '\0';
}

/* The snapshot that refs/main names, else the one that was fetched last; NULL: none was. */
static const struct hub_entry *choose_snapshot(const struct hub_listing *snapshots, const char *main)
{
    const struct hub_entry *chosen = hub_listing_find(snapshots, main);
    if (chosen && chosen->directory)
        return chosen;
    chosen = NULL;
    for (uint32_t i = 0; i < snapshots->count; i++) {
        const struct hub_entry *e = &snapshots->entries[i];
        if (e->directory && (!chosen || e->stamp.mtime_ns >= chosen->stamp.mtime_ns))
            chosen = e;
    }
    return chosen;
}

/* Listed, so that it is watched; what cannot be is empty. */
static void list_quietly(const struct hub_walk *walk, uint32_t root, const char *folder, const char *name,
                         struct hub_listing *out)
{
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(folder, name);
    if (!path || hub_walk_list(walk, root, path, out, NULL))
        *out = (struct hub_listing){0};
}

/* The snapshots of a repo: `blobs` has the same bytes once more, and `refs` only names. `repo`: its folder,
 * which is one where `blobs` or `snapshots` lie in it. */
static enum hub_status enter_snapshots(struct hub_walking *w, struct hub_node *node, const char *repo,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing snapshots = {0}, refs = {0};
    HUB_CLEANUP(hub_freep) char *folder = hub_path_join(repo, HUB_HF_SNAPSHOTS);
    const struct hub_walk *walk = w->discovery->walk;
    char main[MAX_COMMIT + 1];
    HUB_TRY(hub_allocated(folder, err));
    node->recognised = true;
    list_quietly(walk, node->root, repo, "refs", &refs);
    list_quietly(walk, node->root, repo, HUB_HF_SNAPSHOTS, &snapshots);
    read_main(walk, node->root, repo, main);
    const struct hub_entry *chosen = choose_snapshot(&snapshots, main);
    for (uint32_t i = 0; i < snapshots.count; i++)
        if (snapshots.entries[i].directory)
            HUB_TRY(hub_walking_enter(w, node, folder, &snapshots.entries[i], &snapshots.entries[i] != chosen,
                                      err));
    return HUB_OK;
}

enum hub_status hub_walking_enter_repo(struct hub_walking *w, struct hub_node *node,
                                       const struct hub_entry *e, bool *entered, struct hub_error *err)
{
    HUB_CLEANUP(hub_listing_dispose) struct hub_listing parts = {0};
    HUB_CLEANUP(hub_freep) char *repo = hub_path_join(node->path, e->name);
    HUB_TRY(hub_allocated(repo, err));
    if (!hub_hf_cache_repo(hub_view_of(e->name)))
        return HUB_OK;
    list_quietly(w->discovery->walk, node->root, repo, "", &parts);
    *entered = hub_listing_find(&parts, "blobs") || hub_listing_find(&parts, HUB_HF_SNAPSHOTS);
    return *entered ? enter_snapshots(w, node, repo, err) : HUB_OK;
}
