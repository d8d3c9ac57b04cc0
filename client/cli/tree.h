/** A listing by namespaces: groups of more than ten become one row, as Minari's own list shows them. */
#ifndef HUB_CLI_TREE_H
#define HUB_CLI_TREE_H

#include "client/cli/table.h"

#include <minari/dataset.h>

enum { TREE_MAX_ROWS = 10 };

/**
 * Rows for datasets into an empty table: columns, rows, rules. Columns Format and Status appear only where
 * something is not Minari's or not ready.
 *
 * @param flat     no groups: every dataset a row, in the order given
 * @param caption  receives the caption's text; it must live as long as the table
 */
HUB_MUST_USE bool tree_fill(struct text_table *table, const struct minari_summary *const *datasets,
                            size_t count, bool flat, char caption[128]);

#endif
