/** Inside of publish.c and withdraw.c: a dataset's place, and where what was there goes. */
#ifndef HUB_TRANSFER_MOVE_H
#define HUB_TRANSFER_MOVE_H

#include "storage/io/fs.h"
#include "storage/transfer/private.h"

#include <limits.h>

/* of folders in a dataset, and of the names in one */
enum { HUB_MOVE_DEPTH = 64, HUB_MOVE_FILES = 10000000 };

/* A dataset's place, and a place for what was there: in the trash, or where it is kept. */
struct hub_tree_move {
    int parent; /* the folder that holds the dataset */
    const char *name;
    int trash;
    char old[NAME_MAX + 1]; /* in the trash */
    const char *keep;       /* NULL: the trash it is */
};

/** `keep` of the move is set, or NULL. End it. */
HUB_MUST_USE enum hub_status hub_tree_move_begin(const struct hub_private *place, const char *id, bool make,
                                                 struct hub_tree_move *m, struct hub_error *err);
void hub_tree_move_end(struct hub_tree_move *m);
/** Open the folder that is to hold a kept tree; its name there. */
HUB_MUST_USE enum hub_status hub_kept_parent(const struct hub_private *place, const char *keep, bool make,
                                             int *fd, const char **name, struct hub_error *err);
bool hub_is_there(int directory, const char *name);
HUB_MUST_USE enum hub_status hub_sync_both(int a, int b, struct hub_error *err);
/** Fail with "not-a-dataset". */
enum hub_status hub_not_a_dataset(const char *id, enum hub_status status, struct hub_error *err);

#endif
