/* The access log: see log.h. */
#include "server/http/log.h"
#include "storage/base/json.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEPT_BYTES (1 * MIB) /* lines that wait for a slow reader */

enum { LOOK_MS = 50, LAST_MS = 500 }; /* so long the last lines may take at the end */

struct hub_log {
    int fd;
    size_t piece; /* that one write may take: see write_lines */
    pthread_mutex_t mutex;
    pthread_cond_t more;
    pthread_t thread;
    struct hub_buf waiting;
    time_t second; /* that `when` says */
    char when[32];
    uint64_t dropped;
    bool stopping;
    int64_t stopped_ms;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool gives_up(struct hub_log *log)
{
    pthread_mutex_lock(&log->mutex);
    bool over = log->stopping && now_ms() - log->stopped_ms >= LAST_MS;
    pthread_mutex_unlock(&log->mutex);
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

static void *writer(void *arg)
{
    struct hub_log *log = arg;
    struct hub_buf mine = HUB_BUF_INIT(KEPT_BYTES);
    pthread_mutex_lock(&log->mutex);
    for (;;) {
        while (log->waiting.size == 0 && !log->stopping)
            pthread_cond_wait(&log->more, &log->mutex);
        if (log->waiting.size == 0)
            break;
        struct hub_buf swap = log->waiting;
        log->waiting = mine;
        mine = swap;
        uint64_t dropped = log->dropped;
        log->dropped = 0;
        bool last = log->stopping;
        pthread_mutex_unlock(&log->mutex);
        dropped += write_lines(log, mine.data, mine.size);
        mine.size = 0;
        if (dropped) {
            char line[80];
            int n = snprintf(line, sizeof line, "{\"event\":\"log-lines-dropped\",\"count\":%llu}\n",
                             (unsigned long long)dropped);
            (void)write_lines(log, line, (size_t)n);
        }
        if (!last) /* gather: one write for what comes meanwhile */
            nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        pthread_mutex_lock(&log->mutex);
    }
    pthread_mutex_unlock(&log->mutex);
    hub_buf_dispose(&mine);
    return NULL;
}

enum hub_status hub_log_start(int fd, struct hub_log **out, struct hub_error *err)
{
    struct hub_log *log = calloc(1, sizeof *log);
    if (!log)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for the log");
    struct stat st;
    log->fd = fd;
    log->piece = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? KEPT_BYTES : PIPE_BUF;
    log->waiting = HUB_BUF_INIT(KEPT_BYTES);
    pthread_mutex_init(&log->mutex, NULL);
    pthread_cond_init(&log->more, NULL);
    int errnum = pthread_create(&log->thread, NULL, writer, log);
    if (errnum) {
        free(log);
        return hub_fail_errno(err, errnum, "cannot start the log thread");
    }
    *out = log;
    return HUB_OK;
}

void hub_log_stop(struct hub_log *log)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->mutex);
    log->stopping = true;
    log->stopped_ms = now_ms();
    pthread_cond_signal(&log->more);
    pthread_mutex_unlock(&log->mutex);
    pthread_join(log->thread, NULL);
    hub_buf_dispose(&log->waiting);
    pthread_cond_destroy(&log->more);
    pthread_mutex_destroy(&log->mutex);
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

static enum hub_status add_line(struct hub_log *log, const struct hub_log_line *line)
{
    struct hub_buf *out = &log->waiting;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    set_second(log, now.tv_sec);
    HUB_TRY(hub_buf_addf(out, NULL,
                         "{\"time\":\"%s.%03ldZ\",\"id\":\"%s\",\"client\":\"%s\",\"method\":\"%s\","
                         "\"route\":\"%s\",\"target\":",
                         log->when, now.tv_nsec / 1000000, line->id, line->client, line->method,
                         line->route));
    HUB_TRY(hub_json_add_string(out, hub_view_of(line->target), NULL));
    if (line->detail) {
        HUB_TRY(hub_buf_add_text(out, ",\"detail\":", NULL));
        HUB_TRY(hub_json_add_string(out, hub_view_of(line->detail), NULL));
    }
    return hub_buf_addf(out, NULL, ",\"status\":%u,\"bytes\":%llu,\"duration_ms\":%llu.%03llu}\n",
                        line->status, (unsigned long long)line->bytes,
                        (unsigned long long)(line->duration_us / 1000),
                        (unsigned long long)(line->duration_us % 1000));
}

void hub_log_request(struct hub_log *log, const struct hub_log_line *line)
{
    if (!log)
        return;
    pthread_mutex_lock(&log->mutex);
    size_t before = log->waiting.size;
    if (add_line(log, line)) {
        log->waiting.size = before;
        log->dropped++;
    }
    if (before == 0)
        pthread_cond_signal(&log->more);
    pthread_mutex_unlock(&log->mutex);
}
