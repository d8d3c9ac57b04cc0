/** Telling systemd where we are (sd_notify(3)): one datagram, no library. Does nothing without
 * NOTIFY_SOCKET. */
#ifndef HUB_SERVICE_NOTIFY_H
#define HUB_SERVICE_NOTIFY_H

/** "READY=1", "STOPPING=1", "STATUS=...". */
void hub_notify(const char *state);

#endif
