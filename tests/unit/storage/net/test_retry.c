#include "storage/base/error.h"
#include "storage/net/retry.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

struct retry_case {
    struct hub_attempt attempt;
    bool again;
    uint64_t least_ms, most_ms;
};

ParameterizedTestParameters(retry, decisions)
{
    static struct retry_case cases[] = {
        /* what may pass, and what will not */
        {{.number = 1, .http_status = 408}, true, 0, 250},
        {{.number = 1, .http_status = 425}, true, 0, 250},
        {{.number = 1, .http_status = 429}, true, 0, 250},
        {{.number = 1, .http_status = 500}, true, 0, 250},
        {{.number = 1, .http_status = 503}, true, 0, 250},
        {{.number = 1, .http_status = 599}, true, 0, 250},
        {{.number = 1, .http_status = 400}, false, 0, 0},
        {{.number = 1, .http_status = 401}, false, 0, 0},
        {{.number = 1, .http_status = 404}, false, 0, 0},
        {{.number = 1, .http_status = 410}, false, 0, 0},
        {{.number = 1, .http_status = 416}, false, 0, 0},
        {{.number = 1, .http_status = 501}, false, 0, 0},
        {{.number = 1, .http_status = 507}, false, 0, 0},
        {{.number = 1, .http_status = 600}, false, 0, 0},
        {{.number = 1, .failure = HUB_FAILURE_BROKEN}, true, 0, 250},
        {{.number = 1, .failure = HUB_FAILURE_FATAL}, false, 0, 0},
        /* full jitter below an exponential with a ceiling */
        {{.number = 2, .http_status = 500, .random = UINT32_MAX}, true, 0, 500},
        {{.number = 5, .http_status = 500, .random = 4000}, true, 4000, 4000},
        {{.number = 7, .http_status = 500, .random = 15000}, true, 15000, 15000},
        {{.number = 12, .http_status = 500}, false, 0, 0}, /* the twelfth was the last */
        /* advice is waited for, with jitter on top; too much of it is not */
        {{.number = 1, .http_status = 503, .retry_after_s = 2}, true, 2000, 2250},
        {{.number = 1, .http_status = 503, .retry_after_s = 120}, true, 120000, 120250},
        {{.number = 1, .http_status = 503, .retry_after_s = 121}, false, 0, 0},
        /* nobody there: less patience while nobody ever was */
        {{.number = 2, .failure = HUB_FAILURE_CONNECT}, true, 0, 500},
        {{.number = 3, .failure = HUB_FAILURE_CONNECT}, false, 0, 0},
        {{.number = 3, .failure = HUB_FAILURE_CONNECT, .answered_before = true}, true, 0, 1000},
        /* each attempt takes long while nothing comes */
        {{.number = 3, .failure = HUB_FAILURE_STALLED}, true, 0, 1000},
        {{.number = 4, .failure = HUB_FAILURE_STALLED}, false, 0, 0},
        {{.number = 4, .failure = HUB_FAILURE_BROKEN}, true, 0, 2000},
    };
    return cr_make_param_array(struct retry_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(const struct retry_case *c, retry, decisions)
{
    uint64_t wait_ms = 0;
    cr_assert_eq(hub_retry_decide(&HUB_RETRY_DEFAULT, &c->attempt, &wait_ms), c->again);
    cr_assert_geq(wait_ms, c->least_ms);
    cr_assert_leq(wait_ms, c->most_ms);
}
