/**
 * What is wrong with the hub itself at this moment, beside what is wrong with datasets: looked at anew by
 * each asker, so that an alert ends by itself. The list feeds /api/v1/status, /api/v1/problems, the
 * metrics and, when one begins or ends, the log.
 */
#ifndef HUB_API_ALERTS_H
#define HUB_API_ALERTS_H

#include "server/api/app.h"
#include "storage/base/fs.h"

enum { HUB_MAX_ALERTS = 72 }; /* a root each, and a few */

struct hub_alert {
    const char *code, *key; /* the key tells those of one code apart: a root's path */
    char detail[400];       /* what, and what to do; without paths of this machine */
    char local[600];        /* what only the admin of this machine is told: paths, system errors; or "" */
};

struct hub_alerts {
    struct hub_alert items[HUB_MAX_ALERTS];
    unsigned count;
};

enum { HUB_LOCAL_BYTES = HUB_USER_BYTES + 20 };
/** What only the admin of this machine is told besides a reason: of a missing permission, as whom the hub
 * runs; else "". May ask a directory service. */
void hub_reason_local(struct hub_view reason, char out[HUB_LOCAL_BYTES]);

/** Looks at disks: may block. */
void hub_alerts_read(struct hub_app *app, struct hub_alerts *out);

#endif
