/* Put many files of one size into a draft: push_files PORT TOKEN DRAFT FILES BYTES CONNECTIONS
 * DRAFT is its path. The files are data/00/000000.bin and so on, a hundred in a folder. Ends with "SECONDS s,
 * N refused", from the first byte to the last answer. */
#include "push_client.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct work {
    const char *token, *draft;
    unsigned port, files;
    size_t bytes;
    atomic_uint next, refused;
};

static void put_file(const struct work *work, struct connection *connection, unsigned number, char *request)
{
    char path[64];
    make_path(number, path, sizeof path);
    const int header = snprintf(
        request, HEADER_BYTES,
        "PUT %s/files/%s HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\nContent-Length: %zu\r\n\r\n",
        work->draft, path, work->token, work->bytes);
    make_file(number, request + header, work->bytes);
    ask(connection, request, (size_t)header + work->bytes);
}

static void *put_files(void *work_)
{
    struct work *work = work_;
    char *request = allocate(HEADER_BYTES + work->bytes);
    struct connection connection = connection_open(work->port);
    for (unsigned number; (number = atomic_fetch_add(&work->next, 1)) < work->files;) {
        put_file(work, &connection, number, request);
        if (!is_status(&connection, 201) && atomic_fetch_add(&work->refused, 1) == 0)
            fprintf(stderr, "%s\n", connection.text);
    }
    connection_close(&connection);
    free(request);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: push_files PORT TOKEN DRAFT FILES BYTES CONNECTIONS\n");
        return 2;
    }
    struct work work = {.token = argv[2],
                        .draft = argv[3],
                        .port = (unsigned)atoi(argv[1]),
                        .files = (unsigned)atoi(argv[4]),
                        .bytes = (size_t)atoi(argv[5])};
    const double began = now_s();
    run_threads((unsigned)atoi(argv[6]), put_files, &work);
    printf("%.6f s, %u refused\n", now_s() - began, atomic_load(&work.refused));
    return 0;
}
