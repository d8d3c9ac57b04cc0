/**
 * Tells the log what an admin should hear about: datasets that turn broken or are well again, alerts that
 * begin and end, trouble of the scanner. A thread of its own, because it looks at disks, and a disk of
 * another machine may never answer.
 */
#ifndef HUB_SERVICE_ANNOUNCE_H
#define HUB_SERVICE_ANNOUNCE_H

#include "server/api/app.h"
#include "server/log/log.h"
#include "server/mirror/mirror.h"

struct hub_announcer;

HUB_MUST_USE enum hub_status hub_announcer_start(struct hub_app *app, struct hub_announcer **out,
                                                 struct hub_error *err);
/** NULL is fine. A disk that does not answer is waited for a second, no longer: then false, and the thread
 * may still read the roots and the name of the state directory, nothing else of the app. */
bool hub_announcer_stop(struct hub_announcer *announcer);

/** For struct hub_scanner_options: `user` is the app. */
void hub_announce_scan(void *user, const struct hub_scan_event *event);
/** Warn of each mirror rule with a token file that brings what anybody may read here. */
void hub_announce_uncovered(const struct hub_app *app);
/** The same as hub_announce_scan for struct hub_mirrors_options. */
void hub_announce_mirror(void *user, const struct hub_mirror_event *event);

#endif
