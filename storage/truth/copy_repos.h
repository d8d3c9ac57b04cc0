/**
 * Repos in a copy of hub.db (copy.h): what remains of them where objects are lost. One thread at a time.
 */
#ifndef HUB_TRUTH_COPY_REPOS_H
#define HUB_TRUTH_COPY_REPOS_H

#include "storage/truth/objects.h"

/** Note that an object of a root is lost; within a transaction, also while objects are listed. */
HUB_MUST_USE enum hub_status hub_copy_object_lose(struct hub_db *db, const struct hub_named_object *object,
                                                  struct hub_error *err);

/** What a repo loses with its objects; texts live until the callback returns. */
struct hub_lost_commits {
    const char *repo;
    const char *refs; /* "branch dev, tag v1"; "": none */
    uint32_t commits;
    bool all; /* the repo itself is forgotten, as its branch "main" is among them */
};
typedef enum hub_status (*hub_lost_commits_each)(void *user, const struct hub_lost_commits *lost,
                                                 struct hub_error *err);
/** Forget the commits that name a lost object, and the branches and tags at them: so no row names an object
 * that is not there. */
HUB_MUST_USE enum hub_status hub_copy_objects_forget(struct hub_db *db, hub_lost_commits_each each,
                                                     void *user, struct hub_error *err);

#endif
