/* How many episodes ended how, and are of which task and split: see tally.h. */
#include "storage/statistics/tally.h"

#include "storage/text/json.h"

#include <stdlib.h>

enum {
    SHOWN = 100,
    COUNTED = 10000
}; /* values in the answer; different ones that are counted by themselves */
enum { UNKNOWN = -1 };

/* ---- outcomes ---- */

struct outcomes {
    uint64_t yes, no, unknown;
};

static void put_outcomes(struct hub_json *json, const char *name, const struct outcomes *of)
{
    hub_json_put_object(json, name);
    hub_json_put_uint(json, "true", of->yes);
    hub_json_put_uint(json, "false", of->no);
    hub_json_put_uint(json, "unknown", of->unknown);
    hub_json_end_object(json);
}

static enum hub_status truth_of(struct hub_episode_reader *reader, const struct hub_dataset_episode *e,
                                enum hub_property_kind kind, int *out, struct hub_error *err)
{
    const struct hub_property name = {.kind = kind};
    struct hub_values values;
    HUB_TRY(hub_episode_values_of(reader, e, &name, &values, err));
    *out = values.count ? hub_value_real_of(values.first) != 0 : UNKNOWN;
    return HUB_OK;
}

static void count_truth(struct outcomes *of, int truth)
{
    of->yes += truth > 0;
    of->no += truth == 0;
    of->unknown += truth == UNKNOWN;
}

/* As `terminated = false and truncated = false` chooses them. */
static int neither_of(int terminated, int truncated)
{
    if (terminated > 0 || truncated > 0)
        return 0;
    return terminated == UNKNOWN || truncated == UNKNOWN ? UNKNOWN : 1;
}

enum hub_status hub_tally_outcomes(struct hub_json *json, const struct hub_state *state, const bool *chosen,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    struct outcomes success = {0}, terminated = {0}, truncated = {0}, neither = {0};
    for (uint32_t i = 0; i < state->dataset->episode_count; i++) {
        const struct hub_dataset_episode *e = &state->dataset->episodes[i];
        int solved, ended, cut;
        if (chosen && !chosen[i])
            continue;
        HUB_TRY(truth_of(&reader, e, HUB_PROPERTY_SUCCESS, &solved, err));
        HUB_TRY(truth_of(&reader, e, HUB_PROPERTY_TERMINATED, &ended, err));
        HUB_TRY(truth_of(&reader, e, HUB_PROPERTY_TRUNCATED, &cut, err));
        count_truth(&success, solved);
        count_truth(&terminated, ended);
        count_truth(&truncated, cut);
        count_truth(&neither, neither_of(ended, cut));
    }
    hub_json_put_object(json, "outcome");
    put_outcomes(json, "success", &success);
    put_outcomes(json, "terminated", &terminated);
    put_outcomes(json, "truncated", &truncated);
    put_outcomes(json, "neither", &neither);
    hub_json_end_object(json);
    return hub_json_status(json);
}

/* ---- values of a set ---- */

struct tally {
    json_t *counts;      /* value -> episodes that have it */
    uint64_t none;       /* episodes without any */
    struct hub_buf last; /* the last counted value: neighbours often have the same */
    json_t *last_count;
    uint64_t beyond; /* times that a value came which is not counted by itself: there are too many */
};

static void tally_dispose(struct tally *t)
{
    hub_buf_dispose(&t->last);
}

static enum hub_status count_value(struct tally *t, struct hub_view value, struct hub_error *err)
{
    if (t->last_count && hub_view_equal(hub_buf_view(&t->last), value)) {
        (void)json_integer_set(t->last_count, json_integer_value(t->last_count) + 1);
        return HUB_OK;
    }
    json_t *count = json_object_getn(t->counts, value.data, value.size);
    if (!count && json_object_size(t->counts) >= COUNTED) {
        t->beyond++;
        return HUB_OK;
    }
    if (!count) {
        count = json_integer(0);
        if (json_object_setn_new_nocheck(t->counts, value.data, value.size, count))
            return hub_no_memory(err);
    }
    (void)json_integer_set(count, json_integer_value(count) + 1);
    t->last.size = 0;
    t->last_count = count;
    return hub_buf_add_view(&t->last, value, err);
}

static enum hub_status count_all(struct tally *t, const struct hub_state *state, const bool *chosen,
                                 enum hub_property_kind kind, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    const struct hub_property name = {.kind = kind};
    for (uint32_t i = 0; i < state->dataset->episode_count; i++) {
        struct hub_values values;
        if (chosen && !chosen[i])
            continue;
        HUB_TRY(hub_episode_values_of(&reader, &state->dataset->episodes[i], &name, &values, err));
        t->none += !values.count;
        for (size_t k = 0; k < values.count; k++) /* a task is there as its number too */
            if (values.first[k].kind == HUB_VALUE_TEXT)
                HUB_TRY(count_value(t, values.first[k].text, err));
    }
    return HUB_OK;
}

struct value_count {
    const char *value;
    size_t size;
    uint64_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct value_count *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->value, y->value);
}

static void put_tally(struct hub_json *json, const struct tally *t, const struct value_count *all,
                      size_t count)
{
    uint64_t left = t->beyond;
    hub_json_put_array(json, "values");
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        hub_json_object(json);
        hub_json_put_string(json, "value", (struct hub_view){all[i].value, all[i].size});
        hub_json_put_uint(json, "count", all[i].count);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
    for (size_t i = SHOWN; i < count; i++)
        left += all[i].count;
    hub_json_put_uint(json, "none", t->none);
    hub_json_put_object(json, "left_out");
    if (!t->beyond)
        hub_json_put_uint(json, "values", count - HUB_MIN(count, (size_t)SHOWN));
    hub_json_put_uint(json, "count", left);
    hub_json_end_object(json);
}

enum hub_status hub_tally_values(struct hub_json *json, const char *key, const struct hub_state *state,
                                 const bool *chosen, enum hub_property_kind kind, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *counts = json_object();
    HUB_CLEANUP(hub_freep) struct value_count *all = NULL;
    HUB_CLEANUP(tally_dispose)
    struct tally tally = {.counts = counts, .last = HUB_BUF_INIT((size_t)HUB_MAX_TEXT)};
    size_t count = 0;
    HUB_TRY(hub_allocated(counts, err));
    HUB_TRY(count_all(&tally, state, chosen, kind, err));
    HUB_TRY(hub_new(&all, json_object_size(counts) + 1, sizeof *all, err));
    for (void *at = json_object_iter(counts); at; at = json_object_iter_next(counts, at))
        all[count++] = (struct value_count){json_object_iter_key(at), json_object_iter_key_len(at),
                                            (uint64_t)json_integer_value(json_object_iter_value(at))};
    qsort(all, count, sizeof *all, by_count);
    hub_json_put_object(json, key);
    put_tally(json, &tally, all, count);
    hub_json_end_object(json);
    return hub_json_status(json);
}
