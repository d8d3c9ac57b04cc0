/* A client of the control socket: see control.h. The socket is named by its directory's descriptor, because
 * its name must be short. */
#include "server/control.h"

#include "server/http/http.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { ANSWER_BYTES = 16 * 1024 * 1024 };

static enum hub_status take(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add(fetch->user, bytes.data, bytes.size, err);
}

/* Whether somebody listens, told in the admin's words; the HTTP library would say "could not connect". */
static enum hub_status knock(const char *state, const struct sockaddr_un *at, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0)
        return HUB_OK;
    if (errno == ENOENT || errno == ECONNREFUSED)
        return hub_fail(err, HUB_NOT_FOUND,
                        "no minari-hub is running with the state directory %s: start one with `minari-hub "
                        "serve`, or name "
                        "its state directory with --state DIR",
                        state);
    if (errno == EACCES)
        return hub_fail(err, HUB_DENIED,
                        "the minari-hub with the state directory %s belongs to another user: run this as "
                        "that user, or as root",
                        state);
    return hub_fail_errno(err, errno, "%s/%s", state, HUB_CONTROL_SOCKET);
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
    HUB_CLEANUP(hub_closep) int directory = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (directory < 0)
        return hub_fail_errno(err, errno, "the state directory %s", state);
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%s", directory, HUB_CONTROL_SOCKET);
    HUB_TRY(knock(state, &at, err));
    return fetch(at.sun_path, target, request, interrupted, err);
}

enum hub_status hub_control_ask(const char *state, bool post, const char *target, json_t **out,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(ANSWER_BYTES);
    struct hub_fetch request = {.post = post, .limit = text.limit, .body = take, .user = &text};
    HUB_TRY(hub_control_fetch(state, target, &request, NULL, err));
    return hub_json_parse(hub_buf_view(&text), ANSWER_BYTES, out, err);
}
