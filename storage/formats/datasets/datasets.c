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
#include "storage/formats/datasets/datasets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_JSON = 4 * 1024 * 1024, MAX_SPLITS = 1000 };

void datasets_folder_dispose(struct datasets_folder *f)
{
    json_decref(f->state);
    hub_table_dispose(&f->table);
    free(f->cuts);
    free(f->offsets);
    free(f->windows);
}

static enum hub_status report_problem(const struct datasets_folder *f, const char *code, const char *path,
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

static enum hub_status load_state(struct datasets_folder *f, struct hub_error *err)
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
static uint32_t data_file(const struct datasets_folder *f, const json_t *entry, char path[HUB_MAX_PATH + 256])
{
    const char *name = json_string_value(json_object_get(entry, "filename"));
    snprintf(path, HUB_MAX_PATH + 256, "%s%.200s", f->prefix, name ? name : "?");
    return name && !strchr(name, '/') ? hub_files_find(f->files, path) : HUB_NONE;
}

static enum hub_status add_file(struct datasets_folder *f, uint32_t number, const char *path,
                                struct hub_error *err)
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

static enum hub_status open_table(struct datasets_folder *f, struct hub_error *err)
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

static uint32_t list_of_role(const struct datasets_folder *f, enum hub_role role)
{
    for (uint32_t i = 0; i < f->table.count; i++)
        if (hub_role_of(hub_view_of(hub_table_path(&f->table, i))) == role && hub_table_is_list(&f->table, i))
            return i;
    return HUB_NONE;
}

/* Are the lists of a column, row by row, as long as those of the actions, or by one longer? */
static enum hub_status as_long(struct datasets_folder *f, uint32_t column, const uint64_t *actions, bool *out,
                               struct hub_error *err)
{
    HUB_TRY(hub_arrow_offsets(&f->table.arrow, column, f->offsets, err));
    *out = true;
    for (uint64_t i = 0; *out && i < f->table.rows; i++)
        *out = hub_axis_of(f->offsets[i + 1] - f->offsets[i], actions[i + 1] - actions[i]) != HUB_AXIS_NONE;
    return HUB_OK;
}

static enum hub_status find_trajectories(struct datasets_folder *f, uint64_t *actions, struct hub_error *err)
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

static enum hub_status add_cut(struct datasets_folder *f, int64_t number, uint64_t first, uint64_t count,
                               struct hub_error *err)
{
    if (f->count == HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d episodes", HUB_MAX_EPISODES);
    HUB_TRY(hub_grow(&f->cuts, f->count, &f->capacity, sizeof *f->cuts, err));
    f->cuts[f->count++] = (struct datasets_episode){number, first, count};
    return HUB_OK;
}

/* Where the column of episode numbers changes. */
static enum hub_status cut_steps(struct datasets_folder *f, struct hub_error *err)
{
    static const char *const names[] = {"episode_index", "episode_id", "episode", "traj_id"};
    HUB_CLEANUP(hub_freep) double *numbers = NULL;
    const uint64_t rows = f->table.rows;
    for (size_t i = 0; !numbers && i < HUB_COUNT(names); i++)
        HUB_TRY(hub_table_numbers(&f->table, names[i], NULL, DATASETS_MAX_ROWS, &numbers, err));
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

static enum hub_status find_episodes(struct datasets_folder *f, struct hub_error *err)
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

enum hub_status datasets_folder_load(struct datasets_folder *f, struct hub_error *err)
{
    HUB_TRY(load_state(f, err));
    HUB_TRY(open_table(f, err));
    return find_episodes(f, err);
}

static enum hub_status send_part(struct datasets_folder *f, struct hub_sink *sink, bool alone,
                                 struct hub_error *err)
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
static enum hub_status send_info(const struct datasets_folder *f, struct hub_sink *sink,
                                 struct hub_error *err)
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
    HUB_CLEANUP(datasets_folder_dispose) struct datasets_folder f = {.files = files};
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

const struct hub_format hub_format_datasets = {
    .name = "datasets",
    .marks = hub_marks_datasets,
    .claim_directory = claim,
    .plan = plan,
    .inspect = datasets_inspect,
};
