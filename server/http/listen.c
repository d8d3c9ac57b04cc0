/* Our own socket, not libmicrohttpd's: its errors can be reported, and port 0 is known at once. */
#include "server/http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static uint16_t port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } at = {.six = {0}};
    socklen_t size = sizeof at;
    if (getsockname(fd, &at.any, &size))
        return 0;
    return ntohs(at.any.sa_family == AF_INET6 ? at.six.sin6_port : at.four.sin_port);
}

enum hub_status hub_listen(const char *address, uint16_t port, int backlog, int *fd, uint16_t *bound,
                           struct hub_error *err)
{
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *info = NULL;
    int failed = getaddrinfo(address, service, &hints, &info);
    if (failed)
        return hub_fail(err, HUB_INVALID, "%s is not a numeric address: %s", address, gai_strerror(failed));
    int yes = 1, errnum = 0;
    int sock = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) ||
        bind(sock, info->ai_addr, info->ai_addrlen) || listen(sock, backlog))
        errnum = errno;
    freeaddrinfo(info);
    if (errnum) {
        if (sock >= 0)
            close(sock);
        return hub_fail_errno(err, errnum, "cannot listen on %s port %u", address, port);
    }
    *fd = sock;
    *bound = port_of(sock);
    return HUB_OK;
}

/* The name of a socket has at most 107 bytes, a directory's path may have 4095: it is named by its
 * descriptor. */
static int bind_in(int directory, const char *name, int backlog)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    snprintf(at.sun_path, sizeof at.sun_path, "/proc/self/fd/%d/%s", directory, name);
    int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (sock < 0)
        return -1;
    /* Linux makes the name with the mode that the socket has */
    if (fchmod(sock, 0600) || (unlinkat(directory, name, 0) && errno != ENOENT) ||
        bind(sock, (const struct sockaddr *)&at, sizeof at) || listen(sock, backlog)) {
        const int errnum = errno;
        close(sock);
        errno = errnum;
        return -1;
    }
    return sock;
}

enum hub_status hub_listen_local(const char *path, const char *name, int backlog, int *fd,
                                 struct hub_error *err)
{
    int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int sock = directory < 0 ? -1 : bind_in(directory, name, backlog);
    const int errnum = errno;
    if (directory >= 0)
        close(directory);
    if (sock < 0)
        return hub_fail_errno(err, errnum, "cannot listen on %s/%s", path, name);
    *fd = sock;
    return HUB_OK;
}

void hub_listen_local_end(const char *path, const char *name)
{
    int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return;
    (void)unlinkat(directory, name, 0);
    close(directory);
}

bool hub_peer_is_ours(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}
