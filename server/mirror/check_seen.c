/* Files that a check read by another name: see check_run.h. A table with open places. */
#include "server/mirror/check_run.h"

#include <stdlib.h>

enum { FIRST_ROOM = 1024, MOST_ROOM = 8 * 1024 * 1024 };

static struct hub_check_seen *place_of(struct hub_check_seen *table, uint32_t room,
                                       const struct hub_stamp *stamp)
{
    uint64_t at = hub_hash(HUB_HASH_START, (const char *)stamp, sizeof *stamp);
    while (table[at & (room - 1)].stamp.size && !hub_stamp_equal(&table[at & (room - 1)].stamp, stamp))
        at++;
    return &table[at & (room - 1)];
}

const struct hub_file_digests *hub_check_find_seen(const struct hub_check_run *c,
                                                   const struct hub_stamp *stamp)
{
    const struct hub_check_seen *seen = c->seen_room ? place_of(c->seen, c->seen_room, stamp) : NULL;
    return seen && seen->stamp.size ? &seen->digests : NULL;
}

static bool make_room(struct hub_check_run *c)
{
    struct hub_check_seen *more;
    const uint32_t room = c->seen_room ? 2 * c->seen_room : FIRST_ROOM;
    if (2 * c->seen_count < c->seen_room)
        return true;
    if (room > MOST_ROOM || !(more = calloc(room, sizeof *more)))
        return false; /* then they are read again */
    for (uint32_t i = 0; i < c->seen_room; i++)
        if (c->seen[i].stamp.size)
            *place_of(more, room, &c->seen[i].stamp) = c->seen[i];
    free(c->seen);
    c->seen = more;
    c->seen_room = room;
    return true;
}

void hub_check_add_seen(struct hub_check_run *c, const struct hub_stamp *stamp,
                        const struct hub_file_digests *digests)
{
    if (!stamp->size || !make_room(c))
        return;
    *place_of(c->seen, c->seen_room, stamp) = (struct hub_check_seen){*stamp, *digests};
    c->seen_count++;
}
