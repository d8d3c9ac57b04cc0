/** Tables as Minari's own command line shows them, and numbers as it writes them. */
#ifndef HUB_CLI_TABLE_H
#define HUB_CLI_TABLE_H

#include "storage/base/buf.h"
#include "storage/text/number.h"

#include <stdio.h>

enum { TABLE_COLUMNS = 10, TABLE_NUMBER = 32 };

/** "999", "1K", "7K", "1000K", "1M": no decimals, halves to even. */
void table_number(uint64_t n, char out[TABLE_NUMBER]);

struct text_table {
    const char *title, *caption; /* NULL: none */
    struct {
        const char *name;
        bool right;
    } columns[TABLE_COLUMNS];
    unsigned count;
    struct table_row {
        char *cells[TABLE_COLUMNS]; /* all NULL: a rule */
    } * rows;
    uint32_t row_count, capacity;
};

/** Append a row of `count` texts (copied, made safe for terminals), or NULL for a rule. */
HUB_MUST_USE bool table_add(struct text_table *table, const char *const *texts);

/**
 * On a terminal: with lines, title and caption. Else: aligned columns only; title and caption go to stderr.
 */
void table_print(const struct text_table *table, FILE *out, bool terminal, bool colour);
void table_dispose(struct text_table *table);

#endif
