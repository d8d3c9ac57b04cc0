/* `minari-hub export`: see tar_command.h. Where a hub runs it gives the bytes. */
#include "server/commands/tar_command.h"

#include "server/api/app.h"
#include "server/commands/admin.h"
#include "server/commands/command.h"
#include "server/commands/control.h"
#include "server/commands/tar_job.h"
#include "server/http/stream.h"
#include "server/service/routes.h"
#include "server/service/service.h"
#include "storage/io/tar.h"
#include "storage/text/number.h"
#include "storage/text/uri.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_IDS = 1000 };

struct export_command {
    struct hub_tar_job job;
    const char *output;
    const char *words[MAX_IDS]; /* ids */
    size_t word_count;
};

const struct hub_usage_option hub_export_rows[HUB_EXPORT_OPTIONS] = {
    {'o', "output", "FILE", NULL,
     "the tar to write, -: standard output; default: the dataset's name with .tar",
     HUB_OPTION_AT(TEXT, struct export_command, output)},
};

static enum hub_status take_id(void *user, const char *word, struct hub_error *err)
{
    struct export_command *c = user;
    if (c->word_count == MAX_IDS)
        return hub_fail(err, HUB_INVALID, "\"%.80s\" is an extra argument", word);
    c->words[c->word_count++] = word;
    c->job.name = c->words[0];
    return HUB_OK;
}

static enum hub_status check(void *user, struct hub_error *err)
{
    const struct export_command *c = user;
    if (!c->word_count)
        return hub_fail(err, HUB_INVALID, "export: name the datasets");
    return c->word_count > 1 && !c->output
               ? hub_fail(err, HUB_INVALID, "export: several datasets need -o FILE.tar, or -o -")
               : HUB_OK;
}

/* The tar being written. What ends an archive is held back until no other follows. */
struct tarball {
    struct export_command *command;
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
    t->command->job.done += bytes.size;
    return hub_tar_job_tick(&t->command->job, err);
}

static enum hub_status take_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                 struct hub_error *err)
{
    struct tarball *t = fetch->user;
    (void)err;
    t->command->job.of = t->command->job.done + (answer->has_length ? answer->length : 0);
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
    return hub_control_fetch(t->command->job.state, target.data, &request, hub_tar_job_stopped, err);
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
    enum hub_status st = hub_route_call(route, request, &response, err);
    if (!st && !response.parts)
        st = hub_fail(err, HUB_IO, "the archive cannot be made");
    if (!st) {
        t->command->job.of = t->command->job.done + response.length;
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

static enum hub_status export_to(struct export_command *c, struct hub_config *config, int fd,
                                 struct hub_error *err)
{
    struct tarball t = {.command = c, .fd = fd};
    if (c->job.state) {
        HUB_TRY(hub_tar_job_begin(&c->job, err));
        return export_all(NULL, &t, err);
    }
    HUB_TRY(hub_config_finish(config, err));
    return hub_without_sockets(config, export_all, &t, err);
}

/* Beside its place until it is whole. */
static enum hub_status export_to_file(struct export_command *c, struct hub_config *config, const char *path,
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

static enum hub_status work(struct hub_tar_job *job, struct hub_config *config, struct hub_error *err)
{
    struct export_command *c = (struct export_command *)job; /* its first member */
    const char *slash = strrchr(c->words[0], '/');
    char name[300], size[HUB_SIZE_CHARS];
    if (c->output && strcmp(c->output, "-") == 0)
        return isatty(STDOUT_FILENO)
                   ? hub_fail(err, HUB_INVALID,
                              "standard output is a terminal: give -o FILE.tar, or write to a pipe")
                   : export_to(c, config, STDOUT_FILENO, err);
    snprintf(name, sizeof name, "%.250s.tar", slash ? slash + 1 : c->words[0]);
    HUB_TRY(export_to_file(c, config, c->output ? c->output : name, err));
    hub_number_size(c->job.done, size);
    hub_tar_job_clear(&c->job);
    fprintf(stderr, "%s: %zu dataset%s, %s\n", c->output ? c->output : name, c->word_count,
            hub_plural(c->word_count), size);
    return HUB_OK;
}

int hub_export_command(char **argv)
{
    HUB_CLEANUP(hub_freep) struct export_command *c = calloc(1, sizeof *c);
    if (!c)
        return HUB_EXIT_FAILED;
    c->job = (struct hub_tar_job){.kind = "export", .verb = "exporting", .work = work};
    return hub_command_run(&(struct hub_command){.options = HUB_OPTIONS(hub_export_rows),
                                                 .word = take_id,
                                                 .check = check,
                                                 .run = hub_tar_job_run,
                                                 .user = c},
                           argv);
}
