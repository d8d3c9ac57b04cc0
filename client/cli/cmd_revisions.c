/* revisions, revert: what was pushed to a hub under an id, listed and had back. */
#include "client/cli/cli.h"
#include "client/cli/table.h"

#include <inttypes.h>

enum { SHORT_COMMIT = 10 };

struct revisions {
    struct text_table table;
    struct hub_buf json; /* the items of --json */
    bool as_json, no_memory;
};

/* ---- the list ---- */

static void put_if_set(struct hub_json *json, const char *key, const char *text)
{
    if (text)
        hub_json_put_text(json, key, text);
}

static bool add_json(struct hub_buf *list, const struct minari_revision *r)
{
    struct hub_json json = cli_json_item(list);
    hub_json_put_text(&json, "commit", r->commit);
    put_if_set(&json, "parent", r->parent);
    hub_json_put_text(&json, "kind", r->kind);
    put_if_set(&json, "content", r->content);
    hub_json_put_text(&json, "at", r->at);
    hub_json_put_text(&json, "who", r->who);
    put_if_set(&json, "message", r->message);
    hub_json_put_text(&json, "state", r->state);
    hub_json_put_uint(&json, "files", r->files);
    hub_json_put_uint(&json, "bytes", r->bytes);
    hub_json_end_object(&json);
    return !hub_json_status(&json);
}

static bool add_row(struct text_table *table, const struct minari_revision *r)
{
    char commit[SHORT_COMMIT + 1], files[TABLE_NUMBER], size[TABLE_NUMBER];
    const bool deleted = strcmp(r->kind, "delete") == 0;
    snprintf(commit, sizeof commit, "%.*s", SHORT_COMMIT, r->commit);
    snprintf(files, sizeof files, "%" PRIu64, r->files);
    hub_number_size(r->bytes, size);
    return table_add(table, (const char *const[]){commit, deleted ? "deleted" : r->state, r->at, r->who,
                                                  deleted ? "" : files, deleted ? "" : size,
                                                  r->message ? r->message : ""});
}

static int on_revision(const struct minari_revision *revision, void *user)
{
    struct revisions *r = user;
    if (!(r->as_json ? add_json(&r->json, revision) : add_row(&r->table, revision)))
        r->no_memory = true;
    return r->no_memory;
}

static int list(struct cli *cli, const char *id)
{
    struct minari_error err;
    struct revisions r = {.table = {.title = "Revisions",
                                    .columns = {{"Commit", false},
                                                {"State", false},
                                                {"When", false},
                                                {"Who", false},
                                                {"Files", true},
                                                {"Size", true},
                                                {"Message", false}},
                                    .count = 7},
                          .json = HUB_BUF_INIT(64 * MIB),
                          .as_json = cli->values[OPT_JSON]};
    int code = CLI_OK;
    if (minari_revision_each(cli->client, id, on_revision, &r, &err))
        code = r.no_memory ? cli_error(CLI_FAILED, "no memory for a list") : cli_report(cli, &err);
    else if (r.as_json)
        printf("{\"items\":[%s%s]}\n", r.json.size ? "\n" : "", r.json.size ? r.json.data : "");
    else
        table_print(&r.table, stdout, cli->terminal, cli->colour);
    table_dispose(&r.table);
    hub_buf_dispose(&r.json);
    return code;
}

int cli_revisions(struct cli *cli)
{
    const char *id = cli->arguments[0];
    const int code = cli_connect(cli, NULL, &id);
    return code ? code : list(cli, id);
}

/* ---- one of them is had back ---- */

static void print_json(const struct minari_upload *done)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    struct hub_json json = hub_json_to(&text, NULL);
    hub_json_object(&json);
    hub_json_put_text(&json, "id", done->id);
    hub_json_put_text(&json, "commit", done->commit);
    put_if_set(&json, "base", done->base);
    put_if_set(&json, "content", done->content);
    hub_json_put_uint(&json, "files", done->files);
    hub_json_put_uint(&json, "bytes", done->bytes);
    hub_json_end_object(&json);
    if (!hub_json_status(&json))
        printf("%s\n", text.data);
}

static void on_done(const struct minari_upload *done, void *user)
{
    const struct cli *cli = user;
    char size[TABLE_NUMBER];
    if (cli->values[OPT_JSON]) {
        print_json(done);
        return;
    }
    if (cli->values[OPT_QUIET])
        return;
    hub_number_size(done->bytes, size);
    printf("%s: %s in %" PRIu64 " file%s, as of %.10s, commit %s\n  %s/%s\n", cli_clean(done->id), size,
           done->files, done->files == 1 ? "" : "s", cli_clean(cli->values[OPT_REVISION]),
           cli_clean(done->commit), cli->remote.text, cli_clean(done->id));
}

int cli_revert(struct cli *cli)
{
    struct minari_error err;
    const char *id = cli->arguments[0];
    if (!cli->values[OPT_REVISION]) {
        cli_error(CLI_USAGE, "--revision COMMIT is missing: it says which one to have back");
        cli_hint("minari-cli revisions %s lists them", cli_clean(id));
        return CLI_USAGE;
    }
    const int code = cli_connect(cli, NULL, &id);
    if (code)
        return code;
    return minari_dataset_revert(cli->client, id, cli->values[OPT_REVISION], cli->values[OPT_MESSAGE],
                                 on_done, cli, &err)
               ? cli_report(cli, &err)
               : CLI_OK;
}
