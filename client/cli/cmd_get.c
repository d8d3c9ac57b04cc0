/* get: rows of a field, what a camera saw, a file, or all files as a tar, straight to stdout or a file. */
#include "client/cli/output.h"
#include "client/cli/own_hub.h"
#include "client/cli/slice.h"

#include <stdlib.h>

#define MEDIA "~media/"

/* "ID archive.tar" */
static bool is_archive(const struct cli *cli)
{
    return cli->count == 2 && strcmp(cli->arguments[1], "archive.tar") == 0;
}

/* The path of "ID files/PATH", or NULL. */
static const char *file_of(const struct cli *cli)
{
    const size_t head = strlen("files/");
    const bool named = cli->count == 2 && strncmp(cli->arguments[1], "files/", head) == 0;
    return named && cli->arguments[1][head] ? cli->arguments[1] + head : NULL;
}

static bool is_text_file(const char *path)
{
    static const char *const endings[] = {".json", ".jsonl", ".md", ".txt", ".csv", ".yaml", ".yml", ".toml"};
    bool text = false;
    for (size_t i = 0; i < HUB_COUNT(endings); i++)
        text = text || hub_view_ends(hub_view_of(path), endings[i]);
    return text;
}

/* The camera of "~media/front" or "~media/front.mp4"; NULL: a field is named. */
static const char *camera_of(const struct cli *cli, char out[512])
{
    const char *name = cli->count < 3 ? "" : cli->arguments[2];
    if (strncmp(name, MEDIA, strlen(MEDIA)) != 0)
        return NULL;
    name += strlen(MEDIA);
    snprintf(out, 512, "%.*s", (int)(strlen(name) - 4 * hub_view_ends(hub_view_of(name), ".mp4")), name);
    return out;
}

struct get_args {
    const char *id, *format;
    uint64_t episode;
    struct minari_slice slice;
};

static enum minari_status fetch(struct cli *cli, minari_sink_fn sink, void *sink_user,
                                struct minari_rows_info *info, void *user, struct minari_error *err)
{
    const struct get_args *args = user;
    char name[512];
    const char *camera = camera_of(cli, name);
    if (file_of(cli))
        return minari_file_get(cli->client, args->id, file_of(cli), sink, sink_user, info, err);
    if (is_archive(cli))
        return minari_archive_get(cli->client, args->id, sink, sink_user, info, err);
    if (camera)
        return minari_media_get(cli->client, args->id, args->episode, camera, &args->slice, sink, sink_user,
                                info, err);
    return minari_fields_get(cli->client, args->id, args->episode, cli->arguments + 2, (size_t)cli->count - 2,
                             &args->slice, args->format, sink, sink_user, info, err);
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
    const char *path = output_path(cli);
    struct get_args args = {.id = cli->arguments[0]};
    char camera[512];
    const char *file = file_of(cli);
    const bool whole = file || is_archive(cli);
    if (cli->count < 3 && !whole)
        return cli_error(CLI_USAGE,
                         "name an episode and a field, or files/PATH: a file, or archive.tar: all files");
    const bool video = camera_of(cli, camera);
    if (video && cli->count > 3)
        return cli_error(CLI_USAGE, "a video cannot be combined with fields: get it alone");
    const char *format = whole   ? cli->arguments[1]
                         : video ? "mp4"
                                 : output_format(cli, HUB_TABLE_NONE, path ? NULL : "json");
    if (!format)
        return CLI_USAGE;
    if (cli->values[OPT_ROWS] && !slice_parse(cli->values[OPT_ROWS], &args.slice))
        return cli_error(CLI_USAGE, "--rows takes A:B, A:B:S or one row, as in Python, not '%s'",
                         cli_clean(cli->values[OPT_ROWS]));
    args.format = format;
    /* in a pipe a file comes as it is, to the last byte */
    const bool text = file ? cli->terminal && is_text_file(file) : output_is_text(format);
    if (!output_fits(cli, path, text, format))
        return CLI_USAGE;
    int code = own_hub_connect(cli, &args.id);
    if (!code && !whole)
        code = find_episode(cli, args.id, cli->arguments[1], &args.episode);
    cli->subject = code ? cli->subject : args.id;
    return code ? code : output_save(cli, path, text, fetch, &args);
}
