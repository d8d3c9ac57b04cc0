/**
 * Renamed datasets in hub.db: their former ids, which lead to the new one, and the moves of files that a
 * rename has begun. Safe from any thread.
 */
#ifndef HUB_TRUTH_ALIASES_H
#define HUB_TRUTH_ALIASES_H

#include "storage/truth/commits.h"

/** Files that move with the id of a dataset. Texts live until the callback returns. */
struct hub_move {
    int64_t number;
    const char *dataset;   /* its new id */
    uint32_t root;         /* UINT32_MAX: no root that is served now */
    const char *from, *to; /* below the root */
};

/**
 * Rename a dataset: its commits, its alias, the move of its files and a row of the audit, at once.
 * @param head  its newest commit
 * @param move  `number` is written
 * @return HUB_CHANGED "commit-conflict": another one is the newest; HUB_EXISTS: the new id has commits, which
 * are those of a dataset that was deleted; HUB_NO_SPACE "quota-exceeded": it does not fit below a prefix of
 * the new id (quotas.h)
 */
HUB_MUST_USE enum hub_status hub_dataset_rename(struct hub_truth *truth, const struct hub_commit *head,
                                                const char *who, struct hub_move *move,
                                                struct hub_error *err);
/** The files of a move are in their new place. */
HUB_MUST_USE enum hub_status hub_move_done(struct hub_truth *truth, int64_t number, struct hub_error *err);
typedef enum hub_status (*hub_move_each)(void *user, const struct hub_move *move, struct hub_error *err);
/** Those that are not done, the oldest first. */
HUB_MUST_USE enum hub_status hub_moves_each(struct hub_truth *truth, hub_move_each each, void *user,
                                            struct hub_error *err);

/** Append the id that a former one leads to. HUB_NOT_FOUND (without an error): it is none. Cheap while no
 * dataset was ever renamed; else it reads hub.db. */
enum hub_status hub_alias_find(struct hub_truth *truth, const char *id, struct hub_buf *out,
                               struct hub_error *err);
/** Whether hub_alias_find reads hub.db. */
bool hub_alias_any(struct hub_truth *truth);

#endif
