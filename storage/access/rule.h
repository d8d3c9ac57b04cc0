/**
 * Access rules as people write them: WHO LEVEL PREFIX.
 *
 * WHO is `*` (everybody), `signed-in` (every token and user), `token:NAME`, `user:NAME`, `group:NAME` or
 * `net:CIDR`. PREFIX is whole segments: nothing means all datasets, `lab/` that folder and those below it,
 * `lab/arm` the name with all its versions, `lab/arm-v2` that version alone.
 */
#ifndef HUB_ACCESS_RULE_H
#define HUB_ACCESS_RULE_H

#include "storage/access/level.h"
#include "storage/text/network.h"

/* bytes of a name of a token, and of a user or a group; of a whole WHO with its end */
enum { HUB_TOKEN_NAME = 64, HUB_USER_NAME = 200, HUB_WHO_CHARS = HUB_USER_NAME + 8 };

struct hub_access_rule {
    const char *who;
    const char *prefix;
    enum hub_level level;
    bool from_file; /* declared in the configuration: wins over a stored one of the same WHO and PREFIX */
};

enum hub_who { HUB_WHO_ALL, HUB_WHO_SIGNED_IN, HUB_WHO_NETWORK, HUB_WHO_GROUP, HUB_WHO_USER, HUB_WHO_TOKEN };

/** A WHO taken apart; `name` is borrowed from its text. */
struct hub_who_parts {
    enum hub_who kind;
    struct hub_view name;    /* of a token, user or group */
    struct hub_cidr network; /* of HUB_WHO_NETWORK */
};

/** HUB_INVALID says which forms there are. */
HUB_MUST_USE enum hub_status hub_who_read(struct hub_view who, struct hub_who_parts *out,
                                          struct hub_error *err);
/** The one text of those that mean the same: networks in the form of hub_cidr_write. */
void hub_who_write(const struct hub_who_parts *who, char out[HUB_WHO_CHARS]);

/** 1 to 64 of letters, digits and "._-@", the first one a letter or a digit. HUB_INVALID. */
HUB_MUST_USE enum hub_status hub_token_name_check(struct hub_view name, struct hub_error *err);
/** HUB_INVALID for what is no PREFIX. */
HUB_MUST_USE enum hub_status hub_access_prefix_check(struct hub_view prefix, struct hub_error *err);

/** Rules on the heap. Zeroed: none. */
struct hub_access_rules {
    struct hub_access_rule *items;
    uint32_t count, capacity;
};
void hub_access_rules_dispose(struct hub_access_rules *rules);
/** Check a rule and add a copy in its one text. The last one of a WHO and PREFIX counts. HUB_INVALID. */
HUB_MUST_USE enum hub_status hub_access_rules_add(struct hub_access_rules *rules,
                                                  const struct hub_access_rule *rule, struct hub_error *err);
/** Add the rule that a line "WHO LEVEL PREFIX" declares. WHO may have spaces inside. HUB_INVALID. */
HUB_MUST_USE enum hub_status hub_access_rules_read(struct hub_access_rules *rules, struct hub_view line,
                                                   bool from_file, struct hub_error *err);

#endif
