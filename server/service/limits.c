/* Sharing out descriptors: see limits.h. */
#include "server/service/limits.h"
#include "storage/base/error.h"

enum {
    OWN = 32,      /* databases, log, inspector, watches, and what a moment needs */
    EACH_CORE = 2, /* epoll and waking */
    MOST_CONTROL = 32,
    MOST_FILES = 4096, /* what is not open needs a worker, and who takes a repo asks for each file twice */
    LEAST_CONNECTIONS = 8,
};

struct hub_limits hub_limits_fit(uint64_t descriptors, unsigned cores, unsigned connections)
{
    const struct hub_limits parts = {.control = (unsigned)HUB_MIN(descriptors / 16, (uint64_t)MOST_CONTROL),
                                     .files = (unsigned)HUB_MIN(descriptors / 8, (uint64_t)MOST_FILES)};
    const uint64_t kept = OWN + (uint64_t)EACH_CORE * cores + parts.control + parts.files;
    const uint64_t left = descriptors > kept ? descriptors - kept : 0;
    struct hub_limits limits = parts;
    limits.connections = (unsigned)HUB_MIN(HUB_MAX(left, (uint64_t)LEAST_CONNECTIONS), (uint64_t)connections);
    return limits;
}
