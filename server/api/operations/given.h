/** What a hub gives to whom, in one sentence: for its log, its status and its page. */
#ifndef HUB_API_OPERATIONS_GIVEN_H
#define HUB_API_OPERATIONS_GIVEN_H

#include "server/api/app.h"
#include "storage/text/json.h"

enum { HUB_GIVEN_CHARS = 1200 };

/** Does the hub listen on an address that other machines reach? */
bool hub_access_beyond_loopback(const struct hub_app *app);
/**
 * "everybody who reaches 0.0.0.0:8080 may read everything, but nothing of lab/secret/; nobody may write; 1
 * rule, 0 tokens": the rules of `*` and `signed-in`, and how many there are in all. Of a long list of
 * prefixes the first ones.
 * @param table  NULL: there are no rules and tokens
 */
void hub_access_given(const struct hub_app *app, const struct hub_access_table *table,
                      char out[HUB_GIVEN_CHARS]);
/** The same as an object with figures, the member "access". `names`: with the sentence, which names
 * prefixes. */
void hub_access_given_put(struct hub_json *json, const struct hub_app *app,
                          const struct hub_access_table *table, bool names);

#endif
