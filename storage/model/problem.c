/* Codes of problems by what they cost: see problem.h. */
#include "storage/model/problem.h"

static const char *const episodes[] = {
    "bad-member",          "bad-pickle",         "compressed-shard",      "cut-rows",
    "damaged-shard",       "dataset-damaged",    "directory-not-entered", "duplicate-episode",
    "fewer-than-claimed",  "file-damaged",       "group-damaged",         "length-mismatch",
    "link-cycle",          "link-leaves",        "link-leaves-dataset",   "link-not-followed",
    "link-target-missing", "missing-file",       "not-fetched",           "not-finalized",
    "object-damaged",      "part-broken",        "permission-denied",     "rows-differ",
    "rows-unreadable",     "unreadable-episode", "unreadable-file",       NULL};
static const char *const fields[] = {"bad-json-rows",          "field-type-conflict", "field-unreadable",
                                     "missing-column",         "too-many-fields",     "type-differs",
                                     "unreadable-in-episodes", "unreadable-numbers",  NULL};
static const char *const cameras[] = {
    "bad-video", "cut-video", "missing-video", "video-length", "video-not-placed", "video-span", NULL};
static const char *const loading[] = {"not-loadable", NULL};

static const char *const *const codes[HUB_COSTS_COUNT] = {[HUB_COSTS_EPISODES] = episodes,
                                                          [HUB_COSTS_FIELDS] = fields,
                                                          [HUB_COSTS_CAMERAS] = cameras,
                                                          [HUB_COSTS_LOADING] = loading};

enum hub_problem_cost hub_problem_cost(struct hub_view code)
{
    for (unsigned cost = HUB_COSTS_EPISODES; cost < HUB_COSTS_COUNT; cost++)
        for (const char *const *at = codes[cost]; *at; at++)
            if (hub_view_is(code, *at))
                return (enum hub_problem_cost)cost;
    return HUB_COSTS_NOTHING;
}

const char *hub_problem_cost_name(enum hub_problem_cost cost)
{
    static const char *const names[HUB_COSTS_COUNT] = {"", "episodes", "fields", "cameras", "loading"};
    return names[cost];
}
