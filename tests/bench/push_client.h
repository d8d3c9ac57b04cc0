/** What the clients of pushes share: connections that are kept alive, with one request under way each, and
 * the threads that have one each. What fails ends the program. */
#ifndef HUB_BENCH_PUSH_CLIENT_H
#define HUB_BENCH_PUSH_CLIENT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

enum { HEADER_BYTES = 4096, FILES_IN_FOLDER = 100 };

/** Say what failed, with errno, and end. */
void fail(const char *what);
void *allocate(size_t size);
double now_s(void);

/** `text` is the answer to the last request, terminated. */
struct connection {
    int fd;
    char *text;
    size_t capacity;
};

struct connection connection_open(unsigned port);
void connection_close(struct connection *connection);
/** Send a request, header and body, and read the answer. */
void ask(struct connection *connection, const char *request, size_t size);
/** Of the answer: does it have this status? */
bool is_status(const struct connection *connection, unsigned status);
/** The same where nothing else can be gone on with: shows the answer and ends the program. */
void expect_status(const struct connection *connection, unsigned status);

/** The bytes of file `number` begin at `out`; no two files are alike. */
void make_file(unsigned number, char *out, size_t size);
/** Append "data/00/000000.bin" of file `number`, terminated: how much it is. */
size_t make_path(unsigned number, char *out, size_t size);

/** Run `work` on as many threads, at most 64, and wait for all. */
void run_threads(unsigned count, void *(*work)(void *), void *user);

#endif
