/* Measuring one part: see measure_part.h. */
#include "storage/measurer/measure_part.h"

#include "storage/episodes/episode_reader.h"
#include "storage/measurer/measure_columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_FACT_BYTES (16 * MIB)

/* ---- what is known before ---- */

void hub_measure_plan_dispose(struct hub_measure_plan *plan)
{
    free(plan->states);
    free(plan->places);
    free(plan->starts);
}

static enum hub_status sort_episodes(struct hub_measure_plan *plan, struct hub_error *err)
{
    const struct hub_dataset *d = plan->dataset;
    HUB_TRY(hub_new(&plan->starts, (size_t)d->part_count + 2, sizeof *plan->starts, err));
    HUB_TRY(hub_new(&plan->places, (size_t)d->episode_count + 1, sizeof *plan->places, err));
    for (uint32_t i = 0; i < d->episode_count; i++)
        plan->starts[d->episodes[i].part + 2]++;
    for (uint32_t i = 0; i < d->part_count; i++)
        plan->starts[i + 2] += plan->starts[i + 1];
    for (uint32_t i = 0; i < d->episode_count; i++) /* where a part ends is then where the next begins */
        plan->places[plan->starts[d->episodes[i].part + 1]++] = i;
    return HUB_OK;
}

enum hub_status hub_measure_plan_read(struct hub_catalog *catalog, const struct hub_dataset *dataset,
                                      struct hub_measure_plan *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT(MAX_FACT_BYTES);
    HUB_TRY(hub_state_open(catalog, dataset->summary, &state, err));
    if (state.dataset->summary->serial != dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", dataset->summary->id);
    HUB_TRY(hub_dataset_fact(&state, "fps", &fact, err));
    out->dataset = dataset;
    out->fps = fact.size ? strtod(fact.data, NULL) : 0;
    HUB_TRY(sort_episodes(out, err));
    return hub_measures_states(&state, &out->states, err);
}

/* ---- a part ---- */

/* The measuring of one part. */
struct measure_task {
    struct hub_measure_turn *turn;
    const struct hub_measure_plan *plan;
    const struct hub_dataset *dataset; /* the plan's */
    uint32_t part;
    enum hub_measured how_far;
    uint64_t *steps; /* by place in the part */
    struct hub_measured_part measured;
    struct hub_measure_host host;
    struct hub_measure_columns columns;
    struct hub_found_problem
        *problems; /* one of each field with rows that cannot be decoded; texts are its own */
    uint32_t problem_count, problem_capacity;
};

static void task_dispose(struct measure_task *t)
{
    hub_measured_part_dispose(&t->measured);
    hub_measure_columns_dispose(&t->columns);
    for (uint32_t i = 0; i < t->problem_count; i++)
        free((char *)t->problems[i].detail);
    free(t->problems);
    free(t->steps);
}

static enum hub_status take_turn(void *user, uint64_t bytes, uint64_t memory, struct hub_error *err)
{
    return hub_measure_turn_take(((struct measure_task *)user)->turn, bytes, memory, err);
}

static bool stops(void *user)
{
    return ((struct measure_task *)user)->turn->stop;
}

static enum hub_status open_file(void *user, uint32_t number, struct hub_file **out, struct hub_error *err)
{
    const struct measure_task *t = user;
    const struct hub_dataset *d = t->dataset;
    const struct hub_dataset_part *part = &d->parts[t->part];
    if (number == HUB_SIDE_FILE) {
        const struct hub_file_ref side = {
            .root = HUB_ROOT_STATE, .path = part->side, .expect = &part->side_stamp};
        return part->side ? hub_file_get(t->turn->options.store, &side, out, err)
                          : hub_fail(err, HUB_CORRUPT, "part '%s' has no side data", part->name);
    }
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(d->summary->path, d->files[number].path);
    HUB_TRY(hub_allocated(path, err));
    const struct hub_file_ref ref = {
        .root = d->summary->root, .path = path, .expect = &d->files[number].stamp};
    return hub_file_get(t->turn->options.store, &ref, out, err);
}

static enum hub_status begin(struct measure_task *t, struct hub_error *err)
{
    const struct hub_measure_plan *plan = t->plan;
    const uint32_t *first = plan->places + plan->starts[t->part],
                   n = plan->starts[t->part + 1] - plan->starts[t->part];
    uint32_t count = 0;
    t->dataset = plan->dataset;
    for (uint32_t i = 0; i < n; i++)
        count = HUB_MAX(count, t->dataset->episodes[first[i]].index + 1);
    HUB_TRY(hub_new(&t->steps, (size_t)count + 1, sizeof *t->steps, err));
    for (uint32_t i = 0; i < n; i++)
        t->steps[t->dataset->episodes[first[i]].index] = t->dataset->episodes[first[i]].steps;
    t->host = (struct hub_measure_host){t, open_file, take_turn, stops};
    hub_measure_columns_init(&t->columns, count);
    t->measured.host = &t->host;
    t->measured.fps = plan->fps;
    t->measured.episodes = count;
    t->measured.steps = t->steps;
    return hub_measured_part_init(&t->measured, err);
}

/* What pass 1 knows besides stays as it is. */
static enum hub_status keep(struct measure_task *t, uint64_t ranges, struct hub_error *err)
{
    struct hub_measured_state state = t->plan->states[t->part];
    state.how_far = t->how_far;
    state.ranges = ranges;
    return hub_measure_columns_keep(&t->columns, t->turn->options.catalog, t->dataset->parts[t->part].row,
                                    &state, NULL, err);
}

/* ---- pass 1 ---- */

/* What of the dataset has rows that cannot be decoded, a field a problem. */
static enum hub_status add_problem(struct measure_task *t, const struct hub_measured_field *f,
                                   struct hub_error *err)
{
    char *detail;
    if (!f->lost.episodes || t->problem_count == HUB_MAX_PROBLEMS)
        return HUB_OK;
    HUB_TRY(hub_grow(&t->problems, t->problem_count, &t->problem_capacity, sizeof *t->problems, err));
    if (asprintf(&detail, "rows of %" PRIu32 " episodes (%" PRIu64 " steps) cannot be read: %s",
                 f->lost.episodes, f->lost.steps, f->why) < 0)
        return hub_no_memory(err);
    t->problems[t->problem_count++] = (struct hub_found_problem){"rows-unreadable", f->path, detail};
    return HUB_OK;
}

static enum hub_status keep_fields(struct measure_task *t, struct hub_error *err)
{
    const struct hub_measurer_options *o = &t->turn->options;
    const struct hub_measured_state *before = &t->plan->states[t->part];
    const struct hub_findings found = {.problems = t->problems, .problem_count = t->problem_count};
    const struct hub_measured_state state = {
        .how_far = t->how_far,
        .ranges = before->ranges,
        .rewards_lost = hub_measured_part_lost(&t->measured, HUB_LOST_REWARD),
        .lost = hub_measured_part_lost(&t->measured, HUB_LOST_ANY),
    };
    HUB_TRY(hub_measure_columns_keep(&t->columns, o->catalog, t->dataset->parts[t->part].row, &state, &found,
                                     err));
    if (o->lost && t->problem_count && !before->lost.episodes)
        o->lost(o->user, t->dataset->summary->id, &t->problems[0]);
    return HUB_OK;
}

static bool is_meant(const struct measure_task *t, const struct hub_dataset_field *f)
{
    return hub_field_is_measured(f->type) &&
           (t->how_far > HUB_MEASURED_REWARDS || f->role == HUB_ROLE_REWARD);
}

static enum hub_status measure_field(struct measure_task *t, uint32_t number, struct hub_error *err)
{
    const struct hub_dataset_field *f = &t->dataset->fields[number];
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
    HUB_CLEANUP(hub_measured_field_dispose)
    struct hub_measured_field field = {.path = f->path, .type = f->type, .role = f->role, .axis = f->axis};
    field.sparse = hub_dataset_is_inside(t->dataset, number);
    const enum hub_status st =
        hub_layout_get(t->turn->options.catalog, t->dataset, t->part, number, true, &ref, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    field.layout = hub_layout_of(ref);
    HUB_TRY(hub_measure_field(&t->measured, &field, err));
    HUB_TRY(add_problem(t, &field, err));
    return field.dims ? hub_measure_columns_add_field(&t->columns, &field, err) : HUB_OK;
}

static void add_ending(struct measure_task *t, const struct hub_found_episode *row, uint32_t at)
{
    if (row->terminated == 1 || row->truncated == 1)
        t->measured.metrics[HUB_METRIC_UNENDED][at] = 0;
    else if (row->terminated == 0 && row->truncated == 0)
        t->measured.metrics[HUB_METRIC_UNENDED][at] = 1;
}

/* A camera that misses all of it misses so many steps. */
static enum hub_status add_frames(void *user, const struct hub_found_media *media, struct hub_error *err)
{
    struct measure_task *t = user;
    (void)err;
    if (media->episode >= t->measured.episodes)
        return HUB_OK;
    double *worst = &t->measured.metrics[HUB_METRIC_VIDEO_FRAMES][media->episode];
    const double steps = (double)t->steps[media->episode];
    const double rate = media->fps_den ? (double)media->fps_num / media->fps_den : 0;
    const double expected = t->measured.fps > 0 && rate > 0 ? round(steps * rate / t->measured.fps) : steps;
    const double apart =
        media->file == HUB_NONE || !media->frames ? steps : fabs((double)media->frames - expected);
    *worst = isnan(*worst) ? apart : HUB_MAX(*worst, apart);
    return HUB_OK;
}

static enum hub_status measure_facts(struct measure_task *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_TRY(hub_state_open(t->turn->options.catalog, t->dataset->summary, &state, err));
    if (state.dataset->summary->serial != t->dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", t->dataset->summary->id);
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = &state};
    for (uint32_t i = t->plan->starts[t->part]; i < t->plan->starts[t->part + 1]; i++) {
        const struct hub_dataset_episode *e = &state.dataset->episodes[t->plan->places[i]];
        struct hub_found_episode row;
        HUB_TRY(hub_episode_row(&reader, e, &row, err));
        add_ending(t, &row, e->index);
    }
    return hub_part_media(&state, t->part, add_frames, t, err);
}

enum hub_status hub_measure_part_fields(struct hub_measure_turn *turn, const struct hub_measure_plan *plan,
                                        uint32_t part, enum hub_measured how_far, struct hub_error *err)
{
    HUB_CLEANUP(task_dispose)
    struct measure_task t = {.turn = turn, .plan = plan, .part = part, .how_far = how_far};
    HUB_TRY(begin(&t, err));
    for (uint32_t i = 0; i < t.dataset->field_count; i++)
        if (is_meant(&t, &t.dataset->fields[i]))
            HUB_TRY(measure_field(&t, i, err));
    HUB_TRY(hub_measure_close_files(&t.measured, err));
    if (how_far > HUB_MEASURED_REWARDS)
        HUB_TRY(measure_facts(&t, err));
    HUB_TRY(hub_measure_columns_add_part(&t.columns, &t.measured, err));
    if (how_far > HUB_MEASURED_REWARDS)
        HUB_TRY(hub_measure_columns_add_metrics(&t.columns, &t.measured, HUB_MEASURED_FIELDS, err));
    return keep_fields(&t, err);
}

/* ---- pass 2 ---- */

/* Layouts of some fields of a part; where it has none of a field, NULL. */
struct layouts {
    struct hub_layout_ref **refs;
    struct hub_motion_field *fields; /* copies with the layouts */
    uint32_t count;
};

static void layouts_dispose(struct layouts *l)
{
    for (uint32_t i = 0; i < l->count; i++)
        hub_layout_put(l->refs[i]);
    free(l->refs);
    free(l->fields);
}

static enum hub_status get_layouts(const struct measure_task *t, const struct hub_motion_field *fields,
                                   const uint32_t *numbers, uint32_t count, struct layouts *out,
                                   struct hub_error *err)
{
    HUB_TRY(hub_new(&out->refs, (size_t)count + 1, sizeof *out->refs, err));
    HUB_TRY(hub_new(&out->fields, (size_t)count + 1, sizeof *out->fields, err));
    for (uint32_t i = 0; i < count; i++) {
        out->fields[i] = fields[i];
        const enum hub_status st = hub_layout_get(t->turn->options.catalog, t->dataset, t->part, numbers[i],
                                                  true, &out->refs[i], err);
        if (st && st != HUB_NOT_FOUND)
            return st;
        out->fields[i].layout = st ? NULL : hub_layout_of(out->refs[i]);
        out->fields[i].axis = t->dataset->fields[numbers[i]].axis;
        out->count++;
    }
    return HUB_OK;
}

enum hub_status hub_measure_part_motion(struct hub_measure_turn *turn, const struct hub_measure_plan *plan,
                                        uint32_t part, const struct hub_ranges *r, struct hub_error *err)
{
    HUB_CLEANUP(task_dispose)
    struct measure_task t = {.turn = turn, .plan = plan, .part = part, .how_far = HUB_MEASURED_ALL};
    HUB_CLEANUP(layouts_dispose) struct layouts actions = {0};
    HUB_CLEANUP(layouts_dispose) struct layouts states = {0};
    HUB_TRY(begin(&t, err));
    HUB_TRY(get_layouts(&t, r->actions, r->action_fields, r->action_count, &actions, err));
    HUB_TRY(get_layouts(&t, r->states, r->state_fields, r->state_count, &states, err));
    HUB_TRY(hub_measure_motion(&t.measured, actions.fields, actions.count, states.fields, states.count, err));
    HUB_TRY(hub_measure_close_files(&t.measured, err));
    HUB_TRY(hub_measure_columns_add_metrics(&t.columns, &t.measured, HUB_MEASURED_ALL, err));
    return keep(&t, r->hash, err);
}

/* ---- a row ---- */

/* As `where` names its column. */
static void column_of(const struct hub_row_end *end, char out[HUB_PROPERTY_COLUMN])
{
    const struct hub_property name = {.kind = end->last ? HUB_PROPERTY_LAST : HUB_PROPERTY_FIRST,
                                      .of_row = end->of_row,
                                      .component = end->component};
    hub_property_column(&name, out);
}

enum hub_status hub_measure_plan_rows(struct hub_catalog *catalog, const struct hub_measure_plan *plan,
                                      uint32_t field, const struct hub_row_end *end, bool **there,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    char word[HUB_PROPERTY_COLUMN];
    HUB_TRY(hub_state_open(catalog, plan->dataset->summary, &state, err));
    if (state.dataset->summary->serial != plan->dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", plan->dataset->summary->id);
    column_of(end, word);
    return hub_column_parts(&state, word, hub_view_of(plan->dataset->fields[field].path), there, err);
}

enum hub_status hub_measure_part_rows(struct hub_measure_turn *turn, const struct hub_measure_plan *plan,
                                      uint32_t part, uint32_t number, const struct hub_row_end *end,
                                      struct hub_error *err)
{
    HUB_CLEANUP(task_dispose)
    struct measure_task t = {.turn = turn, .plan = plan, .part = part, .how_far = plan->states[part].how_far};
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
    HUB_CLEANUP(hub_freep) struct hub_value *values = NULL;
    char word[HUB_PROPERTY_COLUMN];
    HUB_TRY(begin(&t, err));
    HUB_TRY(hub_new(&values, (size_t)t.measured.episodes + 1, sizeof *values, err));
    for (uint32_t i = 0; i < t.measured.episodes; i++)
        values[i] = hub_value_real(NAN);
    const enum hub_status st =
        hub_layout_get(turn->options.catalog, t.dataset, part, number, true, &ref, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    if (!st)
        HUB_TRY(hub_measure_ends(&t.measured, hub_layout_of(ref), end, values, err));
    HUB_TRY(hub_measure_close_files(&t.measured, err));
    column_of(end, word);
    HUB_TRY(hub_measure_columns_add_values(&t.columns, word, t.dataset->fields[number].path, values, err));
    return keep(&t, plan->states[part].ranges, err);
}

/* ---- a histogram ---- */

enum hub_status hub_measure_part_histogram(struct hub_measure_turn *turn, const struct hub_measure_plan *plan,
                                           uint32_t part, uint32_t number, struct hub_histogram *histogram,
                                           struct hub_error *err)
{
    HUB_CLEANUP(task_dispose)
    struct measure_task t = {.turn = turn, .plan = plan, .part = part, .how_far = plan->states[part].how_far};
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
    char name[32];
    struct hub_buf *out;
    HUB_TRY(begin(&t, err));
    const enum hub_status st =
        hub_layout_get(turn->options.catalog, t.dataset, part, number, true, &ref, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    if (!st)
        HUB_TRY(hub_measure_histogram(&t.measured, hub_layout_of(ref), t.dataset->fields[number].axis,
                                      histogram, err));
    HUB_TRY(hub_measure_close_files(&t.measured, err));
    snprintf(name, sizeof name, "histogram:%u:", histogram->bins);
    HUB_TRY(hub_measure_columns_new(&t.columns, name, t.dataset->fields[number].path, &out, err));
    HUB_TRY(hub_histogram_pack(histogram, out, err));
    return keep(&t, plan->states[part].ranges, err);
}
