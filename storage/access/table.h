/** What a compiled table of access rules is made of; see access.h. */
#ifndef HUB_ACCESS_TABLE_H
#define HUB_ACCESS_TABLE_H

#include "storage/access/access.h"

#include <stdatomic.h>

#define NO_INDEX UINT32_MAX

/** A rule, with its WHO taken apart. */
struct access_rule {
    const struct hub_access_rule *rule;
    struct hub_who_parts who;
    uint64_t hash; /* of its kind and name */
    uint32_t prefix;
};

enum { ACCESS_PARTS = 3 };

/**
 * A prefix that rules have, sorted by length. A folder whose own name, the id of loose files in it, also
 * matches rules of that name has a joint behind all prefixes, which stands for that one id.
 */
struct access_prefix {
    struct hub_view text;          /* of a joint: the id */
    uint32_t above;                /* the longest other prefix that its ids match; NO_INDEX: none */
    uint32_t everybody, signed_in; /* the rules of these; NO_INDEX: none */
    uint32_t first_network, network_count;
    uint32_t class_number;
    uint32_t joint;               /* of a folder; NO_INDEX: none */
    uint32_t parts[ACCESS_PARTS]; /* of a joint: its prefixes, the longest first; NO_INDEX: none */
    bool hides;                   /* a rule here or above says `none` */
};

/** Numbers by hash: open addressing with a power of two of places. */
struct access_index {
    uint32_t *places; /* NO_INDEX: free */
    uint32_t size;
};

struct hub_access_table {
    atomic_uint references;
    struct hub_access_rules source; /* sorted by prefix, then WHO; each pair once */
    struct access_rule *rules;      /* in the order of `source` */
    struct access_prefix *prefixes;
    uint32_t prefix_count, node_count; /* joints are counted as nodes alone */
    uint32_t class_count;
    uint32_t *networks; /* numbers of rules: those of a prefix together, the smallest network first */
    uint32_t network_count;
    struct access_index by_text; /* prefixes */
    struct access_index by_who;  /* rules of tokens, users and groups */
    struct hub_token *tokens;    /* sorted by name */
    uint32_t token_count;
    struct access_index by_id; /* tokens */
    atomic_int_least64_t *used_ms;
    uint64_t (*token_masks)[HUB_ACCESS_MASK_WORDS]; /* NULL where networks have a say */
    uint64_t anonymous_mask[HUB_ACCESS_MASK_WORDS];
    bool hides, has_link_key;
    uint8_t link_key[HUB_LINK_KEY];
};

static inline uint64_t access_who_hash(enum hub_who kind, struct hub_view name)
{
    return hub_hash(hub_hash_word(HUB_HASH_START, kind), name.data, name.size);
}

static inline uint32_t access_place(const struct access_index *index, uint64_t hash)
{
    return (uint32_t)(hash ^ hash >> 29) & (index->size - 1);
}

/** The prefix with this text, whose hash is that of its bytes; NO_INDEX: none. */
uint32_t access_find_text(const struct hub_access_table *table, struct hub_view text, uint64_t hash);
/** The prefix that is an id and a slash; `hash` is the id's. NO_INDEX: none. */
uint32_t access_find_folder(const struct hub_access_table *table, struct hub_view id, uint64_t hash);
/** The prefixes that the id of the loose files in a folder matches, and the folder that it lies in. */
void access_find_parts(const struct hub_access_table *table, uint32_t folder, uint32_t parts[ACCESS_PARTS],
                       uint32_t *above);
/** The longest prefix that an id matches, or the joint of several that do; NO_INDEX: none. */
uint32_t access_find_prefix(const struct hub_access_table *table, struct hub_view id);
/** Computes a mask without what was kept. */
void access_compute_mask(const struct hub_access_table *table, const struct hub_principal *principal,
                         uint64_t mask[HUB_ACCESS_MASK_WORDS]);

#endif
