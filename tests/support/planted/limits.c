/* What the limits must stop, and crashes. */
#include "tests/support/planted/planted.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

INSPECT(do_loop)
{
    UNUSED;
    for (volatile unsigned i = 0;; i++)
        continue;
}

/* As with a disk that does not answer: nothing is done, and there is no end. */
INSPECT(do_sleep)
{
    (void)part, (void)sink, (void)err;
    char byte;
    while (recvmsg(child_of(files)->sock,
                   &(struct msghdr){.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1}, 0) >= 0)
        continue;
    return HUB_OK;
}

INSPECT(do_eat_memory)
{
    (void)files, (void)part, (void)sink;
    for (size_t total = 0;; total += 16 * MIB) {
        char *p = malloc(16 * MIB);
        if (!p)
            return hub_fail(err, HUB_NO_MEMORY, "no more after %zu MiB", total / MIB);
        memset(p, 1, 16 * MIB);
    }
}

INSPECT(do_side_too_much)
{
    (void)part, (void)sink;
    static char block[64 * 1024];
    int fd;
    HUB_TRY(files->side(files, &fd, err));
    for (off_t at = 0;; at += (off_t)sizeof block)
        if (pwrite(fd, block, sizeof block, at) < 0)
            return errno == EFBIG ? hub_fail(err, HUB_TOO_BIG, "side-file budget")
                                  : hub_fail_errno(err, errno, "side");
}

INSPECT(do_side_budget)
{
    (void)part, (void)sink;
    static char block[64 * 1024];
    for (uint64_t at;;)
        HUB_TRY(hub_files_side_add(files, block, sizeof block, &at, err));
}

/* ---- crashes ---- */

INSPECT(do_close_and_wait)
{
    UNUSED;
    close(child_of(files)->sock);
    for (volatile unsigned i = 0;; i++)
        continue;
}

/* clang-format off */
__attribute__((no_sanitize("undefined", "address")))
ATTACK(do_segfault, *(volatile int *)(uintptr_t)part->file_count = 1)
ATTACK(do_abort, abort())
ATTACK(do_overflow, volatile char *p = malloc(files->side_budget & 7);
          for (size_t i = 0; i < 1 << 20; i++) p[i] = 1)
ATTACK(do_exit, _exit(0))
ATTACK(do_exit_bad, _exit(3))
    /* clang-format on */
