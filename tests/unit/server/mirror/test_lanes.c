/* server/mirror/mirror.c: which job gets a thread while remotes hold their answers. */
#include "kit.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(lanes, .init = kit_begin, .fini = kit_end, .timeout = 30);

/* A port on which connections are taken by the kernel, and answered by nobody. */
static int listen_on(unsigned *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(fd, 16), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static void put_rule(const char *name, unsigned port)
{
    char spec[100];
    snprintf(spec, sizeof spec, "{'remote':'http://127.0.0.1:%u'}", port);
    kit_put_rule(name, spec);
}

/* Whether a remote hears of somebody within so long. */
static bool is_called(int listener, int within_ms)
{
    return poll(&(struct pollfd){.fd = listener, .events = POLLIN}, 1, within_ms) == 1;
}

Test(lanes, a_list_that_does_not_come_gives_way_to_others)
{
    struct hub_mirrors_options options = kit.mirrors.options;
    struct hub_mirrors *mirrors = NULL;
    struct hub_error err = {0};
    unsigned ports[3];
    int listeners[3];
    options.silence_ms = 100;
    for (unsigned i = 0; i < HUB_COUNT(ports); i++)
        listeners[i] = listen_on(&ports[i]);
    put_rule("a", ports[0]);
    put_rule("b", ports[1]);
    cr_assert_eq(hub_mirrors_start(&options, &mirrors, &err), HUB_OK, "%s", err.detail);
    cr_expect(is_called(listeners[0], 10000));
    cr_expect(is_called(listeners[1], 10000)); /* both threads that list are taken */
    put_rule("c", ports[2]);
    hub_mirrors_poke(mirrors);
    cr_expect(is_called(listeners[2], 20000));
    hub_mirrors_stop(mirrors);
    for (unsigned i = 0; i < HUB_COUNT(ports); i++)
        close(listeners[i]);
    cr_expect_gt(kit_told_count, 0);
    cr_expect_not_null(strstr(kit_told[0], "stalled: nothing came from http://127.0.0.1:"), "%s",
                       kit_told[0]);
}
