/** A child: one job in the sandbox. */
#ifndef HUB_INSPECT_CHILD_H
#define HUB_INSPECT_CHILD_H

#include "storage/inspect/protocol.h"
#include "storage/inspect/sandbox.h"

/** Enter the sandbox, read the job from `sock`, run it against hub_formats, answer. Returns the process's
 * exit code. */
int hub_child_run(int sock, const struct hub_sandbox *sandbox, const struct hub_job_order *order);

#endif
