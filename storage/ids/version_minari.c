/* Which releases of Minari load a dataset. */
#include "storage/ids/version.h"

static struct hub_version version_of(uint32_t major, uint32_t minor)
{
    return (struct hub_version){.release = {major, minor}, .release_count = 2};
}

bool hub_minari_loadable(struct hub_view minari_version, bool has_metadata_json, struct hub_view release)
{
    const struct hub_version v04 = version_of(0, 4), v05 = version_of(0, 5);
    struct hub_version reader, writer;
    struct hub_spec_set specs;
    if (hub_version_parse(release, &reader, NULL))
        return false;
    const bool reads_metadata = hub_version_compare(&reader, &v05) >= 0;
    if (!has_metadata_json && reads_metadata)
        return false;
    if (!minari_version.size)
        return !has_metadata_json && hub_version_compare(&reader, &v04) < 0;
    if (hub_version_parse(minari_version, &writer, NULL) == HUB_OK)
        return reads_metadata && hub_version_compare(&reader, &writer) >= 0;
    return hub_spec_parse(minari_version, &specs, NULL) == HUB_OK && hub_spec_contains(&specs, &reader);
}

/* Sets of era E5 have a metadata.json. */
static bool minari_loads(struct hub_view stated_version, struct hub_view era, struct hub_view release)
{
    return hub_minari_loadable(stated_version, hub_view_is(era, "E5"), release);
}

static const char *const minari_releases[] = {"0.3.0", "0.3.1", "0.4.0", "0.4.1", "0.4.2", "0.4.3",
                                              "0.5.0", "0.5.1", "0.5.2", "0.5.3", "0.5.4", NULL};

static const struct hub_load_rule rules[] = {
    {"minari", "Minari", "minari_version", minari_releases, "newer than 0.5.4", minari_loads},
};

const struct hub_load_rule *hub_load_rule_find(const char *name)
{
    for (size_t i = 0; i < HUB_COUNT(rules); i++)
        if (strcmp(rules[i].name, name) == 0)
            return &rules[i];
    return NULL;
}

const struct hub_load_rule *hub_load_rule_of(const char *library)
{
    for (size_t i = 0; library && i < HUB_COUNT(rules); i++)
        if (strcmp(rules[i].library, library) == 0)
            return &rules[i];
    return NULL;
}

const char *hub_load_rule_next(const struct hub_load_rule *rule, struct hub_view stated_version,
                               struct hub_view era, size_t *at)
{
    size_t known = 0;
    while (rule->releases[known])
        known++;
    while (*at < known)
        if (rule->loads(stated_version, era, hub_view_of(rule->releases[(*at)++])))
            return rule->releases[*at - 1];
    if (*at > known)
        return NULL;
    *at = known + 1;
    struct hub_version writer, last;
    const bool newer = !hub_version_parse(stated_version, &writer, NULL) &&
                       !hub_version_parse(hub_view_of(rule->releases[known - 1]), &last, NULL) &&
                       hub_version_compare(&writer, &last) > 0;
    return newer && rule->loads(stated_version, era, stated_version) ? rule->newer : NULL;
}
