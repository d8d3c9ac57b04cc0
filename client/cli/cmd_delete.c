/* delete: datasets from this machine. */
#include "client/cli/cli.h"
#include "storage/base/id.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

/* A dataset, not a namespace full of them: a download of ours, or something with a data folder. */
static int check(const char *root, const char *id)
{
    char path[PATH_MAX];
    struct hub_error err = {0};
    struct stat st;
    if (hub_id_check(hub_view_of(id), &err))
        return cli_error(CLI_USAGE, "%s", cli_clean(err.detail));
    snprintf(path, sizeof path, "%.2000s/%.1100s", root, id);
    if (lstat(path, &st))
        return cli_error(CLI_NOT_FOUND, "'%s' is not among the datasets of '%s'", cli_clean(id),
                         cli_clean(root));
    snprintf(path, sizeof path, "%.2000s/%.1100s/data", root, id);
    if (access(path, F_OK) == 0)
        return CLI_OK;
    snprintf(path, sizeof path, "%.2000s/%.1100s/.minari-hub.json", root, id);
    if (access(path, F_OK) == 0)
        return CLI_OK;
    return cli_error(CLI_NOT_FOUND, "'%s' is no dataset: it has no data folder", cli_clean(id));
}

/* Anything but y or n is asked again; the end of the input is a no. */
static bool ask(const struct cli *cli)
{
    char answer[64];
    for (int i = 0; i < cli->count; i++)
        fprintf(stderr, "  %s\n", cli_clean(cli->arguments[i]));
    while (true) {
        fprintf(stderr, "Delete from '%s'? [y/N]: ", cli_clean(cli_root()));
        fflush(stderr);
        if (!fgets(answer, sizeof answer, stdin))
            return false;
        answer[strcspn(answer, "\n")] = '\0';
        if (!strcasecmp(answer, "y") || !strcasecmp(answer, "yes"))
            return true;
        if (!*answer || !strcasecmp(answer, "n") || !strcasecmp(answer, "no"))
            return false;
        fprintf(stderr, "Error: invalid input\n");
    }
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
    if (!cli->values[OPT_YES] && !ask(cli)) {
        fprintf(stderr, "Aborted.\n");
        return cli_interrupted(NULL) ? CLI_INTERRUPTED : CLI_FAILED;
    }
    for (int i = 0; i < cli->count; i++) {
        if (minari_dataset_delete(root, cli->arguments[i], &err))
            return cli_report(cli, &err);
        if (!cli->values[OPT_JSON])
            printf("Dataset %s deleted!\n", cli_clean(cli->arguments[i]));
    }
    if (cli->values[OPT_JSON])
        printf("{\"deleted\":%d}\n", cli->count);
    return CLI_OK;
}
