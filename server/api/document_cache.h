/**
 * Documents of datasets that are kept ready as bytes while what they show is unchanged, so that a hot one
 * costs a lookup and many slow readers of one share its memory.
 */
#ifndef HUB_API_DOCUMENT_CACHE_H
#define HUB_API_DOCUMENT_CACHE_H

#include "server/api/resolve.h"
#include "server/api/response_cache.h"
#include "server/api/work.h"

/** What of a document changes no more while the dataset is the same. */
struct hub_document_facts {
    bool hashed, measured;
};

/** A kind of document: how it is written, and when a ready one is out of date. */
struct hub_document_kind {
    enum hub_cached_response_kind plain, gzip; /* as it is kept */
    enum hub_work_of work;                     /* that writing it goes through */
    /** Names the states that it shows, by their serials. What is published elsewhere leaves it as it is. */
    uint64_t (*states)(const struct hub_snapshot *snapshot, const struct hub_summary *summary);
    double (*cost_us)(const struct hub_dataset *dataset);
    /** What writing takes besides the text. */
    uint64_t (*memory_bytes)(const struct hub_dataset *dataset);
    enum hub_status (*write)(struct hub_truth *truth, const struct hub_state *state,
                             const struct hub_target *target, struct hub_buf *out,
                             struct hub_document_facts *known, struct hub_error *err);
};

/** Answer with a document of the dataset, ready or built; gzip where it is accepted and worth it. HUB_AGAIN
 * on an event thread when it has to be built. */
HUB_MUST_USE enum hub_status hub_document_answer(struct hub_request *request, const struct hub_target *target,
                                                 const struct hub_document_kind *kind,
                                                 struct hub_response *response, struct hub_error *err);

#endif
