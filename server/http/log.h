/**
 * The access log: one JSON line a request on stderr. Lines are gathered in memory and written by a thread of
 * their own, so that a slow terminal or journal holds up no answer; when it cannot keep up, lines are dropped
 * and counted. Safe from any thread.
 */
#ifndef HUB_HTTP_LOG_H
#define HUB_HTTP_LOG_H

#include "storage/base/buf.h"

struct hub_log;

struct hub_log_line {
    const char *id, *client, *method, *route, *target;
    const char *detail; /* what went wrong on our side, or NULL */
    unsigned status;
    uint64_t bytes, duration_us;
};

HUB_MUST_USE enum hub_status hub_log_start(int fd, struct hub_log **out, struct hub_error *err);
/** Writes what is left, for half a second at most if nobody reads it. NULL is fine, here and below: then
 * nothing is logged. */
void hub_log_stop(struct hub_log *log);
void hub_log_request(struct hub_log *log, const struct hub_log_line *line);

#endif
