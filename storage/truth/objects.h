/** Objects by the rows that name them. Safe from any thread, but for what is of one connection. */
#ifndef HUB_TRUTH_OBJECTS_H
#define HUB_TRUTH_OBJECTS_H

#include "storage/base/digest.h"
#include "storage/sqlite/db.h"
#include "storage/truth/truth.h"

/** Texts live until the callback returns. */
struct hub_named_object {
    const char *repo, *root; /* id; key */
    uint64_t size;
    uint8_t sha256[HUB_SHA256_BYTES];
};
typedef enum hub_status (*hub_named_object_each)(void *user, const struct hub_named_object *object,
                                                 struct hub_error *err);
/** Each object that commits of a repo name, once, by repo and digest; of an open hub.db, or a copy of it. */
HUB_MUST_USE enum hub_status hub_named_objects_in(struct hub_db *db, hub_named_object_each each, void *user,
                                                  struct hub_error *err);
HUB_MUST_USE enum hub_status hub_named_objects_each(struct hub_truth *truth, hub_named_object_each each,
                                                    void *user, struct hub_error *err);

/** Append which file of a repo an object is: "commit 1234567 has it as 'meta/info.json'", of the newest
 * commit with it. HUB_NOT_FOUND: none has it any more. */
HUB_MUST_USE enum hub_status hub_object_need(struct hub_truth *truth, const char *repo,
                                             const uint8_t sha256[HUB_SHA256_BYTES], struct hub_buf *out,
                                             struct hub_error *err);
/** Whether a commit names an object, or it waits in the root for one. */
HUB_MUST_USE enum hub_status hub_object_is_named(struct hub_truth *truth, uint32_t root,
                                                 const uint8_t sha256[HUB_SHA256_BYTES], bool *out,
                                                 struct hub_error *err);

#endif
