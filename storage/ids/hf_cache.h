/**
 * The cache of huggingface_hub as a folder of datasets: `hub/datasets--ORG--NAME` has `snapshots/COMMIT`,
 * whose files are links into `blobs`, and `refs/main`, which names the commit. Its datasets are called as on
 * Hugging Face: ORG/NAME. Kept revisions of this hub's own datasets (kept.h) are called in the same way.
 */
#ifndef HUB_IDS_HF_CACHE_H
#define HUB_IDS_HF_CACHE_H

#include "storage/base/buf.h"

/** The folder of snapshots in one of a repo. */
#define HUB_HF_SNAPSHOTS "snapshots"

/** Is a folder called as that of a repo: "datasets--lab--plans", "models--..." or "spaces--..."? */
bool hub_hf_cache_repo(struct hub_view name);

/**
 * What a path below a root is called: "hub/datasets--lab--plans/snapshots/COMMIT/x" is "lab/plans/x", or with
 * `commit` "lab/plans@COMMIT/x". A repo of models or spaces keeps the name of its folder, any other path is
 * itself; ".minari-hub/kept/lab/arm-v0@COMMIT" is "lab/arm-v0", or itself behind "kept". Appends.
 */
HUB_MUST_USE enum hub_status hub_hf_cache_name(struct hub_view path, bool commit, struct hub_buf *out,
                                               struct hub_error *err);

/** The commit of the snapshot, or of the kept revision, that a path lies in; empty: it lies in none.
 * Borrows `path`. */
struct hub_view hub_hf_cache_commit(struct hub_view path);

/** The folder of the repo that a path lies in; empty: it lies in no snapshot of one. Borrows `path`. */
struct hub_view hub_hf_cache_folder(struct hub_view path);

/** The "@" in an id like "lab/plans@COMMIT/x" of a dataset at `path`; NULL: the id names no commit. */
const char *hub_hf_cache_at(const char *id, const char *path);

#endif
