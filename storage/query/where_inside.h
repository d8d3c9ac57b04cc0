/** A parsed `where`: tests, joined by a binary tree in one array. */
#ifndef HUB_QUERY_WHERE_INSIDE_H
#define HUB_QUERY_WHERE_INSIDE_H

#include "storage/query/where.h"

enum { HUB_WHERE_NODES = 2 * HUB_WHERE_TESTS, HUB_WHERE_VALUES = HUB_WHERE_BYTES / 2 };

struct hub_where_node {
    enum { HUB_WHERE_OR, HUB_WHERE_AND, HUB_WHERE_TEST } kind;
    bool negated;
    uint16_t left, right; /* nodes; of a test: which one, and nothing */
};

struct hub_where_test {
    struct hub_property name;
    enum {
        HUB_TEST_EQUAL,
        HUB_TEST_UNEQUAL,
        HUB_TEST_LESS,
        HUB_TEST_AT_MOST,
        HUB_TEST_GREATER,
        HUB_TEST_AT_LEAST,
        HUB_TEST_NULL
    } op;                  /* "in" is = with several values */
    uint16_t first, count; /* among values */
};

struct hub_where {
    char text[HUB_WHERE_BYTES]; /* what texts and names point into, quotes undone */
    struct hub_where_node nodes[HUB_WHERE_NODES];
    struct hub_where_test tests[HUB_WHERE_TESTS];
    struct hub_value values[HUB_WHERE_VALUES];
    uint16_t root, node_count, test_count, value_count;
};

#endif
