/*
 * imitation's trajectories as the library datasets pushes them to a hub (Dataset.push_to_hub):
 * data/SPLIT-00000-of-00002.parquet, a row a trajectory, whose columns obs, acts, rews and infos are lists.
 * A file is a part. In each row group a column is one array over the items of its lists, and episodes are
 * windows in it, by what the levels of its pages say; obs has one item more than acts. Where a list is
 * empty or null, the column of the row group is refused.
 *
 * Problems: missing-file, unreadable-file, not-loadable, not-fetched, permission-denied, rows-differ,
 * nulls, repeated-column, steps-unknown.
 */
#include "storage/formats/imitation/imitation.h"

#include "storage/formats/kit/table_kit.h"
#include "storage/text/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_TRIED = 4 };

/* "data/train-00000-of-00002.parquet"; older releases have "-HASH" behind the numbers. */
struct pushed_shard {
    struct hub_view split;
    uint64_t total;
};

static bool shard_of(struct hub_view path, struct pushed_shard *out)
{
    const struct hub_view name = hub_view_behind(path, '/');
    const char *of = memmem(name.data, name.size, "-of-", 4);
    size_t begin = of ? (size_t)(of - name.data) : 0, digits = 0;
    if (!hub_view_starts(path, "data/") || name.size + 5 != path.size || !hub_view_ends(name, ".parquet") ||
        !of)
        return false;
    while (of + 4 + digits < name.data + name.size && of[4 + digits] >= '0' && of[4 + digits] <= '9')
        digits++;
    while (begin && name.data[begin - 1] >= '0' && name.data[begin - 1] <= '9')
        begin--;
    out->split = (struct hub_view){name.data, begin ? begin - 1 : 0};
    return out->split.size && out->split.size < 100 && name.data[begin - 1] == '-' &&
           hub_number_read((struct hub_view){of + 4, digits}, UINT32_MAX, &out->total);
}

static uint32_t count_splits(const struct hub_files *files)
{
    struct pushed_shard shard, before = {{NULL, 0}, 0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < files->count; i++)
        if (shard_of(files->entries[i].path, &shard) && !hub_view_equal(shard.split, before.split)) {
            before = shard;
            count++;
        }
    return count;
}

bool imitation_is_pushed(const struct hub_files *files)
{
    return count_splits(files) > 0;
}

/* ---- claim ---- */

static bool has(const struct hub_table *table, const char *name, bool list)
{
    const uint32_t index = hub_table_find(table, name);
    return index != HUB_NONE && hub_table_is_list(table, index) == list;
}

/* Has the file a trajectory a row? Says how many, where it has. */
static enum hub_status look(struct hub_files *files, uint32_t number, uint64_t *rows, bool *mine,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_table_dispose) struct hub_table table = {.rows = 0};
    *mine = false;
    HUB_TRY(hub_table_open_parquet(files, number, &table, err));
    *mine = has(&table, "obs", true) && has(&table, "acts", true) && has(&table, "terminal", false);
    *rows = table.rows;
    return HUB_OK;
}

int imitation_claim_pushed(struct hub_files *listing)
{
    struct pushed_shard shard;
    uint64_t rows;
    bool mine = false;
    for (uint32_t i = 0, tried = 0; i < listing->count && tried < MAX_TRIED; i++) {
        if (listing->entries[i].directory || !shard_of(listing->entries[i].path, &shard))
            continue;
        tried++;
        if (!look(listing, i, &rows, &mine, NULL))
            return mine ? 70 : 0;
    }
    return 0;
}

/* ---- plan: the files of a split are numbered through ---- */

struct pushed {
    struct hub_files *files;
    struct hub_sink *sink;
    bool alone; /* one split: its numbers are those of the episodes */
    bool found;
    struct hub_json counts;
};

static enum hub_status report_problem(struct pushed *p, const char *code, struct hub_view path,
                                      const char *why, struct hub_error *err)
{
    HUB_TRY(hub_sink_problem(p->sink, code, path, err, "%s", why));
    return hub_sink_problem(p->sink, "not-loadable", path, err, "datasets needs all files of a split");
}

/* A file that cannot be opened is reported, and has no part. */
static enum hub_status send_part(struct pushed *p, uint32_t number, uint64_t *first, struct hub_error *err)
{
    const struct hub_view path = p->files->entries[number].path;
    struct hub_error why = {0};
    char hint[40];
    uint64_t rows;
    bool mine;
    const enum hub_status st = look(p->files, number, &rows, &mine, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    if (st || !mine)
        return report_problem(p, hub_problem_name_or(why.problem, "unreadable-file"), path,
                              st ? why.detail : "there are no trajectories of imitation", err);
    snprintf(hint, sizeof hint, "%d %llu", p->alone, (unsigned long long)*first);
    *first += rows;
    p->found = true;
    return hub_sink_part(p->sink, &(struct hub_part){path, &number, 1, hub_view_of(hint)}, err);
}

/* The files of the split that begins at `from`. */
static enum hub_status send_split(struct pushed *p, uint32_t from, uint32_t *end, struct hub_error *err)
{
    struct pushed_shard first, shard;
    uint64_t rows = 0, count = 0;
    (void)!shard_of(p->files->entries[from].path, &first);
    for (*end = from; *end < p->files->count && shard_of(p->files->entries[*end].path, &shard) &&
                      hub_view_equal(shard.split, first.split);
         ++*end, count++)
        HUB_TRY(send_part(p, *end, &rows, err));
    hub_json_key(&p->counts, first.split);
    hub_json_uint(&p->counts, rows);
    char why[80];
    snprintf(why, sizeof why, "only %llu of the split's %llu files exist", (unsigned long long)count,
             (unsigned long long)first.total);
    return count < first.total ? report_problem(p, "missing-file", p->files->entries[from].path, why, err)
                               : HUB_OK;
}

enum hub_status imitation_plan_pushed(struct hub_files *files, struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_TEXT);
    struct pushed p = {.files = files, .sink = sink, .alone = count_splits(files) == 1};
    struct pushed_shard shard;
    p.counts = hub_json_to(&text, err);
    hub_json_object(&p.counts);
    for (uint32_t i = 0, end; i < files->count; i = end) {
        end = i + 1;
        if (shard_of(files->entries[i].path, &shard))
            HUB_TRY(send_split(&p, i, &end, err));
    }
    hub_json_end_object(&p.counts);
    HUB_TRY(hub_json_status(&p.counts));
    return p.found ? hub_sink_fact(sink, "splits", hub_buf_view(&text), err)
                   : hub_fail(err, HUB_NOT_ACCEPTABLE, "there is no file of trajectories of imitation");
}

/* ---- a file ---- */

/* A file is read a row group at a time: what is damaged in one hides nothing in the others. */
struct pushed_table {
    struct hub_table table;   /* the row group at hand */
    struct hub_parquet whole; /* the file */
    struct hub_table_fields fields;
    uint32_t file;
    struct hub_view split;
    bool alone;
    uint64_t number; /* of the file's first trajectory */
    struct hub_tally unknown;

    uint32_t first, count; /* trajectories before the row group, and in it */
    uint64_t *steps, *offsets;
    struct hub_window *windows;
};

static void forget_group(struct pushed_table *t)
{
    free(t->steps);
    free(t->offsets);
    free(t->windows);
    t->steps = t->offsets = NULL;
    t->windows = NULL;
}

static void dispose(struct pushed_table *t)
{
    forget_group(t);
    hub_table_fields_dispose(&t->fields);
    hub_table_narrow(&t->table, &t->whole, 0, t->whole.group_count);
    hub_table_dispose(&t->table);
}

static uint64_t steps_of(const struct pushed_table *t, uint32_t i)
{
    return t->steps[i + 1] - t->steps[i];
}

/* By the actions; where they cannot be read, by what else has a row a step, or one more. */
static enum hub_status find_steps(struct pushed_table *t, struct hub_error *err)
{
    static const char *const names[] = {"acts", "rews", "infos", "obs"};
    struct hub_error why = {0};
    enum hub_status st = HUB_NOT_FOUND;
    for (size_t i = 0; hub_is_local(st) && i < HUB_COUNT(names); i++) {
        HUB_CLEANUP(hub_table_column_dispose) struct hub_table_column column = {.rows = 0};
        const uint32_t index = hub_table_find(&t->table, names[i]);
        st = index == HUB_NONE ? hub_fail(&why, HUB_NOT_FOUND, "there is no %s", names[i])
                               : hub_table_items_read(&t->table, index, t->steps, &column, &why);
        for (uint64_t k = 1; !st && i + 1 == HUB_COUNT(names) && k <= t->count; k++)
            t->steps[k] -= k;
    }
    if (!hub_is_local(st))
        return st ? hub_pass(st, &why, err) : HUB_OK;
    hub_tally_add(&t->unknown, "%s", why.detail);
    memset(t->steps, 0, (t->count + (size_t)1) * sizeof *t->steps);
    return HUB_OK;
}

/* ---- episodes ---- */

/* `rewards`: of all, or NULL; `ending`: terminal, or NULL. */
static enum hub_status send_episode(struct pushed_table *t, uint32_t i, const double *rewards,
                                    const double *ending, struct hub_view splits, struct hub_error *err)
{
    const uint64_t number = t->number + t->first + i;
    char name[160];
    snprintf(name, sizeof name, "%.*s%s%llu", t->alone ? 0 : (int)t->split.size, t->split.data,
             t->alone ? "" : "/", (unsigned long long)number);
    struct hub_episode episode = hub_episode_of(hub_view_of(name), t->file, steps_of(t, i));
    episode.number = t->alone ? (int64_t)number : -1;
    episode.terminated = (int8_t)(ending && !isnan(*ending) ? *ending != 0 : -1);
    episode.splits = splits;
    const uint64_t first = t->offsets[i];
    hub_episode_sum(&episode, rewards ? rewards + first : NULL, t->offsets[i + 1] - first);
    return hub_sink_episode(t->fields.sink, &episode, &t->windows[i].episode, err);
}

static enum hub_status send_episodes(struct pushed_table *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) double *rewards = NULL, *endings = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf splits = HUB_BUF_INIT(KIB);
    HUB_TRY(hub_table_numbers(&t->table, "terminal", t->offsets, UINT64_MAX, &endings, err));
    HUB_TRY(hub_table_numbers(&t->table, "rews", t->offsets, UINT64_MAX, &rewards, err));
    HUB_TRY(hub_json_one(t->split, &splits, err));
    for (uint32_t i = 0; i < t->count; i++)
        HUB_TRY(send_episode(t, i, rewards, endings ? &endings[i] : NULL, hub_buf_view(&splits), err));
    return HUB_OK;
}

/* ---- fields ---- */

static enum hub_status read_column(void *user, struct hub_table *table, struct hub_table_field *field,
                                   struct hub_table_column *c, struct hub_error *why)
{
    struct pushed_table *t = user;
    HUB_TRY(hub_table_items_read(table, c->index, t->offsets, c, why));
    c->type = field->readings.readable
                  ? field->type
                  : hub_column_type(c->type, &c->variant, hub_view_of(field->path), false);
    hub_table_cut(t->offsets, t->windows, t->count);
    for (uint32_t i = 0; i < t->count && hub_table_is_list(table, c->index); i++)
        field->votes[hub_axis_of(t->windows[i].count, steps_of(t, i))]++;
    return HUB_OK;
}

static const struct hub_table_dialect dialect = {.read = read_column};

/* What all row groups say of a field. */
static enum hub_status finish_field(struct pushed_table *t, struct hub_table_field *field,
                                    struct hub_error *err)
{
    const struct hub_view path = hub_view_of(field->path);
    const uint32_t step = field->votes[HUB_AXIS_STEP], state = field->votes[HUB_AXIS_STATE];
    field->axis = state > step ? HUB_AXIS_STATE : step ? HUB_AXIS_STEP : HUB_AXIS_NONE;
    HUB_TRY(hub_table_field_declare(&t->fields, field, field->type, err));
    HUB_TRY(hub_readings_report(&field->readings, t->fields.sink, path, "episodes", err));
    HUB_TRY(hub_report_nulls(t->fields.sink, path, field->nulls, err));
    return hub_table_field_report_odd(&t->fields, field, err);
}

static enum hub_status send_column(struct pushed_table *t, uint32_t index, struct hub_error *err)
{
    const char *path = hub_table_path(&t->table, index);
    struct hub_table_field *field;
    if (!path || hub_table_find(&t->table, path) != index)
        return HUB_OK;
    HUB_TRY(hub_table_fields_find(&t->fields, path, index, &field, err));
    return hub_table_field_add(&t->fields, field, &t->table, index, t->windows, t->count, err);
}

static enum hub_status send_group(struct pushed_table *t, uint32_t group, struct hub_error *err)
{
    hub_table_narrow(&t->table, &t->whole, group, 1);
    t->count = (uint32_t)t->table.rows;
    if (t->count == 0)
        return HUB_OK;
    HUB_TRY(hub_new(&t->steps, (size_t)t->count + 1, sizeof *t->steps, err));
    HUB_TRY(hub_new(&t->offsets, (size_t)t->count + 1, sizeof *t->offsets, err));
    HUB_TRY(hub_new(&t->windows, t->count, sizeof *t->windows, err));
    HUB_TRY(find_steps(t, err));
    HUB_TRY(send_episodes(t, err));
    for (uint32_t i = 0; i < t->table.count; i++)
        HUB_TRY(send_column(t, i, err));
    t->first += t->count;
    forget_group(t);
    return HUB_OK;
}

static enum hub_status finish(struct pushed_table *t, struct hub_error *err)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < t->table.count; i++) {
        const char *path = hub_table_path(&t->table, i);
        if (path && hub_table_find(&t->table, path) != i)
            HUB_TRY(hub_report_repeated(t->fields.sink, hub_view_of(path), err));
        else if (path && next < t->fields.count)
            HUB_TRY(finish_field(t, &t->fields.items[next++], err));
    }
    return t->unknown.count ? hub_sink_problem(t->fields.sink, "steps-unknown", HUB_VIEW("acts"), err,
                                               "in %u row groups no list can be read: %s", t->unknown.count,
                                               t->unknown.first)
                            : HUB_OK;
}

static enum hub_status send_table(struct pushed_table *t, struct hub_error *err)
{
    if (t->table.rows > HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d trajectories", HUB_MAX_EPISODES);
    for (uint32_t g = 0; g < t->whole.group_count; g++)
        HUB_TRY(send_group(t, g, err));
    return finish(t, err);
}

enum hub_status imitation_inspect_pushed(struct hub_files *files, const struct hub_part *part,
                                         struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct pushed_table t = {.file = part->file_count ? part->files[0] : HUB_NONE};
    struct pushed_shard shard;
    if (part->file_count != 1 || part->hint.size < 3 || !shard_of(files->entries[t.file].path, &shard) ||
        !hub_number_read((struct hub_view){part->hint.data + 2, part->hint.size - 2}, INT64_MAX, &t.number))
        return hub_fail(err, HUB_INVALID, "a part is one file");
    t.split = shard.split;
    t.alone = part->hint.data[0] == '1';
    t.fields = (struct hub_table_fields){.dialect = &dialect, .user = &t, .files = files, .sink = sink};
    HUB_TRY(hub_table_open_parquet(files, t.file, &t.table, err));
    t.whole = t.table.parquet;
    return send_table(&t, err);
}
