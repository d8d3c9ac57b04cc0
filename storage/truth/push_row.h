/** Commits of repos within a transaction; for pushes.c and push.c. */
#ifndef HUB_TRUTH_PUSH_ROW_H
#define HUB_TRUTH_PUSH_ROW_H

#include "storage/truth/repos.h"

struct hub_db;

#define HUB_PUSH_COLUMNS                                                                                     \
    "c.id, c.parent, c.line, c.number, c.who, c.title, c.message, c.reason, c.at, c.state"

/** HUB_NOT_FOUND "revision-not-found". */
enum hub_status hub_push_none(const char *repo, struct hub_view name, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_push_named_in(struct hub_db *db, const char *repo, struct hub_view name,
                                               struct hub_push *out, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_push_file_in(struct hub_db *db, const struct hub_push *push,
                                              const char *path, struct hub_push_file *out,
                                              struct hub_error *err);
HUB_MUST_USE enum hub_status hub_push_object_in(struct hub_db *db, const char *repo,
                                                struct hub_push_file *out, struct hub_error *err);
/** `root` as hub.db calls it. */
HUB_MUST_USE enum hub_status hub_push_object_shared_in(struct hub_db *db, const char *root,
                                                       struct hub_repo_sharing sharing,
                                                       struct hub_push_file *out, struct hub_error *err);

#endif
