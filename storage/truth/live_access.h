/**
 * The table of access that is in force in a running hub. A thread of its own looks for changes of hub.db
 * several times a second, so that one by whatever program acts within a second; it also stores when tokens
 * were used, and forgets what the audit need not keep. Safe from any thread.
 */
#ifndef HUB_TRUTH_LIVE_ACCESS_H
#define HUB_TRUTH_LIVE_ACCESS_H

#include "storage/truth/access.h"

struct hub_live_access;

struct hub_live_access_options {
    struct hub_truth *truth;
    struct hub_declared_access *declared; /* taken, and then zeroed; NULL: nothing is declared */
    uint64_t audit_keep_ms;               /* 0: for ever */
};

HUB_MUST_USE enum hub_status hub_live_access_start(const struct hub_live_access_options *options,
                                                   struct hub_live_access **out, struct hub_error *err);
/** NULL is fine. Tables that are still held stay good. */
void hub_live_access_stop(struct hub_live_access *live);

/** The table in force now, with a reference for the caller: hub_access_put. Takes no lock. */
struct hub_access_table *hub_live_access_get(struct hub_live_access *live);
/** Compile again now, after a change of one's own. What fails leaves the table that is in force, and is tried
 * again. */
HUB_MUST_USE enum hub_status hub_live_access_refresh(struct hub_live_access *live, struct hub_error *err);
/** A copy of what is declared; dispose it whatever happens. */
HUB_MUST_USE enum hub_status hub_live_access_declared(struct hub_live_access *live,
                                                      struct hub_declared_access *out, struct hub_error *err);
/** Declare something else, in force from now on. It is taken, and then zeroed; but on a failure it stays the
 * caller's, and what was declared before stays in force. */
HUB_MUST_USE enum hub_status hub_live_access_redeclare(struct hub_live_access *live,
                                                       struct hub_declared_access *declared,
                                                       struct hub_error *err);
/** Grows with each table that comes into force: for answers that are kept ready. */
uint64_t hub_live_access_generation(const struct hub_live_access *live);

#endif
