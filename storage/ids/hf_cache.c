/* Names in the cache of huggingface_hub: see hf_cache.h. */
#include "storage/ids/hf_cache.h"

#include "storage/ids/kept.h"

static const char datasets[] = "datasets--", separator[] = "--", above[] = "hub";

bool hub_hf_cache_repo(struct hub_view name)
{
    static const char *const kinds[] = {datasets, "models--", "spaces--"};
    for (size_t i = 0; i < HUB_COUNT(kinds); i++)
        if (hub_view_starts(name, kinds[i]) && name.size > strlen(kinds[i]))
            return true;
    return false;
}

/* The first segment, which is cut off together with the slash behind it. */
static struct hub_view next_segment(struct hub_view *path)
{
    const char *slash = path->size ? memchr(path->data, '/', path->size) : NULL;
    const struct hub_view segment = {path->data, slash ? (size_t)(slash - path->data) : path->size};
    const size_t cut = segment.size + (slash != NULL);
    *path = (struct hub_view){path->data + cut, path->size - cut};
    return segment;
}

static enum hub_status add_segment(struct hub_view segment, size_t before, struct hub_buf *out,
                                   struct hub_error *err)
{
    if (out->size > before)
        HUB_TRY(hub_buf_add(out, "/", 1, err));
    return hub_buf_add_view(out, segment, err);
}

/* "datasets--lab--plans" as "lab/plans". */
static enum hub_status add_repo(struct hub_view repo, size_t before, struct hub_buf *out,
                                struct hub_error *err)
{
    if (!hub_view_starts(repo, datasets))
        return add_segment(repo, before, out, err);
    repo = (struct hub_view){repo.data + strlen(datasets), repo.size - strlen(datasets)};
    for (const char *at; (at = memmem(repo.data, repo.size, separator, strlen(separator)));) {
        const size_t size = (size_t)(at - repo.data);
        HUB_TRY(add_segment((struct hub_view){repo.data, size}, before, out, err));
        repo = (struct hub_view){at + strlen(separator), repo.size - size - strlen(separator)};
    }
    return add_segment(repo, before, out, err);
}

/* Whether a repo's folder is followed by "snapshots/COMMIT", which `path` is then behind. */
static bool skip_snapshot(struct hub_view *path, struct hub_view *commit)
{
    struct hub_view rest = *path;
    if (!hub_view_is(next_segment(&rest), HUB_HF_SNAPSHOTS))
        return false;
    *commit = next_segment(&rest);
    if (!commit->size)
        return false;
    *path = rest;
    return true;
}

/* Whether the private folder of a root is followed by "kept", which `path` is then behind. */
static bool skip_kept(struct hub_view segment, struct hub_view *path)
{
    struct hub_view rest = *path;
    if (!hub_kept_private(segment) || !hub_view_is(next_segment(&rest), HUB_KEPT))
        return false;
    *path = rest;
    return true;
}

struct hub_view hub_hf_cache_commit(struct hub_view path)
{
    struct hub_view commit = {"", 0};
    for (bool kept = false; path.size;) {
        const struct hub_view segment = next_segment(&path);
        if (hub_hf_cache_repo(segment) && skip_snapshot(&path, &commit))
            return commit;
        kept = kept || skip_kept(segment, &path);
        if (kept && (commit = hub_kept_commit(segment)).size)
            return commit;
    }
    return (struct hub_view){"", 0};
}

struct hub_view hub_hf_cache_folder(struct hub_view path)
{
    const char *begin = path.data;
    struct hub_view commit;
    while (path.size) {
        const struct hub_view segment = next_segment(&path);
        if (hub_hf_cache_repo(segment) && skip_snapshot(&path, &commit))
            return (struct hub_view){begin, (size_t)(segment.data + segment.size - begin)};
    }
    return (struct hub_view){"", 0};
}

const char *hub_hf_cache_at(const char *id, const char *path)
{
    const char *at = strchr(id, '@');
    const struct hub_view commit = at ? hub_hf_cache_commit(hub_view_of(path)) : (struct hub_view){"", 0};
    for (; at && commit.size; at = strchr(at + 1, '@'))
        if (strncmp(at + 1, commit.data, commit.size) == 0 && strchr("/", at[1 + commit.size]))
            return at;
    return NULL;
}

enum hub_status hub_hf_cache_name(struct hub_view path, bool commit, struct hub_buf *out,
                                  struct hub_error *err)
{
    const size_t before = out->size;
    struct hub_view named, held = {NULL, 0}; /* a segment "hub", which the cache of a repo does without */
    for (bool kept = false; path.size;) {
        struct hub_view segment = next_segment(&path);
        if (skip_kept(segment, &path)) {
            kept = true;
            continue;
        }
        if (kept && !commit && hub_kept_commit(segment).size)
            segment.size -= HUB_KEPT_COMMIT + 1;
        const bool repo = hub_hf_cache_repo(segment) && skip_snapshot(&path, &named);
        if (held.data && !repo)
            HUB_TRY(add_segment(held, before, out, err));
        held = (struct hub_view){NULL, 0};
        if (repo)
            HUB_TRY(add_repo(segment, before, out, err));
        else if (hub_view_is(segment, above))
            held = segment;
        else
            HUB_TRY(add_segment(segment, before, out, err));
        if (repo && commit)
            HUB_TRY(hub_buf_addf(out, err, "@%.*s", (int)named.size, named.data));
    }
    return held.data ? add_segment(held, before, out, err) : HUB_OK;
}
