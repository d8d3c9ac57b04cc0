/* Names of kept revisions: see kept.h. */
#include "storage/ids/kept.h"

static bool all_of(struct hub_view text, const char *bytes)
{
    for (size_t i = 0; i < text.size; i++)
        if (!text.data[i] || !strchr(bytes, text.data[i]))
            return false;
    return true;
}

bool hub_kept_private(struct hub_view name)
{
    static const char own[] = ".minari-hub";
    const size_t size = sizeof own - 1;
    if (!hub_view_starts(name, own))
        return false;
    return name.size == size ||
           (name.size > size + 1 && name.data[size] == '-' &&
            all_of((struct hub_view){name.data + size + 1, name.size - size - 1}, "0123456789"));
}

struct hub_view hub_kept_commit(struct hub_view name)
{
    if (name.size > HUB_KEPT_COMMIT + 1) {
        const struct hub_view commit = {name.data + name.size - HUB_KEPT_COMMIT, HUB_KEPT_COMMIT};
        if (commit.data[-1] == '@' && all_of(commit, "0123456789abcdef"))
            return commit;
    }
    return (struct hub_view){"", 0};
}
