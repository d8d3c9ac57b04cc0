/* Copies of what takes a token elsewhere, and none here: see uncovered.h. */
#include "server/mirror/uncovered.h"

#include "storage/ids/id.h"
#include "storage/remote/remote.h"

#include <stdio.h>

enum { PREFIX_CHARS = 3 * HUB_MAX_ID };

/* What the ids of its datasets here begin with: of its root, its --as, and whole folders of its --prefix. */
static void prefix_of(const json_t *spec, const struct hub_roots *roots, char out[PREFIX_CHARS])
{
    const char *key = hub_member_text(spec, "root"), *as = hub_member_text(spec, "as"),
               *prefix = hub_member_text(spec, "prefix"), *name = NULL;
    const bool one = as && !hub_view_ends(hub_view_of(as), "/");
    const char *slash = prefix && !one ? strrchr(prefix, '/') : NULL;
    for (uint32_t i = 0; key && i < roots->count; i++)
        if (strcmp(hub_root_key(&roots->roots[i]), key) == 0)
            name = roots->roots[i].name;
    snprintf(out, PREFIX_CHARS, "%s%s%s%.*s", name ? name : "", name ? "/" : "", as ? as : "",
             slash ? (int)(slash + 1 - prefix) : 0, slash ? prefix : "");
}

static bool is_open(const struct hub_access_table *table, const char *prefix)
{
    const struct hub_principal anybody = {0};
    return !table || hub_access_explain(table, &anybody, hub_view_of(prefix)).why == HUB_ACCESS_DEFAULT;
}

bool hub_mirror_uncovered(const json_t *spec, const struct hub_roots *roots,
                          const struct hub_access_table *table, char note[HUB_MIRROR_NOTE])
{
    char prefix[PREFIX_CHARS];
    const size_t used = strlen(note);
    if (!hub_member_text(spec, "token-file"))
        return false;
    prefix_of(spec, roots, prefix);
    if (!is_open(table, prefix))
        return false;
    snprintf(note + used, HUB_MIRROR_NOTE - used,
             "%sit takes a token to read this on the remote, and none here: `minari-hub access set '*' none "
             "%s` hides it%s",
             used ? "; " : "", *prefix ? prefix : "NAME/",
             *prefix ? "" : ", if --as NAME/ puts it below a name of its own");
    return true;
}
