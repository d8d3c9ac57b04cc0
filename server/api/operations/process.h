/** What this process takes of the machine, as /proc tells. */
#ifndef HUB_API_OPERATIONS_PROCESS_H
#define HUB_API_OPERATIONS_PROCESS_H

#include "storage/base/buf.h"

struct hub_process {
    uint64_t resident_bytes, virtual_bytes, open_files, max_files;
    double cpu_s; /* user and system */
};

/** What cannot be read is 0. */
void hub_process_read(struct hub_process *out);

#endif
