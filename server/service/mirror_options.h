/** The options of a mirror rule: given to `minari-hub mirror`, or set in a section of the configuration
 * file. */
#ifndef HUB_SERVICE_MIRROR_OPTIONS_H
#define HUB_SERVICE_MIRROR_OPTIONS_H

#include "server/config/config.h"
#include "storage/text/json.h"

/** What they said. */
struct hub_mirror_options {
    json_t *spec;     /* the caller's: what is stored */
    const char *name; /* of the rule; NULL: its remote's */
    bool json, anew, everything, yes;
};

enum { HUB_MIRROR_OPTIONS = 16 };
extern const struct hub_usage_option hub_mirror_rows[HUB_MIRROR_OPTIONS];

/** @param options  struct hub_mirror_options */
HUB_MUST_USE enum hub_status hub_mirror_option_set(void *options, const struct hub_usage_option *option,
                                                   const char *value, struct hub_error *err);
/** Write the root as the hub knows it: NAME of NAME=DIR, or the whole path of a directory. */
HUB_MUST_USE enum hub_status hub_mirror_resolve_root(json_t *spec, struct hub_error *err);

#endif
