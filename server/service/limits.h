/** How the descriptors that the system allows are shared out. */
#ifndef HUB_SERVICE_LIMITS_H
#define HUB_SERVICE_LIMITS_H

#include <stdint.h>

struct hub_limits {
    unsigned connections; /* over TCP */
    unsigned control;     /* over the control socket */
    unsigned files;       /* of datasets kept open */
};

/** At most `connections`, and so few that what answers them (files, databases, threads) has descriptors
 * left. */
struct hub_limits hub_limits_fit(uint64_t descriptors, unsigned cores, unsigned connections);

#endif
