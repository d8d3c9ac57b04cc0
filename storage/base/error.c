/* Errors: see error.h. */
#include "storage/base/error.h"

#undef hub_fail /* macros of the analyzer only */
#undef hub_fail_as
#undef hub_fail_errno
#undef hub_fail_about
#undef hub_no_memory

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Copy what fits and never leave half a UTF-8 sequence at the end. */
static void copy_text(char *out, size_t size, const char *text)
{
    size_t n = strlen(text);
    if (n >= size) {
        n = size - 1;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(out, text, n);
    out[n] = '\0';
}

static enum hub_status fill(struct hub_error *err, enum hub_status status, enum hub_problem_code problem,
                            int errnum, const char *fmt, va_list args)
{
    if (!err)
        return status;
    char text[1024];
    int n = vsnprintf(text, sizeof text, fmt, args);
    if (n < 0)
        n = 0;
    if (errnum && (size_t)n < sizeof text) {
        char why[128];
        snprintf(text + n, sizeof text - (size_t)n, ": %s%s", strerror_r(errnum, why, sizeof why),
                 errnum == EFBIG ? " (is there a limit: ulimit -f?)" : "");
    }
    memset(err, 0, sizeof *err);
    err->status = status;
    err->problem = problem;
    copy_text(err->detail, sizeof err->detail, text);
    return status;
}

enum hub_status hub_fail(struct hub_error *err, enum hub_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, status, HUB_PROBLEM_NONE, 0, fmt, args);
    va_end(args);
    return status;
}

enum hub_status hub_fail_as(struct hub_error *err, enum hub_status status, enum hub_problem_code problem,
                            const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, status, problem, 0, fmt, args);
    va_end(args);
    return status;
}

static enum hub_status status_of_errno(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
        return HUB_NOT_FOUND;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
    case EXDEV:
        return HUB_DENIED;
    case EEXIST:
        return HUB_EXISTS;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
        return HUB_NO_SPACE;
    case ENOMEM:
        return HUB_NO_MEMORY;
    case EAGAIN:
        return HUB_AGAIN;
    case ENAMETOOLONG:
        return HUB_INVALID;
    default:
        return HUB_IO;
    }
}

enum hub_status hub_fail_errno(struct hub_error *err, int errnum, const char *fmt, ...)
{
    const enum hub_status status = status_of_errno(errnum);
    va_list args;
    va_start(args, fmt);
    fill(err, status, HUB_PROBLEM_NONE, errnum, fmt, args);
    va_end(args);
    return status;
}

enum hub_status hub_no_memory(struct hub_error *err)
{
    return hub_fail(err, HUB_NO_MEMORY, "out of memory");
}

enum hub_status hub_fail_about(struct hub_error *err, enum hub_status status, enum hub_problem_code problem,
                               const char *parameter, const char *value, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fill(err, status, problem, 0, fmt, args);
    va_end(args);
    if (err) {
        copy_text(err->parameter, sizeof err->parameter, parameter);
        copy_text(err->value, sizeof err->value, value ? value : "");
    }
    return status;
}

const char *hub_status_name(enum hub_status status)
{
    static const char *const names[] = {[HUB_OK] = "ok",
                                        [HUB_NOT_FOUND] = "not-found",
                                        [HUB_EXISTS] = "exists",
                                        [HUB_INVALID] = "invalid",
                                        [HUB_OUT_OF_RANGE] = "out-of-range",
                                        [HUB_TOO_BIG] = "too-big",
                                        [HUB_NOT_ACCEPTABLE] = "not-acceptable",
                                        [HUB_UNSUPPORTED] = "unsupported",
                                        [HUB_CORRUPT] = "corrupt",
                                        [HUB_DENIED] = "denied",
                                        [HUB_CHANGED] = "changed",
                                        [HUB_BUSY] = "busy",
                                        [HUB_AGAIN] = "again",
                                        [HUB_TIMEOUT] = "timeout",
                                        [HUB_IO] = "io",
                                        [HUB_NO_SPACE] = "no-space",
                                        [HUB_NO_MEMORY] = "no-memory",
                                        [HUB_CANCELLED] = "cancelled"};
    return (size_t)status < HUB_COUNT(names) ? names[status] : "unknown";
}

enum hub_status hub_new(void *out, size_t count, size_t size, struct hub_error *err)
{
    void *made = calloc(HUB_MAX(count, 1), size);
    HUB_TRY(hub_allocated(made, err));
    memcpy(out, &made, sizeof made); /* a pointer of any type */
    return HUB_OK;
}

enum hub_status hub_dup(char **out, const char *text, struct hub_error *err)
{
    char *made = strdup(text);
    HUB_TRY(hub_allocated(made, err));
    *out = made;
    return HUB_OK;
}

void hub_freep(void *pointer_to_pointer)
{
    free(*(void **)pointer_to_pointer);
}

void hub_closep(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
