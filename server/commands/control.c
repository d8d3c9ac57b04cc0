/* A client of the control socket: see control.h. The socket is named by its directory's descriptor, because
 * its name must be short. */
#include "server/commands/control.h"

#include "server/http/server.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_BYTES = 16 * 1024 * 1024 };

static enum hub_status take(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add(fetch->user, bytes.data, bytes.size, err);
}

static bool knock(struct sockaddr_un *at)
{
    HUB_CLEANUP(hub_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
}

/* The directory's descriptor and the name of the socket in it; -1 with errno. */
static int find_socket(const char *state, struct sockaddr_un *at)
{
    const int directory = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);
    *at = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(at->sun_path, sizeof at->sun_path, "/proc/self/fd/%d/%s", directory, HUB_CONTROL_SOCKET);
    return directory;
}

/* Why nobody listens, in the admin's words; the HTTP library would say "could not connect". */
static enum hub_status not_there(const char *state, struct hub_error *err)
{
    struct stat st;
    const int why = errno;
    const bool service = strcmp(state, HUB_SERVICE_STATE) != 0 && lstat(HUB_SERVICE_STATE, &st) == 0;
    if (why == ENOENT || why == ECONNREFUSED || why == ENOTDIR)
        return hub_fail(err, HUB_NOT_FOUND,
                        "no minari-hub is running with the state directory %s: start one with `minari-hub "
                        "serve`, or name its state directory with --state DIR%s",
                        state,
                        service ? " (the service's is " HUB_SERVICE_STATE ", which root may use)" : "");
    if (why == EACCES)
        return hub_fail(err, HUB_DENIED,
                        "the minari-hub with the state directory %s belongs to another user: run this as "
                        "that user, or as root",
                        state);
    return hub_fail_errno(err, why, "%s/%s", state, HUB_CONTROL_SOCKET);
}

enum hub_status hub_control_state(const struct hub_config *config, char **out, struct hub_error *err)
{
    struct sockaddr_un own, service;
    HUB_TRY(hub_config_state(config, out, err));
    if (hub_config_names_state(config))
        return HUB_OK;
    HUB_CLEANUP(hub_closep) int own_directory = find_socket(*out, &own);
    HUB_CLEANUP(hub_closep) int service_directory = find_socket(HUB_SERVICE_STATE, &service);
    if ((own_directory >= 0 && knock(&own)) || service_directory < 0 || !knock(&service))
        return HUB_OK;
    free(*out);
    *out = NULL;
    return hub_dup(out, HUB_SERVICE_STATE, err);
}

static enum hub_status fetch(const char *path, const char *target, struct hub_fetch *request,
                             int (*interrupted)(void *user), struct hub_error *err)
{
    const struct hub_transport_options options = {.user_agent = "minari-hub/" HUB_VERSION,
                                                  .unix_socket = path,
                                                  .connect_timeout_ms = 5000,
                                                  .stall_timeout_ms = 60000,
                                                  .interrupted = interrupted,
                                                  .retry = {.attempts = 1, .first_attempts = 1}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(256 * KIB);
    struct hub_transport *transport = NULL;
    HUB_TRY(hub_buf_addf(&url, err, "http://localhost%s", target));
    request->url = url.data;
    HUB_TRY(hub_transport_new(&options, &transport, err));
    const enum hub_status st = hub_transport_get(transport, request, err);
    hub_transport_free(transport);
    return st;
}

enum hub_status hub_control_fetch(const char *state, const char *target, struct hub_fetch *request,
                                  int (*interrupted)(void *user), struct hub_error *err)
{
    struct sockaddr_un at;
    HUB_CLEANUP(hub_closep) int directory = find_socket(state, &at);
    if (directory < 0 || !knock(&at))
        return not_there(state, err);
    return fetch(at.sun_path, target, request, interrupted, err);
}

static enum hub_status ask(const char *state, const char *target, struct hub_fetch request, json_t **out,
                           struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(ANSWER_BYTES);
    request.limit = text.limit;
    request.body = take;
    request.user = &text;
    HUB_TRY(hub_control_fetch(state, target, &request, NULL, err));
    return hub_json_parse(hub_buf_view(&text), ANSWER_BYTES, out, err);
}

enum hub_status hub_control_request(const char *state, bool post, const char *target, json_t **out,
                                    struct hub_error *err)
{
    return ask(state, target, (struct hub_fetch){.post = post}, out, err);
}

enum hub_status hub_control_delete(const char *state, const char *target, json_t **out, struct hub_error *err)
{
    return ask(state, target, (struct hub_fetch){.removes = true}, out, err);
}
