/**
 * Epochs: the folders that xorbs wait in, XORBS/KEY-NUMBER. A client remembers for weeks which xorbs it sent
 * to an address, and does not send them to it again; so a xorb is never dropped alone, but with its whole
 * epoch, whose name is in the address: what follows has another one, and the client sends everything again.
 *
 * `xorbs` is the open folder of all; it is the hub's own. Safe from any thread, on one machine.
 */
#ifndef HUB_XET_EPOCHS_H
#define HUB_XET_EPOCHS_H

#include "storage/base/buf.h"

enum { HUB_EPOCH_KEY = 16, HUB_EPOCH_NAME = HUB_EPOCH_KEY + 1 + 16, HUB_EPOCH_DAYS = 7 };

/** What is a writer's of one repo: nobody else's xorbs come into its files. */
HUB_MUST_USE enum hub_status hub_epoch_key(const char *who, const char *repo, char out[HUB_EPOCH_KEY + 1],
                                           struct hub_error *err);
/** The present epoch of a key; where there is none, a new one. It counts as used now. */
HUB_MUST_USE enum hub_status hub_epoch_find(int xorbs, const char *key, char out[HUB_EPOCH_NAME + 1],
                                            struct hub_error *err);
/** Open one: HUB_NOT_FOUND when it has ended. */
HUB_MUST_USE enum hub_status hub_epoch_open(int xorbs, struct hub_view name, int *fd, struct hub_error *err);
/** Remove it with its xorbs. One that has ended is no mistake. */
void hub_epoch_end(int xorbs, const char *name);
/**
 * End epochs that were not used for HUB_EPOCH_DAYS, then those that were not used for longest, until all
 * together take no more than `budget` bytes on the disk; `keep`, unless it is NULL, is not ended.
 * @return HUB_NO_SPACE "no-space": what is kept takes more
 */
HUB_MUST_USE enum hub_status hub_epochs_fit(int xorbs, uint64_t budget, const char *keep,
                                            struct hub_error *err);

#endif
