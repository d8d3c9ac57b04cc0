/*
 * Windows drawn at random: GET .../sample. Of the chosen episodes, in order of their numbers, every window
 * is equally likely (weight=steps), or every episode that has one and then each of its windows
 * (weight=uniform). A draw is (u * n) >> 64 of the next raw number u of numpy's PCG64(seed), so the same
 * seed and revision are the same bytes.
 */
#include "server/api/episodes/coverage.h"
#include "server/api/handlers.h"
#include "server/api/rows/windows.h"
#include "server/api/tables/table_answer.h"
#include "storage/base/order.h"
#include "storage/query/draw.h"
#include "storage/text/number.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define ENCODER_VERSION "2" /* part of the ETag: changes when the same windows come out as other bytes */

/* An episode that has windows, and how many all up to it have. */
struct candidate {
    uint64_t end;
    uint32_t place;
};

struct sample {
    struct hub_target target;
    const struct hub_dataset *dataset; /* the sample's */
    uint64_t seed;
    bool seeded; /* by the client */
    bool uniform, drop_sentinel, planned;
    uint64_t count, length;
    enum hub_pad pad;
    const struct hub_representation *as;
    bool final_row;
    struct hub_named_fields fields;
    struct hub_coverage measured;
    struct hub_buf left_out;
    struct hub_window_query *queries;
    struct hub_windows windows;
};

/* All but the seed. */
static void forget(struct sample *s)
{
    hub_windows_dispose(&s->windows);
    hub_dataset_put(s->dataset);
    hub_target_dispose(&s->target);
    hub_buf_dispose(&s->left_out);
    free(s->queries);
    *s = (struct sample){.seed = s->seed, .seeded = s->seeded};
}

static void free_sample(void *state)
{
    forget(state);
    free(state);
}

/* ---- what is asked for ---- */

static enum hub_status read_draw(const struct hub_request *request, struct sample *s, struct hub_error *err)
{
    int64_t windows = 1, length = 1;
    (void)hub_request_int(request, "windows", &windows);
    (void)hub_request_int(request, "length", &length);
    s->count = (uint64_t)windows;
    s->length = (uint64_t)length;
    s->pad = (enum hub_pad)HUB_MAX(hub_request_choice(request, "pad"), 0); /* none is the first */
    s->final_row = hub_request_flag(request, "final");
    s->uniform = hub_request_choice(request, "weight") == 1;
    s->drop_sentinel = hub_request_choice(request, "sentinel") == 1;
    return hub_windows_format(request, &s->as, err);
}

/* The client's, or one that nobody had before; drawn once, however often the handler is called. */
static enum hub_status read_seed(const struct hub_request *request, struct sample *s, struct hub_error *err)
{
    const struct hub_view text = hub_request_query(request, "seed");
    s->seeded = text.data;
    if (!text.data)
        return getrandom(&s->seed, sizeof s->seed, 0) == sizeof s->seed
                   ? HUB_OK
                   : hub_fail(err, HUB_IO, "there are no random numbers");
    if (hub_number_read(text, UINT64_MAX, &s->seed))
        return HUB_OK;
    return hub_request_wrong(request, "seed", err,
                             "seed must be a whole number from 0 to 18446744073709551615");
}

/* ---- fields ---- */

/* A text or a file is one value, whatever its length; rows of JSON are as wide as their sensor. */
static bool varies(const struct hub_dataset_field *field)
{
    const struct hub_variant bytes = {.kind = HUB_KIND_UINT, .item_size = 1, .rank = 1};
    const bool one = strcmp(field->shape, "[null]") == 0 && field->type != HUB_FIELD_PADDED_JSON &&
                     hub_encode_as_item(field->type, &bytes);
    return strstr(field->shape, "null") && !one;
}

/* A member of a group or role has a place in every sample, or in none. */
static bool in_all_episodes(const struct hub_dataset *dataset, const struct hub_dataset_field *field)
{
    return field->episodes == dataset->episode_count && !field->unreadable && !varies(field);
}

static enum hub_status leave_out(struct hub_buf *out, const char *name, struct hub_error *err)
{
    enum { MOST = 2048 };
    *out = out->limit ? *out : HUB_BUF_INIT(64 * KIB);
    if (out->size > MOST)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, out->size ? ", " : "", err));
    return out->size + strlen(name) < MOST ? hub_uri_encode_path(hub_view_of(name), out, err)
                                           : hub_buf_add_text(out, "...", err);
}

/* Nothing named: what learning takes, or all there is. */
static enum hub_status default_fields(const struct hub_dataset *dataset, struct hub_named_fields *out,
                                      struct hub_error *err)
{
    static const enum hub_role roles[] = {HUB_ROLE_OBSERVATION, HUB_ROLE_ACTION, HUB_ROLE_REWARD,
                                          HUB_ROLE_DONE};
    bool any = false;
    for (size_t r = 0; r <= HUB_COUNT(roles); r++)
        for (uint32_t i = 0; i < dataset->field_count; i++) {
            const bool takes = r < HUB_COUNT(roles) ? dataset->fields[i].role == roles[r] : !any;
            if (!takes)
                continue;
            if (out->count == HUB_MAX_SELECTED)
                return hub_fail_about(
                    err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LARGE, "fields", "",
                    "the dataset has more than %d fields: name some with fields=", HUB_MAX_SELECTED);
            out->fields[out->count++] = i;
            any |= r < HUB_COUNT(roles);
        }
    return HUB_OK;
}

static enum hub_status choose_fields(const struct hub_request *request, struct sample *s,
                                     struct hub_error *err)
{
    const struct hub_state state = {.dataset = s->dataset}; /* the target's is closed */
    struct hub_named_fields *f = &s->fields;
    uint32_t kept = 0;
    HUB_TRY(hub_request_fields(request, &state, f, err));
    if (!f->count && !hub_request_query(request, "fields").data)
        HUB_TRY(default_fields(s->dataset, f, err));
    for (uint32_t i = 0; i < f->count; i++) {
        const struct hub_dataset_field *field = &s->dataset->fields[f->fields[i]];
        if (!f->exact[i] && !in_all_episodes(s->dataset, field)) {
            HUB_TRY(leave_out(&s->left_out, field->path, err));
            continue;
        }
        f->exact[kept] = f->exact[i];
        f->fields[kept++] = f->fields[i];
    }
    f->count = kept;
    return kept ? HUB_OK
                : hub_request_wrong(
                      request, "fields", err,
                      "none of these fields has rows of one shape in every episode: name other fields");
}

/* ---- the draw ---- */

static uint64_t windows_of(const struct sample *s, const struct hub_dataset_episode *episode, bool sentinel)
{
    const uint64_t steps = episode->steps - (sentinel && episode->steps);
    if (s->pad != HUB_PAD_REFUSE)
        return steps;
    return steps >= s->length ? steps - s->length + 1 : 0;
}

/* A last action that only says that the policy is done is no step to learn from: see rows.h. */
static bool has_sentinel(const struct sample *s)
{
    bool shifted = false;
    for (uint32_t i = 0; s->drop_sentinel && i < s->dataset->field_count; i++)
        shifted |= s->dataset->fields[i].axis == HUB_AXIS_SHIFTED;
    return shifted;
}

static enum hub_status none_is_long_enough(const struct hub_request *request, const struct sample *s,
                                           const struct hub_episode_selection *chosen, struct hub_error *err)
{
    uint64_t longest = 0;
    for (uint32_t i = 0; i < chosen->count; i++)
        longest = HUB_MAX(longest, s->dataset->episodes[chosen->places[i]].steps);
    if (!chosen->count && chosen->invalid)
        return hub_request_wrong(request, "valid", err,
                                 "none of the %" PRIu32 " chosen episodes is valid: use valid=any",
                                 chosen->invalid);
    if (!chosen->count)
        return hub_request_wrong(request, hub_request_query(request, "where").data ? "where" : "split", err,
                                 "no episode is chosen: '%s' has %" PRIu32 " in total",
                                 s->dataset->summary->id, s->dataset->episode_count);
    return hub_request_wrong(request, "length", err,
                             "no chosen episode has %" PRIu64 " steps, the longest has %" PRIu64
                             ": use a shorter length, or pad=edge or pad=zero",
                             s->length, longest);
}

static int by_end(const void *at, const void *candidate)
{
    return ((const struct candidate *)candidate)->end <= *(const uint64_t *)at ? 1 : -1;
}

static void draw_windows(struct sample *s, const struct candidate *candidates, uint32_t count, bool sentinel)
{
    struct hub_draw draw;
    hub_draw_init(&draw, s->seed);
    for (uint64_t i = 0; i < s->count; i++) {
        uint64_t at = hub_draw_below(&draw, s->uniform ? count : candidates[count - 1].end);
        const uint32_t which =
            s->uniform ? (uint32_t)at : hub_lower_bound(&at, candidates, count, sizeof *candidates, by_end);
        const struct hub_dataset_episode *episode = &s->dataset->episodes[candidates[which].place];
        const uint64_t before = which ? candidates[which - 1].end : 0;
        at = s->uniform ? hub_draw_below(&draw, candidates[which].end - before) : at - before;
        const uint64_t left = episode->steps - sentinel - at;
        s->queries[i] =
            (struct hub_window_query){.episode = episode, .start = at, .steps = HUB_MIN(left, s->length)};
    }
}

static enum hub_status draw(struct hub_request *request, struct hub_response *response, struct sample *s,
                            struct hub_episode_selection *chosen, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct candidate *candidates = NULL;
    const bool sentinel = has_sentinel(s);
    uint32_t count = 0;
    uint64_t all = 0;
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            chosen->count * sizeof *candidates + s->count * sizeof *s->queries, err));
    HUB_TRY(hub_new(&candidates, chosen->count, sizeof *candidates, err));
    HUB_TRY(hub_new(&s->queries, s->count, sizeof *s->queries, err));
    for (uint32_t i = 0; i < chosen->count; i++) {
        const uint64_t has = windows_of(s, &s->dataset->episodes[chosen->places[i]], sentinel);
        all += has;
        if (has)
            candidates[count++] = (struct candidate){all, chosen->places[i]};
    }
    if (!count)
        return none_is_long_enough(request, s, chosen, err);
    draw_windows(s, candidates, count, sentinel);
    return HUB_OK;
}

/* ---- the plan ---- */

static bool is_filtered(const struct hub_request *request)
{
    static const char *const filters[] = {"where",     "split", "name",          "task",
                                          "partition", "part",  "partition_seed"};
    return hub_request_any(request, filters, HUB_COUNT(filters));
}

static enum hub_status choose_all(struct hub_request *request, struct hub_response *response,
                                  const struct hub_dataset *dataset, struct hub_episode_selection *out,
                                  struct hub_error *err)
{
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            dataset->episode_count * sizeof *out->places, err));
    HUB_TRY(hub_new(&out->places, dataset->episode_count, sizeof *out->places, err));
    for (; out->count < dataset->episode_count; out->count++)
        out->places[out->count] = out->count;
    return HUB_OK;
}

/* Of a target that was opened as HUB_TO_DATASET. */
static enum hub_status to_state(struct hub_request *request, struct hub_target *target, struct hub_error *err)
{
    struct hub_state state;
    HUB_TRY(hub_resolve_state(request, target, &state, err));
    hub_state_close(&target->state);
    target->state = state;
    return HUB_OK;
}

static enum hub_status make_plan(struct hub_request *request, struct hub_response *response, struct sample *s,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_selection_dispose)
    struct hub_episode_selection chosen = {.seed_is_of_rows = true};
    s->measured.complete = true;
    const bool filtered = is_filtered(request);
    HUB_TRY(read_draw(request, s, err));
    HUB_TRY(hub_resolve(request, response, (filtered ? HUB_TO_STATE : HUB_TO_DATASET) | HUB_TO_READY,
                        &s->target, err));
    HUB_TRY(hub_episode_selection_wants_valid(request, s->target.summary, &chosen.only_valid, err));
    if (chosen.only_valid && !filtered)
        HUB_TRY(to_state(request, &s->target, err));
    if (filtered || chosen.only_valid) {
        HUB_TRY(hub_coverage_require(request, response, &s->target, NULL, 0, &s->measured, err));
        HUB_TRY(hub_episode_selection_open(request, response, &s->target.state, UINT32_MAX, &chosen, err));
    } else {
        HUB_TRY(choose_all(request, response, s->target.state.dataset, &chosen, err));
    }
    s->dataset = s->target.state.dataset; /* its reference; the rest of the state is closed */
    s->target.state.dataset = NULL;
    hub_state_close(&s->target.state);
    HUB_TRY(choose_fields(request, s, err));
    HUB_TRY(hub_episode_selection_report_invalid(&chosen, &s->left_out, err));
    qsort(chosen.places, chosen.count, sizeof *chosen.places, hub_by_u32);
    return draw(request, response, s, &chosen, err);
}

/* ---- the answer ---- */

/* Validators where the answer can be had again; else the seed by which it can. */
static enum hub_status put_headers(struct hub_request *request, struct sample *s,
                                   struct hub_response *response, bool *done, struct hub_error *err)
{
    char etag[40];
    s->target.passing = !s->seeded;
    HUB_TRY(hub_coverage_named_headers(request, &s->target, &s->measured, response, err));
    HUB_TRY(hub_response_header(response, err, "X-Seed", "%" PRIu64, s->seed));
    if (s->left_out.size)
        HUB_TRY(hub_response_header(response, err, "X-Left-Out", "%s", s->left_out.data));
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept"));
    if (!s->seeded)
        return HUB_OK;
    const struct hub_table_facts facts = {ENCODER_VERSION, s->dataset->summary, s->as, s->measured.state};
    hub_table_etag(request, &facts, etag);
    return hub_resolve_conditions(request, response, etag, -1, done, err);
}

static enum hub_status answer(struct hub_request *request, struct hub_response *response, struct sample *s,
                              struct hub_error *err)
{
    bool done = false;
    if (!s->planned)
        HUB_TRY(make_plan(request, response, s, err));
    HUB_TRY(put_headers(request, s, response, &done, err));
    if (done)
        return HUB_OK;
    const struct hub_windows_query query = {.datasets = &s->dataset,
                                            .dataset_count = 1,
                                            .fields = &s->fields,
                                            .windows = s->queries,
                                            .count = (uint32_t)s->count,
                                            .length = s->length,
                                            .final_row = s->final_row,
                                            .pad = s->pad,
                                            .as = s->as,
                                            .counted = "windows"};
    if (!s->planned)
        HUB_TRY(hub_windows_plan(request, response, &query, &s->windows, err));
    s->planned = true;
    return hub_windows_answer(request, &s->windows, response, err);
}

enum hub_status hub_sample_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    struct sample *s = request->state;
    if (!request->may_block)
        return HUB_AGAIN;
    if (!s) {
        HUB_TRY(hub_new(&s, 1, sizeof *s, err));
        request->state = s;
        request->free_state = free_sample;
        HUB_TRY(read_seed(request, s, err));
    }
    const bool waited = s->planned;
    const enum hub_status st = answer(request, response, s, err);
    if (st == HUB_AGAIN && request->wait.on == HUB_WAIT_BYTES && s->planned)
        return st; /* for what is coming by this plan */
    forget(s);
    if (st != HUB_CHANGED || !waited)
        return st;
    hub_response_dispose(response); /* published again while it waited: from the start */
    return hub_sample_show(request, response, err);
}
