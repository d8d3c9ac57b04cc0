/* A job that is followed: see followed_job.h. */
#include "server/commands/followed_job.h"

#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "server/mirror/mirror.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_MS = 200 };

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* ---- its spec ---- */

enum hub_status hub_followed_job_word(void *user, const char *id, struct hub_error *err)
{
    const struct hub_followed_job *job = user;
    json_t *ids = json_object_get(job->spec, "ids");
    if (!ids && json_object_set_new(job->spec, "ids", ids = json_array()))
        return hub_no_memory(err);
    return json_array_append_new(ids, json_string(id))
               ? hub_fail(err, HUB_INVALID, "%s: \"%.80s\" is not an id", job->name, id)
               : HUB_OK;
}

/* ---- asking and looking ---- */

static enum hub_status query_hub(struct hub_followed_job *c, json_t **job, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(4 * MIB);
    HUB_CLEANUP(hub_freep) char *spec = json_dumps(c->spec, JSON_COMPACT);
    HUB_TRY(hub_allocated(spec, err));
    HUB_TRY(hub_buf_addf(&target, err, "/api/v1/%s?spec=", c->name));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(spec), &target, err));
    HUB_TRY(hub_control_request(c->state, true, target.data, job, err));
    const char *id = json_string_value(json_object_get(*job, "id"));
    snprintf(c->job, sizeof c->job, "%s", id ? id : "");
    return HUB_OK;
}

static enum hub_status begin_here(struct hub_followed_job *c, struct hub_error *err)
{
    HUB_TRY(hub_config_finish(c->config, err));
    const struct hub_catalog_options options = {.state = c->config->state, .roots = &c->config->roots};
    HUB_TRY(hub_stores_open(&options, &c->stores, err));
    const enum hub_status st = c->order(c->stores.truth, c->stores.catalog, c->spec, &c->row, err);
    if (st && st != HUB_EXISTS)
        return st;
    const struct hub_mirrors_options work = {.catalog = c->stores.catalog,
                                             .truth = c->stores.truth,
                                             .roots = &c->config->roots,
                                             .checks_only = true};
    return hub_mirrors_start(&work, &c->worker, err);
}

static enum hub_status look_here(const struct hub_followed_job *c, json_t **job, struct hub_error *err)
{
    struct hub_job_row row;
    HUB_TRY(hub_job_find(c->stores.truth, c->row, &row, err));
    json_t *result = json_loads(*row.result ? row.result : "{}", 0, NULL);
    *job = json_pack("{s:s, s:I, s:I, s:s, s:o}", "state", hub_job_states[row.state], "done",
                     (json_int_t)row.done, "of", (json_int_t)row.total, "error", row.error, "result", result);
    hub_job_dispose(&row);
    return hub_allocated(*job, err);
}

static enum hub_status look(const struct hub_followed_job *c, json_t **job, struct hub_error *err)
{
    char target[64];
    if (c->stores.truth)
        return look_here(c, job, err);
    snprintf(target, sizeof target, "/api/v1/jobs/%s", c->job);
    return hub_control_request(c->state, false, target, job, err);
}

static void stop(struct hub_followed_job *c)
{
    char target[64];
    json_t *job = NULL;
    snprintf(target, sizeof target, "/api/v1/jobs/%s?do=stop", c->job);
    hub_mirrors_stop(c->worker);
    c->worker = NULL;
    if (c->stores.truth)
        (void)!hub_job_stop(c->stores.truth, c->row, NULL);
    else if (!hub_control_request(c->state, true, target, &job, NULL))
        json_decref(job);
}

/* ---- printing ---- */

const char *hub_followed_text(const json_t *in, const char *key)
{
    const char *value = json_string_value(json_object_get(in, key));
    return value ? value : "";
}

uint64_t hub_followed_number(const json_t *in, const char *key)
{
    const json_int_t n = json_integer_value(json_object_get(in, key));
    return n > 0 ? (uint64_t)n : 0;
}

void hub_followed_line(const char *fmt, ...)
{
    char line[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    hub_utf8_clean(line, strlen(line));
    puts(line);
}

static void show_progress(const struct hub_followed_job *c, const json_t *job, int64_t begun_ms)
{
    const uint64_t done = hub_followed_number(job, "done"), of = hub_followed_number(job, "of"),
                   ms = (uint64_t)(hub_time_mono_ms() - begun_ms);
    const uint64_t rate = ms ? done * 1000 / ms : 0;
    char done_text[HUB_SIZE_CHARS], of_text[HUB_SIZE_CHARS], rate_text[HUB_SIZE_CHARS];
    hub_number_size(done, done_text);
    hub_number_size(of, of_text);
    hub_number_size(rate, rate_text);
    fprintf(stderr, "\r\033[K%s %3u%%  %s of %s, %s/s", c->verb, of ? (unsigned)(done * 100 / of) : 0,
            done_text, of_text, rate_text);
    if (rate && of > done)
        fprintf(stderr, ", %" PRIu64 " s to go", (of - done) / rate);
}

static int report(struct hub_followed_job *c, const json_t *job)
{
    json_t *result = json_object_get(job, "result");
    const bool failed = strcmp(hub_followed_text(job, "state"), "failed") == 0;
    if (c->amend)
        c->amend(c, result);
    if (c->json && (json_dumpf(result, stdout, JSON_INDENT(2)) || putchar('\n') == EOF))
        return HUB_EXIT_FAILED;
    if (!c->json)
        c->print(result);
    if (failed)
        fprintf(stderr, "minari-hub: the %s ended early: %s\n", c->noun, hub_followed_text(job, "error"));
    return fflush(stdout) || failed ? HUB_EXIT_FAILED : c->code(result);
}

/* ---- the command ---- */

static int follow(struct hub_followed_job *c, struct hub_error *err)
{
    const int64_t begun_ms = hub_time_mono_ms();
    const bool terminal = isatty(STDERR_FILENO);
    for (;;) {
        HUB_CLEANUP(hub_json_decrefp) json_t *job = NULL;
        const enum hub_status st = look(c, &job, err);
        if (terminal)
            fputs("\r\033[K", stderr);
        if (st)
            return hub_admin_failed(st, err);
        const char *state = hub_followed_text(job, "state");
        if (strcmp(state, "done") == 0 || strcmp(state, "failed") == 0)
            return report(c, job);
        if (interrupted) {
            stop(c);
            fprintf(stderr, "minari-hub: the %s is stopped; %s\n", c->noun, c->stopped);
            return HUB_EXIT_INTERRUPTED;
        }
        if (terminal)
            show_progress(c, job, begun_ms);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

int hub_followed_job_run(void *user, struct hub_config *config)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *job = NULL;
    const struct sigaction action = {.sa_handler = on_signal};
    struct hub_error err = {0};
    struct hub_followed_job *c = user;
    c->config = config;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    enum hub_status st = hub_control_state(config, &c->state, &err);
    if (!st)
        st = query_hub(c, &job, &err);
    if (st == HUB_NOT_FOUND && err.problem != HUB_PROBLEM_DATASET_NOT_FOUND)
        st = begin_here(c, &err);
    if (st)
        fprintf(stderr, "minari-hub: %s\n", err.detail);
    const int code = st ? hub_command_code(st) : follow(c, &err);
    hub_mirrors_stop(c->worker);
    hub_stores_close(&c->stores);
    free(c->state);
    return code;
}
