/* See hf_room.h. */
#include "server/facade/hf_room.h"

#include <inttypes.h>
#include <string.h>

struct room_search {
    const char *repo;
    struct hub_hf_room *room;
};

static enum hub_status note_quota(void *user, const struct hub_quota *quota, uint64_t used,
                                  struct hub_error *err)
{
    const struct room_search *f = user;
    const uint64_t left = quota->bytes > used ? quota->bytes - used : 0;
    (void)err;
    if (hub_view_starts(hub_view_of(f->repo), quota->prefix) && left < f->room->left)
        *f->room = (struct hub_hf_room){left, quota->prefix};
    return HUB_OK;
}

enum hub_status hub_hf_room_find(struct hub_truth *truth, const char *repo, struct hub_hf_room *out,
                                 struct hub_error *err)
{
    struct room_search f = {repo, out};
    *out = (struct hub_hf_room){.left = UINT64_MAX};
    return hub_quotas_each(truth, note_quota, &f, err);
}

enum hub_status hub_hf_room_take(struct hub_hf_room *room, uint64_t bytes, const char *what,
                                 struct hub_error *err)
{
    if (!room->prefix)
        return HUB_OK;
    if (bytes > room->left)
        return hub_fail_as(err, HUB_NO_SPACE, HUB_PROBLEM_QUOTA_EXCEEDED,
                           "the quota of '%.200s' has room for %" PRIu64
                           " bytes more, and %.300s has %" PRIu64,
                           room->prefix, room->left, what, bytes);
    room->left -= bytes;
    return HUB_OK;
}
