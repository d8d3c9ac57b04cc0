/**
 * Where mirrored datasets came from, in hub.db: the remote's revision, and of each file its generation,
 * ETag and digests. Safe from any thread.
 */
#ifndef HUB_TRUTH_UPSTREAM_H
#define HUB_TRUTH_UPSTREAM_H

#include "storage/model/file_facts.h"
#include "storage/truth/jobs.h"

struct hub_upstream {
    const char *rule, *remote, *id, *revision; /* as they are there */
    int64_t synced_ms,
        changed_ms;      /* Unix time; when it was last found the same or made so; 0: it never did */
    bool stale;          /* the remote lists something else by now */
    int64_t gone_ms;     /* since when it is no more there; 0: it is */
    int64_t unlisted_ms; /* since when its rule no longer lists it though it is there; 0: it does */
    const char *was;     /* the revision before the change, or "" */
    uint64_t added, replaced, removed; /* files, by the last change */
    /* sorted by path bytes, read without their pieces; NULL where they were not asked for */
    struct hub_file_facts *files;
    uint32_t file_count;
    char *texts; /* its own, where it was read */
};
/** Frees what was read; the caller frees what it filled in itself. */
void hub_upstream_dispose(struct hub_upstream *upstream);

/** Of the dataset at `path` below a root. HUB_NOT_FOUND: it is no mirror's. */
HUB_MUST_USE enum hub_status hub_upstream_find(struct hub_truth *truth, uint32_t root, const char *path,
                                               bool with_files, struct hub_upstream *out,
                                               struct hub_error *err);
/**
 * The copy that a dataset is, or of which it is a part: a remote that keeps only files may be copied as one
 * tree, in which the hub finds datasets of its own. HUB_NOT_FOUND: it is no mirror's, or no file of the copy
 * lies below `path`.
 *
 * @param[out] below the dataset's folder in the copy, the end of `path`; "": it is the copy itself. Of a part
 * the files below it alone are read
 */
HUB_MUST_USE enum hub_status hub_upstream_around(struct hub_truth *truth, uint32_t root, const char *path,
                                                 bool with_files, struct hub_upstream *out,
                                                 struct hub_view *below, struct hub_error *err);
/** Append the pieces of one file. */
HUB_MUST_USE enum hub_status hub_upstream_pieces(struct hub_truth *truth, uint32_t root, const char *dataset,
                                                 const char *path, struct hub_buf *out,
                                                 struct hub_error *err);
/**
 * A dataset was published as `upstream` says: rule, remote, id, revision, files; what changed is worked out
 * here. HUB_DENIED "fenced": the lease is lost, nothing is stored.
 */
HUB_MUST_USE enum hub_status hub_upstream_store(struct hub_truth *truth, struct hub_lease lease,
                                                uint32_t root, const char *path,
                                                const struct hub_upstream *upstream, struct hub_error *err);

struct hub_upstream_seen {
    const char *path;
    bool same; /* as the copy */
};
/** A pass of a rule found these. When it began is its name and no more: clocks jump. */
HUB_MUST_USE enum hub_status hub_upstream_seen(struct hub_truth *truth, const char *rule, int64_t begun_ms,
                                               uint32_t root, const struct hub_upstream_seen *seen,
                                               size_t count, struct hub_error *err);
/** A copy that the last pass of its rule did not see. Texts live until the callback returns. */
struct hub_upstream_unseen {
    uint32_t root; /* HUB_NONE: the hub has no such root now */
    const char *path, *remote, *id;
    bool gone, unlisted; /* what an earlier pass said of it */
};
typedef enum hub_status (*hub_upstream_each)(void *user, const struct hub_upstream_unseen *copy,
                                             struct hub_error *err);
/** Hand over what of a rule the pass that began at `begun_ms` did not see, in order of the paths. */
HUB_MUST_USE enum hub_status hub_upstream_unseen_each(struct hub_truth *truth, const char *rule,
                                                      int64_t begun_ms, hub_upstream_each each, void *user,
                                                      struct hub_error *err);
/** Write down what became of a copy that was not seen: it is `gone` from the remote, or only unlisted. */
HUB_MUST_USE enum hub_status hub_upstream_mark(struct hub_truth *truth, uint32_t root, const char *path,
                                               bool gone, struct hub_error *err);
/** The copy is removed: nothing is known of it any more. */
HUB_MUST_USE enum hub_status hub_upstream_forget(struct hub_truth *truth, uint32_t root, const char *path,
                                                 struct hub_error *err);
/** A copy that was made by a rule. Texts live until the callback returns. */
struct hub_copy {
    uint32_t root;
    const char *path, *remote_id;
    uint64_t size;
    int64_t read_ms, seen_ms; /* Unix time: when it was last read, or made; when the remote last listed it */
    bool stale, gone;         /* the remote lists something else; it lists it no more */
};
typedef enum hub_status (*hub_copy_each)(void *user, const struct hub_copy *copy, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_copies_each(struct hub_truth *truth, const char *rule, hub_copy_each each,
                                             void *user, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_copy_read(struct hub_truth *truth, uint32_t root, const char *path,
                                           int64_t read_ms, struct hub_error *err);

/** Grows with each change since the start: for answers that are kept ready. */
uint64_t hub_upstream_generation(const struct hub_truth *truth);

#endif
