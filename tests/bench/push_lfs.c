/* Push many files of one size as clients of Hugging Face do by Git LFS: push_lfs PORT TOKEN REPO FILES BYTES
 * CONNECTIONS
 * REPO, "org/name", is there. A connection asks where a hundred objects are to be sent, sends each and has it
 * verified, and goes on with the next hundred; when all came one commit names them. Ends with "SECONDS s to
 * send, SECONDS s to commit". What is refused is shown and ends the program with 1. */
#include "push_client.h"

#include "storage/base/digest.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OID = 2 * HUB_SHA256_BYTES + 1, LINE_BYTES = 256 };

struct work {
    const char *token, *repo;
    unsigned port, files;
    size_t bytes;
    char (*oids)[OID]; /* of all files */
    atomic_uint next;  /* the first one of the next hundred */
};

/* POST a text to a path below the hub. */
static void post(const struct work *work, struct connection *connection, const char *path, const char *body,
                 size_t size)
{
    char *request = allocate(HEADER_BYTES + size);
    const int header = snprintf(request, HEADER_BYTES,
                                "POST %s HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer %s\r\n"
                                "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                                path, work->token, size);
    memcpy(request + header, body, size);
    ask(connection, request, (size_t)header + size);
    expect_status(connection, 200);
    free(request);
}

/* ---- objects ---- */

static void name_object(const struct work *work, unsigned number, char *bytes)
{
    uint8_t sum[HUB_DIGEST_MAX];
    struct hub_error err = {0};
    make_file(number, bytes, work->bytes);
    if (hub_digest_of(HUB_SHA256, (struct hub_view){bytes, work->bytes}, sum, &err))
        fail(err.detail);
    hub_hex(sum, HUB_SHA256_BYTES, work->oids[number]);
}

static void ask_where(const struct work *work, struct connection *connection, unsigned first, unsigned end)
{
    char path[HEADER_BYTES / 4], *body = allocate((end - first + (size_t)1) * LINE_BYTES);
    size_t size = (size_t)sprintf(body, "{\"operation\":\"upload\",\"transfers\":[\"basic\"],"
                                        "\"hash_algo\":\"sha256\",\"objects\":[");
    for (unsigned i = first; i < end; i++)
        size += (size_t)sprintf(body + size, "%s{\"oid\":\"%s\",\"size\":%zu}", i > first ? "," : "",
                                work->oids[i], work->bytes);
    size += (size_t)sprintf(body + size, "]}");
    snprintf(path, sizeof path, "/datasets/%s.git/info/lfs/objects/batch", work->repo);
    post(work, connection, path, body, size);
    free(body);
}

/* The path of the address of an object, in the answer to ask_where. NULL: the hub has the object. */
static const char *find_address(const char *answer, const char *oid, size_t *size)
{
    const char *object = strstr(answer, oid), *href = object ? strstr(object, "\"href\":\"http://") : NULL;
    if (!href)
        return NULL;
    const char *path = strchr(href + strlen("\"href\":\"http://"), '/');
    *size = path ? strcspn(path, "\"") : 0;
    return path;
}

static void send_object(const struct work *work, struct connection *connection, unsigned number,
                        const char *address, size_t address_size, char *request)
{
    const int header =
        snprintf(request, HEADER_BYTES, "PUT %.*s HTTP/1.1\r\nHost: hub\r\nContent-Length: %zu\r\n\r\n",
                 (int)address_size, address, work->bytes);
    make_file(number, request + header, work->bytes);
    ask(connection, request, (size_t)header + work->bytes);
    expect_status(connection, 200);
}

static void verify(const struct work *work, struct connection *connection, unsigned number)
{
    char path[HEADER_BYTES / 4], body[LINE_BYTES];
    snprintf(path, sizeof path, "/datasets/%s.git/info/lfs/verify", work->repo);
    const int size =
        snprintf(body, sizeof body, "{\"oid\":\"%s\",\"size\":%zu}", work->oids[number], work->bytes);
    post(work, connection, path, body, (size_t)size);
}

static void send_hundred(const struct work *work, struct connection *connection, unsigned first,
                         char *request)
{
    const unsigned end = first + FILES_IN_FOLDER < work->files ? first + FILES_IN_FOLDER : work->files;
    for (unsigned i = first; i < end; i++)
        name_object(work, i, request);
    ask_where(work, connection, first, end);
    char *answer = strdup(connection->text);
    const char *from = answer;
    if (!answer)
        fail("strdup");
    for (unsigned i = first; i < end; i++) {
        size_t size = 0;
        const char *address = find_address(from, work->oids[i], &size);
        if (!address) {
            fprintf(stderr, "no address of %s: %s\n", work->oids[i], answer);
            exit(1);
        }
        send_object(work, connection, i, address, size, request);
        verify(work, connection, i);
        from = address + size;
    }
    free(answer);
}

static void *send_objects(void *work_)
{
    struct work *work = work_;
    char *request = allocate(HEADER_BYTES + work->bytes);
    struct connection connection = connection_open(work->port);
    for (unsigned first; (first = atomic_fetch_add(&work->next, FILES_IN_FOLDER)) < work->files;)
        send_hundred(work, &connection, first, request);
    connection_close(&connection);
    free(request);
    return NULL;
}

/* ---- the commit ---- */

static void commit(const struct work *work)
{
    char path[HEADER_BYTES / 4], name[64], *body = allocate((work->files + (size_t)1) * LINE_BYTES);
    struct connection connection = connection_open(work->port);
    size_t size =
        (size_t)sprintf(body, "{\"key\":\"header\",\"value\":{\"summary\":\"push\",\"description\":\"\"}}\n");
    for (unsigned i = 0; i < work->files; i++) {
        make_path(i, name, sizeof name);
        size += (size_t)sprintf(body + size,
                                "{\"key\":\"lfsFile\",\"value\":{\"path\":\"%s\",\"algo\":\"sha256\","
                                "\"oid\":\"%s\",\"size\":%zu}}\n",
                                name, work->oids[i], work->bytes);
    }
    snprintf(path, sizeof path, "/api/datasets/%s/commit/main", work->repo);
    post(work, &connection, path, body, size);
    connection_close(&connection);
    free(body);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fprintf(stderr, "usage: push_lfs PORT TOKEN REPO FILES BYTES CONNECTIONS\n");
        return 2;
    }
    struct work work = {.token = argv[2],
                        .repo = argv[3],
                        .port = (unsigned)atoi(argv[1]),
                        .files = (unsigned)atoi(argv[4]),
                        .bytes = (size_t)atoi(argv[5])};
    work.oids = allocate((work.files + (size_t)1) * sizeof *work.oids);
    const double began = now_s();
    run_threads((unsigned)atoi(argv[6]), send_objects, &work);
    const double sent = now_s();
    commit(&work);
    printf("%.6f s to send, %.6f s to commit\n", sent - began, now_s() - sent);
    free(work.oids);
    return 0;
}
