/** One episode as pages show it, for the tests of the catalogue. */
#ifndef HUB_TESTS_SEE_EPISODE_H
#define HUB_TESTS_SEE_EPISODE_H

#include "storage/episodes/episode_reader.h"

/** Texts live until it returns. */
typedef void episode_seen(void *user, const struct hub_found_episode *row, const char *file);

/** Calls `see`, unless it is NULL. */
static inline enum hub_status see_episode(const struct hub_state *state, int64_t number, episode_seen *see,
                                          void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    struct hub_found_episode row;
    const char *file;
    HUB_TRY(
        hub_episode_describe(&reader, hub_dataset_find_episode(state->dataset, number), &row, &file, err));
    if (see)
        see(user, &row, file);
    return HUB_OK;
}

#endif
