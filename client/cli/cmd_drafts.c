/* drafts: datasets that are being pushed to a hub, listed and dropped. */
#include "client/cli/cli.h"
#include "client/cli/table.h"

#include <inttypes.h>

struct drafts {
    struct text_table table;
    struct hub_buf json; /* the items of --json */
    bool as_json, no_memory;
};

static bool add_json(struct hub_buf *list, const struct minari_draft *d)
{
    struct hub_json json = cli_json_item(list);
    hub_json_put_text(&json, "draft", d->draft);
    hub_json_put_text(&json, "id", d->id);
    hub_json_put_text(&json, "state", d->state);
    hub_json_put_uint(&json, "files", d->files);
    hub_json_put_uint(&json, "complete", d->complete);
    hub_json_put_uint(&json, "bytes", d->bytes);
    hub_json_put_text(&json, "changed", d->changed);
    hub_json_put_text(&json, "ends", d->ends);
    hub_json_end_object(&json);
    return !hub_json_status(&json);
}

static bool add_row(struct text_table *table, const struct minari_draft *d)
{
    char files[64], size[TABLE_NUMBER];
    snprintf(files, sizeof files, "%" PRIu64 " of %" PRIu64, d->complete, d->files);
    hub_number_size(d->bytes, size);
    return table_add(
        table, (const char *const[]){d->draft, d->id, d->state, files, size, d->changed ? d->changed : ""});
}

static int on_draft(const struct minari_draft *draft, void *user)
{
    struct drafts *d = user;
    if (!(d->as_json ? add_json(&d->json, draft) : add_row(&d->table, draft)))
        d->no_memory = true;
    return d->no_memory;
}

static int list(struct cli *cli)
{
    struct minari_error err;
    struct drafts d = {.table = {.title = "Drafts",
                                 .columns = {{"Draft", false},
                                             {"ID", false},
                                             {"State", false},
                                             {"Files", true},
                                             {"Size", true},
                                             {"Changed", false}},
                                 .count = 6},
                       .json = HUB_BUF_INIT(64 * MIB),
                       .as_json = cli->values[OPT_JSON]};
    int code = CLI_OK;
    if (minari_draft_each(cli->client, on_draft, &d, &err))
        code = d.no_memory ? cli_error(CLI_FAILED, "no memory for a list") : cli_report(cli, &err);
    else if (d.as_json)
        printf("{\"items\":[%s%s]}\n", d.json.size ? "\n" : "", d.json.size ? d.json.data : "");
    else if (d.table.row_count)
        table_print(&d.table, stdout, cli->terminal, cli->colour);
    else
        cli_note(cli, "no draft is open");
    table_dispose(&d.table);
    hub_buf_dispose(&d.json);
    return code;
}

static int drop(struct cli *cli, const char *draft)
{
    struct minari_error err;
    if (minari_draft_drop(cli->client, draft, &err))
        return cli_report(cli, &err);
    cli_note(cli, "%s: dropped", cli_clean(draft));
    return CLI_OK;
}

int cli_drafts(struct cli *cli)
{
    const bool drops = cli->count > 1 && strcmp(cli->arguments[0], "drop") == 0;
    if (cli->count && !drops)
        return cli_error(CLI_USAGE, "minari-cli drafts lists them, minari-cli drafts drop DRAFT drops one");
    int code = cli_connect(cli, NULL, NULL);
    if (!code && !drops)
        code = list(cli);
    for (int i = 1; !code && i < cli->count; i++)
        code = drop(cli, cli->arguments[i]);
    return code;
}
