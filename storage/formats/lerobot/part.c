/* Some data files of a LeRobot dataset: which episodes their rows are. */
#include "storage/formats/lerobot/lerobot.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- metadata ---- */

/* All texts of tasks, to be asked whether one is among them. */
static enum hub_status index_texts(struct lerobot_part_state *p, struct hub_error *err)
{
    p->texts = json_object();
    HUB_TRY(hub_allocated(p->texts, err));
    for (uint32_t i = 0; i < p->tasks.count; i++)
        if (json_object_set_new(p->texts, hub_lerobot_text(p->tasks.items[i].line, "task"), json_true()))
            return hub_no_memory(err);
    return HUB_OK;
}

/* The plan has reported what is damaged in the lists of episodes and tasks. */
static enum hub_status load_metadata(struct lerobot_part_state *p, int64_t first, int64_t last,
                                     struct hub_error *err)
{
    p->episodes.first = p->stats.first = first;
    p->episodes.last = p->stats.last = last;
    HUB_TRY(hub_json_file(p->files, LEROBOT_INFO, NULL, &p->info.json, err));
    p->info.features = json_object_get(p->info.json, "features");
    p->columns.features = p->info.features;
    HUB_TRY(hub_lerobot_read_texts(p->files, NULL, &hub_lerobot_tasks, &p->tasks, err));
    HUB_TRY(index_texts(p, err));
    if (hub_lerobot_has_tables(p->files))
        HUB_TRY(hub_lerobot_read_tables(p->files, &p->episodes, err));
    else
        HUB_TRY(hub_lerobot_read_lines(p->files, NULL, LEROBOT_EPISODES, &p->episodes, err));
    return hub_lerobot_read_lines(p->files, p->sink, LEROBOT_EPISODES_STATS, &p->stats, err);
}

/* ---- one file ---- */

static int by_number(const void *a, const void *b)
{
    const struct lerobot_cut *x = a, *y = b;
    const int order = hub_by_i64(&x->number, &y->number);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

static uint64_t runs_of(const struct lerobot_small *s)
{
    uint64_t runs = s->rows > 0;
    for (uint64_t i = 1; i < s->rows; i++)
        runs += s->episodes[i] != s->episodes[i - 1];
    return runs;
}

/* Of an episode that comes again the first run of rows is kept. */
static enum hub_status drop_repeated(struct lerobot_part_state *p, uint32_t file, struct lerobot_cut *cuts,
                                     uint32_t *count, struct hub_error *err)
{
    uint32_t kept = 0, dropped = 0;
    int64_t example = 0;
    qsort(cuts, *count, sizeof *cuts, by_number);
    for (uint32_t i = 0; i < *count; i++) {
        if (kept && cuts[kept - 1].number == cuts[i].number) {
            example = dropped++ ? example : cuts[i].number;
            continue;
        }
        cuts[kept++] = cuts[i];
    }
    *count = kept;
    if (!dropped)
        return HUB_OK;
    return hub_sink_problem(p->sink, "rows-not-contiguous", p->files->entries[file].path, err,
                            "rows of an episode are not contiguous: the first run of each episode is shown, "
                            "%u runs are left out; the first is of episode %lld",
                            dropped, (long long)example);
}

/* Of an episode that comes again in another file the rows in the first are kept. */
static enum hub_status drop_taken(struct lerobot_part_state *p, uint32_t file, struct lerobot_cut *cuts,
                                  uint32_t *count, struct hub_error *err)
{
    struct hub_tally dropped = {0};
    uint32_t kept = 0;
    char key[24];
    for (uint32_t i = 0; i < *count; i++) {
        snprintf(key, sizeof key, "%lld", (long long)cuts[i].number);
        if (json_object_get(p->taken, key)) {
            hub_tally_add(&dropped, "%llu rows of episode %s", (unsigned long long)cuts[i].count, key);
            continue;
        }
        if (json_object_set_new(p->taken, key, json_true()))
            return hub_no_memory(err);
        cuts[kept++] = cuts[i];
    }
    *count = kept;
    if (!dropped.count)
        return HUB_OK;
    return hub_sink_problem(
        p->sink, "rows-not-contiguous", p->files->entries[file].path, err,
        "%u episodes have rows in an earlier file, which are shown; the rows here are left out: %s",
        dropped.count, dropped.first);
}

/* Where the column of numbers is damaged, the metadata says whose row this is. */
static int64_t number_of(const struct lerobot_part_state *p, int64_t index)
{
    for (uint32_t i = 0; index >= 0 && i < p->episodes.count; i++) {
        const json_t *line = p->episodes.items[i].line;
        if (hub_lerobot_stated(line, "dataset_from_index") <= index &&
            index < hub_lerobot_stated(line, "dataset_to_index"))
            return p->episodes.items[i].episode;
    }
    return -1;
}

static enum hub_status fill_numbers(struct lerobot_part_state *p, uint32_t file,
                                    const struct lerobot_small *s, struct hub_error *err)
{
    uint64_t unknown = 0;
    for (uint64_t i = 0; i < s->rows; i++) {
        if (s->episodes[i] >= 0)
            continue;
        const bool same =
            i && s->indexes && unknown && s->indexes[i] == s->indexes[i - 1] + 1 && s->episodes[i - 1] >= 0;
        const struct lerobot_said *said = same ? hub_lerobot_said(&p->episodes, s->episodes[i - 1]) : NULL;
        s->episodes[i] = said && s->indexes[i] < hub_lerobot_stated(said->line, "dataset_to_index")
                             ? s->episodes[i - 1]
                             : number_of(p, s->indexes ? s->indexes[i] : -1);
        unknown++;
    }
    if (!unknown)
        return HUB_OK;
    return hub_sink_problem(p->sink, "unreadable-numbers", p->files->entries[file].path, err,
                            "the episode_index of %llu of its %llu rows cannot be read: the metadata says "
                            "which episode they belong to",
                            (unsigned long long)unknown, (unsigned long long)s->rows);
}

/* The runs of equal numbers in its episode_index column are the episodes. */
static enum hub_status find_cuts(struct lerobot_part_state *p, uint32_t file, const struct lerobot_small *s,
                                 struct lerobot_cut **cuts, uint32_t *count, struct hub_error *err)
{
    HUB_TRY(fill_numbers(p, file, s, err));
    const uint64_t runs = runs_of(s);
    if (runs > HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "%llu episodes in one file", (unsigned long long)runs);
    HUB_TRY(hub_new(cuts, (size_t)runs, sizeof **cuts, err));
    for (uint64_t i = 0; i < s->rows; i++) {
        if (s->episodes[i] < 0)
            continue;
        if (i == 0 || s->episodes[i] != s->episodes[i - 1])
            (*cuts)[(*count)++] = (struct lerobot_cut){.number = s->episodes[i], .first = i};
        (*cuts)[*count - 1].count++;
    }
    return *count ? drop_repeated(p, file, *cuts, count, err) : HUB_OK;
}

static enum hub_status check_number(struct lerobot_part_state *p, uint32_t file, int64_t number,
                                    const struct lerobot_small *s, struct hub_error *err)
{
    for (uint64_t i = 0; s->episodes && i < s->rows; i++)
        if (s->episodes[i] >= 0 && s->episodes[i] != number)
            return hub_sink_problem(p->sink, "number-mismatch", p->files->entries[file].path, err,
                                    "row %llu has the episode_index %lld", (unsigned long long)i,
                                    (long long)s->episodes[i]);
    return HUB_OK;
}

/* `index` counts the rows of the whole dataset: within a file without a gap. */
static enum hub_status check_indexes(struct lerobot_part_state *p, uint32_t file,
                                     const struct lerobot_small *s, struct hub_error *err)
{
    for (uint64_t i = 1; s->indexes && i < s->rows; i++)
        if (s->indexes[i] != s->indexes[i - 1] + 1)
            return hub_sink_problem(p->sink, "index-mismatch", p->files->entries[file].path, err,
                                    "row %llu has the index %lld, the one before it %lld",
                                    (unsigned long long)i, (long long)s->indexes[i],
                                    (long long)s->indexes[i - 1]);
    return HUB_OK;
}

static enum hub_status report_no_numbers(const struct lerobot_part_state *p, uint32_t file,
                                         const struct hub_table *table, struct hub_error *err)
{
    const struct hub_view path = p->files->entries[file].path;
    const uint32_t leaf = hub_table_find(table, "episode_index");
    const char *trouble =
        leaf != HUB_NONE && table->parquet.group_count ? table->parquet.chunks[leaf].trouble : NULL;
    if (trouble)
        return hub_sink_problem(p->sink, "unreadable-episode", path, err,
                                "its episode_index cannot be read: %s", trouble);
    return hub_sink_problem(p->sink, "no-episode-number", path, err,
                            "neither the file's name nor a column says which episode it is");
}

/* The episodes of a file, and the rows of each as a window. */
static enum hub_status send_cuts(struct lerobot_part_state *p, uint32_t file, struct hub_table *table,
                                 const struct lerobot_small *s, struct lerobot_cut *cuts, uint32_t count,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_window *windows = NULL;
    HUB_TRY(hub_new(&windows, (size_t)count + 1, sizeof *windows, err));
    for (uint32_t i = 0; i < count; i++) {
        HUB_TRY(hub_lerobot_send_episode(p, file, s, &cuts[i], err));
        windows[i] =
            (struct hub_window){.episode = cuts[i].episode, .first = cuts[i].first, .count = cuts[i].count};
    }
    return hub_lerobot_add_columns(&p->columns, table, windows, count, err);
}

static enum hub_status send_file(struct lerobot_part_state *p, uint32_t file, struct hub_table *table,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_lerobot_small_dispose) struct lerobot_small s = {0};
    HUB_CLEANUP(hub_freep) struct lerobot_cut *cuts = NULL;
    uint32_t count = 0;
    const int64_t number = hub_lerobot_episode_of(p->files->entries[file].path, ".parquet");
    HUB_TRY(hub_lerobot_read_small(table, &s, err));
    if (number < 0 && !s.episodes)
        return report_no_numbers(p, file, table, err);
    if (number < 0) {
        HUB_TRY(find_cuts(p, file, &s, &cuts, &count, err));
        HUB_TRY(check_indexes(p, file, &s, err));
    } else {
        HUB_TRY(hub_new(&cuts, 1, sizeof *cuts, err));
        *cuts = (struct lerobot_cut){.number = number, .count = table->rows};
        count = 1;
        HUB_TRY(check_number(p, file, number, &s, err));
    }
    HUB_TRY(drop_taken(p, file, cuts, &count, err));
    return send_cuts(p, file, table, &s, cuts, count, err);
}

static enum hub_status open_file(const struct lerobot_part_state *p, uint32_t file, struct hub_table *table,
                                 struct hub_error *err)
{
    return hub_lerobot_episode_of(p->files->entries[file].path, ".parquet") < 0
               ? hub_lerobot_open_rows(p->files, file, table, err)
               : hub_table_open_parquet(p->files, file, table, err);
}

static enum hub_status inspect_file(struct lerobot_part_state *p, uint32_t file, struct hub_error *err)
{
    HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
    struct hub_error why = {0};
    const struct hub_view path = p->files->entries[file].path;
    const enum hub_status st = open_file(p, file, &table, &why);
    if (st == HUB_CORRUPT || st == HUB_UNSUPPORTED || st == HUB_TOO_BIG || st == HUB_DENIED) {
        if (p->failed++ == 0)
            p->first_failure = why;
        HUB_TRY(hub_sink_problem(p->sink, "not-loadable", path, err, "the data file cannot be read"));
        return hub_sink_problem(p->sink, hub_problem_name_or(why.problem, "unreadable-episode"), path, err,
                                "%s", why.detail);
    }
    return st ? hub_fail(err, st, "%s", why.detail) : send_file(p, file, &table, err);
}

/* ---- the part ---- */

/* The least and the greatest number of the episodes in a file whose name does not say it. */
static enum hub_status widen(const struct lerobot_part_state *p, uint32_t file, int64_t *first, int64_t *last,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
    HUB_CLEANUP(hub_freep) int64_t *numbers = NULL;
    if (open_file(p, file, &table, NULL)) /* it is reported when its rows are read */
        return HUB_OK;
    HUB_TRY(hub_lerobot_read_numbers(&table, &numbers, err));
    for (uint64_t i = 0; numbers && i < table.rows; i++) {
        *first = HUB_MIN(*first, numbers[i]);
        *last = numbers[i] < 0 ? INT64_MAX : HUB_MAX(*last, numbers[i]); /* unknown: may be any */
    }
    return HUB_OK;
}

static enum hub_status find_range(const struct lerobot_part_state *p, const struct lerobot_file *data,
                                  uint32_t count, int64_t *first, int64_t *last, struct hub_error *err)
{
    *first = INT64_MAX;
    *last = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (data[i].episode < 0) {
            HUB_TRY(widen(p, data[i].file, first, last, err));
            continue;
        }
        *first = HUB_MIN(*first, data[i].episode);
        *last = HUB_MAX(*last, data[i].episode);
    }
    return HUB_OK;
}

static enum hub_status report_problem(const struct lerobot_part_state *p, const char *code,
                                      const struct hub_tally *tally, const char *what, struct hub_error *err)
{
    if (!tally->count)
        return HUB_OK;
    return hub_sink_problem(
        p->sink, code, hub_view_of(p->episodes.table_count ? "meta/episodes" : LEROBOT_EPISODES), err,
        "%s of %u of %u episodes; the first: %s", what, tally->count, p->done, tally->first);
}

static enum hub_status finish(struct lerobot_part_state *p, struct hub_error *err)
{
    if (p->done == 0 && p->failed)
        return hub_fail_as(err, HUB_CORRUPT, p->first_failure.problem,
                           "no episode file can be read; the first: %s", p->first_failure.detail);
    HUB_TRY(report_problem(p, "wrong-data-file", &p->misplaced, "the data file", err));
    HUB_TRY(report_problem(p, "wrong-rows", &p->ranges, "the range of rows", err));
    HUB_TRY(hub_lerobot_videos_finish(&p->videos, err));
    return hub_lerobot_finish_columns(&p->columns, err);
}

static enum hub_status inspect_files(struct lerobot_part_state *p, const struct hub_part *part,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct lerobot_file *data = calloc((size_t)part->file_count + 1, sizeof *data);
    uint32_t count = 0;
    int64_t first, last;
    HUB_TRY(hub_allocated(data, err));
    for (uint32_t i = 0; i < part->file_count; i++) {
        const struct hub_view path = p->files->entries[part->files[i]].path;
        if (hub_lerobot_is_data(path))
            data[count++] = (struct lerobot_file){hub_lerobot_episode_of(path, ".parquet"), part->files[i]};
    }
    qsort(data, count, sizeof *data, hub_lerobot_by_file);
    p->taken = json_object();
    HUB_TRY(hub_allocated(p->taken, err));
    HUB_TRY(find_range(p, data, count, &first, &last, err));
    HUB_TRY(load_metadata(p, first, last, err));
    HUB_TRY(hub_lerobot_videos_find(&p->videos, first, last, err));
    for (uint32_t i = 0; i < count; i++)
        HUB_TRY(inspect_file(p, data[i].file, err));
    return finish(p, err);
}

enum hub_status hub_lerobot_inspect(struct hub_files *files, const struct hub_part *part,
                                    struct hub_sink *sink, struct hub_error *err)
{
    struct lerobot_part_state p = {.files = files, .sink = sink};
    hub_lerobot_columns_begin(&p.columns, files, sink);
    p.videos = (struct lerobot_videos){.files = files, .sink = sink, .info = &p.info, .said = &p.episodes};
    const enum hub_status st = inspect_files(&p, part, err);
    hub_table_fields_dispose(&p.columns.fields);
    hub_lerobot_said_dispose(&p.tasks);
    hub_lerobot_said_dispose(&p.episodes);
    hub_lerobot_said_dispose(&p.stats);
    hub_lerobot_videos_dispose(&p.videos);
    json_decref(p.texts);
    json_decref(p.taken);
    json_decref(p.info.json);
    return st;
}
