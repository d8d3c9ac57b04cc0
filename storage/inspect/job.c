/*
 * One job with its child: sends the job, hands out descriptors, proves what comes back, keeps the time.
 * Whatever the child does wrong ends it, and nothing of the job is kept.
 */
#include "storage/inspect/inspector_state.h"
#include "storage/inspect/job_state.h"
#include "storage/inspect/proof.h"
#include "storage/text/time.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { GRACE_MS = 2000, CANCEL_POLL_MS = 50 };

static enum hub_status order_child(struct hub_run *run, struct hub_inspector *inspector,
                                   struct hub_error *err)
{
    const struct hub_inspector_options *o = &inspector->options;
    const struct hub_job_order order = {
        .magic = HUB_ORDER_MAGIC,
        .cpu_s = run->cpu_s,
        .wall_ms = run->wall_ms,
        .memory_bytes = run->memory_bytes,
        .side_budget = run->job->kind == HUB_JOB_INSPECT && run->job->side_fd >= 0 ? o->side_budget : 0,
        .unsafe = o->unsafe,
        .no_landlock = o->no_landlock,
    };
    int job[2], status[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, job))
        return hub_fail_errno(err, errno, "a socket for an inspection");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, status)) {
        const int error = errno;
        close(job[0]);
        close(job[1]);
        return hub_fail_errno(err, error, "a socket for an inspection");
    }
    fcntl(job[0], F_SETFL, O_NONBLOCK);
    run->side_budget = order.side_budget;
    run->sock = job[0];
    run->status = status[0];
    const enum hub_status st = hub_inspector_order(inspector, &order, job[1], status[1], err);
    close(job[1]);
    close(status[1]);
    return st;
}

/* ---- what comes back ---- */

static enum hub_status take_end(struct hub_run *run, const struct hub_frame *frame, struct hub_error *err)
{
    struct hub_cursor c = hub_cursor_of(frame->data, frame->size);
    const uint8_t status = hub_cursor_u8(&c);
    char name[32];
    const struct hub_view problem = hub_cursor_text(&c, sizeof name - 1);
    const struct hub_view detail = hub_cursor_text(&c, sizeof run->end.detail - 1);
    if (c.failed || hub_cursor_left(&c) || status > HUB_CANCELLED)
        return hub_fail(err, HUB_CORRUPT, "a malformed end");
    hub_run_end_text(problem, name, sizeof name);
    run->end.problem = hub_problem_find(name);
    hub_run_end_text(detail, run->end.detail, sizeof run->end.detail);
    run->end.status = (enum hub_status)status;
    run->ended = true;
    return HUB_OK;
}

static enum hub_status take_frame(struct hub_run *run, const struct hub_frame *frame, struct hub_error *err)
{
    if (run->ended)
        return hub_fail(err, HUB_CORRUPT, "a frame after the end");
    if (frame->type == HUB_FRAME_END)
        return take_end(run, frame, err);
    if (!hub_run_job_sent(run))
        return hub_fail(err, HUB_CORRUPT, "an answer before the job");
    if (frame->type == HUB_FRAME_OPEN || frame->type == HUB_FRAME_CLOSE || frame->type == HUB_FRAME_SIDE)
        return hub_run_answer(run, frame, err);
    return hub_findings_take(&run->findings, frame, err);
}

/* Read what is there. Sets run->eof. */
static enum hub_status receive(struct hub_run *run, struct hub_error *err)
{
    void *room;
    size_t size;
    HUB_TRY(hub_frame_room(&run->reader, &room, &size, err));
    const ssize_t n = recv(run->sock, room, size, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return HUB_OK;
    run->eof = n <= 0;
    hub_frame_filled(&run->reader, n > 0 ? (size_t)n : 0);
    for (;;) {
        struct hub_frame frame;
        HUB_TRY(hub_frame_next(&run->reader, &frame, err));
        if (!frame.type)
            return HUB_OK;
        HUB_TRY(take_frame(run, &frame, err));
    }
}

static void receive_status(struct hub_run *run)
{
    struct hub_job_exit ended;
    const ssize_t n = recv(run->status, &ended, sizeof ended, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    run->gone = true;
    run->exit_known = n == sizeof ended;
    run->exit_status = run->exit_known ? ended.status : 0;
    run->cpu_ms = run->exit_known ? ended.cpu_ms : 0;
}

/* ---- the loop ---- */

static enum hub_status check_time(struct hub_run *run, struct hub_error *err)
{
    if (run->job->cancel && *run->job->cancel)
        return hub_fail(err, HUB_CANCELLED, "the inspection was cancelled");
    const int64_t now = hub_time_mono_ms();
    if (run->eof && run->eof_ms == 0)
        run->eof_ms = now;
    if (now >= run->deadline_ms)
        return hub_fail_as(err, HUB_TIMEOUT, HUB_PROBLEM_INSPECTION_TIMEOUT,
                           "the inspection took longer than %u ms", run->wall_ms);
    if (run->eof && !run->ended && now >= run->eof_ms + GRACE_MS)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INSPECTOR_LIED,
                           "the inspector child ended in the middle of its report");
    return HUB_OK;
}

static int wait_ms(const struct hub_run *run)
{
    int64_t left = run->deadline_ms - hub_time_mono_ms();
    if (run->eof && !run->ended)
        left = HUB_MIN(left, run->eof_ms + GRACE_MS - hub_time_mono_ms());
    if (run->job->cancel)
        left = HUB_MIN(left, CANCEL_POLL_MS);
    return (int)HUB_MAX(left, 0) + 1;
}

static enum hub_status lied(struct hub_error *err, enum hub_status st)
{
    if (st != HUB_CORRUPT || !err)
        return st;
    const struct hub_error why = *err;
    return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INSPECTOR_LIED, "the inspector child sent %s",
                       why.detail);
}

/* Until the child is gone and everything it sent is read. */
static enum hub_status converse(struct hub_run *run, struct hub_error *err)
{
    while (!run->eof || !run->gone) {
        struct pollfd fds[] = {
            {.fd = run->eof ? -1 : run->sock,
             .events = (short)(POLLIN | (hub_run_job_sent(run) ? 0 : POLLOUT))},
            {.fd = run->gone ? -1 : run->status, .events = POLLIN},
        };
        if (poll(fds, HUB_COUNT(fds), wait_ms(run)) < 0 && errno != EINTR)
            return hub_fail_errno(err, errno, "waiting for an inspection");
        HUB_TRY(check_time(run, err));
        if (fds[0].revents & POLLOUT)
            HUB_TRY(hub_run_send_job(run, err));
        if (fds[0].revents & (POLLIN | POLLHUP | POLLERR)) {
            const enum hub_status st = receive(run, err);
            if (st)
                return lied(err, st);
        }
        if (fds[1].revents)
            receive_status(run);
    }
    return HUB_OK;
}

/* The child must be gone before its side data and files are anybody else's. */
static void kill_child(struct hub_run *run)
{
    const int64_t deadline = hub_time_mono_ms() + GRACE_MS;
    (void)!send(run->status, "K", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (!run->gone && hub_time_mono_ms() < deadline) {
        struct pollfd fd = {.fd = run->status, .events = POLLIN};
        if (poll(&fd, 1, GRACE_MS) > 0)
            receive_status(run);
    }
}

/* ---- the verdict ---- */

static enum hub_status used_up(const struct hub_run *run, struct hub_error *err)
{
    return hub_fail_as(
        err, HUB_TOO_BIG, HUB_PROBLEM_INSPECTION_LIMIT,
        "the inspection used up its processor time (%.1f s of work; --inspect-time gives more)",
        run->cpu_ms / 1000.0);
}

static enum hub_status judge_exit(const struct hub_run *run, struct hub_error *err)
{
    if (!run->exit_known)
        return hub_fail(err, HUB_IO, "the inspector process ended during the inspection");
    const int signal = WIFSIGNALED(run->exit_status) ? WTERMSIG(run->exit_status) : 0;
    switch (signal) {
    case 0:
        if (WEXITSTATUS(run->exit_status))
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INSPECTOR_CRASHED,
                               "the inspector child failed with exit code %d", WEXITSTATUS(run->exit_status));
        return run->ended ? HUB_OK
                          : hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INSPECTOR_LIED,
                                        "the inspector child ended in the middle of its report");
    case SIGSYS:
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INSPECTOR_STOPPED,
                           "the sandbox stopped the inspector child: it made a system call that reading "
                           "files does not need");
    case SIGXCPU:
        return used_up(run, err);
    case SIGKILL: /* by the limit of processor time, if a child ignores SIGXCPU; else from outside */
        if (run->cpu_ms >= run->cpu_s * 1000)
            return used_up(run, err);
        return hub_fail_as(err, HUB_TIMEOUT, HUB_PROBLEM_INSPECTOR_KILLED,
                           "the inspection was killed from outside, most likely because this machine ran out "
                           "of memory");
    default:
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INSPECTOR_CRASHED,
                           "the inspector child crashed on these files (signal %d, %s)", signal,
                           strsignal(signal));
    }
}

/* What a driver's own verdict means to a caller, who must not try again or believe a
 * timeout. */
static enum hub_status driver_verdict(const struct hub_error *end, struct hub_error *err)
{
    static const uint8_t others[] = {
        [HUB_EXISTS] = HUB_CORRUPT, [HUB_INVALID] = HUB_CORRUPT, [HUB_OUT_OF_RANGE] = HUB_CORRUPT,
        [HUB_BUSY] = HUB_IO,        [HUB_AGAIN] = HUB_IO,        [HUB_TIMEOUT] = HUB_IO,
        [HUB_CANCELLED] = HUB_IO};
    const enum hub_status meant = others[end->status] ? others[end->status] : end->status;
    if (end->status == HUB_NO_MEMORY)
        return hub_fail_as(
            err, HUB_TOO_BIG, HUB_PROBLEM_INSPECTION_LIMIT,
            "the inspection needs more memory than it may have (--inspect-memory gives more): %s",
            end->detail);
    const bool unread = meant == HUB_IO && !end->problem;
    return hub_fail_as(err, meant, unread ? HUB_PROBLEM_INSPECTION_UNREAD : end->problem, "%s", end->detail);
}

static enum hub_status conclude(struct hub_run *run, struct hub_error *err)
{
    struct stat side = {0};
    HUB_TRY(judge_exit(run, err));
    if (run->refused.status)
        return hub_fail_as(err, run->refused.status, run->refused.problem, "%s", run->refused.detail);
    if (run->end.status)
        return driver_verdict(&run->end, err);
    if (run->side_given && fstat(run->job->side_fd, &side))
        return hub_fail_errno(err, errno, "side data");
    if ((uint64_t)side.st_size > run->side_budget)
        return hub_fail(err, HUB_TOO_BIG, "side-file budget");
    return lied(err, hub_findings_finish(&run->findings, (uint64_t)side.st_size, err));
}

/* One child from its order to its end. */
static enum hub_status attend(struct hub_run *run, struct hub_inspector *inspector, struct hub_error *err)
{
    run->deadline_ms = hub_time_mono_ms() + run->wall_ms;
    HUB_TRY(order_child(run, inspector, err));
    const enum hub_status st = converse(run, err);
    if (!st)
        return conclude(run, err);
    kill_child(run);
    return st;
}

/* Claims look at names and the heads of files. */
static uint64_t memory_of(const struct hub_job *job, uint64_t most)
{
    return job->kind == HUB_JOB_CLAIM ? HUB_MIN(most, (uint64_t)512 * MIB) : most;
}

enum hub_status hub_inspector_run(struct hub_inspector *inspector, const struct hub_job *job,
                                  struct hub_findings *out, struct hub_error *err)
{
    struct hub_findings found = {0};
    struct hub_error own = {0};
    struct hub_error *why = err ? err : &own;
    struct hub_run run = {.job = job,
                          .sock = -1,
                          .status = -1,
                          .wall_ms = inspector->options.wall_ms,
                          .cpu_s = inspector->options.cpu_s ? inspector->options.cpu_s
                                                            : inspector->options.wall_ms / 1000 + 2,
                          .memory_bytes = memory_of(job, inspector->options.memory_bytes),
                          .findings = {.job = job, .found = &found}};
    hub_frame_writer_init(&run.writer, (size_t)4 * HUB_MAX_MESSAGE);
    hub_frame_reader_init(&run.reader);
    enum hub_status st = hub_inspector_reserve(inspector, run.memory_bytes, job->cancel, why);
    if (!st) {
        st = attend(&run, inspector, why);
        hub_inspector_release(inspector, run.memory_bytes);
    }
    hub_run_dispose(&run);
    if (st) {
        hub_findings_dispose(&found);
        return st;
    }
    *out = found;
    return HUB_OK;
}

enum hub_status hub_inspector_plan(struct hub_inspector *inspector, struct hub_job job,
                                   const char *const *formats, uint32_t count, const char **format,
                                   struct hub_findings *out, struct hub_error *err)
{
    enum hub_status st = HUB_NOT_ACCEPTABLE;
    job.kind = HUB_JOB_PLAN;
    job.side_fd = -1;
    for (uint32_t i = 0; i < count && st == HUB_NOT_ACCEPTABLE; i++) {
        job.format = *format = formats[i];
        st = hub_inspector_run(inspector, &job, out, err);
    }
    return st;
}
