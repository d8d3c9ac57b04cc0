/* get: rows of a field, straight to stdout or a file. */
#include "client/cli/cli.h"
#include "client/cli/slice.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct target {
    FILE *out;
    bool failed;
};

static int on_rows(const void *data, size_t size, void *user)
{
    struct target *t = user;
    t->failed = fwrite(data, 1, size, t->out) != size;
    return t->failed || cli_interrupted(NULL);
}

/* The name's end says the format, as numpy and people expect. */
static const char *format_of(const char *path)
{
    static const struct {
        const char *suffix, *format;
    } known[] = {{".npy", "npy"},    {".npz", "npz"},  {".csv", "csv"},   {".arrow", "arrow"},
                 {".bin", "raw"},    {".raw", "raw"},  {".png", "image"}, {".jpg", "image"},
                 {".jpeg", "image"}, {".json", "json"}};
    for (size_t i = 0; path && i < HUB_COUNT(known); i++)
        if (hub_view_ends(hub_view_of(path), known[i].suffix))
            return known[i].format;
    return "json";
}

static bool is_text(const char *format)
{
    return strcmp(format, "json") == 0 || strcmp(format, "csv") == 0;
}

static int fetch(struct cli *cli, const char *id, uint64_t episode, const struct minari_slice *slice,
                 const char *format, struct target *target)
{
    struct minari_rows_info info = {0};
    struct minari_error err;
    const enum minari_status st = minari_rows_get(cli->client, id, episode, cli->arguments[2], slice, format,
                                                  on_rows, target, &info, &err);
    if (target->failed)
        return errno == EPIPE ? CLI_FAILED
                              : cli_error(errno == ENOSPC ? CLI_NO_SPACE : CLI_FAILED, "writing failed: %s",
                                          strerror(errno));
    if (st) {
        const int code = cli_report(cli, &err);
        if (strcmp(err.problem, "dataset-not-found") == 0)
            cli_offer_new_name(cli, id);
        return code;
    }
    if (info.nonfinite)
        fprintf(stderr, "minari-cli: %llu values are not finite and stand as null; --format npy keeps them\n",
                (unsigned long long)info.nonfinite);
    return CLI_OK;
}

/* Beside its place, then renamed: a file that is there is whole. */
static int into_file(struct cli *cli, const char *id, uint64_t episode, const struct minari_slice *slice,
                     const char *format, const char *path)
{
    char temporary[PATH_MAX];
    if (snprintf(temporary, sizeof temporary, "%s.%d.part", path, (int)getpid()) >= (int)sizeof temporary)
        return cli_error(CLI_USAGE, "the path is too long");
    struct target target = {.out = fopen(temporary, "wxe")};
    if (!target.out)
        return cli_error(errno == EACCES || errno == EPERM ? CLI_NOT_ALLOWED : CLI_FAILED,
                         "'%s' cannot be written: %s", cli_clean(path), strerror(errno));
    int code = fetch(cli, id, episode, slice, format, &target);
    if (fclose(target.out) && !code)
        code = cli_error(errno == ENOSPC ? CLI_NO_SPACE : CLI_FAILED, "'%s' cannot be written: %s",
                         cli_clean(path), strerror(errno));
    if (!code && rename(temporary, path))
        code = cli_error(CLI_FAILED, "'%s' cannot be written: %s", cli_clean(path), strerror(errno));
    if (code)
        (void)unlink(temporary);
    return code;
}

int cli_get(struct cli *cli)
{
    const char *id = cli->arguments[0], *number = cli->arguments[1], *path = cli->values[OPT_OUTPUT];
    const bool to_stdout = !path || strcmp(path, "-") == 0;
    const char *format = cli->values[OPT_FORMAT] ? cli->values[OPT_FORMAT] : format_of(path);
    struct minari_slice slice = {0};
    char *end = NULL;
    const uint64_t episode =
        *number >= '0' && *number <= '9' && strlen(number) < 19 ? strtoull(number, &end, 10) : 0;
    if (!end || *end)
        return cli_error(CLI_USAGE, "'%s' is no episode number", cli_clean(number));
    if (cli->values[OPT_ROWS] && !slice_parse(cli->values[OPT_ROWS], &slice))
        return cli_error(CLI_USAGE, "--rows is A:B, A:B:S or one row, as in Python, not '%s'",
                         cli_clean(cli->values[OPT_ROWS]));
    if (to_stdout && cli->terminal && !is_text(format)) {
        cli_error(CLI_USAGE, "%s is not for a terminal", cli_clean(format));
        fprintf(stderr, "  write it to a file with -o FILE, or to a pipe\n");
        return CLI_USAGE;
    }
    const int code = cli_connect(cli, NULL, &id);
    if (code)
        return code;
    if (!to_stdout)
        return into_file(cli, id, episode, &slice, format, path);
    struct target target = {.out = stdout};
    const int got = fetch(cli, id, episode, &slice, format, &target);
    if (!got && strcmp(format, "json") == 0)
        putchar('\n');
    return got;
}
