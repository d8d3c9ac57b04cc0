/** Lists of the library's items: a table, or the items of --json. */
#ifndef HUB_CLI_LIST_H
#define HUB_CLI_LIST_H

#include "client/cli/cli.h"
#include "client/cli/table.h"

/** Set the first group, hand it each item, end it. */
struct cli_list {
    struct cli *cli;
    struct text_table table; /* its title and columns */
    const char *nothing; /* what is said where there are no items; NULL: the table without rows is shown */
    uint64_t limit;      /* the first so many items; 0: all */
    void (*put)(struct hub_json *json, const void *item); /* members of its object */
    bool (*add)(struct text_table *table, const void *item);

    struct hub_buf json;
    uint64_t count;
    bool no_memory;
};

/** Take an item. Non-zero, which the library is given: no more of them. */
int cli_list_take(struct cli_list *list, const void *item);
/** Print what was taken, or why the library failed. The exit code. */
int cli_list_end(struct cli_list *list, enum minari_status st, const struct minari_error *err);

#endif
