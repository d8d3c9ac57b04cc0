/* Lines of rules and texts of tokens: any text is refused, or read into what reads as itself. */
#include "storage/access/access.h"

#include <stdlib.h>

static void try_rule(struct hub_view line)
{
    struct hub_access_rules once = {0}, again = {0};
    struct hub_access_table *table = NULL;
    if (hub_access_rules_read(&once, line, true, NULL))
        return;
    const struct hub_access_rule *rule = &once.items[0];
    if (hub_access_rules_add(&again, rule, NULL) || strcmp(again.items[0].who, rule->who) != 0 ||
        strcmp(again.items[0].prefix, rule->prefix) != 0)
        abort();
    if (hub_access_new(once.items, once.count, NULL, 0, &table, NULL))
        abort();
    (void)hub_access_level(table, &(struct hub_principal){.token = "a"}, line);
    if (hub_access_class(table, line) >= hub_access_class_count(table))
        abort();
    hub_access_put(table);
    hub_access_rules_dispose(&once);
    hub_access_rules_dispose(&again);
}

static void try_token(struct hub_view text)
{
    struct hub_access_table *table = NULL;
    struct hub_token token = {.name = "a"};
    const struct hub_token *found;
    if (!hub_token_well_formed(text))
        return;
    if (!hub_token_claims(text) || hub_token_digest(text, &token, NULL) ||
        hub_access_new(NULL, 0, &token, 1, &table, NULL) ||
        hub_access_find_token(table, text, &(struct hub_address){0}, 0, &found) != HUB_TOKEN_OK)
        abort();
    hub_access_put(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_rule((struct hub_view){(const char *)data, size});
    try_token((struct hub_view){(const char *)data, size});
    return 0;
}
