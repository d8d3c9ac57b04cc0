/* Pass 2: an episode is taken a block of rows at a time, with the two rows before it. Each field of the
 * action adds what it knows of every row of the block; then the rows are counted. */
#include "storage/measure/motion.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK_ROWS = 1024, LEAST_ROWS = 10, BEFORE = 2 };
#define STILL 0.001 /* of the range */
#define AT_BOUND 1e-6

/* One field, and its rows of the block. */
struct track {
    const struct hub_motion_field *field;
    struct hub_row_source source;
    const struct hub_window *window; /* of the episode; NULL: it has none */
    struct hub_window steps;         /* what `window` points to */
    double *rows;                    /* BEFORE + BLOCK_ROWS of them */
};

struct motion {
    struct hub_measured_part *part;
    struct track *actions, *states;
    uint32_t action_count, state_count;
    /* of the rows of a block */
    double moved[BLOCK_ROWS], jerk[BLOCK_ROWS]; /* the largest step, of its range; the sum of squares */
    bool same[BLOCK_ROWS], bound[BLOCK_ROWS];
    /* of the episode */
    uint64_t rows, first_still, first_bound, still, at_bound, run, longest, longest_at;
    uint64_t jerk_count, jerk_room;
    double *jerks, worst_jerk;
    uint64_t worst_at;
    bool has_bounds;
    double *offsets; /* by dimension of all actions: sums of differences on still rows */
    uint32_t dims;
};

static void motion_freep(struct motion **of)
{
    struct motion *m = *of;
    if (!m)
        return;
    for (uint32_t i = 0; i < m->action_count + m->state_count; i++) {
        hub_source_dispose(&m->actions[i].source);
        free(m->actions[i].rows);
    }
    free(m->actions);
    free(m->jerks);
    free(m->offsets);
    free(m);
}

uint64_t hub_motion_hash(const struct hub_motion_field *actions, uint32_t count)
{
    uint64_t hash = HUB_HASH_START;
    for (uint32_t i = 0; i < count; i++)
        hash = hub_hash(hash, actions[i].of, actions[i].dims * sizeof *actions[i].of);
    return hash >> 1 | 1; /* SQLite's integers have a sign */
}

/* ---- rows ---- */

/* Rows [from, from + count) of the episode, joined of as many reads as they need. */
static enum hub_status take_rows(struct track *t, uint64_t from, uint64_t count, double *out,
                                 struct hub_error *err)
{
    struct hub_block b;
    for (uint64_t done = 0; done < count; done += b.rows) {
        HUB_TRY(hub_source_get(&t->source, t->window, from + done, count - done, &b, err));
        memcpy(out + done * b.dims, b.values, b.rows * b.dims * sizeof *out);
    }
    return HUB_OK;
}

/* ---- what a field adds to each row ---- */

static void add_steps(struct motion *m, const struct track *t, uint64_t n, uint64_t skip)
{
    const uint32_t dims = t->field->dims;
    for (uint64_t i = skip; i < n; i++) {
        const double *now = t->rows + (BEFORE + i) * dims, *before = now - dims;
        double moved = m->moved[i];
        bool same = m->same[i];
        for (uint32_t d = 0; d < dims; d++) {
            const double range = t->field->of[d].range, step = fabs(now[d] - before[d]);
            same &= now[d] == before[d];
            if (range > 0 && !(step / range <= moved)) /* NaN is no rest */
                moved = isnan(step) ? INFINITY : step / range;
        }
        m->moved[i] = moved;
        m->same[i] = same;
    }
}

/* Row i ends the second difference of rows i - 2, i - 1 and i. */
static void add_jerks(struct motion *m, const struct track *t, uint64_t n, uint64_t skip)
{
    const uint32_t dims = t->field->dims;
    for (uint64_t i = skip; i < n; i++) {
        const double *c = t->rows + (BEFORE + i) * dims, *b = c - dims, *a = b - dims;
        double sum = 0;
        for (uint32_t d = 0; d < dims; d++) {
            const double range = t->field->of[d].range;
            const double second = range > 0 ? (c[d] - 2 * b[d] + a[d]) / range : 0;
            sum += second * second;
        }
        m->jerk[i] += sum;
    }
}

static void add_bounds(struct motion *m, const struct track *t, uint64_t n)
{
    const uint32_t dims = t->field->dims;
    for (uint32_t d = 0; d < dims; d++) {
        const struct hub_action_dim *of = &t->field->of[d];
        if (!(of->range > 0) || !(isfinite(of->low) || isfinite(of->high)))
            continue;
        const double low = isfinite(of->low) ? of->low + AT_BOUND * of->range : -INFINITY,
                     high = isfinite(of->high) ? of->high - AT_BOUND * of->range : INFINITY;
        m->has_bounds = true;
        for (uint64_t i = 0; i < n; i++) {
            const double value = t->rows[(BEFORE + i) * dims + d];
            m->bound[i] |= value <= low || value >= high;
        }
    }
}

/* ---- what the rows come to ---- */

static enum hub_status keep_jerk(struct motion *m, double squares, uint64_t row, struct hub_error *err)
{
    const double norm = sqrt(squares);
    if (isnan(norm))
        return HUB_OK;
    if (m->jerk_count == m->jerk_room) {
        const uint64_t room = HUB_MAX(2 * m->jerk_room, UINT64_C(4096));
        double *more = realloc(m->jerks, room * sizeof *more);
        HUB_TRY(hub_allocated(more, err));
        m->jerks = more;
        m->jerk_room = room;
    }
    if (!m->jerk_count || norm > m->worst_jerk) {
        m->worst_jerk = norm;
        m->worst_at = row;
    }
    m->jerks[m->jerk_count++] = norm;
    return HUB_OK;
}

static void count_row(struct motion *m, uint64_t i, uint64_t row)
{
    if (m->bound[i] && m->at_bound++ == 0)
        m->first_bound = row;
    if (!row)
        return;
    if (m->moved[i] < STILL && m->still++ == 0)
        m->first_still = row;
    m->run = m->same[i] ? m->run + 1 : 0;
    if (m->run > m->longest) {
        m->longest = m->run;
        m->longest_at = row + 1 - m->run;
    }
}

static void add_offsets(struct motion *m, uint64_t row, uint64_t n)
{
    uint32_t at = 0;
    for (uint32_t f = 0; f < m->action_count; f++) {
        const struct track *action = &m->actions[f];
        const uint32_t dims = action->field->dims;
        for (uint32_t d = 0; d < dims; d++, at++) {
            const struct hub_action_dim *of = &action->field->of[d];
            const struct track *state = of->state < m->state_count ? &m->states[of->state] : NULL;
            if (!state || !state->window)
                continue;
            for (uint64_t i = row ? 0 : 1; i < n; i++)
                if (m->moved[i] < STILL)
                    m->offsets[at] += action->rows[(BEFORE + i) * dims + d] -
                                      state->rows[(BEFORE + i) * state->field->dims + of->state_dim];
        }
    }
}

static enum hub_status add_block(struct motion *m, uint64_t row, uint64_t n, struct hub_error *err)
{
    const uint64_t before = HUB_MIN(row, (uint64_t)BEFORE);
    for (uint64_t i = 0; i < n; i++) {
        m->moved[i] = m->jerk[i] = 0;
        m->same[i] = true;
        m->bound[i] = false;
    }
    for (uint32_t f = 0; f < m->action_count + m->state_count; f++) {
        struct track *t = &m->actions[f];
        if (!t->window)
            continue;
        HUB_TRY(take_rows(t, row - before, n + before, t->rows + (BEFORE - before) * t->field->dims, err));
        if (f >= m->action_count)
            continue;
        add_steps(m, t, n, before ? 0 : 1);
        add_jerks(m, t, n, BEFORE - before);
        add_bounds(m, t, n);
    }
    for (uint64_t i = 0; i < n; i++) {
        count_row(m, i, row + i);
        if (row + i >= BEFORE)
            HUB_TRY(keep_jerk(m, m->jerk[i], row + i - 1, err));
    }
    add_offsets(m, row, n);
    return HUB_OK;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* numpy's percentile. Sorts. */
static double percentile(double *values, uint64_t count, double q)
{
    qsort(values, count, sizeof *values, by_value);
    const double at = q * (double)(count - 1);
    const uint64_t below = (uint64_t)at;
    const double low = values[below], high = values[HUB_MIN(below + 1, count - 1)];
    const double part = at - (double)below;
    return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

static void put(struct motion *m, enum hub_metric metric, uint32_t episode, double value, uint64_t at)
{
    m->part->metrics[metric][episode] = value;
    m->part->at[metric][episode] = (double)at;
}

static double worst_offset(const struct motion *m)
{
    double worst = NAN;
    uint32_t at = 0;
    for (uint32_t f = 0; f < m->action_count; f++)
        for (uint32_t d = 0; d < m->actions[f].field->dims; d++, at++) {
            const struct hub_action_dim *of = &m->actions[f].field->of[d];
            const double apart = fabs(m->offsets[at] / (double)m->still) / of->range;
            const bool paired = of->state < m->state_count && m->states[of->state].window && of->range > 0;
            if (paired && m->still && !(apart <= worst))
                worst = isnan(apart) ? worst : apart;
        }
    return worst;
}

static void put_episode(struct motion *m, uint32_t episode)
{
    const double rows = (double)m->rows;
    put(m, HUB_METRIC_FROZEN, episode, (double)m->longest / rows, m->longest_at);
    put(m, HUB_METRIC_STILL, episode, (double)m->still / (rows - 1), m->first_still);
    if (m->jerk_count)
        put(m, HUB_METRIC_JERK, episode, percentile(m->jerks, m->jerk_count, 0.95), m->worst_at);
    if (m->has_bounds)
        put(m, HUB_METRIC_SATURATED, episode, (double)m->at_bound / rows, m->first_bound);
    m->part->metrics[HUB_METRIC_OFFSET][episode] = worst_offset(m);
}

/* ---- an episode ---- */

/* The windows of its fields. False: there is nothing to measure, or the fields differ in length. */
static bool find_windows(struct motion *m, uint32_t episode)
{
    m->rows = 0;
    for (uint32_t i = 0; i < m->action_count + m->state_count; i++) {
        struct track *t = &m->actions[i];
        const struct hub_window *w = t->field->layout ? hub_layout_window(t->field->layout, episode) : NULL;
        t->window = NULL;
        if (w && hub_source_dims(t->field->layout, w) == t->field->dims) {
            t->steps = hub_window_of_steps(*w, t->field->axis);
            t->window = &t->steps;
        }
        if (i < m->action_count) {
            if (!t->window || (m->rows && t->window->count != m->rows))
                return false;
            m->rows = t->window->count;
        } else if (t->window && t->window->count < m->rows) {
            t->window = NULL;
        }
    }
    return m->rows >= LEAST_ROWS;
}

static enum hub_status measure_episode(struct motion *m, uint32_t episode, struct hub_error *err)
{
    if (!find_windows(m, episode))
        return HUB_OK;
    m->still = m->at_bound = m->run = m->longest = m->longest_at = m->jerk_count = 0;
    m->first_still = m->first_bound = m->worst_at = 0;
    m->has_bounds = false;
    memset(m->offsets, 0, m->dims * sizeof *m->offsets);
    for (uint64_t row = 0, n; row < m->rows; row += n) {
        struct hub_error why = {0};
        n = HUB_MIN(m->rows - row, (uint64_t)BLOCK_ROWS);
        const enum hub_status st = add_block(m, row, n, &why);
        if (hub_measure_is_verdict(st))
            return HUB_OK;
        if (st)
            return hub_pass(st, &why, err);
    }
    put_episode(m, episode);
    return HUB_OK;
}

static enum hub_status begin(struct motion *m, const struct hub_motion_field *fields, uint32_t count,
                             struct track *tracks, struct hub_error *err)
{
    for (uint32_t i = 0; i < count; i++) {
        tracks[i].field = &fields[i];
        tracks[i].source.host = m->part->host;
        tracks[i].source.layout = fields[i].layout;
        tracks[i].source.files = &m->part->files;
        HUB_TRY(hub_new(&tracks[i].rows, (size_t)(BEFORE + BLOCK_ROWS) * fields[i].dims + 1, sizeof(double),
                        err));
    }
    return HUB_OK;
}

/* A dimension that moves somewhere in the dataset. */
static bool has_range(const struct hub_motion_field *actions, uint32_t count, uint32_t *dims)
{
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t d = 0; d < actions[i].dims; d++) {
            any |= actions[i].of[d].range > 0;
            ++*dims;
        }
    return any;
}

enum hub_status hub_measure_motion(struct hub_measured_part *part, const struct hub_motion_field *actions,
                                   uint32_t action_count, const struct hub_motion_field *states,
                                   uint32_t state_count, struct hub_error *err)
{
    HUB_CLEANUP(motion_freep) struct motion *m = NULL;
    HUB_TRY(hub_new(&m, 1, sizeof *m, err));
    m->part = part;
    if (!has_range(actions, action_count, &m->dims))
        return HUB_OK;
    HUB_TRY(hub_new(&m->actions, (size_t)action_count + state_count, sizeof *m->actions, err));
    m->action_count = action_count;
    m->state_count = state_count;
    m->states = m->actions + action_count;
    HUB_TRY(hub_new(&m->offsets, m->dims, sizeof *m->offsets, err));
    HUB_TRY(begin(m, actions, action_count, m->actions, err));
    HUB_TRY(begin(m, states, state_count, m->states, err));
    for (uint32_t e = 0; e < part->episodes; e++) {
        HUB_TRY(measure_episode(m, e, err));
        HUB_TRY(hub_measure_breathe(part, err));
    }
    return HUB_OK;
}
