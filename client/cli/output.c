/* Output of answers: see output.h. */
#include "client/cli/output.h"

#include "storage/base/representations.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct target {
    const struct cli *cli;
    FILE *out;
    const char *path; /* NULL: stdout */
    struct minari_rows_info info;
    bool text, began, failed, misnamed;
    char last; /* that was written */
};

/* A name that promises one kind of picture is not given to another. */
static bool is_misnamed(const char *path, const char *media_type)
{
    static const struct {
        const char *suffix, *type;
    } pictures[] = {{".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}};
    for (size_t i = 0; path && i < HUB_COUNT(pictures); i++)
        if (hub_view_ends(hub_view_of(path), pictures[i].suffix))
            return strcmp(media_type, pictures[i].type) != 0;
    return false;
}

static int on_rows(const void *data, size_t size, void *user)
{
    struct target *t = user;
    t->misnamed = !t->began && is_misnamed(t->path, t->info.media_type);
    t->began = true;
    if (t->misnamed)
        return 1;
    t->last = size ? ((const char *)data)[size - 1] : t->last;
    if (!t->path && t->text)
        cli_put(t->cli, data, size);
    else
        t->failed = fwrite(data, 1, size, t->out) != size;
    return t->failed || cli_interrupted(NULL);
}

const char *output_path(const struct cli *cli)
{
    const char *path = cli->values[OPT_OUTPUT];
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Of suffixes with a blank between them. */
static bool ends_with_one(const char *path, const char *suffixes)
{
    const char *dot = strrchr(path, '.');
    for (const char *at = suffixes; dot && *at; at += strcspn(at, " "), at += *at == ' ') {
        const size_t size = strcspn(at, " ");
        if (strlen(dot) == size && memcmp(dot, at, size) == 0)
            return true;
    }
    return false;
}

const char *output_format(const struct cli *cli, const char *otherwise)
{
#define FORMAT(name, type, writer, suffixes) {#name, suffixes},
    static const struct {
        const char *name, *suffixes;
    } known[] = {HUB_REPRESENTATIONS(FORMAT)};
    const char *path = output_path(cli);
    if (cli->values[OPT_FORMAT])
        return cli->values[OPT_FORMAT];
    for (size_t i = 0; path && i < HUB_COUNT(known); i++)
        if (ends_with_one(path, known[i].suffixes))
            return known[i].name;
    return otherwise;
}

bool output_fits(const struct cli *cli, const char *path, bool text, const char *format)
{
    if (path || !cli->terminal || text)
        return true;
    cli_error(CLI_USAGE, "%s is binary: it is not written to a terminal", cli_clean(format));
    cli_hint("write it to a file with -o FILE, or to a pipe");
    return false;
}

static int misnamed(const struct target *target)
{
    const char *type = target->info.media_type;
    const char *suffix = strcmp(type, "image/jpeg") == 0  ? ".jpg"
                         : strcmp(type, "image/png") == 0 ? ".png"
                                                          : NULL;
    cli_error(CLI_USAGE, "'%s' is not the name of such a file: the rows come as %s", cli_clean(target->path),
              cli_clean(type));
    if (suffix)
        cli_hint("give it a name that ends in %s", suffix);
    return CLI_USAGE;
}

static int run(struct cli *cli, struct target *target, output_fetch *fetch, void *user)
{
    struct minari_error err;
    target->cli = cli;
    const enum minari_status st = fetch(cli, on_rows, target, &target->info, user, &err);
    if (target->misnamed)
        return misnamed(target);
    if (target->failed)
        return errno == EPIPE ? CLI_FAILED
                              : cli_error(errno == ENOSPC ? CLI_NO_SPACE : CLI_FAILED, "writing failed: %s",
                                          strerror(errno));
    if (st)
        return cli_report(cli, &err);
    if (target->info.nonfinite)
        cli_note(cli, "%llu values are not finite and are written as null; --format npy keeps them",
                 (unsigned long long)target->info.nonfinite);
    return CLI_OK;
}

/* Beside its place, then renamed: a file that is there is whole. */
static int into_file(struct cli *cli, struct target *target, output_fetch *fetch, void *user)
{
    char temporary[PATH_MAX];
    const char *path = target->path;
    if (snprintf(temporary, sizeof temporary, "%s.%d.part", path, (int)getpid()) >= (int)sizeof temporary)
        return cli_error(CLI_USAGE, "the path is too long");
    target->out = fopen(temporary, "wxe");
    if (!target->out)
        return cli_error(errno == EACCES || errno == EPERM ? CLI_NOT_ALLOWED : CLI_FAILED,
                         "'%s' cannot be written: %s", cli_clean(path), strerror(errno));
    int code = run(cli, target, fetch, user);
    if (fclose(target->out) && !code)
        code = cli_error(errno == ENOSPC ? CLI_NO_SPACE : CLI_FAILED, "'%s' cannot be written: %s",
                         cli_clean(path), strerror(errno));
    if (!code && rename(temporary, path))
        code = cli_error(CLI_FAILED, "'%s' cannot be written: %s", cli_clean(path), strerror(errno));
    if (code)
        (void)unlink(temporary);
    return code;
}

int output_save(struct cli *cli, const char *path, bool text, output_fetch *fetch, void *user)
{
    struct target target = {.path = path, .text = text};
    if (path)
        return into_file(cli, &target, fetch, user);
    target.out = stdout;
    const int code = run(cli, &target, fetch, user);
    if (!code && text && target.last != '\n')
        putchar('\n');
    return code;
}
