/**
 * What somebody outside hears of pushes: a small JSON for each event, POSTed to the address of
 * --on-publish-url by a thread of its own, so that no request waits for it. What fails is sent again, later
 * and later, and dropped in the end; what waits when the hub ends is not sent. Safe from any thread.
 */
#ifndef HUB_API_HOOKS_H
#define HUB_API_HOOKS_H

#include "storage/base/buf.h"

struct hub_hooks;
struct hub_log;

/** What happened; NULL and 0 are left out. */
struct hub_hook_event {
    const char *event; /* "publish", "refused", "quota" */
    const char *dataset, *draft, *commit, *who;
    const char *reason; /* why something was refused */
    uint64_t files, bytes;
};

/** @param url  "https://host/path", borrowed
 *  @param log  borrowed: what cannot be sent is logged there */
HUB_MUST_USE enum hub_status hub_hooks_start(const char *url, struct hub_log *log, struct hub_hooks **out,
                                             struct hub_error *err);
/** NULL is fine. */
void hub_hooks_stop(struct hub_hooks *hooks);

/** Hand an event over; never blocks. NULL: nobody is to hear of it. Where too many wait, and of one draft's
 * quota within ten minutes, it is not sent. */
void hub_hooks_send(struct hub_hooks *hooks, const struct hub_hook_event *event);

struct hub_hook_figures {
    uint64_t delivered, failed, dropped, waiting; /* failed: tries; dropped: events that were never sent */
    char trouble[400];                            /* of the last try; "": it succeeded */
};
/** False: there is no hook. */
bool hub_hooks_figures(struct hub_hooks *hooks, struct hub_hook_figures *out);

#endif
