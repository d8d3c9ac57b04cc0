/* revisions, revert: what was pushed to a hub under an id, listed and had back. */
#include "client/cli/list.h"

#include <inttypes.h>

enum { SHORT_COMMIT = 10 };

/* ---- the list ---- */

static void put_if_set(struct hub_json *json, const char *key, const char *text)
{
    if (text)
        hub_json_put_text(json, key, text);
}

static void put_changes(struct hub_json *json, const struct minari_revision *r)
{
    if (r->files_added >= 0) {
        hub_json_put_object(json, "changes");
        hub_json_put_int(json, "added", r->files_added);
        hub_json_put_int(json, "changed", r->files_changed);
        hub_json_put_int(json, "removed", r->files_removed);
        hub_json_end_object(json);
    }
    if (r->episodes >= 0)
        hub_json_put_int(json, "episodes", r->episodes);
    if (r->episodes_before >= 0)
        hub_json_put_int(json, "episodes_before", r->episodes_before);
}

static void put(struct hub_json *json, const void *item)
{
    const struct minari_revision *r = item;
    hub_json_put_text(json, "commit", r->commit);
    put_if_set(json, "parent", r->parent);
    hub_json_put_text(json, "kind", r->kind);
    put_if_set(json, "content", r->content);
    hub_json_put_text(json, "at", r->at);
    hub_json_put_text(json, "who", r->who);
    put_if_set(json, "message", r->message);
    hub_json_put_text(json, "state", r->state);
    hub_json_put_uint(json, "files", r->files);
    hub_json_put_uint(json, "bytes", r->bytes);
    put_changes(json, r);
}

/* "+1 ~2 -3": files that came, changed and went; "25 -> 30": episodes. */
static void write_changes(const struct minari_revision *r, char files[64], char episodes[64])
{
    files[0] = episodes[0] = '\0';
    if (r->files_added >= 0)
        snprintf(files, 64, "+%" PRId64 " ~%" PRId64 " -%" PRId64, r->files_added, r->files_changed,
                 r->files_removed);
    if (r->episodes >= 0 && r->episodes_before >= 0 && r->episodes != r->episodes_before)
        snprintf(episodes, 64, "%" PRId64 " -> %" PRId64, r->episodes_before, r->episodes);
    else if (r->episodes >= 0)
        snprintf(episodes, 64, "%" PRId64, r->episodes);
}

static bool add(struct text_table *table, const void *item)
{
    const struct minari_revision *r = item;
    char commit[SHORT_COMMIT + 1], files[TABLE_NUMBER], size[TABLE_NUMBER], changes[64], episodes[64];
    write_changes(r, changes, episodes);
    const bool deleted = strcmp(r->kind, "delete") == 0;
    snprintf(commit, sizeof commit, "%.*s", SHORT_COMMIT, r->commit);
    snprintf(files, sizeof files, "%" PRIu64, r->files);
    hub_number_size(r->bytes, size);
    return table_add(table, (const char *const[]){commit, deleted ? "deleted" : r->state, r->at, r->who,
                                                  deleted ? "" : files, changes, episodes,
                                                  deleted ? "" : size, r->message ? r->message : ""});
}

static int on_revision(const struct minari_revision *revision, void *user)
{
    return cli_list_take(user, revision);
}

static int list(struct cli *cli, const char *id, uint64_t limit)
{
    struct minari_error err;
    struct cli_list revisions = {.cli = cli,
                                 .table = {.title = "Revisions",
                                           .columns = {{"Commit", false},
                                                       {"State", false},
                                                       {"When", false},
                                                       {"Who", false},
                                                       {"Files", true},
                                                       {"Changes", true},
                                                       {"Episodes", true},
                                                       {"Size", true},
                                                       {"Message", false}},
                                           .count = 9},
                                 .limit = limit,
                                 .put = put,
                                 .add = add};
    const enum minari_status st = minari_revision_each(cli->client, id, on_revision, &revisions, &err);
    return cli_list_end(&revisions, st, &err);
}

int cli_revisions(struct cli *cli)
{
    const char *id = cli->arguments[0];
    uint64_t limit = 0;
    if (!cli_number(cli, OPT_LIMIT, &limit))
        return CLI_USAGE;
    const int code = cli_connect(cli, NULL, &id);
    return code ? code : list(cli, id, limit);
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
