/*
 * The worker: takes orders (a child's socket and a status socket each), forks, reaps, reports, kills on
 * request. It parses nothing foreign, opens nothing after its start and has one thread, so that forking it is
 * safe.
 */
#include "storage/worker/worker.h"

#include "storage/base/digest.h"
#include "storage/inspect/formats.h"
#include "storage/text/json.h"
#include "storage/worker/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_JOBS = 1024, CONTROL = 0, SIGNALS, FIRST_JOB };

struct worker {
    const struct hub_format *const *formats;
    struct hub_sandbox sandbox;
    pid_t pids[MAX_JOBS];
    struct pollfd poll[FIRST_JOB + MAX_JOBS]; /* poll[FIRST_JOB + i] is the status socket of pids[i] */
    size_t jobs;
};

#ifdef HUB_SANITIZED
/* A child in its box cannot open what a symbolized report needs; plain crashes are reported by the worker. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "symbolize=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0";
}
#endif

/* ---- in the child ---- */

/* Nothing of the worker's is left but the job's socket and /dev/null. */
static void close_others(int sock)
{
    if (sock > 3)
        close_range(3, (unsigned)sock - 1, 0);
    close_range((unsigned)sock + 1, ~0u, 0);
#ifndef HUB_SANITIZED /* a sanitizer's report is wanted */
    dup2(STDOUT_FILENO, STDERR_FILENO);
#endif
}

/* Where memory runs out it is this child that goes, and not the hub. */
static void offer_first(void)
{
    HUB_CLEANUP(hub_closep) int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0)
        (void)!write(fd, "1000", 4);
}

_Noreturn static void be_child(const struct worker *w, int sock, const struct hub_job_order *order,
                               pid_t parent)
{
    sigset_t none;
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent)
        _exit(1);
    offer_first();
    close_others(sock);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    _exit(hub_child_run(sock, w->formats, &w->sandbox, order));
}

/* ---- in the worker ---- */

static void start_job(struct worker *w, const struct hub_job_order *order, int sock, int status)
{
    const pid_t self = getpid();
    const pid_t pid = w->jobs < MAX_JOBS ? fork() : -1;
    if (pid == 0)
        be_child(w, sock, order, self);
    close(sock);
    if (pid < 0) {
        close(status); /* the hub reads its end */
        return;
    }
    w->pids[w->jobs] = pid;
    w->poll[FIRST_JOB + w->jobs] = (struct pollfd){.fd = status, .events = POLLIN};
    w->jobs++;
}

/* One order. False: the hub is gone. */
static bool take_order(struct worker *w)
{
    struct hub_job_order order;
    int fds[2];
    const ssize_t n = hub_receive_fds(HUB_CONTROL_FD, &order, sizeof order, MSG_DONTWAIT, fds, 2);
    if (n < 0)
        return errno == EAGAIN || errno == EMFILE;
    if (fds[0] < 0)
        return n > 0;
    if (n == sizeof order && order.magic == HUB_ORDER_MAGIC) {
        start_job(w, &order, fds[0], fds[1]);
    } else {
        close(fds[0]);
        close(fds[1]);
    }
    return true;
}

static void drop_job(struct worker *w, size_t i)
{
    close(w->poll[FIRST_JOB + i].fd);
    w->jobs--;
    w->pids[i] = w->pids[w->jobs];
    w->poll[FIRST_JOB + i] = w->poll[FIRST_JOB + w->jobs];
}

static uint32_t milliseconds(const struct rusage *used)
{
    return (uint32_t)((used->ru_utime.tv_sec + used->ru_stime.tv_sec) * 1000 +
                      (used->ru_utime.tv_usec + used->ru_stime.tv_usec) / 1000);
}

static void reap(struct worker *w)
{
    int status;
    struct rusage used;
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &used)) > 0;) {
        for (size_t i = 0; i < w->jobs; i++) {
            if (w->pids[i] != pid)
                continue;
            const struct hub_job_exit ended = {status, milliseconds(&used)};
            (void)!send(w->poll[FIRST_JOB + i].fd, &ended, sizeof ended, MSG_NOSIGNAL | MSG_DONTWAIT);
            drop_job(w, i);
            break;
        }
    }
}

/* The hub wrote to a status socket or closed it: the child is not wanted any more. Reaped like any other. */
static void kill_unwanted(struct worker *w)
{
    for (size_t i = 0; i < w->jobs; i++) {
        struct pollfd *p = &w->poll[FIRST_JOB + i];
        if (!p->revents)
            continue;
        kill(w->pids[i], SIGKILL);
        p->events = 0;
        p->revents = 0;
        if (p->fd >= 0 && recv(p->fd, (char[8]){0}, 8, MSG_DONTWAIT) <= 0) {
            /* closed: nobody to tell; poll would not rest while it is in the set */
            close(p->fd);
            p->fd = -1;
        }
    }
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void serve(struct worker *w)
{
    for (;;) {
        if (poll(w->poll, FIRST_JOB + w->jobs, -1) < 0 && errno != EINTR)
            return;
        const bool ended = w->poll[SIGNALS].revents, order = w->poll[CONTROL].revents;
        kill_unwanted(w);
        if (ended) {
            struct signalfd_siginfo info;
            while (read(w->poll[SIGNALS].fd, &info, sizeof info) > 0)
                continue;
            reap(w);
        }
        if (order && !take_order(w))
            return;
    }
}

/* What libraries read from files when they are first used, which no child can: a seed for jansson's tables,
 * OpenSSL's configuration and providers, the time zone. */
static void wake_libraries(void)
{
    size_t seed = 0;
    (void)!getrandom(&seed, sizeof seed, 0);
    json_object_seed(seed | 1);
    hub_digest_prepare();
    setenv("TZ", "UTC0", 1); /* a zone in words needs no file, now or later */
    tzset();
}

static void put_marks(struct hub_frame_writer *w, const struct hub_format_mark *marks)
{
    uint32_t count = 0;
    while (marks[count].name)
        count++;
    hub_frame_u32(w, count);
    for (uint32_t i = 0; i < count; i++)
        hub_frame_text(w, hub_view_of(marks[i].name));
}

static void put_names(struct hub_frame_writer *w, const char *const *names)
{
    uint32_t count = 0;
    while (names && names[count])
        count++;
    hub_frame_u32(w, count);
    for (uint32_t i = 0; i < count; i++)
        hub_frame_text(w, hub_view_of(names[i]));
}

/* Which formats there are: said once, before any file was seen. */
static void announce(const struct hub_format *const *formats)
{
    struct hub_frame_writer w;
    hub_frame_writer_init(&w, HUB_MAX_TABLE);
    for (const struct hub_format *const *f = formats; *f; f++) {
        if (!(*f)->marks)
            continue;
        hub_frame_begin(&w, HUB_FRAME_FORMAT);
        hub_frame_text(&w, hub_view_of((*f)->name));
        put_marks(&w, (*f)->marks);
        put_names(&w, (*f)->asides);
        if (hub_frame_end(&w, NULL))
            break;
    }
    (void)!send(HUB_CONTROL_FD, w.out.data, w.out.size, MSG_NOSIGNAL);
    hub_frame_writer_dispose(&w);
}

int hub_worker_main(const struct hub_format *const *formats)
{
    close_range(HUB_CONTROL_FD + 1, ~0u, 0);
    fcntl(HUB_CONTROL_FD, F_SETFD, FD_CLOEXEC);
    struct worker *w = calloc(1, sizeof *w);
    const int signals = open_signals();
    if (!w || signals < 0) {
        free(w);
        return 1;
    }
    wake_libraries();
    w->formats = formats;
    w->poll[CONTROL] = (struct pollfd){.fd = HUB_CONTROL_FD, .events = POLLIN};
    w->poll[SIGNALS] = (struct pollfd){.fd = signals, .events = POLLIN};
    hub_sandbox_prepare(&w->sandbox);
    announce(formats);
    serve(w);
    for (size_t i = 0; i < w->jobs; i++)
        kill(w->pids[i], SIGKILL);
    while (wait(NULL) > 0) /* a container's first process would be left with them */
        continue;
    hub_sandbox_dispose(&w->sandbox);
    close(signals);
    free(w);
    return 0;
}
