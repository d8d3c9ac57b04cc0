/* What `export` and `import` share: see tar_job.h. */
#include "server/commands/tar_job.h"

#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { SHOWN_MS = 200, KEPT_MS = 2000 };

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

int hub_tar_job_stopped(void *user)
{
    (void)user;
    return stopped;
}

void hub_tar_job_clear(struct hub_tar_job *job)
{
    if (job->shown)
        fputs("\r\033[K", stderr);
    job->shown = false;
}

static void show(struct hub_tar_job *job, int64_t now_ms)
{
    char done[HUB_SIZE_CHARS], of[HUB_SIZE_CHARS], rate[HUB_SIZE_CHARS];
    const uint64_t elapsed_ms = (uint64_t)(now_ms - job->began_ms) + 1;
    if (now_ms - job->shown_ms < SHOWN_MS || !isatty(STDERR_FILENO))
        return;
    job->shown_ms = now_ms;
    job->shown = true;
    hub_number_size(job->done, done);
    hub_number_size(job->of, of);
    hub_number_size(job->done * 1000 / elapsed_ms, rate);
    fprintf(stderr, "\r\033[K%s %.40s: %s%s%s", job->verb, job->name, done, job->of ? " of " : "",
            job->of ? of : "");
    if (job->of)
        fprintf(stderr, " (%u %%)", (unsigned)(100 * (double)job->done / (double)job->of));
    fprintf(stderr, ", %s/s", rate);
}

/* The job of it, if a hub runs. */
static enum hub_status report_job(struct hub_tar_job *job, const char *action, const char *why,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    if (!job->state || !*job->job)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(&target, err, "/api/v1/jobs/%s?do=%s&fence=%" PRId64 "&done=%" PRIu64 "&of=%" PRIu64,
                         job->job, action, job->fence, job->done, job->of));
    if (why) {
        HUB_TRY(hub_buf_add_text(&target, "&error=", err));
        HUB_TRY(hub_uri_encode_segment(hub_view_of(why), &target, err));
    }
    const enum hub_status st = hub_control_request(job->state, true, target.data, &answer, err);
    return st == HUB_DENIED ? st : HUB_OK; /* a hub that has ended meanwhile is no reason to stop */
}

static bool stores_nothing(enum hub_problem_code problem)
{
    return problem == HUB_PROBLEM_READ_ONLY || problem == HUB_PROBLEM_NO_SPACE ||
           problem == HUB_PROBLEM_STORAGE_UNAVAILABLE;
}

enum hub_status hub_tar_job_begin(struct hub_tar_job *job, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    struct hub_error why = {0};
    const char *slash = strcmp(job->kind, "import") == 0 ? strrchr(job->name, '/') : NULL;
    HUB_TRY(hub_buf_addf(&target, err, "/api/v1/jobs?kind=%s&target=", job->kind));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(slash && slash[1] ? slash + 1 : job->name), &target, err));
    const enum hub_status st = hub_control_request(job->state, true, target.data, &answer, &why);
    if (st && strcmp(job->kind, "export") == 0 && stores_nothing(why.problem))
        return HUB_OK; /* a hub that only reads still exports, and does not list it */
    if (st)
        return hub_pass(st, &why, err);
    const char *id = json_string_value(json_object_get(answer, "id"));
    snprintf(job->job, sizeof job->job, "%s", id ? id : "");
    job->fence = json_integer_value(json_object_get(answer, "fence"));
    return HUB_OK;
}

enum hub_status hub_tar_job_tick(struct hub_tar_job *job, struct hub_error *err)
{
    const int64_t now_ms = hub_time_mono_ms();
    if (stopped)
        return hub_fail(err, HUB_CANCELLED, "interrupted");
    show(job, now_ms);
    if (now_ms - job->kept_ms < KEPT_MS)
        return HUB_OK;
    job->kept_ms = now_ms;
    return report_job(job, "keep", NULL, err);
}

/* Whether a hub runs. */
static enum hub_status look_for_hub(struct hub_tar_job *job, const struct hub_config *config,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *state = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    HUB_TRY(hub_control_state(config, &state, err));
    const enum hub_status st = hub_control_request(state, false, "/api/v1/jobs?limit=1", &answer, err);
    if (!st) {
        job->state = state;
        state = NULL;
    }
    return st == HUB_NOT_FOUND || access(state ? state : "", F_OK) ? HUB_OK : st;
}

int hub_tar_job_run(void *user, struct hub_config *config)
{
    struct hub_tar_job *job = user;
    struct hub_error err = {0};
    const struct sigaction action = {.sa_handler = stop};
    job->began_ms = job->kept_ms = hub_time_mono_ms();
    enum hub_status st = look_for_hub(job, config, &err);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!st)
        st = job->work(job, config, &err);
    hub_tar_job_clear(job);
    (void)!report_job(job, "end", st ? err.detail : NULL, NULL);
    if (st)
        fprintf(stderr, "minari-hub: %s\n", stopped ? "interrupted" : err.detail);
    free(job->state);
    return stopped && st ? 130 : fflush(stdout) && !st ? HUB_EXIT_FAILED : hub_command_code(st);
}
