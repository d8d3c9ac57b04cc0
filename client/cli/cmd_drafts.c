/* drafts: datasets that are being pushed to a hub, listed and dropped. */
#include "client/cli/list.h"

#include <inttypes.h>

static void put(struct hub_json *json, const void *item)
{
    const struct minari_draft *d = item;
    hub_json_put_text(json, "draft", d->draft);
    hub_json_put_text(json, "id", d->id);
    hub_json_put_text(json, "state", d->state);
    hub_json_put_uint(json, "files", d->files);
    hub_json_put_uint(json, "complete", d->complete);
    hub_json_put_uint(json, "bytes", d->bytes);
    hub_json_put_text(json, "changed", d->changed);
    hub_json_put_text(json, "ends", d->ends);
}

static bool add(struct text_table *table, const void *item)
{
    const struct minari_draft *d = item;
    char files[64], size[TABLE_NUMBER];
    snprintf(files, sizeof files, "%" PRIu64 " of %" PRIu64, d->complete, d->files);
    hub_number_size(d->bytes, size);
    return table_add(
        table, (const char *const[]){d->draft, d->id, d->state, files, size, d->changed ? d->changed : ""});
}

static int on_draft(const struct minari_draft *draft, void *user)
{
    return cli_list_take(user, draft);
}

static int list(struct cli *cli)
{
    struct minari_error err;
    struct cli_list drafts = {.cli = cli,
                              .table = {.title = "Drafts",
                                        .columns = {{"Draft", false},
                                                    {"ID", false},
                                                    {"State", false},
                                                    {"Files", true},
                                                    {"Size", true},
                                                    {"Changed", false}},
                                        .count = 6},
                              .nothing = "no draft is open",
                              .put = put,
                              .add = add};
    const enum minari_status st = minari_draft_each(cli->client, on_draft, &drafts, &err);
    return cli_list_end(&drafts, st, &err);
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
