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

static const struct {
    const char *problem;
    enum minari_status status;
} named[] = {
    {"unreachable", MINARI_UNREACHABLE},
    {"no-tls", MINARI_UNREACHABLE},
    {"upstream", MINARI_UNREACHABLE},
    {"protocol", MINARI_PROTOCOL},
    {"no-hub", MINARI_PROTOCOL},
    {"digest-mismatch", MINARI_VERIFY},
    {"incompatible", MINARI_INCOMPATIBLE},
    {"dataset-broken", MINARI_BROKEN},
    {"field-unreadable", MINARI_BROKEN},
    {"not-ready", MINARI_BROKEN},
    {"not-a-minari-dataset", MINARI_INVALID},
    {"internal", MINARI_UNREACHABLE},
    {"upstream-failed", MINARI_UNREACHABLE},
    {"upstream-unavailable", MINARI_UNREACHABLE},
};

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
    enum minari_status out = of_status[status];
    for (size_t i = 0; status && i < HUB_COUNT(named); i++)
        if (strcmp(error->problem, named[i].problem) == 0)
            out = named[i].status;
    if (err) {
        *err = (struct minari_error){.status = out,
                                     .retry_after_s = status ? error->retry_after_s : 0,
                                     .done = status ? error->done : 0,
                                     .of = status ? error->of : 0};
        snprintf(err->problem, sizeof err->problem, "%s", status ? error->problem : "");
        snprintf(err->detail, sizeof err->detail, "%s", status ? error->detail : "");
    }
    return out;
}
