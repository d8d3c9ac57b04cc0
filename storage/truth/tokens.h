/** Access tokens in hub.db. Each change is one transaction with its audit row. Safe from any thread. */
#ifndef HUB_TRUTH_TOKENS_H
#define HUB_TRUTH_TOKENS_H

#include "storage/truth/access_rules.h"

enum { HUB_MAX_TOKENS = 100000 };

/** A token to be made. */
struct hub_token_draft {
    const char *name;
    const char *const *networks; /* CIDR */
    uint32_t network_count;
    int64_t expires_ms; /* Unix time; 0: never */
    /* rules of token:NAME that are set with it; WHO is not looked at */
    const struct hub_access_rule *rules;
    uint32_t rule_count;
};

/** Make a token; `text` is the only place where it is ever written. HUB_EXISTS: one has the name. */
HUB_MUST_USE enum hub_status hub_token_add(struct hub_truth *truth, const struct hub_token_draft *draft,
                                           const struct hub_access_actor *actor,
                                           char text[HUB_TOKEN_TEXT + 1], struct hub_error *err);
/** Replace it by another text; the old one is good for `overlap_ms` yet, but no longer than it was. One that
 * expires gets its whole time again. HUB_NOT_FOUND "token-not-found". */
HUB_MUST_USE enum hub_status hub_token_rotate(struct hub_truth *truth, const char *name, uint64_t overlap_ms,
                                              const struct hub_access_actor *actor,
                                              char text[HUB_TOKEN_TEXT + 1], struct hub_error *err);
/** End it, and remove the stored rules of its name, so that they are not those of a later token with it. */
HUB_MUST_USE enum hub_status hub_token_revoke(struct hub_truth *truth, const char *name,
                                              const struct hub_access_actor *actor, struct hub_error *err);

struct hub_db;
/** Forget what was rotated, or is a session, and has expired; within a transaction. */
HUB_MUST_USE enum hub_status hub_tokens_forget_expired(struct hub_db *db, struct hub_error *err);

struct hub_token_use {
    const char *id;
    int64_t used_ms;
};
/** When tokens were used last. Those that are gone by now are no mistake. */
HUB_MUST_USE enum hub_status hub_tokens_used(struct hub_truth *truth, const struct hub_token_use *uses,
                                             uint32_t count, struct hub_error *err);

#endif
