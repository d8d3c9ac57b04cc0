/** Which start of the machine this is. */
#ifndef HUB_IO_BOOT_H
#define HUB_IO_BOOT_H

#include <stdint.h>

/** Above 0, and another one after each start of the machine: what was written in the same one is read back as
 * it was written, though no disk may have it yet. Where the system does not say, it is one of this process.
 * Safe from any thread. */
int64_t hub_boot(void);

#endif
