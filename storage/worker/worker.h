/** `minari-inspect --worker`: started once by the hub, forks a child a job. Ends when the hub closes its
 * control socket. */
#ifndef HUB_WORKER_WORKER_H
#define HUB_WORKER_WORKER_H

#include "storage/worker/format.h"

/** The worker's whole life on HUB_CONTROL_FD, with these formats (NULL-terminated). Returns the process's
 * exit code. */
int hub_worker_main(const struct hub_format *const *formats);

#endif
