/*
 * Folders of the library datasets (Dataset.save_to_disk): state.json, which lists the files data-*.arrow
 * (Arrow streams of one schema), and dataset_info.json; a DatasetDict is a folder of such folders beside
 * dataset_dict.json, its splits. The files of a folder are one table and one part.
 *
 * A row is a trajectory where rewards, dones or infos are lists as long as those of the actions, and
 * observations as long or by one longer: so imitation writes its trajectories, and the sets of Decision
 * Transformer are. Each column is then one array over the items of all its lists, and episodes are windows.
 * Else a row is a step: a column episode_index cuts the rows where it changes, and without it they are one
 * episode.
 *
 * Problems: missing-file, unreadable-file, not-loadable, not-fetched, permission-denied, bad-metadata,
 * episode-order, rows-differ, nulls.
 */
#include "storage/formats/kit/table_kit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_JSON = 4 * 1024 * 1024, MAX_SPLITS = 1000, MAX_ROWS = 16 * 1024 * 1024 };

/* An episode: its rows in a table of steps; in one of trajectories its row. */
struct episode_span {
    int64_t number;
    uint64_t first, count;
};

/* One folder: its table and the episodes in it. */
struct folder {
    struct hub_files *files;
    struct hub_sink *sink; /* NULL: problems were or will be reported by another walk */
    char prefix[HUB_MAX_PATH], split[256];
    json_t *state;
    struct hub_table table; /* of the batches of all its files */
    uint32_t opened, failed;
    struct hub_error first_failure;
    bool trajectories;
    struct episode_span *cuts;
    uint32_t count, capacity;
    bool numbered;              /* the numbers of the cuts are the format's own */
    uint64_t *offsets;          /* trajectories: of the items of the column at hand, by row */
    struct hub_window *windows; /* of the column at hand, by cut */
};

static void folder_dispose(struct folder *f)
{
    json_decref(f->state);
    hub_table_dispose(&f->table);
    free(f->cuts);
    free(f->offsets);
    free(f->windows);
}

static enum hub_status report_problem(const struct folder *f, const char *code, const char *path,
                                      struct hub_error *err, const char *detail)
{
    return f->sink ? hub_sink_problem(f->sink, code, hub_view_of(path), err, "%s", detail) : HUB_OK;
}

/* ---- claim ---- */

static bool head_has(struct hub_files *listing, const char *path, const char *word)
{
    char head[4096];
    size_t got = 0;
    const uint32_t number = hub_files_find(listing, path);
    return number != HUB_NONE && !listing->entries[number].directory &&
           !hub_files_read(listing, number, 0, head, sizeof head, &got, NULL) &&
           memmem(head, got, word, strlen(word));
}

static int claim(struct hub_files *listing)
{
    return head_has(listing, "state.json", "\"_data_files\"")
               ? hub_files_bid(listing, hub_marks_datasets, NULL)
           : head_has(listing, "dataset_dict.json", "\"splits\"")
               ? hub_files_bid(listing, hub_marks_datasets, "state.json")
               : 0;
}

/* ---- the table ---- */

static enum hub_status load_state(struct folder *f, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = {0};
    char path[HUB_MAX_PATH + 16];
    snprintf(path, sizeof path, "%sstate.json", f->prefix);
    const uint32_t number = hub_files_find(f->files, path);
    if (number == HUB_NONE)
        return hub_fail(err, HUB_CORRUPT, "%s is missing", path);
    struct hub_error why = {0};
    const enum hub_status st = hub_json_object_of(f->files, number, MAX_JSON, &strict, &f->state, &why);
    if (st)
        return hub_fail_as(err, st, why.problem, "%s: %s", path, why.detail);
    const char *split = json_string_value(json_object_get(f->state, "_split"));
    if (!f->split[0] && split)
        snprintf(f->split, sizeof f->split, "%s", split);
    return HUB_OK;
}

/* The file that state.json calls so, inside its folder. */
static uint32_t data_file(const struct folder *f, const json_t *entry, char path[HUB_MAX_PATH + 256])
{
    const char *name = json_string_value(json_object_get(entry, "filename"));
    snprintf(path, HUB_MAX_PATH + 256, "%s%.200s", f->prefix, name ? name : "?");
    return name && !strchr(name, '/') ? hub_files_find(f->files, path) : HUB_NONE;
}

static enum hub_status add_file(struct folder *f, uint32_t number, const char *path, struct hub_error *err)
{
    struct hub_byte_source source;
    struct hub_error why = {0};
    hub_byte_source_file(&source, f->files, number);
    enum hub_status st = hub_byte_source_usable(&source, &why);
    if (!st)
        st = hub_arrow_add(&f->table.arrow, &source, &why);
    if (!st) {
        f->opened++;
        return HUB_OK;
    }
    if (!hub_is_local(st))
        return hub_pass(st, &why, err);
    if (f->opened == 0) /* half a schema */
        hub_arrow_dispose(&f->table.arrow);
    if (f->failed++ == 0)
        f->first_failure = why;
    HUB_TRY(report_problem(f, hub_problem_name_or(why.problem, "unreadable-file"), path, err, why.detail));
    return report_problem(f, "not-loadable", path, err,
                          "cannot be read: datasets cannot load the dataset without it");
}

static enum hub_status open_table(struct folder *f, struct hub_error *err)
{
    const json_t *list = json_object_get(f->state, "_data_files");
    for (size_t i = 0; i < json_array_size(list); i++) {
        char path[HUB_MAX_PATH + 256];
        const uint32_t number = data_file(f, json_array_get(list, i), path);
        if (number != HUB_NONE) {
            HUB_TRY(add_file(f, number, path, err));
            continue;
        }
        HUB_TRY(report_problem(f, "missing-file", path, err, "state.json names it; its rows are left out"));
        HUB_TRY(report_problem(f, "not-loadable", path, err,
                               "missing: datasets cannot load the dataset without it"));
    }
    if (f->opened == 0 && f->failed)
        return hub_fail_as(err, HUB_CORRUPT, f->first_failure.problem,
                           "no data file can be read; the first: %s", f->first_failure.detail);
    f->table.rows = f->table.arrow.rows;
    f->table.count = f->table.arrow.column_count;
    return HUB_OK;
}

/* ---- episodes ---- */

static uint32_t list_of_role(const struct folder *f, enum hub_role role)
{
    for (uint32_t i = 0; i < f->table.count; i++)
        if (hub_role_of(hub_view_of(hub_table_path(&f->table, i))) == role && hub_table_is_list(&f->table, i))
            return i;
    return HUB_NONE;
}

/* Are the lists of a column, row by row, as long as those of the actions, or by one longer? */
static enum hub_status as_long(struct folder *f, uint32_t column, const uint64_t *actions, bool *out,
                               struct hub_error *err)
{
    HUB_TRY(hub_arrow_offsets(&f->table.arrow, column, f->offsets, err));
    *out = true;
    for (uint64_t i = 0; *out && i < f->table.rows; i++)
        *out = hub_axis_of(f->offsets[i + 1] - f->offsets[i], actions[i + 1] - actions[i]) != HUB_AXIS_NONE;
    return HUB_OK;
}

static enum hub_status find_trajectories(struct folder *f, uint64_t *actions, struct hub_error *err)
{
    static const enum hub_role sure[] = {HUB_ROLE_INFO, HUB_ROLE_REWARD, HUB_ROLE_DONE};
    const uint32_t seen = list_of_role(f, HUB_ROLE_OBSERVATION), acted = list_of_role(f, HUB_ROLE_ACTION);
    bool fits = false;
    if (acted == HUB_NONE || seen == HUB_NONE)
        return HUB_OK;
    HUB_TRY(hub_arrow_offsets(&f->table.arrow, acted, actions, err));
    HUB_TRY(as_long(f, seen, actions, &fits, err));
    for (size_t i = 0; fits && !f->trajectories && i < HUB_COUNT(sure); i++) {
        const uint32_t column = list_of_role(f, sure[i]);
        if (column != HUB_NONE)
            HUB_TRY(as_long(f, column, actions, &f->trajectories, err));
    }
    return HUB_OK;
}

static enum hub_status add_cut(struct folder *f, int64_t number, uint64_t first, uint64_t count,
                               struct hub_error *err)
{
    if (f->count == HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d episodes", HUB_MAX_EPISODES);
    HUB_TRY(hub_grow(&f->cuts, f->count, &f->capacity, sizeof *f->cuts, err));
    f->cuts[f->count++] = (struct episode_span){number, first, count};
    return HUB_OK;
}

/* Where the column of episode numbers changes. */
static enum hub_status cut_steps(struct folder *f, struct hub_error *err)
{
    static const char *const names[] = {"episode_index", "episode_id", "episode", "traj_id"};
    HUB_CLEANUP(hub_freep) double *numbers = NULL;
    const uint64_t rows = f->table.rows;
    for (size_t i = 0; !numbers && i < HUB_COUNT(names); i++)
        HUB_TRY(hub_table_numbers(&f->table, names[i], NULL, MAX_ROWS, &numbers, err));
    f->numbered = numbers != NULL;
    for (uint64_t i = 0, first = 0; i < rows && numbers; i++) {
        const double number = numbers[i];
        if (i + 1 < rows && numbers[i + 1] == number)
            continue;
        f->numbered = f->numbered && number >= 0 && number < (double)HUB_MAX_NUMBER &&
                      number == floor(number) && (first == 0 || number > numbers[first - 1]);
        HUB_TRY(add_cut(f, f->numbered ? (int64_t)number : -1, first, i + 1 - first, err));
        first = i + 1;
    }
    if (numbers && rows && !f->numbered)
        HUB_TRY(
            report_problem(f, "episode-order", f->prefix, err,
                           "the episode numbers do not increase: episodes are numbered by their position"));
    return numbers || !rows ? HUB_OK : add_cut(f, 0, 0, rows, err);
}

static enum hub_status find_episodes(struct folder *f, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *actions = NULL;
    const uint64_t rows = f->table.rows;
    if (rows <= HUB_MAX_EPISODES) {
        HUB_TRY(hub_new(&actions, (size_t)rows + 1, sizeof *actions, err));
        HUB_TRY(hub_new(&f->offsets, (size_t)rows + 1, sizeof *f->offsets, err));
        HUB_TRY(find_trajectories(f, actions, err));
    }
    if (!actions || !f->trajectories)
        return cut_steps(f, err);
    for (uint64_t i = 0; i < rows; i++)
        HUB_TRY(add_cut(f, (int64_t)i, i, actions[i + 1] - actions[i], err));
    f->numbered = true;
    return HUB_OK;
}

/* ---- plan ---- */

static enum hub_status load_folder(struct folder *f, struct hub_error *err)
{
    HUB_TRY(load_state(f, err));
    HUB_TRY(open_table(f, err));
    return find_episodes(f, err);
}

static enum hub_status send_part(struct folder *f, struct hub_sink *sink, bool alone, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *numbers = NULL;
    char path[HUB_MAX_PATH + 256], hint[HUB_MAX_PATH + 300];
    const json_t *list = json_object_get(f->state, "_data_files");
    uint32_t n = 0;
    HUB_TRY(hub_new(&numbers, json_array_size(list) + 1, sizeof *numbers, err));
    snprintf(path, sizeof path, "%sstate.json", f->prefix);
    numbers[n++] = hub_files_find(f->files, path);
    for (size_t i = 0; i < json_array_size(list); i++) {
        numbers[n] = data_file(f, json_array_get(list, i), path);
        n += numbers[n] != HUB_NONE;
    }
    snprintf(hint, sizeof hint, "%d %s", alone, f->prefix);
    const char *name = f->split[0] ? f->split : "data";
    return hub_sink_part(sink, &(struct hub_part){hub_view_of(name), numbers, n, hub_view_of(hint)}, err);
}

/* What describes the first folder describes all. */
static enum hub_status send_info(const struct folder *f, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *info = NULL;
    struct hub_error why = {0};
    char path[HUB_MAX_PATH + 32];
    snprintf(path, sizeof path, "%sdataset_info.json", f->prefix);
    const uint32_t number = hub_files_find(f->files, path);
    if (number == HUB_NONE)
        return hub_sink_problem(sink, "not-loadable", hub_view_of(path), err,
                                "missing: datasets cannot load the dataset without it");
    const enum hub_status st = hub_json_object_of(f->files, number, MAX_JSON, &strict, &info, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st)
        return hub_sink_problem(sink, hub_problem_name_or(why.problem, "bad-metadata"), hub_view_of(path),
                                err, "%s", why.detail);
    const char *description = json_string_value(json_object_get(info, "description"));
    if (description && *description)
        HUB_TRY(hub_sink_fact(sink, "description", hub_view_of(description), err));
    return hub_sink_fact(sink, "metadata", hub_buf_view(&strict), err);
}

/* One folder, as a split where it has a name. */
static enum hub_status plan_folder(struct hub_files *files, const char *split, bool alone,
                                   struct hub_json *counts, struct hub_sink *sink, bool *described,
                                   struct hub_error *err)
{
    HUB_CLEANUP(folder_dispose) struct folder f = {.files = files};
    struct hub_error why = {0};
    snprintf(f.prefix, sizeof f.prefix, "%s%s", split, *split ? "/" : "");
    snprintf(f.split, sizeof f.split, "%s", split);
    enum hub_status st = load_state(&f, &why);
    if (st && (alone || !hub_is_local(st)))
        return hub_pass(st, &why, err);
    if (st)
        return hub_sink_problem(sink, hub_problem_name_or(why.problem, "unreadable-file"),
                                hub_view_of(f.prefix), err, "the split is left out: %s", why.detail);
    if (!*described)
        HUB_TRY(send_info(&f, sink, err));
    *described = true;
    HUB_TRY(send_part(&f, sink, alone, err));
    if (!f.split[0])
        return HUB_OK;
    st = open_table(&f, &why);
    if (!st)
        st = find_episodes(&f, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    hub_json_put_uint(counts, f.split, f.count);
    return HUB_OK;
}

static bool plain_name(const char *name)
{
    return name && *name && *name != '.' && !strchr(name, '/') && strlen(name) < 200;
}

static enum hub_status plan_splits(struct hub_files *files, uint32_t number, struct hub_json *counts,
                                   struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf strict = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *dict = NULL;
    bool described = false;
    HUB_TRY(hub_json_object_of(files, number, MAX_JSON, &strict, &dict, err));
    const json_t *splits = json_object_get(dict, "splits");
    const size_t n = json_array_size(splits);
    for (size_t i = 0; i < n && i < MAX_SPLITS; i++) {
        const char *name = json_string_value(json_array_get(splits, i));
        bool again = false;
        for (size_t k = 0; name && k < i; k++)
            again |= json_equal(json_array_get(splits, k), json_array_get(splits, i)) != 0;
        if (!plain_name(name) || again) {
            HUB_TRY(hub_sink_problem(sink, "bad-metadata", HUB_VIEW("dataset_dict.json"), err,
                                     "split %zu has no name, or that of another split", i));
            continue;
        }
        HUB_TRY(plan_folder(files, name, n == 1, counts, sink, &described, err));
    }
    return described || !n ? HUB_OK : hub_fail(err, HUB_CORRUPT, "no split of dataset_dict.json can be read");
}

static enum hub_status plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MAX_JSON);
    struct hub_json counts = hub_json_to(&text, err);
    const uint32_t dict = hub_files_find(files, "dataset_dict.json");
    bool described = false;
    hub_json_object(&counts);
    HUB_TRY(hub_files_find(files, "state.json") == HUB_NONE && dict != HUB_NONE
                ? plan_splits(files, dict, &counts, sink, err)
                : plan_folder(files, "", true, &counts, sink, &described, err));
    hub_json_end_object(&counts);
    HUB_TRY(hub_json_status(&counts));
    return text.size > 2 ? hub_sink_fact(sink, "splits", hub_buf_view(&text), err) : HUB_OK;
}

/* ---- what is reported of an episode ---- */

/* A column that says something of each episode, as numbers: of its steps, or with `single` one of it. */
struct episode_numbers {
    double *numbers;
    uint64_t *offsets; /* of trajectories: of each row's items */
    bool single;
};

static void column_dispose(struct episode_numbers *c)
{
    free(c->numbers);
    free(c->offsets);
}

static enum hub_status load_column(struct folder *f, const char *const *names, struct episode_numbers *out,
                                   struct hub_error *err)
{
    if (f->trajectories)
        HUB_TRY(hub_new(&out->offsets, (size_t)f->table.rows + 1, sizeof *out->offsets, err));
    for (; *names && !out->numbers; names++) {
        HUB_TRY(hub_table_numbers(&f->table, *names, out->offsets, MAX_ROWS, &out->numbers, err));
        out->single = f->trajectories && out->numbers &&
                      !hub_table_is_list(&f->table, hub_table_find(&f->table, *names));
    }
    return HUB_OK;
}

/* The numbers of an episode; false: there are none. */
static bool numbers_in(const struct episode_numbers *c, const struct episode_span *cut, uint64_t *first,
                       uint64_t *count)
{
    *first = c->offsets ? c->offsets[cut->first] : cut->first;
    *count = c->offsets ? c->offsets[cut->first + 1] - *first : cut->count;
    return c->numbers && *count;
}

static int8_t last_flag(const struct episode_numbers *c, const struct episode_span *cut)
{
    uint64_t first, count;
    if (!numbers_in(c, cut, &first, &count))
        return -1;
    const double last = c->numbers[first + count - 1];
    return isnan(last) ? -1 : last != 0;
}

static void sum_rewards(const struct episode_numbers *c, const struct episode_span *cut,
                        struct hub_episode *episode)
{
    uint64_t first, count;
    if (!c->single && numbers_in(c, cut, &first, &count))
        hub_episode_sum(episode, c->numbers + first, count);
}

/* The file in which an episode begins. */
static uint32_t file_of(const struct folder *f, uint64_t row, uint32_t *near)
{
    const struct hub_arrow *arrow = &f->table.arrow;
    while (*near + 1 < arrow->batch_count && arrow->batches[*near + 1].first_row <= row)
        ++*near;
    return arrow->batches[*near].file;
}

static enum hub_status send_episodes(struct folder *f, bool alone, struct hub_error *err)
{
    static const char *const rewards[] = {"rewards", "rews", "reward", "next.reward", NULL},
                             *const ends[] = {"terminal", "terminals", "terminations", "terminated",
                                              "dones",    "done",      "next.done",    NULL},
                             *const cuts[] = {"truncations", "truncated", "timeouts", "timeout", NULL};
    HUB_CLEANUP(column_dispose) struct episode_numbers reward = {0};
    HUB_CLEANUP(column_dispose) struct episode_numbers end = {0};
    HUB_CLEANUP(column_dispose) struct episode_numbers timeout = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf splits = HUB_BUF_INIT(HUB_MAX_ATTRIBUTES);
    uint32_t near = 0;
    HUB_TRY(load_column(f, rewards, &reward, err));
    HUB_TRY(load_column(f, ends, &end, err));
    HUB_TRY(load_column(f, cuts, &timeout, err));
    HUB_TRY(hub_json_one(hub_view_of(f->split), &splits, err));
    for (uint32_t i = 0; i < f->count; i++) {
        const struct episode_span *cut = &f->cuts[i];
        char name[HUB_MAX_PATH + 32];
        uint32_t index;
        snprintf(name, sizeof name, "%s%lld", f->prefix, (long long)(f->numbered ? cut->number : (int64_t)i));
        struct hub_episode episode =
            hub_episode_of(hub_view_of(name), file_of(f, cut->first, &near), cut->count);
        episode.number = alone && f->numbered ? cut->number : -1;
        episode.terminated = last_flag(&end, cut);
        episode.truncated = last_flag(&timeout, cut);
        episode.splits = hub_buf_view(&splits);
        sum_rewards(&reward, cut, &episode);
        HUB_TRY(hub_sink_episode(f->sink, &episode, &index, err));
    }
    return HUB_OK;
}

/* ---- fields ---- */

/* How the rows of a column of trajectories relate to their steps, by most of them. */
static void elect_axis(const struct folder *f, struct hub_table_field *field)
{
    for (uint32_t i = 0; i < f->count; i++)
        field->votes[hub_axis_of(f->windows[i].count, f->cuts[i].count)]++;
    for (unsigned a = HUB_AXIS_STEP; a <= HUB_AXIS_STATE; a++)
        if (field->votes[a] > field->votes[field->axis])
            field->axis = (enum hub_axis)a;
}

/* The windows of a column: of trajectories the items of each row's list, or the row. */
static enum hub_status find_windows(struct folder *f, struct hub_table_field *field, uint32_t column,
                                    struct hub_error *err)
{
    field->axis = f->trajectories ? HUB_AXIS_NONE : HUB_AXIS_STEP;
    for (uint32_t i = 0; i < f->count; i++)
        f->windows[i] = (struct hub_window){
            .episode = i, .first = f->cuts[i].first, .count = f->trajectories ? 1 : f->cuts[i].count};
    if (!f->trajectories || !hub_table_is_list(&f->table, column))
        return HUB_OK;
    HUB_TRY(hub_arrow_offsets(&f->table.arrow, column, f->offsets, err));
    hub_table_cut(f->offsets, f->windows, f->count);
    elect_axis(f, field);
    return HUB_OK;
}
static enum hub_status read_column(void *user, struct hub_table *table, struct hub_table_field *field,
                                   struct hub_table_column *c, struct hub_error *why)
{
    struct folder *f = user;
    HUB_TRY(find_windows(f, field, c->index, why));
    HUB_TRY(f->trajectories ? hub_table_items_read(table, c->index, f->offsets, c, why)
                            : hub_table_read(table, c->index, UINT64_MAX, c, why));
    c->type = hub_column_type(c->type, &c->variant, hub_view_of(field->path), false);
    return HUB_OK;
}

static const struct hub_table_dialect dialect = {.read = read_column};

static enum hub_status send_field(struct folder *f, uint32_t column, struct hub_error *err)
{
    const struct hub_table_fields fields = {
        .dialect = &dialect, .user = f, .files = f->files, .sink = f->sink};
    struct hub_table_field field = hub_table_field_of(f->table.arrow.columns[column].path);
    const struct hub_view path = hub_view_of(field.path);
    if (hub_table_find(&f->table, field.path) != column)
        return hub_report_repeated(f->sink, path, err);
    HUB_TRY(hub_table_field_add(&fields, &field, &f->table, column, f->windows, f->count, err));
    if (!field.readings.readable)
        return HUB_OK;
    HUB_TRY(hub_report_nulls(f->sink, path, field.nulls, err));
    return hub_table_field_report_odd(&fields, &field, err);
}

static enum hub_status send_fields(struct folder *f, struct hub_error *err)
{
    if (f->count == 0) /* its types may be none either */
        return HUB_OK;
    HUB_TRY(hub_new(&f->windows, f->count, sizeof *f->windows, err));
    for (uint32_t i = 0; i < f->table.count; i++)
        HUB_TRY(send_field(f, i, err));
    return HUB_OK;
}

static enum hub_status inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                               struct hub_error *err)
{
    HUB_CLEANUP(folder_dispose) struct folder f = {.files = files, .sink = sink};
    const size_t n = part->hint.size;
    if (n < 2 || n - 2 >= sizeof f.prefix)
        return hub_fail(err, HUB_INVALID, "a part without its folder");
    memcpy(f.prefix, part->hint.data + 2, n - 2);
    if (n > 2) /* the folder is the split */
        snprintf(f.split, sizeof f.split, "%.*s", (int)HUB_MIN(n - 3, 255), f.prefix);
    HUB_TRY(load_folder(&f, err));
    HUB_TRY(send_episodes(&f, part->hint.data[0] == '1', err));
    return send_fields(&f, err);
}

const struct hub_format hub_format_datasets = {
    .name = "datasets",
    .marks = hub_marks_datasets,
    .claim_directory = claim,
    .plan = plan,
    .inspect = inspect,
};
