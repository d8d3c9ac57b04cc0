/** A commit that is added to a branch of a repo: what it changes, in one step. */
#ifndef HUB_TRUTH_PUSH_H
#define HUB_TRUTH_PUSH_H

#include "storage/truth/repos.h"

enum hub_change_kind {
    HUB_CHANGE_PUT,    /* a file of an object that its sender deposited, that the repo has, or a shared one */
    HUB_CHANGE_DELETE, /* nothing there is fine */
    HUB_CHANGE_EMPTY,  /* delete all below a folder; "" is all */
};

/** Texts are the caller's. */
struct hub_change {
    enum hub_change_kind kind;
    const char *path;
    uint8_t sha256[HUB_SHA256_BYTES];
    bool lfs;
};

struct hub_push_order {
    const char *repo, *branch, *who, *title, *message;
    const char *parent; /* that the head must be; NULL: any */
    const char *name;   /* of the commit, which is one without a change, too; NULL: a new one */
    const struct hub_change *changes;
    uint32_t count;
    uint32_t root; /* where the objects are */
    struct hub_repo_sharing sharing;
};

/**
 * Add a commit. Later changes of a path win. One that changes nothing is none: `out` is the head then, also
 * where `parent` is the one before the head, for its answer may have been lost. A `name` that another commit
 * has is not taken: the commit gets a new one.
 * @return HUB_CHANGED "commit-conflict": the head is not `parent`; HUB_NOT_FOUND "revision-not-found": there
 * is no such branch; HUB_INVALID: a path is a folder of another one, or an object was not sent
 */
HUB_MUST_USE enum hub_status hub_push_add(struct hub_truth *truth, const struct hub_push_order *order,
                                          struct hub_push *out, struct hub_error *err);

#endif
