/* minari-inspect: what is this dataset? Also the hub's worker (--worker), which runs the same drivers in the
 * same sandbox. */
#include "storage/formats/registry.h"
#include "storage/io/fs.h"
#include "storage/program/cli.h"
#include "storage/worker/worker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct program_run {
    bool json, strict, broken, flawed;
    uint32_t count;
};

static enum hub_status print(void *user, const struct hub_report *report, struct hub_error *err)
{
    struct program_run *run = user;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(4 * GIB);
    HUB_TRY(run->json ? hub_report_json(report, &out, err) : hub_report_text(report, &out, err));
    if (run->json && run->count)
        fputs(",\n", stdout);
    run->count++;
    run->broken = run->broken || strcmp(report->status, "broken") == 0;
    run->flawed = run->flawed || report->problems || (report->format && strcmp(report->status, "ready") != 0);
    for (uint32_t i = 0; i < report->field_count; i++)
        run->flawed = run->flawed || report->fields[i].unreadable;
    fwrite(out.data, 1, out.size, stdout);
    return ferror(stdout) ? hub_fail(err, HUB_IO, "writing the report failed") : HUB_OK;
}

static int exit_code(enum hub_status st, const struct program_run *run, const struct hub_error *err)
{
    if (st) {
        fprintf(stderr, "minari-inspect: %s\n", err->detail);
        return st == HUB_NOT_FOUND ? HUB_EXIT_NOT_FOUND : HUB_EXIT_FAILED;
    }
    if (run->strict && (run->flawed || run->broken))
        return HUB_EXIT_FAILED;
    return run->broken ? HUB_EXIT_BROKEN : HUB_EXIT_OK;
}

/* It is there, and we may look into it. */
static enum hub_status check_path(const char *path, struct hub_error *err)
{
    struct stat there;
    char user[HUB_USER_BYTES];
    const bool known = stat(path, &there) == 0;
    if (!known && errno != EACCES)
        return hub_fail(err, HUB_NOT_FOUND, "there is no %s", path);
    if (known && access(path, S_ISDIR(there.st_mode) ? R_OK | X_OK : R_OK) == 0)
        return HUB_OK;
    hub_fs_user(user);
    return hub_fail(err, HUB_DENIED, "%s: permission denied: user %s may not read it", path, user);
}

static int inspect(struct hub_find *find, char *path, struct hub_inspector_options options,
                   struct program_run *run)
{
    struct hub_error err = {0};
    char *last = path + strlen(path);
    while (last - path > 1 && last[-1] == '/')
        *--last = '\0';
    find->path = path;
    find->each = print;
    find->user = run;
    options.program = "/proc/self/exe";
    enum hub_status st = check_path(path, &err);
    if (!st)
        st = hub_inspector_new(&options, &find->inspector, &err);
    if (!st) {
        if (run->json)
            fputs("{\"inspector\":\"" HUB_VERSION "\",\"datasets\":[", stdout);
        st = hub_find_datasets(find, &err);
        if (run->json)
            fputs("]}\n", stdout);
    }
    hub_inspector_free(find->inspector);
    if (fflush(stdout) && !st)
        st = hub_fail(&err, HUB_IO, "writing the report failed");
    return exit_code(st, run, &err);
}

static int usage(const char *what, const char *argument)
{
    fprintf(stderr, "minari-inspect: %s%s%s (see --help)\n", what, argument ? ": " : "",
            argument ? argument : "");
    return HUB_EXIT_USAGE;
}

static bool parse_seconds(const char *text, unsigned *milliseconds)
{
    char *end;
    const unsigned long seconds = text ? strtoul(text, &end, 10) : 0;
    if (!text || text[0] < '0' || text[0] > '9' || *end || seconds == 0 || seconds > 86400)
        return false;
    *milliseconds = (unsigned)seconds * 1000;
    return true;
}

/* An option that has a value; NULL: fine, else what is wrong with it. */
static const char *take_value(const char *option, const char *value, struct hub_find *find,
                              struct hub_inspector_options *options)
{
    if (strcmp(option, "--timeout") == 0)
        return parse_seconds(value, &options->wall_ms)
                   ? NULL
                   : "--timeout must be a number of seconds from 1 to 86400";
    if (strcmp(option, "--allow-target") != 0)
        return "unknown option";
    if (!value || find->target_count == HUB_MAX_TARGETS)
        return "--allow-target must be a folder, at most 16 times";
    find->targets[find->target_count++] = value;
    return NULL;
}

int main(int argc, char **argv)
{
    struct hub_inspector_options options = HUB_INSPECTOR_OPTIONS_INIT;
    struct hub_find find = {0};
    struct program_run run = {0};
    char *path = NULL;
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return hub_worker_main(hub_formats);
    if (argc == 3 && strcmp(argv[1], "--generate") == 0)
        return hub_inspect_generate(argv[2]);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return hub_inspect_help();
        if (strcmp(argv[i], "--version") == 0)
            return puts("minari-inspect " HUB_VERSION) < 0;
        if (strcmp(argv[i], "--json") == 0) {
            run.json = true;
        } else if (strcmp(argv[i], "--strict") == 0) {
            run.strict = true;
        } else if (strcmp(argv[i], "--unsafe") == 0) {
            options.unsafe = true;
        } else if (argv[i][0] == '-' && argv[i][1]) {
            const char *wrong = take_value(argv[i], argv[i + 1], &find, &options);
            if (wrong)
                return usage(wrong, argv[i]);
            i++;
        } else if (path) {
            return usage("more than one path", argv[i]);
        } else {
            path = argv[i];
        }
    }
    return path ? inspect(&find, path, options, &run) : usage("a path is missing", NULL);
}
