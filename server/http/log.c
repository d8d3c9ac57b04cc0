/* The access log: see log.h. */
#include "server/http/log.h"
#include "storage/base/json.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define KEPT_BYTES (1 * MIB) /* lines that wait for a slow reader */

struct hub_log {
    int fd;
    pthread_mutex_t mutex;
    pthread_cond_t more;
    pthread_t thread;
    struct hub_buf waiting;
    time_t second; /* that `when` says */
    char when[32];
    uint64_t dropped;
    bool stopping;
};

static void write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* nobody reads: there is nowhere to say so */
        data += n;
        size -= (size_t)n;
    }
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
        write_all(log->fd, mine.data, mine.size);
        mine.size = 0;
        if (dropped) {
            char line[80];
            int n = snprintf(line, sizeof line, "{\"event\":\"log-lines-dropped\",\"count\":%llu}\n",
                             (unsigned long long)dropped);
            write_all(log->fd, line, (size_t)n);
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
    log->fd = fd;
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
    HUB_TRY(hub_buf_addf(
        out, NULL, "{\"time\":\"%s.%03ldZ\",\"id\":\"%s\",\"method\":\"%s\",\"route\":\"%s\",\"target\":",
        log->when, now.tv_nsec / 1000000, line->id, line->method, line->route));
    HUB_TRY(hub_json_add_string(out, hub_view_of(line->target), NULL));
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
