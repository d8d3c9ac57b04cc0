/*
 * A run of LeRobot episodes: what episodes.jsonl, tasks.jsonl and episodes_stats.jsonl say about each, what
 * its Parquet file holds, and the videos that belong to it (by their names).
 */
#include "storage/formats/lerobot/lerobot.h"

#include <math.h>
#include <stdlib.h>

/* Rows up to which small columns are decoded: rewards, task and episode numbers. */
#define MAX_BOOKKEEPING_ROWS 16000000

enum { MAX_TASKS = 64 }; /* of one episode */

struct said { /* a line of a .jsonl file */
    int64_t episode;
    json_t *line;
};

struct said_list {
    struct said *items;
    uint32_t count, capacity;
};

struct video {
    struct lerobot_file of; /* first, to be sorted by */
    struct hub_view camera;
};

struct part {
    struct hub_files *files;
    struct hub_sink *sink;
    json_t *info, *tasks; /* tasks: number as text -> text */
    struct said_list episodes, stats;
    struct video *videos;
    uint32_t video_count;
    struct lerobot_columns columns;
    uint32_t done, failed;
    struct hub_error first_failure;
};

/* ---- metadata ---- */

static enum hub_status keep_line(struct said_list *list, json_t *line, struct hub_error *err)
{
    HUB_TRY(hub_grow(&list->items, list->count, &list->capacity, sizeof *list->items, err));
    list->items[list->count++] = (struct said){hub_lerobot_line_episode(line), json_incref(line)};
    return HUB_OK;
}

struct range {
    struct said_list *list;
    int64_t first, last;
};

static enum hub_status keep_within(void *user, json_t *line, uint32_t number, struct hub_error *err)
{
    const struct range *range = user;
    const int64_t episode = hub_lerobot_line_episode(line);
    (void)number;
    return episode >= range->first && episode <= range->last ? keep_line(range->list, line, err) : HUB_OK;
}

static enum hub_status keep_task(void *user, json_t *line, uint32_t number, struct hub_error *err)
{
    char key[24];
    json_t *index = json_object_get(line, "task_index"), *text = json_object_get(line, "task");
    snprintf(key, sizeof key, "%lld",
             json_is_integer(index) ? (long long)json_integer_value(index) : (long long)number - 1);
    if (json_is_string(text) && json_object_set(user, key, text))
        return hub_no_memory(err);
    return HUB_OK;
}

static const json_t *find_line(const struct said_list *list, int64_t episode)
{
    const struct said key = {episode, NULL};
    const struct said *found =
        list->count ? bsearch(&key, list->items, list->count, sizeof key, hub_by_i64) : NULL;
    return found ? found->line : NULL;
}

static void list_dispose(struct said_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        json_decref(list->items[i].line);
    free(list->items);
}

/* What is damaged in the lists of episodes and tasks the plan has told. */
static enum hub_status load_metadata(struct part *p, int64_t first, int64_t last, struct hub_error *err)
{
    struct range episodes = {&p->episodes, first, last}, stats = {&p->stats, first, last};
    HUB_TRY(hub_json_file(p->files, LEROBOT_INFO, NULL, &p->info, err));
    p->tasks = json_object();
    HUB_TRY(hub_allocated(p->tasks, err));
    HUB_TRY(hub_lerobot_lines(
        &(struct lerobot_lines){p->files, NULL, LEROBOT_TASKS, 0, INT64_MAX, keep_task, p->tasks}, err));
    HUB_TRY(hub_lerobot_lines(
        &(struct lerobot_lines){p->files, NULL, LEROBOT_EPISODES, first, last, keep_within, &episodes}, err));
    HUB_TRY(hub_lerobot_lines(
        &(struct lerobot_lines){p->files, p->sink, LEROBOT_EPISODES_STATS, first, last, keep_within, &stats},
        err));
    if (p->episodes.count)
        qsort(p->episodes.items, p->episodes.count, sizeof(struct said), hub_by_i64);
    if (p->stats.count)
        qsort(p->stats.items, p->stats.count, sizeof(struct said), hub_by_i64);
    p->columns.features = json_object_get(p->info, "features");
    return HUB_OK;
}

/* ---- videos ---- */

/* The camera is the folder a video lies in. */
static struct hub_view camera_of(struct hub_view path)
{
    const char *end = memrchr(path.data, '/', path.size);
    const char *start = end ? memrchr(path.data, '/', (size_t)(end - path.data)) : NULL;
    return start ? (struct hub_view){start + 1, (size_t)(end - start - 1)} : HUB_VIEW("");
}

static enum hub_status find_videos(struct part *p, int64_t first, int64_t last, struct hub_error *err)
{
    uint32_t capacity = 0;
    for (uint32_t i = 0; i < p->files->count; i++) {
        const struct hub_view path = p->files->entries[i].path;
        const int64_t episode = hub_lerobot_episode_of(path, ".mp4");
        if (episode < first || episode > last || camera_of(path).size == 0)
            continue;
        HUB_TRY(hub_grow(&p->videos, p->video_count, &capacity, sizeof *p->videos, err));
        p->videos[p->video_count++] = (struct video){{episode, i}, camera_of(path)};
    }
    if (p->video_count)
        qsort(p->videos, p->video_count, sizeof *p->videos, hub_lerobot_by_file);
    return HUB_OK;
}

static const json_t *video_info(const struct part *p, struct hub_view camera)
{
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)HUB_MIN(camera.size, sizeof name - 1), camera.data);
    const json_t *feature = json_object_get(p->columns.features, name);
    const json_t *info = json_object_get(feature, "info");
    return json_is_object(info) ? info : json_object_get(feature, "video_info");
}

static enum hub_status send_videos(struct part *p, int64_t number, uint32_t index, struct hub_error *err)
{
    uint32_t at = hub_lower_bound(&number, p->videos, p->video_count, sizeof *p->videos, hub_by_i64);
    for (; at < p->video_count && p->videos[at].of.episode == number; at++) {
        const struct video *v = &p->videos[at];
        const json_t *info = video_info(p, v->camera);
        const char *codec = hub_lerobot_text(info, "video.codec");
        double fps = json_number_value(json_object_get(info, "video.fps"));
        if (fps <= 0)
            fps = json_number_value(json_object_get(p->info, "fps"));
        struct hub_media media = {.episode = index, .camera = v->camera, .file = v->of.file};
        media.codec = hub_view_of(codec);
        hub_media_rate(&media, fps);
        HUB_TRY(hub_sink_media(p->sink, &media, err));
    }
    return HUB_OK;
}

static enum hub_status check_videos(struct part *p, struct hub_error *err)
{
    const char *name;
    json_t *feature;
    json_object_foreach((json_t *)p->columns.features, name, feature)
    {
        const char *dtype = hub_lerobot_text(feature, "dtype");
        uint32_t found = 0;
        if (!dtype || strcmp(dtype, "video") != 0)
            continue;
        for (uint32_t i = 0; i < p->video_count; i++)
            found += hub_view_is(p->videos[i].camera, name);
        if (found < p->done)
            HUB_TRY(hub_sink_problem(p->sink, "missing-video", hub_view_of(name), err,
                                     "%u of %u episodes have a video", found, p->done));
    }
    return HUB_OK;
}

/* ---- small columns ---- */

/* Numbers of a flat column over all row groups; false when it is not there or cannot be read. */
static bool column_numbers(const struct hub_parquet *parquet, struct hub_parquet_decoder *d, const char *name,
                           int64_t *integers, double *reals)
{
    const uint32_t leaf = hub_parquet_find(parquet, name);
    uint64_t row = 0;
    bool good = leaf != HUB_NONE;
    for (uint32_t g = 0; good && g < parquet->group_count; g++) {
        const struct hub_parquet_chunk *chunk = &parquet->chunks[(size_t)g * parquet->leaf_count + leaf];
        struct hub_parquet_pages pages;
        good = !chunk->trouble && chunk->values == parquet->group_rows[g] &&
               !hub_parquet_walk(d->source, &parquet->leaves[leaf], chunk, &pages, NULL);
        if (!good)
            break;
        good = !hub_parquet_numbers(d, &parquet->leaves[leaf], &pages, integers ? integers + row : NULL,
                                    reals ? reals + row : NULL, NULL);
        hub_parquet_pages_dispose(&pages);
        row += parquet->group_rows[g];
    }
    return good;
}

struct small {
    uint64_t rows;
    int64_t *episodes, *tasks, *success; /* NULL: not known */
    double *rewards;
};

static void small_dispose(struct small *s)
{
    free(s->episodes);
    free(s->tasks);
    free(s->success);
    free(s->rewards);
}

static enum hub_status read_small(const struct hub_parquet *parquet, struct hub_parquet_decoder *d,
                                  struct small *s, struct hub_error *err)
{
    static const char *const names[] = {"episode_index", "task_index", "next.success"};
    int64_t **const targets[] = {&s->episodes, &s->tasks, &s->success};
    s->rows = parquet->rows;
    if (s->rows > MAX_BOOKKEEPING_ROWS)
        return HUB_OK;
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        if (hub_parquet_find(parquet, names[i]) == HUB_NONE)
            continue;
        *targets[i] = calloc((size_t)s->rows + 1, sizeof **targets[i]);
        HUB_TRY(hub_allocated(*targets[i], err));
        if (!column_numbers(parquet, d, names[i], *targets[i], NULL)) {
            free(*targets[i]);
            *targets[i] = NULL;
        }
    }
    HUB_TRY(hub_new(&s->rewards, (size_t)s->rows + 1, sizeof *s->rewards, err));
    if (!column_numbers(parquet, d, "next.reward", NULL, s->rewards)) {
        free(s->rewards);
        s->rewards = NULL;
    }
    return HUB_OK;
}

/* ---- one episode ---- */

static enum hub_status put_splits(const struct part *p, int64_t number, struct hub_buf *out,
                                  struct hub_error *err)
{
    const char *name;
    json_t *range;
    struct hub_json json = hub_json_to(out, err);
    hub_json_array(&json);
    json_object_foreach(json_object_get(p->info, "splits"), name, range)
    {
        int64_t from, to;
        if (hub_lerobot_range(range, &from, &to) && number >= from && number < to)
            hub_json_string(&json, hub_view_of(name));
    }
    hub_json_end_array(&json);
    return hub_json_status(&json);
}

/* A list of one number is that number. */
static const json_t *plain(const json_t *value)
{
    return json_array_size(value) == 1 && !json_is_array(json_array_get(value, 0)) ? json_array_get(value, 0)
                                                                                   : value;
}

static void put_feature_statistics(struct hub_json *json, const json_t *feature)
{
    const char *key;
    json_t *value;
    const json_t *mean = plain(json_object_get(feature, "mean")),
                 *count = plain(json_object_get(feature, "count"));
    hub_json_object(json);
    json_object_foreach((json_t *)feature, key, value)
    {
        hub_json_key(json, hub_view_of(key));
        hub_json_parsed(json, plain(value));
    }
    if (json_is_number(mean) && json_is_number(count) && !json_object_get(feature, "sum"))
        hub_json_put_double(json, "sum", json_number_value(mean) * json_number_value(count));
    hub_json_end_object(json);
}

static enum hub_status put_statistics(const json_t *line, struct hub_buf *out, struct hub_error *err)
{
    struct hub_json json = hub_json_to(out, err);
    json_t *stats = json_object_get(line, "stats"), *feature;
    const char *name;
    if (json_object_size(stats) == 0)
        return HUB_OK;
    hub_json_object(&json);
    json_object_foreach(stats, name, feature)
    {
        hub_json_key(&json, hub_view_of(name));
        put_feature_statistics(&json, feature);
    }
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

/* The tasks of an episode's rows, in the order they come: numbers and their texts, of those that have one. */
struct episode_tasks {
    int64_t numbers[MAX_TASKS];
    const char *texts[MAX_TASKS];
    uint32_t count, known;
};

static const char *task_text(const struct part *p, int64_t number)
{
    char key[24];
    snprintf(key, sizeof key, "%lld", (long long)number);
    return hub_lerobot_text(p->tasks, key);
}

static void find_tasks(const struct part *p, const struct small *s, const struct lerobot_cut *cut,
                       struct episode_tasks *out)
{
    *out = (struct episode_tasks){0};
    for (uint64_t i = 0; s->tasks && i < cut->count && out->count < MAX_TASKS; i++) {
        const int64_t number = s->tasks[cut->first + i];
        uint32_t at = out->count; /* runs are long: the last one first */
        while (at > 0 && out->numbers[at - 1] != number)
            at--;
        if (at)
            continue;
        out->numbers[out->count] = number;
        out->texts[out->count] = task_text(p, number);
        out->known += out->texts[out->count++] != NULL;
    }
}

static const char *task_of(const json_t *line, const struct episode_tasks *tasks)
{
    const char *text = hub_lerobot_text(line, "task");
    if (tasks->count && tasks->texts[0])
        return tasks->texts[0];
    return text ? text : json_string_value(json_array_get(json_object_get(line, "tasks"), 0));
}

/* Numbers in the data that tasks.jsonl does not have. */
static enum hub_status check_tasks(struct part *p, uint32_t file, const struct episode_tasks *tasks,
                                   struct hub_error *err)
{
    for (uint32_t i = 0; i < tasks->count && json_object_size(p->tasks); i++)
        if (!tasks->texts[i])
            HUB_TRY(hub_sink_problem(p->sink, "unknown-task", p->files->entries[file].path, err,
                                     "task_index %lld has no task in " LEROBOT_TASKS,
                                     (long long)tasks->numbers[i]));
    return HUB_OK;
}

/* The line's own keys that are not said elsewhere. */
static bool own_key(const char *key)
{
    static const char *const known[] = {"episode_index", "episode_id", "length", "task", "tasks"};
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (strcmp(key, known[i]) == 0)
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
                                      struct hub_buf *out, struct hub_error *err)
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
    hub_json_end_object(&json);
    if (kept == 0)
        out->size = 0;
    return hub_json_status(&json);
}

static void sum_rewards(const struct small *s, uint64_t first, uint64_t count, struct hub_episode *e)
{
    if (s->rewards) {
        for (uint64_t i = 0; i < count; i++)
            e->episode_return += s->rewards[first + i];
        e->has_return = e->return_computed = isfinite(e->episode_return);
        e->episode_return = e->has_return ? e->episode_return : 0; /* one reward is missing or no number */
    }
    if (s->success) {
        e->success = 0;
        for (uint64_t i = 0; i < count; i++)
            e->success |= s->success[first + i] != 0;
    }
}

static enum hub_status send_episode(struct part *p, uint32_t file, int64_t number, const struct small *s,
                                    struct lerobot_cut *cut, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf splits = HUB_BUF_INIT(MIB), attributes = HUB_BUF_INIT(MIB), stats = HUB_BUF_INIT(4 * MIB);
    char name[40];
    const json_t *line = find_line(&p->episodes, number), *length = json_object_get(line, "length");
    struct episode_tasks tasks;
    find_tasks(p, s, cut, &tasks);
    const char *task = task_of(line, &tasks);
    struct hub_episode e = {.number = number,
                            .file = file,
                            .steps = cut->count,
                            .success = -1,
                            .terminated = -1,
                            .truncated = -1};
    snprintf(name, sizeof name, "episode_%06lld", (long long)number);
    e.name = hub_view_of(name);
    e.task = hub_view_of(task ? task : "");
    sum_rewards(s, cut->first, cut->count, &e);
    HUB_TRY(check_tasks(p, file, &tasks, err));
    HUB_TRY(put_splits(p, number, &splits, err));
    HUB_TRY(put_attributes(line, &tasks, &attributes, err));
    HUB_TRY(put_statistics(find_line(&p->stats, number), &stats, err));
    e.splits = hub_buf_view(&splits);
    e.attributes = hub_buf_view(&attributes);
    e.statistics = hub_buf_view(&stats);
    HUB_TRY(hub_sink_episode(p->sink, &e, &cut->episode, err));
    p->done++;
    if (json_is_integer(length) && (uint64_t)json_integer_value(length) != cut->count)
        HUB_TRY(hub_sink_problem(p->sink, "length-mismatch", p->files->entries[file].path, err,
                                 "episodes.jsonl states %lld steps, the file holds %llu rows",
                                 (long long)json_integer_value(length), (unsigned long long)cut->count));
    return send_videos(p, number, cut->episode, err);
}

/* ---- one file ---- */

/* Without a number in the file's name its episode_index column cuts it. */
static enum hub_status send_cuts(struct part *p, uint32_t file, const struct small *s,
                                 struct lerobot_cut **cuts, uint32_t *count, struct hub_error *err)
{
    uint64_t changes = 0, start = 0;
    for (uint64_t i = 1; i < s->rows; i++) {
        changes += s->episodes[i] != s->episodes[i - 1];
        if (s->episodes[i] < s->episodes[i - 1])
            return hub_sink_problem(p->sink, "unreadable-episode", p->files->entries[file].path, err,
                                    "row %llu goes back to episode %lld: its episodes are not in order",
                                    (unsigned long long)i, (long long)s->episodes[i]);
    }
    if (changes >= HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "%llu episodes in one file", (unsigned long long)changes);
    *cuts = calloc((size_t)changes + 1, sizeof **cuts);
    HUB_TRY(hub_allocated(*cuts, err));
    for (uint64_t i = 1; i <= s->rows; i++) {
        if (i < s->rows && s->episodes[i] == s->episodes[i - 1])
            continue;
        struct lerobot_cut *cut = &(*cuts)[(*count)++];
        *cut = (struct lerobot_cut){.first = start, .count = i - start};
        HUB_TRY(send_episode(p, file, s->episodes[start], s, cut, err));
        start = i;
    }
    return HUB_OK;
}

static enum hub_status check_number(struct part *p, uint32_t file, int64_t number, const struct small *s,
                                    struct hub_error *err)
{
    for (uint64_t i = 0; s->episodes && i < s->rows; i++)
        if (s->episodes[i] != number)
            return hub_sink_problem(p->sink, "number-mismatch", p->files->entries[file].path, err,
                                    "row %llu says it belongs to episode %lld", (unsigned long long)i,
                                    (long long)s->episodes[i]);
    return HUB_OK;
}

static enum hub_status send_file(struct part *p, uint32_t file, const struct hub_parquet *parquet,
                                 struct hub_parquet_decoder *d, struct hub_error *err)
{
    HUB_CLEANUP(small_dispose) struct small s = {0};
    HUB_CLEANUP(hub_freep) struct lerobot_cut *cuts = NULL;
    uint32_t count = 0;
    const int64_t number = hub_lerobot_episode_of(p->files->entries[file].path, ".parquet");
    HUB_TRY(read_small(parquet, d, &s, err));
    if (number < 0 && !s.episodes)
        return hub_sink_problem(p->sink, "no-episode-number", p->files->entries[file].path, err,
                                "neither the file's name nor a column says which episode it is");
    if (number < 0) {
        HUB_TRY(send_cuts(p, file, &s, &cuts, &count, err));
    } else {
        HUB_TRY(hub_new(&cuts, 1, sizeof *cuts, err));
        cuts->count = parquet->rows;
        count = 1;
        HUB_TRY(check_number(p, file, number, &s, err));
        HUB_TRY(send_episode(p, file, number, &s, cuts, err));
    }
    return hub_lerobot_add_columns(&p->columns, parquet, d, cuts, count, err);
}

static enum hub_status inspect_file(struct part *p, uint32_t file, struct hub_error *err)
{
    struct hub_source source;
    HUB_CLEANUP(hub_parquet_dispose) struct hub_parquet parquet = {0};
    HUB_CLEANUP(hub_parquet_decoder_dispose) struct hub_parquet_decoder d = {0};
    struct hub_error why = {0};
    const struct hub_view path = p->files->entries[file].path;
    hub_source_file(&source, p->files, file);
    enum hub_status st = hub_source_usable(&source, &why);
    if (!st)
        st = hub_parquet_open(&source, &parquet, &why);
    if (st == HUB_CORRUPT || st == HUB_UNSUPPORTED || st == HUB_TOO_BIG || st == HUB_DENIED) {
        if (p->failed++ == 0)
            p->first_failure = why;
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", path, err, "a data file that cannot be read"));
        return hub_sink_problem(p->sink, why.problem[0] ? why.problem : "unreadable-episode", path, err, "%s",
                                why.detail);
    }
    if (st)
        return hub_fail(err, st, "%s", why.detail);
    hub_parquet_decoder_init(&d, &source);
    return send_file(p, file, &parquet, &d, err);
}

/* ---- the part ---- */

static enum hub_status inspect_files(struct part *p, const struct hub_part *part, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct lerobot_file *data = calloc((size_t)part->file_count + 1, sizeof *data);
    uint32_t count = 0;
    int64_t first = 0, last = INT64_MAX;
    HUB_TRY(hub_allocated(data, err));
    for (uint32_t i = 0; i < part->file_count; i++) {
        const struct hub_view path = p->files->entries[part->files[i]].path;
        if (hub_view_ends(path, ".parquet") && !hub_view_starts(path, "meta/"))
            data[count++] = (struct lerobot_file){hub_lerobot_episode_of(path, ".parquet"), part->files[i]};
    }
    qsort(data, count, sizeof *data, hub_lerobot_by_file);
    if (count && data[0].episode >= 0) {
        first = data[0].episode;
        last = data[count - 1].episode;
    }
    HUB_TRY(load_metadata(p, first, last, err));
    HUB_TRY(find_videos(p, first, last, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(inspect_file(p, data[i].file, err));
    if (p->done == 0 && p->failed)
        return hub_fail(err, HUB_CORRUPT, "no episode file can be read; the first: %s",
                        p->first_failure.detail);
    HUB_TRY(check_videos(p, err));
    return hub_lerobot_finish_columns(&p->columns, err);
}

enum hub_status hub_lerobot_inspect(struct hub_files *files, const struct hub_part *part,
                                    struct hub_sink *sink, struct hub_error *err)
{
    struct part p = {.files = files, .sink = sink, .columns = {.files = files, .sink = sink}};
    const enum hub_status st = inspect_files(&p, part, err);
    hub_lerobot_columns_dispose(&p.columns);
    list_dispose(&p.episodes);
    list_dispose(&p.stats);
    free(p.videos);
    json_decref(p.tasks);
    json_decref(p.info);
    return st;
}
