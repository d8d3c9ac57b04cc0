/* `minari-hub import`: see tar_command.h. Where a hub runs it knows the roots; the tar is unpacked and its
 * datasets are published here, so that it may come out of a pipe. */
#include "server/commands/tar_command.h"

#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "server/commands/tar_job.h"
#include "server/http/server.h"
#include "server/service/stores.h"
#include "storage/scan/presence.h"
#include "storage/text/number.h"
#include "storage/transfer/import.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <unistd.h>

#define TRUTH "hub.db" /* of a state directory where a hub has run */

struct import_command {
    struct hub_tar_job job;
    bool json, replace;
    const char *tar, *root, *as;
    struct hub_import *importing;
};

#define AT(member) HUB_OPTION_AT(TEXT, struct import_command, member)
const struct hub_usage_option hub_import_rows[HUB_IMPORT_OPTIONS] = {
    {0, "root", "NAME", NULL,
     "the root to import into, by its name or directory; needed if there are several", AT(root)},
    {0, "as", "NAME/", NULL, "put NAME/ before the ids; without the slash: the name of the one dataset",
     AT(as)},
    {0, "replace", NULL, NULL, "replace datasets by those of the tar", AT(replace)},
    {0, "json", NULL, NULL, "print JSON", AT(json)},
};

static enum hub_status take_tar(void *user, const char *word, struct hub_error *err)
{
    struct import_command *c = user;
    if (c->tar)
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is an extra argument", word);
    c->tar = c->job.name = word;
    return HUB_OK;
}

static enum hub_status check(void *user, struct hub_error *err)
{
    const struct import_command *c = user;
    return c->tar ? HUB_OK : hub_fail(err, HUB_INVALID, "import: name a tar, or - for standard input");
}

static enum hub_status tick(void *user, struct hub_error *err)
{
    struct import_command *c = user;
    if (c->importing)
        c->job.done = c->importing->unpack.bytes_read;
    return hub_tar_job_tick(&c->job, err);
}

static void notice(const char *line, void *user)
{
    hub_tar_job_clear(&((struct import_command *)user)->job);
    fprintf(stderr, "minari-hub: %s\n", line);
}

/* Those of the hub that runs, and a bit in `missing` of each that is not mounted. */
static enum hub_status query_roots(const char *state, struct hub_roots *out, uint64_t *missing,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *status = NULL;
    const json_t *root;
    size_t i;
    HUB_TRY(hub_control_request(state, false, "/api/v1/status", &status, err));
    json_array_foreach(json_object_get(status, "roots"), i, root)
    {
        const char *name = json_string_value(json_object_get(root, "name")),
                   *path = json_string_value(json_object_get(root, "path"));
        HUB_TRY(hub_roots_add(out, path ? path : "", name && *name ? name : NULL, err));
        out->roots[out->count - 1].read_only = json_is_true(json_object_get(root, "read_only"));
        if (json_is_true(json_object_get(root, "missing")))
            *missing |= UINT64_C(1) << (out->count - 1);
    }
    return HUB_OK;
}

static enum hub_status choose_root(const struct hub_roots *roots, const char *wanted,
                                   const struct hub_root **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *real = wanted && strchr(wanted, '/') ? realpath(wanted, NULL) : NULL;
    *out = NULL;
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *r = &roots->roots[i];
        if (wanted ? strcmp(hub_root_key(r), wanted) == 0 || (real && strcmp(r->real, real) == 0) ||
                         strcmp(r->path, wanted) == 0
                   : roots->count == 1)
            *out = r;
    }
    if (!*out && wanted)
        return hub_fail(err, HUB_INVALID, "--root %.200s is not a root of the hub", wanted);
    if (!*out)
        return hub_fail(err, HUB_INVALID, "the hub has %u roots: choose one with --root NAME", roots->count);
    return (*out)->read_only
               ? hub_fail(err, HUB_DENIED, "the root %s is read-only in the configuration (:ro)",
                          hub_root_key(*out))
               : HUB_OK;
}

/* What root imports is the hub's, whose file in the state directory this is. */
static enum hub_status become_owner(const char *state, const char *name, struct hub_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%.4000s/%s", state, name);
    if (geteuid() != 0 || stat(path, &st) || st.st_uid == 0)
        return HUB_OK;
    return setgroups(0, NULL) || setresgid(st.st_gid, st.st_gid, st.st_gid) ||
                   setresuid(st.st_uid, st.st_uid, st.st_uid)
               ? hub_fail_errno(err, errno, "this process cannot change to the user of the hub")
               : HUB_OK;
}

/* Whether a root had datasets and is not mounted, as the hub knew when it ran last. */
static enum hub_status check_presence(const struct hub_config *config, const struct hub_root *root,
                                      struct hub_error *err)
{
    struct hub_stores stores;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/" TRUTH, config->state);
    if (access(path, F_OK))
        return HUB_OK; /* there was never a hub */
    HUB_TRY(become_owner(config->state, TRUTH, err));
    const struct hub_catalog_options options = {.state = config->state, .roots = &config->roots};
    HUB_TRY(hub_stores_open(&options, &stores, err));
    const enum hub_status st = hub_presence_check(stores.truth, stores.catalog, &config->roots,
                                                  (uint32_t)(root - config->roots.roots), err);
    hub_stores_close(&stores);
    return st;
}

static void print_set(const struct hub_import *im, const struct hub_root *root,
                      const struct hub_imported *set)
{
    char size[HUB_SIZE_CHARS];
    uint32_t files = set->count;
    for (uint32_t i = 0; i < set->count; i++)
        files -= hub_view_ends(hub_view_of(im->unpack.files[set->first + i].path), HUB_RECORD_FILE);
    hub_number_size(set->bytes, size);
    printf("%s%s%s: %u file%s, %s, ", root->name ? root->name : "", root->name ? "/" : "", set->target, files,
           hub_plural(files), size);
    if (!set->recorded)
        puts("not verified: the tar has no digests");
    else if (set->unlisted)
        printf("%u verified with SHA-256, %u not verified: the tar has no digests of them\n", set->verified,
               set->unlisted);
    else
        printf("%u verified with SHA-256\n", set->verified);
}

static int print_json(const struct hub_import *im, const struct hub_root *root)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(1 * GIB);
    struct hub_json json = hub_json_to(&text, NULL);
    hub_json_array(&json);
    for (uint32_t i = 0; i < im->count; i++) {
        const struct hub_imported *set = &im->sets[i];
        HUB_CLEANUP(hub_freep) char *id = NULL;
        if (asprintf(&id, "%s%s%s", root->name ? root->name : "", root->name ? "/" : "", set->target) < 0)
            return HUB_EXIT_FAILED;
        hub_json_object(&json);
        hub_json_put_text(&json, "id", id);
        hub_json_put_uint(&json, "size", set->bytes);
        hub_json_put_bool(&json, "digests", set->recorded);
        hub_json_put_uint(&json, "verified", set->verified);
        hub_json_put_uint(&json, "unlisted", set->unlisted);
        hub_json_end_object(&json);
    }
    hub_json_end_array(&json);
    if (hub_json_status(&json))
        return HUB_EXIT_FAILED;
    puts(text.data);
    return 0;
}

static enum hub_status import_into(struct import_command *c, const struct hub_root *root, int fd,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_import_dispose)
    struct hub_import im = {.fd = fd,
                            .place = &place,
                            .as = c->as,
                            .within = root->name,
                            .replace = c->replace,
                            .tick = tick,
                            .notice = notice,
                            .user = c};
    HUB_CLEANUP(hub_json_decrefp) json_t *swept = NULL;
    HUB_TRY(hub_private_open(root->path, true, &place, err));
    c->importing = &im;
    const enum hub_status st = hub_import_run(&im, err);
    c->importing = NULL;
    hub_tar_job_clear(&c->job);
    if (im.published && c->job.state)
        (void)!hub_control_request(c->job.state, true, "/api/v1/sweep", &swept, NULL);
    if (st && im.published)
        fprintf(stderr, "minari-hub: the first %u of %u datasets are imported\n", im.published, im.count);
    if (st)
        return st;
    if (c->json)
        return print_json(&im, root) ? hub_no_memory(err) : HUB_OK;
    for (uint32_t i = 0; i < im.count; i++)
        print_set(&im, root, &im.sets[i]);
    return HUB_OK;
}

static enum hub_status work(struct hub_tar_job *job, struct hub_config *config, struct hub_error *err)
{
    struct import_command *c = (struct import_command *)job; /* its first member */
    const bool piped = strcmp(c->tar, "-") == 0;
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots served = {0};
    HUB_CLEANUP(hub_closep) int fd = -1;
    const struct hub_root *root;
    struct stat st;
    uint64_t missing = 0;
    if (piped && isatty(STDIN_FILENO))
        return hub_fail(err, HUB_INVALID, "standard input is a terminal: name a tar, or pipe one in");
    fd = piped ? dup(STDIN_FILENO) : open(c->tar, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return hub_fail_errno(err, errno, "%s", c->tar);
    c->job.of = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    if (!c->job.state)
        HUB_TRY(hub_config_finish(config, err));
    else
        HUB_TRY(query_roots(c->job.state, &served, &missing, err));
    HUB_TRY(choose_root(c->job.state ? &served : &config->roots, c->root, &root, err));
    if (c->job.state && missing >> (root - served.roots) & 1)
        return hub_fail_as(err, HUB_IO, HUB_PROBLEM_ROOT_MISSING,
                           "the root %.200s is not mounted: mount it; if its datasets are gone, run "
                           "`minari-hub scan --forget`",
                           hub_root_key(root));
    if (c->job.state) {
        HUB_TRY(become_owner(c->job.state, HUB_CONTROL_SOCKET, err));
        HUB_TRY(hub_tar_job_begin(&c->job, err));
    } else {
        HUB_TRY(check_presence(config, root, err));
    }
    return import_into(c, root, fd, err);
}

int hub_import_command(char **argv)
{
    struct import_command c = {.job = {.kind = "import", .verb = "importing", .work = work}};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_import_rows),
                                                 .word = take_tar,
                                                 .check = check,
                                                 .run = hub_tar_job_run,
                                                 .user = &c},
                           argv);
}
