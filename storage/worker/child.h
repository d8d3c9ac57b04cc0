/** A child: one job in the sandbox. */
#ifndef HUB_WORKER_CHILD_H
#define HUB_WORKER_CHILD_H

#include "storage/inspect/protocol.h"
#include "storage/worker/format.h"
#include "storage/worker/sandbox.h"

/** Enter the sandbox, read the job from `sock`, run it against `formats` (NULL-terminated), answer. Returns
 * the process's exit code. */
int hub_child_run(int sock, const struct hub_format *const *formats, const struct hub_sandbox *sandbox,
                  const struct hub_job_order *order);

#endif
