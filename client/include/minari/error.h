/**
 * What every call of libminari answers: a status to act on, and one line for a person. `err` may be NULL
 * everywhere.
 */
#ifndef MINARI_ERROR_H
#define MINARI_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MINARI_API __attribute__((visibility("default")))

enum minari_status {
    MINARI_OK = 0,
    MINARI_INVALID,      /* the caller's input is malformed: an id, an option, a slice */
    MINARI_NOT_FOUND,    /* no such dataset, episode, field or file */
    MINARI_EXISTS,       /* it is there already */
    MINARI_UNREACHABLE,  /* the hub does not answer, even after retries */
    MINARI_PROTOCOL,     /* the hub answers, but not as a hub does */
    MINARI_BUSY,         /* the hub, or another process of this machine, asks to try again later */
    MINARI_DENIED,       /* a token is missing, or the file system refuses */
    MINARI_BROKEN,       /* the hub cannot read the dataset or the field */
    MINARI_UNSUPPORTED,  /* cannot be represented as asked, or a remote this version cannot talk to */
    MINARI_INCOMPATIBLE, /* no Minari release of the wanted version reads it */
    MINARI_CHANGED,      /* the dataset changes faster than it can be downloaded */
    MINARI_VERIFY,       /* bytes and digest disagree */
    MINARI_NO_SPACE,     /* the disk is full */
    MINARI_TOO_BIG,      /* over a limit */
    MINARI_CANCELLED,    /* a callback asked to stop */
    MINARI_NO_MEMORY,
    MINARI_FAILED, /* the operating system failed otherwise */
};

struct minari_error {
    enum minari_status status;
    char problem[32];       /* the stable name of the problem, where it has one ("dataset-not-found") */
    char detail[1024];      /* one line: what is wrong */
    unsigned retry_after_s; /* when MINARI_BUSY: seconds the hub asks to wait; 0 where unknown */
    /* When MINARI_BUSY and values that the call needs are still being measured: so many parts of so many are;
     * else 0 of 0. The call has waited two seconds, and may be repeated. */
    uint64_t done, of;
};

/** "not-found", "unreachable": for logs. Never NULL. */
MINARI_API const char *minari_status_name(enum minari_status status);

/** The version of the library ("0.1.0"). */
MINARI_API const char *minari_version(void);

#ifdef __cplusplus
}
#endif

#endif
