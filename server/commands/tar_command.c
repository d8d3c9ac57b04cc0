/* `minari-hub export` and `import`: see tar_command.h. Where a hub runs it gives the bytes that are
 * exported, knows the roots, and lists both as jobs; what is imported is unpacked and published here, so
 * that it may come out of a pipe. */
#include "server/commands/tar_command.h"

#include "server/api/app.h"
#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "server/http/stream.h"
#include "server/service/routes.h"
#include "server/service/service.h"
#include "server/service/stores.h"
#include "storage/io/tar.h"
#include "storage/scan/presence.h"
#include "storage/text/number.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"
#include "storage/transfer/import.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define TRUTH "hub.db" /* of a state directory where a hub has run */

enum { SHOWN_MS = 200, KEPT_MS = 2000, MAX_IDS = 1000 };

static const struct tar_option {
    const char *name, *value, *help;
    char letter;
    bool import, export;
} own[] = {
    {"output", "FILE", "the tar to write, -: standard output; default: the dataset's name with .tar", 'o',
     false, true},
    {"root", "NAME", "the root to import into, by its name or directory; needed if there are several", 0,
     true, false},
    {"as", "NAME/", "put NAME/ before the ids; without the slash: the name of the one dataset", 0, true,
     false},
    {"replace", NULL, "replace datasets by those of the tar", 0, true, false},
    {"json", NULL, "print JSON", 0, true, false},
};

size_t hub_tar_usage(bool import, struct hub_usage_option out[HUB_TAR_OPTIONS])
{
    size_t n = 0;
    _Static_assert(HUB_COUNT(own) <= HUB_TAR_OPTIONS, "room for all");
    for (size_t i = 0; i < HUB_COUNT(own); i++)
        if (import ? own[i].import : own[i].export)
            out[n++] = (struct hub_usage_option){
                .letter = own[i].letter, .name = own[i].name, .value = own[i].value, .help = own[i].help};
    return n;
}

struct tar_command {
    bool import, json, replace;
    const char *output, *root, *as;
    const char *words[MAX_IDS]; /* ids, or the tar */
    size_t word_count;

    char *state; /* of the hub that runs; NULL: none does */
    int64_t job, fence;
    uint64_t done, of; /* bytes */
    int64_t began_ms, shown_ms, kept_ms;
    bool shown; /* a line of progress stands on the terminal */
    struct hub_import *importing;
};

/* ---- arguments ---- */

static const struct tar_option *find(const struct tar_command *c, const char *flag)
{
    const size_t size = strcspn(flag, "=");
    for (size_t i = 0; i < HUB_COUNT(own); i++) {
        const bool named =
            flag[0] == '-' && flag[1] == '-'
                ? strlen(own[i].name) + 2 == size && memcmp(own[i].name, flag + 2, size - 2) == 0
                : flag[0] == '-' && own[i].letter && flag[1] == own[i].letter && !flag[2];
        if (named && (c->import ? own[i].import : own[i].export))
            return &own[i];
    }
    return NULL;
}

static void set(struct tar_command *c, const struct tar_option *option, const char *value,
                struct hub_settings *settings)
{
    switch (option->name[0]) {
    case 'o':
        c->output = value;
        break;
    case 'a':
        c->as = value;
        break;
    case 'j':
        c->json = true;
        break;
    default:
        c->replace = c->replace || !value;
        c->root = value ? value : c->root;
        if (value && strchr(value, '/')) /* also a setting, where no hub runs */
            hub_settings_add(settings, "--root", value);
    }
}

static enum hub_status read_arguments(void *user, char **argv, struct hub_settings *settings,
                                      struct hub_error *err)
{
    struct tar_command *c = user;
    for (; *argv; argv++) {
        const bool flag = (*argv)[0] == '-' && (*argv)[1];
        const struct tar_option *option = flag ? find(c, *argv) : NULL;
        const char *value = flag ? strchr(*argv, '=') : NULL;
        if (!flag) {
            if (c->word_count == (c->import ? 1 : MAX_IDS))
                return hub_fail(err, HUB_INVALID, "\"%.80s\" is an extra argument", *argv);
            c->words[c->word_count++] = *argv;
        } else if (option && !option->value) {
            set(c, option, NULL, settings);
        } else if (!value && !argv[1]) {
            return hub_fail(err, HUB_INVALID, "%.60s needs a value", *argv);
        } else if (option) {
            set(c, option, value ? value + 1 : *++argv, settings);
        } else {
            hub_settings_take(settings, &argv);
        }
    }
    if (!c->word_count)
        return hub_fail(err, HUB_INVALID,
                        c->import ? "import: name a tar, or - for standard input"
                                  : "export: name the datasets");
    return !c->import && c->word_count > 1 && !c->output
               ? hub_fail(err, HUB_INVALID, "export: several datasets need -o FILE.tar, or -o -")
               : HUB_OK;
}

/* ---- while it runs ---- */

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static int is_stopped(void *user)
{
    (void)user;
    return stopped;
}

static void clear_line(struct tar_command *c)
{
    if (c->shown)
        fputs("\r\033[K", stderr);
    c->shown = false;
}

static void show(struct tar_command *c, int64_t now_ms)
{
    char done[HUB_SIZE_CHARS], of[HUB_SIZE_CHARS], rate[HUB_SIZE_CHARS];
    const uint64_t elapsed_ms = (uint64_t)(now_ms - c->began_ms) + 1;
    if (now_ms - c->shown_ms < SHOWN_MS || !isatty(STDERR_FILENO))
        return;
    c->shown_ms = now_ms;
    c->shown = true;
    hub_number_size(c->done, done);
    hub_number_size(c->of, of);
    hub_number_size(c->done * 1000 / elapsed_ms, rate);
    fprintf(stderr, "\r\033[K%s %.40s: %s%s%s", c->import ? "importing" : "exporting", c->words[0], done,
            c->of ? " of " : "", c->of ? of : "");
    if (c->of)
        fprintf(stderr, " (%u %%)", (unsigned)(100 * (double)c->done / (double)c->of));
    fprintf(stderr, ", %s/s", rate);
}

/* The job of it, if a hub runs. */
static enum hub_status report_job(struct tar_command *c, const char *action, const char *why,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    if (!c->state || !c->job)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(&target, err,
                         "/api/v1/jobs/%" PRId64 "?do=%s&fence=%" PRId64 "&done=%" PRIu64 "&of=%" PRIu64,
                         c->job, action, c->fence, c->done, c->of));
    if (why) {
        HUB_TRY(hub_buf_add_text(&target, "&error=", err));
        HUB_TRY(hub_uri_encode_segment(hub_view_of(why), &target, err));
    }
    const enum hub_status st = hub_control_request(c->state, true, target.data, &answer, err);
    return st == HUB_DENIED ? st : HUB_OK; /* a hub that has ended meanwhile is no reason to stop */
}

static enum hub_status begin_job(struct tar_command *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    const char *slash = c->import ? strrchr(c->words[0], '/') : NULL;
    HUB_TRY(hub_buf_addf(&target, err, "/api/v1/jobs?kind=%s&target=", c->import ? "import" : "export"));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(slash && slash[1] ? slash + 1 : c->words[0]), &target, err));
    HUB_TRY(hub_control_request(c->state, true, target.data, &answer, err));
    c->job = json_integer_value(json_object_get(answer, "id"));
    c->fence = json_integer_value(json_object_get(answer, "fence"));
    return HUB_OK;
}

static enum hub_status tick(void *user, struct hub_error *err)
{
    struct tar_command *c = user;
    const int64_t now_ms = hub_time_mono_ms();
    if (stopped)
        return hub_fail(err, HUB_CANCELLED, "interrupted");
    if (c->importing)
        c->done = c->importing->unpack.bytes_read;
    show(c, now_ms);
    if (now_ms - c->kept_ms < KEPT_MS)
        return HUB_OK;
    c->kept_ms = now_ms;
    return report_job(c, "keep", NULL, err);
}

/* ---- export ---- */

/* The tar being written. What ends an archive is held back until no other follows. */
struct tarball {
    struct tar_command *command;
    int fd;
    char held[2 * HUB_TAR_BLOCK];
    size_t held_size;
};

static enum hub_status put(struct tarball *t, struct hub_view bytes, struct hub_error *err)
{
    const size_t all = t->held_size + bytes.size, keep = HUB_MIN(all, sizeof t->held), go = all - keep;
    const size_t old = HUB_MIN(go, t->held_size);
    HUB_TRY(hub_fs_write_fd(t->fd, (struct hub_view){t->held, old}, err));
    HUB_TRY(hub_fs_write_fd(t->fd, (struct hub_view){bytes.data, go - old}, err));
    memmove(t->held, t->held + old, t->held_size - old);
    t->held_size -= old;
    memcpy(t->held + t->held_size, bytes.data + (go - old), bytes.size - (go - old));
    t->held_size = keep;
    t->command->done += bytes.size;
    return tick(t->command, err);
}

static enum hub_status take_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                 struct hub_error *err)
{
    struct tarball *t = fetch->user;
    (void)err;
    t->command->of = t->command->done + (answer->has_length ? answer->length : 0);
    return HUB_OK;
}

static enum hub_status take_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return put(fetch->user, bytes, err);
}

static enum hub_status target_of(const char *id, struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "/api/v1/datasets/", err));
    HUB_TRY(hub_uri_encode_path(hub_view_of(id), out, err));
    return hub_buf_add_text(out, "/archive.tar", err);
}

static enum hub_status export_from_hub(struct tarball *t, const char *id, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(64 * KIB);
    struct hub_fetch request = {.head = take_head, .body = take_body, .user = t};
    HUB_TRY(target_of(id, &target, err));
    return hub_control_fetch(t->command->state, target.data, &request, is_stopped, err);
}

/* As the server would, without a connection. */
static enum hub_status pump(struct tarball *t, struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_stream_dispose) struct hub_stream stream;
    HUB_CLEANUP(hub_freep) char *block = malloc(HUB_STREAM_BLOCK);
    hub_stream_init_parts(&stream, response->parts, response->offset, HUB_STREAM_BLOCK);
    HUB_TRY(hub_allocated(block, err));
    for (uint64_t at = 0; at < response->length;) {
        const ssize_t n =
            hub_stream_read(&stream, at, block, (size_t)HUB_MIN(response->length - at, HUB_STREAM_BLOCK));
        if (n < 0)
            return hub_fail(err, HUB_CHANGED, "a file changed, or could not be read, while it was exported");
        if (n == 0)
            hub_stream_fetch(&stream, at);
        else
            HUB_TRY(put(t, (struct hub_view){block, (size_t)n}, err));
        at += (uint64_t)n;
    }
    return HUB_OK;
}

static enum hub_status answer(struct hub_app *app, struct hub_request *request, struct tarball *t,
                              struct hub_error *err)
{
    const struct hub_route *route;
    struct hub_response response;
    char allow[64];
    request->app = app;
    request->may_block = request->local = true;
    HUB_TRY(hub_route_find(request, hub_routes, &route, allow, err));
    hub_response_init(&response);
    enum hub_status st = route->handler(request, &response, err);
    if (!st && !response.parts)
        st = hub_fail(err, HUB_IO, "the archive cannot be made");
    if (!st) {
        t->command->of = t->command->done + response.length;
        st = pump(t, &response, err);
    }
    hub_response_dispose(&response);
    return st;
}

static enum hub_status export_here(struct hub_app *app, struct tarball *t, const char *id,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(64 * KIB);
    struct hub_request *request = calloc(1, sizeof *request);
    HUB_TRY(hub_allocated(request, err));
    enum hub_status st = target_of(id, &target, err);
    if (!st)
        st = hub_request_init(request, HUB_GET, target.data, err);
    if (!st)
        st = answer(app, request, t, err);
    hub_request_end(request);
    hub_request_dispose(request);
    free(request);
    return st;
}

static enum hub_status export_all(struct hub_app *app, void *user, struct hub_error *err)
{
    struct tarball *t = user;
    for (size_t i = 0; i < t->command->word_count; i++) {
        const char *id = t->command->words[i];
        t->held_size = 0; /* the end of the one before */
        HUB_TRY(app ? export_here(app, t, id, err) : export_from_hub(t, id, err));
    }
    return hub_fs_write_fd(t->fd, (struct hub_view){t->held, t->held_size}, err);
}

static enum hub_status export_to(struct tar_command *c, struct hub_config *config, int fd,
                                 struct hub_error *err)
{
    struct tarball t = {.command = c, .fd = fd};
    if (c->state) {
        HUB_TRY(begin_job(c, err));
        return export_all(NULL, &t, err);
    }
    HUB_TRY(hub_config_finish(config, err));
    return hub_without_sockets(config, export_all, &t, err);
}

/* Beside its place until it is whole. */
static enum hub_status export_to_file(struct tar_command *c, struct hub_config *config, const char *path,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *part = NULL;
    HUB_CLEANUP(hub_closep) int fd = -1;
    if (asprintf(&part, "%s.part", path) < 0)
        return hub_no_memory(err);
    fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return hub_fail_errno(err, errno, "%s", part);
    enum hub_status st = export_to(c, config, fd, err);
    if (!st && fsync(fd))
        st = hub_fail_errno(err, errno, "%s", part);
    if (!st && rename(part, path))
        st = hub_fail_errno(err, errno, "%s", path);
    if (st)
        (void)unlink(part);
    return st;
}

static enum hub_status run_export(struct tar_command *c, struct hub_config *config, struct hub_error *err)
{
    const char *slash = strrchr(c->words[0], '/');
    char name[300], size[HUB_SIZE_CHARS];
    if (c->output && strcmp(c->output, "-") == 0)
        return isatty(STDOUT_FILENO)
                   ? hub_fail(err, HUB_INVALID,
                              "standard output is a terminal: give -o FILE.tar, or write to a pipe")
                   : export_to(c, config, STDOUT_FILENO, err);
    snprintf(name, sizeof name, "%.250s.tar", slash ? slash + 1 : c->words[0]);
    HUB_TRY(export_to_file(c, config, c->output ? c->output : name, err));
    hub_number_size(c->done, size);
    clear_line(c);
    fprintf(stderr, "%s: %zu dataset%s, %s\n", c->output ? c->output : name, c->word_count,
            hub_plural(c->word_count), size);
    return HUB_OK;
}

/* ---- import ---- */

static void notice(const char *line, void *user)
{
    clear_line(user);
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

static enum hub_status import_into(struct tar_command *c, const struct hub_root *root, int fd,
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
    clear_line(c);
    if (im.published && c->state)
        (void)!hub_control_request(c->state, true, "/api/v1/sweep", &swept, NULL);
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

static enum hub_status run_import(struct tar_command *c, struct hub_config *config, struct hub_error *err)
{
    const bool piped = strcmp(c->words[0], "-") == 0;
    HUB_CLEANUP(hub_roots_dispose) struct hub_roots asked = {0};
    HUB_CLEANUP(hub_closep) int fd = -1;
    const struct hub_root *root;
    struct stat st;
    uint64_t missing = 0;
    if (piped && isatty(STDIN_FILENO))
        return hub_fail(err, HUB_INVALID, "standard input is a terminal: name a tar, or pipe one in");
    fd = piped ? dup(STDIN_FILENO) : open(c->words[0], O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st))
        return hub_fail_errno(err, errno, "%s", c->words[0]);
    c->of = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    if (!c->state)
        HUB_TRY(hub_config_finish(config, err));
    else
        HUB_TRY(query_roots(c->state, &asked, &missing, err));
    HUB_TRY(choose_root(c->state ? &asked : &config->roots, c->root, &root, err));
    if (c->state && missing >> (root - asked.roots) & 1)
        return hub_fail_as(err, HUB_IO, HUB_PROBLEM_ROOT_MISSING,
                           "the root %.200s is not mounted: mount it; if its datasets are gone, run "
                           "`minari-hub scan --forget`",
                           hub_root_key(root));
    if (c->state) {
        HUB_TRY(become_owner(c->state, HUB_CONTROL_SOCKET, err));
        HUB_TRY(begin_job(c, err));
    } else {
        HUB_TRY(check_presence(config, root, err));
    }
    return import_into(c, root, fd, err);
}

/* ---- the commands ---- */

/* Whether a hub runs. */
static enum hub_status look_for_hub(struct tar_command *c, const struct hub_config *config,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *state = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *answer = NULL;
    HUB_TRY(hub_control_state(config, &state, err));
    const enum hub_status st = hub_control_request(state, false, "/api/v1/jobs?limit=1", &answer, err);
    if (!st) {
        c->state = state;
        state = NULL;
    }
    return st == HUB_NOT_FOUND || access(state ? state : "", F_OK) ? HUB_OK : st;
}

static int run(void *user, struct hub_config *config)
{
    struct tar_command *c = user;
    struct hub_error err = {0};
    const struct sigaction action = {.sa_handler = stop};
    c->began_ms = c->kept_ms = hub_time_mono_ms();
    enum hub_status st = look_for_hub(c, config, &err);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!st)
        st = c->import ? run_import(c, config, &err) : run_export(c, config, &err);
    clear_line(c);
    (void)!report_job(c, "end", st ? err.detail : NULL, NULL);
    if (st)
        fprintf(stderr, "minari-hub: %s\n", stopped ? "interrupted" : err.detail);
    free(c->state);
    return stopped && st ? 130 : fflush(stdout) && !st ? HUB_EXIT_FAILED : hub_command_code(st);
}

static int command(bool import, char **argv)
{
    HUB_CLEANUP(hub_freep) struct tar_command *c = calloc(1, sizeof *c);
    if (!c)
        return HUB_EXIT_FAILED;
    c->import = import;
    return hub_command_run(&(struct hub_command){read_arguments, run, c}, argv);
}

int hub_export_command(char **argv)
{
    return command(false, argv);
}

int hub_import_command(char **argv)
{
    return command(true, argv);
}
