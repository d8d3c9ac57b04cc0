/* Datasets at another commit: see commits.h. */
#include "server/api/commits.h"

#include "storage/ids/hf_cache.h"
#include "storage/io/roots.h"
#include "storage/truth/commits.h"

#include <fcntl.h>
#include <unistd.h>

enum { MAX_COMMIT = 255, FEWEST = 7 /* digits that git takes for a commit */ };

bool hub_commit_is_known(const struct hub_summary *summary)
{
    return hub_hf_cache_commit(hub_view_of(summary->path)).size;
}

/* The commit that a file below `refs` names; "" where there is none. */
static enum hub_status read_ref(const struct hub_app *app, const struct hub_summary *summary,
                                struct hub_view ref, char out[MAX_COMMIT + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_closep) int fd = -1;
    const struct hub_view folder = hub_hf_cache_folder(hub_view_of(summary->path));
    HUB_TRY(
        hub_buf_addf(&path, err, "%.*s/refs/%.*s", (int)folder.size, folder.data, (int)ref.size, ref.data));
    const bool found = !hub_roots_open(app->roots, summary->root, path.data, O_RDONLY, &fd, NULL);
    const ssize_t got = found ? hub_fs_pread(fd, out, MAX_COMMIT, 0) : 0;
    out[HUB_MAX(got, 0)] = '\0';
    out[strcspn(out, " \r\n")] = '\0';
    return HUB_OK;
}

static const struct hub_summary *at_commit(const struct hub_snapshot *snapshot,
                                           const struct hub_summary *summary, struct hub_view commit)
{
    const struct hub_view own = hub_hf_cache_commit(hub_view_of(summary->path));
    const bool short_of = commit.size >= FEWEST && commit.size < own.size;
    if (hub_view_equal(own, commit) || (short_of && memcmp(own.data, commit.data, commit.size) == 0))
        return summary;
    return commit.size ? hub_snapshot_at(snapshot, summary, commit) : NULL;
}

/* The kept revision that is listed under this name of its state. */
static const struct hub_summary *at_revision(const struct hub_snapshot *snapshot,
                                             const struct hub_summary *summary, struct hub_view revision)
{
    const size_t size = strlen(summary->id);
    for (uint32_t i = snapshot->count; i < snapshot->count + snapshot->others; i++) {
        const struct hub_summary *other = snapshot->summaries[i];
        if (other->root == summary->root && strncmp(other->id, summary->id, size) == 0 &&
            other->id[size] == '@' && hub_view_is(revision, other->revision))
            return other;
    }
    return NULL;
}

/* Of a dataset that was published here: by a commit of it, or by the revision of one. */
static enum hub_status find_own(const struct hub_request *request, const struct hub_snapshot *snapshot,
                                const struct hub_summary *summary, struct hub_view revision,
                                const struct hub_summary **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit commit = {0};
    if (hub_view_is(revision, summary->revision) || !hub_summary_is_here(summary))
        return HUB_NOT_FOUND;
    if (!request->may_block)
        return HUB_AGAIN;
    const struct hub_summary *found = at_revision(snapshot, summary, revision);
    const enum hub_status st =
        found ? HUB_NOT_FOUND : hub_commit_named(request->app->truth, summary->id, revision, &commit, NULL);
    if (st && st != HUB_NOT_FOUND)
        return hub_fail(err, st, "the commits of '%.200s' cannot be read", summary->id);
    if (!st)
        found = commit.ended_ms ? hub_snapshot_at(snapshot, summary, hub_view_of(commit.id)) : summary;
    if (!found && commit.kept) /* it is about to be listed */
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING,
                           "'%.200s' at this commit is about to be listed", summary->id);
    if (!found)
        return HUB_NOT_FOUND;
    *out = found;
    return HUB_OK;
}

enum hub_status hub_commit_find(const struct hub_request *request, const struct hub_snapshot *snapshot,
                                const struct hub_summary *summary, struct hub_view revision,
                                const struct hub_summary **out, struct hub_error *err)
{
    char commit[MAX_COMMIT + 1];
    if (!hub_commit_is_known(summary))
        return find_own(request, snapshot, summary, revision, out, err);
    const struct hub_summary *found = at_commit(snapshot, summary, revision);
    if (!found && !request->may_block)
        return HUB_AGAIN;
    if (!found) {
        HUB_TRY(read_ref(request->app, summary, revision, commit, err));
        found = at_commit(snapshot, summary, hub_view_of(commit));
    }
    if (!found)
        return HUB_NOT_FOUND;
    *out = found;
    return HUB_OK;
}
