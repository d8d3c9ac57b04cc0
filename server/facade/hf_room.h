/** What of a push still fits below the prefixes with a quota (--quota). */
#ifndef HUB_FACADE_HF_ROOM_H
#define HUB_FACADE_HF_ROOM_H

#include "storage/truth/quotas.h"

struct hub_hf_room {
    uint64_t left;      /* bytes */
    const char *prefix; /* of the quota with the least room, which outlives this; NULL: there is none */
};
/** The room that a repo has now. */
HUB_MUST_USE enum hub_status hub_hf_room_find(struct hub_truth *truth, const char *repo,
                                              struct hub_hf_room *out, struct hub_error *err);
/** Take some of it for "the object" or "'a/b.txt'": HUB_NO_SPACE "quota-exceeded". */
HUB_MUST_USE enum hub_status hub_hf_room_take(struct hub_hf_room *room, uint64_t bytes, const char *what,
                                              struct hub_error *err);

#endif
