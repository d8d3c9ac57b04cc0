/*
 * One episode of a LeRobot dataset: what the metadata says of it, and the videos that belong to it. The rows
 * are the truth, what the metadata says otherwise is a problem by name.
 */
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>

enum { MAX_TASKS = 64 }; /* of one episode */

static enum hub_status put_splits(const struct lerobot_part_state *p, int64_t number, struct hub_buf *out,
                                  struct hub_error *err)
{
    const char *name;
    json_t *range;
    struct hub_json json = hub_json_to(out, err);
    hub_json_array(&json);
    json_object_foreach(json_object_get(p->info.json, "splits"), name, range)
    {
        int64_t from, to;
        if (hub_lerobot_range(range, &from, &to) && number >= from && number < to)
            hub_json_string(&json, hub_view_of(name));
    }
    hub_json_end_array(&json);
    return hub_json_status(&json);
}

/* The tasks of an episode's rows, in the order they come: numbers and their texts, of those that have one. */
struct episode_tasks {
    int64_t numbers[MAX_TASKS];
    const char *texts[MAX_TASKS];
    uint32_t count, known;
};

static void find_tasks(const struct lerobot_part_state *p, const struct lerobot_small *s,
                       const struct lerobot_cut *cut, struct episode_tasks *out)
{
    *out = (struct episode_tasks){0};
    for (uint64_t i = 0; s->tasks && i < cut->count && out->count < MAX_TASKS; i++) {
        const int64_t number = s->tasks[cut->first + i];
        uint32_t at = out->count; /* runs are long: the last one first */
        while (at > 0 && out->numbers[at - 1] != number)
            at--;
        if (at)
            continue;
        const struct lerobot_said *task = hub_lerobot_said(&p->tasks, number);
        out->numbers[out->count] = number;
        out->texts[out->count] = task ? hub_lerobot_text(task->line, "task") : NULL;
        out->known += out->texts[out->count++] != NULL;
    }
}

static const char *task_of(const json_t *line, const struct episode_tasks *tasks, const json_t *extra)
{
    const char *text = hub_lerobot_text(line, "task");
    if (tasks->count && tasks->texts[0])
        return tasks->texts[0];
    if (!text)
        text = json_string_value(json_array_get(json_object_get(line, "tasks"), 0));
    return text ? text : hub_lerobot_text(extra, "lang");
}

static enum hub_status check_tasks(struct lerobot_part_state *p, uint32_t file,
                                   const struct episode_tasks *tasks, struct hub_error *err)
{
    const char *list =
        hub_files_find(p->files, LEROBOT_TASK_TABLE) == HUB_NONE ? LEROBOT_TASKS : LEROBOT_TASK_TABLE;
    for (uint32_t i = 0; p->tasks.count && i < tasks->count; i++)
        if (!tasks->texts[i])
            HUB_TRY(hub_sink_problem(p->sink, "unknown-task", p->files->entries[file].path, err,
                                     "task_index %lld has no task in %s", (long long)tasks->numbers[i],
                                     list));
    return HUB_OK;
}

static enum hub_status check_text(const struct lerobot_part_state *p, const json_t *task, int64_t episode,
                                  struct hub_error *err)
{
    const char *text = json_string_value(task);
    if (!text || !p->tasks.count || json_object_get(p->texts, text))
        return HUB_OK;
    return hub_sink_problem(p->sink, "unknown-task", HUB_VIEW("meta"), err,
                            "the dataset's list of tasks does not have \"%.100s\" of episode %lld", text,
                            (long long)episode);
}

static enum hub_status check_texts(const struct lerobot_part_state *p, const json_t *line, int64_t episode,
                                   struct hub_error *err)
{
    const json_t *tasks = json_object_get(line, "tasks");
    for (size_t i = 0; i < json_array_size(tasks); i++)
        HUB_TRY(check_text(p, json_array_get(tasks, i), episode, err));
    return check_text(p, json_object_get(line, "task"), episode, err);
}

/* The line's own keys that are not said elsewhere. */
static bool own_key(const char *key)
{
    static const char *const known[] = {"episode_index", "episode_id", "length", "task", "tasks"};
    static const char *const prefixes[] = {"data/", "videos/", "meta/", "dataset_"};
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (strcmp(key, known[i]) == 0)
            return false;
    for (size_t i = 0; i < HUB_COUNT(prefixes); i++)
        if (strncmp(key, prefixes[i], strlen(prefixes[i])) == 0)
            return false;
    return true;
}

/* An episode's tasks where it has several: as its line has them, else as its rows do. */
static bool put_tasks(struct hub_json *json, const json_t *line, const struct episode_tasks *tasks)
{
    const json_t *listed = json_object_get(line, "tasks");
    const bool several = json_array_size(listed) > 1;
    if (several) {
        hub_json_key(json, HUB_VIEW("tasks"));
        hub_json_parsed(json, listed);
    } else if (tasks->known > 1) {
        hub_json_put_array(json, "tasks");
        for (uint32_t i = 0; i < tasks->count; i++)
            if (tasks->texts[i])
                hub_json_string(json, hub_view_of(tasks->texts[i]));
        hub_json_end_array(json);
    }
    return several || tasks->known > 1;
}

static enum hub_status put_attributes(const json_t *line, const struct episode_tasks *tasks,
                                      const json_t *extra, struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    const char *key;
    json_t *value;
    hub_json_object(&json);
    unsigned kept = put_tasks(&json, line, tasks);
    json_object_foreach((json_t *)line, key, value)
    {
        if (!own_key(key))
            continue;
        hub_json_key(&json, hub_view_of(key));
        hub_json_parsed(&json, value);
        kept++;
    }
    hub_lerobot_put_extra(&json, extra);
    hub_json_end_object(&json);
    if (kept == 0 && !extra)
        out->size = 0;
    return hub_json_status(&json);
}

static enum hub_status put_statistics(const struct lerobot_part_state *p, const struct lerobot_said *said,
                                      int64_t number, struct hub_buf *out, struct hub_error *err)
{
    const struct lerobot_said *line = hub_lerobot_said(&p->stats, number);
    if (line)
        return hub_lerobot_put_line_statistics(line->line, out, err);
    if (!said || said->table >= p->episodes.table_count)
        return HUB_OK;
    return hub_lerobot_put_row_statistics(&p->episodes.tables[said->table], said->row, out, err);
}

static void sum_rewards(const struct lerobot_small *s, uint64_t first, uint64_t count, struct hub_episode *e)
{
    hub_episode_sum(e, s->rewards ? s->rewards + first : NULL, count);
    for (uint64_t i = 0; s->success && i < count; i++) {
        const int64_t value = s->success[first + i];
        if (value < 0) { /* it cannot be read */
            e->success = -1;
            return;
        }
        e->success = e->success > 0 || value != 0;
    }
}

/* ---- what the metadata says of its rows ---- */

/* Does it name this file: of v3 by chunk and number, of v2 by the chunk alone? */
static bool names_file(const struct lerobot_part_state *p, uint32_t file, const json_t *line, int64_t number)
{
    uint64_t chunk = 0;
    size_t digits;
    const struct lerobot_path_values values = {hub_lerobot_stated(line, "data/chunk_index"),
                                               hub_lerobot_stated(line, "data/file_index"), number, NULL};
    const struct hub_view path = p->files->entries[file].path;
    if (p->episodes.table_count && hub_lerobot_episode_of(path, ".parquet") < 0)
        return values.chunk >= 0 && values.file >= 0 &&
               hub_lerobot_find(p->files, hub_lerobot_text(p->info.json, "data_path"), LEROBOT_DATA_TEMPLATE,
                                &values) == file;
    return hub_lerobot_stated(line, "chunk") < 0 || !hub_lerobot_chunk_of(path, &chunk, &digits) ||
           chunk == (uint64_t)hub_lerobot_stated(line, "chunk");
}

static void check_row(struct lerobot_part_state *p, uint32_t file, const json_t *line,
                      const struct lerobot_small *s, const struct lerobot_cut *cut)
{
    const int64_t from = hub_lerobot_stated(line, "dataset_from_index"),
                  to = hub_lerobot_stated(line, "dataset_to_index");
    if (line && !names_file(p, file, line, cut->number))
        hub_tally_add(&p->misplaced, "episode %lld is in %.*s, but its line names another file",
                      (long long)cut->number, (int)HUB_MIN(p->files->entries[file].path.size, 120),
                      p->files->entries[file].path.data);
    if (from >= 0 && to >= 0 && s->indexes &&
        (s->indexes[cut->first] != from || (uint64_t)(to - from) != cut->count))
        hub_tally_add(&p->ranges,
                      "metadata says episode %lld is rows %lld to %lld, the file has %llu rows from %lld on",
                      (long long)cut->number, (long long)from, (long long)to, (unsigned long long)cut->count,
                      (long long)s->indexes[cut->first]);
}

static enum hub_status check_length(struct lerobot_part_state *p, uint32_t file, const json_t *line,
                                    const struct lerobot_cut *cut, struct hub_error *err)
{
    const json_t *length = json_object_get(line, "length");
    if (!json_is_integer(length) || (uint64_t)json_integer_value(length) == cut->count)
        return HUB_OK;
    return hub_sink_problem(p->sink, "length-mismatch", p->files->entries[file].path, err,
                            "%s says %lld steps for episode %lld, the file holds %llu rows",
                            p->episodes.table_count ? "meta/episodes" : "episodes.jsonl",
                            (long long)json_integer_value(length), (long long)cut->number,
                            (unsigned long long)cut->count);
}

enum hub_status hub_lerobot_send_episode(struct lerobot_part_state *p, uint32_t file,
                                         const struct lerobot_small *s, struct lerobot_cut *cut,
                                         struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf splits = HUB_BUF_INIT(MIB), attributes = HUB_BUF_INIT(MIB), stats = HUB_BUF_INIT(4 * MIB);
    char name[40];
    const struct lerobot_said *said = hub_lerobot_said(&p->episodes, cut->number);
    const json_t *line = said ? said->line : NULL;
    struct episode_tasks tasks;
    find_tasks(p, s, cut, &tasks);
    HUB_CLEANUP(hub_json_decrefp) json_t *extra = NULL;
    HUB_TRY(hub_lerobot_read_extra(p->files, cut->number, &extra, err));
    const char *task = task_of(line, &tasks, extra);
    snprintf(name, sizeof name, "episode_%06lld", (long long)cut->number);
    struct hub_episode e = hub_episode_of(hub_view_of(name), file, cut->count);
    e.number = cut->number;
    e.task = hub_view_of(task ? task : "");
    sum_rewards(s, cut->first, cut->count, &e);
    HUB_TRY(check_tasks(p, file, &tasks, err));
    HUB_TRY(check_texts(p, line, cut->number, err));
    HUB_TRY(put_splits(p, cut->number, &splits, err));
    HUB_TRY(put_attributes(line, &tasks, extra, &attributes, err));
    HUB_TRY(put_statistics(p, said, cut->number, &stats, err));
    e.splits = hub_buf_view(&splits);
    e.attributes = hub_buf_view(&attributes);
    e.statistics = hub_buf_view(&stats);
    HUB_TRY(hub_sink_episode(p->sink, &e, &cut->episode, err));
    p->done++;
    HUB_TRY(check_length(p, file, line, cut, err));
    check_row(p, file, line, s, cut);
    return hub_lerobot_videos_send(&p->videos, line, cut, err);
}
