/**
 * Namespaces in hub.db: those that were written through the hub, and where their folders are. What they say
 * of themselves is in their files. Each change has its row of the audit. Safe from any thread.
 */
#ifndef HUB_TRUTH_NAMESPACES_H
#define HUB_TRUTH_NAMESPACES_H

#include "storage/truth/truth.h"

/** Texts of one that is read live until the callback returns. */
struct hub_namespace_row {
    const char *name, *who; /* the last writer */
    uint32_t root;          /* UINT32_MAX: no root that is served now */
};

/** One was written, for the first time (`made`) or again. */
HUB_MUST_USE enum hub_status hub_namespace_set(struct hub_truth *truth, const struct hub_namespace_row *row,
                                               bool made, struct hub_error *err);
/** One was deleted by `who`. One that has no row is fine. */
HUB_MUST_USE enum hub_status hub_namespace_forget(struct hub_truth *truth, const char *name, const char *who,
                                                  struct hub_error *err);
typedef enum hub_status (*hub_namespace_each_fn)(void *user, const struct hub_namespace_row *row,
                                                 struct hub_error *err);
/** All, by the bytes of their names. */
HUB_MUST_USE enum hub_status hub_namespaces_each(struct hub_truth *truth, hub_namespace_each_fn each,
                                                 void *user, struct hub_error *err);
/** The root of one; UINT32_MAX: it has no row, or its root is not served. */
HUB_MUST_USE enum hub_status hub_namespace_root(struct hub_truth *truth, const char *name, uint32_t *root,
                                                struct hub_error *err);

#endif
