/* Put many files of one size into a draft: push_files PORT TOKEN DRAFT FILES BYTES CONNECTIONS
 * DRAFT is its path. The files are data/00/000000.bin and so on, a hundred in a folder. Each connection is
 * kept alive and has one request under way. Ends with "SECONDS s, N refused", from the first byte to the last
 * answer. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_BYTES = 4096, ANSWER_BYTES = 64 * 1024, FILES_IN_FOLDER = 100 };

struct work {
    const char *token, *draft;
    struct sockaddr_in address;
    unsigned files, bytes;
    atomic_uint next, refused;
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int connect_to(const struct work *work)
{
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&work->address, sizeof work->address))
        fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    return fd;
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

/* The bytes of an answer, when all of it is there; 0 before. */
static size_t answer_size(const char *text, size_t size)
{
    const char *end = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "\r\ncontent-length:");
    if (!end || !length || length > end)
        return 0;
    const size_t all = (size_t)(end + 4 - text) + strtoul(length + strlen("\r\ncontent-length:"), NULL, 10);
    return all <= size ? all : 0;
}

static bool is_created(int fd, char *text)
{
    size_t size = 0;
    do {
        const ssize_t n = recv(fd, text + size, ANSWER_BYTES - 1 - size, 0);
        if (n <= 0)
            fail("recv");
        size += (size_t)n;
        text[size] = '\0';
    } while (!answer_size(text, size));
    return strncmp(text, "HTTP/1.1 201 ", 13) == 0;
}

/* No two files are alike. */
static void put_file(const struct work *work, int fd, unsigned number, char *request)
{
    const int header = snprintf(request, HEADER_BYTES,
                                "PUT %s/files/data/%02u/%06u.bin HTTP/1.1\r\nHost: hub\r\n"
                                "Authorization: Bearer %s\r\nContent-Length: %u\r\n\r\n",
                                work->draft, number / FILES_IN_FOLDER, number, work->token, work->bytes);
    memset(request + header, 'a', work->bytes);
    memcpy(request + header, &number, work->bytes < sizeof number ? work->bytes : sizeof number);
    send_all(fd, request, (size_t)header + work->bytes);
}

static void *put_files(void *work_)
{
    struct work *work = work_;
    char *request = malloc(HEADER_BYTES + (size_t)work->bytes), *answer = malloc(ANSWER_BYTES);
    const int fd = connect_to(work);
    if (!request || !answer)
        fail("malloc");
    for (unsigned number; (number = atomic_fetch_add(&work->next, 1)) < work->files;) {
        put_file(work, fd, number, request);
        if (!is_created(fd, answer) && atomic_fetch_add(&work->refused, 1) == 0)
            fprintf(stderr, "%s\n", answer);
    }
    close(fd);
    free(answer);
    free(request);
    return NULL;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    if (argc != 7) {
        fprintf(stderr, "usage: push_files PORT TOKEN DRAFT FILES BYTES CONNECTIONS\n");
        return 2;
    }
    struct work work = {.token = argv[2],
                        .draft = argv[3],
                        .address = {.sin_family = AF_INET,
                                    .sin_port = htons((uint16_t)atoi(argv[1])),
                                    .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}},
                        .files = (unsigned)atoi(argv[4]),
                        .bytes = (unsigned)atoi(argv[5])};
    const unsigned most = sizeof threads / sizeof *threads, asked = (unsigned)atoi(argv[6]),
                   count = asked < most ? asked : most;
    const double began = now_s();
    for (unsigned i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, put_files, &work))
            fail("pthread_create");
    for (unsigned i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%.6f s, %u refused\n", now_s() - began, atomic_load(&work.refused));
    return 0;
}
