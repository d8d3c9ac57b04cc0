/** Proof of what a child says: every frame is checked against the job and record.h before it is kept. */
#ifndef HUB_INSPECT_PROOF_H
#define HUB_INSPECT_PROOF_H

#include "storage/inspect/inspect.h"
#include "storage/inspect/protocol.h"

enum { HUB_MAX_FINDINGS_TEXT = 512 * 1024 * 1024 }; /* bytes of texts and lists of one job */

/** Zero but for `job` and `found` to begin. `found` is disposed by the caller, whatever happens. */
struct hub_findings_reader {
    const struct hub_job *job;
    struct hub_findings *found;
    uint32_t capacity[8]; /* of the arrays of `found`, see proof.c */
    uint64_t text_bytes, layout_bytes, video_bytes;
    uint32_t layout_field; /* field of the layout that is being received, + 1; or 0 */
    size_t layout_got;
    uint32_t facts_seen;
    uint32_t listing_claim; /* the first claim on the listing that claims are about now */
};

/** One record frame. HUB_CORRUPT: a lie, the detail names it. */
HUB_MUST_USE enum hub_status hub_findings_take(struct hub_findings_reader *r, const struct hub_frame *frame,
                                               struct hub_error *err);

/** All frames are in: uniqueness, and the layouts against the real sizes. */
HUB_MUST_USE enum hub_status hub_findings_finish(struct hub_findings_reader *r, uint64_t side_size,
                                                 struct hub_error *err);

#endif
