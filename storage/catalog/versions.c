/* Which dataset of a snapshot is meant: the versions of a name, the newest that a release reads, the one of a
 * commit; and what its own library loads. */
#include "storage/catalog/internal.h"

#include "storage/base/order.h"
#include "storage/ids/hf_cache.h"
#include "storage/ids/version.h"
#include "storage/model/format_row.h"

/* Whether an id is the other one with "@COMMIT" at `at`. */
static bool is_same_but(const char *other, const char *at, size_t size, const char *id)
{
    const size_t before = (size_t)(at - other);
    return strncmp(other, id, before) == 0 && strcmp(at + size, id + before) == 0;
}

const struct hub_summary *hub_snapshot_at(const struct hub_snapshot *snapshot,
                                          const struct hub_summary *summary, struct hub_view commit)
{
    enum { FEWEST = 7 };
    for (uint32_t i = snapshot->count; i < snapshot->count + snapshot->others; i++) {
        const struct hub_summary *other = snapshot->summaries[i];
        const struct hub_view whole = hub_hf_cache_commit(hub_view_of(other->path));
        const char *at = hub_hf_cache_at(other->id, other->path);
        if (other->root == summary->root &&
            (hub_view_equal(whole, commit) || (commit.size >= FEWEST && commit.size < whole.size &&
                                               memcmp(whole.data, commit.data, commit.size) == 0)) &&
            is_same_but(other->id, at, whole.size + 1, summary->id))
            return other;
    }
    return NULL;
}

static int by_key(const void *key, const void *summary)
{
    const struct hub_view *path = key; /* namespace, name */
    const struct hub_summary *s = *(const struct hub_summary *const *)summary;
    const int order = hub_view_by_text(&path[0], &s->ns);
    return order ? order : hub_view_by_text(&path[1], &s->name);
}

uint32_t hub_snapshot_versions(const struct hub_snapshot *snapshot, struct hub_view key,
                               const struct hub_summary *const **first)
{
    struct hub_view ns = {"", 0}, name = key;
    for (size_t i = key.size; i > 0; i--) {
        if (key.data[i - 1] != '/')
            continue;
        ns = (struct hub_view){key.data, i - 1};
        name = (struct hub_view){key.data + i, key.size - i};
        break;
    }
    const struct hub_view path[] = {ns, name};
    const uint32_t start =
        hub_lower_bound(path, snapshot->summaries, snapshot->count, sizeof *snapshot->summaries, by_key);
    uint32_t end = start;
    while (end < snapshot->count && by_key(path, &snapshot->summaries[end]) == 0)
        end++;
    *first = snapshot->summaries + start;
    return end - start;
}

bool hub_summary_refused(const struct hub_summary *summary)
{
    return strcmp(summary->loadable_by, "[]") == 0;
}

bool hub_summary_is_offered(const struct hub_summary *summary)
{
    return !hub_format_traits_of(summary->format)->recording;
}

int hub_summary_loads(const struct hub_summary *summary)
{
    switch (summary->status) {
    case HUB_DATASET_PENDING:
        return -1;
    case HUB_DATASET_BROKEN:
    case HUB_DATASET_UNSUPPORTED:
        return 0;
    case HUB_DATASET_READY:
    case HUB_DATASET_REMOTE:
        return !hub_summary_refused(summary);
    }
    return -1;
}

bool hub_summary_loadable(const struct hub_summary *summary, const char *release)
{
    const struct hub_load_rule *rule = hub_load_rule_find(summary->rule);
    return rule && summary->status != HUB_DATASET_PENDING && !hub_summary_refused(summary) &&
           rule->loads(hub_view_of(summary->stated_version), hub_view_of(summary->era), hub_view_of(release));
}

const struct hub_summary *hub_snapshot_newest(const struct hub_snapshot *snapshot, struct hub_view key,
                                              const char *release)
{
    const struct hub_summary *const *first;
    for (uint32_t i = hub_snapshot_versions(snapshot, key, &first); i > 0; i--)
        if (first[i - 1]->version >= 0 && (!release || hub_summary_loadable(first[i - 1], release)))
            return first[i - 1];
    return NULL;
}
