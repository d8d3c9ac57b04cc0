/* `minari-hub check`: see check_command.h. */
#include "server/commands/check_command.h"

#include "server/commands/admin.h"
#include "server/commands/check_sources.h"
#include "server/commands/command.h"
#include "server/commands/followed_job.h"
#include "server/mirror/check.h"
#include "storage/text/number.h"

#include <inttypes.h>

struct check_command {
    struct hub_followed_job job; /* first */
    bool repair, deep;
    struct hub_backup backup; /* of `from` */
    const char *from;         /* the folder of a backup; NULL: none is named */
    uint64_t rate;            /* bytes a second; 0: any */
};

#define AT(kind, member) HUB_OPTION_AT(kind, struct check_command, member)
const struct hub_usage_option hub_check_usage[HUB_CHECK_OPTIONS] = {
    {0, "repair", NULL, NULL, "fetch damaged files again from their origin", AT(TEXT, repair)},
    {0, "deep", NULL, NULL,
     "what the hub owns, by its commits, earlier revisions and objects of repos too: what is missing or "
     "changed, and where it can come from",
     AT(TEXT, deep)},
    {0, "from", "DIR", NULL, "with --deep: a folder of `minari-hub backup` that it can come from, too",
     AT(TEXT, from)},
    {0, "rate", "BYTES", NULL, "read at most this many bytes per second, such as 50M", AT(SIZE, rate)},
    {0, "json", NULL, NULL, "print JSON", AT(TEXT, job.json)},
};

/* ---- what it is asked for ---- */

static int exit_code(const json_t *result)
{
    return hub_followed_number(result, "damaged") ? HUB_EXIT_CORRUPT : 0;
}

/* What the hub owns has to be there, and as it was published. */
static int exit_code_deep(const json_t *result)
{
    return hub_followed_number(result, "missing") || hub_followed_number(result, "object-changed")
               ? HUB_EXIT_CORRUPT
               : exit_code(result);
}

static enum hub_status fill_spec(void *user, struct hub_error *err)
{
    struct check_command *c = user;
    if (c->from && !c->deep)
        return hub_fail(err, HUB_INVALID, "check: --from is for --deep");
    if (c->deep)
        c->job.code = exit_code_deep;
    if (c->deep)
        HUB_TRY(hub_allocated(json_object_set_new(c->job.spec, "deep", json_true()) == 0, err));
    if (c->repair)
        HUB_TRY(hub_allocated(json_object_set_new(c->job.spec, "repair", json_true()) == 0, err));
    json_t *rate = c->rate ? json_integer((json_int_t)c->rate) : NULL;
    return c->rate ? hub_allocated(json_object_set_new(c->job.spec, "rate", rate) == 0, err) : HUB_OK;
}

static void print_objects(const json_t *result)
{
    const uint64_t objects = hub_followed_number(result, "objects"),
                   orphaned = hub_followed_number(result, "orphaned");
    if (objects || orphaned)
        hub_followed_line("%" PRIu64 " object%s of repos %s intact, %" PRIu64 " needed by nobody", objects,
                          hub_plural(objects), objects == 1 ? "is" : "are", orphaned);
}

static void print_result(const json_t *result)
{
    char bytes[HUB_SIZE_CHARS], fetched[HUB_SIZE_CHARS];
    const json_t *finding, *source;
    size_t i, k;
    json_array_foreach(json_object_get(result, "findings"), i, finding)
    {
        const char *path = hub_followed_text(finding, "path");
        hub_followed_line("%-9s %s: %s%s%s", hub_followed_text(finding, "what"),
                          hub_followed_text(finding, "dataset"), path, *path ? ": " : "",
                          hub_followed_text(finding, "detail"));
        json_array_foreach(json_object_get(finding, "sources"), k, source)
            hub_followed_line("          the same file is in %s", json_string_value(source));
    }
    hub_number_size(hub_followed_number(result, "bytes"), bytes);
    hub_number_size(hub_followed_number(result, "fetched"), fetched);
    const uint64_t datasets = hub_followed_number(result, "datasets"),
                   files = hub_followed_number(result, "files"),
                   changed = hub_followed_number(result, "changed"),
                   missing = hub_followed_number(result, "missing");
    hub_followed_line("%" PRIu64 " dataset%s: %" PRIu64 " file%s, %s, %s; %" PRIu64 " %s changed, %" PRIu64
                      " hashed for the first time, %" PRIu64 " %s missing",
                      datasets, hub_plural(datasets), files, hub_plural(files), bytes,
                      files == 1 ? "is intact" : "are intact", changed, changed == 1 ? "was" : "were",
                      hub_followed_number(result, "first"), missing, missing == 1 ? "is" : "are");
    hub_followed_line("%" PRIu64 " damaged, %" PRIu64 " repaired (%s fetched)",
                      hub_followed_number(result, "damaged") + hub_followed_number(result, "repaired"),
                      hub_followed_number(result, "repaired"), fetched);
    print_objects(result);
    if (hub_followed_number(result, "object-changed"))
        hub_followed_line("%" PRIu64 " changed in place", hub_followed_number(result, "object-changed"));
}

static void offer_backup(struct hub_followed_job *job, json_t *result)
{
    const struct check_command *c = (const struct check_command *)job;
    if (c->from)
        hub_check_offer_backup(c->from, &c->backup, result);
}

static int run(void *user, struct hub_config *config)
{
    struct check_command *c = user;
    struct hub_error err = {0};
    const enum hub_status st = c->from ? hub_check_read_backup(c->from, &c->backup, &err) : HUB_OK;
    if (st)
        fprintf(stderr, "minari-hub: %s\n", err.detail);
    const int code = st ? hub_command_code(st) : hub_followed_job_run(user, config);
    hub_backup_dispose(&c->backup);
    return code;
}

int hub_check_command(char **argv)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = json_object();
    struct check_command c = {.job = {.name = "check",
                                      .noun = "check",
                                      .verb = "checking",
                                      .stopped = "the next one starts from the beginning",
                                      .order = hub_check_request,
                                      .amend = offer_backup,
                                      .print = print_result,
                                      .code = exit_code,
                                      .spec = spec}};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_check_usage),
                                                 .word = hub_followed_job_word,
                                                 .check = fill_spec,
                                                 .run = run,
                                                 .user = &c},
                           argv);
}
