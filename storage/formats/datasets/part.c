/* One folder of a dataset as a part: its episodes, and its columns as their fields. */
#include "storage/formats/datasets/datasets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static enum hub_status load_column(struct datasets_folder *f, const char *const *names,
                                   struct episode_numbers *out, struct hub_error *err)
{
    if (f->trajectories)
        HUB_TRY(hub_new(&out->offsets, (size_t)f->table.rows + 1, sizeof *out->offsets, err));
    for (; *names && !out->numbers; names++) {
        HUB_TRY(hub_table_numbers(&f->table, *names, out->offsets, DATASETS_MAX_ROWS, &out->numbers, err));
        out->single = f->trajectories && out->numbers &&
                      !hub_table_is_list(&f->table, hub_table_find(&f->table, *names));
    }
    return HUB_OK;
}

/* The numbers of an episode; false: there are none. */
static bool numbers_in(const struct episode_numbers *c, const struct datasets_episode *cut, uint64_t *first,
                       uint64_t *count)
{
    *first = c->offsets ? c->offsets[cut->first] : cut->first;
    *count = c->offsets ? c->offsets[cut->first + 1] - *first : cut->count;
    return c->numbers && *count;
}

static int8_t last_flag(const struct episode_numbers *c, const struct datasets_episode *cut)
{
    uint64_t first, count;
    if (!numbers_in(c, cut, &first, &count))
        return -1;
    const double last = c->numbers[first + count - 1];
    return isnan(last) ? -1 : last != 0;
}

static void sum_rewards(const struct episode_numbers *c, const struct datasets_episode *cut,
                        struct hub_episode *episode)
{
    uint64_t first, count;
    if (!c->single && numbers_in(c, cut, &first, &count))
        hub_episode_sum(episode, c->numbers + first, count);
}

/* The file in which an episode begins. */
static uint32_t file_of(const struct datasets_folder *f, uint64_t row, uint32_t *near)
{
    const struct hub_arrow *arrow = &f->table.arrow;
    while (*near + 1 < arrow->batch_count && arrow->batches[*near + 1].first_row <= row)
        ++*near;
    return arrow->batches[*near].file;
}

static enum hub_status send_episodes(struct datasets_folder *f, bool alone, struct hub_error *err)
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
        const struct datasets_episode *cut = &f->cuts[i];
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
static void elect_axis(const struct datasets_folder *f, struct hub_table_field *field)
{
    for (uint32_t i = 0; i < f->count; i++)
        field->votes[hub_axis_of(f->windows[i].count, f->cuts[i].count)]++;
    for (unsigned a = HUB_AXIS_STEP; a <= HUB_AXIS_STATE; a++)
        if (field->votes[a] > field->votes[field->axis])
            field->axis = (enum hub_axis)a;
}

/* The windows of a column: of trajectories the items of each row's list, or the row. */
static enum hub_status find_windows(struct datasets_folder *f, struct hub_table_field *field, uint32_t column,
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
    struct datasets_folder *f = user;
    HUB_TRY(find_windows(f, field, c->index, why));
    HUB_TRY(f->trajectories ? hub_table_items_read(table, c->index, f->offsets, c, why)
                            : hub_table_read(table, c->index, UINT64_MAX, c, why));
    c->type = hub_column_type(c->type, &c->variant, hub_view_of(field->path), false);
    return HUB_OK;
}

static const struct hub_table_dialect dialect = {.read = read_column};

static enum hub_status send_field(struct datasets_folder *f, uint32_t column, struct hub_error *err)
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

static enum hub_status send_fields(struct datasets_folder *f, struct hub_error *err)
{
    if (f->count == 0) /* its types may be none either */
        return HUB_OK;
    HUB_TRY(hub_new(&f->windows, f->count, sizeof *f->windows, err));
    for (uint32_t i = 0; i < f->table.count; i++)
        HUB_TRY(send_field(f, i, err));
    return HUB_OK;
}

enum hub_status datasets_inspect(struct hub_files *files, const struct hub_part *part, struct hub_sink *sink,
                                 struct hub_error *err)
{
    HUB_CLEANUP(datasets_folder_dispose) struct datasets_folder f = {.files = files, .sink = sink};
    const size_t n = part->hint.size;
    if (n < 2 || n - 2 >= sizeof f.prefix)
        return hub_fail(err, HUB_INVALID, "a part without its folder");
    memcpy(f.prefix, part->hint.data + 2, n - 2);
    if (n > 2) /* the folder is the split */
        snprintf(f.split, sizeof f.split, "%.*s", (int)HUB_MIN(n - 3, 255), f.prefix);
    HUB_TRY(datasets_folder_load(&f, err));
    HUB_TRY(send_episodes(&f, part->hint.data[0] == '1', err));
    return send_fields(&f, err);
}
