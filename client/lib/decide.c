/* Decisions before a download: see decide.h. */
#include "client/lib/decide.h"

#include <stdio.h>

static bool loads(const struct minari_summary *s, const char *release)
{
    if (!release)
        return true;
    for (size_t i = 0; i < s->loadable_count; i++)
        if (strcmp(s->loadable_by[i], release) == 0)
            return true;
    return false;
}

enum hub_status hub_decide(const struct minari_summary *chosen, const struct minari_summary *versions,
                           size_t count, const char *release, bool force, struct hub_buf *notices,
                           struct hub_error *err)
{
    const struct minari_summary *best = NULL;
    for (size_t i = 0; i < count; i++)
        if (loads(&versions[i], release) && (!best || versions[i].version > best->version))
            best = &versions[i];
    if (!loads(chosen, release)) {
        char instead[1100] = "no version of it does";
        if (best)
            snprintf(instead, sizeof instead, "'%.1000s' is the newest that does", best->id);
        if (!force)
            return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_INCOMPATIBLE,
                               "Minari %s does not read '%s'; %s", release, chosen->id, instead);
        return hub_buf_addf(notices, err, "Minari %s does not read '%s' (%s); downloading it anyway\n",
                            release, chosen->id, instead);
    }
    if (best && best->version > chosen->version && chosen->version >= 0)
        return hub_buf_addf(notices, err, "a newer version is there: '%s'\n", best->id);
    return HUB_OK;
}
