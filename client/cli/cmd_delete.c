/* delete: datasets from this machine, or from a hub. */
#include "client/cli/cli.h"
#include "client/cli/table.h"
#include "storage/ids/id.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

struct partial_search {
    const char *id;
    bool found;
};

static int on_partial(const struct minari_partial *p, void *user)
{
    struct partial_search *s = user;
    s->found = s->found || strcmp(p->id, s->id) == 0;
    return 0;
}

static bool has(const char *root, const char *id, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.2000s/%.1100s%s", root, id, name);
    struct stat st;
    return lstat(path, &st) == 0;
}

/* A dataset or an unfinished download, not a namespace full of them. The library makes sure of it again. */
static int check(const char *root, const char *id)
{
    struct hub_error err = {0};
    char folder[CLI_FOLDER];
    struct partial_search search = {.id = cli_folder(id, folder)};
    if (hub_folder_check(hub_view_of(folder), &err))
        return cli_error(CLI_USAGE, "%s", cli_clean(err.detail));
    if (has(root, folder, "/data") || has(root, folder, "/.minari-hub.json"))
        return CLI_OK;
    if (!minari_partial_each(root, on_partial, &search, NULL) && search.found)
        return CLI_OK;
    if (has(root, folder, ""))
        return cli_error(CLI_NOT_FOUND, "'%s' is not a dataset: it has no data folder", cli_clean(id));
    return cli_error(CLI_NOT_FOUND, "'%s' is not among the datasets of '%s'", cli_clean(id), cli_clean(root));
}

static int delete_here(struct cli *cli)
{
    const char *root = cli_root();
    struct minari_error err;
    for (int i = 0; i < cli->count; i++) {
        const int code = check(root, cli->arguments[i]);
        if (code)
            return code; /* nothing is deleted unless all are there */
    }
    for (int i = 0; !cli->values[OPT_YES] && i < cli->count; i++)
        fprintf(stderr, "  %s\n", cli_clean(cli->arguments[i]));
    if (!cli->values[OPT_YES] && !cli_confirm("Delete from '%s'?", cli_clean(root)))
        return cli_interrupted(NULL) ? CLI_INTERRUPTED : CLI_FAILED;
    for (int i = 0; i < cli->count; i++) {
        if (minari_dataset_delete(root, cli->arguments[i], &err))
            return cli_report(cli, &err);
        if (!cli->values[OPT_JSON] && !cli->values[OPT_QUIET])
            printf("Dataset %s deleted!\n", cli_clean(cli->arguments[i]));
    }
    if (cli->values[OPT_JSON])
        printf("{\"deleted\":%d}\n", cli->count);
    return CLI_OK;
}

/* ---- from a hub ---- */

/* What is there of an id before it is deleted. */
struct on_hub {
    char id[CLI_ID], commit[48];
    uint64_t files, bytes;
};

static int on_revision(const struct minari_revision *revision, void *user)
{
    struct on_hub *item = user;
    if (strcmp(revision->state, "current") != 0)
        return 0;
    snprintf(item->commit, sizeof item->commit, "%s", revision->commit);
    item->files = revision->files;
    item->bytes = revision->bytes;
    return 0;
}

static int find_on_hub(struct cli *cli, const char *argument, struct on_hub *out)
{
    struct minari_error err;
    const char *id = argument;
    const int code = cli_connect(cli, NULL, &id);
    if (code)
        return code;
    snprintf(out->id, sizeof out->id, "%s", id);
    cli->subject = out->id;
    if (minari_revision_each(cli->client, out->id, on_revision, out, &err))
        return cli_report(cli, &err);
    return *out->commit ? CLI_OK
                        : cli_fail(cli, MINARI_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                                   "'%s' was deleted from %s already", cli_clean(id), cli->remote.text);
}

static bool agrees(const struct cli *cli, const struct on_hub *items)
{
    char size[TABLE_NUMBER];
    if (cli->values[OPT_YES])
        return true;
    for (int i = 0; i < cli->count; i++) {
        hub_number_size(items[i].bytes, size);
        fprintf(stderr, "  %s: %s in %" PRIu64 " file%s\n", cli_clean(items[i].id), size, items[i].files,
                items[i].files == 1 ? "" : "s");
    }
    return cli_confirm("Delete from %s?", cli->remote.text);
}

static void report_deleted(const struct cli *cli, const struct on_hub *item)
{
    if (cli->values[OPT_JSON] || cli->values[OPT_QUIET])
        return;
    printf("Dataset %s deleted from %s!\n", cli_clean(item->id), cli->remote.text);
    cli_note(cli, "  to have it back: minari-cli revert %s --revision %.10s", cli_clean(item->id),
             cli_clean(item->commit));
}

static void print_json(const struct on_hub *items, int count)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(16 * MIB);
    for (int i = 0; i < count; i++) {
        struct hub_json json = cli_json_item(&list);
        hub_json_put_text(&json, "id", items[i].id);
        hub_json_put_text(&json, "revision", items[i].commit);
        hub_json_end_object(&json);
    }
    printf("{\"deleted\":%d,\"items\":[%s]}\n", count, list.size ? list.data : "");
}

static int delete_all(struct cli *cli, struct on_hub *items)
{
    struct minari_error err;
    for (int i = 0; i < cli->count; i++) {
        const int code = find_on_hub(cli, cli->arguments[i], &items[i]);
        if (code)
            return code; /* nothing is deleted unless all are there */
    }
    if (!agrees(cli, items))
        return cli_interrupted(NULL) ? CLI_INTERRUPTED : CLI_FAILED;
    for (int i = 0; i < cli->count; i++) {
        cli->subject = items[i].id;
        if (minari_dataset_remove(cli->client, items[i].id, &err))
            return cli_report(cli, &err);
        report_deleted(cli, &items[i]);
    }
    if (cli->values[OPT_JSON])
        print_json(items, cli->count);
    return CLI_OK;
}

static int delete_there(struct cli *cli)
{
    struct on_hub *items = calloc((size_t)cli->count, sizeof *items);
    const int code = items ? delete_all(cli, items) : cli_error(CLI_FAILED, "no memory");
    cli->subject = NULL;
    free(items);
    return code;
}

int cli_delete(struct cli *cli)
{
    const bool is_url = strstr(cli->arguments[0], "://");
    if (is_url && cli->count > 1)
        return cli_error(CLI_USAGE, "a URL is deleted alone: name the hub by --remote, and IDs of it");
    if (is_url && cli->values[OPT_REMOTE] && !*cli->values[OPT_REMOTE])
        cli->values[OPT_REMOTE] = NULL;
    return is_url || cli->values[OPT_REMOTE] ? delete_there(cli) : delete_here(cli);
}
