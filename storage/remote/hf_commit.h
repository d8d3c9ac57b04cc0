/** A repo of Hugging Face at a commit, and the datasets in it: what hf.c and hf_commit.c share. */
#ifndef HUB_REMOTE_HF_COMMIT_H
#define HUB_REMOTE_HF_COMMIT_H

#include "storage/remote/found.h"

enum { HUB_HF_PAGE_BYTES = 64 * 1024 * 1024 };
#define HUB_HF_NAMESPACE_FILE "namespace_metadata.json"

/** What a remote of this kind has of its own. */
struct hub_hf {
    char *endpoint;              /* without a trailing slash */
    char *org, *repo, *revision; /* repo "": all of the organisation's; revision encoded */
    char *token;
};

/** A repo at a commit, to be disposed of. */
struct hub_hf_commit {
    struct hub_remote *remote;
    const char *repo;
    char sha[HUB_REVISION_CHARS + 1];
    int64_t modified_ns;
    struct hub_remote_files tree;
};
void hub_hf_commit_dispose(struct hub_hf_commit *p);

/** Which repo, and what of it is wanted. */
struct hub_hf_wish {
    const char *repo;
    bool named; /* it is a dataset, whatever is in it; else only one of Minari's, or a namespace of them */
    bool whole; /* also one that holds others */
    enum hub_remote_only only;
    struct hub_remote_left *left; /* or NULL: nobody asks for what else is in it */
};

/** Each item of a list in pages. Only the query of the next page's URL is taken over: no other host is
 * asked. */
HUB_MUST_USE enum hub_status
hub_hf_each(struct hub_remote *remote, const char *repo, const char *path, const char *query,
            enum hub_status (*fn)(const json_t *item, void *user, struct hub_error *err), void *user,
            struct hub_error *err);

HUB_MUST_USE enum hub_status hub_hf_commit_find(struct hub_hf_commit *p, struct hub_error *err);
/** The tree below a folder, "" for all; an empty one where there is no such folder. */
HUB_MUST_USE enum hub_status hub_hf_commit_list(struct hub_hf_commit *p, const char *folder, bool recursive,
                                                struct hub_error *err);
/** Where a file is; the path is encoded, and may be cut anywhere. */
HUB_MUST_USE enum hub_status hub_hf_commit_url(const struct hub_hf_commit *p, const char *folder,
                                               const char *path, struct hub_buf *url, struct hub_error *err);

/** Add the datasets of a repo. */
HUB_MUST_USE enum hub_status hub_hf_find_repo(struct hub_remote *remote, const struct hub_hf_wish *wish,
                                              struct hub_found_list *out, struct hub_error *err);

#endif
