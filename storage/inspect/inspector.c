/* The worker's process as the hub sees it: started with an empty environment and no descriptors but its own,
 * restarted when it died, not too often. */
#include "storage/inspect/inspector_state.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a worker may know of the hub's environment: where libraries are and how to sanitize. */
static void pick_environment(char *out[], size_t room)
{
    static const char *const names[] = {
        "LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS="};
    size_t n = 0;
    for (char **e = environ; e && *e; e++)
        for (size_t i = 0; i < HUB_COUNT(names); i++)
            if (n + 1 < room && strncmp(*e, names[i], strlen(names[i])) == 0)
                out[n++] = *e;
    out[n] = NULL;
}

static int set_up(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes, int control)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int rc = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, STDIN_FILENO, STDOUT_FILENO);
    rc = rc ? rc : posix_spawn_file_actions_adddup2(actions, control, HUB_CONTROL_FD);
    rc = rc ? rc : posix_spawnattr_setsigmask(attributes, &none);
    rc = rc ? rc : posix_spawnattr_setsigdefault(attributes, &all);
    rc = rc ? rc : posix_spawnattr_setpgroup(attributes, 0); /* the terminal's Ctrl-C is for the hub */
    return rc ? rc
              : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                         POSIX_SPAWN_SETPGROUP);
}

static int spawn(const char *program, int control, pid_t *pid)
{
    char *const arguments[] = {"minari-inspect", "--worker", NULL};
    char *environment[8];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pick_environment(environment, HUB_COUNT(environment));
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    int rc = set_up(&actions, &attributes, control);
    rc = rc ? rc : posix_spawn(pid, program, &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return rc;
}

static enum hub_status start_worker(struct hub_inspector *i, struct hub_error *err)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return hub_fail_errno(err, errno, "a socket for the inspector");
    const int theirs = fcntl(pair[1], F_DUPFD_CLOEXEC, 10); /* out of the way of 0..HUB_CONTROL_FD */
    close(pair[1]);
    const int rc = theirs < 0 ? errno : spawn(i->program, theirs, &i->worker);
    if (theirs >= 0)
        close(theirs);
    if (rc) {
        close(pair[0]);
        i->worker = 0;
        return hub_fail_errno(err, rc, "starting %s", i->program);
    }
    /* orders are taken at once by any worker that lives */
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &(struct timeval){.tv_sec = 5}, sizeof(struct timeval));
    i->control = pair[0];
    return HUB_OK;
}

/* Closing the control socket ends a healthy worker; one that does not end is killed. */
static void stop_worker(struct hub_inspector *i)
{
    if (i->worker == 0)
        return;
    close(i->control);
    const int64_t deadline = hub_time_mono_ms() + 2000;
    while (waitpid(i->worker, NULL, WNOHANG) == 0) {
        if (hub_time_mono_ms() > deadline)
            kill(i->worker, SIGKILL);
        poll(NULL, 0, 2);
    }
    i->worker = 0;
    i->control = -1;
}

static enum hub_status restart_worker(struct hub_inspector *i, struct hub_error *err)
{
    const int64_t now = hub_time_mono_ms();
    int64_t *oldest = &i->restarts_ms[i->restart % HUB_MAX_RESTARTS];
    if (i->restart >= HUB_MAX_RESTARTS && now - *oldest < HUB_RESTART_WINDOW_S * 1000)
        return hub_fail(err, HUB_IO, "%s ended %d times within a minute: not started again for now",
                        i->program, HUB_MAX_RESTARTS);
    *oldest = now;
    i->restart++;
    stop_worker(i);
    return start_worker(i, err);
}

static int send_order(int control, const struct hub_job_order *order, int sock, int status)
{
    const int fds[2] = {sock, status};
    return hub_send_fds(control, order, sizeof *order, 0, fds, 2) < 0 ? errno : 0;
}

enum hub_status hub_inspector_order(struct hub_inspector *i, const struct hub_job_order *order, int sock,
                                    int status, struct hub_error *err)
{
    enum hub_status st = HUB_OK;
    pthread_mutex_lock(&i->lock);
    int rc = i->worker ? send_order(i->control, order, sock, status) : EPIPE;
    if (rc == EPIPE || rc == ECONNRESET || rc == ENOTCONN) {
        st = restart_worker(i, err);
        rc = st ? 0 : send_order(i->control, order, sock, status);
    }
    if (!st && rc == EAGAIN)
        st = hub_fail(err, HUB_IO, "the inspector takes no jobs");
    else if (!st && rc)
        st = hub_fail_errno(err, rc, "handing a job to the inspector");
    pthread_mutex_unlock(&i->lock);
    return st;
}

/* ---- what it announces ---- */

static enum hub_status hear_formats(struct hub_inspector *i, struct hub_error *err)
{
    enum { PATIENCE_MS = 5000 };
    HUB_CLEANUP(hub_freep) char *packet = malloc(HUB_MAX_TABLE);
    HUB_TRY(hub_allocated(packet, err));
    const int64_t deadline = hub_time_mono_ms() + PATIENCE_MS;
    ssize_t n = -1;
    for (int64_t left; n < 0 && (left = deadline - hub_time_mono_ms()) > 0;) {
        struct pollfd fd = {.fd = i->control, .events = POLLIN};
        if (poll(&fd, 1, (int)left) > 0)
            n = recv(i->control, packet, HUB_MAX_TABLE, MSG_DONTWAIT);
    }
    struct hub_error why = {0};
    if (n > 0 && hub_format_table_read(packet, (size_t)n, &i->formats, &why) == HUB_OK)
        return HUB_OK;
    return hub_fail(err, HUB_IO, "%s %s: check that it is the minari-inspect of this version", i->program,
                    n < 0    ? "does not report its formats"
                    : n == 0 ? "ended while it started"
                             : why.detail);
}

enum hub_status hub_inspector_formats(struct hub_inspector *i, const struct hub_format_table **out,
                                      struct hub_error *err)
{
    enum hub_status st = HUB_OK;
    pthread_mutex_lock(&i->lock);
    if (!i->formats && !i->worker)
        st = restart_worker(i, err);
    if (!i->formats && !st && hear_formats(i, err)) {
        st = restart_worker(i, err);
        if (!st)
            st = hear_formats(i, err);
    }
    *out = i->formats;
    pthread_mutex_unlock(&i->lock);
    return st;
}

/* ---- memory of all children ---- */

enum { CANCEL_POLL_MS = 50 };

enum hub_status hub_inspector_reserve(struct hub_inspector *i, uint64_t bytes, atomic_bool *cancel,
                                      struct hub_error *err)
{
    enum hub_status st = HUB_OK;
    pthread_mutex_lock(&i->lock);
    /* one child may always be at work, whatever it may take */
    while (!st && i->memory_used && i->memory_used + bytes > i->options.total_bytes) {
        const struct timespec until = hub_time_ahead(CLOCK_REALTIME, CANCEL_POLL_MS);
        pthread_cond_timedwait(&i->room, &i->lock, &until);
        if (cancel && *cancel)
            st = hub_fail(err, HUB_CANCELLED, "the inspection was cancelled");
    }
    if (!st)
        i->memory_used += bytes;
    pthread_mutex_unlock(&i->lock);
    return st;
}

void hub_inspector_release(struct hub_inspector *i, uint64_t bytes)
{
    pthread_mutex_lock(&i->lock);
    i->memory_used -= bytes;
    pthread_cond_broadcast(&i->room);
    pthread_mutex_unlock(&i->lock);
}

static uint64_t half_of_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : 0;
}

uint64_t hub_inspector_limits(const struct hub_inspector *i)
{
    return (i->options.memory_bytes * 0x9E3779B97F4A7C15U) ^ (i->options.cpu_s * 0xC2B2AE3D27D4EB4FU) ^
           i->options.wall_ms;
}

enum hub_status hub_inspector_new(const struct hub_inspector_options *options, struct hub_inspector **out,
                                  struct hub_error *err)
{
    struct hub_inspector *i = calloc(1, sizeof *i);
    char *program = strdup(options->program);
    if (!i || !program) {
        free(i);
        free(program);
        return hub_no_memory(err);
    }
    i->options = *options;
    i->options.program = i->program = program;
    if (!i->options.total_bytes)
        i->options.total_bytes = half_of_memory();
    i->control = -1;
    pthread_mutex_init(&i->lock, NULL);
    pthread_cond_init(&i->room, NULL);
    const enum hub_status st = start_worker(i, err);
    if (st) {
        hub_inspector_free(i);
        return st;
    }
    *out = i;
    return HUB_OK;
}

void hub_inspector_free(struct hub_inspector *inspector)
{
    if (!inspector)
        return;
    stop_worker(inspector);
    pthread_cond_destroy(&inspector->room);
    pthread_mutex_destroy(&inspector->lock);
    hub_format_table_free(inspector->formats);
    free(inspector->program);
    free(inspector);
}
