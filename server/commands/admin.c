/* What the running hub says of itself, for its admin: see admin.h. */
#include "server/commands/admin.h"

#include "server/commands/control.h"
#include "server/commands/mirror_command.h"
#include "server/mirror/job_kinds.h"
#include "server/service/service.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int hub_admin_failed(enum hub_status st, const struct hub_error *err)
{
    fprintf(stderr, "minari-hub: %s\n", err->detail);
    return st == HUB_NOT_FOUND  ? HUB_EXIT_NOT_RUNNING
           : st == HUB_DENIED   ? HUB_EXIT_NOT_ALLOWED
           : st == HUB_NO_SPACE ? HUB_EXIT_NO_SPACE
                                : HUB_EXIT_FAILED;
}

/* ---- reading documents ---- */

static json_int_t number(const json_t *in, const char *key)
{
    return json_integer_value(json_object_get(in, key));
}

static const char *text(const json_t *in, const char *key)
{
    const char *value = json_string_value(json_object_get(in, key));
    return value ? value : "";
}

static bool truth(const json_t *in, const char *key)
{
    return json_is_true(json_object_get(in, key));
}

/* ---- printing ---- */

/* A line, or a part of one: text out of data may hold anything. */
static void print(const char *fmt, ...) HUB_PRINTF(1, 2);
static void print(const char *fmt, ...)
{
    HUB_CLEANUP(hub_freep) char *text = NULL;
    va_list args;
    va_start(args, fmt);
    const int n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0) {
        text = NULL;
        return;
    }
    hub_utf8_clean(text, (size_t)n);
    fputs(text, stdout);
}

static void size_text(json_int_t bytes, char out[32])
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB", "PB"};
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1000 && unit + 1 < HUB_COUNT(units); unit++)
        value /= 1000;
    snprintf(out, 32, unit < 2 ? "%.0f %s" : unit == 2 ? "%.1f %s" : "%.2f %s", value, units[unit]);
}

static void age_text(const char *since, char out[32])
{
    struct tm utc = {0};
    long long s = 0;
    if (strptime(since, "%Y-%m-%dT%H:%M:%S", &utc))
        s = (long long)(hub_time_now_s() - timegm(&utc));
    if (s < 120)
        snprintf(out, 32, "%lld s", s);
    else if (s < 7200)
        snprintf(out, 32, "%lld min", s / 60);
    else
        snprintf(out, 32, "%lld h", s / 3600);
}

static void print_roots(const json_t *roots)
{
    size_t i;
    const json_t *root;
    json_array_foreach(roots, i, root)
    {
        char size[32], left[32];
        const char *name = text(root, "name");
        size_text(number(root, "size"), size);
        size_text(number(root, "free"), left);
        print("%-11s %s%s%s%s: %" JSON_INTEGER_FORMAT " dataset%s, %s; %s free", i == 0 ? "roots" : "", name,
              *name ? " = " : "", text(root, "path"), truth(root, "read_only") ? " (read only)" : "",
              number(root, "datasets"), hub_plural(number(root, "datasets")), size, left);
        putchar('\n');
    }
}

static void print_quotas(const json_t *quotas)
{
    size_t i;
    const json_t *quota;
    json_array_foreach(quotas, i, quota)
    {
        char used[32], limit[32];
        size_text(number(quota, "used"), used);
        size_text(number(quota, "limit"), limit);
        print("%-11s %s: %s of %s", i == 0 ? "quotas" : "",
              *text(quota, "prefix") ? text(quota, "prefix") : "all", used, limit);
        putchar('\n');
    }
}

static void print_datasets(const json_t *d)
{
    static const char *const statuses[] = {"ready", "pending", "broken", "unsupported"};
    char size[32];
    size_text(number(d, "size"), size);
    printf("%-11s %" JSON_INTEGER_FORMAT ":", "datasets", number(d, "total"));
    for (size_t i = 0; i < HUB_COUNT(statuses); i++)
        printf("%s %" JSON_INTEGER_FORMAT " %s", i ? "," : "", number(d, statuses[i]), statuses[i]);
    printf("; %" JSON_INTEGER_FORMAT " episodes, %" JSON_INTEGER_FORMAT " steps, %s\n", number(d, "episodes"),
           number(d, "steps"), size);
}

static void print_inspection(const json_t *status)
{
    const json_t *i = json_object_get(status, "inspection");
    const json_int_t hashing = number(status, "hashing");
    printf("%-11s ", "inspection");
    if (!truth(i, "walked"))
        printf("the roots are being read (%" JSON_INTEGER_FORMAT " directories so far)",
               number(i, "directories"));
    else if (truth(i, "idle"))
        printf("idle");
    else
        printf("%" JSON_INTEGER_FORMAT " dataset%s to go", number(i, "waiting"),
               hub_plural(number(i, "waiting")));
    if (*text(i, "current") && !truth(i, "idle"))
        print(", now %s", text(i, "current"));
    printf("; %" JSON_INTEGER_FORMAT " inspected, %" JSON_INTEGER_FORMAT " failed; %" JSON_INTEGER_FORMAT
           " sweep%s; %" JSON_INTEGER_FORMAT " file%s to hash\n",
           number(i, "inspected"), number(i, "failed"), number(i, "sweeps"), hub_plural(number(i, "sweeps")),
           hashing, hub_plural(hashing));
}

static void print_load(const json_t *status)
{
    const json_t *http = json_object_get(status, "http"), *memory = json_object_get(status, "memory"),
                 *files = json_object_get(status, "files"), *state = json_object_get(status, "state");
    char resident[32], used[32], budget[32], free_text[32];
    size_text(number(memory, "resident"), resident);
    size_text(number(memory, "budget_used"), used);
    size_text(number(memory, "budget"), budget);
    size_text(number(state, "free"), free_text);
    printf("%-11s %" JSON_INTEGER_FORMAT " in flight, %" JSON_INTEGER_FORMAT " queued, %" JSON_INTEGER_FORMAT
           " connections; %" JSON_INTEGER_FORMAT " refused, %" JSON_INTEGER_FORMAT " ended for being slow\n",
           "requests", number(http, "in_flight"), number(http, "queued"), number(http, "connections"),
           number(http, "overloads"), number(http, "deadlines"));
    printf("%-11s %s resident; answers hold %s of %s\n", "memory", resident, used, budget);
    printf("%-11s %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " open\n", "files",
           number(files, "open"), number(files, "limit"));
    print("%-11s %s, %s free", "state", text(state, "path"), free_text);
    putchar('\n');
    print("%-11s %s", "access", text(json_object_get(status, "access"), "text"));
    putchar('\n');
}

/* Of a dataset, or of the hub itself. */
static void print_problem(const json_t *problem)
{
    const char *dataset = text(problem, "dataset"), *path = text(problem, "path"),
               *local = text(problem, "local");
    print("%s%s%s: %s%s%s%s%s%s", dataset, *dataset ? ": " : "", text(problem, "code"), path,
          *path ? ": " : "", text(problem, "detail"), *local ? " (" : "", local, *local ? ")" : "");
    putchar('\n');
}

static void print_status(const json_t *status)
{
    char age[32];
    size_t i;
    const json_t *alert;
    age_text(text(status, "started"), age);
    printf("minari-hub %s, up %s, %s\n", text(status, "version"), age,
           truth(status, "draining") ? "shutting down"
           : truth(status, "ready")  ? "ready"
                                     : "not ready: the roots are being read");
    print_roots(json_object_get(status, "roots"));
    print_quotas(json_object_get(status, "quotas"));
    print_datasets(json_object_get(status, "datasets"));
    print_inspection(status);
    print_load(status);
    json_array_foreach(json_object_get(status, "alerts"), i, alert) print_problem(alert);
}

static int print_json(const json_t *document)
{
    if (json_dumpf(document, stdout, JSON_INDENT(2)) || putchar('\n') == EOF || fflush(stdout))
        return HUB_EXIT_FAILED;
    return 0;
}

/* ---- the commands ---- */

static enum hub_status fetch(const struct hub_config *config, const char *target, json_t **out,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *state = NULL;
    HUB_TRY(hub_control_state(config, &state, err));
    return hub_control_request(state, false, target, out, err);
}

/* "transfer  lab/door-v2: 1.2 GB of 3.4 GB, 56 MB/s, 39 s to go". */
static void print_transfer(const json_t *job)
{
    char done[32], of[32], rate[32];
    struct tm utc = {0};
    long long s = 0;
    if (strptime(text(job, "started"), "%Y-%m-%dT%H:%M:%S", &utc))
        s = (long long)(hub_time_now_s() - timegm(&utc));
    const json_int_t per_s = s > 0 ? number(job, "done") / s : 0,
                     left = number(job, "of") - number(job, "done");
    size_text(number(job, "done"), done);
    size_text(number(job, "of"), of);
    size_text(per_s, rate);
    print("%-11s %s: %s of %s", text(job, "kind"), text(job, "target"), done, number(job, "of") ? of : "?");
    if (per_s > 0)
        printf(", %s/s", rate);
    if (per_s > 0 && left > 0)
        printf(", %" JSON_INTEGER_FORMAT " s to go", left / per_s);
    putchar('\n');
}

static enum hub_status add_mirrors(const struct hub_config *config, json_t *status, struct hub_error *err)
{
    json_t *mirrors = NULL, *jobs = NULL;
    HUB_TRY(fetch(config, "/api/v1/mirrors?limit=1000", &mirrors, err));
    (void)json_object_set(status, "mirrors", json_object_get(mirrors, "items"));
    json_decref(mirrors);
    for (const struct hub_job_kind_row *row = hub_job_kinds; row->name; row++) {
        char target[64];
        if (!(row->flags & HUB_JOB_IN_STATUS))
            continue;
        snprintf(target, sizeof target, "/api/v1/jobs?kind=%s&state=running", row->name);
        HUB_TRY(fetch(config, target, &jobs, err));
        json_t *all = json_object_get(status, "transfers"), *items = json_object_get(jobs, "items");
        (void)(all ? json_array_extend(all, items) : json_object_set(status, "transfers", items));
        json_decref(jobs);
    }
    return HUB_OK;
}

static void print_mirrors(const json_t *status)
{
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(status, "mirrors"), i, item) hub_mirror_print(item);
    json_array_foreach(json_object_get(status, "transfers"), i, item) print_transfer(item);
}

static int show_status(const struct hub_config *config, bool again)
{
    struct hub_error err = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *status = NULL;
    enum hub_status st = fetch(config, "/api/v1/status", &status, &err);
    if (!st)
        st = add_mirrors(config, status, &err);
    if (st)
        return hub_admin_failed(st, &err);
    if (config->json)
        return print_json(status);
    if (again)
        fputs("\033[H\033[2J", stdout);
    print_status(status);
    print_mirrors(status);
    return fflush(stdout) ? EXIT_FAILURE : 0;
}

/* For somebody who looks at a terminal until they have seen enough (Ctrl-C), or the hub ends. */
int hub_admin_status(const struct hub_config *config)
{
    const bool watched = isatty(STDOUT_FILENO) && !config->json;
    int code;
    do
        code = show_status(config, watched);
    while (!code && watched && nanosleep(&(struct timespec){.tv_sec = 1}, NULL) == 0);
    return code;
}

/* All pages into one array. `next` is an absolute URL; what follows the host is asked for. */
static enum hub_status gather(const char *state, json_t *all, struct hub_error *err)
{
    char target[4096] = "/api/v1/problems?limit=1000";
    while (*target) {
        HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
        HUB_TRY(hub_control_request(state, false, target, &page, err));
        if (json_array_extend(all, json_object_get(page, "items")))
            return hub_no_memory(err);
        const char *next = text(page, "next"), *path = strstr(next, "/api/");
        snprintf(target, sizeof target, "%s", path ? path : "");
    }
    return HUB_OK;
}

int hub_admin_problems(const struct hub_config *config)
{
    struct hub_error err = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *all = json_array();
    HUB_CLEANUP(hub_freep) char *state = NULL;
    size_t i;
    const json_t *problem;
    enum hub_status st = all ? hub_control_state(config, &state, &err) : hub_no_memory(&err);
    if (!st)
        st = gather(state, all, &err);
    if (st)
        return hub_admin_failed(st, &err);
    if (config->json)
        return print_json(all);
    json_array_foreach(all, i, problem) print_problem(problem);
    fprintf(stderr, "%zu problem%s\n", json_array_size(all), hub_plural(json_array_size(all)));
    return fflush(stdout) ? EXIT_FAILURE : 0;
}

static bool blocks_dataset(const json_t *problem)
{
    const char *code = text(problem, "code");
    return strcmp(code, "dataset-broken") == 0 || strcmp(code, "dataset-unsupported") == 0;
}

static enum hub_status sweep(const char *state, const char *forget, json_t **status, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *before = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_buf_addf(&target, err, "/api/v1/sweep%s", forget ? "?forget=" : ""));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(forget ? forget : ""), &target, err));
    HUB_TRY(hub_control_request(state, true, target.data, &before, err));
    for (;;) {
        HUB_TRY(hub_control_request(state, false, "/api/v1/status", status, err));
        const json_t *now = json_object_get(*status, "inspection"), *disk = json_object_get(*status, "state");
        if (truth(disk, "full"))
            return hub_no_space(text(disk, "path"), (uint64_t)number(disk, "free"), err);
        if (number(now, "sweeps") > number(before, "sweeps") && truth(now, "idle"))
            return HUB_OK;
        hub_json_decrefp(status);
        *status = NULL;
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    }
}

enum hub_status hub_admin_scan(const char *state, const char *forget, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *status = NULL, *all = json_array();
    size_t i;
    const json_t *problem;
    HUB_TRY(hub_allocated(all, err));
    HUB_TRY(sweep(state, forget, &status, err));
    HUB_TRY(gather(state, all, err));
    json_array_foreach(all, i, problem) if (blocks_dataset(problem)) print_problem(problem);
    print_datasets(json_object_get(status, "datasets"));
    return HUB_OK;
}
