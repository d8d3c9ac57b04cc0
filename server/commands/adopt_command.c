/* `minari-hub adopt`: see adopt_command.h. */
#include "server/commands/adopt_command.h"

#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/followed_job.h"
#include "server/mirror/adopt.h"
#include "storage/text/number.h"

#include <inttypes.h>

struct adopt_command {
    struct hub_followed_job job; /* first */
    const char *all;             /* NULL: by ids */
};

#define AT(member) HUB_OPTION_AT(TEXT, struct adopt_command, member)
const struct hub_usage_option hub_adopt_usage[HUB_ADOPT_OPTIONS] = {
    {0, "all", "PREFIX", NULL, "all datasets below this prefix of ids; '' for all", AT(all)},
    {0, "json", NULL, NULL, "print JSON", AT(job.json)},
};

static enum hub_status fill_spec(void *user, struct hub_error *err)
{
    const struct adopt_command *c = user;
    const bool named = json_object_get(c->job.spec, "ids");
    if (named == (c->all != NULL))
        return hub_fail(err, HUB_INVALID,
                        "adopt: name datasets by their ids, or all below a prefix: --all lab/");
    return c->all ? hub_allocated(json_object_set_new(c->job.spec, "all", json_string(c->all)) == 0, err)
                  : HUB_OK;
}

/* Where no hub runs. */
static enum hub_status order(struct hub_truth *truth, struct hub_catalog *catalog, const json_t *spec,
                             int64_t *id, struct hub_error *err)
{
    return hub_adopt_request(truth, catalog, spec, "local", id, err);
}

static void print_result(const json_t *result)
{
    char bytes[HUB_SIZE_CHARS];
    const json_t *item;
    size_t i;
    json_array_foreach(json_object_get(result, "items"), i, item)
    {
        const char *refused = hub_followed_text(item, "refused");
        if (*refused)
            hub_followed_line("refused   %s: %s", hub_followed_text(item, "dataset"), refused);
        else
            hub_followed_line("adopted   %s: commit %s", hub_followed_text(item, "dataset"),
                              hub_followed_text(item, "commit"));
    }
    hub_number_size(hub_followed_number(result, "bytes"), bytes);
    const uint64_t adopted = hub_followed_number(result, "adopted"),
                   files = hub_followed_number(result, "files");
    hub_followed_line("%" PRIu64 " dataset%s adopted (%" PRIu64 " file%s, %s), %" PRIu64
                      " the hub's own already, %" PRIu64 " refused",
                      adopted, hub_plural(adopted), files, hub_plural(files), bytes,
                      hub_followed_number(result, "owned"), hub_followed_number(result, "refused"));
}

static int exit_code(const json_t *result)
{
    return hub_followed_number(result, "refused") ? HUB_EXIT_FAILED : 0;
}

int hub_adopt_command(char **argv)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = json_object();
    struct adopt_command c = {.job = {.name = "adopt",
                                      .noun = "adoption",
                                      .verb = "reading",
                                      .stopped = "the next one goes on with the files that were read",
                                      .order = order,
                                      .print = print_result,
                                      .code = exit_code,
                                      .spec = spec}};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_adopt_usage),
                                                 .word = hub_followed_job_word,
                                                 .check = fill_spec,
                                                 .run = hub_followed_job_run,
                                                 .user = &c},
                           argv);
}
