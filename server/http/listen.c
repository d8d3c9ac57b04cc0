/* Our own socket instead of libmicrohttpd's: its errors can be told ("address already in use"), and port 0 is
 * known at once. */
#include "server/http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
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
