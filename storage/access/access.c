/* Decisions from a compiled table: see access.h. */
#include "storage/access/access.h"

#include "storage/access/table.h"
#include "storage/ids/id.h"

#include <stdlib.h>

const char *const hub_token_verdicts[] = {"ok", "malformed", "unknown", "expired", "wrong-network", NULL};

/* ---- prefixes ---- */

uint32_t access_find_text(const struct hub_access_table *table, struct hub_view text, uint64_t hash)
{
    const struct access_index *index = &table->by_text;
    for (uint32_t at = access_place(index, hash);; at = (at + 1) & (index->size - 1)) {
        const uint32_t i = index->places[at];
        if (i == NO_INDEX || hub_view_equal(table->prefixes[i].text, text))
            return i;
    }
}

/* One that is longer than what was found so far, if there is one. */
static void prefer(const struct hub_access_table *table, struct hub_view text, uint64_t hash, uint32_t *best)
{
    const uint32_t found = access_find_text(table, text, hash);
    if (found != NO_INDEX)
        *best = found;
}

uint32_t access_find_folder(const struct hub_access_table *table, struct hub_view id, uint64_t hash)
{
    const struct access_index *index = &table->by_text;
    for (uint32_t at = access_place(index, hub_hash(hash, "/", 1));; at = (at + 1) & (index->size - 1)) {
        const uint32_t i = index->places[at];
        const struct hub_view text = i == NO_INDEX ? (struct hub_view){0} : table->prefixes[i].text;
        if (i == NO_INDEX || (text.size == id.size + 1 && text.data[id.size] == '/' &&
                              memcmp(text.data, id.data, id.size) == 0))
            return i;
    }
}

/* The longest folder that an id lies in. */
static uint32_t find_around(const struct hub_access_table *table, struct hub_view id, size_t mark,
                            uint64_t *mark_hash, uint64_t *id_hash)
{
    uint64_t hash = HUB_HASH_START;
    uint32_t best = NO_INDEX;
    prefer(table, (struct hub_view){id.data, 0}, hash, &best);
    for (size_t i = 0; i < id.size; i++) {
        hash = hub_hash(hash, id.data + i, 1);
        if (id.data[i] == '/')
            prefer(table, (struct hub_view){id.data, i + 1}, hash, &best);
        if (i + 1 == mark)
            *mark_hash = hash;
    }
    *id_hash = hash;
    return best;
}

/* Of an id with a version its name, of which all rules are its own: a prefix with a version is that one
 * dataset, and no name of arm-v2-v3. */
static bool name_of(struct hub_view id, struct hub_view *name)
{
    struct hub_view inner;
    uint32_t version;
    return hub_id_split_alias(id, name, &version) && !hub_id_split_alias(*name, &inner, &version);
}

uint32_t access_find_prefix(const struct hub_access_table *table, struct hub_view id)
{
    uint64_t name_hash = HUB_HASH_START, hash;
    struct hub_view name;
    const bool named = name_of(id, &name);
    uint32_t best = find_around(table, id, name.size, &name_hash, &hash);
    const uint32_t own = access_find_folder(table, id, hash); /* loose files have the name of their folder */
    if (own != NO_INDEX)
        return table->prefixes[own].joint == NO_INDEX ? own : table->prefixes[own].joint;
    if (named)
        prefer(table, name, name_hash, &best);
    prefer(table, id, hash, &best);
    return best;
}

void access_find_parts(const struct hub_access_table *table, uint32_t folder, uint32_t parts[ACCESS_PARTS],
                       uint32_t *above)
{
    struct hub_view id = table->prefixes[folder].text, name;
    uint64_t name_hash = HUB_HASH_START, hash;
    id.size--;
    parts[0] = parts[2] = NO_INDEX;
    parts[1] = folder;
    const bool named = name_of(id, &name);
    *above = find_around(table, id, name.size, &name_hash, &hash);
    prefer(table, id, hash, &parts[0]);
    if (named)
        prefer(table, name, name_hash, &parts[2]);
}

/* ---- rules of one prefix ---- */

static uint32_t find_rule(const struct hub_access_table *table, uint32_t prefix, enum hub_who kind,
                          const char *text)
{
    const struct hub_view name = hub_view_of(text);
    const struct access_index *index = &table->by_who;
    const uint64_t hash = access_who_hash(kind, name);
    for (uint32_t at = access_place(index, hub_hash_word(hash, prefix));; at = (at + 1) & (index->size - 1)) {
        const uint32_t i = index->places[at];
        if (i == NO_INDEX)
            return NO_INDEX;
        const struct access_rule *rule = &table->rules[i];
        if (rule->hash == hash && rule->prefix == prefix && rule->who.kind == kind &&
            hub_view_equal(rule->who.name, name))
            return i;
    }
}

/* Of two rules, of which there may be none, the one with the higher level. */
static uint32_t higher(const struct hub_access_table *table, uint32_t a, uint32_t b)
{
    if (a == NO_INDEX || b == NO_INDEX)
        return a == NO_INDEX ? b : a;
    return table->rules[b].rule->level > table->rules[a].rule->level ? b : a;
}

static uint32_t find_network(const struct hub_access_table *table, const struct access_prefix *prefix,
                             const struct hub_address *address)
{
    for (uint32_t i = 0; address->known && i < prefix->network_count; i++) {
        const uint32_t rule = table->networks[prefix->first_network + i];
        if (hub_cidr_has(&table->rules[rule].who.network, address))
            return rule;
    }
    return NO_INDEX;
}

/* The rule of a prefix that decides for a principal; NO_INDEX: none is about them. */
static uint32_t decide_by(const struct hub_access_table *table, uint32_t at,
                          const struct hub_principal *principal)
{
    const struct access_prefix *prefix = &table->prefixes[at];
    uint32_t rule = NO_INDEX;
    if (principal->token)
        rule = find_rule(table, at, HUB_WHO_TOKEN, principal->token);
    if (principal->user)
        rule = higher(table, rule, find_rule(table, at, HUB_WHO_USER, principal->user));
    for (uint32_t i = 0, own = rule; own == NO_INDEX && i < principal->group_count; i++)
        rule = higher(table, rule, find_rule(table, at, HUB_WHO_GROUP, principal->groups[i]));
    if (rule == NO_INDEX)
        rule = find_network(table, prefix, &principal->address);
    if (rule == NO_INDEX && hub_principal_signed_in(principal))
        rule = prefix->signed_in;
    return rule == NO_INDEX ? prefix->everybody : rule;
}

static uint32_t decide_at(const struct hub_access_table *table, uint32_t at,
                          const struct hub_principal *principal)
{
    uint32_t rule = NO_INDEX;
    if (at < table->prefix_count)
        return decide_by(table, at, principal);
    for (unsigned i = 0; rule == NO_INDEX && i < ACCESS_PARTS; i++)
        if (table->prefixes[at].parts[i] != NO_INDEX)
            rule = decide_by(table, table->prefixes[at].parts[i], principal);
    return rule;
}

static struct hub_access_decision decision(const struct hub_access_table *table, enum hub_access_why why,
                                           uint32_t rule)
{
    const struct hub_access_rule *decides = rule == NO_INDEX ? NULL : table->rules[rule].rule;
    return (struct hub_access_decision){decides ? decides->level : HUB_LEVEL_READ, why, decides};
}

/* The rule that makes a principal an admin of the hub; NO_INDEX: none. */
static uint32_t admin_rule(const struct hub_access_table *table, const struct hub_principal *principal)
{
    if (!table->prefix_count || table->prefixes[0].text.size)
        return NO_INDEX;
    const uint32_t rule = decide_at(table, 0, principal);
    return rule != NO_INDEX && table->rules[rule].rule->level == HUB_LEVEL_ADMIN ? rule : NO_INDEX;
}

struct hub_access_decision hub_access_explain(const struct hub_access_table *table,
                                              const struct hub_principal *principal, struct hub_view id)
{
    if (principal->local_admin)
        return (struct hub_access_decision){HUB_LEVEL_ADMIN, HUB_ACCESS_LOCAL_ADMIN, NULL};
    const uint32_t admin = admin_rule(table, principal);
    if (admin != NO_INDEX)
        return decision(table, HUB_ACCESS_HUB_ADMIN, admin);
    for (uint32_t at = access_find_prefix(table, id); at != NO_INDEX; at = table->prefixes[at].above) {
        const uint32_t rule = decide_at(table, at, principal);
        if (rule != NO_INDEX)
            return decision(table, HUB_ACCESS_RULE, rule);
    }
    return decision(table, HUB_ACCESS_DEFAULT, NO_INDEX);
}

enum hub_level hub_access_level(const struct hub_access_table *table, const struct hub_principal *principal,
                                struct hub_view id)
{
    const enum hub_level level = hub_access_explain(table, principal, id).level;
    return principal->reads_only ? HUB_MIN(level, HUB_LEVEL_READ) : level;
}

bool hub_access_writes_some(const struct hub_access_table *table, const struct hub_principal *principal)
{
    uint32_t count;
    const struct hub_access_rule *rules = hub_access_rules_of(table, &count);
    for (uint32_t i = 0; i < count; i++)
        if (rules[i].level >= HUB_LEVEL_WRITE &&
            hub_access_level(table, principal, hub_view_of(rules[i].prefix)) >= HUB_LEVEL_WRITE)
            return true;
    return principal->local_admin;
}

/* ---- classes ---- */

uint32_t hub_access_class(const struct hub_access_table *table, struct hub_view id)
{
    const uint32_t prefix = table->hides ? access_find_prefix(table, id) : NO_INDEX;
    return prefix == NO_INDEX ? 0 : table->prefixes[prefix].class_number;
}

uint32_t hub_access_class_count(const struct hub_access_table *table)
{
    return table->class_count;
}

static void set_all(const struct hub_access_table *table, uint64_t mask[HUB_ACCESS_MASK_WORDS])
{
    for (uint32_t i = 0; i < table->class_count; i++)
        mask[i / 64] |= UINT64_C(1) << i % 64;
}

void access_compute_mask(const struct hub_access_table *table, const struct hub_principal *principal,
                         uint64_t mask[HUB_ACCESS_MASK_WORDS])
{
    memset(mask, 0, sizeof(uint64_t[HUB_ACCESS_MASK_WORDS]));
    mask[0] = 1;
    if (!table->hides || principal->local_admin || admin_rule(table, principal) != NO_INDEX) {
        set_all(table, mask);
        return;
    }
    for (uint32_t i = 0; i < table->node_count; i++) {
        const struct access_prefix *prefix = &table->prefixes[i];
        if (!prefix->hides)
            continue; /* of class 0 */
        const uint32_t rule = decide_at(table, i, principal);
        const bool above = prefix->above == NO_INDEX ||
                           hub_access_mask_has(mask, table->prefixes[prefix->above].class_number);
        if (rule == NO_INDEX ? above : table->rules[rule].rule->level >= HUB_LEVEL_READ)
            mask[prefix->class_number / 64] |= UINT64_C(1) << prefix->class_number % 64;
    }
}

/* The first of the tokens with a name; NO_INDEX: none has it. */
static uint32_t find_name(const struct hub_access_table *table, const char *name)
{
    uint32_t low = 0, high = table->token_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(table->tokens[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->token_count && strcmp(table->tokens[low].name, name) == 0 ? low : NO_INDEX;
}

void hub_access_mask(const struct hub_access_table *table, const struct hub_principal *principal,
                     uint64_t mask[HUB_ACCESS_MASK_WORDS])
{
    const bool plain = table->token_masks && !principal->user && !principal->group_count;
    const uint32_t token = plain && principal->token ? find_name(table, principal->token) : NO_INDEX;
    if (plain && !principal->token && !principal->local_admin)
        memcpy(mask, table->anonymous_mask, sizeof table->anonymous_mask);
    else if (token != NO_INDEX && !principal->local_admin)
        memcpy(mask, table->token_masks[token], sizeof table->token_masks[token]);
    else
        access_compute_mask(table, principal, mask);
}

/* ---- tokens ---- */

static const struct hub_token *find_id(const struct hub_access_table *table, const char id[HUB_TOKEN_ID])
{
    const struct access_index *index = &table->by_id;
    const uint64_t hash = hub_hash(HUB_HASH_START, id, HUB_TOKEN_ID);
    for (uint32_t at = access_place(index, hash);; at = (at + 1) & (index->size - 1)) {
        const uint32_t i = index->places[at];
        if (i == NO_INDEX)
            return NULL;
        if (memcmp(table->tokens[i].id, id, HUB_TOKEN_ID) == 0)
            return &table->tokens[i];
    }
}

static bool good_at(const struct hub_token *token, const struct hub_address *address)
{
    for (uint32_t i = 0; i < token->network_count; i++)
        if (hub_cidr_has(&token->networks[i], address))
            return true;
    return token->network_count == 0;
}

static enum hub_token_verdict judge(const struct hub_token *token, const struct hub_address *address,
                                    int64_t now_ms)
{
    if (!token)
        return HUB_TOKEN_UNKNOWN;
    if (token->expires_ms && now_ms >= token->expires_ms)
        return HUB_TOKEN_EXPIRED;
    return good_at(token, address) ? HUB_TOKEN_OK : HUB_TOKEN_WRONG_NETWORK;
}

enum hub_token_verdict hub_access_find_token(const struct hub_access_table *table, struct hub_view text,
                                             const struct hub_address *address, int64_t now_ms,
                                             const struct hub_token **out)
{
    struct hub_token given;
    if (!hub_token_well_formed(text) || hub_token_digest(text, &given, NULL))
        return HUB_TOKEN_MALFORMED;
    const struct hub_token *token = find_id(table, given.id);
    if (!token || !hub_token_same(token->sha256, given.sha256))
        return HUB_TOKEN_UNKNOWN;
    enum hub_token_verdict verdict = judge(token, address, now_ms);
    if (verdict == HUB_TOKEN_OK && token->session_of[0])
        verdict = judge(find_id(table, token->session_of), address, now_ms);
    if (verdict == HUB_TOKEN_OK)
        *out = token;
    return verdict;
}

enum hub_token_verdict hub_access_find_id(const struct hub_access_table *table, struct hub_view id,
                                          const struct hub_address *address, int64_t now_ms,
                                          const struct hub_token **out)
{
    const struct hub_token *token = id.size == HUB_TOKEN_ID ? find_id(table, id.data) : NULL;
    const enum hub_token_verdict verdict =
        token && token->session_of[0] ? HUB_TOKEN_UNKNOWN : judge(token, address, now_ms);
    if (verdict == HUB_TOKEN_OK)
        *out = token;
    return verdict;
}

void hub_access_note_use(const struct hub_access_table *table, const struct hub_token *token, int64_t now_ms)
{
    atomic_store_explicit(&table->used_ms[token - table->tokens], now_ms, memory_order_relaxed);
}

int64_t hub_access_used(const struct hub_access_table *table, const struct hub_token *token)
{
    return atomic_load_explicit(&table->used_ms[token - table->tokens], memory_order_relaxed);
}

/* ---- the rest ---- */

bool hub_access_is_open(const struct hub_access_table *table)
{
    return table->source.count == 0;
}

bool hub_access_hides(const struct hub_access_table *table)
{
    return table->hides;
}

bool hub_access_is_ruled(const struct hub_access_table *table, struct hub_view id)
{
    return access_find_prefix(table, id) != NO_INDEX;
}

const struct hub_access_rule *hub_access_rules_of(const struct hub_access_table *table, uint32_t *count)
{
    *count = table->source.count;
    return table->source.items;
}

const struct hub_token *hub_access_tokens_of(const struct hub_access_table *table, uint32_t *count)
{
    *count = table->token_count;
    return table->tokens;
}

void hub_access_set_link_key(struct hub_access_table *table, const uint8_t *key)
{
    table->has_link_key = key != NULL;
    if (key)
        memcpy(table->link_key, key, sizeof table->link_key);
}

const uint8_t *hub_access_link_key(const struct hub_access_table *table)
{
    return table->has_link_key ? table->link_key : NULL;
}
