/** The spelling under which file systems of other machines may take two paths for one and the same. */
#ifndef HUB_TRUTH_FOLD_H
#define HUB_TRUTH_FOLD_H

#include "storage/base/buf.h"

/**
 * Append a path as such file systems compare it: each segment in NFC and without the case of its letters, by
 * Unicode's full case folding. So the folded name of a folder is the beginning of those of its files. Safe
 * from any thread.
 *
 * @param path  UTF-8
 * @return HUB_INVALID: it is not UTF-8
 */
HUB_MUST_USE enum hub_status hub_path_fold(struct hub_view path, struct hub_buf *out, struct hub_error *err);

#endif
