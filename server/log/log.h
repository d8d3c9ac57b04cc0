/**
 * The log of the server: one line a request and one line an event, on standard error, as text for people or
 * as JSON for programs. Lines are gathered in memory and written by a thread of their own, so that a slow
 * terminal or journal holds up no answer; when it cannot keep up, lines are dropped and counted. Safe from
 * any thread.
 */
#ifndef HUB_LOG_LOG_H
#define HUB_LOG_LOG_H

#include "storage/base/buf.h"

struct hub_log;

enum hub_log_format { HUB_LOG_TEXT, HUB_LOG_JSON };

struct hub_log_line {
    const char *id, *client, *method, *route, *target, *query,
        *agent;         /* query, agent: "" when there is none */
    const char *detail; /* what went wrong on our side, or NULL */
    unsigned status;
    uint64_t bytes; /* of the body, that were sent */
    uint64_t duration_us;
    bool aborted; /* the answer did not go out whole */
};

enum hub_log_level { HUB_LOG_INFO, HUB_LOG_WARNING, HUB_LOG_ERROR };

/** Something an admin should hear about: what, about which dataset, and what to do. */
struct hub_log_event {
    enum hub_log_level level;
    const char *name;    /* stable: a literal, counted by hub_log_events */
    const char *dataset; /* an id, or NULL */
};

HUB_MUST_USE enum hub_status hub_log_start(int fd, enum hub_log_format format, struct hub_log **out,
                                           struct hub_error *err);
/** Writes what is left, for half a second at most if nobody reads it. NULL is fine, here and below: then
 * nothing is logged. */
void hub_log_stop(struct hub_log *log);
enum hub_log_format hub_log_format(const struct hub_log *log);
void hub_log_request(struct hub_log *log, const struct hub_log_line *line);
void hub_log_event(struct hub_log *log, const struct hub_log_event *event, const char *fmt, ...)
    HUB_PRINTF(3, 4);

/** As it is, between whole lines: what a person at the terminal is shown. */
void hub_log_text(struct hub_log *log, struct hub_view text);

/** Prometheus text: events by name, lines that were dropped. */
HUB_MUST_USE enum hub_status hub_log_metrics(struct hub_log *log, struct hub_buf *out, struct hub_error *err);

#endif
