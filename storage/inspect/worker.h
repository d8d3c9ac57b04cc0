/** `minari-inspect --worker`: started once by the hub, forks a child a job. Ends when the hub closes its
 * control socket. */
#ifndef HUB_INSPECT_WORKER_H
#define HUB_INSPECT_WORKER_H

/** The worker's whole life on HUB_CONTROL_FD. Returns the process's exit code. */
int hub_worker_main(void);

#endif
