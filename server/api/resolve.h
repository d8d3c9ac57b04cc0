/**
 * From the {id} of a request to a dataset: exact id or alias of the newest version, pinned revision, status,
 * validators. What a target borrows lives until it is disposed, which the handler does at its end.
 */
#ifndef HUB_API_RESOLVE_H
#define HUB_API_RESOLVE_H

#include "server/api/app.h"
#include "server/mirror/pull.h"

struct hub_remote_view;

struct hub_target {
    const struct hub_snapshot *snapshot; /* the one it was found in: the target's reference */
    const struct hub_summary *summary;   /* of the snapshot, then of the state that was opened */
    struct hub_state state;              /* as far as it was asked for: hub_resolve */
    struct hub_remote_view
        *view;    /* NULL, or its files by remote_view.h: who sets it has it put with the target */
    bool alias;   /* the id had no version: Content-Location names the full one */
    bool passing; /* the answer is not to be had again: no-store */
    bool pinned;  /* ?revision= was given: what is opened is of that revision, and the answer immutable */
    bool commit;  /* ?revision= named a commit, whose dataset this is: files of it may still be fetched */
};

/** Of a zeroed one: nothing. */
void hub_target_dispose(struct hub_target *target);

/** How far a target is opened. */
enum hub_resolve_to {
    HUB_TO_SUMMARY,   /* state: nothing */
    HUB_TO_DATASET,   /* state.dataset */
    HUB_TO_STATE,     /* the database too: HUB_AGAIN on an event thread */
    HUB_TO_READY = 4, /* beside these: it can answer for its episodes */
    HUB_TO_REMOTE =
        8, /* beside HUB_TO_SUMMARY: one that an upstream has as well. Without it that is fetched */
    HUB_TO_SEVERAL = 16, /* beside these: the answer reads the datasets resolved before as well */
};

/**
 * What every handler of a dataset begins with: find the dataset in the snapshot
 * (HUB_NOT_FOUND "dataset-not-found", whose problem lists versions and nearest ids; HUB_INVALID "bad-id") and
 * open it. The catalogue may be a little ahead of the snapshot; the target is then brought to the state that
 * was opened, so that validators never name another state than the bytes. HUB_CHANGED "revision-gone" when
 * that is not the pinned one. Not ready: HUB_BUSY "pending" (it is inspected next, and the problem says how
 * far that is), HUB_UNSUPPORTED "dataset-broken".
 */
HUB_MUST_USE enum hub_status hub_resolve(struct hub_request *request, struct hub_response *response,
                                         unsigned to, struct hub_target *out, struct hub_error *err);

/** HUB_TO_DATASET of one that was found otherwise, in the snapshot that the target holds. */
HUB_MUST_USE enum hub_status hub_resolve_summary(struct hub_request *request,
                                                 const struct hub_summary *summary, struct hub_target *target,
                                                 struct hub_error *err);

/** Keep the dataset from being evicted until the last byte of the answer was sent, and the one before no
 * longer. Functions here that resolve to a dataset call it themselves. */
void hub_resolve_begin_reading(struct hub_request *request, const struct hub_summary *summary);

/** How far a dataset is that comes from an upstream: for the problem document. */
void hub_resolve_progress(struct hub_response *response, const struct hub_pull_progress *progress);

/** The same of an id that is not in the path; of terminated text. */
HUB_MUST_USE enum hub_status hub_resolve_id(struct hub_request *request, struct hub_response *response,
                                            struct hub_view id, unsigned to, struct hub_target *out,
                                            struct hub_error *err);

/** The episode that {n} names: HUB_NOT_FOUND "episode-missing". */
HUB_MUST_USE enum hub_status hub_find_episode(const struct hub_request *request,
                                              const struct hub_dataset *dataset,
                                              const struct hub_dataset_episode **out, struct hub_error *err);

/** ?for=, a release of the dataset's library: data NULL when absent. HUB_INVALID "bad-parameter" when it is
 * no version. */
HUB_MUST_USE enum hub_status hub_resolve_release(const struct hub_request *request, struct hub_view *out,
                                                 struct hub_error *err);

/** The newest state of a target's dataset, for answers that may not need it: as HUB_TO_STATE. */
HUB_MUST_USE enum hub_status hub_resolve_state(struct hub_request *request, struct hub_target *target,
                                               struct hub_state *out, struct hub_error *err);
/** A state of this revision ("" or NULL: none) may answer the request. */
bool hub_resolve_has_revision(const struct hub_request *request, const char *revision);

/** Cache-Control, and Content-Location where an alias was used. */
HUB_MUST_USE enum hub_status hub_resolve_headers(struct hub_request *request, const struct hub_target *target,
                                                 struct hub_response *response, struct hub_error *err);

/** Answer 304 or 412 where the request's conditions say so: sets `*done` when `response` is complete. Sets
 * ETag (and Last-Modified) always. */
HUB_MUST_USE enum hub_status hub_resolve_conditions(struct hub_request *request,
                                                    struct hub_response *response, const char *etag,
                                                    int64_t modified_s, bool *done, struct hub_error *err);

#endif
