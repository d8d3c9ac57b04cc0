/* The plan: what describes the whole dataset as facts, what contradicts itself as problems, and the parts:
 * a run of 1,000 episode numbers (v2), or data files that come to 64 MiB (v3). */
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>
#include <stdlib.h>

#define PART_BYTES (64 * MIB)

struct lerobot_plan_state {
    struct hub_files *files;
    struct hub_sink *sink;
    struct lerobot_info info;
    struct lerobot_file *data; /* by number */
    uint32_t count;
    bool numbered, tables; /* names of data files say whose they are; episodes are listed in tables */
    struct lerobot_said_list tasks, subtasks;
    int64_t *listed; /* numbers of episodes, ascending once they are all read */
    uint32_t listed_count, listed_capacity;
    uint32_t missing; /* of those listed: no data file */
    int64_t first_missing;
};

bool hub_lerobot_has_company(const struct hub_files *files)
{
    return hub_files_find(files, LEROBOT_EPISODES) != HUB_NONE ||
           hub_files_find(files, LEROBOT_TASKS) != HUB_NONE ||
           hub_files_find(files, LEROBOT_TASK_TABLE) != HUB_NONE;
}

/* ---- data files ---- */

static enum hub_status find_data(struct lerobot_plan_state *p, struct hub_error *err)
{
    uint32_t numbered = 0;
    HUB_TRY(hub_new(&p->data, (size_t)p->files->count + 1, sizeof *p->data, err));
    for (uint32_t i = 0; i < p->files->count; i++) {
        const struct hub_view path = p->files->entries[i].path;
        if (!hub_lerobot_is_data(path))
            continue;
        p->data[p->count] = (struct lerobot_file){hub_lerobot_episode_of(path, ".parquet"), i};
        numbered += p->data[p->count++].episode >= 0;
    }
    qsort(p->data, p->count, sizeof *p->data, hub_lerobot_by_file);
    p->numbered = numbered > 0;
    if (numbered) { /* then a table of another name is no episode */
        memmove(p->data, p->data + (p->count - numbered), numbered * sizeof *p->data);
        p->count = numbered;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct lerobot_file *e = &p->data[i];
        if (kept && e->episode >= 0 && p->data[kept - 1].episode == e->episode)
            HUB_TRY(hub_sink_problem(p->sink, "repeated-episode", p->files->entries[e->file].path, err,
                                     "episode %lld has another file already", (long long)e->episode));
        else
            p->data[kept++] = *e;
    }
    p->count = kept;
    return HUB_OK;
}

/* ---- episodes that are listed ---- */

static enum hub_status list_episode(struct lerobot_plan_state *p, int64_t number, bool found,
                                    struct hub_error *err)
{
    HUB_TRY(hub_grow(&p->listed, p->listed_count, &p->listed_capacity, sizeof *p->listed, err));
    p->listed[p->listed_count++] = number;
    if (!found && p->missing++ == 0)
        p->first_missing = number;
    return HUB_OK;
}

static bool has_file(const struct lerobot_plan_state *p, int64_t number)
{
    return !p->numbered || bsearch(&number, p->data, p->count, sizeof *p->data, hub_by_i64);
}

static enum hub_status take_line(void *user, json_t *line, uint32_t number, struct hub_error *err)
{
    struct lerobot_plan_state *p = user;
    const int64_t wanted = hub_lerobot_line_episode(line);
    (void)number;
    return wanted < 0 ? HUB_OK : list_episode(p, wanted, has_file(p, wanted), err);
}

static enum hub_status take_rows(struct lerobot_plan_state *p, struct hub_table *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_parquet_items_dispose)
    struct hub_parquet_items numbers = {0}, chunks = {0}, places = {0};
    const char *template = hub_lerobot_text(p->info.json, "data_path");
    struct lerobot_path_values values = {-1, -1, 0, NULL};
    bool found = false;
    HUB_TRY(hub_lerobot_table_read(t, "episode_index", 0, t->rows, &numbers, err));
    const bool placed = !hub_lerobot_table_read(t, "data/chunk_index", 0, t->rows, &chunks, NULL) &&
                        !hub_lerobot_table_read(t, "data/file_index", 0, t->rows, &places, NULL);
    for (uint64_t r = 0; r < t->rows; r++) {
        const int64_t number = hub_lerobot_integer(&numbers, r);
        const int64_t chunk = placed ? hub_lerobot_integer(&chunks, r) : -1,
                      file = placed ? hub_lerobot_integer(&places, r) : -1;
        if (number < 0)
            continue;
        if (p->numbered || chunk < 0 || file < 0) {
            found = has_file(p, number);
        } else if (r == 0 || chunk != values.chunk || file != values.file) {
            values = (struct lerobot_path_values){chunk, file, number, NULL};
            found = hub_lerobot_find(p->files, template, LEROBOT_DATA_TEMPLATE, &values) != HUB_NONE;
        }
        HUB_TRY(list_episode(p, number, found, err));
    }
    return HUB_OK;
}

static enum hub_status take_tables(struct lerobot_plan_state *p, struct hub_error *err)
{
    for (uint32_t i = 0; i < p->files->count; i++) {
        HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
        struct hub_error why = {0};
        if (!hub_lerobot_is_episodes(p->files->entries[i].path))
            continue;
        enum hub_status st = hub_lerobot_table_open(p->files, i, &table, &why);
        if (!st)
            st = take_rows(p, &table, &why);
        if (st && !hub_is_local(st))
            return hub_pass(st, &why, err);
        if (!st)
            continue;
        HUB_TRY(hub_sink_problem(p->sink, hub_problem_name_or(why.problem, "bad-metadata"),
                                 p->files->entries[i].path, err, "%s", why.detail));
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", p->files->entries[i].path, err,
                                 "cannot be read: LeRobot cannot load the dataset without it"));
    }
    return HUB_OK;
}

static const char *list_name(const struct lerobot_plan_state *p)
{
    return p->tables ? "meta/episodes" : LEROBOT_EPISODES;
}

static enum hub_status check_repeated(struct lerobot_plan_state *p, struct hub_error *err)
{
    uint32_t repeated = 0;
    int64_t example = 0;
    if (p->listed_count)
        qsort(p->listed, p->listed_count, sizeof *p->listed, hub_by_i64);
    for (uint32_t i = 1; i < p->listed_count; i++)
        if (p->listed[i] == p->listed[i - 1])
            example = repeated++ ? example : p->listed[i];
    if (!repeated)
        return HUB_OK;
    return hub_sink_problem(p->sink, "repeated-episode", hub_view_of(list_name(p)), err,
                            "%u rows repeat an episode; the first is episode %lld", repeated,
                            (long long)example);
}

static enum hub_status check_listed(struct lerobot_plan_state *p, struct hub_error *err)
{
    if (p->tables)
        HUB_TRY(take_tables(p, err));
    else
        HUB_TRY(hub_lerobot_lines(
            &(struct lerobot_lines){p->files, p->sink, LEROBOT_EPISODES, 0, INT64_MAX, take_line, p}, err));
    HUB_TRY(check_repeated(p, err));
    const struct hub_view name = hub_view_of(list_name(p));
    if (p->missing)
        HUB_TRY(hub_sink_problem(p->sink, "missing-file", name, err,
                                 "%u of %u listed episodes have no data file; the first is %lld", p->missing,
                                 p->listed_count, (long long)p->first_missing));
    if (p->numbered && p->listed_count && p->listed_count - p->missing < p->count)
        HUB_TRY(hub_sink_problem(p->sink, "unlisted-episodes", name, err,
                                 "%u of %u data files are not listed",
                                 p->count - (p->listed_count - p->missing), p->count));
    return HUB_OK;
}

/* ---- facts ---- */

static enum hub_status send_count(struct lerobot_plan_state *p, const char *fact, const char *key,
                                  struct hub_error *err)
{
    const json_t *count = json_object_get(p->info.json, key);
    if (json_integer_value(count) < 0)
        return hub_sink_problem(p->sink, "bad-metadata", HUB_VIEW(LEROBOT_INFO), err, "%s is negative: %lld",
                                key, (long long)json_integer_value(count));
    return json_is_integer(count) ? hub_sink_count(p->sink, fact, json_integer_value(count), err) : HUB_OK;
}

static uint64_t episodes_within(const struct lerobot_plan_state *p, int64_t from, int64_t to)
{
    uint64_t n = 0;
    for (uint32_t i = 0; p->numbered && i < p->count; i++)
        n += p->data[i].episode >= from && p->data[i].episode < to;
    for (uint32_t i = 0; !p->numbered && i < p->listed_count; i++)
        n += p->listed[i] >= from && p->listed[i] < to && (i == 0 || p->listed[i] != p->listed[i - 1]);
    return n;
}

static enum hub_status send_splits(struct lerobot_plan_state *p, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    struct hub_json json = hub_json_to(&text, err);
    json_t *splits = json_object_get(p->info.json, "splits");
    const char *name;
    json_t *range;
    hub_json_object(&json);
    json_object_foreach(splits, name, range)
    {
        int64_t from, to;
        if (!hub_lerobot_range(range, &from, &to)) {
            HUB_TRY(
                hub_sink_problem(p->sink, "bad-split", hub_view_of(name), err, "not a range of episodes"));
            continue;
        }
        const uint64_t count = episodes_within(p, from, to);
        hub_json_put_uint(&json, name, count);
        if (count != (uint64_t)(to - from))
            HUB_TRY(hub_sink_problem(p->sink, "bad-split", hub_view_of(name), err,
                                     "\"%s\" names %lld episodes, %llu exist", json_string_value(range),
                                     (long long)(to - from), (unsigned long long)count));
    }
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return json_object_size(splits) ? hub_sink_fact(p->sink, "splits", hub_buf_view(&text), err) : HUB_OK;
}

static enum hub_status send_facts(struct lerobot_plan_state *p, struct hub_view info, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *stats = NULL;
    HUB_TRY(hub_sink_fact(p->sink, "metadata", info, err));
    HUB_TRY(send_count(p, "claimed_episodes", "total_episodes", err));
    HUB_TRY(send_count(p, "claimed_steps", "total_frames", err));
    HUB_TRY(hub_sink_fact(p->sink, "claimed_in", HUB_VIEW(LEROBOT_INFO), err));
    HUB_TRY(hub_lerobot_send_statistics(&p->info, p->files, p->sink, &stats, err));
    HUB_TRY(hub_lerobot_send_info(&p->info, p->files, p->sink, err));
    p->info.stats = NULL;
    HUB_TRY(hub_lerobot_send_card(p->files, p->sink, err));
    HUB_TRY(hub_lerobot_read_texts(p->files, p->sink, &hub_lerobot_tasks, &p->tasks, err));
    HUB_TRY(hub_lerobot_send_texts(p->sink, &hub_lerobot_tasks, &p->tasks, err));
    HUB_TRY(hub_lerobot_read_texts(p->files, p->sink, &hub_lerobot_subtasks, &p->subtasks, err));
    return hub_lerobot_send_texts(p->sink, &hub_lerobot_subtasks, &p->subtasks, err);
}

/* ---- parts ---- */

/* The metadata that a part reads. */
static uint32_t add_metadata(const struct lerobot_plan_state *p, uint32_t *files)
{
    static const char *const meta[] = {LEROBOT_INFO, LEROBOT_EPISODES, LEROBOT_TASKS, LEROBOT_TASK_TABLE,
                                       LEROBOT_EPISODES_STATS};
    uint32_t n = 0;
    for (size_t i = 0; i < HUB_COUNT(meta); i++)
        if (hub_files_find(p->files, meta[i]) != HUB_NONE)
            files[n++] = hub_files_find(p->files, meta[i]);
    for (uint32_t i = 0; p->tables && i < p->files->count; i++)
        if (hub_lerobot_is_episodes(p->files->entries[i].path))
            files[n++] = i;
    return n;
}

/* Files of its episodes; where many share one, which of them is known from their rows alone. */
static uint32_t add_own(const struct lerobot_plan_state *p, int64_t first, int64_t last, uint32_t *files)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->files->count; i++) {
        const struct hub_view path = p->files->entries[i].path;
        const int64_t extra = hub_lerobot_extra_of(path),
                      episode = extra < 0 ? hub_lerobot_episode_of(path, ".mp4") : extra;
        if ((extra >= 0 || hub_view_ends(path, ".mp4")) &&
            (first < 0 || episode < 0 || (episode >= first && episode <= last)))
            files[n++] = i;
    }
    return n;
}

static enum hub_status send_part(struct lerobot_plan_state *p, const char *name,
                                 const struct lerobot_file *data, uint32_t count, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint32_t *files = calloc((size_t)p->files->count + 8, sizeof *files);
    char hint[64];
    HUB_TRY(hub_allocated(files, err));
    uint32_t n = add_metadata(p, files);
    for (uint32_t i = 0; i < count; i++)
        files[n++] = data[i].file;
    n += add_own(p, data[0].episode, data[count - 1].episode, files + n);
    snprintf(hint, sizeof hint, "%lld:%lld", (long long)data[0].episode, (long long)data[count - 1].episode);
    return hub_sink_part(p->sink, &(struct hub_part){hub_view_of(name), files, n, hub_view_of(hint)}, err);
}

/* Runs by number, not by place: a run stays what it is when episodes are added behind it. */
static enum hub_status send_runs(struct lerobot_plan_state *p, struct hub_error *err)
{
    char name[64];
    for (uint32_t i = 0, n; i < p->count; i += n) {
        const int64_t run = p->data[i].episode / HUB_RUN;
        for (n = 1; i + n < p->count && p->data[i + n].episode / HUB_RUN == run; n++)
            ;
        snprintf(name, sizeof name, "episodes-%06lld", (long long)(run * HUB_RUN));
        HUB_TRY(send_part(p, name, &p->data[i], n, err));
    }
    return HUB_OK;
}

/* Files from the first on, which gives the part its name: those that are added behind change the last part
 * only. */
static enum hub_status send_groups(struct lerobot_plan_state *p, struct hub_error *err)
{
    for (uint32_t i = 0, n; i < p->count; i += n) {
        const struct hub_file_entry *entries = p->files->entries;
        uint64_t bytes = entries[p->data[i].file].size;
        for (n = 1; i + n < p->count && n < HUB_RUN; n++) {
            bytes += entries[p->data[i + n].file].size;
            if (bytes > PART_BYTES)
                break;
        }
        HUB_CLEANUP(hub_freep) char *name = hub_view_dup(entries[p->data[i].file].path);
        HUB_TRY(hub_allocated(name, err));
        HUB_TRY(send_part(p, name, &p->data[i], n, err));
    }
    return HUB_OK;
}

/* ---- totals ---- */

static enum hub_status compare_total(struct lerobot_plan_state *p, const char *key, const char *path,
                                     uint64_t found, struct hub_error *err)
{
    const json_t *stated = json_object_get(p->info.json, key);
    if (!json_is_integer(stated) || json_integer_value(stated) == (json_int_t)found)
        return HUB_OK;
    return hub_sink_problem(p->sink, "count-mismatch", hub_view_of(path), err,
                            "info.json says %s is %lld, there are %llu", key,
                            (long long)json_integer_value(stated), (unsigned long long)found);
}

static enum hub_status check_totals(struct lerobot_plan_state *p, struct hub_error *err)
{
    uint64_t videos = 0;
    if (p->tasks.count) /* else the file is missing, empty or unreadable, which is reported */
        HUB_TRY(compare_total(p, "total_tasks",
                              hub_files_find(p->files, LEROBOT_TASK_TABLE) != HUB_NONE ? LEROBOT_TASK_TABLE
                                                                                       : LEROBOT_TASKS,
                              p->tasks.count, err));
    HUB_TRY(hub_lerobot_check_videos(p->files, p->sink, &videos, err));
    return compare_total(p, "total_videos", "videos", videos, err);
}

/* ---- what LeRobot needs ---- */

/* A file that LeRobot opens before anything else. */
static enum hub_status check_needed(struct lerobot_plan_state *p, const char *name, struct hub_error *err)
{
    bool usable;
    const struct hub_view path = hub_view_of(name);
    const uint32_t number = hub_files_find(p->files, name);
    if (number == HUB_NONE)
        return hub_sink_problem(p->sink, "not-loadable", path, err,
                                "missing: LeRobot cannot load the dataset without it");
    HUB_TRY(hub_report_unusable(p->files, number, p->sink,
                                "cannot be read: LeRobot cannot load the dataset without it", &usable, err));
    return usable && !p->files->entries[number].size
               ? hub_sink_problem(p->sink, "not-loadable", path, err,
                                  "empty: LeRobot cannot load the dataset without it")
               : HUB_OK;
}

static enum hub_status check_metadata(struct lerobot_plan_state *p, struct hub_error *err)
{
    const bool v3 = strncmp(hub_lerobot_version(p->info.json), "3.", 2) == 0;
    if (v3 && !p->tables)
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", HUB_VIEW("meta/episodes"), err,
                                 "missing: LeRobot cannot load the dataset without it"));
    if (!v3)
        HUB_TRY(check_needed(p, LEROBOT_EPISODES, err));
    HUB_TRY(check_needed(p, v3 ? LEROBOT_TASK_TABLE : LEROBOT_TASKS, err));
    return strcmp(hub_lerobot_version(p->info.json), "2.1") == 0
               ? check_needed(p, LEROBOT_EPISODES_STATS, err)
               : HUB_OK;
}

static enum hub_status check_loadable(struct lerobot_plan_state *p, struct hub_error *err)
{
    const json_int_t claimed = json_integer_value(json_object_get(p->info.json, "total_episodes"));
    if (p->count == 0 && claimed > 0)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_MISSING_FILE,
                           LEROBOT_INFO " states %lld episodes, but there is no data file",
                           (long long)claimed);
    if (p->count == 0)
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", HUB_VIEW("data"), err,
                                 "no episode has been recorded: there is no data file"));
    if (!json_object_get(p->info.json, "codebase_version"))
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", HUB_VIEW(LEROBOT_INFO), err,
                                 "LeRobot looks for \"codebase_version\""));
    HUB_TRY(check_metadata(p, err));
    return p->missing ? hub_sink_problem(
                            p->sink, "not-loadable", hub_view_of(list_name(p)), err,
                            "LeRobot cannot load the dataset without the data file of every listed episode")
                      : HUB_OK;
}

/* ---- the whole ---- */

static enum hub_status check_version(struct lerobot_plan_state *p, struct hub_error *err)
{
    const char *version = hub_lerobot_version(p->info.json);
    const json_t *stated = json_object_get(p->info.json, "codebase_version");
    if (!version && json_is_number(stated))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_NO_VERSION,
                           LEROBOT_INFO
                           " states codebase_version as the number %g: LeRobot states it as text, "
                           "such as \"v2.0\"",
                           json_number_value(stated));
    if (!version)
        return hub_fail_as(err, hub_lerobot_has_company(p->files) ? HUB_CORRUPT : HUB_NOT_ACCEPTABLE,
                           HUB_PROBLEM_NO_VERSION, LEROBOT_INFO " states no codebase_version");
    if (strncmp(version, "2.", 2) != 0 && strncmp(version, "3.", 2) != 0)
        return hub_fail(err, HUB_UNSUPPORTED, "LeRobot v%.20s: only v2.0, v2.1 and v3 are supported",
                        version);
    if (!json_object_get(p->info.json, "codebase_version"))
        return hub_sink_problem(p->sink, "other-spelling", HUB_VIEW(LEROBOT_INFO), err,
                                "\"version\" instead of \"codebase_version\"");
    return HUB_OK;
}

static enum hub_status report(struct lerobot_plan_state *p, struct hub_view info, struct hub_error *err)
{
    HUB_TRY(check_version(p, err));
    p->tables = hub_lerobot_has_tables(p->files);
    HUB_TRY(find_data(p, err));
    HUB_TRY(send_facts(p, info, err));
    HUB_TRY(check_listed(p, err));
    HUB_TRY(check_loadable(p, err));
    HUB_TRY(check_totals(p, err));
    HUB_TRY(hub_lerobot_check_rules(p->files, &p->info, p->data, p->numbered ? p->count : 0, p->sink, err));
    HUB_TRY(hub_lerobot_check_others(p->files, p->sink, err));
    HUB_TRY(send_splits(p, err));
    return p->numbered ? send_runs(p, err) : send_groups(p, err);
}

static enum hub_status refuse_v1(struct hub_files *files, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *old = NULL;
    if (!hub_json_file(files, "meta_data/info.json", NULL, &old, NULL) && hub_lerobot_version(old))
        return hub_fail(err, HUB_UNSUPPORTED, "LeRobot v%.20s: only v2.0, v2.1 and v3 are supported",
                        hub_lerobot_version(old));
    return hub_fail_as(err, hub_lerobot_has_company(files) ? HUB_CORRUPT : HUB_NOT_ACCEPTABLE,
                       HUB_PROBLEM_MISSING_FILE, LEROBOT_INFO " is missing");
}

enum hub_status hub_lerobot_plan(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT((size_t)HUB_MAX_TEXT);
    HUB_CLEANUP(hub_json_decrefp) json_t *info = NULL;
    if (hub_files_find(files, LEROBOT_INFO) == HUB_NONE)
        return refuse_v1(files, err);
    HUB_TRY(hub_files_usable(files, hub_files_find(files, LEROBOT_INFO), err));
    struct hub_error why = {0};
    const enum hub_status read = hub_json_file(files, LEROBOT_INFO, &text, &info, &why);
    if (read)
        return hub_fail_as(err, read,
                           why.problem           ? why.problem
                           : read == HUB_CORRUPT ? HUB_PROBLEM_BAD_METADATA
                                                 : HUB_PROBLEM_NONE,
                           "%s", why.detail);
    if (!json_is_object(info))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_BAD_METADATA, LEROBOT_INFO " is not an object");
    struct lerobot_plan_state p = {.files = files, .sink = sink, .info = {.json = info}};
    p.info.features = json_object_get(info, "features");
    const enum hub_status st = report(&p, hub_buf_view(&text), err);
    free(p.data);
    free(p.listed);
    hub_lerobot_said_dispose(&p.tasks);
    hub_lerobot_said_dispose(&p.subtasks);
    return st;
}
