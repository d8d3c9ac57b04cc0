/* From our own statuses to the public ones. The problem's name decides where one status has several
 * causes. */
#include "client/lib/internal.h"

#include <stdio.h>

const char *minari_status_name(enum minari_status status)
{
    static const char *const names[] = {
        [MINARI_OK] = "ok",
        [MINARI_INVALID] = "invalid",
        [MINARI_NOT_FOUND] = "not-found",
        [MINARI_EXISTS] = "exists",
        [MINARI_UNREACHABLE] = "unreachable",
        [MINARI_PROTOCOL] = "protocol",
        [MINARI_BUSY] = "busy",
        [MINARI_DENIED] = "denied",
        [MINARI_BROKEN] = "broken",
        [MINARI_UNSUPPORTED] = "unsupported",
        [MINARI_INCOMPATIBLE] = "incompatible",
        [MINARI_CHANGED] = "changed",
        [MINARI_VERIFY] = "verify",
        [MINARI_NO_SPACE] = "no-space",
        [MINARI_TOO_BIG] = "too-big",
        [MINARI_CANCELLED] = "cancelled",
        [MINARI_NO_MEMORY] = "no-memory",
        [MINARI_FAILED] = "failed",
    };
    return (size_t)status < HUB_COUNT(names) && names[status] ? names[status] : "unknown";
}

const char *minari_version(void)
{
    return HUB_VERSION;
}

#define REPORTED(code, name, http, client, ...) [HUB_PROBLEM_##code] = MINARI_##client,

/* MINARI_OK: the status says it. */
static const enum minari_status of_problem[] = {HUB_PROBLEMS(REPORTED)};

static const enum minari_status of_status[] = {
    [HUB_OK] = MINARI_OK,
    [HUB_NOT_FOUND] = MINARI_NOT_FOUND,
    [HUB_EXISTS] = MINARI_EXISTS,
    [HUB_INVALID] = MINARI_INVALID,
    [HUB_OUT_OF_RANGE] = MINARI_INVALID,
    [HUB_TOO_BIG] = MINARI_TOO_BIG,
    [HUB_NOT_ACCEPTABLE] = MINARI_UNSUPPORTED,
    [HUB_UNSUPPORTED] = MINARI_UNSUPPORTED,
    [HUB_CORRUPT] = MINARI_PROTOCOL,
    [HUB_DENIED] = MINARI_DENIED,
    [HUB_CHANGED] = MINARI_CHANGED,
    [HUB_BUSY] = MINARI_BUSY,
    [HUB_AGAIN] = MINARI_BUSY,
    [HUB_TIMEOUT] = MINARI_BUSY,
    [HUB_IO] = MINARI_FAILED,
    [HUB_NO_SPACE] = MINARI_NO_SPACE,
    [HUB_NO_MEMORY] = MINARI_NO_MEMORY,
    [HUB_CANCELLED] = MINARI_CANCELLED,
};
_Static_assert(HUB_COUNT(of_status) == HUB_CANCELLED + 1, "one of each");

enum minari_status hub_client_report(enum hub_status status, const struct hub_error *error,
                                     struct minari_error *err)
{
    const enum minari_status named = status ? of_problem[error->problem] : MINARI_OK,
                             out = named ? named : of_status[status];
    if (err) {
        *err = (struct minari_error){.status = out,
                                     .retry_after_s = status ? error->retry_after_s : 0,
                                     .done = status ? error->done : 0,
                                     .of = status ? error->of : 0};
        snprintf(err->problem, sizeof err->problem, "%s",
                 status ? hub_problem_name_or(error->problem, error->foreign) : "");
        snprintf(err->detail, sizeof err->detail, "%s", status ? error->detail : "");
    }
    return out;
}
