/** What a problem of a dataset costs its readers. Most cost nothing: a writer did something differently. */
#ifndef HUB_MODEL_PROBLEM_H
#define HUB_MODEL_PROBLEM_H

#include "storage/base/buf.h"

enum hub_problem_cost {
    HUB_COSTS_NOTHING = 0,
    HUB_COSTS_EPISODES, /* episodes, or rows of them */
    HUB_COSTS_FIELDS,
    HUB_COSTS_CAMERAS,
    HUB_COSTS_LOADING, /* its own library refuses the dataset */
    HUB_COSTS_COUNT
};

/** By the code of the problem. */
enum hub_problem_cost hub_problem_cost(struct hub_view code);
/** "episodes" "fields" "cameras" "loading"; "" for nothing. */
const char *hub_problem_cost_name(enum hub_problem_cost cost);

/** Episodes of which measuring could not decode all rows, and their steps: no figure has them. */
struct hub_lost {
    uint32_t episodes;
    uint64_t steps;
};

#endif
