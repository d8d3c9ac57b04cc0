/* A dataset's document as text: see describe.h. */
#include "client/cli/describe.h"
#include "client/cli/space.h"
#include "client/cli/table.h"
#include "storage/model/format_row.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_FIELDS = 200, MAX_PROBLEMS = 50, MAX_TASKS = 20 };

/* How much is said of a dataset: of Minari's also what is missing, as Minari itself does. */
struct form {
    const struct cli *cli;
    bool with_missing;
};

static void print_member(const struct cli *cli, const char *name, const char *value)
{
    printf("  %s%-28s%s %s\n", cli->colour ? "\033[1m" : "", name, cli->colour ? "\033[0m" : "", value);
}

/* One line of "Total Steps    6729"; none without a value, but of Minari's datasets. */
static void line(const struct form *form, const char *name, const char *value)
{
    if ((value && *value) || form->with_missing)
        print_member(form->cli, name, value && *value ? cli_clean(value) : "Not provided");
}

/* The same of what Minari has no line for. */
static void line_if(const struct form *form, const char *name, const char *value)
{
    line(&(struct form){form->cli, false}, name, value);
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

static void line_json(const struct form *form, const char *name, const json_t *value)
{
    char *text = json_is_null(value) ? NULL : flat(value);
    if (text && strlen(text) > 600) /* bounds of pictures and the like: --json has all */
        strcpy(text + 590, " ...");
    line_if(form, name, text);
    free(text);
}

static void line_space(const struct form *form, const char *name, const json_t *space)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(256 * KIB);
    if (space && space_text(space, &text, NULL))
        line(form, name, "too long: --json has it");
    else
        line(form, name, text.data);
}

/* "a, b" of an array of texts, or the text itself. */
static void line_list(const struct form *form, const char *name, const json_t *value)
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
    line(form, name, json_is_string(value) ? json_string_value(value) : joined);
}

/* As Minari calls them, in its order, and what robomimic says. What has no name here comes after them. */
static const struct {
    const char *name, *key;
} env_rows[] = {{"ID", "id"},
                {"Name", "env_name"},
                {"Version", "env_version"},
                {"Type", "type"},
                {"Entry Point", "entry_point"},
                {"Max Episode Steps", "max_episode_steps"},
                {"Reward Threshold", "reward_threshold"},
                {"Nondeterministic", "nondeterministic"},
                {"Order Enforce", "order_enforce"},
                {"Disable Env Checker", "disable_env_checker"},
                {"Kwargs", "kwargs"},
                {"Kwargs", "env_kwargs"},
                {"Additional Wrappers", "additional_wrappers"},
                {"Vector Entry Point", "vector_entry_point"}};

static bool is_env_row(const char *key)
{
    for (size_t i = 0; i < HUB_COUNT(env_rows); i++)
        if (strcmp(env_rows[i].key, key) == 0)
            return true;
    return false;
}

static bool says_something(const json_t *spec)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)spec, key, value) if (!json_is_null(value)) return true;
    return false;
}

static void environment(const struct form *form, const json_t *spec, const char *title)
{
    const char *key;
    json_t *value;
    if (!says_something(spec))
        return;
    heading(form->cli, title);
    for (size_t i = 0; i < HUB_COUNT(env_rows); i++)
        line_json(form, env_rows[i].name, json_object_get(spec, env_rows[i].key));
    json_object_foreach((json_t *)spec, key, value) if (!is_env_row(key))
        line_json(form, cli_clean(key), value);
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
    struct text_table t = {.columns = {{"Field", false},
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
    *out = 0;
    if (width && height)
        snprintf(out, 48, "%" JSON_INTEGER_FORMAT " x %" JSON_INTEGER_FORMAT, width, height);
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
    struct text_table t = {
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

/* "min 5, mean 12.4, max 20", and of how many episodes where not all have it. */
static void line_figures(const struct form *form, const json_t *doc, const char *name, const char *of)
{
    const json_t *numbers = json_object_get(json_object_get(doc, "statistics"), of),
                 *mean = json_object_get(numbers, "mean");
    const json_int_t count = json_integer_value(json_object_get(numbers, "count")),
                     all = json_integer_value(json_object_get(doc, "episodes"));
    char text[160];
    if (!json_is_number(mean))
        return;
    int n = snprintf(text, sizeof text, "min %.6g, mean %.6g, max %.6g",
                     json_number_value(json_object_get(numbers, "min")), json_number_value(mean),
                     json_number_value(json_object_get(numbers, "max")));
    if (count != all)
        snprintf(text + n, sizeof text - (size_t)n,
                 " (%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " episodes)", count, all);
    line_if(form, name, text);
}

/* "train 20, valid 5": how many episodes each has. */
static void line_splits(const struct form *form, const json_t *splits)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    const char *name;
    json_t *count;
    json_object_foreach((json_t *)splits, name, count)
    {
        if (hub_buf_addf(&text, NULL, "%s%s %" JSON_INTEGER_FORMAT, text.size ? ", " : "", name,
                         json_integer_value(count)))
            break; /* --json has all */
    }
    line_if(form, "Splits", text.data);
}

static void sizes(const struct form *form, const json_t *doc, const char *status)
{
    static const struct {
        const char *name, *key;
    } rows[] = {{"Total Steps", "steps"}, {"Total Episodes", "episodes"}};
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        const json_int_t n = json_integer_value(json_object_get(doc, rows[i].key));
        char text[24];
        snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, n);
        if (n || strcmp(status, "remote") != 0) /* there it may be unknown */
            line_if(form, rows[i].name, text);
    }
    line_figures(form, doc, "Episode Steps", "steps");
    line_figures(form, doc, "Episode Return", "return");
    line_splits(form, json_object_get(doc, "splits"));
}

static void specs(const struct form *form, const json_t *doc, const char *status)
{
    const json_t *metadata = json_object_get(doc, "metadata");
    char size[TABLE_NUMBER];
    hub_number_size((uint64_t)json_integer_value(json_object_get(doc, "size")), size);
    heading(form->cli, "Dataset Specs");
    sizes(form, doc, status);
    line_space(form, "Dataset Observation Space", json_object_get(doc, "observation_space"));
    line_space(form, "Dataset Action Space", json_object_get(doc, "action_space"));
    line_list(form, "Algorithm", json_object_get(metadata, "algorithm_name"));
    line_list(form, "Author", json_object_get(doc, "authors"));
    line_list(form, "Email", json_object_get(metadata, "author_email"));
    line_list(form, "Code Permalink", json_object_get(metadata, "code_permalink"));
    line(form, "Minari Version", text_of(doc, "minari_version"));
    const struct form more = {form->cli, false};
    line_list(&more, "Loadable by Minari", json_object_get(doc, "loadable_by"));
    line_list(&more, "Requirements", json_object_get(metadata, "requirements"));
    line_if(form, "License", text_of(json_object_get(doc, "facts"), "license"));
    line_if(form, "Documentation", text_of(metadata, "docs_url"));
    line_json(form, "Frames per Second", json_object_get(doc, "fps"));
    line_list(&more, "Robot", json_object_get(doc, "robot_type"));
    line_if(form, "Dataset Size", size);
    line_if(form, "Format", text_of(doc, "format"));
    line_if(form, "Revision", text_of(doc, "revision"));
    line_list(&more, "Combined Datasets", json_object_get(doc, "combined"));
}

static void say_status(const struct cli *cli, const json_t *doc, const char *status)
{
    const char *red = cli->colour ? "\033[31m" : "", *plain = cli->colour ? "\033[0m" : "",
               *reason = text_of(doc, "reason");
    if (strcmp(status, "remote") == 0 && !reason)
        reason = "it is fetched when it is read";
    if (strcmp(status, "ready") != 0)
        printf("%s%s%s%s%s\n", red, cli_clean(status), reason ? ": " : "", reason ? cli_clean(reason) : "",
               plain);
    if (json_is_false(json_object_get(doc, "loadable")))
        printf("%snot loadable: its own library refuses it (not-loadable, below)%s\n", red, plain);
}

void describe(const struct cli *cli, const char *id, const json_t *doc, const char *where,
              const char *download)
{
    const json_t *metadata = json_object_get(doc, "metadata"), *eval = json_object_get(doc, "eval_env_spec");
    const char *status = text_of(doc, "status"), *description = text_of(doc, "description"),
               *format = text_of(doc, "format");
    status = status ? status : "ready";
    const struct form form = {cli,
                              hub_format_is_of(format, HUB_LIBRARY_MINARI) && strcmp(status, "remote") != 0};
    printf("%s%s%s\n%s\n", cli->colour ? "\033[1m" : "", cli_clean(id), cli->colour ? "\033[0m" : "", where);
    say_status(cli, doc, status);
    if (description && *description) {
        heading(cli, "Description");
        printf("  %s\n", cli_clean(description));
    }
    specs(&form, doc, status);
    line_if(&form, "Download", download);
    environment(&form, json_object_get(doc, "env_spec"), "Environment Specs");
    environment(&form, eval ? eval : json_object_get(metadata, "eval_env_spec"),
                "Evaluation Environment Specs");
    fields(cli, doc);
    cameras(cli, json_object_get(doc, json_object_get(doc, "cameras") ? "cameras" : "media"));
    tasks(cli, json_object_get(doc, "tasks"));
    problems(cli, json_object_get(doc, "problems"));
}
