/**
 * Commits in hub.db: what was published under an id, one row a publication, of which the newest is the head.
 * A row is added where the head is the one that is expected, so that of two who add to one id one fails.
 * Safe from any thread.
 */
#ifndef HUB_TRUTH_COMMITS_H
#define HUB_TRUTH_COMMITS_H

#include "storage/base/digest.h"
#include "storage/truth/truth.h"

enum { HUB_COMMIT_ID = 40 };

enum hub_commit_kind {
    HUB_COMMIT_PUBLISH,
    HUB_COMMIT_DELETE, /* the dataset has no files from then on */
    HUB_COMMIT_ADOPT,  /* of files that somebody put there by hand */
};
/** "publish", "delete", "adopt", NULL. */
extern const char *const hub_commit_kinds[];

/** Files of a commit beside those of its parent. */
struct hub_commit_changes {
    bool known;
    uint64_t added, changed, removed;
};

/** Texts of one that is read live until the callback returns, or until it is disposed of. */
struct hub_commit {
    char id[HUB_COMMIT_ID + 1], parent[HUB_COMMIT_ID + 1]; /* parent "": it is the first one */
    char tree[2 * HUB_SHA256_BYTES + 1];                   /* names all its files; "" of a deletion */
    enum hub_commit_kind kind;
    const char *dataset, *who, *message;
    uint32_t root;    /* UINT32_MAX: no root that is served now */
    const char *path; /* below the root */
    uint64_t files, bytes;
    struct hub_commit_changes changes;
    int64_t episodes, parent_episodes; /* -1: not known; of the parent only where it is read */
    int64_t at_ms, ended_ms;           /* Unix time; ended_ms 0: it is in its place */
    bool kept;                         /* its files lie in the folder of kept revisions */
};
/** Of one that hub_commit_head or hub_commit_named gave. */
void hub_commit_dispose(struct hub_commit *commit);

/** The newest one of a dataset. HUB_NOT_FOUND: it has none; of a dataset that was deleted it is the
 * deletion. */
HUB_MUST_USE enum hub_status hub_commit_head(struct hub_truth *truth, const char *dataset,
                                             struct hub_commit *out, struct hub_error *err);
/** One of a dataset, by its id or the first 7 digits of it or more, or by its tree: then the newest one.
 * HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_commit_named(struct hub_truth *truth, const char *dataset,
                                              struct hub_view name, struct hub_commit *out,
                                              struct hub_error *err);
/** Whether this is the head still, and nothing takes its place just now: HUB_CHANGED "commit-conflict",
 * HUB_BUSY "draft-busy". */
HUB_MUST_USE enum hub_status hub_commit_is_at_rest(struct hub_truth *truth, const struct hub_commit *head,
                                                   struct hub_error *err);
/** Counts up with each change of a head: what was written from heads is out of date then. */
uint64_t hub_commits_generation(const struct hub_truth *truth);
typedef enum hub_status (*hub_commit_each)(void *user, const struct hub_commit *commit,
                                           struct hub_error *err);
/** Those of a dataset, the newest first. */
HUB_MUST_USE enum hub_status hub_commits_each(struct hub_truth *truth, const char *dataset,
                                              hub_commit_each each, void *user, struct hub_error *err);
/** Those whose files are there: of each dataset the newest, unless it was deleted, and those that are
 * kept. */
HUB_MUST_USE enum hub_status hub_commits_with_files(struct hub_truth *truth, hub_commit_each each, void *user,
                                                    struct hub_error *err);
/** The newest one of each dataset, by their ids. */
HUB_MUST_USE enum hub_status hub_commits_heads(struct hub_truth *truth, hub_commit_each each, void *user,
                                               struct hub_error *err);
/** Its files are kept, or are so no longer. */
HUB_MUST_USE enum hub_status hub_commit_keep(struct hub_truth *truth, const char *id, bool kept,
                                             struct hub_error *err);
/** Name one: unlike any other, two of the same tree too. */
HUB_MUST_USE enum hub_status hub_commit_name(char out[HUB_COMMIT_ID + 1], struct hub_error *err);
/** Add one, named already, with its row of the audit; its parent has left its place, and is kept if its files
 * are. HUB_CHANGED "commit-conflict": the head is not its `parent`. */
HUB_MUST_USE enum hub_status hub_commit_add(struct hub_truth *truth, const struct hub_commit *commit,
                                            bool keep_parent, struct hub_error *err);
/** Add the commit of an adoption: the dataset holds its bytes from now on. HUB_BUSY "draft-busy": a draft is
 * being published there; HUB_CHANGED "commit-conflict" as above. */
HUB_MUST_USE enum hub_status hub_commit_adopt(struct hub_truth *truth, const struct hub_commit *commit,
                                              struct hub_error *err);

#endif
