/**
 * Files that a check found damaged: their bytes are not what they were, and nobody changed them. Beside them
 * files of the hub's own that somebody changed in place: they are not those of their commit, and are served
 * all the same. They are kept in hub.db and in memory, each with the stamp it was found at: a file with
 * another stamp is another file. Safe from any thread.
 */
#ifndef HUB_TRUTH_DAMAGE_H
#define HUB_TRUTH_DAMAGE_H

#include "storage/io/fs.h"
#include "storage/truth/truth.h"

struct hub_damage {
    uint32_t root;
    const char *path;    /* below the root */
    const char *dataset; /* the path of the folder it is a file of */
    struct hub_stamp stamp;
    bool served;     /* it was changed in place: "object-changed", else "file-damaged" */
    const char *why; /* one line: what is wrong, and the remedy */
};

/** The code of the problem that it is. */
const char *hub_damage_code(const struct hub_damage *damage);

HUB_MUST_USE enum hub_status hub_damage_put(struct hub_truth *truth, const struct hub_damage *damage,
                                            struct hub_error *err);
/** It is whole, or another file now. None is fine. */
HUB_MUST_USE enum hub_status hub_damage_clear(struct hub_truth *truth, uint32_t root, const char *path,
                                              struct hub_error *err);

/** May a file be read? HUB_CORRUPT "file-damaged" says why not. Cheap, never blocks for long. */
HUB_MUST_USE enum hub_status hub_damage_check(struct hub_truth *truth, uint32_t root, const char *path,
                                              const struct hub_stamp *stamp, struct hub_error *err);
/** The same as the `admit` of a store, whose first parameter is the struct hub_truth. */
HUB_MUST_USE enum hub_status hub_damage_admit(void *truth, uint32_t root, const char *path,
                                              const struct hub_stamp *stamp, struct hub_error *err);

/** Called with a lock held: for a look only. `damage` is borrowed. */
typedef void (*hub_damage_each_fn)(void *user, const struct hub_damage *damage);
/** Those of a dataset, by its path below a root; NULL: all. Sorted by root and path. Returns how many. */
uint32_t hub_damage_each(struct hub_truth *truth, uint32_t root, const char *dataset, hub_damage_each_fn each,
                         void *user);
/** How many of them are not served. */
uint32_t hub_damage_count(struct hub_truth *truth, uint32_t root, const char *dataset);
/** Forget those that are gone or others by now. Opens files: may block. */
void hub_damage_refresh(struct hub_truth *truth);
/** Grows with each change since the start: for answers that are kept ready. */
uint64_t hub_damage_generation(const struct hub_truth *truth);

#endif
