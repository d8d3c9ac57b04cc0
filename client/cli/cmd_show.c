/* show: what a dataset is, from the hub or from the files here. */
#include "client/cli/cli.h"
#include "client/cli/local.h"
#include "client/cli/space.h"
#include "client/cli/table.h"
#include "storage/base/id.h"
#include "storage/base/json.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_FIELDS = 200, MAX_PROBLEMS = 50, MAX_TASKS = 20 };

/* One line of "Total Steps    6729"; a value that is NULL is said to be missing, as Minari does. */
static void line(const struct cli *cli, const char *name, const char *value)
{
    printf("  %s%-28s%s %s\n", cli->colour ? "\033[1m" : "", name, cli->colour ? "\033[0m" : "",
           value && *value ? cli_clean(value) : "Not provided");
}

static void line_number(const struct cli *cli, const char *name, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, n);
    line(cli, name, text);
}

static void heading(const struct cli *cli, const char *text)
{
    printf("\n%s%s%s\n", cli->colour ? "\033[1;4m" : "", text, cli->colour ? "\033[0m" : "");
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Any JSON value as one line of text; free it. */
static char *flat(const json_t *value)
{
    if (json_is_string(value))
        return strdup(json_string_value(value));
    return value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
}

static void line_json(const struct cli *cli, const char *name, const json_t *value)
{
    char *text = flat(value);
    if (text && strlen(text) > 600) /* bounds of pictures and the like: --json has all */
        strcpy(text + 590, " ...");
    line(cli, name, text);
    free(text);
}

static void line_space(const struct cli *cli, const char *name, const json_t *space)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(256 * KIB);
    if (space && space_text(space, &text, NULL))
        line(cli, name, "too long: --json has it");
    else
        line(cli, name, text.data);
}

/* "a, b" of an array of texts, or the text itself. */
static void line_list(const struct cli *cli, const char *name, const json_t *value)
{
    char joined[1000] = "";
    const json_t *item;
    size_t i, at = 0;
    json_array_foreach(value, i, item)
    {
        if (json_is_string(item) && at < sizeof joined)
            at += (size_t)snprintf(joined + at, sizeof joined - at, "%s%s", at ? ", " : "",
                                   json_string_value(item));
    }
    line(cli, name, json_is_string(value) ? json_string_value(value) : joined);
}

static void environment(const struct cli *cli, const json_t *spec, const char *title)
{
    static const struct {
        const char *name, *key;
    } rows[] = {{"ID", "id"},
                {"Max Episode Steps", "max_episode_steps"},
                {"Entry Point", "entry_point"},
                {"Reward Threshold", "reward_threshold"},
                {"Nondeterministic", "nondeterministic"},
                {"Additional Wrappers", "additional_wrappers"},
                {"Kwargs", "kwargs"}};
    if (!json_is_object(spec))
        return;
    heading(cli, title);
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        const json_t *value = json_object_get(spec, rows[i].key);
        if (value && !json_is_null(value))
            line_json(cli, rows[i].name, value);
    }
}

/* Of stored pictures the hub tells no shape of bytes; the space does: "(24, 32, 3)". Free it. */
static char *shape_of(const json_t *doc, const json_t *field)
{
    const char *type = text_of(field, "type"), *path = text_of(field, "path");
    const json_t *shape = json_object_get(field, "shape");
    if (type && path && strcmp(type, "image") == 0 && !json_array_size(shape)) {
        const bool action = strncmp(path, "actions", 7) == 0;
        const json_t *stated =
            space_shape(json_object_get(doc, action ? "action_space" : "observation_space"), path);
        shape = stated ? stated : shape;
    }
    return flat(shape);
}

static void fields(const struct cli *cli, const json_t *doc)
{
    const json_t *list = json_object_get(doc, "fields");
    struct table t = {.columns = {{"Field", false},
                                  {"Type", false},
                                  {"Dtype", false},
                                  {"Shape", false},
                                  {"Axis", false},
                                  {"Episodes", true},
                                  {"", false}},
                      .count = 7};
    const json_t *f;
    size_t i;
    bool ok = true;
    json_array_foreach(list, i, f)
    {
        char count[24];
        if (i >= MAX_FIELDS || !ok)
            break;
        char *shape = shape_of(doc, f);
        snprintf(count, sizeof count, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(f, "episodes")));
        const char *row[] = {text_of(f, "path"),      text_of(f, "type"),
                             text_of(f, "dtype"),     shape,
                             text_of(f, "axis"),      count,
                             text_of(f, "unreadable")};
        ok = table_add(&t, row);
        free(shape);
    }
    if (!i)
        return;
    heading(cli, "Fields");
    table_print(&t, stdout, cli->terminal, cli->colour);
    if (json_array_size(list) > MAX_FIELDS)
        printf("  and %zu more: --json has all\n", json_array_size(list) - MAX_FIELDS);
    table_dispose(&t);
}

/* "64 x 48"; empty where it is not known. */
static void size_of(const json_t *camera, char out[48])
{
    const json_int_t width = json_integer_value(json_object_get(camera, "width")),
                     height = json_integer_value(json_object_get(camera, "height"));
    snprintf(out, 48, width && height ? "%" JSON_INTEGER_FORMAT " x %" JSON_INTEGER_FORMAT : "", width,
             height);
}

/* 10, 15.15 or 30000/1001. Free it. */
static char *rate_of(const json_t *camera)
{
    char *rate = flat(json_object_get(camera, "fps"));
    const size_t size = rate ? strlen(rate) : 0;
    if (size > 2 && (strcmp(rate + size - 2, "/1") == 0 || strcmp(rate + size - 2, ".0") == 0))
        rate[size - 2] = '\0';
    return rate;
}

/* As the dataset says, or as the videos of an episode do, each camera once. */
static void cameras(const struct cli *cli, const json_t *list)
{
    struct table t = {
        .columns = {{"Camera", false}, {"Type", false}, {"Size", false}, {"FPS", true}, {"Codec", false}},
        .count = 5};
    HUB_CLEANUP(hub_json_decrefp) json_t *seen = json_object();
    const json_t *camera;
    size_t i;
    bool ok = seen;
    json_array_foreach(list, i, camera)
    {
        char size[48];
        const char *name = text_of(camera, "camera"), *codecs = text_of(camera, "codecs");
        if (!ok || !name || json_object_get(seen, name) || t.row_count == MAX_FIELDS)
            continue;
        char *rate = rate_of(camera);
        size_of(camera, size);
        const char *row[] = {name, text_of(camera, "type") ? text_of(camera, "type") : "video", size, rate,
                             codecs ? codecs : text_of(camera, "codec")};
        ok = table_add(&t, row) && !json_object_set_new(seen, name, json_true());
        free(rate);
    }
    if (t.row_count) {
        heading(cli, "Cameras");
        table_print(&t, stdout, cli->terminal, cli->colour);
    }
    table_dispose(&t);
}

static void tasks(const struct cli *cli, const json_t *list)
{
    const json_t *task;
    char title[64];
    size_t i;
    snprintf(title, sizeof title, "Tasks (%zu)", json_array_size(list));
    json_array_foreach(list, i, task)
    {
        if (!i)
            heading(cli, title);
        if (i == MAX_TASKS) {
            printf("  and %zu more: --json has all\n", json_array_size(list) - MAX_TASKS);
            return;
        }
        printf("  %" JSON_INTEGER_FORMAT "  %s\n", json_integer_value(json_object_get(task, "index")),
               cli_clean(text_of(task, "task")));
    }
}

static void problems(const struct cli *cli, const json_t *list)
{
    char title[64];
    const json_t *p;
    size_t i;
    snprintf(title, sizeof title, "Problems (%zu)", json_array_size(list));
    json_array_foreach(list, i, p)
    {
        if (!i)
            heading(cli, title);
        if (i == MAX_PROBLEMS) {
            printf("  and %zu more: --json has all\n", json_array_size(list) - MAX_PROBLEMS);
            return;
        }
        const char *path = text_of(p, "path");
        const json_int_t count = json_integer_value(json_object_get(p, "count"));
        printf("  %s%s%s: %s", cli_clean(text_of(p, "code")), path ? " " : "", path ? cli_clean(path) : "",
               cli_clean(text_of(p, "detail")));
        if (count > 1)
            printf(" (%" JSON_INTEGER_FORMAT " times)", count);
        putchar('\n');
    }
}

static void specs(const struct cli *cli, const json_t *doc)
{
    const json_t *metadata = json_object_get(doc, "metadata");
    char size[TABLE_NUMBER];
    hub_number_size((uint64_t)json_integer_value(json_object_get(doc, "size")), size);
    heading(cli, "Dataset Specs");
    line_number(cli, "Total Steps", (uint64_t)json_integer_value(json_object_get(doc, "steps")));
    line_number(cli, "Total Episodes", (uint64_t)json_integer_value(json_object_get(doc, "episodes")));
    line_space(cli, "Dataset Observation Space", json_object_get(doc, "observation_space"));
    line_space(cli, "Dataset Action Space", json_object_get(doc, "action_space"));
    line_list(cli, "Algorithm", json_object_get(metadata, "algorithm_name"));
    line_list(cli, "Author", json_object_get(doc, "authors"));
    line_list(cli, "Email", json_object_get(metadata, "author_email"));
    line_list(cli, "Code Permalink", json_object_get(metadata, "code_permalink"));
    line(cli, "Minari Version", text_of(doc, "minari_version"));
    if (json_object_get(doc, "loadable_by"))
        line_list(cli, "Loadable by Minari", json_object_get(doc, "loadable_by"));
    if (json_array_size(json_object_get(metadata, "requirements")))
        line_list(cli, "Requirements", json_object_get(metadata, "requirements"));
    if (json_object_get(doc, "fps"))
        line_json(cli, "Frames a Second", json_object_get(doc, "fps"));
    if (json_object_get(doc, "robot_type"))
        line_list(cli, "Robot", json_object_get(doc, "robot_type"));
    line(cli, "Dataset Size", size);
    line(cli, "Format", text_of(doc, "format"));
    if (text_of(doc, "revision"))
        line(cli, "Revision", text_of(doc, "revision"));
    if (json_array_size(json_object_get(doc, "combined")))
        line_list(cli, "Combined Datasets", json_object_get(doc, "combined"));
}

/* `doc` is a document of the API, or of minari-inspect, which has the same members. */
static void print(const struct cli *cli, const char *id, const json_t *doc, const char *where,
                  const char *download)
{
    const json_t *metadata = json_object_get(doc, "metadata");
    const char *status = text_of(doc, "status"), *description = text_of(doc, "description");
    printf("%s%s%s\n%s\n", cli->colour ? "\033[1m" : "", cli_clean(id), cli->colour ? "\033[0m" : "", where);
    if (status && strcmp(status, "ready") != 0)
        printf("%s%s: %s%s\n", cli->colour ? "\033[31m" : "", cli_clean(status),
               cli_clean(text_of(doc, "reason")), cli->colour ? "\033[0m" : "");
    if (json_is_false(json_object_get(doc, "loadable")))
        printf("%snot loadable: its own library refuses it (not-loadable, below)%s\n",
               cli->colour ? "\033[31m" : "", cli->colour ? "\033[0m" : "");
    if (description && *description) {
        heading(cli, "Description");
        printf("  %s\n", cli_clean(description));
    }
    specs(cli, doc);
    if (download)
        line(cli, "Download", download);
    environment(cli, json_object_get(doc, "env_spec"), "Environment Specs");
    environment(cli,
                json_object_get(doc, "eval_env_spec") ? json_object_get(doc, "eval_env_spec")
                                                      : json_object_get(metadata, "eval_env_spec"),
                "Evaluation Environment Specs");
    fields(cli, doc);
    cameras(cli, json_object_get(doc, json_object_get(doc, "cameras") ? "cameras" : "media"));
    tasks(cli, json_object_get(doc, "tasks"));
    problems(cli, json_object_get(doc, "problems"));
}

/* Where the dataset itself does not say: as of its first episode. */
static void add_cameras(const struct cli *cli, const char *id, json_t *doc)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_freep) char *text = NULL;
    const char *format = text_of(doc, "format");
    if (json_object_get(doc, "cameras") || !json_integer_value(json_object_get(doc, "episodes")) || !format ||
        strncmp(format, "minari", 6) == 0 || minari_media_list_get(cli->client, id, 0, &text, NULL) ||
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
        const char *status = text_of(doc, "status"); /* download takes what cannot be read by force only */
        const bool refused = status && (strcmp(status, "unsupported") == 0 || strcmp(status, "broken") == 0);
        snprintf(download, sizeof download, "minari-cli download %s%s%s", s->id,
                 strncmp(s->format, "minari", 6) == 0 ? "" : " -o DIR", refused ? " --force" : "");
        print(cli, s->id, doc, where, download);
    }
    minari_dataset_free(dataset);
    return code;
}

/* CLI_NOT_FOUND without a message when it is not here. */
static int show_local(const struct cli *cli, const char *id)
{
    struct local_list list = {0};
    char folder[CLI_FOLDER];
    if (hub_folder_check(hub_view_of(cli_folder(id, folder)), NULL))
        return CLI_NOT_FOUND;
    int code = local_inspect(cli_root(), folder, &list);
    if (!code && (list.count != 1 || strcmp(list.items[0].summary.id, folder) != 0))
        code = CLI_NOT_FOUND; /* a namespace, say */
    if (!code && cli->values[OPT_JSON]) {
        code = json_dumpf(list.items[0].object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17)) ? CLI_FAILED
                                                                                                : CLI_OK;
        putchar('\n');
    } else if (!code) {
        char where[800];
        snprintf(where, sizeof where, "on this machine, in '%.600s'", cli_clean(cli_root()));
        print(cli, id, list.items[0].object, where, NULL);
    }
    local_dispose(&list);
    return code;
}

int cli_show(struct cli *cli)
{
    const char *id = cli->arguments[0];
    if (!cli->values[OPT_REMOTE] && !strstr(id, "://")) {
        const int code = show_local(cli, id);
        if (code != CLI_NOT_FOUND)
            return code;
    }
    return show_remote(cli, id);
}
