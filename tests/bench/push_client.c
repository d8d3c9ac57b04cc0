/* See push_client.h. */
#include "push_client.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_BYTES = 64 * 1024, MOST_THREADS = 64 };

void fail(const char *what)
{
    perror(what);
    exit(1);
}

void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        fail("malloc");
    return memory;
}

double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- connections ---- */

struct connection connection_open(unsigned port)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address))
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return (struct connection){.fd = fd, .text = allocate(ANSWER_BYTES), .capacity = ANSWER_BYTES};
}

void connection_close(struct connection *connection)
{
    close(connection->fd);
    free(connection->text);
}

static void send_all(int fd, const char *data, size_t size)
{
    while (size) {
        const ssize_t n = send(fd, data, size, MSG_NOSIGNAL);
        if (n <= 0)
            fail("send");
        data += n;
        size -= (size_t)n;
    }
}

/* The bytes of an answer, once its header is there; 0 before. */
static size_t answer_size(const char *text)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\ncontent-length:");
    if (!end || !length || length > end)
        return 0;
    return (size_t)(end + 4 - text) + strtoul(length + strlen("\r\ncontent-length:"), NULL, 10);
}

static void make_room(struct connection *connection, size_t size)
{
    if (size < connection->capacity)
        return;
    connection->capacity = size + 1;
    connection->text = realloc(connection->text, connection->capacity);
    if (!connection->text)
        fail("realloc");
}

void ask(struct connection *connection, const char *request, size_t size)
{
    size_t came = 0, all = 0;
    send_all(connection->fd, request, size);
    do {
        const ssize_t n = recv(connection->fd, connection->text + came, connection->capacity - 1 - came, 0);
        if (n <= 0)
            fail("recv");
        came += (size_t)n;
        connection->text[came] = '\0';
        if (!all && (all = answer_size(connection->text)))
            make_room(connection, all);
    } while (!all || came < all);
}

bool is_status(const struct connection *connection, unsigned status)
{
    char begins[32];
    const int size = snprintf(begins, sizeof begins, "HTTP/1.1 %u ", status);
    return strncmp(connection->text, begins, (size_t)size) == 0;
}

void expect_status(const struct connection *connection, unsigned status)
{
    if (is_status(connection, status))
        return;
    fprintf(stderr, "%s\n", connection->text);
    exit(1);
}

/* ---- files ---- */

void make_file(unsigned number, char *out, size_t size)
{
    memset(out, 'a', size);
    memcpy(out, &number, size < sizeof number ? size : sizeof number);
}

size_t make_path(unsigned number, char *out, size_t size)
{
    return (size_t)snprintf(out, size, "data/%02u/%06u.bin", number / FILES_IN_FOLDER, number);
}

/* ---- threads ---- */

void run_threads(unsigned count, void *(*work)(void *), void *user)
{
    pthread_t threads[MOST_THREADS];
    const unsigned n = count < MOST_THREADS ? count : MOST_THREADS;
    for (unsigned i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, work, user))
            fail("pthread_create");
    for (unsigned i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
}
