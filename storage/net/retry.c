/* Retry decisions: see retry.h. */
#include "storage/net/retry.h"

static bool is_transient(const struct hub_attempt *a)
{
    switch (a->failure) {
    case HUB_FAILURE_STATUS:
        break;
    case HUB_FAILURE_CONNECT:
    case HUB_FAILURE_BROKEN:
    case HUB_FAILURE_STALLED:
        return true;
    case HUB_FAILURE_FATAL:
        return false;
    }
    switch (a->http_status) {
    case 408:
    case 425:
    case 429:
        return true;
    case 501: /* not implemented, HTTP version, no space, log in to the network: they stay so */
    case 505:
    case 507:
    case 511:
        return false;
    default:
        return a->http_status >= 500 && a->http_status < 600;
    }
}

static unsigned most_attempts(const struct hub_retry *policy, const struct hub_attempt *a)
{
    const bool never_answered = a->failure == HUB_FAILURE_CONNECT && !a->answered_before;
    const unsigned fewer = never_answered                      ? policy->first_attempts
                           : a->failure == HUB_FAILURE_STALLED ? policy->stalled_attempts
                                                               : 0;
    return fewer && fewer < policy->attempts ? fewer : policy->attempts;
}

bool hub_retry_decide(const struct hub_retry *policy, const struct hub_attempt *a, uint64_t *wait_ms)
{
    if (!is_transient(a) || a->number >= most_attempts(policy, a) ||
        a->retry_after_s > policy->longest_advice_s)
        return false;
    uint64_t ceiling = policy->base_ms;
    for (unsigned i = 1; i < a->number && ceiling < policy->cap_ms; i++)
        ceiling *= 2;
    if (ceiling > policy->cap_ms)
        ceiling = policy->cap_ms;
    /* a little jitter on top of advice, too: it was given to everybody at once */
    *wait_ms = (uint64_t)a->retry_after_s * 1000 + (ceiling ? a->random % (ceiling + 1) : 0);
    return true;
}
