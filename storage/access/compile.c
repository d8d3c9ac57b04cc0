/* From rules and tokens to a table: see access.h and table.h. */
#include "storage/access/table.h"
#include "storage/ids/id.h"

#include <stdlib.h>

/* ---- rules, each pair of WHO and PREFIX once ---- */

static int by_pair(const struct hub_access_rule *a, const struct hub_access_rule *b)
{
    const int order = strcmp(a->prefix, b->prefix);
    return order ? order : strcmp(a->who, b->who);
}

/* What counts of a pair comes first: a declared one, else the last one. */
static int by_weight(const void *left, const void *right, void *user)
{
    const struct hub_access_rule *rules = user;
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const int order = by_pair(&rules[a], &rules[b]);
    if (order)
        return order;
    if (rules[a].from_file != rules[b].from_file)
        return rules[a].from_file ? -1 : 1;
    return a > b ? -1 : 1;
}

/* Moves those that count, in their order, out of `all`, which keeps the others. */
static void take_first(struct hub_access_rules *all, const uint32_t *order, struct hub_access_rules *out)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct hub_access_rule *rule = &all->items[order[i]];
        if (out->count && by_pair(&out->items[out->count - 1], rule) == 0)
            continue;
        out->items[out->count++] = *rule;
        rule->who = NULL;
    }
}

static enum hub_status copy_rules(struct hub_access_table *table, const struct hub_access_rule *rules,
                                  uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules all = {0};
    HUB_CLEANUP(hub_freep) uint32_t *order = NULL;
    HUB_TRY(hub_new(&order, count, sizeof *order, err));
    HUB_TRY(hub_new(&table->source.items, count, sizeof *table->source.items, err));
    for (uint32_t i = 0; i < count; i++) {
        order[i] = i;
        HUB_TRY(hub_access_rules_add(&all, &rules[i], err));
    }
    qsort_r(order, count, sizeof *order, by_weight, all.items);
    take_first(&all, order, &table->source);
    return HUB_OK;
}

/* ---- indexes ---- */

static enum hub_status index_new(struct access_index *index, uint32_t count, struct hub_error *err)
{
    index->size = 8;
    while (index->size < 2 * count)
        index->size *= 2;
    HUB_TRY(hub_new(&index->places, index->size, sizeof *index->places, err));
    memset(index->places, 0xFF, index->size * sizeof *index->places);
    return HUB_OK;
}

static void index_add(struct access_index *index, uint64_t hash, uint32_t number)
{
    uint32_t at = access_place(index, hash);
    while (index->places[at] != NO_INDEX)
        at = (at + 1) & (index->size - 1);
    index->places[at] = number;
}

/* ---- prefixes ---- */

static int by_length(const void *left, const void *right)
{
    const struct access_prefix *a = left, *b = right;
    if (a->text.size != b->text.size)
        return a->text.size < b->text.size ? -1 : 1;
    return a->text.size ? memcmp(a->text.data, b->text.data, a->text.size) : 0;
}

static enum hub_status collect_prefixes(struct hub_access_table *table, struct hub_error *err)
{
    const struct hub_access_rules *rules = &table->source;
    HUB_TRY(hub_new(&table->prefixes, 2 * (size_t)rules->count, sizeof *table->prefixes, err));
    for (uint32_t i = 0; i < rules->count; i++)
        if (i == 0 || strcmp(rules->items[i - 1].prefix, rules->items[i].prefix) != 0)
            table->prefixes[table->prefix_count++] =
                (struct access_prefix){.text = hub_view_of(rules->items[i].prefix),
                                       .everybody = NO_INDEX,
                                       .signed_in = NO_INDEX,
                                       .joint = NO_INDEX};
    qsort(table->prefixes, table->prefix_count, sizeof *table->prefixes, by_length);
    HUB_TRY(index_new(&table->by_text, table->prefix_count, err));
    for (uint32_t i = 0; i < table->prefix_count; i++) {
        const struct hub_view text = table->prefixes[i].text;
        index_add(&table->by_text, hub_hash(HUB_HASH_START, text.data, text.size), i);
    }
    return HUB_OK;
}

/* The longest prefix but its own that all its ids match. */
static uint32_t find_above(const struct hub_access_table *table, struct hub_view text)
{
    const bool folder = hub_view_ends(text, "/");
    const struct hub_view inner = {text.data, text.size - folder};
    struct hub_view above = {text.data, inner.size - hub_view_behind(inner, '/').size}, name;
    uint32_t version;
    if (text.size == 0)
        return NO_INDEX;
    if (!folder && hub_id_split_alias(text, &name, &version)) {
        const uint32_t found = access_find_text(table, name, hub_hash(HUB_HASH_START, name.data, name.size));
        if (found != NO_INDEX)
            return found;
    }
    return access_find_prefix(table, above);
}

/* Where the name of a folder also matches rules of that name. */
static void add_joint(struct hub_access_table *table, uint32_t folder)
{
    struct access_prefix *joint = &table->prefixes[table->node_count];
    const struct hub_view text = table->prefixes[folder].text;
    if (!hub_view_ends(text, "/"))
        return;
    access_find_parts(table, folder, joint->parts, &joint->above);
    if (joint->parts[0] == NO_INDEX && joint->parts[2] == NO_INDEX)
        return;
    joint->text = (struct hub_view){text.data, text.size - 1};
    joint->joint = NO_INDEX;
    for (unsigned i = 0; i < ACCESS_PARTS; i++)
        joint->hides =
            joint->hides || (joint->parts[i] != NO_INDEX && table->prefixes[joint->parts[i]].hides);
    table->prefixes[folder].joint = table->node_count++;
}

/* ---- rules of prefixes ---- */

static void place_rule(struct hub_access_table *table, uint32_t i)
{
    struct access_rule *rule = &table->rules[i];
    struct access_prefix *prefix = &table->prefixes[rule->prefix];
    prefix->hides = prefix->hides || rule->rule->level == HUB_LEVEL_NONE;
    switch (rule->who.kind) {
    case HUB_WHO_ALL:
        prefix->everybody = i;
        break;
    case HUB_WHO_SIGNED_IN:
        prefix->signed_in = i;
        break;
    case HUB_WHO_NETWORK:
        table->networks[table->network_count++] = i;
        break;
    case HUB_WHO_GROUP:
    case HUB_WHO_USER:
    case HUB_WHO_TOKEN:
        index_add(&table->by_who, hub_hash_word(rule->hash, rule->prefix), i);
        break;
    }
}

static enum hub_status place_rules(struct hub_access_table *table, struct hub_error *err)
{
    const uint32_t count = table->source.count;
    HUB_TRY(hub_new(&table->rules, count, sizeof *table->rules, err));
    HUB_TRY(hub_new(&table->networks, count, sizeof *table->networks, err));
    HUB_TRY(index_new(&table->by_who, count, err));
    for (uint32_t i = 0; i < count; i++) {
        struct access_rule *rule = &table->rules[i];
        rule->rule = &table->source.items[i];
        HUB_TRY(hub_who_read(hub_view_of(rule->rule->who), &rule->who, err));
        rule->hash = access_who_hash(rule->who.kind, rule->who.name);
        const struct hub_view prefix = hub_view_of(rule->rule->prefix);
        rule->prefix = access_find_text(table, prefix, hub_hash(HUB_HASH_START, prefix.data, prefix.size));
        place_rule(table, i);
    }
    return HUB_OK;
}

static int by_network(const void *left, const void *right, void *user)
{
    const struct hub_access_table *table = user;
    const struct access_rule *a = &table->rules[*(const uint32_t *)left];
    const struct access_rule *b = &table->rules[*(const uint32_t *)right];
    if (a->prefix != b->prefix)
        return a->prefix < b->prefix ? -1 : 1;
    return (a->who.network.bits < b->who.network.bits) - (a->who.network.bits > b->who.network.bits);
}

static void place_networks(struct hub_access_table *table)
{
    qsort_r(table->networks, table->network_count, sizeof *table->networks, by_network, table);
    for (uint32_t i = 0; i < table->network_count; i++) {
        struct access_prefix *prefix = &table->prefixes[table->rules[table->networks[i]].prefix];
        if (prefix->network_count++ == 0)
            prefix->first_network = i;
    }
}

/* Where nothing hides, here or above, everybody reads: class 0. Each other node is a class. */
static enum hub_status number_class(struct hub_access_table *table, struct access_prefix *node,
                                    struct hub_error *err)
{
    node->hides = node->hides || (node->above != NO_INDEX && table->prefixes[node->above].hides);
    table->hides = table->hides || node->hides;
    if (!node->hides)
        return HUB_OK;
    if (table->class_count == HUB_ACCESS_CLASSES)
        return hub_fail(err, HUB_TOO_BIG,
                        "the rules divide the datasets into more than %d classes of who may read them: "
                        "give folders fewer rules of their own, as in lab/ for all below lab",
                        HUB_ACCESS_CLASSES);
    node->class_number = table->class_count++;
    return HUB_OK;
}

static enum hub_status number_classes(struct hub_access_table *table, struct hub_error *err)
{
    table->class_count = 1;
    for (uint32_t i = 0; i < table->prefix_count; i++) {
        table->prefixes[i].above = find_above(table, table->prefixes[i].text);
        HUB_TRY(number_class(table, &table->prefixes[i], err));
    }
    table->node_count = table->prefix_count;
    for (uint32_t i = 0; i < table->prefix_count; i++)
        add_joint(table, i);
    for (uint32_t i = table->prefix_count; i < table->node_count; i++)
        HUB_TRY(number_class(table, &table->prefixes[i], err));
    return HUB_OK;
}

/* ---- tokens ---- */

static int by_name(const void *left, const void *right)
{
    const struct hub_token *a = left, *b = right;
    const int order = strcmp(a->name, b->name);
    if (order == 0 && a->rotated != b->rotated)
        return a->rotated ? 1 : -1;
    return order ? order : strcmp(a->id, b->id);
}

static enum hub_status copy_tokens(struct hub_access_table *table, const struct hub_token *tokens,
                                   uint32_t count, struct hub_error *err)
{
    HUB_TRY(hub_new(&table->tokens, count, sizeof *tokens, err));
    HUB_TRY(hub_new(&table->used_ms, count, sizeof *table->used_ms, err));
    HUB_TRY(index_new(&table->by_id, count, err));
    if (count)
        memcpy(table->tokens, tokens, count * sizeof *tokens);
    table->token_count = count;
    qsort(table->tokens, count, sizeof *tokens, by_name);
    for (uint32_t i = 0; i < count; i++) {
        atomic_init(&table->used_ms[i], table->tokens[i].used_ms);
        index_add(&table->by_id, hub_hash(HUB_HASH_START, table->tokens[i].id, HUB_TOKEN_ID), i);
    }
    return HUB_OK;
}

/* Masks of who asks most often, where they do not depend on addresses. */
static enum hub_status keep_masks(struct hub_access_table *table, struct hub_error *err)
{
    if (table->network_count)
        return HUB_OK;
    access_compute_mask(table, &(struct hub_principal){0}, table->anonymous_mask);
    HUB_TRY(hub_new(&table->token_masks, table->token_count, sizeof *table->token_masks, err));
    for (uint32_t i = 0; i < table->token_count; i++)
        access_compute_mask(table, &(struct hub_principal){.token = table->tokens[i].name},
                            table->token_masks[i]);
    return HUB_OK;
}

/* ---- the table ---- */

static enum hub_status compile(struct hub_access_table *table, struct hub_error *err)
{
    HUB_TRY(collect_prefixes(table, err));
    HUB_TRY(place_rules(table, err));
    place_networks(table);
    HUB_TRY(number_classes(table, err));
    return keep_masks(table, err);
}

enum hub_status hub_access_new(const struct hub_access_rule *rules, uint32_t rule_count,
                               const struct hub_token *tokens, uint32_t token_count,
                               struct hub_access_table **out, struct hub_error *err)
{
    struct hub_access_table *table = calloc(1, sizeof *table);
    HUB_TRY(hub_allocated(table, err));
    atomic_init(&table->references, 1);
    enum hub_status st = copy_rules(table, rules, rule_count, err);
    if (!st)
        st = copy_tokens(table, tokens, token_count, err);
    if (!st)
        st = compile(table, err);
    if (st)
        hub_access_put(table);
    else
        *out = table;
    return st;
}

struct hub_access_table *hub_access_get(struct hub_access_table *table)
{
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    return table;
}

void hub_access_put(struct hub_access_table *table)
{
    if (!table || atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) != 1)
        return;
    hub_access_rules_dispose(&table->source);
    free(table->rules);
    free(table->prefixes);
    free(table->networks);
    free(table->by_text.places);
    free(table->by_who.places);
    free(table->by_id.places);
    free(table->tokens);
    free((void *)table->used_ms);
    free(table->token_masks);
    free(table);
}
