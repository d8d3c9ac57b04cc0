/* See list.h. */
#include "client/cli/list.h"

#define ITEMS_BYTES (64 * MIB)

static bool is_full(const struct cli_list *list)
{
    return list->limit && list->count == list->limit;
}

static bool add_json(struct cli_list *list, const void *item)
{
    list->json.limit = ITEMS_BYTES;
    struct hub_json json = cli_json_item(&list->json);
    list->put(&json, item);
    hub_json_end_object(&json);
    return !hub_json_status(&json);
}

int cli_list_take(struct cli_list *list, const void *item)
{
    if (!(list->cli->values[OPT_JSON] ? add_json(list, item) : list->add(&list->table, item)))
        list->no_memory = true;
    list->count++;
    return list->no_memory || is_full(list);
}

static void print(struct cli_list *list)
{
    if (list->cli->values[OPT_JSON])
        printf("{\"items\":[%s%s]}\n", list->json.size ? "\n" : "", list->json.size ? list->json.data : "");
    else if (list->count || !list->nothing)
        table_print(&list->table, stdout, list->cli->terminal, list->cli->colour);
    else
        cli_note(list->cli, "%s", list->nothing);
}

int cli_list_end(struct cli_list *list, enum minari_status st, const struct minari_error *err)
{
    int code = CLI_OK;
    if (list->no_memory)
        code = cli_error(CLI_FAILED, "no memory for a list");
    else if (st && !(st == MINARI_CANCELLED && is_full(list)))
        code = cli_report(list->cli, err);
    else
        print(list);
    table_dispose(&list->table);
    hub_buf_dispose(&list->json);
    return code;
}
