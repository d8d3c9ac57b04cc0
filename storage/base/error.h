/**
 * Errors. A function that can fail returns enum hub_status; whoever meets the problem fills the caller's
 * struct hub_error with hub_fail, everybody above passes both up unchanged. `err` may be NULL everywhere:
 * then only the status is returned.
 */
#ifndef HUB_BASE_ERROR_H
#define HUB_BASE_ERROR_H

#include "storage/base/problems.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUB_MUST_USE __attribute__((warn_unused_result))
#define HUB_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define HUB_CLEANUP(fn) __attribute__((cleanup(fn)))
#define HUB_COUNT(array) (sizeof(array) / sizeof((array)[0]))
/** The struct whose member a pointer is to. */
#define HUB_CONTAINER_OF(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))
#define HUB_MIN(a, b) ((a) < (b) ? (a) : (b))
#define HUB_MAX(a, b) ((a) > (b) ? (a) : (b))

#define KIB ((size_t)1024)
#define MIB (1024 * KIB)
#define GIB (1024 * MIB)

/** What a caller acts on. problem.c maps it to an HTTP status, the command line to an exit code. */
enum hub_status {
    HUB_OK = 0,
    HUB_NOT_FOUND,      /* no such dataset, episode, field, file, key */
    HUB_EXISTS,         /* already there */
    HUB_INVALID,        /* the caller's input is malformed */
    HUB_OUT_OF_RANGE,   /* well-formed, but outside what is there (416, row past the end) */
    HUB_TOO_BIG,        /* over a limit or a budget */
    HUB_NOT_ACCEPTABLE, /* the thing cannot be represented as asked */
    HUB_UNSUPPORTED,    /* recognised, and deliberately not handled */
    HUB_CORRUPT,        /* foreign bytes that contradict themselves or their format */
    HUB_DENIED,         /* not allowed: outside the root, a link that leaves, a missing token */
    HUB_CHANGED,        /* the file is no longer what the index describes */
    HUB_BUSY,           /* try again later: overload, locked, pending, draining */
    HUB_AGAIN,          /* would block: the same call may be made where blocking is allowed */
    HUB_TIMEOUT,        /* a deadline passed */
    HUB_IO,             /* the operating system or a peer failed */
    HUB_NO_SPACE,       /* the disk is full */
    HUB_NO_MEMORY,
    HUB_CANCELLED, /* the caller's callback or a signal asked to stop */
};

struct hub_error {
    enum hub_status status;
    enum hub_problem_code problem; /* HUB_PROBLEM_NONE: the one that belongs to the status */
    char foreign[32];              /* a peer's name of a problem that the table lacks, or empty */
    char detail[512];              /* one line for a person: the thing and the remedy */
    char parameter[48];            /* the query parameter or option it is about, or empty */
    char value[160];               /* its offending value, cut if long */
    unsigned retry_after_s;        /* 0: no advice */
    uint64_t done, of;             /* progress of the work to wait for; 0 of 0: unknown */
};

/** Fill `err` (if not NULL) and return `status`, so that `return hub_fail(...)` is one line. Keeps UTF-8
 * whole when cutting. */
enum hub_status hub_fail(struct hub_error *err, enum hub_status status, const char *fmt, ...)
    HUB_PRINTF(3, 4);

/** The same with the problem's code. */
enum hub_status hub_fail_as(struct hub_error *err, enum hub_status status, enum hub_problem_code problem,
                            const char *fmt, ...) HUB_PRINTF(4, 5);

/** The same about errno: appends strerror; ENOENT, EACCES, EPERM, EROFS, ELOOP, EXDEV, ENOSPC, EDQUOT,
 * ENOMEM, EAGAIN get their own status, all others HUB_IO. */
enum hub_status hub_fail_errno(struct hub_error *err, int errnum, const char *fmt, ...) HUB_PRINTF(3, 4);

/** HUB_NO_MEMORY, in the one text that all of it has. */
enum hub_status hub_no_memory(struct hub_error *err);

/** hub_fail_as, saying also which parameter and value it is about. */
enum hub_status hub_fail_about(struct hub_error *err, enum hub_status status, enum hub_problem_code problem,
                               const char *parameter, const char *value, const char *fmt, ...)
    HUB_PRINTF(6, 7);

/** "not-found", "too-big": for logs and tests. */
const char *hub_status_name(enum hub_status status);

#ifdef __clang_analyzer__ /* which cannot see into error.c that a failure is never HUB_OK */
#define hub_fail(err, status, ...) ((void)hub_fail(err, status, __VA_ARGS__), (status))
#define hub_fail_as(err, status, ...) ((void)hub_fail_as(err, status, __VA_ARGS__), (status))
#define hub_fail_errno(err, errnum, ...) ((void)hub_fail_errno(err, errnum, __VA_ARGS__), HUB_IO)
#define hub_no_memory(err) ((void)hub_no_memory(err), HUB_NO_MEMORY)
#define hub_fail_about(err, status, ...) ((void)hub_fail_about(err, status, __VA_ARGS__), (status))
#endif

#define HUB_TRY(expression)                                                                                  \
    do {                                                                                                     \
        enum hub_status try_status_ = (expression);                                                          \
        if (try_status_)                                                                                     \
            return try_status_;                                                                              \
    } while (0)

/** Pass up a failure that was looked at, as it is. */
static inline enum hub_status hub_pass(enum hub_status st, const struct hub_error *why, struct hub_error *err)
{
    if (err)
        *err = *why;
    return st;
}

/** What an allocation, or several joined by &&, came to: HUB_OK or HUB_NO_MEMORY. */
HUB_MUST_USE static inline enum hub_status hub_allocated(bool all, struct hub_error *err)
{
    return all ? HUB_OK : hub_no_memory(err);
}

/**
 * `count` zeroed elements (never none) for the pointer of any type that `out` points to: free() it.
 * Written on success only, like the copy of a text that follows. HUB_OK or HUB_NO_MEMORY.
 */
HUB_MUST_USE enum hub_status hub_new(void *out, size_t count, size_t size, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_dup(char **out, const char *text, struct hub_error *err);

/** Cleanup helpers for HUB_CLEANUP. */
void hub_freep(void *pointer_to_pointer);
void hub_closep(const int *fd);

#endif
