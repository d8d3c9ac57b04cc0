/** Room for what comes before a commit names it. Safe from any thread. */
#ifndef HUB_DEPOSITS_ROOM_H
#define HUB_DEPOSITS_ROOM_H

#include "storage/deposits/deposit.h"

/** Whether so many bytes more fit on the disk of a path: HUB_NO_SPACE "no-space". */
HUB_MUST_USE enum hub_status hub_room_on_disk(const struct hub_deposits *deposits, const char *path,
                                              uint64_t more, struct hub_error *err);
/**
 * Whether so many bytes more may wait for a commit, beside all that do: HUB_NO_SPACE "no-space".
 * @param but  the name of a file of parts that does not count, for it is what more is asked for; NULL: none
 */
HUB_MUST_USE enum hub_status hub_room_to_wait(const struct hub_deposits *deposits, uint64_t more,
                                              const char *but, struct hub_error *err);

#endif
