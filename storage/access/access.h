/**
 * The one evaluator of access that every route and protocol asks.
 *
 * A table is compiled from rules and tokens and never changes afterwards; references to it are counted. All
 * functions are safe from any thread, take no lock and allocate nothing, but for hub_access_new.
 *
 * Of the rules that match a principal and an id, the one with the longest prefix decides. Of several with
 * that prefix: token or user, then group (the highest level), then network (the smallest one), `signed-in`,
 * `*`. Where no rule matches, the level is `read`. Who has `admin` by a rule of the empty prefix is an admin
 * of the hub, for whom nothing is hidden, as for the local admin.
 */
#ifndef HUB_ACCESS_ACCESS_H
#define HUB_ACCESS_ACCESS_H

#include "storage/access/token.h"

/** The sender of a request. Zeroed: anonymous, from no network. All texts are borrowed. */
struct hub_principal {
    const char *token; /* name of a valid token; NULL: none */
    const char *user;  /* the name that a trusted proxy gives; NULL: none */
    const char *const *groups;
    uint32_t group_count;
    struct hub_address address;
    bool local_admin; /* over control.sock */
    bool reads_only;  /* whatever rules give it, it only reads */
};

/** Is it a token or a user? */
static inline bool hub_principal_signed_in(const struct hub_principal *principal)
{
    return principal->token || principal->user;
}

enum { HUB_LINK_KEY = 32 };

struct hub_access_table;

/**
 * Compile. Of rules with the same WHO and PREFIX one from the file wins, else the last one. The inputs are
 * copied.
 *
 * @return HUB_INVALID for a rule that is none, HUB_TOO_BIG for rules that divide the datasets into more than
 * HUB_ACCESS_CLASSES classes
 */
HUB_MUST_USE enum hub_status hub_access_new(const struct hub_access_rule *rules, uint32_t rule_count,
                                            const struct hub_token *tokens, uint32_t token_count,
                                            struct hub_access_table **out, struct hub_error *err);
/** One more reference; returns the table. */
struct hub_access_table *hub_access_get(struct hub_access_table *table);
/** One less. NULL is fine. */
void hub_access_put(struct hub_access_table *table);

/** There is no rule: everybody may read everything, and nobody may write. */
bool hub_access_is_open(const struct hub_access_table *table);
/** Does a rule hide anything from anybody? Where none does, all lists are the same for all. */
bool hub_access_hides(const struct hub_access_table *table);

/** `id` is a resolved id, or a folder with a slash at its end, for what lies below it. */
enum hub_level hub_access_level(const struct hub_access_table *table, const struct hub_principal *principal,
                                struct hub_view id);

/** May the principal write anything at all, by one of the rules? */
bool hub_access_writes_some(const struct hub_access_table *table, const struct hub_principal *principal);

enum hub_access_why { HUB_ACCESS_DEFAULT, HUB_ACCESS_RULE, HUB_ACCESS_HUB_ADMIN, HUB_ACCESS_LOCAL_ADMIN };
struct hub_access_decision {
    enum hub_level level;
    enum hub_access_why why;
    const struct hub_access_rule *rule; /* of HUB_ACCESS_RULE and HUB_ACCESS_HUB_ADMIN; the table's */
};
/** The level, and what decides it. */
struct hub_access_decision hub_access_explain(const struct hub_access_table *table,
                                              const struct hub_principal *principal, struct hub_view id);

/* ---- classes ---- */

enum { HUB_ACCESS_CLASSES = 1024, HUB_ACCESS_MASK_WORDS = HUB_ACCESS_CLASSES / 64 };

/** The class of an id: the same principals may read all datasets of a class. Class 0 is for everybody. */
uint32_t hub_access_class(const struct hub_access_table *table, struct hub_view id);
/** How many classes there are: 1 to HUB_ACCESS_CLASSES. */
uint32_t hub_access_class_count(const struct hub_access_table *table);
/** Bit c of the mask is set when the principal may read class c; bits of no class are clear. */
void hub_access_mask(const struct hub_access_table *table, const struct hub_principal *principal,
                     uint64_t mask[HUB_ACCESS_MASK_WORDS]);
static inline bool hub_access_mask_has(const uint64_t mask[HUB_ACCESS_MASK_WORDS], uint32_t class_number)
{
    return mask[class_number / 64] >> class_number % 64 & 1;
}

/* ---- what was compiled ---- */

/** The rules that count, sorted by prefix, then WHO. */
const struct hub_access_rule *hub_access_rules_of(const struct hub_access_table *table, uint32_t *count);
/** All tokens, sorted by name. */
const struct hub_token *hub_access_tokens_of(const struct hub_access_table *table, uint32_t *count);
/** Does a rule stand at the id or above it, so that who is anonymous is asked to sign in (401) rather than
 * refused (404)? Depends on rules alone, never on what exists. */
bool hub_access_is_ruled(const struct hub_access_table *table, struct hub_view id);

enum hub_token_verdict {
    HUB_TOKEN_OK,
    HUB_TOKEN_MALFORMED, /* it claims to be a token and is none */
    HUB_TOKEN_UNKNOWN,   /* it never was one here, or is revoked */
    HUB_TOKEN_EXPIRED,
    HUB_TOKEN_WRONG_NETWORK,
};
/** "ok", "malformed", "unknown", "expired", "wrong-network", NULL. */
extern const char *const hub_token_verdicts[];
/** Find the token, or the session, that a text is. Written on HUB_TOKEN_OK alone, and the table's. A session
 * is good as long as the token that began it. */
enum hub_token_verdict hub_access_find_token(const struct hub_access_table *table, struct hub_view text,
                                             const struct hub_address *address, int64_t now_ms,
                                             const struct hub_token **out);
/** The same of a token by its id, which proves nothing: for whoever holds a signature that names it. */
enum hub_token_verdict hub_access_find_id(const struct hub_access_table *table, struct hub_view id,
                                          const struct hub_address *address, int64_t now_ms,
                                          const struct hub_token **out);
/** The principal has used this token: for `token list`. */
void hub_access_note_use(const struct hub_access_table *table, const struct hub_token *token, int64_t now_ms);
/** When the token was last used, by hub_access_note_use or as it was compiled. */
int64_t hub_access_used(const struct hub_access_table *table, const struct hub_token *token);

/** The key that signs links, HUB_LINK_KEY bytes. Set before the table is in force; NULL: there is none. */
void hub_access_set_link_key(struct hub_access_table *table, const uint8_t *key);
const uint8_t *hub_access_link_key(const struct hub_access_table *table);

#endif
