/** Whether a dataset has the names that a request uses of episodes, and the texts it compares them with. */
#ifndef HUB_EPISODES_NAME_CHECK_H
#define HUB_EPISODES_NAME_CHECK_H

#include "storage/base/parallel.h"
#include "storage/catalog/dataset.h"

enum { HUB_NEAR_NAMES = 3, HUB_NEAR_NAME_BYTES = 120 };

/** Names near to one that the dataset does not have, the nearest first. */
struct hub_near_names {
    char names[HUB_NEAR_NAMES][HUB_NEAR_NAME_BYTES];
    uint32_t count;
};

/**
 * Check a name: the field of min("FIELD") has numbers or stated statistics, an attribute is one of at least
 * one episode. Blocking; HUB_CANCELLED when `parallel` is cancelled.
 *
 * @param[out] near  written for a name that the dataset does not have
 * @return HUB_INVALID, with the names that there are
 */
HUB_MUST_USE enum hub_status hub_name_check(const struct hub_state *state, const struct hub_property *name,
                                            const struct hub_parallel *parallel, struct hub_near_names *near,
                                            struct hub_error *err);
/** Check the text of a split, a task or a name: an episode has it, or the dataset lists it. As above. */
HUB_MUST_USE enum hub_status hub_text_check(const struct hub_state *state, enum hub_property_kind kind,
                                            struct hub_view text, const struct hub_parallel *parallel,
                                            struct hub_near_names *near, struct hub_error *err);

#endif
