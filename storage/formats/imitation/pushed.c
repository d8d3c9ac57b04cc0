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

#include "storage/formats/parquet/column.h"
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

static bool has(const struct hub_parquet *parquet, const char *name, bool list)
{
    const uint32_t leaf = hub_parquet_find(parquet, name);
    return leaf != HUB_NONE && (parquet->leaves[leaf].max_rep > 0) == list;
}

/* Has the file a trajectory a row? Says how many, where it has. */
static enum hub_status look(struct hub_files *files, uint32_t number, uint64_t *rows, bool *mine,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_parquet_dispose) struct hub_parquet parquet = {0};
    struct hub_byte_source source;
    *mine = false;
    hub_byte_source_file(&source, files, number);
    HUB_TRY(hub_byte_source_usable(&source, err));
    HUB_TRY(hub_parquet_open(&source, &parquet, err));
    *mine = has(&parquet, "obs", true) && has(&parquet, "acts", true) && has(&parquet, "terminal", false);
    *rows = parquet.rows;
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

/* What all row groups say of a column. */
struct pushed_column {
    uint32_t field; /* HUB_NONE: not declared yet */
    enum hub_field_type type;
    bool list;
    uint32_t votes[2], other; /* trajectories with a row a step, with one more, with another number */
    uint64_t nulls;
    struct hub_readings readings;
};

/* A file is read a row group at a time: what is damaged in one hides nothing in the others. */
struct pushed_table {
    struct hub_sink *sink;
    struct hub_byte_source source;
    struct hub_parquet parquet;
    struct hub_parquet_decoder decoder;
    struct pushed_column *columns;
    uint32_t file;
    struct hub_view split;
    bool alone;
    uint64_t number; /* of the file's first trajectory */
    struct hub_tally unknown;

    struct hub_parquet group; /* of `parquet`: that one alone */
    uint32_t first, count;    /* trajectories before it, and in it */
    uint64_t *steps, *offsets;
};

static void forget_group(struct pushed_table *t)
{
    free(t->steps);
    free(t->offsets);
    t->steps = t->offsets = NULL;
}

static void dispose(struct pushed_table *t)
{
    forget_group(t);
    hub_parquet_dispose(&t->parquet);
    hub_parquet_decoder_dispose(&t->decoder);
    free(t->columns);
}

/* A list's rows are its items; offsets says of each trajectory which. */
static enum hub_status read_leaf(struct pushed_table *t, uint32_t leaf, uint64_t *offsets,
                                 struct hub_parquet_column *out, struct hub_error *err)
{
    if (t->parquet.leaves[leaf].max_rep)
        return hub_parquet_items_read(&t->group, leaf, &t->decoder, offsets, out, err);
    for (uint32_t i = 0; i <= t->count; i++)
        offsets[i] = i;
    return hub_parquet_column_read(&t->group, leaf, &t->decoder, out, err);
}

static enum hub_status offsets_of(struct pushed_table *t, const char *name, uint64_t *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_parquet_column_dispose) struct hub_parquet_column column = {.count = 0};
    const uint32_t leaf = hub_parquet_find(&t->parquet, name);
    return leaf == HUB_NONE ? hub_fail(err, HUB_NOT_FOUND, "there is no %s", name)
                            : read_leaf(t, leaf, out, &column, err);
}

/* By the actions; where they cannot be read, by what else has a row a step, or one more. */
static enum hub_status find_steps(struct pushed_table *t, struct hub_error *err)
{
    static const char *const names[] = {"acts", "rews", "infos", "obs"};
    struct hub_error why = {0};
    enum hub_status st = HUB_NOT_FOUND;
    for (size_t i = 0; hub_is_local(st) && i < HUB_COUNT(names); i++) {
        st = offsets_of(t, names[i], t->steps, &why);
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

/* The numbers of a column, by `offsets`; nothing where there are none. */
static enum hub_status numbers_of(struct pushed_table *t, const char *name, uint64_t *offsets, double **out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_parquet_column_dispose) struct hub_parquet_column column = {.count = 0};
    HUB_CLEANUP(hub_freep) double *numbers = NULL;
    const uint32_t leaf = hub_parquet_find(&t->parquet, name);
    struct hub_error why = {0};
    if (leaf == HUB_NONE)
        return HUB_OK;
    enum hub_status st = read_leaf(t, leaf, offsets, &column, &why);
    const uint64_t count = st ? 0 : offsets[t->count];
    if (!st)
        st = hub_new(&numbers, (size_t)count + 1, sizeof *numbers, &why);
    if (!st)
        st = hub_parquet_column_numbers(&column, &t->parquet.leaves[leaf], &t->decoder, count, numbers, &why);
    if (st)
        return hub_is_local(st) ? HUB_OK : hub_pass(st, &why, err); /* the field says so */
    *out = numbers;
    numbers = NULL;
    return HUB_OK;
}

/* `sum` NAN: not known; `ending`: terminal, or NULL. */
static enum hub_status send_episode(struct pushed_table *t, uint32_t i, double sum, const double *ending,
                                    struct hub_view splits, struct hub_error *err)
{
    const uint64_t number = t->number + t->first + i;
    char name[160];
    uint32_t index;
    snprintf(name, sizeof name, "%.*s%s%llu", t->alone ? 0 : (int)t->split.size, t->split.data,
             t->alone ? "" : "/", (unsigned long long)number);
    struct hub_episode episode = hub_episode_of(hub_view_of(name), t->file, t->steps[i + 1] - t->steps[i]);
    episode.number = t->alone ? (int64_t)number : -1;
    episode.terminated = (int8_t)(ending && !isnan(*ending) ? *ending != 0 : -1);
    episode.splits = splits;
    hub_episode_sum(&episode, sum);
    return hub_sink_episode(t->sink, &episode, &index, err);
}

static enum hub_status send_episodes(struct pushed_table *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) double *rewards = NULL, *endings = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf splits = HUB_BUF_INIT(KIB);
    HUB_TRY(numbers_of(t, "terminal", t->offsets, &endings, err));
    HUB_TRY(numbers_of(t, "rews", t->offsets, &rewards, err));
    HUB_TRY(hub_json_one(t->split, &splits, err));
    for (uint32_t i = 0; i < t->count; i++) {
        double sum = rewards ? 0 : NAN;
        for (uint64_t k = t->offsets[i]; rewards && k < t->offsets[i + 1]; k++)
            sum += rewards[k];
        HUB_TRY(send_episode(t, i, sum, endings ? &endings[i] : NULL, hub_buf_view(&splits), err));
    }
    return HUB_OK;
}

/* ---- fields ---- */

static enum hub_status declare(struct pushed_table *t, uint32_t leaf, struct hub_error *err)
{
    struct pushed_column *c = &t->columns[leaf];
    const struct hub_view path = hub_view_of(t->parquet.leaves[leaf].path);
    const bool known = c->list && c->votes[0] + c->votes[1];
    const enum hub_axis axis = !known                      ? HUB_AXIS_NONE
                               : c->votes[1] > c->votes[0] ? HUB_AXIS_STATE
                                                           : HUB_AXIS_STEP;
    const struct hub_field field = {.path = path, .type = c->type, .role = hub_role_of(path), .axis = axis};
    const uint32_t odd = c->other + HUB_MIN(c->votes[0], c->votes[1]);
    HUB_TRY(hub_sink_field(t->sink, &field, &c->field, err));
    HUB_TRY(hub_readings_report(&c->readings, t->sink, path, "episodes", err));
    HUB_TRY(hub_report_nulls(t->sink, path, c->nulls, err));
    return hub_report_odd(t->sink, path, known ? odd : 0, axis, "", err);
}

static enum hub_status place(struct pushed_table *t, struct pushed_column *c, struct hub_parquet_column *rows,
                             struct hub_error *err)
{
    struct hub_layout_builder *builder;
    uint32_t array;
    HUB_TRY(hub_sink_layout(t->sink, c->field, &builder, err));
    HUB_TRY(hub_layout_array_of(builder, &rows->variant, &array, err));
    HUB_TRY(hub_parquet_column_place(rows, &t->group, t->file, builder, err));
    for (uint32_t i = 0; i < t->count; i++) {
        const struct hub_window window = {t->first + i, array, t->offsets[i],
                                          t->offsets[i + 1] - t->offsets[i]};
        const uint64_t more = window.count - (t->steps[i + 1] - t->steps[i]);
        *(more < 2 ? &c->votes[more] : &c->other) += 1;
        HUB_TRY(hub_layout_add_window(builder, &window, err));
    }
    const struct hub_view path = hub_view_of(t->parquet.leaves[c - t->columns].path);
    if (c->type == HUB_FIELD_OPAQUE)
        c->type = hub_column_type(rows->type, &rows->variant, path, false);
    c->nulls += hub_lost_nulls(&rows->variant, rows->shape.nulls);
    return HUB_OK;
}

static enum hub_status send_leaf(struct pushed_table *t, uint32_t leaf, struct hub_error *err)
{
    HUB_CLEANUP(hub_parquet_column_dispose) struct hub_parquet_column rows = {.count = 0};
    struct pushed_column *c = &t->columns[leaf];
    struct hub_error why = {0};
    if (c->field == HUB_NONE)
        HUB_TRY(declare(t, leaf, err));
    const enum hub_status st = read_leaf(t, leaf, t->offsets, &rows, &why);
    if (st && !hub_is_local(st))
        return hub_pass(st, &why, err);
    c->readings.readable += st ? 0 : t->count;
    for (uint32_t i = 0; st && i < t->count; i++) {
        hub_tally_add(&c->readings.unreadable, "%s", why.detail);
        HUB_TRY(hub_sink_refuse(t->sink, c->field, t->first + i, why.detail, err));
    }
    return st ? HUB_OK : place(t, c, &rows, err);
}

static bool is_field(const struct pushed_table *t, uint32_t leaf)
{
    return !t->parquet.leaves[leaf].part &&
           hub_parquet_find(&t->parquet, t->parquet.leaves[leaf].path) == leaf;
}

static enum hub_status send_group(struct pushed_table *t, uint32_t group, struct hub_error *err)
{
    t->count = (uint32_t)t->parquet.group_rows[group];
    t->group = t->parquet;
    t->group.group_rows += group;
    t->group.chunks += (size_t)group * t->parquet.leaf_count;
    t->group.group_count = 1;
    t->group.rows = t->count;
    HUB_TRY(hub_new(&t->steps, (size_t)t->count + 1, sizeof *t->steps, err));
    HUB_TRY(hub_new(&t->offsets, (size_t)t->count + 1, sizeof *t->offsets, err));
    HUB_TRY(find_steps(t, err));
    HUB_TRY(send_episodes(t, err));
    for (uint32_t i = 0; i < t->parquet.leaf_count; i++)
        if (is_field(t, i))
            HUB_TRY(send_leaf(t, i, err));
    t->first += t->count;
    forget_group(t);
    return HUB_OK;
}

static enum hub_status send_table(struct pushed_table *t, struct hub_error *err)
{
    HUB_TRY(hub_parquet_open(&t->source, &t->parquet, err));
    if (t->parquet.rows > HUB_MAX_EPISODES)
        return hub_fail(err, HUB_TOO_BIG, "more than %d trajectories", HUB_MAX_EPISODES);
    HUB_TRY(hub_new(&t->columns, (size_t)t->parquet.leaf_count + 1, sizeof *t->columns, err));
    for (uint32_t i = 0; i < t->parquet.leaf_count; i++)
        t->columns[i] = (struct pushed_column){
            .field = HUB_NONE, .type = HUB_FIELD_OPAQUE, .list = t->parquet.leaves[i].max_rep > 0};
    for (uint32_t g = 0; g < t->parquet.group_count; g++)
        if (t->parquet.group_rows[g])
            HUB_TRY(send_group(t, g, err));
    for (uint32_t i = 0; i < t->parquet.leaf_count; i++)
        if (t->columns[i].field != HUB_NONE)
            HUB_TRY(declare(t, i, err));
        else if (!is_field(t, i) && !t->parquet.leaves[i].part)
            HUB_TRY(hub_report_repeated(t->sink, hub_view_of(t->parquet.leaves[i].path), err));
    return t->unknown.count ? hub_sink_problem(t->sink, "steps-unknown", HUB_VIEW("acts"), err,
                                               "in %u row groups no list can be read: %s", t->unknown.count,
                                               t->unknown.first)
                            : HUB_OK;
}

enum hub_status imitation_inspect_pushed(struct hub_files *files, const struct hub_part *part,
                                         struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct pushed_table t = {.sink = sink};
    struct pushed_shard shard;
    if (part->file_count != 1 || part->hint.size < 3 ||
        !shard_of(files->entries[part->files[0]].path, &shard) ||
        !hub_number_read((struct hub_view){part->hint.data + 2, part->hint.size - 2}, INT64_MAX, &t.number))
        return hub_fail(err, HUB_INVALID, "a part is one file");
    t.file = part->files[0];
    t.split = shard.split;
    t.alone = part->hint.data[0] == '1';
    hub_byte_source_file(&t.source, files, t.file);
    hub_parquet_decoder_init(&t.decoder, &t.source);
    return send_table(&t, err);
}
