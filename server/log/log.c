/* Requests and events, a line each: see log.h. */
#include "server/log/log.h"

#include "storage/base/thread.h"
#include "storage/text/json.h"
#include "storage/text/time.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEPT_BYTES (1 * MIB) /* lines that wait for a slow reader */

enum {
    MAX_EVENTS = 32,
    MESSAGE_BYTES = 2048,
    LOOK_MS = 50,
    LAST_MS = 500
}; /* so long the last lines may take at the end */

struct hub_log {
    int fd;
    size_t piece; /* that one write may take: see write_lines */
    struct hub_thread thread;
    struct hub_buf waiting;
    time_t second; /* that `when` says */
    char when[32];
    enum hub_log_format format;
    uint64_t dropped, dropped_in_all;
    struct event_count {
        const char *name;
        uint64_t count;
    } events[MAX_EVENTS];
    int64_t stopped_ms;
};

static bool gives_up(struct hub_log *log)
{
    pthread_mutex_lock(&log->thread.lock);
    bool over = log->thread.stop && hub_time_mono_ms() - log->stopped_ms >= LAST_MS;
    pthread_mutex_unlock(&log->thread.lock);
    return over;
}

static uint64_t count_lines(const char *data, size_t size)
{
    uint64_t n = 0;
    for (const char *at = data; (at = memchr(at, '\n', size - (size_t)(at - data))); at++)
        n++;
    return n;
}

/* How many lines were not written. A reader that has stopped reading blocks a plain write for ever: so pieces
 * of at most PIPE_BUF, which a pipe that poll calls writable takes whole (files take anything). */
static uint64_t write_lines(struct hub_log *log, const char *data, size_t size)
{
    while (size > 0) {
        struct pollfd room = {.fd = log->fd, .events = POLLOUT};
        if (poll(&room, 1, LOOK_MS) == 0) {
            if (gives_up(log))
                break;
            continue;
        }
        ssize_t n = write(log->fd, data, HUB_MIN(size, log->piece));
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0)
            break; /* nobody reads: there is nowhere to say so */
        data += n;
        size -= (size_t)n;
    }
    return size > 0 ? count_lines(data, size) : 0;
}

static void report_dropped(struct hub_log *log, uint64_t count)
{
    char line[120];
    const int n =
        snprintf(line, sizeof line,
                 log->format == HUB_LOG_JSON
                     ? "{\"level\":\"warning\",\"event\":\"log-lines-dropped\",\"count\":%llu}\n"
                     : "warning log-lines-dropped: %llu lines: the reader of this log is too slow\n",
                 (unsigned long long)count);
    (void)write_lines(log, line, (size_t)n);
}

static void *writer(void *arg)
{
    struct hub_log *log = arg;
    struct hub_buf mine = HUB_BUF_INIT(KEPT_BYTES);
    pthread_mutex_lock(&log->thread.lock);
    for (;;) {
        while (log->waiting.size == 0 && !log->thread.stop)
            pthread_cond_wait(&log->thread.wake, &log->thread.lock);
        if (log->waiting.size == 0)
            break;
        struct hub_buf swap = log->waiting;
        log->waiting = mine;
        mine = swap;
        uint64_t dropped = log->dropped;
        log->dropped = 0;
        bool last = log->thread.stop;
        pthread_mutex_unlock(&log->thread.lock);
        dropped += write_lines(log, mine.data, mine.size);
        mine.size = 0;
        if (dropped)
            report_dropped(log, dropped);
        if (!last) /* gather: one write for what comes meanwhile */
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        pthread_mutex_lock(&log->thread.lock);
    }
    pthread_mutex_unlock(&log->thread.lock);
    hub_buf_dispose(&mine);
    return NULL;
}

enum hub_status hub_log_start(int fd, enum hub_log_format format, struct hub_log **out, struct hub_error *err)
{
    struct hub_log *log;
    HUB_TRY(hub_new(&log, 1, sizeof *log, err));
    struct stat st;
    log->fd = fd;
    log->format = format;
    log->piece = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? KEPT_BYTES : PIPE_BUF;
    log->waiting = HUB_BUF_INIT(KEPT_BYTES);
    const enum hub_status started = hub_thread_start(&log->thread, writer, log, "the log", err);
    if (started)
        free(log);
    else
        *out = log;
    return started;
}

void hub_log_stop(struct hub_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->thread.lock);
    log->stopped_ms = hub_time_mono_ms();
    pthread_mutex_unlock(&log->thread.lock);
    hub_thread_stop(&log->thread);
    hub_thread_dispose(&log->thread);
    hub_buf_dispose(&log->waiting);
    free(log);
}

/* The calendar is asked once a second. */
static void set_second(struct hub_log *log, time_t second)
{
    struct tm utc;
    if (log->second == second)
        return;
    log->second = second;
    gmtime_r(&second, &utc);
    strftime(log->when, sizeof log->when, "%Y-%m-%dT%H:%M:%S", &utc);
}

/* The time: how every line begins. */
static enum hub_status add_time(struct hub_log *log)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    set_second(log, now.tv_sec);
    return hub_buf_addf(&log->waiting, NULL,
                        log->format == HUB_LOG_JSON ? "{\"time\":\"%s.%03ldZ\"" : "%s.%03ldZ", log->when,
                        now.tv_nsec / 1000000);
}

/* Text from outside, on one line of a terminal. */
static enum hub_status add_clean(struct hub_buf *out, const char *text)
{
    const size_t from = out->size;
    HUB_TRY(hub_buf_add_text(out, text, NULL));
    hub_utf8_clean(out->data + from, out->size - from);
    return HUB_OK;
}

static enum hub_status add_member(struct hub_buf *out, const char *key, const char *text)
{
    if (!text || !*text)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(out, NULL, ",\"%s\":", key));
    return hub_json_add_string(out, hub_view_of(text), NULL);
}

static enum hub_status request_json(struct hub_log *log, const struct hub_log_line *line)
{
    struct hub_buf *out = &log->waiting;
    HUB_TRY(add_time(log));
    HUB_TRY(hub_buf_addf(out, NULL, ",\"id\":\"%s\",\"client\":\"%s\",\"method\":\"%s\",\"route\":\"%s\"",
                         line->id, line->client, line->method, line->route));
    HUB_TRY(add_member(out, "target", line->target));
    HUB_TRY(add_member(out, "query", line->query));
    HUB_TRY(add_member(out, "agent", line->agent));
    HUB_TRY(add_member(out, "detail", line->detail));
    return hub_buf_addf(
        out, NULL, ",\"status\":%u,\"bytes\":%llu,\"duration_ms\":%llu.%03llu%s}\n", line->status,
        (unsigned long long)line->bytes, (unsigned long long)(line->duration_us / 1000),
        (unsigned long long)(line->duration_us % 1000), line->aborted ? ",\"aborted\":true" : "");
}

static enum hub_status request_text(struct hub_log *log, const struct hub_log_line *line)
{
    struct hub_buf *out = &log->waiting;
    HUB_TRY(add_time(log));
    HUB_TRY(hub_buf_addf(out, NULL, " %s %s ", line->client, line->method));
    HUB_TRY(add_clean(out, line->target));
    if (*line->query) {
        HUB_TRY(hub_buf_add_text(out, "?", NULL));
        HUB_TRY(add_clean(out, line->query));
    }
    HUB_TRY(hub_buf_addf(out, NULL, " %u %llu bytes %llu.%03llu ms %s %s%s \"", line->status,
                         (unsigned long long)line->bytes, (unsigned long long)(line->duration_us / 1000),
                         (unsigned long long)(line->duration_us % 1000), line->route, line->id,
                         line->aborted ? " aborted" : ""));
    HUB_TRY(add_clean(out, line->agent));
    HUB_TRY(hub_buf_add_text(out, line->detail && *line->detail ? "\": " : "\"", NULL));
    HUB_TRY(add_clean(out, line->detail ? line->detail : ""));
    return hub_buf_add_text(out, "\n", NULL);
}

static enum hub_status event_line(struct hub_log *log, const struct hub_log_event *event, const char *message)
{
    static const char *const levels[] = {"info", "warning", "error"};
    struct hub_buf *out = &log->waiting;
    HUB_TRY(add_time(log));
    if (log->format == HUB_LOG_JSON) {
        HUB_TRY(
            hub_buf_addf(out, NULL, ",\"level\":\"%s\",\"event\":\"%s\"", levels[event->level], event->name));
        HUB_TRY(add_member(out, "dataset", event->dataset));
        HUB_TRY(add_member(out, "message", message));
        return hub_buf_add_text(out, "}\n", NULL);
    }
    HUB_TRY(hub_buf_addf(out, NULL, " %s %s", levels[event->level], event->name));
    if (event->dataset) {
        HUB_TRY(hub_buf_add_text(out, " ", NULL));
        HUB_TRY(add_clean(out, event->dataset));
    }
    HUB_TRY(hub_buf_add_text(out, ": ", NULL));
    HUB_TRY(add_clean(out, message));
    return hub_buf_add_text(out, "\n", NULL);
}

/* The mutex is held; what was begun from `before` on is a line, or is taken back. */
static void end_line(struct hub_log *log, size_t before, enum hub_status st)
{
    if (st) {
        log->waiting.size = before;
        log->dropped++;
        log->dropped_in_all++;
    }
    if (before == 0)
        pthread_cond_signal(&log->thread.wake);
}

/* Somebody may write a token into an address, where it counts for nothing: its secret is not kept. */
static void hide_tokens(char *text, size_t size)
{
    enum { ID = 3 + 10, TOKEN = ID + 32 }; /* bytes before the secret and with it */
    char *const end = text + size;
    for (char *at = text; (at = memmem(at, (size_t)(end - at), "mh_", 3)); at += 3) {
        size_t n = 3;
        while (at + n < end && ((at[n] >= 'a' && at[n] <= 'z') || (at[n] >= '2' && at[n] <= '7')))
            n++;
        if (n >= TOKEN)
            memset(at + ID, '*', n - ID);
    }
}

void hub_log_request(struct hub_log *log, const struct hub_log_line *line)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->thread.lock);
    const size_t before = log->waiting.size;
    const enum hub_status st =
        log->format == HUB_LOG_JSON ? request_json(log, line) : request_text(log, line);
    if (!st)
        hide_tokens(log->waiting.data + before, log->waiting.size - before);
    end_line(log, before, st);
    pthread_mutex_unlock(&log->thread.lock);
}

static void count_event(struct hub_log *log, const char *name)
{
    size_t i = 0;
    while (i < MAX_EVENTS - 1 && log->events[i].name && strcmp(log->events[i].name, name) != 0)
        i++;
    if (!log->events[i].name)
        log->events[i].name = name;
    log->events[i].count++;
}

void hub_log_event(struct hub_log *log, const struct hub_log_event *event, const char *fmt, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;
    if (!log)
        return;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    pthread_mutex_lock(&log->thread.lock);
    const size_t before = log->waiting.size;
    count_event(log, event->name);
    end_line(log, before, event_line(log, event, message));
    pthread_mutex_unlock(&log->thread.lock);
}

void hub_log_text(struct hub_log *log, struct hub_view text)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->thread.lock);
    const size_t before = log->waiting.size;
    end_line(log, before, hub_buf_add(&log->waiting, text.data, text.size, NULL));
    pthread_mutex_unlock(&log->thread.lock);
}

enum hub_log_format hub_log_format(const struct hub_log *log)
{
    return log ? log->format : HUB_LOG_TEXT;
}

enum hub_status hub_log_metrics(struct hub_log *log, struct hub_buf *out, struct hub_error *err)
{
    struct event_count events[MAX_EVENTS];
    if (!log)
        return HUB_OK;
    pthread_mutex_lock(&log->thread.lock);
    memcpy(events, log->events, sizeof events);
    const uint64_t dropped = log->dropped_in_all;
    pthread_mutex_unlock(&log->thread.lock);
    HUB_TRY(hub_buf_addf(out, err,
                         "# HELP minari_hub_log_lines_dropped_total Log lines dropped because their reader "
                         "was too slow.\n# TYPE minari_hub_log_lines_dropped_total counter\n"
                         "minari_hub_log_lines_dropped_total %llu\n"
                         "# HELP minari_hub_events_total Events of the log by name.\n"
                         "# TYPE minari_hub_events_total counter\n",
                         (unsigned long long)dropped));
    for (size_t i = 0; i < MAX_EVENTS && events[i].name; i++)
        HUB_TRY(hub_buf_addf(out, err, "minari_hub_events_total{event=\"%s\"} %llu\n", events[i].name,
                             (unsigned long long)events[i].count));
    return HUB_OK;
}
