/* namespace: what folders of datasets say of themselves, on this machine or on a hub. */
#include "client/cli/list.h"

#include <stdlib.h>

/* ---- list ---- */

static void put(struct hub_json *json, const void *item)
{
    const struct minari_namespace *space = item;
    hub_json_put_text(json, "namespace", space->name);
    if (space->metadata)
        hub_json_put_raw(json, "metadata", hub_view_of(space->metadata));
    hub_json_put_text(json, "problem", space->problem);
}

static bool add(struct text_table *table, const void *item)
{
    const struct minari_namespace *space = item;
    const char *said = space->description ? space->description : space->problem ? space->problem : "";
    return table_add(table, (const char *const[]){space->name, said});
}

static int on_space(const struct minari_namespace *space, void *user)
{
    return cli_list_take(user, space);
}

static int list(struct cli *cli)
{
    struct minari_error err;
    struct cli_list spaces = {.cli = cli,
                              .table = {.title = "Namespaces",
                                        .columns = {{"Namespace", false}, {"Description", false}},
                                        .count = 2},
                              .nothing = "no namespace is there",
                              .put = put,
                              .add = add};
    const enum minari_status st = minari_namespace_each(cli->client, cli_root(), on_space, &spaces, &err);
    return cli_list_end(&spaces, st, &err);
}

/* ---- create, update ---- */

/* As Python Minari writes it: the members of --metadata, then the description, which an update sets to null
 * where none is given. */
static int read_metadata(const struct cli *cli, bool updates, json_t **out)
{
    const char *text = cli->values[OPT_METADATA], *description = cli->values[OPT_DESCRIPTION];
    struct hub_error err = {0};
    *out = NULL;
    if (text && (hub_json_parse(hub_view_of(text), strlen(text), out, &err) || !json_is_object(*out)))
        return cli_error(CLI_USAGE, "--metadata is a JSON object, such as '{\"room\": 12}'");
    if (json_object_get(*out, "description") && description)
        return cli_error(CLI_USAGE,
                         "the description is in --metadata and in --description: give one of them");
    if (!text)
        *out = json_object();
    json_t *said = description ? json_string(description) : json_null();
    if (description && !said)
        return cli_error(CLI_USAGE, "--description is not UTF-8");
    if (!description && (!updates || json_object_get(*out, "description")))
        return CLI_OK;
    return json_object_set_new(*out, "description", said) ? cli_error(CLI_FAILED, "no memory") : CLI_OK;
}

static int print_done(const struct cli *cli, const char *name, const char *what)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    if (!cli->values[OPT_JSON]) {
        cli_note(cli, "%s: %s", cli_clean(name), what);
        return CLI_OK;
    }
    struct hub_json json = hub_json_to(&text, NULL);
    hub_json_object(&json);
    hub_json_put_text(&json, "namespace", name);
    hub_json_put_bool(&json, what, true);
    hub_json_end_object(&json);
    if (hub_json_status(&json))
        return cli_error(CLI_FAILED, "no memory");
    puts(text.data);
    return CLI_OK;
}

static int write_it(struct cli *cli, const char *name, bool updates)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *metadata = NULL;
    struct minari_error err;
    const int code = read_metadata(cli, updates, &metadata);
    if (code)
        return code;
    char *text = json_dumps(metadata, JSON_ENSURE_ASCII);
    if (!text)
        return cli_error(CLI_FAILED, "no memory");
    const enum minari_status st = updates
                                      ? minari_namespace_update(cli->client, cli_root(), name, text, &err)
                                      : minari_namespace_create(cli->client, cli_root(), name, text, &err);
    free(text);
    return st ? cli_report(cli, &err) : print_done(cli, name, updates ? "updated" : "created");
}

static int delete_it(struct cli *cli, const char *name)
{
    struct minari_error err;
    return minari_namespace_delete(cli->client, cli_root(), name, &err) ? cli_report(cli, &err)
                                                                        : print_done(cli, name, "deleted");
}

int cli_namespace(struct cli *cli)
{
    const char *what = cli->arguments[0], *name = cli->count > 1 ? cli->arguments[1] : NULL;
    const bool lists = strcmp(what, "list") == 0, creates = strcmp(what, "create") == 0,
               updates = strcmp(what, "update") == 0, deletes = strcmp(what, "delete") == 0;
    if (!(lists || creates || updates || deletes) || lists == (name != NULL))
        return cli_error(CLI_USAGE, "minari-cli namespace list, or create, update or delete with a NAME");
    if (!(creates || updates) && (cli->values[OPT_DESCRIPTION] || cli->values[OPT_METADATA]))
        return cli_error(CLI_USAGE, "--description and --metadata are for create and update");
    const int code = cli->values[OPT_REMOTE] ? cli_connect(cli, NULL, NULL) : CLI_OK;
    if (code)
        return code;
    return lists ? list(cli) : deletes ? delete_it(cli, name) : write_it(cli, name, updates);
}
