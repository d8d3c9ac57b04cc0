/* get: rows of a field, what a camera saw, or all files as a tar, straight to stdout or a file. */
#include "client/cli/output.h"
#include "client/cli/slice.h"

#include <stdlib.h>

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

struct asked {
    const char *id, *format;
    uint64_t episode;
    struct minari_slice slice;
};

static enum minari_status fetch(struct cli *cli, minari_sink_fn sink, void *sink_user,
                                struct minari_rows_info *info, void *user, struct minari_error *err)
{
    const struct asked *asked = user;
    char name[512];
    const char *camera = camera_of(cli, name);
    if (is_archive(cli))
        return minari_archive_get(cli->client, asked->id, sink, sink_user, info, err);
    if (camera)
        return minari_media_get(cli->client, asked->id, asked->episode, camera, &asked->slice, sink,
                                sink_user, info, err);
    return minari_fields_get(cli->client, asked->id, asked->episode, cli->arguments + 2,
                             (size_t)cli->count - 2, &asked->slice, asked->format, sink, sink_user, info,
                             err);
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
    const char *format = output_format(cli, path && cli->count > 3 ? "npz" : "json");
    struct asked asked = {.id = cli->arguments[0]};
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
    if (cli->values[OPT_ROWS] && !slice_parse(cli->values[OPT_ROWS], &asked.slice))
        return cli_error(CLI_USAGE, "--rows takes A:B, A:B:S or one row, as in Python, not '%s'",
                         cli_clean(cli->values[OPT_ROWS]));
    asked.format = format;
    const bool text = strcmp(format, "json") == 0;
    if (!output_fits(cli, path, text, format))
        return CLI_USAGE;
    int code = cli_connect(cli, NULL, &asked.id);
    if (!code && !is_archive(cli))
        code = find_episode(cli, asked.id, cli->arguments[1], &asked.episode);
    cli->subject = code ? cli->subject : asked.id;
    return code ? code : output_save(cli, path, text, fetch, &asked);
}
