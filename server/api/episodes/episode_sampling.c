/*
 * Whole episodes drawn among the chosen ones, as Minari draws them with numpy's default_rng(seed):
 * partition= as split_dataset does, random= as sample_episodes.
 */
#include "server/api/episodes/episode_selection.h"
#include "storage/query/draw.h"
#include "storage/text/number.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_SIZES = 64 };

bool hub_episode_selection_is_sampled(const struct hub_request *request)
{
    static const char *const names[] = {"random", "partition", "part", "partition_seed"};
    return hub_request_any(request, names, HUB_COUNT(names));
}

static enum hub_status read_seed(const struct hub_request *request, const char *name, const char *what,
                                 struct hub_draw *draw, struct hub_error *err)
{
    const struct hub_view text = hub_request_query(request, name);
    uint64_t seed;
    if (!text.data)
        return hub_request_wrong(request, what, err, "%s needs %s=, so that it draws the same again", what,
                                 name);
    if (!hub_number_read(text, UINT64_MAX, &seed))
        return hub_request_wrong(request, name, err,
                                 "%s must be a whole number from 0 to 18446744073709551615", name);
    hub_draw_init(draw, seed);
    return HUB_OK;
}

/* "20,5": how many of the permuted episodes come before a part, and how many it has. */
static enum hub_status read_part(const struct hub_request *request, uint32_t all, uint64_t *before,
                                 uint64_t *size, struct hub_error *err)
{
    const struct hub_view text = hub_request_query(request, "partition"),
                          which = hub_request_query(request, "part");
    uint64_t part = 0, total = 0, count = 0;
    *before = *size = 0;
    if (!text.data)
        return hub_request_wrong(request, which.data ? "part" : "partition_seed", err,
                                 "part needs partition=, the sizes of parts separated by commas");
    if (which.data && !hub_number_read(which, MAX_SIZES - 1, &part))
        return hub_request_wrong(request, "part", err,
                                 "part must be the index of a size in partition, from 0");
    for (const char *at = text.data, *end; at; at = *end ? end + 1 : NULL, count++) {
        uint64_t one;
        for (end = at; *end && *end != ','; end++)
            ;
        if (count == MAX_SIZES ||
            !hub_number_read((struct hub_view){at, (size_t)(end - at)}, UINT32_MAX, &one))
            return hub_request_wrong(request, "partition", err,
                                     "partition must be up to %d numbers of episodes separated by commas",
                                     MAX_SIZES);
        total += one;
        *before += count < part ? one : 0;
        *size = count == part ? one : *size;
    }
    if (part >= count)
        return hub_request_wrong(request, "part", err, "partition has %" PRIu64 " parts, counted from 0",
                                 count);
    if (total > all)
        return hub_request_wrong(request, "partition", err,
                                 "the sizes come to %" PRIu64 ", but %" PRIu32 " episodes are chosen", total,
                                 all);
    return HUB_OK;
}

static enum hub_status take_part(const struct hub_request *request, const char *seed_name,
                                 struct hub_episode_selection *chosen, struct hub_error *err)
{
    struct hub_draw draw;
    uint64_t before, size;
    HUB_TRY(read_part(request, chosen->count, &before, &size, err));
    HUB_TRY(read_seed(request, seed_name, "partition", &draw, err));
    hub_draw_permute(&draw, chosen->places, chosen->count);
    memmove(chosen->places, chosen->places + before, size * sizeof *chosen->places);
    chosen->count = (uint32_t)size;
    return HUB_OK;
}

static enum hub_status take_some(const struct hub_request *request, struct hub_episode_selection *chosen,
                                 struct hub_error *err)
{
    const struct hub_view text = hub_request_query(request, "random");
    struct hub_draw draw;
    uint64_t count;
    uint32_t *some;
    if (!hub_number_read(text, chosen->count, &count))
        return hub_request_wrong(request, "random", err,
                                 "random must be a number of the %" PRIu32 " chosen episodes", chosen->count);
    HUB_TRY(read_seed(request, "seed", "random", &draw, err));
    HUB_TRY(hub_new(&some, count, sizeof *some, err));
    const enum hub_status st =
        hub_draw_choose(&draw, chosen->places, chosen->count, some, (uint32_t)count, err);
    if (!st)
        memcpy(chosen->places, some, count * sizeof *some);
    free(some);
    chosen->count = (uint32_t)count;
    return st;
}

enum hub_status hub_episode_selection_sample(const struct hub_request *request,
                                             struct hub_episode_selection *chosen, struct hub_error *err)
{
    static const char *const of_part[] = {"partition", "part", "partition_seed"};
    const bool own_seed = chosen->seed_is_of_rows || hub_request_if_taken(request, "partition_seed").data;
    if (hub_request_any(request, of_part, HUB_COUNT(of_part)))
        HUB_TRY(take_part(request, own_seed ? "partition_seed" : "seed", chosen, err));
    return hub_request_if_taken(request, "random").data ? take_some(request, chosen, err) : HUB_OK;
}
