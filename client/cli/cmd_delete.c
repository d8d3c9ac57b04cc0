/* delete: datasets from this machine. */
#include "client/cli/cli.h"
#include "storage/ids/id.h"

#include <limits.h>
#include <sys/stat.h>

struct search {
    const char *id;
    bool found;
};

static int on_partial(const struct minari_partial *p, void *user)
{
    struct search *s = user;
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
    struct search search = {.id = cli_folder(id, folder)};
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

int cli_delete(struct cli *cli)
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
