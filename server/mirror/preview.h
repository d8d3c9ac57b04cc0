/** What a rule that is not made yet would take, for the admin who is asked whether to make it. */
#ifndef HUB_MIRROR_PREVIEW_H
#define HUB_MIRROR_PREVIEW_H

#include "server/mirror/spec.h"

struct hub_mirror_preview {
    uint64_t datasets, bytes;
    uint64_t copies; /* of these without loose files around others and what a collector left behind */
    json_t *formats; /* how many of the datasets have each */
    struct hub_remote_left left; /* what it would not take */
};
/** hub_mirror_preview_dispose `out`, also after an error. */
HUB_MUST_USE enum hub_status hub_mirror_preview(const json_t *spec, struct hub_mirror_preview *out,
                                                struct hub_error *err);
void hub_mirror_preview_dispose(struct hub_mirror_preview *preview);

#endif
