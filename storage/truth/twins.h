/** Files of a draft whose paths a file system may take for one; for drafts.c. */
#ifndef HUB_TRUTH_TWINS_H
#define HUB_TRUTH_TWINS_H

#include "storage/truth/hubdb.h"

/**
 * May a file of this path lie beside those that are stated of the draft? Within a transaction.
 *
 * @param folded  the path by hub_path_fold
 * @return HUB_INVALID names another file: of the same path but for case or normal form, with a folder that
 * is, or one of them is a folder of the other
 */
HUB_MUST_USE enum hub_status hub_twins_check(struct hub_db *db, const char *draft, const char *path,
                                             struct hub_view folded, struct hub_error *err);

#endif
