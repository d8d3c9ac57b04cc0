/**
 * What is wrong with the hub itself at this moment, beside what is wrong with datasets: looked at again by
 * each asker, so that an alert ends by itself. The list feeds /api/v1/status, /api/v1/problems, the
 * metrics and, when one begins or ends, the log.
 */
#ifndef HUB_API_OPERATIONS_ALERTS_H
#define HUB_API_OPERATIONS_ALERTS_H

#include "server/api/app.h"

enum { HUB_MAX_ALERTS = 2 * HUB_MAX_ROOTS + 14 }; /* two a root, and a few */

struct hub_alert {
    const char *code, *key; /* the key tells those of one code apart: a root's path */
    char detail[400];       /* what, and what to do; without paths of this machine */
    char local[600];        /* what only the admin of this machine may see: paths, system errors; or "" */
};

struct hub_alerts {
    struct hub_alert items[HUB_MAX_ALERTS];
    unsigned count;
    uint64_t state_free; /* bytes; UINT64_MAX: not known */
};

enum { HUB_LOCAL_BYTES = HUB_USER_BYTES + 20 };
/** What only the admin of this machine may see besides a reason: of a missing permission, as whom the hub
 * runs; else "". */
void hub_reason_local(const struct hub_app *app, struct hub_view reason, char out[HUB_LOCAL_BYTES]);

/** Looks at disks: may block, for ever where one of another machine is gone. */
void hub_alerts_read(const struct hub_app *app, struct hub_alerts *out);
/** Its two halves. The first looks at the disks, and touches nothing but what it is given; the second adds
 * what memory knows. */
void hub_alerts_look(const struct hub_roots *roots, const char *state, struct hub_alerts *out);
void hub_alerts_add(const struct hub_app *app, struct hub_alerts *out);

#endif
