/* The start of the machine: see boot.h. */
#include "storage/io/boot.h"

#include "storage/base/digest.h"
#include "storage/io/fs.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/random.h>

static int64_t boot;

static void find(void)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(4 * KIB);
    uint8_t sha256[HUB_DIGEST_MAX];
    uint64_t number = 0;
    if (!hub_fs_read(AT_FDCWD, "/proc/sys/kernel/random/boot_id", &id, NULL) && id.size &&
        !hub_digest_of(HUB_SHA256, hub_buf_view(&id), sha256, NULL))
        memcpy(&number, sha256, sizeof number);
    else
        (void)!getrandom(&number, sizeof number, 0);
    boot = (int64_t)(number >> 1 | 1);
}

int64_t hub_boot(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find);
    return boot;
}
