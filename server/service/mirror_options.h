/** The options of a mirror rule: given to `minari-hub mirror`, or set in a section of the configuration
 * file. */
#ifndef HUB_SERVICE_MIRROR_OPTIONS_H
#define HUB_SERVICE_MIRROR_OPTIONS_H

#include "server/config/config.h"
#include "storage/text/json.h"

struct hub_mirror_option {
    const char *name;
    enum { HUB_OPTION_TEXT, HUB_OPTION_LIST, HUB_OPTION_SECONDS, HUB_OPTION_BYTES, HUB_OPTION_SWITCH } kind;
    const char *value, *help;
};

/** What they said. */
struct hub_mirror_options {
    const char *name; /* of the rule; NULL: its remote's */
    json_t *spec;     /* the caller's: what is stored */
    bool json, anew, everything, yes;
};

enum { HUB_MIRROR_OPTIONS = 20 };
/** All of them, as data: how many. */
size_t hub_mirror_usage(struct hub_usage_option out[HUB_MIRROR_OPTIONS]);

/** By its name, up to an '='; NULL: there is none. */
const struct hub_mirror_option *hub_mirror_option_find(const char *flag);
HUB_MUST_USE enum hub_status hub_mirror_option_set(struct hub_mirror_options *options,
                                                   const struct hub_mirror_option *option, const char *value,
                                                   struct hub_error *err);
/** Write the root as the hub knows it: NAME of NAME=DIR, or the whole path of a directory. */
HUB_MUST_USE enum hub_status hub_mirror_resolve_root(json_t *spec, struct hub_error *err);

/** "500K", "50M", "2G". */
bool hub_mirror_bytes(const char *text, json_int_t *out);

#endif
