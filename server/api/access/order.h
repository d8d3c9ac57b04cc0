/**
 * What is asked of tokens and access rules, as texts: by a request, or by a command where no hub runs. It is
 * done here, the same for both. Only the texts that an action needs are set; all are borrowed.
 */
#ifndef HUB_API_ACCESS_ORDER_H
#define HUB_API_ACCESS_ORDER_H

#include "storage/text/json.h"
#include "storage/truth/tokens.h"

enum { HUB_ORDER_WORDS = 64 };

struct hub_order_words {
    const char *items[HUB_ORDER_WORDS];
    uint32_t count;
};
/** HUB_TOO_BIG: there are HUB_ORDER_WORDS already. */
HUB_MUST_USE enum hub_status hub_order_add(struct hub_order_words *words, const char *word,
                                           struct hub_error *err);

enum hub_order_action {
    HUB_ORDER_TOKEN_ADD,
    HUB_ORDER_TOKEN_ROTATE,
    HUB_ORDER_TOKEN_REVOKE,
    HUB_ORDER_SET,
    HUB_ORDER_UNSET,
};

struct hub_access_order {
    enum hub_order_action action;
    const char *name;                          /* of a token */
    struct hub_order_words read, label, write; /* prefixes of a new token */
    struct hub_order_words from;               /* networks of a new token */
    bool admin;
    const char *expires, *overlap;    /* such as 90d; NULL: never, at once */
    const char *who, *level, *prefix; /* of a rule */
};

/**
 * Do it, and write what came of it as a JSON object.
 * @param[out] note  for the log: "token-add ann", or empty
 * @return as the functions of storage/truth/tokens.h and access_rules.h
 */
enum { HUB_ORDER_NOTE = 2 * HUB_WHO_CHARS };
HUB_MUST_USE enum hub_status hub_access_obey(struct hub_truth *truth, const struct hub_access_order *order,
                                             const struct hub_access_actor *actor, struct hub_json *json,
                                             char note[HUB_ORDER_NOTE], struct hub_error *err);

/** "90d" as milliseconds. HUB_INVALID names the parameter. */
HUB_MUST_USE enum hub_status hub_order_time(const char *parameter, const char *text, uint64_t *out,
                                            struct hub_error *err);
/** A moment: RFC 3339, or so long ago as "7d", as Unix milliseconds. HUB_INVALID names the parameter. */
HUB_MUST_USE enum hub_status hub_order_since(const char *parameter, const char *text, int64_t *out,
                                             struct hub_error *err);

#endif
