/* get: rows of a field, what a camera saw, or all files as a tar, straight to stdout or a file. */
#include "client/cli/cli.h"
#include "client/cli/slice.h"
#include "storage/base/representations.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

struct target {
    const struct cli *cli;
    FILE *out;
    const char *path; /* NULL: stdout */
    const struct minari_rows_info *info;
    bool text, began, failed, misnamed;
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
    t->misnamed = !t->began && is_misnamed(t->path, t->info->media_type);
    t->began = true;
    if (t->misnamed)
        return 1;
    if (!t->path && t->text)
        cli_put(t->cli, data, size);
    else
        t->failed = fwrite(data, 1, size, t->out) != size;
    return t->failed || cli_interrupted(NULL);
}

#define MEDIA "~media/"

/* "ID archive.tar" */
static bool is_archive(const struct cli *cli)
{
    return cli->count == 2 && strcmp(cli->arguments[1], "archive.tar") == 0;
}

/* The camera of "~media/front" or "~media/front.mp4"; NULL: a field is named. */
static const char *camera_of(const struct cli *cli, char out[512])
{
    const char *name = is_archive(cli) ? "" : cli->arguments[2];
    if (strncmp(name, MEDIA, strlen(MEDIA)) != 0)
        return NULL;
    name += strlen(MEDIA);
    snprintf(out, 512, "%.*s", (int)(strlen(name) - 4 * hub_view_ends(hub_view_of(name), ".mp4")), name);
    return out;
}

/* Of suffixes with a blank between them. */
static bool ends_with_one(const char *path, const char *suffixes)
{
    const char *dot = strrchr(path, '.');
    const char *at = dot ? strstr(suffixes, dot) : NULL;
    return at && (at[strlen(dot)] == ' ' || !at[strlen(dot)]);
}

/* The name's end says the format, as numpy and people expect. */
static const char *format_of(const char *path, int fields)
{
#define FORMAT(name, type, writer, suffixes) {#name, suffixes},
    static const struct {
        const char *name, *suffixes;
    } known[] = {HUB_REPRESENTATIONS(FORMAT)};
    for (size_t i = 0; path && i < HUB_COUNT(known); i++)
        if (ends_with_one(path, known[i].suffixes))
            return known[i].name;
    return path && fields > 1 ? "npz" : "json";
}

static int fetch(struct cli *cli, const char *id, uint64_t episode, const struct minari_slice *slice,
                 const char *format, struct target *target)
{
    struct minari_rows_info info = {0};
    struct minari_error err;
    target->cli = cli;
    target->info = &info;
    target->text = strcmp(format, "json") == 0;
    char name[512];
    const char *camera = camera_of(cli, name);
    const enum minari_status st =
        is_archive(cli) ? minari_archive_get(cli->client, id, on_rows, target, &info, &err)
        : camera ? minari_media_get(cli->client, id, episode, camera, slice, on_rows, target, &info, &err)
                 : minari_fields_get(cli->client, id, episode, cli->arguments + 2, (size_t)cli->count - 2,
                                     slice, format, on_rows, target, &info, &err);
    if (target->misnamed) {
        const char *suffix = strcmp(info.media_type, "image/jpeg") == 0  ? ".jpg"
                             : strcmp(info.media_type, "image/png") == 0 ? ".png"
                                                                         : NULL;
        cli_error(CLI_USAGE, "'%s' is not the name of such a file: the rows come as %s",
                  cli_clean(target->path), cli_clean(info.media_type));
        if (suffix)
            cli_hint("give it a name that ends in %s", suffix);
        return CLI_USAGE;
    }
    if (target->failed)
        return errno == EPIPE ? CLI_FAILED
                              : cli_error(errno == ENOSPC ? CLI_NO_SPACE : CLI_FAILED, "writing failed: %s",
                                          strerror(errno));
    if (st)
        return cli_report(cli, &err);
    if (info.nonfinite)
        cli_note(cli, "%llu values are not finite and are written as null; --format npy keeps them",
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
    struct target target = {.out = fopen(temporary, "wxe"), .path = path};
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

struct last {
    uint64_t number, seen;
};

static int on_last(const struct minari_episode *episode, void *user)
{
    struct last *last = user;
    last->number = episode->number;
    last->seen++;
    return 0;
}

/* A number as it is, or "-1" and so on: the last one, as in Python. An exit code. */
static int find_episode(struct cli *cli, const char *id, const char *text, uint64_t *out)
{
    struct minari_error err;
    struct last last = {0};
    const bool behind = text[0] == '-';
    const size_t digits = strspn(text + behind, "0123456789");
    if (!digits || digits > 18 || text[behind + digits])
        return cli_error(CLI_USAGE, "'%s' is not an episode number", cli_clean(text));
    *out = strtoull(text + behind, NULL, 10);
    if (!behind)
        return CLI_OK;
    const struct minari_episode_query query = {.sort = "-number", .limit = *out};
    if (!*out)
        return cli_error(CLI_USAGE, "'%s' is not an episode number", cli_clean(text));
    if (minari_episodes_each(cli->client, id, &query, on_last, &last, &err))
        return cli_report(cli, &err);
    if (last.seen < *out)
        return cli_error(CLI_NOT_FOUND, "no episode %s: the dataset has %llu", cli_clean(text),
                         (unsigned long long)last.seen);
    *out = last.number;
    return CLI_OK;
}

int cli_get(struct cli *cli)
{
    const char *id = cli->arguments[0], *path = cli->values[OPT_OUTPUT];
    const bool to_stdout = !path || strcmp(path, "-") == 0;
    const char *format = cli->values[OPT_FORMAT] ? cli->values[OPT_FORMAT]
                                                 : format_of(to_stdout ? NULL : path, cli->count - 2);
    struct minari_slice slice = {0};
    uint64_t episode = 0;
    char camera[512];
    if (cli->count < 3 && !is_archive(cli))
        return cli_error(CLI_USAGE, "name an episode and a field, or archive.tar: all files");
    if (is_archive(cli))
        format = "tar";
    if (camera_of(cli, camera)) {
        format = "mp4";
        if (cli->count > 3)
            return cli_error(CLI_USAGE, "a video is asked for alone, not with fields");
    }
    if (cli->values[OPT_ROWS] && !slice_parse(cli->values[OPT_ROWS], &slice))
        return cli_error(CLI_USAGE, "--rows takes A:B, A:B:S or one row, as in Python, not '%s'",
                         cli_clean(cli->values[OPT_ROWS]));
    if (to_stdout && cli->terminal && strcmp(format, "json") != 0) {
        cli_error(CLI_USAGE, "%s is binary: it is not written to a terminal", cli_clean(format));
        cli_hint("write it to a file with -o FILE, or to a pipe");
        return CLI_USAGE;
    }
    int code = cli_connect(cli, NULL, &id);
    if (!code && !is_archive(cli))
        code = find_episode(cli, id, cli->arguments[1], &episode);
    if (code)
        return code;
    cli->subject = id;
    if (!to_stdout)
        return into_file(cli, id, episode, &slice, format, path);
    struct target target = {.out = stdout};
    code = fetch(cli, id, episode, &slice, format, &target);
    if (!code && strcmp(format, "json") == 0)
        putchar('\n');
    return code;
}
