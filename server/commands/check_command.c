/* `minari-hub check`: see check_command.h. */
#include "server/commands/check_command.h"

#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "server/mirror/check.h"
#include "server/mirror/mirror.h"
#include "server/service/stores.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOK_MS = 200 };

/* A check under way: asked for and looked at through the running hub, or in the catalogue itself. */
struct check_command {
    json_t *spec;
    bool json, repair;
    uint64_t rate; /* bytes a second; 0: any */

    struct hub_config *config;
    char *state;
    struct hub_stores stores; /* empty: the running hub's */
    struct hub_mirrors *worker;
    char job[HUB_JOB_ID + 1]; /* the running hub's */
    int64_t row;              /* of hub.db's */
};

#define AT(kind, member) HUB_OPTION_AT(kind, struct check_command, member)
const struct hub_usage_option hub_check_usage[HUB_CHECK_OPTIONS] = {
    {0, "repair", NULL, NULL, "fetch damaged files again from their origin", AT(TEXT, repair)},
    {0, "rate", "BYTES", NULL, "read at most this many bytes per second, such as 50M", AT(SIZE, rate)},
    {0, "json", NULL, NULL, "print JSON", AT(TEXT, json)},
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* ---- reading ---- */

static enum hub_status add_id(void *user, const char *id, struct hub_error *err)
{
    json_t *spec = ((struct check_command *)user)->spec, *ids = json_object_get(spec, "ids");
    if (!ids && json_object_set_new(spec, "ids", ids = json_array()))
        return hub_no_memory(err);
    return json_array_append_new(ids, json_string(id))
               ? hub_fail(err, HUB_INVALID, "check: \"%.80s\" is not an id", id)
               : HUB_OK;
}

static enum hub_status fill_spec(void *user, struct hub_error *err)
{
    const struct check_command *c = user;
    if (c->repair)
        HUB_TRY(hub_allocated(json_object_set_new(c->spec, "repair", json_true()) == 0, err));
    json_t *rate = c->rate ? json_integer((json_int_t)c->rate) : NULL;
    return c->rate ? hub_allocated(json_object_set_new(c->spec, "rate", rate) == 0, err) : HUB_OK;
}

/* ---- asking and looking ---- */

static enum hub_status query_hub(struct check_command *c, json_t **job, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(4 * MIB);
    HUB_CLEANUP(hub_freep) char *spec = json_dumps(c->spec, JSON_COMPACT);
    HUB_TRY(hub_allocated(spec, err));
    HUB_TRY(hub_buf_add_text(&target, "/api/v1/check?spec=", err));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(spec), &target, err));
    HUB_TRY(hub_control_request(c->state, true, target.data, job, err));
    const char *id = json_string_value(json_object_get(*job, "id"));
    snprintf(c->job, sizeof c->job, "%s", id ? id : "");
    return HUB_OK;
}

static enum hub_status begin_here(struct check_command *c, struct hub_error *err)
{
    HUB_TRY(hub_config_finish(c->config, err));
    const struct hub_catalog_options options = {.state = c->config->state, .roots = &c->config->roots};
    HUB_TRY(hub_stores_open(&options, &c->stores, err));
    const enum hub_status st = hub_check_request(c->stores.truth, c->stores.catalog, c->spec, &c->row, err);
    if (st && st != HUB_EXISTS)
        return st;
    const struct hub_mirrors_options work = {.catalog = c->stores.catalog,
                                             .truth = c->stores.truth,
                                             .roots = &c->config->roots,
                                             .checks_only = true};
    return hub_mirrors_start(&work, &c->worker, err);
}

static enum hub_status look_here(const struct check_command *c, json_t **job, struct hub_error *err)
{
    struct hub_job_row row;
    HUB_TRY(hub_job_find(c->stores.truth, c->row, &row, err));
    json_t *result = json_loads(*row.result ? row.result : "{}", 0, NULL);
    *job = json_pack("{s:s, s:I, s:I, s:s, s:o}", "state", hub_job_states[row.state], "done",
                     (json_int_t)row.done, "of", (json_int_t)row.total, "error", row.error, "result", result);
    hub_job_dispose(&row);
    return hub_allocated(*job, err);
}

static enum hub_status look(const struct check_command *c, json_t **job, struct hub_error *err)
{
    char target[64];
    if (c->stores.truth)
        return look_here(c, job, err);
    snprintf(target, sizeof target, "/api/v1/jobs/%s", c->job);
    return hub_control_request(c->state, false, target, job, err);
}

static void stop(struct check_command *c)
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

static const char *text(const json_t *in, const char *key)
{
    const char *value = json_string_value(json_object_get(in, key));
    return value ? value : "";
}

static uint64_t number(const json_t *in, const char *key)
{
    const json_int_t n = json_integer_value(json_object_get(in, key));
    return n > 0 ? (uint64_t)n : 0;
}

static void print_line(const char *fmt, ...) HUB_PRINTF(1, 2);
static void print_line(const char *fmt, ...)
{
    char line[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    hub_utf8_clean(line, strlen(line));
    puts(line);
}

static void show_progress(const json_t *job, int64_t begun_ms)
{
    const uint64_t done = number(job, "done"), of = number(job, "of"),
                   ms = (uint64_t)(hub_time_mono_ms() - begun_ms);
    const uint64_t rate = ms ? done * 1000 / ms : 0;
    char done_text[HUB_SIZE_CHARS], of_text[HUB_SIZE_CHARS], rate_text[HUB_SIZE_CHARS];
    hub_number_size(done, done_text);
    hub_number_size(of, of_text);
    hub_number_size(rate, rate_text);
    fprintf(stderr, "\r\033[Kchecking %3u%%  %s of %s, %s/s", of ? (unsigned)(done * 100 / of) : 0, done_text,
            of_text, rate_text);
    if (rate && of > done)
        fprintf(stderr, ", %" PRIu64 " s to go", (of - done) / rate);
}

static void print_result(const json_t *result)
{
    char bytes[HUB_SIZE_CHARS], fetched[HUB_SIZE_CHARS];
    const json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(result, "findings"), i, finding)
    {
        const char *path = text(finding, "path");
        print_line("%-9s %s: %s%s%s", text(finding, "what"), text(finding, "dataset"), path,
                   *path ? ": " : "", text(finding, "detail"));
    }
    hub_number_size(number(result, "bytes"), bytes);
    hub_number_size(number(result, "fetched"), fetched);
    const uint64_t datasets = number(result, "datasets"), files = number(result, "files"),
                   changed = number(result, "changed"), missing = number(result, "missing");
    print_line("%" PRIu64 " dataset%s: %" PRIu64 " file%s, %s, %s; %" PRIu64 " %s changed, %" PRIu64
               " hashed for the first time, %" PRIu64 " %s missing",
               datasets, hub_plural(datasets), files, hub_plural(files), bytes,
               files == 1 ? "is intact" : "are intact", changed, changed == 1 ? "was" : "were",
               number(result, "first"), missing, missing == 1 ? "is" : "are");
    print_line("%" PRIu64 " damaged, %" PRIu64 " repaired (%s fetched)",
               number(result, "damaged") + number(result, "repaired"), number(result, "repaired"), fetched);
}

static int report(const struct check_command *c, const json_t *job)
{
    const json_t *result = json_object_get(job, "result");
    const bool failed = strcmp(text(job, "state"), "failed") == 0;
    if (c->json && (json_dumpf(result, stdout, JSON_INDENT(2)) || putchar('\n') == EOF))
        return HUB_EXIT_FAILED;
    if (!c->json)
        print_result(result);
    if (failed)
        fprintf(stderr, "minari-hub: the check ended early: %s\n", text(job, "error"));
    if (fflush(stdout) || failed)
        return HUB_EXIT_FAILED;
    return number(result, "damaged") ? HUB_EXIT_CORRUPT : 0;
}

/* ---- the command ---- */

static int follow(struct check_command *c, struct hub_error *err)
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
        const char *state = text(job, "state");
        if (strcmp(state, "done") == 0 || strcmp(state, "failed") == 0)
            return report(c, job);
        if (interrupted) {
            stop(c);
            fputs("minari-hub: the check is stopped; the next one starts from the beginning\n", stderr);
            return HUB_EXIT_INTERRUPTED;
        }
        if (terminal)
            show_progress(job, begun_ms);
        nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000L}, NULL);
    }
}

static int run(void *user, struct hub_config *config)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *job = NULL;
    const struct sigaction action = {.sa_handler = on_signal};
    struct hub_error err = {0};
    struct check_command *c = user;
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

int hub_check_command(char **argv)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = json_object();
    struct check_command c = {.spec = spec};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_check_usage),
                                                 .word = add_id,
                                                 .check = fill_spec,
                                                 .run = run,
                                                 .user = &c},
                           argv);
}
