/* From our own statuses to the public ones. The problem's name decides where one status has several causes.
 */
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

static enum minari_status of_status(enum hub_status status)
{
    switch (status) {
    case HUB_OK:
        return MINARI_OK;
    case HUB_NOT_FOUND:
        return MINARI_NOT_FOUND;
    case HUB_EXISTS:
        return MINARI_EXISTS;
    case HUB_INVALID:
    case HUB_OUT_OF_RANGE:
        return MINARI_INVALID;
    case HUB_TOO_BIG:
        return MINARI_TOO_BIG;
    case HUB_NOT_ACCEPTABLE:
    case HUB_UNSUPPORTED:
        return MINARI_UNSUPPORTED;
    case HUB_CORRUPT:
        return MINARI_PROTOCOL;
    case HUB_DENIED:
        return MINARI_DENIED;
    case HUB_CHANGED:
        return MINARI_CHANGED;
    case HUB_BUSY:
    case HUB_AGAIN:
    case HUB_TIMEOUT:
        return MINARI_BUSY;
    case HUB_NO_SPACE:
        return MINARI_NO_SPACE;
    case HUB_NO_MEMORY:
        return MINARI_NO_MEMORY;
    case HUB_CANCELLED:
        return MINARI_CANCELLED;
    case HUB_IO:
        break;
    }
    return MINARI_FAILED;
}

enum minari_status hub_client_report(enum hub_status status, const struct hub_error *error,
                                     struct minari_error *err)
{
    enum minari_status out = of_status(status);
    for (size_t i = 0; status && i < HUB_COUNT(named); i++)
        if (strcmp(error->problem, named[i].problem) == 0)
            out = named[i].status;
    if (err) {
        *err = (struct minari_error){.status = out, .retry_after_s = status ? error->retry_after_s : 0};
        snprintf(err->problem, sizeof err->problem, "%s", status ? error->problem : "");
        snprintf(err->detail, sizeof err->detail, "%s", status ? error->detail : "");
    }
    return out;
}
