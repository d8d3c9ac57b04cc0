/**
 * What somebody outside hears of pushes: a small JSON for each event, POSTed to the address of
 * --on-publish-url by a thread of its own, so that no request waits for it. What fails is sent again, later
 * and later, and dropped in the end. Events wait as rows of hub.db, so that each is delivered at least once,
 * also where the hub is killed. Safe from any thread.
 */
#ifndef HUB_API_HOOKS_H
#define HUB_API_HOOKS_H

#include "storage/truth/hook_events.h"

struct hub_hooks;
struct hub_log;

/** @param url    "https://host/path", borrowed
 *  @param truth  borrowed: where events wait
 *  @param log    borrowed: what cannot be sent is logged there */
HUB_MUST_USE enum hub_status hub_hooks_start(const char *url, struct hub_truth *truth, struct hub_log *log,
                                             struct hub_hooks **out, struct hub_error *err);
/** NULL is fine. */
void hub_hooks_stop(struct hub_hooks *hooks);

/** Hand an event over. NULL: nobody is to hear of it. Where too many wait, and of one draft's quota within
 * ten minutes, it is not sent. */
void hub_hooks_send(struct hub_hooks *hooks, const struct hub_hook_event *event);
/** An event was kept with the commit that it is about. NULL is fine. */
void hub_hooks_wake(struct hub_hooks *hooks);

struct hub_hook_figures {
    uint64_t delivered, failed, dropped, waiting; /* failed: tries; dropped: events that were never sent */
    char trouble[400];                            /* of the last try; "": it succeeded */
};
/** False: there is no hook. */
bool hub_hooks_figures(struct hub_hooks *hooks, struct hub_hook_figures *out);

#endif
