/**
 * Repos in hub.db: what is pushed commit by commit, as clients of Hugging Face do. Each commit can be read at
 * once, whether or not a dataset comes of it; which do is its state. Safe from any thread.
 */
#ifndef HUB_TRUTH_REPOS_H
#define HUB_TRUTH_REPOS_H

#include "storage/base/digest.h"
#include "storage/truth/commits.h"

enum hub_push_state {
    HUB_PUSH_WAITING, /* for its inspection */
    HUB_PUSH_READY,   /* it is the dataset, or was */
    HUB_PUSH_BROKEN,
    HUB_PUSH_FILES,   /* no format claims its files */
    HUB_PUSH_REFUSED, /* the hub cannot put it in its place: the reason says why */
    HUB_PUSH_PASSED,  /* another commit followed before it was inspected */
};
/** "waiting", "ready", "broken", "files", "refused", "passed", NULL. */
extern const char *const hub_push_states[];

/** Texts of one that is found are its own. */
struct hub_repo_row {
    char *id, *path, *who;
    uint32_t root; /* UINT32_MAX: no root that is served now */
    int64_t made_ms;
};
void hub_repo_row_dispose(struct hub_repo_row *row);

/** A commit of a repo. Texts of one that is found are its own, of one of a list the list's. */
struct hub_push {
    char id[HUB_COMMIT_ID + 1], parent[HUB_COMMIT_ID + 1];
    int64_t line, number; /* where its files are found */
    char *who, *title, *message, *reason;
    int64_t at_ms;
    enum hub_push_state state;
};
void hub_push_dispose(struct hub_push *push);

/** Whether there is any repo. */
bool hub_repos_any(struct hub_truth *truth);
/** Make one, with a branch "main" and a first commit without files. HUB_EXISTS: it is there. */
HUB_MUST_USE enum hub_status hub_repo_add(struct hub_truth *truth, const struct hub_repo_row *row,
                                          struct hub_error *err);
/** HUB_NOT_FOUND "dataset-not-found". */
HUB_MUST_USE enum hub_status hub_repo_find(struct hub_truth *truth, const char *id, struct hub_repo_row *out,
                                           struct hub_error *err);
typedef enum hub_status (*hub_repo_each)(void *user, const struct hub_repo_row *row, struct hub_error *err);
/** All, by their ids. */
HUB_MUST_USE enum hub_status hub_repos_each(struct hub_truth *truth, hub_repo_each each, void *user,
                                            struct hub_error *err);
/** Forget it with its commits. One that is gone is no mistake. */
HUB_MUST_USE enum hub_status hub_repo_forget(struct hub_truth *truth, const char *id, const char *who,
                                             struct hub_error *err);
/** Give it another id and place. HUB_EXISTS: there is one of that id. */
HUB_MUST_USE enum hub_status hub_repo_rename(struct hub_truth *truth, const char *id,
                                             const struct hub_repo_row *to, struct hub_error *err);

/* ---- refs ---- */

struct hub_ref {
    const char *kind; /* "branch", "tag" */
    const char *name, *push;
};
typedef enum hub_status (*hub_ref_each)(void *user, const struct hub_ref *ref, struct hub_error *err);
/** By kind and name. */
HUB_MUST_USE enum hub_status hub_refs_each(struct hub_truth *truth, const char *repo, hub_ref_each each,
                                           void *user, struct hub_error *err);
/** Make a branch or a tag at a commit. HUB_EXISTS. */
HUB_MUST_USE enum hub_status hub_ref_add(struct hub_truth *truth, const char *repo, const char *kind,
                                         const char *name, const struct hub_push *at, struct hub_error *err);
/** HUB_NOT_FOUND "revision-not-found". */
HUB_MUST_USE enum hub_status hub_ref_remove(struct hub_truth *truth, const char *repo, const char *kind,
                                            const char *name, struct hub_error *err);

/* ---- commits ---- */

/** The commit that a branch, a tag or the first digits of an id (7 or more) name. HUB_NOT_FOUND
 * "revision-not-found". */
HUB_MUST_USE enum hub_status hub_push_named(struct hub_truth *truth, const char *repo, struct hub_view name,
                                            struct hub_push *out, struct hub_error *err);
/** The newest one of a repo's branch "main" that is ready. HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_push_published(struct hub_truth *truth, const char *repo,
                                                struct hub_push *out, struct hub_error *err);
typedef enum hub_status (*hub_push_each)(void *user, const struct hub_push *push, struct hub_error *err);
/** A commit and those of its line before it, the newest first; at most `limit`. */
HUB_MUST_USE enum hub_status hub_pushes_each(struct hub_truth *truth, const struct hub_push *from,
                                             uint32_t limit, hub_push_each each, void *user,
                                             struct hub_error *err);
/** What became of a commit. */
HUB_MUST_USE enum hub_status hub_push_turn(struct hub_truth *truth, int64_t number, enum hub_push_state state,
                                           const char *reason, struct hub_error *err);
/** The head of some repo's branch "main" that waits for its inspection, the oldest. Those that waited before
 * it are passed. HUB_NOT_FOUND: none does (without an error). */
HUB_MUST_USE enum hub_status hub_push_next(struct hub_truth *truth, struct hub_repo_row *repo,
                                           struct hub_push *out, struct hub_error *err);

/** Forget the files of commits that came before a time, Unix ms, and have `keep` newer ones on their branch,
 * or none any more; but for those that a branch or a tag names. */
HUB_MUST_USE enum hub_status hub_pushes_trim(struct hub_truth *truth, uint64_t keep, int64_t before_ms,
                                             struct hub_error *err);

/* ---- files ---- */

struct hub_push_file {
    const char *path; /* of one that is found: the caller's; of a list: the list's */
    uint64_t size;
    uint8_t sha256[HUB_SHA256_BYTES], sha1[HUB_SHA1_BYTES];
    bool has_sha1, lfs;
};
/** HUB_NOT_FOUND "file-not-found". */
HUB_MUST_USE enum hub_status hub_push_file_find(struct hub_truth *truth, const struct hub_push *push,
                                                const char *path, struct hub_push_file *out,
                                                struct hub_error *err);
typedef enum hub_status (*hub_push_file_each)(void *user, const struct hub_push_file *file,
                                              struct hub_error *err);
/** Those whose paths begin with `begins` and come at or after `from`, in order of their bytes, until `each`
 * says HUB_CANCELLED, which is no error. */
HUB_MUST_USE enum hub_status hub_push_files_each(struct hub_truth *truth, const struct hub_push *push,
                                                 const char *begins, const char *from,
                                                 hub_push_file_each each, void *user, struct hub_error *err);
/** Whether files whose paths begin with `begins` changed since the commit of the line that was ready last. */
HUB_MUST_USE enum hub_status hub_push_changes(struct hub_truth *truth, const struct hub_push *push,
                                              const char *begins, bool *out, struct hub_error *err);
/** Whether some commit of the repo has a file of this content; `out` has its size and digests then. */
HUB_MUST_USE enum hub_status hub_push_object_find(struct hub_truth *truth, const char *repo,
                                                  struct hub_push_file *out, struct hub_error *err);

/** Repos whose objects somebody may use elsewhere, for he can read them; `may` NULL: none. */
struct hub_repo_sharing {
    bool (*may)(const void *user, const char *repo);
    const void *user;
};
/** As hub_push_object_find, of any repo of a root that is shared. */
HUB_MUST_USE enum hub_status hub_push_object_shared(struct hub_truth *truth, uint32_t root,
                                                    struct hub_repo_sharing sharing,
                                                    struct hub_push_file *out, struct hub_error *err);

#endif
