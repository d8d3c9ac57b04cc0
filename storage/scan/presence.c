/* Whether roots are there: see presence.h. */
#include "storage/scan/presence.h"

#include "storage/truth/seen.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_FOLDER ".minari-hub" /* see storage/transfer/private.h; another user's has a number behind it */

/* ---- what is in it ---- */

/* What a root is like at this moment. */
struct now {
    int64_t device;
    bool empty, marked; /* nothing but hidden names and lost+found; the hub's own folder */
};

static void read_names(int directory, struct now *out)
{
    const int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    out->empty = dir; /* what cannot be read is not known to be empty */
    if (!dir && fd >= 0)
        close(fd);
    for (const struct dirent *entry; dir && !(out->marked && !out->empty) && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            out->empty = out->empty && strcmp(entry->d_name, "lost+found") == 0;
        else if (strncmp(entry->d_name, OWN_FOLDER, strlen(OWN_FOLDER)) == 0)
            out->marked = true;
    if (dir)
        closedir(dir);
}

/* `*fd` is open afterwards, or -1: it cannot be looked at. */
static void look(const struct hub_root *root, int *fd, struct now *out)
{
    struct stat st;
    *out = (struct now){0};
    *fd = open(root->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &st))
        return;
    out->device = (int64_t)st.st_dev;
    read_names(*fd, out);
}

/* Both; `*fd` as above. */
static enum hub_status compare(struct hub_truth *truth, const struct hub_roots *roots, uint32_t root,
                               struct hub_root_seen *seen, struct now *now, int *fd, struct hub_error *err)
{
    HUB_TRY(hub_seen_get(truth, root, seen, err));
    look(&roots->roots[root], fd, now);
    return HUB_OK;
}

/* What the catalogue lists of a root, and whether any of that is there. */
struct root_listing {
    uint64_t count, with_path;
    bool any_is_there;
};

static struct root_listing look_for_listed(struct hub_catalog *catalog, uint32_t root, int directory)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = hub_catalog_snapshot(catalog);
    struct root_listing out = {0};
    struct stat st;
    for (uint32_t i = 0; i < snapshot->count + snapshot->others && !out.any_is_there; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (summary->root != root || !hub_summary_is_here(summary))
            continue;
        out.count++;
        if (!*summary->path)
            continue; /* it is the root itself */
        out.with_path++;
        out.any_is_there = fstatat(directory, summary->path, &st, AT_SYMLINK_NOFOLLOW) == 0;
    }
    return out;
}

static enum hub_status report(const struct hub_roots *roots, uint32_t root, uint64_t datasets, bool empty,
                              struct hub_error *err)
{
    const char *name = roots->roots[root].name;
    return hub_fail_as(err, HUB_IO, HUB_PROBLEM_ROOT_MISSING,
                       "root %u%s%.60s%s had %" PRIu64
                       " dataset%s and is %s now: mount it; if they are gone, run `minari-hub scan --forget "
                       "ROOT`; `minari-hub mirror run NAME --anew` fetches them again",
                       root + 1, name ? " (" : "", name ? name : "", name ? ")" : "", datasets,
                       datasets == 1 ? "" : "s", empty ? "empty" : "on another file system without them");
}

static bool is_missing(const struct hub_root_seen *seen, const struct now *now,
                       const struct root_listing *listed)
{
    if (listed->any_is_there)
        return false;
    if (seen->device && seen->device != now->device && listed->with_path)
        return true;
    return now->empty &&
           (seen->device ? seen->device != now->device || (seen->marked && !now->marked) : !now->marked);
}

enum hub_status hub_presence_check(struct hub_truth *truth, struct hub_catalog *catalog,
                                   const struct hub_roots *roots, uint32_t root, struct hub_error *err)
{
    struct hub_root_seen seen;
    struct now now;
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (!roots)
        return HUB_OK;
    HUB_TRY(compare(truth, roots, root, &seen, &now, &fd, err));
    if ((seen.known && !seen.datasets) || fd < 0)
        return HUB_OK;
    const struct root_listing listed = look_for_listed(catalog, root, fd);
    const uint64_t datasets = seen.known ? seen.datasets : listed.count;
    return datasets && is_missing(&seen, &now, &listed) ? report(roots, root, datasets, now.empty, err)
                                                        : HUB_OK;
}

enum hub_status hub_presence_seen(struct hub_truth *truth, const struct hub_roots *roots, uint32_t root,
                                  uint64_t datasets, struct hub_error *err)
{
    struct hub_root_seen seen;
    struct now now;
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (!roots)
        return HUB_OK;
    HUB_TRY(compare(truth, roots, root, &seen, &now, &fd, err));
    const struct hub_root_seen after = {.datasets = datasets, .device = now.device, .marked = now.marked};
    const bool same =
        seen.datasets == after.datasets && seen.device == after.device && seen.marked == after.marked;
    return fd < 0 || (seen.known ? same : !datasets) ? HUB_OK : hub_seen_put(truth, root, &after, err);
}

enum hub_status hub_presence_forget(struct hub_truth *truth, uint32_t root, struct hub_error *err)
{
    return hub_seen_put(truth, root, &(struct hub_root_seen){0}, err);
}
