/* Rows cut into episodes, whatever file they come from: see d4rl.h. */
#include "storage/formats/d4rl/d4rl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ROWS = 16 * 1024 * 1024 };

enum hub_status d4rl_cuts_begin(struct d4rl_cuts *c, struct hub_error *err)
{
    if (c->rows > MAX_ROWS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d rows", MAX_ROWS);
    return hub_new(&c->ends, (size_t)c->rows + 1, 1, err);
}

void d4rl_cuts_dispose(struct d4rl_cuts *c)
{
    free(c->ends);
    free(c->cuts);
    free(c->returns);
}

void d4rl_flags_begin(struct d4rl_cuts *c, uint8_t mark)
{
    c->at = 0;
    c->mark = mark;
}

void d4rl_take_flag(void *cuts, double value)
{
    struct d4rl_cuts *c = cuts;
    if (c->at < c->rows && !isnan(value) && value != 0)
        c->ends[c->at] |= c->mark;
    c->at++;
}

bool d4rl_flags_end(struct d4rl_cuts *c, bool read)
{
    const bool good = read && c->at == c->rows;
    for (uint64_t i = 0; !good && i < c->rows; i++)
        c->ends[i] &= (uint8_t)~c->mark;
    return good;
}

enum hub_status d4rl_report_flags(const struct d4rl_cuts *c, struct hub_sink *sink, const char *path,
                                  struct hub_error *err)
{
    return hub_sink_problem(sink, "rows-differ", hub_view_of(path), err,
                            "it does not have one flag for each of the %" PRIu64 " rows: it ends no episode",
                            c->rows);
}

enum hub_status d4rl_report_unknown(const struct d4rl_cuts *c, struct hub_sink *sink, struct hub_error *err)
{
    if (c->terminals)
        return hub_sink_problem(
            sink, "boundary-unknown", HUB_VIEW("timeouts"), err,
            "without timeouts and next_observations only terminals end an episode: one that "
            "ran out of time is joined with the next");
    return hub_sink_problem(sink, "boundary-unknown", HUB_VIEW("terminals"), err,
                            "neither terminals nor timeouts can be read: all rows are one episode");
}

enum hub_status d4rl_cut_rows(struct d4rl_cuts *c, struct hub_sink *sink, struct hub_error *err)
{
    uint64_t first = 0;
    for (uint64_t i = 0; i < c->rows; i++) {
        if (!c->ends[i] && i + 1 < c->rows)
            continue;
        if (c->count >= HUB_MAX_EPISODES)
            return hub_fail(err, HUB_TOO_BIG, "more than %d episodes", HUB_MAX_EPISODES);
        HUB_TRY(hub_grow(&c->cuts, c->count, &c->capacity, sizeof *c->cuts, err));
        c->cuts[c->count++] = (struct hub_h5_cut){.first = first, .count = i + 1 - first};
        first = i + 1;
    }
    c->at = 0;
    HUB_TRY(hub_new(&c->returns, (size_t)c->count + 1, sizeof *c->returns, err));
    if (c->rows && !c->ends[c->rows - 1])
        return hub_sink_problem(
            sink, "open-tail", HUB_VIEW(""), err,
            "the last %" PRIu64
            " rows have no end and form an episode anyway; sequence_dataset of d4rl leaves them out",
            c->cuts[c->count - 1].count);
    return HUB_OK;
}

void d4rl_take_reward(void *cuts, double value)
{
    struct d4rl_cuts *c = cuts;
    while (c->cut < c->count && c->at >= c->cuts[c->cut].first + c->cuts[c->cut].count)
        c->cut++;
    if (c->cut < c->count)
        c->returns[c->cut] += value;
    c->at++;
}

enum hub_status d4rl_report(struct d4rl_cuts *c, bool rewards, struct hub_sink *sink, struct hub_error *err)
{
    const bool summed = rewards && c->at == c->rows;
    for (uint32_t i = 0; i < c->count; i++) {
        struct hub_h5_cut *cut = &c->cuts[i];
        const uint8_t end = c->ends[cut->first + cut->count - 1];
        char name[16];
        snprintf(name, sizeof name, "%u", i);
        struct hub_episode episode = {.number = i,
                                      .name = hub_view_of(name),
                                      .steps = cut->count,
                                      .has_return = summed,
                                      .return_computed = true,
                                      .success = -1,
                                      .terminated = c->terminals ? (end & D4RL_TERMINAL) != 0 : -1,
                                      .truncated = c->timeouts ? (end & D4RL_TIMEOUT) != 0 : -1};
        if (summed)
            episode.episode_return = c->returns[i];
        HUB_TRY(hub_sink_episode(sink, &episode, &cut->episode, err));
    }
    return HUB_OK;
}
