/** Events for an address outside that are not delivered yet, in hub.db. Safe from any thread. */
#ifndef HUB_TRUTH_HOOK_EVENTS_H
#define HUB_TRUTH_HOOK_EVENTS_H

#include "storage/truth/truth.h"

enum { HUB_HOOK_EVENTS_MOST = 1000 }; /* that wait at once */

/** What happened. NULL, "" and 0 say nothing; texts of one that is found are its own. */
struct hub_hook_event {
    const char *event; /* "publish", "refused", "quota" */
    const char *dataset, *draft, *commit, *who;
    const char *reason; /* why something was refused */
    uint64_t files, bytes;
    int64_t number, at_ms; /* of one that is found */
    unsigned tries;
};
void hub_hook_event_dispose(struct hub_hook_event *event);

/** From now on there is an address: events are kept, those of publications with their commits. */
void hub_hook_events_keep(struct hub_truth *truth);
/** Add one. HUB_TOO_BIG: too many wait. */
HUB_MUST_USE enum hub_status hub_hook_event_add(struct hub_truth *truth, const struct hub_hook_event *event,
                                                struct hub_error *err);
/** The first one behind a number. HUB_NOT_FOUND: none waits. */
HUB_MUST_USE enum hub_status hub_hook_event_next(struct hub_truth *truth, int64_t after,
                                                 struct hub_hook_event *out, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_hook_events_count(struct hub_truth *truth, uint64_t *out,
                                                   struct hub_error *err);
/** Publications since the start whose event had no room. */
uint64_t hub_hook_events_dropped(const struct hub_truth *truth);
/** Note a try that failed, or remove one, if it has the tries that it was found with: whoever is second does
 * nothing. */
HUB_MUST_USE enum hub_status hub_hook_event_failed(struct hub_truth *truth,
                                                   const struct hub_hook_event *event, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_hook_event_done(struct hub_truth *truth, const struct hub_hook_event *event,
                                                 struct hub_error *err);

#endif
