/**
 * Putting a finished tree where it belongs, so that readers see the old dataset, the new one, or none where
 * there was none: never a part or a mixture. What is replaced is kept where the caller says, or goes to the
 * trash of the private folder and stays there until hub_publish_recover, but for files that the new tree is
 * linked to. One lock keeps the processes that do any of this apart.
 */
#ifndef HUB_TRANSFER_PUBLISH_H
#define HUB_TRANSFER_PUBLISH_H

#include "storage/model/file_facts.h"
#include "storage/transfer/private.h"

/**
 * @param id       where it goes beneath the root; what is not a dataset there is never replaced
 * @param tree     the finished directory, relative to the private folder
 * @param replace  whether a dataset may be there: without it that is HUB_EXISTS
 * @param pair     do not exchange in one step even where the system can: a journalled pair of renames (tests)
 */
HUB_MUST_USE enum hub_status hub_publish(const struct hub_private *place, const char *id, const char *tree,
                                         bool replace, bool pair, struct hub_error *err);
/** The same where a dataset may be, which is moved to `keep`, relative to the private folder:
 * "kept/ID@COMMIT". Nothing is there. Where the move failed at its end, the old dataset is where `tree`
 * was: hub_publish_keep. */
HUB_MUST_USE enum hub_status hub_publish_keeping(const struct hub_private *place, const char *id,
                                                 const char *tree, const char *keep, bool pair,
                                                 struct hub_error *err);
/** Move a tree of the private folder to `keep`. Nothing there is fine, and so is one that is kept already. */
HUB_MUST_USE enum hub_status hub_publish_keep(const struct hub_private *place, const char *tree,
                                              const char *keep, struct hub_error *err);
/** Put a kept tree with what is to be removed (removed.h), and remove folders above it that are empty then.
 * Nothing there is fine. */
HUB_MUST_USE enum hub_status hub_publish_drop(const struct hub_private *place, const char *keep,
                                              struct hub_error *err);

/** Whether ROOT/ID may be replaced: HUB_EXISTS "not-a-dataset" when something else stands there. */
HUB_MUST_USE enum hub_status hub_publish_replaceable(const struct hub_private *place, const char *id,
                                                     struct hub_error *err);

/** Whether a dataset may be put there: HUB_EXISTS where one lies above it. */
HUB_MUST_USE enum hub_status hub_publish_above(const struct hub_private *place, const char *target,
                                               struct hub_error *err);
/** The same, and that nothing is there. */
HUB_MUST_USE enum hub_status hub_publish_free(const struct hub_private *place, const char *target,
                                              struct hub_error *err);

/** The files that were fetched into a dataset, beside its record: sorted by path bytes. */
struct hub_fetched {
    const struct hub_file_facts *files;
    size_t count;
};

/** Whether other files than its own lie in a dataset, beside its record. */
HUB_MUST_USE enum hub_status hub_publish_others(const struct hub_private *place, const char *id,
                                                const struct hub_fetched *own, bool *others,
                                                struct hub_error *err);

/** Move ROOT/ID to the trash, remove it, and remove the folders above it that hold nothing any more. Where it
 * holds more than was fetched, as another copy in a folder of it, that stays. HUB_NOT_FOUND
 * "dataset-not-found" or "not-a-dataset".
 *
 * @param fetched  NULL: all of it goes */
HUB_MUST_USE enum hub_status hub_withdraw(const struct hub_private *place, const char *id,
                                          const struct hub_fetched *fetched, struct hub_error *err);

/** Move ROOT/ID to `keep`, as hub_publish_keeping does, and remove the folders above it that hold nothing any
 * more. HUB_NOT_FOUND "dataset-not-found" or "not-a-dataset". */
HUB_MUST_USE enum hub_status hub_withdraw_keeping(const struct hub_private *place, const char *id,
                                                  const char *keep, struct hub_error *err);

/** Move ROOT/FROM to ROOT/TO, where nothing is (HUB_EXISTS), and remove the folders above it that hold
 * nothing any more. Where FROM is not there, nothing is done. */
HUB_MUST_USE enum hub_status hub_publish_move(const struct hub_private *place, const char *from,
                                              const char *to, struct hub_error *err);

/** Finish or undo a replacement that was interrupted, and empty the trash. Cheap where there is nothing to
 * do. */
HUB_MUST_USE enum hub_status hub_publish_recover(const struct hub_private *place, struct hub_error *err);

#endif
