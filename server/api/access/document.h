/** Tokens, access rules and rows of the audit as documents: for the API and for the command line. A secret is
 * in none of them. */
#ifndef HUB_API_ACCESS_DOCUMENT_H
#define HUB_API_ACCESS_DOCUMENT_H

#include "storage/text/json.h"
#include "storage/truth/access.h"
#include "storage/truth/audit.h"

/** A token with the rules of its name. */
void hub_token_write(struct hub_json *json, const struct hub_access_table *table,
                     const struct hub_token *token);
/** The members of a token, within an object that has others. */
void hub_token_members(struct hub_json *json, const struct hub_access_table *table,
                       const struct hub_token *token);
void hub_access_rule_write(struct hub_json *json, const struct hub_access_rule *rule);
void hub_audit_document(struct hub_json *json, const struct hub_audit *audit);

/**
 * What decides of a WHO and an id: {"who", "id", "level", "why", "rule"}.
 * @param who  as in a rule: "*" is anonymous, "signed-in" a token or user that no rule names, and a network
 * stands for its first address
 * @return HUB_INVALID for what is neither, and for what is no id
 */
HUB_MUST_USE enum hub_status hub_access_explain_write(const struct hub_access_table *table, const char *who,
                                                      const char *id, struct hub_json *json,
                                                      struct hub_error *err);

#endif
