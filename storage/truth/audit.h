/** The audit in hub.db: each change has a row, written in its transaction, that says who made it. Safe from
 * any thread. */
#ifndef HUB_TRUTH_AUDIT_H
#define HUB_TRUTH_AUDIT_H

#include "storage/truth/truth.h"

struct hub_db;

/** Texts are borrowed: of a row that is read, until the callback returns. */
struct hub_audit {
    int64_t id, at_ms; /* filled in where it is written */
    const char *who;   /* "local", "token:ann", "user:bob" */
    /* "token-add", "token-rotate", "token-revoke", "access-set", "access-unset", "publish", "namespace-add",
     * "namespace-set", "namespace-delete" */
    const char *action;
    const char *object;   /* the token's name; WHO and PREFIX of a rule; id of a dataset; a namespace */
    const char *detail;   /* a JSON object */
    const char *revision; /* of the dataset that was written, or "" */
};

/** Add a row, within the transaction of what it is about. */
HUB_MUST_USE enum hub_status hub_audit_write(struct hub_db *db, const struct hub_audit *audit,
                                             struct hub_error *err);

typedef enum hub_status (*hub_audit_each_fn)(void *user, const struct hub_audit *audit,
                                             struct hub_error *err);
/** Rows at or after a time, behind a row, oldest first; at most `limit`. */
struct hub_audit_query {
    int64_t since_ms, after_id;
    uint32_t limit; /* 0: all */
};
HUB_MUST_USE enum hub_status hub_audit_each(struct hub_truth *truth, const struct hub_audit_query *query,
                                            hub_audit_each_fn each, void *user, struct hub_error *err);
/** Forget rows that are older than this. */
HUB_MUST_USE enum hub_status hub_audit_prune(struct hub_truth *truth, uint64_t keep_ms,
                                             struct hub_error *err);

#endif
