/** Names that a question takes of episodes, and texts that it compares them with: whether the dataset knows them. */
#ifndef HUB_CATALOG_KNOWN_H
#define HUB_CATALOG_KNOWN_H

#include "storage/base/parallel.h"
#include "storage/catalog/dataset.h"

enum { HUB_KNOWN_NEAR = 3, HUB_KNOWN_BYTES = 120 };

/** Names near to one that is not known, the nearest first. */
struct hub_known_near {
    char names[HUB_KNOWN_NEAR][HUB_KNOWN_BYTES];
    uint32_t count;
};

/**
 * A field of a statistic is there or stated, an attribute is one of an episode's. Blocking; ends with HUB_CANCELLED when `parallel`
 * says so.
 *
 * @param[out] near  written for a name that is not known
 * @return HUB_INVALID, with what there is
 */
HUB_MUST_USE enum hub_status hub_name_known(const struct hub_state *state, const struct hub_property *name,
                                            const struct hub_parallel *parallel, struct hub_known_near *near,
                                            struct hub_error *err);
/** The same of the text of a split, a task or a name: an episode is of it, or the dataset lists it. */
HUB_MUST_USE enum hub_status hub_text_known(const struct hub_state *state, enum hub_property_kind kind,
                                            struct hub_view text, const struct hub_parallel *parallel,
                                            struct hub_known_near *near, struct hub_error *err);

#endif
