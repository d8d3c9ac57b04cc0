/* show: what a dataset is, from the hub or from the files here. */
#include "client/cli/cli.h"
#include "client/cli/describe.h"
#include "client/cli/local.h"
#include "client/cli/own_location.h"
#include "client/lib/internal.h"
#include "storage/ids/id.h"
#include "storage/model/format_row.h"
#include "storage/text/json.h"

#include <errno.h>
#include <stdlib.h>

/* ---- of a remote ---- */

/* Where the dataset itself does not say: as of its first episode. */
static void add_cameras(const struct cli *cli, const char *id, json_t *doc)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_freep) char *text = NULL;
    const char *format = hub_member_text(doc, "format");
    if (json_object_get(doc, "cameras") || !json_integer_value(json_object_get(doc, "episodes")) || !format ||
        hub_format_is_of(format, HUB_LIBRARY_MINARI) ||
        minari_media_list_get(cli->client, id, 0, &text, NULL) ||
        hub_json_parse(hub_view_of(text), 64 * MIB, &list, NULL))
        return;
    (void)!json_object_set(doc, "media", json_object_get(list, "items"));
}

static int show_remote(struct cli *cli, const char *id)
{
    struct minari_dataset *dataset = NULL;
    struct minari_error err;
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    int code = cli_connect(cli, NULL, &id);
    if (code)
        return code;
    if (minari_dataset_get(cli->client, id, cli->values[OPT_FOR], &dataset, &err))
        return cli_report(cli, &err);
    const struct minari_summary *s = minari_dataset_summary(dataset);
    if (cli->values[OPT_JSON]) {
        cli_put(cli, minari_dataset_json(dataset), strlen(minari_dataset_json(dataset)));
        putchar('\n');
    } else if (hub_json_parse(hub_view_of(minari_dataset_json(dataset)), 64 * MIB, &doc, NULL)) {
        code = cli_error(CLI_UNREACHABLE, "the hub's document cannot be read");
    } else {
        char where[800], download[1400];
        snprintf(where, sizeof where, "at %s", cli_remote_name(cli));
        add_cameras(cli, s->id, doc);
        const char *status =
            hub_member_text(doc, "status"); /* download takes what cannot be read by force only */
        const bool refused = status && (strcmp(status, "unsupported") == 0 || strcmp(status, "broken") == 0);
        snprintf(download, sizeof download, "minari-cli download %s%s%s", s->id,
                 hub_format_is_of(s->format, HUB_LIBRARY_MINARI) ? "" : " -o DIR", refused ? " --force" : "");
        describe(cli, s->id, doc, where, download);
    }
    minari_dataset_free(dataset);
    return code;
}

/* ---- of this machine ---- */

/* Of one number of the episodes the least, the greatest and the mean, under the hub's names. */
static json_t *figures(const json_t *episodes, const char *of)
{
    const json_t *episode;
    double least = 0, most = 0, sum = 0;
    json_int_t count = 0;
    size_t i;
    json_array_foreach(episodes, i, episode)
    {
        const json_t *value = json_object_get(episode, of);
        const double x = json_number_value(value);
        if (!json_is_number(value))
            continue;
        least = count && least < x ? least : x;
        most = count && most > x ? most : x;
        sum += x;
        count++;
    }
    return count ? json_pack("{s:I, s:f, s:f, s:f}", "count", count, "min", least, "max", most, "mean",
                             sum / (double)count)
                 : NULL;
}

static void add_figures(json_t *doc)
{
    const json_t *episodes = json_object_get(doc, "episode_list");
    (void)!json_object_set_new(doc, "statistics",
                               json_pack("{s:o*, s:o*}", "steps", figures(episodes, "steps"), "return",
                                         figures(episodes, "return")));
}

/* CLI_NOT_FOUND without a message when it is not here. `shown` is what it is called. */
static int show_one(const struct cli *cli, struct local_list *list, const char *shown, const char *where)
{
    json_t *object = list->items[0].object;
    if (cli->values[OPT_JSON]) {
        const int code =
            json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17)) ? CLI_FAILED : CLI_OK;
        putchar('\n');
        return code;
    }
    add_figures(object);
    describe(cli, shown, object, where, NULL);
    return CLI_OK;
}

static int show_local(const struct cli *cli, const char *id)
{
    struct local_list list = {0};
    char folder[CLI_FOLDER], where[800];
    if (hub_folder_check(hub_view_of(cli_folder(id, folder)), NULL))
        return CLI_NOT_FOUND;
    int code = local_inspect(cli_root(), folder, &list);
    if (!code && (list.count != 1 || strcmp(list.items[0].summary.id, folder) != 0))
        code = CLI_NOT_FOUND; /* a namespace, say */
    snprintf(where, sizeof where, "on this machine, in '%.600s'", cli_clean(cli_root()));
    if (!code)
        code = show_one(cli, &list, id, where);
    local_dispose(&list);
    return code;
}

/* A file or a folder, wherever it lies. */
static int show_path(const struct cli *cli, const char *path)
{
    struct local_list list = {0};
    struct own_location location;
    const char *shown = cli_clean(path);
    const int failed = own_location_of_path(path, &location);
    if (failed)
        return cli_error(failed == ENOENT || failed == ENOTDIR ? CLI_NOT_FOUND
                         : failed == EACCES                    ? CLI_NOT_ALLOWED
                                                               : CLI_FAILED,
                         "'%s': %s", shown, strerror(failed));
    int code = local_inspect(location.folder, location.name, &list);
    if (!code && list.count > 1)
        code = cli_error(CLI_NOT_FOUND, "'%s' is not a dataset but holds %zu of them, such as '%s/%s'", shown,
                         list.count, shown, cli_clean(list.items[0].summary.id) + strlen(location.name) + 1);
    else if (!code && list.count == 0)
        code = cli_error(CLI_NOT_FOUND, "'%s' holds no dataset: none of its files is in a supported format",
                         shown);
    else if (!code)
        code = show_one(cli, &list, shown, "on this machine");
    local_dispose(&list);
    return code;
}

int cli_show(struct cli *cli)
{
    const char *id = cli->arguments[0];
    if (own_is_path(id))
        return cli->values[OPT_REMOTE]
                   ? cli_error(CLI_USAGE, "'%s' is a path on this machine: leave out --remote", cli_clean(id))
                   : show_path(cli, id);
    if (!cli->values[OPT_REMOTE] && !strstr(id, "://")) {
        const int code = show_local(cli, id);
        if (code != CLI_NOT_FOUND)
            return code;
    }
    return show_remote(cli, id);
}
