/* What a slice costs without HTTP: a server that reads a request to its empty line, looks at nothing in it,
 * and answers rows of an episode of its own choice with the bytes that the hub answers: one read of the
 * chunks they lie in, the gather, the hub's own digits, one send. Two threads, as many connections as come.
 *   ceiling FILE npy|csv ROWS PORT           serves; prints "ready"
 *   ceiling FILE npy|csv ROWS EPISODE START  writes the body for these rows, to compare it with the hub's
 * The file is gen_data.py's: episode_N/observations, chunked, unfiltered float64. */
#include "storage/text/number.h"

#include <fcntl.h>
#include <hdf5.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MOST_ROWS = 500, COLUMNS = 39, THREADS = 2, MOST_CHUNKS = 64, NPY_HEADER = 128, SPAN = 1 << 20 };

struct episode {
    uint64_t rows, at[MOST_CHUNKS]; /* where its chunks lie, row by row */
};

static struct {
    int file;
    bool csv;
    uint32_t rows;                                        /* of a slice */
    uint32_t episodes, chunk_rows, chunk_columns, across; /* chunks beside each other */
    struct episode *episode;
    int poll[THREADS];
} all;

struct worker {
    int poll;
    uint64_t random;
    double rows[MOST_ROWS * COLUMNS];
    char span[SPAN], body[MOST_ROWS * COLUMNS * HUB_NUMBER_CHARS];
};

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- the index ---- */

static void index_episode(hid_t file, uint32_t number, struct episode *e)
{
    char path[64];
    snprintf(path, sizeof path, "episode_%u/observations", number);
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT), space = H5Dget_space(dataset),
                list = H5Dget_create_plist(dataset);
    hsize_t dims[2], chunk[2], count = 0;
    H5Sget_simple_extent_dims(space, dims, NULL);
    H5Pget_chunk(list, 2, chunk);
    all.chunk_rows = (uint32_t)chunk[0];
    all.chunk_columns = (uint32_t)chunk[1];
    all.across = (uint32_t)((dims[1] + chunk[1] - 1) / chunk[1]);
    e->rows = dims[0];
    if (dims[1] != COLUMNS || H5Dget_num_chunks(dataset, space, &count) < 0 || count > MOST_CHUNKS)
        fail(path);
    for (hsize_t i = 0; i < count; i++) {
        hsize_t offset[2], size;
        unsigned mask;
        haddr_t address;
        if (H5Dget_chunk_info(dataset, space, i, offset, &mask, &address, &size) < 0)
            fail(path);
        e->at[offset[0] / chunk[0] * all.across + offset[1] / chunk[1]] = address;
    }
    H5Pclose(list);
    H5Sclose(space);
    H5Dclose(dataset);
}

static void index_file(const char *path)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    H5G_info_t info;
    if (file < 0 || H5Gget_info(file, &info) < 0)
        fail(path);
    all.episodes = (uint32_t)info.nlinks;
    all.episode = calloc(all.episodes, sizeof *all.episode);
    for (uint32_t i = 0; i < all.episodes; i++)
        index_episode(file, i, &all.episode[i]);
    H5Fclose(file);
    all.file = open(path, O_RDONLY | O_CLOEXEC);
}

/* ---- a slice ---- */

/* The chunks of the rows lie behind one another, so that one read has them all. */
static void gather(struct worker *w, const struct episode *e, uint64_t start)
{
    const uint64_t first = start / all.chunk_rows, last = (start + all.rows - 1) / all.chunk_rows;
    const uint64_t row_bytes = all.chunk_columns * sizeof(double), chunk_bytes = all.chunk_rows * row_bytes;
    const uint64_t begin = e->at[first * all.across] + start % all.chunk_rows * row_bytes;
    const uint64_t end =
        e->at[(last + 1) * all.across - 1] + ((start + all.rows - 1) % all.chunk_rows + 1) * row_bytes;
    if (end < begin || end - begin > SPAN ||
        end - begin > (last - first + 1) * all.across * 2 * chunk_bytes ||
        pread(all.file, w->span, end - begin, (off_t)begin) != (ssize_t)(end - begin))
        fail("the chunks do not lie together");
    for (uint64_t i = 0; i < all.rows; i++) {
        const uint64_t row = start + i;
        for (uint32_t c = 0; c < all.across; c++) {
            const uint32_t column = c * all.chunk_columns,
                           columns = HUB_MIN(all.chunk_columns, COLUMNS - column);
            memcpy(&w->rows[i * COLUMNS + column],
                   w->span + (e->at[row / all.chunk_rows * all.across + c] - begin) +
                       row % all.chunk_rows * row_bytes,
                   columns * sizeof(double));
        }
    }
}

static size_t write_npy(struct worker *w)
{
    static const char magic[] = "\x93NUMPY\x01\0\x76\0";
    char *at = mempcpy(w->body, magic, 10);
    const int n =
        sprintf(at, "{'descr': '<f8', 'fortran_order': False, 'shape': (%u, %d), }", all.rows, COLUMNS);
    memset(at + n, ' ', (size_t)(NPY_HEADER - 11 - n));
    w->body[NPY_HEADER - 1] = '\n';
    const size_t size = all.rows * COLUMNS * sizeof *w->rows;
    memcpy(w->body + NPY_HEADER, w->rows, size);
    return NPY_HEADER + size;
}

static size_t write_csv(struct worker *w)
{
    char *at = w->body;
    for (int c = 0; c < COLUMNS; c++)
        at += sprintf(at, "observations_%d%c", c, c + 1 < COLUMNS ? ',' : '\n');
    for (uint32_t i = 0; i < all.rows * COLUMNS; i++) {
        at += hub_number_double(w->rows[i], at);
        *at++ = (i + 1) % COLUMNS ? ',' : '\n';
    }
    return (size_t)(at - w->body);
}

static size_t make_body(struct worker *w, const struct episode *e, uint64_t start)
{
    gather(w, e, start);
    return all.csv ? write_csv(w) : write_npy(w);
}

/* ---- serving ---- */

static bool answer(struct worker *w, int fd)
{
    w->random = w->random * 6364136223846793005U + 1442695040888963407U;
    const struct episode *e = &all.episode[(w->random >> 33) % all.episodes];
    const size_t size = make_body(w, e, (w->random >> 13) % (e->rows - all.rows));
    char head[128];
    const int n = sprintf(
        head, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %zu\r\n\r\n",
        size);
    struct iovec parts[] = {{head, (size_t)n}, {w->body, size}};
    ssize_t sent = writev(fd, parts, 2);
    if (sent < n)
        return false;
    for (size_t done = (size_t)(sent - n); done < size; done += (size_t)sent)
        if ((sent = send(fd, w->body + done, size - done, MSG_NOSIGNAL)) < 0)
            return false;
    return true;
}

static void *serve(void *arg)
{
    struct worker *w = arg;
    struct epoll_event events[64];
    char request[8192];
    for (;;) {
        const int n = epoll_wait(w->poll, events, 64, -1);
        for (int i = 0; i < n; i++) { /* a client sends one request at a time, in one segment */
            const ssize_t size = recv(events[i].data.fd, request, sizeof request, 0);
            if (size < 4 || memcmp(request + size - 4, "\r\n\r\n", 4) != 0 || !answer(w, events[i].data.fd))
                close(events[i].data.fd);
        }
    }
    return NULL;
}

static int listen_at(uint16_t port)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (const struct sockaddr *)&at, sizeof at) || listen(fd, 128))
        fail("listen");
    return fd;
}

static void start(uint16_t port)
{
    const int listener = listen_at(port), one = 1;
    for (int i = 0; i < THREADS; i++) {
        struct worker *w = calloc(1, sizeof *w);
        pthread_t thread;
        w->poll = all.poll[i] = epoll_create1(EPOLL_CLOEXEC);
        w->random = (uint64_t)i + 1;
        if (pthread_create(&thread, NULL, serve, w))
            fail("pthread_create");
    }
    puts("ready");
    fflush(stdout);
    for (unsigned i = 0;; i++) {
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        epoll_ctl(all.poll[i % THREADS], EPOLL_CTL_ADD, fd, &event);
    }
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 2;
    all.csv = strcmp(argv[2], "csv") == 0;
    all.rows = HUB_MIN((uint32_t)atoi(argv[3]), MOST_ROWS);
    index_file(argv[1]);
    if (argc == 5)
        start((uint16_t)atoi(argv[4]));
    struct worker *w = calloc(1, sizeof *w);
    const size_t size = make_body(w, &all.episode[atoi(argv[4])], (uint64_t)atoi(argv[5]));
    fwrite(w->body, 1, size, stdout);
    free(w);
    free(all.episode);
    return 0;
}
