/* Measuring: one thread of the lowest priority reads the rows of parts and keeps what their numbers come to. Rewards come
 * first, as soon as a part is in the catalogue; then what somebody asked for; then, where it measures while the hub is idle,
 * all the rest. Between blocks it waits as long as a request waits, and goes slowly while requests come at all. What it has
 * of a part is kept when the whole part was read and no file of it changed meanwhile. */
#include "storage/scan/measure.h"

#include "storage/base/order.h"
#include "storage/base/time.h"
#include "storage/catalog/episode_reader.h"
#include "storage/catalog/measures.h"
#include "storage/measure/histogram.h"
#include "storage/scan/merged.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_WANTED = 64,
    MAX_ID = 1024,
    QUIET_MS = 300,
    RETRY_MS = 30000,
    MEMORY_MS = 3000,
    REQUESTS_MS = 500,
    WAIT_MS = 2,
    AWAKE_MS = 100
};
/* Decoded bytes a second, while nobody asks for anything and while somebody does. */
#define FULL_RATE (1 * GIB)
#define SHARED_RATE (32 * MIB)
#define MAX_FACT_BYTES (16 * MIB)
#define MAX_BLOB_BYTES (900 * MIB)

/* What somebody asked for: all of a dataset, or the histogram of a field. */
struct wanted {
    char id[MAX_ID], field[512];
    uint32_t bins; /* 0: no histogram */
};

struct hub_measurer {
    struct hub_measurer_options options;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct wanted wanted[MAX_WANTED]; /* the last one is next */
    unsigned wanted_count;
    struct wanted current; /* or an empty id */
    uint64_t done, of;     /* parts of it */
    int64_t started_ms;
    atomic_bool stop;

    /* the thread's own */
    uint64_t generation; /* of the snapshot that the last pass went over */
    int64_t since_ms, retry_ms;
    bool through;
    uint64_t served, held; /* requests at the last look; bytes of the memory of requests */
    int64_t shared_until_ms;
    double ahead_s; /* how much more was read than the rate allows */
    int64_t paced_ms;
};

/* ---- its turn ---- */

static void look_at_requests(struct hub_measurer *m, bool *waits)
{
    uint64_t served = 0;
    *waits = m->options.requests && m->options.requests(m->options.user, &served);
    if (served != m->served)
        m->shared_until_ms = hub_time_mono_ms() + AWAKE_MS;
    m->served = served;
}

static void sleep_ms(int64_t ms)
{
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    (void)nanosleep(&time, NULL);
}

static bool has_memory(struct hub_measurer *m, uint64_t bytes)
{
    if (bytes <= m->held || !m->options.take)
        return true;
    if (!m->options.take(m->options.memory, bytes - m->held))
        return false;
    m->held = bytes;
    return true;
}

static void give_memory(struct hub_measurer *m)
{
    if (m->held)
        m->options.give(m->options.memory, m->held);
    m->held = 0;
}

static enum hub_status stopped(const struct hub_measurer *m, struct hub_error *err)
{
    return m->stop ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
}

/* Sleep off what was read too fast. */
static void keep_pace(struct hub_measurer *m, uint64_t bytes)
{
    const int64_t now_ms = hub_time_mono_ms();
    const double rate = now_ms < m->shared_until_ms ? (double)SHARED_RATE : (double)FULL_RATE;
    m->ahead_s -= (double)(now_ms - m->paced_ms) / 1000;
    m->ahead_s = HUB_MAX(m->ahead_s, 0.0) + (double)bytes / rate;
    m->paced_ms = now_ms;
    if (m->ahead_s > 0.001)
        sleep_ms(HUB_MIN((int64_t)(m->ahead_s * 1000), (int64_t)500));
}

static enum hub_status take_turn(void *user, uint64_t bytes, uint64_t memory, struct hub_error *err);

/* ---- a part ---- */

struct named_blob {
    char *name;
    struct hub_buf data;
};

/* What is known of the parts of a dataset before they are measured. */
struct plan {
    const struct hub_dataset *dataset;
    struct hub_measured_state *states;
    double fps;
    uint32_t *places, *starts; /* of episodes, part by part; where each part's begin */
};

/* The measuring of one part. */
struct task {
    struct hub_measurer *m;
    const struct plan *plan;
    const struct hub_dataset *dataset; /* the plan's */
    uint32_t part;
    enum hub_measured how_far;
    uint64_t *steps; /* by place in the part */
    struct hub_measured_part measured;
    struct hub_measure_host host;
    struct hub_buf fields; /* packed */
    struct named_blob *blobs;
    uint32_t blob_count, blob_capacity;
};

static void task_dispose(struct task *t)
{
    hub_measured_part_dispose(&t->measured);
    free(t->steps);
    hub_buf_dispose(&t->fields);
    for (uint32_t i = 0; i < t->blob_count; i++) {
        free(t->blobs[i].name);
        hub_buf_dispose(&t->blobs[i].data);
    }
    free(t->blobs);
}

static enum hub_status take_turn(void *user, uint64_t bytes, uint64_t memory, struct hub_error *err)
{
    struct hub_measurer *m = ((struct task *)user)->m;
    bool waits;
    look_at_requests(m, &waits);
    for (int64_t waited_ms = 0; (waits || !has_memory(m, memory)) && !m->stop; waited_ms += WAIT_MS) {
        if (waited_ms >= (waits ? REQUESTS_MS : MEMORY_MS)) /* what is held may be what they wait for */
            return hub_fail_as(err, HUB_BUSY, "overloaded", "not enough memory is free to measure with");
        sleep_ms(WAIT_MS);
        look_at_requests(m, &waits);
    }
    keep_pace(m, bytes);
    return stopped(m, err);
}

static bool stops(void *user)
{
    return ((struct task *)user)->m->stop;
}

static enum hub_status open_file(void *user, uint32_t number, struct hub_file **out, struct hub_error *err)
{
    const struct task *t = user;
    const struct hub_dataset *d = t->dataset;
    const struct hub_dataset_part *part = &d->parts[t->part];
    if (number == HUB_SIDE_FILE) {
        const struct hub_file_ref side = {
            .root = HUB_ROOT_STATE, .path = part->side, .expect = &part->side_stamp};
        return part->side ? hub_file_get(t->m->options.store, &side, out, err)
                          : hub_fail(err, HUB_CORRUPT, "part '%s' has no side data", part->name);
    }
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(d->summary->path, d->files[number].path);
    HUB_TRY(hub_allocated(path, err));
    const struct hub_file_ref ref = {
        .root = d->summary->root, .path = path, .expect = &d->files[number].stamp};
    return hub_file_get(t->m->options.store, &ref, out, err);
}

/* A blob of this name and of what behind it, to be filled. */
static enum hub_status new_blob(struct task *t, const char *name, const char *of, struct hub_buf **out,
                                struct hub_error *err)
{
    HUB_TRY(hub_grow(&t->blobs, t->blob_count, &t->blob_capacity, sizeof *t->blobs, err));
    struct named_blob *blob = &t->blobs[t->blob_count];
    *blob = (struct named_blob){.data = HUB_BUF_INIT(MAX_BLOB_BYTES)};
    if (asprintf(&blob->name, "%s%s", name, of) < 0)
        return hub_no_memory(err);
    t->blob_count++;
    *out = &blob->data;
    return HUB_OK;
}

static enum hub_status add_column(struct task *t, const char *name, const char *of, const double *values,
                                  struct hub_error *err)
{
    struct hub_buf *out;
    HUB_TRY(new_blob(t, name, of, &out, err));
    return hub_measures_pack(values, t->measured.episodes, out, err);
}

/* Of wide integers the smallest or the largest as they are. */
static enum hub_status add_wide(struct task *t, const char *name, const struct hub_measured_field *f,
                                bool most, struct hub_error *err)
{
    const uint32_t n = t->measured.episodes;
    const bool is_signed = f->variant.kind == HUB_KIND_INT;
    HUB_CLEANUP(hub_freep) uint64_t *bits = calloc((size_t)n + 1, sizeof *bits);
    HUB_CLEANUP(hub_freep) uint8_t *valid = calloc((size_t)n + 1, 1);
    struct hub_buf *out;
    HUB_TRY(hub_allocated(bits && valid, err));
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t key = most ? f->each[i].most_key : f->each[i].least_key;
        bits[i] = is_signed ? (uint64_t)hub_wide_signed(key) : key;
        valid[i] = f->each[i].count > 0;
    }
    HUB_TRY(new_blob(t, name, f->path, &out, err));
    return hub_measures_pack_wide(bits, valid, n, is_signed, out, err);
}

static double sum_of(const struct hub_fold *fold)
{
    return hub_fold_sum(fold);
}

static double mean_of(const struct hub_fold *fold)
{
    return fold->mean;
}

static double min_of(const struct hub_fold *fold)
{
    return fold->min;
}

static double max_of(const struct hub_fold *fold)
{
    return fold->max;
}

static enum hub_status add_field(struct task *t, const struct hub_measured_field *f, struct hub_error *err)
{
    static const struct {
        const char *name;
        double (*of)(const struct hub_fold *fold);
        int wide; /* as it is: 1 the smallest, 2 the largest */
    } columns[] = {{"sum:", sum_of, 0},
                   {"mean:", mean_of, 0},
                   {"std:", hub_fold_std, 0},
                   {"min:", min_of, 1},
                   {"max:", max_of, 2}};
    const uint32_t n = t->measured.episodes;
    HUB_CLEANUP(hub_freep) double *values = calloc((size_t)n + 1, sizeof *values);
    HUB_TRY(hub_allocated(values, err));
    for (size_t c = 0; c < HUB_COUNT(columns); c++) {
        if (columns[c].wide && hub_numbers_wide(&f->variant)) {
            HUB_TRY(add_wide(t, columns[c].name, f, columns[c].wide == 2, err));
            continue;
        }
        for (uint32_t i = 0; i < n; i++)
            values[i] = f->each[i].count ? columns[c].of(&f->each[i]) : NAN;
        HUB_TRY(add_column(t, columns[c].name, f->path, values, err));
    }
    return hub_measured_field_pack(f, &t->fields, err);
}

static bool is_meant(const struct task *t, const struct hub_dataset_field *f)
{
    return (f->type == HUB_FIELD_NUMBER || f->type == HUB_FIELD_BOOL) &&
           (t->how_far > HUB_MEASURED_REWARDS || f->role == HUB_ROLE_REWARD);
}

static enum hub_status measure_field(struct task *t, uint32_t number, struct hub_error *err)
{
    const struct hub_dataset_field *f = &t->dataset->fields[number];
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
    HUB_CLEANUP(hub_measured_field_dispose)
    struct hub_measured_field field = {.path = f->path, .type = f->type, .role = f->role};
    const enum hub_status st =
        hub_layout_get(t->m->options.catalog, t->dataset, t->part, number, true, &ref, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    field.layout = hub_layout_of(ref);
    HUB_TRY(hub_measure_field(&t->measured, &field, err));
    return field.dims ? add_field(t, &field, err) : HUB_OK;
}

/* ---- what is not in rows ---- */

static void add_ending(struct task *t, const struct hub_found_episode *row, uint32_t at)
{
    if (row->terminated == 1 || row->truncated == 1)
        t->measured.metrics[HUB_METRIC_UNENDED][at] = 0;
    else if (row->terminated == 0 && row->truncated == 0)
        t->measured.metrics[HUB_METRIC_UNENDED][at] = 1;
}

/* A camera that misses all of it misses so many steps. */
static enum hub_status add_frames(void *user, const struct hub_found_media *media, struct hub_error *err)
{
    struct task *t = user;
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

static enum hub_status measure_facts(struct task *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_TRY(hub_state_open(t->m->options.catalog, t->dataset->summary, &state, err));
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

/* ---- keeping ---- */

/* Four cells an episode, of eight bytes each. */
static enum hub_status add_sparks(struct task *t, struct hub_error *err)
{
    enum { CELLS = HUB_SPARK / 8 };
    const uint32_t n = t->measured.episodes * CELLS;
    HUB_CLEANUP(hub_freep) uint64_t *bits = calloc((size_t)n + 1, sizeof *bits);
    HUB_CLEANUP(hub_freep) uint8_t *valid = calloc((size_t)n + 1, 1);
    struct hub_buf *out;
    HUB_TRY(hub_allocated(bits && valid, err));
    memcpy(bits, t->measured.sparks, (size_t)n * sizeof *bits);
    for (uint32_t i = 0; i < n; i++)
        valid[i] = (uint8_t)!isnan(t->measured.metrics[HUB_METRIC_FLAT_REWARD][i / CELLS]);
    HUB_TRY(new_blob(t, "spark", "", &out, err));
    return hub_measures_pack_wide(bits, valid, n, false, out, err);
}

static enum hub_status add_metrics(struct task *t, struct hub_error *err)
{
    static const enum hub_metric of_fields[] = {HUB_METRIC_NONFINITE, HUB_METRIC_GAP, HUB_METRIC_VIDEO_FRAMES,
                                                HUB_METRIC_UNENDED};
    HUB_TRY(add_column(t, "return", "", t->measured.returns, err));
    HUB_TRY(add_column(t, hub_metric_words[HUB_METRIC_FLAT_REWARD], "",
                       t->measured.metrics[HUB_METRIC_FLAT_REWARD], err));
    struct hub_buf *out;
    HUB_TRY(add_sparks(t, err));
    HUB_TRY(new_blob(t, "fields", "", &out, err));
    HUB_TRY(hub_buf_add_view(out, hub_buf_view(&t->fields), err));
    for (size_t i = 0; i < HUB_COUNT(of_fields) && t->how_far > HUB_MEASURED_REWARDS; i++)
        HUB_TRY(add_column(t, hub_metric_words[of_fields[i]], "", t->measured.metrics[of_fields[i]], err));
    return t->how_far > HUB_MEASURED_REWARDS
               ? add_column(t, "at:", hub_metric_words[HUB_METRIC_GAP], t->measured.at[HUB_METRIC_GAP], err)
               : HUB_OK;
}

static enum hub_status keep(struct task *t, uint64_t ranges, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_measure_blob *blobs = NULL;
    const struct hub_measured_state state = {.how_far = t->how_far, .ranges = ranges};
    HUB_TRY(hub_new(&blobs, (size_t)t->blob_count + 1, sizeof *blobs, err));
    for (uint32_t i = 0; i < t->blob_count; i++)
        blobs[i] = (struct hub_measure_blob){t->blobs[i].name, hub_buf_view(&t->blobs[i].data)};
    return hub_measures_write(t->m->options.catalog, t->dataset->parts[t->part].row, &state, blobs,
                              t->blob_count, err);
}

static enum hub_status begin(struct task *t, struct hub_error *err)
{
    const struct plan *plan = t->plan;
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
    t->fields = HUB_BUF_INIT(MAX_BLOB_BYTES);
    t->measured.host = &t->host;
    t->measured.fps = plan->fps;
    t->measured.episodes = count;
    t->measured.steps = t->steps;
    return hub_measured_part_init(&t->measured, err);
}

/* Pass 1 of a part, or of its rewards alone. */
static enum hub_status measure_part(struct hub_measurer *m, const struct plan *plan, uint32_t part,
                                    enum hub_measured how_far, struct hub_error *err)
{
    HUB_CLEANUP(task_dispose) struct task t = {.m = m, .plan = plan, .part = part, .how_far = how_far};
    HUB_TRY(begin(&t, err));
    for (uint32_t i = 0; i < t.dataset->field_count; i++)
        if (is_meant(&t, &t.dataset->fields[i]))
            HUB_TRY(measure_field(&t, i, err));
    HUB_TRY(hub_measure_settle(&t.measured, err));
    if (how_far > HUB_MEASURED_REWARDS)
        HUB_TRY(measure_facts(&t, err));
    HUB_TRY(add_metrics(&t, err));
    return keep(&t, plan->states[part].ranges, err);
}

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

static enum hub_status get_layouts(const struct task *t, const struct hub_motion_field *fields,
                                   const uint32_t *numbers, uint32_t count, struct layouts *out,
                                   struct hub_error *err)
{
    HUB_TRY(hub_new(&out->refs, (size_t)count + 1, sizeof *out->refs, err));
    HUB_TRY(hub_new(&out->fields, (size_t)count + 1, sizeof *out->fields, err));
    for (uint32_t i = 0; i < count; i++) {
        out->fields[i] = fields[i];
        const enum hub_status st =
            hub_layout_get(t->m->options.catalog, t->dataset, t->part, numbers[i], true, &out->refs[i], err);
        if (st && st != HUB_NOT_FOUND)
            return st;
        out->fields[i].layout = st ? NULL : hub_layout_of(out->refs[i]);
        out->count++;
    }
    return HUB_OK;
}

static enum hub_status add_motion(struct task *t, struct hub_error *err)
{
    static const enum hub_metric metrics[] = {HUB_METRIC_FROZEN, HUB_METRIC_STILL, HUB_METRIC_JERK,
                                              HUB_METRIC_SATURATED, HUB_METRIC_OFFSET};
    for (size_t i = 0; i < HUB_COUNT(metrics); i++) {
        const char *word = hub_metric_words[metrics[i]];
        HUB_TRY(add_column(t, word, "", t->measured.metrics[metrics[i]], err));
        HUB_TRY(add_column(t, "at:", word, t->measured.at[metrics[i]], err));
    }
    return HUB_OK;
}

/* Pass 2 of a part. */
static enum hub_status measure_motion(struct hub_measurer *m, const struct plan *plan, uint32_t part,
                                      const struct hub_ranges *r, struct hub_error *err)
{
    HUB_CLEANUP(task_dispose)
    struct task t = {.m = m, .plan = plan, .part = part, .how_far = HUB_MEASURED_ALL};
    HUB_CLEANUP(layouts_dispose) struct layouts actions = {0};
    HUB_CLEANUP(layouts_dispose) struct layouts states = {0};
    HUB_TRY(begin(&t, err));
    HUB_TRY(get_layouts(&t, r->actions, r->action_fields, r->action_count, &actions, err));
    HUB_TRY(get_layouts(&t, r->states, r->state_fields, r->state_count, &states, err));
    HUB_TRY(hub_measure_motion(&t.measured, actions.fields, actions.count, states.fields, states.count, err));
    HUB_TRY(hub_measure_settle(&t.measured, err));
    HUB_TRY(add_motion(&t, err));
    return keep(&t, r->hash, err);
}

/* The histogram of a field in a part. How far the part is measured stays as it is. */
static enum hub_status measure_histogram(struct hub_measurer *m, const struct plan *plan, uint32_t part,
                                         uint32_t number, struct hub_histogram *histogram,
                                         struct hub_error *err)
{
    HUB_CLEANUP(task_dispose)
    struct task t = {.m = m, .plan = plan, .part = part, .how_far = plan->states[part].how_far};
    HUB_CLEANUP(hub_layout_putp) struct hub_layout_ref *ref = NULL;
    char name[32];
    struct hub_buf *out;
    HUB_TRY(begin(&t, err));
    const enum hub_status st = hub_layout_get(m->options.catalog, t.dataset, part, number, true, &ref, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    if (!st)
        HUB_TRY(hub_measure_histogram(&t.measured, hub_layout_of(ref), histogram, err));
    HUB_TRY(hub_measure_settle(&t.measured, err));
    snprintf(name, sizeof name, "histogram:%u:", histogram->bins);
    HUB_TRY(new_blob(&t, name, t.dataset->fields[number].path, &out, err));
    HUB_TRY(hub_histogram_pack(histogram, out, err));
    return keep(&t, plan->states[part].ranges, err);
}

/* ---- a dataset ---- */

static void plan_dispose(struct plan *plan)
{
    free(plan->states);
    free(plan->places);
    free(plan->starts);
}

static enum hub_status sort_episodes(struct plan *plan, struct hub_error *err)
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

static enum hub_status read_plan(struct hub_measurer *m, const struct hub_dataset *dataset, struct plan *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf fact = HUB_BUF_INIT(MAX_FACT_BYTES);
    HUB_TRY(hub_state_open(m->options.catalog, dataset->summary, &state, err));
    if (state.dataset->summary->serial != dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", dataset->summary->id);
    HUB_TRY(hub_dataset_fact(&state, "fps", &fact, err));
    out->dataset = dataset;
    out->fps = fact.size ? strtod(fact.data, NULL) : 0;
    HUB_TRY(sort_episodes(out, err));
    return hub_measures_states(&state, &out->states, err);
}

static void put_progress(struct hub_measurer *m, uint64_t done, uint64_t of)
{
    pthread_mutex_lock(&m->lock);
    m->done = done;
    m->of = of;
    pthread_mutex_unlock(&m->lock);
}

/* Pass 1 of those that are not as far. One bad part hides no other. */
static enum hub_status measure_parts(struct hub_measurer *m, const struct plan *plan,
                                     enum hub_measured how_far, struct hub_error *err)
{
    enum hub_status first = HUB_OK;
    for (uint32_t i = 0; i < plan->dataset->part_count; i++) {
        put_progress(m, i, plan->dataset->part_count);
        if (plan->dataset->parts[i].broken || plan->states[i].how_far >= how_far)
            continue;
        const enum hub_status st = measure_part(m, plan, i, how_far, err);
        first = first ? first : st;
        if (m->stop)
            return st;
    }
    return first;
}

static enum hub_status measure_fields(struct hub_measurer *m, const struct hub_dataset *dataset,
                                      enum hub_measured how_far, struct hub_error *err)
{
    HUB_CLEANUP(plan_dispose) struct plan plan = {0};
    HUB_TRY(read_plan(m, dataset, &plan, err));
    return measure_parts(m, &plan, how_far, err);
}

static enum hub_status read_ranges(struct hub_measurer *m, const struct hub_dataset *dataset,
                                   struct hub_ranges *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_TRY(hub_state_open(m->options.catalog, dataset->summary, &state, err));
    if (state.dataset->summary->serial != dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", dataset->summary->id);
    return hub_ranges_read(&state, out, err);
}

/* Pass 2 of those that were not measured with today's ranges. */
static enum hub_status measure_motions(struct hub_measurer *m, const struct hub_dataset *dataset,
                                       struct hub_error *err)
{
    HUB_CLEANUP(plan_dispose) struct plan plan = {0};
    HUB_CLEANUP(hub_ranges_dispose) struct hub_ranges ranges = {0};
    enum hub_status first = HUB_OK;
    HUB_TRY(read_plan(m, dataset, &plan, err));
    HUB_TRY(read_ranges(m, dataset, &ranges, err));
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        const struct hub_measured_state *state = &plan.states[i];
        put_progress(m, i, dataset->part_count);
        if (dataset->parts[i].broken || (state->how_far == HUB_MEASURED_ALL && state->ranges == ranges.hash))
            continue;
        const enum hub_status st = measure_motion(m, &plan, i, &ranges, err);
        first = first ? first : st;
        if (m->stop)
            return st;
    }
    return first;
}

static enum hub_status measure(struct hub_measurer *m, const struct hub_summary *summary,
                               enum hub_measured how_far, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    HUB_TRY(hub_dataset_get(m->options.catalog, summary, true, &dataset, err));
    HUB_TRY(measure_fields(m, dataset, HUB_MIN(how_far, HUB_MEASURED_FIELDS), err));
    return how_far == HUB_MEASURED_ALL ? measure_motions(m, dataset, err) : HUB_OK;
}

/* ---- a histogram ---- */

struct histograms {
    struct hub_histogram empty; /* of the dataset's range */
    uint32_t number;            /* of the field */
    bool *there;                /* by part */
};

static void histograms_dispose(struct histograms *h)
{
    hub_histogram_dispose(&h->empty);
    free(h->there);
}

/* Which parts have one of these ranges already. */
static enum hub_status find_histograms(struct hub_measurer *m, const struct hub_dataset *dataset,
                                       const struct wanted *wanted, struct histograms *out,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_state_close) struct hub_state state = {0};
    HUB_CLEANUP(hub_merged_fields_dispose) struct hub_merged_fields merged = {0};
    HUB_TRY(hub_state_open(m->options.catalog, dataset->summary, &state, err));
    if (state.dataset->summary->serial != dataset->summary->serial)
        return hub_fail(err, HUB_CHANGED, "%s was published again", dataset->summary->id);
    HUB_TRY(hub_merged_fields_read(&state, HUB_MEASURED_FIELDS, &merged, err));
    out->number = hub_dataset_find_field(dataset, hub_view_of(wanted->field));
    if (out->number == HUB_NONE || !merged.fields[out->number].dims)
        return hub_fail(err, HUB_NOT_FOUND, "%s has no numbers under '%s'", wanted->id, wanted->field);
    HUB_TRY(hub_histogram_init(&out->empty, &merged.fields[out->number], wanted->bins, err));
    return hub_histogram_parts(&state, wanted->field, &out->empty, &out->there, err);
}

static enum hub_status measure_histograms(struct hub_measurer *m, const struct hub_summary *summary,
                                          const struct wanted *wanted, struct hub_error *err)
{
    HUB_CLEANUP(hub_dataset_putp) const struct hub_dataset *dataset = NULL;
    HUB_CLEANUP(plan_dispose) struct plan plan = {0};
    HUB_CLEANUP(histograms_dispose) struct histograms h = {0};
    HUB_TRY(hub_dataset_get(m->options.catalog, summary, true, &dataset, err));
    HUB_TRY(measure_fields(m, dataset, HUB_MEASURED_FIELDS, err));
    HUB_TRY(read_plan(m, dataset, &plan, err));
    HUB_TRY(find_histograms(m, dataset, wanted, &h, err));
    const size_t bytes = (size_t)h.empty.dims * h.empty.room * sizeof *h.empty.counts;
    for (uint32_t i = 0; i < dataset->part_count; i++) {
        put_progress(m, i, dataset->part_count);
        if (dataset->parts[i].broken || h.there[i])
            continue;
        memset(h.empty.counts, 0, bytes);
        HUB_TRY(measure_histogram(m, &plan, i, h.number, &h.empty, err));
    }
    return HUB_OK;
}

/* Told as a job meanwhile. */
static void measure_dataset(struct hub_measurer *m, const struct hub_summary *summary,
                            enum hub_measured how_far, const struct wanted *wanted)
{
    pthread_mutex_lock(&m->lock);
    m->current = (struct wanted){0};
    if (wanted)
        m->current = *wanted;
    snprintf(m->current.id, sizeof m->current.id, "%s", summary->id);
    m->started_ms = hub_time_now_ns() / 1000000;
    m->done = m->of = 0;
    pthread_mutex_unlock(&m->lock);
    if (wanted && wanted->bins ? measure_histograms(m, summary, wanted, NULL)
                               : measure(m, summary, how_far, NULL))
        m->retry_ms = hub_time_mono_ms() + RETRY_MS;
    give_memory(m);
    pthread_mutex_lock(&m->lock);
    m->current.id[0] = '\0';
    pthread_mutex_unlock(&m->lock);
}

/* ---- the thread ---- */

static bool take_wanted(struct hub_measurer *m, struct wanted *out)
{
    pthread_mutex_lock(&m->lock);
    const bool any = m->wanted_count > 0;
    if (any)
        *out = m->wanted[--m->wanted_count];
    pthread_mutex_unlock(&m->lock);
    return any;
}

static void measure_wanted(struct hub_measurer *m)
{
    struct wanted wanted;
    while (!m->stop && take_wanted(m, &wanted)) {
        HUB_CLEANUP(hub_snapshot_putp)
        const struct hub_snapshot *snapshot = hub_catalog_snapshot(m->options.catalog);
        const struct hub_summary *summary = hub_snapshot_find(snapshot, hub_view_of(wanted.id));
        if (summary && summary->status == HUB_DATASET_READY)
            measure_dataset(m, summary, HUB_MEASURED_ALL, &wanted);
    }
}

static void measure_due(struct hub_measurer *m, const struct hub_snapshot *snapshot,
                        enum hub_measured how_far)
{
    HUB_CLEANUP(hub_freep) int64_t *rows = NULL;
    uint32_t count = 0;
    if (hub_measures_due(m->options.catalog, how_far, &rows, &count, NULL))
        return;
    for (uint32_t i = 0; i < snapshot->count && count && !m->stop; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        if (summary->status != HUB_DATASET_READY ||
            !bsearch(&summary->row, rows, count, sizeof *rows, hub_by_i64))
            continue;
        measure_wanted(m);
        measure_dataset(m, summary, how_far, NULL);
    }
}

static bool is_time(struct hub_measurer *m, const struct hub_snapshot *snapshot)
{
    const int64_t now_ms = hub_time_mono_ms();
    if (snapshot->generation != m->generation || (m->retry_ms && now_ms >= m->retry_ms)) {
        m->generation = snapshot->generation;
        m->since_ms = now_ms;
        m->through = false;
        m->retry_ms = 0;
    }
    return !m->through && now_ms - m->since_ms >= QUIET_MS;
}

/* Rewards of all first. A catalogue that changes meanwhile is gone over again. */
static void go_over(struct hub_measurer *m)
{
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *snapshot = hub_catalog_snapshot(m->options.catalog);
    if (!is_time(m, snapshot))
        return;
    m->through = true;
    measure_due(m, snapshot, HUB_MEASURED_REWARDS);
    if (m->options.idle)
        measure_due(m, snapshot, HUB_MEASURED_ALL);
}

static void be_idle(void)
{
    enum { WHO_PROCESS = 1, CLASS_IDLE = 3, CLASS_SHIFT = 13 };
    (void)sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){0});
    (void)syscall(SYS_ioprio_set, WHO_PROCESS, 0, CLASS_IDLE << CLASS_SHIFT);
}

static void *run(void *arg)
{
    struct hub_measurer *m = arg;
    be_idle();
    while (!m->stop) {
        measure_wanted(m);
        go_over(m);
        pthread_mutex_lock(&m->lock);
        const struct timespec until = hub_time_ahead(CLOCK_REALTIME, QUIET_MS);
        if (!m->wanted_count && !m->stop)
            pthread_cond_timedwait(&m->wake, &m->lock, &until);
        pthread_mutex_unlock(&m->lock);
    }
    return NULL;
}

enum hub_status hub_measurer_start(const struct hub_measurer_options *options, struct hub_measurer **out,
                                   struct hub_error *err)
{
    struct hub_measurer *m = calloc(1, sizeof *m);
    HUB_TRY(hub_allocated(m, err));
    m->options = *options;
    m->generation = UINT64_MAX;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wake, NULL);
    if (pthread_create(&m->thread, NULL, run, m)) {
        free(m);
        return hub_fail(err, HUB_NO_MEMORY, "no thread to measure with");
    }
    *out = m;
    return HUB_OK;
}

void hub_measurer_stop(struct hub_measurer *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->stop = true;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static bool same(const struct wanted *a, const struct wanted *b)
{
    return a->bins == b->bins && strcmp(a->id, b->id) == 0 && strcmp(a->field, b->field) == 0;
}

static void want(struct hub_measurer *m, const struct wanted *wanted)
{
    pthread_mutex_lock(&m->lock);
    unsigned kept = 0;
    for (unsigned i = 0; i < m->wanted_count; i++)
        if (!same(&m->wanted[i], wanted))
            m->wanted[kept++] = m->wanted[i];
    if (kept == MAX_WANTED) /* the oldest makes room */
        memmove(m->wanted, m->wanted + 1, --kept * sizeof *m->wanted);
    if (!same(&m->current, wanted))
        m->wanted[kept++] = *wanted;
    m->wanted_count = kept;
    pthread_cond_signal(&m->wake);
    pthread_mutex_unlock(&m->lock);
}

void hub_measurer_want(struct hub_measurer *m, const char *id)
{
    struct wanted wanted = {0};
    if (m && snprintf(wanted.id, sizeof wanted.id, "%s", id) < (int)sizeof wanted.id)
        want(m, &wanted);
}

void hub_measurer_want_histogram(struct hub_measurer *m, const char *id, const char *field, unsigned bins)
{
    struct wanted wanted = {.bins = bins};
    if (m && snprintf(wanted.id, sizeof wanted.id, "%s", id) < (int)sizeof wanted.id &&
        snprintf(wanted.field, sizeof wanted.field, "%s", field) < (int)sizeof wanted.field)
        want(m, &wanted);
}

static const char *kind_of(const struct wanted *wanted)
{
    return wanted->bins ? "statistics" : "measure";
}

void hub_measurer_jobs(struct hub_measurer *m, hub_scan_job_each each, void *user)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    if (m->current.id[0])
        each(user, &(struct hub_scan_job){.target = m->current.id,
                                          .kind = kind_of(&m->current),
                                          .running = true,
                                          .done = m->done,
                                          .of = m->of,
                                          .started_ms = m->started_ms});
    for (unsigned i = m->wanted_count; i-- > 0;)
        each(user, &(struct hub_scan_job){.target = m->wanted[i].id, .kind = kind_of(&m->wanted[i])});
    pthread_mutex_unlock(&m->lock);
}
