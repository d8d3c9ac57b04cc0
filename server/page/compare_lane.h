/** A field of several episodes: a figure for each of its dimensions, in which each episode has a curve. */
#ifndef HUB_PAGE_COMPARE_LANE_H
#define HUB_PAGE_COMPARE_LANE_H

#include "server/page/compare.h"

enum { COMPARE_FIGURES = 8, COMPARE_DIMS = 128 };

struct compared_lane {
    const json_t *field;     /* of the first dataset */
    char dims[COMPARE_DIMS]; /* as `dims=` of the API has them; "": all */
    bool sum;                /* of the reward: the return */
};

/** Its figures, and where `diff` is chosen those of the difference of the first two. */
HUB_MUST_USE enum hub_status compare_lane(struct compare *c, const struct compared_lane *lane);
/** What the API says of the field that was drawn last; NULL: no episode has it. */
const json_t *compare_lane_field(const struct compare *c);
/** Is a dimension among those that are drawn of it? */
bool compare_lane_shows(const json_t *field, size_t dim);

#endif
