/* list: the datasets of a hub or of this machine. */
#include "client/cli/cli.h"
#include "client/cli/local.h"
#include "client/cli/tree.h"
#include "storage/ids/version.h"
#include "storage/model/format_row.h"
#include "storage/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

/* In the order that was asked for each is a row; else as a tree. */
static int print_table(const struct cli *cli, const struct minari_summary *const *datasets, size_t count,
                       const char *title)
{
    char caption[128];
    struct text_table table = {.title = title};
    const bool flat = cli->values[OPT_SORT] || cli->command->run == cli_search;
    const bool ok = tree_fill(&table, datasets, count, flat, caption);
    if (ok)
        table_print(&table, stdout, cli->terminal, cli->colour);
    table_dispose(&table);
    return ok ? CLI_OK : cli_error(CLI_FAILED, "no memory for a table");
}

/* ---- remote ---- */

static void print_json(const struct cli *cli, const struct minari_dataset_list *list, size_t count)
{
    printf("{\"remote\":\"%s\",\"remote_from\":\"%s\",\"total\":%zu,\"items\":[", cli->remote.text,
           cli->remote.origin, minari_dataset_list_count(list));
    for (size_t i = 0; i < count; i++) {
        fputs(i ? ",\n" : "\n", stdout);
        cli_put(cli, minari_dataset_list_json(list, i), strlen(minari_dataset_list_json(list, i)));
    }
    puts("\n]}");
}

/* Plain files are no dataset anybody loads: they are shown on request. What is wrong with them always is. */
static bool shown(const struct cli *cli, const struct minari_summary *s)
{
    return cli->values[OPT_ALL] || !hub_format_is_files(s->format) ||
           (strcmp(s->status, "ready") != 0 && strcmp(s->status, "remote") != 0);
}

static int print_remote(const struct cli *cli, const struct minari_dataset_list *list, size_t count)
{
    char title[800];
    const struct minari_summary **datasets = calloc(count + 1, sizeof *datasets);
    size_t n = 0;
    if (!datasets)
        return cli_error(CLI_FAILED, "no memory for a list");
    for (size_t i = 0; i < count; i++)
        if (shown(cli, minari_dataset_list_at(list, i)))
            datasets[n++] = minari_dataset_list_at(list, i);
    if (count && !n)
        cli_note(cli, "all of them are plain files: --all shows them");
    snprintf(title, sizeof title, "Minari datasets in %s", cli_remote_name(cli));
    const int code = print_table(cli, datasets, n, title);
    free(datasets);
    return code;
}

/* Nothing was found: what else could be tried. */
static void say_none(const struct cli *cli, bool words)
{
    static const enum cli_option narrow[] = {
        OPT_PREFIX, OPT_FOR,       OPT_STATUS, OPT_ENV,     OPT_TASK,       OPT_ROBOT,     OPT_CAMERA,
        OPT_AUTHOR, OPT_ALGORITHM, OPT_KIND,   OPT_LICENSE, OPT_ACTION_DIM, OPT_OF_FORMAT, OPT_LOADABLE};
    bool narrowed = false;
    for (size_t i = 0; i < HUB_COUNT(narrow); i++)
        narrowed = narrowed || cli->values[narrow[i]];
    if (!words && !narrowed) {
        cli_note(cli, "%s has no datasets", cli_remote_name(cli));
        return;
    }
    cli_note(cli, "no dataset of %s matches all of these filters", cli_remote_name(cli));
    if (words)
        cli_note(cli, "  try fewer words, or the beginning of one");
    if (narrowed && cli->remote.kind == MINARI_REMOTE_HUB)
        cli_note(cli, "  minari-cli list remote --facets shows which values there are");
    if (!cli->values[OPT_ALL])
        cli_note(cli, "  --all looks at older versions too");
}

/* What no dataset holds, for who wants to see everything. */
static void say_left_out(const struct cli *cli, const struct minari_dataset_list *list)
{
    char names[700] = "";
    uint64_t places, named = 0;
    const char *const *name = minari_dataset_list_left_out(list, &places, NULL);
    for (; *name; name++, named++) {
        const size_t at = strlen(names);
        snprintf(names + at, sizeof names - at, "%s%.80s", at ? ", " : "", *name);
    }
    if (places)
        cli_note(cli, "beside the datasets there %s %" PRIu64 " more: %s%s", places == 1 ? "is" : "are",
                 places, names, places > named ? ", ..." : "");
}

/* `words` NULL: all, of `limit`, 0: without one. */
static int list_remote(struct cli *cli, const char *chosen, const char *words, uint64_t limit)
{
    struct minari_dataset_list *list = NULL;
    struct minari_error err;
    int code = cli_connect(cli, chosen, NULL);
    if (code)
        return code;
    const struct minari_dataset_query query = {.size = sizeof query,
                                               .words = words,
                                               .env = cli->values[OPT_ENV],
                                               .task = cli->values[OPT_TASK],
                                               .robot = cli->values[OPT_ROBOT],
                                               .camera = cli->values[OPT_CAMERA],
                                               .author = cli->values[OPT_AUTHOR],
                                               .algorithm = cli->values[OPT_ALGORITHM],
                                               .kind = cli->values[OPT_KIND],
                                               .license = cli->values[OPT_LICENSE],
                                               .action_dim = cli->values[OPT_ACTION_DIM],
                                               .loadable = cli->values[OPT_LOADABLE],
                                               .format = cli->values[OPT_OF_FORMAT],
                                               .prefix = cli->values[OPT_PREFIX],
                                               .loadable_by = cli->values[OPT_FOR],
                                               .status = cli->values[OPT_STATUS],
                                               .sort = cli->values[OPT_SORT],
                                               .latest = !cli->values[OPT_ALL]};
    if (cli->values[OPT_FACETS])
        return cli_facets(cli, &query);
    if (minari_dataset_list_get(cli->client, &query, &list, &err))
        return cli_report(cli, &err);
    size_t count = minari_dataset_list_count(list);
    if (!count)
        say_none(cli, words);
    if (limit && limit < count)
        count = (size_t)limit;
    if (cli->values[OPT_JSON])
        print_json(cli, list, count);
    else if (!words || count)
        code = print_remote(cli, list, count);
    if (cli->values[OPT_ALL])
        say_left_out(cli, list);
    minari_dataset_list_free(list);
    return code;
}

int cli_search(struct cli *cli)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf words = HUB_BUF_INIT(64 * KIB);
    uint64_t limit;
    if (!cli_number(cli, OPT_LIMIT, &limit))
        return CLI_USAGE;
    for (int i = 0; i < cli->count; i++)
        if (hub_buf_add_text(&words, i ? " " : "", NULL) || hub_buf_add_text(&words, cli->arguments[i], NULL))
            return cli_error(CLI_USAGE, "too many words");
    return list_remote(cli, NULL, words.data, limit);
}

/* ---- local ---- */

/* A text, a number or one of a list. */
static bool says(const json_t *value, const char *wanted)
{
    size_t i;
    const json_t *item;
    char digits[24];
    if (json_is_integer(value)) {
        snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return strcmp(digits, wanted) == 0;
    }
    if (json_is_string(value))
        return strcasecmp(json_string_value(value), wanted) == 0;
    json_array_foreach(value, i, item)
    {
        if (says(item, wanted))
            return true;
    }
    return false;
}

/* What a hub chooses by, as minari-inspect says it. */
static bool has_facts(const struct cli *cli, const json_t *object)
{
    static const struct {
        enum cli_option option;
        const char *member;
    } facts[] = {{OPT_ENV, "env"},         {OPT_TASK, "tasks"},           {OPT_ROBOT, "robot"},
                 {OPT_CAMERA, "cameras"},  {OPT_ALGORITHM, "algorithm"},  {OPT_KIND, "kind"},
                 {OPT_LICENSE, "license"}, {OPT_ACTION_DIM, "action_dim"}};
    const char *author = cli->values[OPT_AUTHOR];
    for (size_t i = 0; i < HUB_COUNT(facts); i++)
        if (cli->values[facts[i].option] &&
            !says(json_object_get(json_object_get(object, "facts"), facts[i].member),
                  cli->values[facts[i].option]))
            return false;
    return !author || says(json_object_get(object, "authors"), author);
}

/* By its own library's rule. */
static bool loads(const struct local_dataset *dataset, const char *release)
{
    const struct minari_summary *s = &dataset->summary;
    const struct hub_load_rule *rule = hub_load_rule_of(hub_format_library(s->format));
    return rule && rule->loads(hub_view_of(s->minari_version),
                               hub_view_of(json_string_value(json_object_get(dataset->object, "era"))),
                               hub_view_of(release));
}

static bool wanted(const struct cli *cli, const struct local_dataset *dataset)
{
    const struct minari_summary *s = &dataset->summary;
    const char *prefix = cli->values[OPT_PREFIX], *status = cli->values[OPT_STATUS],
               *release = cli->values[OPT_FOR], *format = cli->values[OPT_OF_FORMAT],
               *loadable = cli->values[OPT_LOADABLE];
    const bool loadable_now = strcmp(s->status, "ready") == 0 && !s->unloadable;
    return (!prefix || strncmp(s->id, prefix, strlen(prefix)) == 0) &&
           (!status || strcmp(s->status, status) == 0) && (!format || strcmp(s->format, format) == 0) &&
           (!loadable || (strcmp(loadable, "true") == 0) == loadable_now) &&
           (!release || loads(dataset, release));
}

/* Sorted by name and version, so the newest that is wanted is the last of its run. */
static size_t select_local(const struct cli *cli, const struct local_list *list,
                           const struct local_dataset **out)
{
    size_t n = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct minari_summary *s = &list->items[i].summary, *last = n ? &out[n - 1]->summary : NULL;
        if (!wanted(cli, &list->items[i]) || !has_facts(cli, list->items[i].object))
            continue;
        const bool same = last && s->version >= 0 && last->version >= 0 && strcmp(s->name, last->name) == 0 &&
                          strcmp(s->ns ? s->ns : "", last->ns ? last->ns : "") == 0;
        if (same && !cli->values[OPT_ALL])
            n--;
        out[n++] = &list->items[i];
    }
    return n;
}

/* Unfinished downloads, as rows of a listing. */
struct partial_rows {
    const struct cli *cli;
    struct partial_row {
        struct minari_summary summary;
        char id[1025], status[32];
        unsigned percent;
        bool running;
    } * rows;
    size_t count;
};

static int on_partial(const struct minari_partial *p, void *user)
{
    struct partial_rows *all = user;
    const char *prefix = all->cli->values[OPT_PREFIX];
    if (all->cli->values[OPT_STATUS] || all->cli->values[OPT_FOR] || !has_facts(all->cli, NULL) ||
        (prefix && strncmp(p->id, prefix, strlen(prefix)) != 0))
        return 0;
    struct partial_row *rows = reallocarray(all->rows, all->count + 1, sizeof *rows);
    if (!rows)
        return 1;
    all->rows = rows;
    struct partial_row *r = &rows[all->count++];
    *r = (struct partial_row){.percent = p->percent, .running = p->running};
    snprintf(r->id, sizeof r->id, "%s", p->id);
    snprintf(r->status, sizeof r->status, p->running ? "downloading %u%%" : "partial %u%%", p->percent);
    r->summary = (struct minari_summary){.version = -1, .format = "minari", .size = p->bytes_total};
    return 0;
}

/* What a listing says; the episodes are for `show`. */
static int print_local_json(const char *root, const struct local_dataset *const *datasets, size_t count,
                            const struct partial_rows *partials)
{
    static const char *const left_out[] = {"episode_list", "file_list", "fields", "media", "parts", "layout"};
    json_t *items = json_array(), *unfinished = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *item = json_copy(datasets[i]->object);
        for (size_t k = 0; k < HUB_COUNT(left_out); k++)
            json_object_del(item, left_out[k]);
        json_array_append_new(items, item);
    }
    for (size_t i = 0; i < partials->count; i++) {
        const struct partial_row *r = &partials->rows[i];
        json_array_append_new(unfinished, json_pack("{s:s, s:I, s:i, s:b}", "id", r->id, "size",
                                                    (json_int_t)r->summary.size, "percent", (int)r->percent,
                                                    "running", (int)r->running));
    }
    json_t *document = json_pack("{s:s, s:I, s:o, s:o}", "root", root, "total", (json_int_t)count, "items",
                                 items, "partial", unfinished);
    if (!document)
        return cli_error(CLI_FAILED, "no memory for a list");
    (void)json_dumpf(document, stdout,
                     JSON_COMPACT | JSON_REAL_PRECISION(17)); /* cli_flush tells a failure */
    putchar('\n');
    json_decref(document);
    return CLI_OK;
}

static int print_local(const struct cli *cli, const char *root, const struct local_dataset *const *chosen,
                       size_t count, struct partial_rows *partials)
{
    char title[800];
    const struct minari_summary **datasets = calloc(count + partials->count + 1, sizeof *datasets);
    if (!datasets)
        return cli_error(CLI_FAILED, "no memory for a list");
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        datasets[n++] = &chosen[i]->summary;
    for (size_t i = 0; i < partials->count; i++) {
        struct partial_row *r = &partials->rows[i];
        r->summary.id = r->summary.name = r->id;
        r->summary.status = r->status;
        datasets[n++] = &r->summary;
    }
    snprintf(title, sizeof title, "Local Minari datasets('%.700s')", cli_clean(root));
    const int code = print_table(cli, datasets, n, title);
    free(datasets);
    return code;
}

static int list_local(struct cli *cli)
{
    struct local_list list = {0};
    struct partial_rows partials = {.cli = cli};
    const char *root = cli_root();
    const enum cli_option of_hubs[] = {OPT_REMOTE, OPT_SORT, OPT_FACETS};
    for (size_t i = 0; i < HUB_COUNT(of_hubs); i++)
        if (cli->values[of_hubs[i]])
            return cli_error(CLI_USAGE,
                             "list local does not take --%s: it lists what is on this machine, by name",
                             cli_options[of_hubs[i]].name);
    int code = local_inspect(root, "", &list);
    const struct local_dataset **chosen = calloc(list.count + 1, sizeof *chosen);
    if (!chosen)
        code = cli_error(CLI_FAILED, "no memory for a list");
    if (code == CLI_NOT_FOUND) { /* no folder yet: an empty list, as for Minari */
        cli_note(cli, "the folder '%s' does not exist yet: the first download creates it", cli_clean(root));
        code = CLI_OK;
    }
    if (!code) {
        (void)minari_partial_each(root, on_partial, &partials, NULL);
        const size_t n = select_local(cli, &list, chosen);
        code = cli->values[OPT_JSON] ? print_local_json(root, chosen, n, &partials)
                                     : print_local(cli, root, chosen, n, &partials);
    }
    free(chosen);
    free(partials.rows);
    local_dispose(&list);
    return code;
}

int cli_list(struct cli *cli)
{
    const char *what = cli->count ? cli->arguments[0] : "remote";
    if (!cli->count && !cli->values[OPT_REMOTE])
        return cli_error(CLI_USAGE, "name what to list: local, remote, or a REMOTE such as http://hub:8080");
    if (strcmp(what, "local") == 0)
        return list_local(cli);
    if (strcmp(what, "remote") == 0)
        return list_remote(cli, NULL, NULL, 0);
    if (!strstr(what, "://"))
        return cli_error(CLI_USAGE, "'%s' is neither local, nor remote, nor a REMOTE such as http://%s",
                         cli_clean(what), strpbrk(what, ":.") ? cli_clean(what) : "hub:8080");
    if (cli->values[OPT_REMOTE])
        return cli_error(CLI_USAGE, "the remote is given twice: as an argument, and by --remote");
    return list_remote(cli, what, NULL, 0);
}
