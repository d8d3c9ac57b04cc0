/*
 * seccomp allow list, limits, Landlock. The list holds what reading given descriptors, computing and
 * answering over a given socket need: nothing that names a file, a process or an address. Violations kill: a
 * driver has no business trying. A few calls that the C library makes by itself answer EPERM instead: without
 * them nothing is lost.
 */
#include "storage/worker/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int allowed[] = {
    /* descriptors that were given */
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(lseek),
    SCMP_SYS(fstat),
    SCMP_SYS(close),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmsg),
    /* memory: see also the rules about PROT_EXEC */
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(brk),
    SCMP_SYS(madvise),
    /* the C library's own needs: qsort asks for the size of memory, malloc for a random number */
    SCMP_SYS(futex),
    SCMP_SYS(getrandom),
    SCMP_SYS(sysinfo),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
#ifdef HUB_SANITIZED
    SCMP_SYS(sigaltstack),
    SCMP_SYS(sched_yield),
#endif
};

/* abort() raises by tgkill and dies of its own fault when it may not; stdio asks isatty and fstat (which
 * newer C libraries spell as a path lookup). */
static const int refused[] = {
    SCMP_SYS(tgkill), SCMP_SYS(ioctl),    SCMP_SYS(newfstatat), SCMP_SYS(statx),
#ifdef HUB_SANITIZED /* a report goes on without them; the C library opens by openat, which kills here too   \
                      */
    SCMP_SYS(open),   SCMP_SYS(readlink),
#endif
};

static int add_rules(scmp_filter_ctx filter)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < HUB_COUNT(allowed); i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    for (size_t i = 0; rc == 0 && i < HUB_COUNT(refused); i++)
        rc = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
    const struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
    rc = rc ? rc : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_exec);
    rc = rc ? rc : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_exec);
    const struct scmp_arg_cmp get_flags = SCMP_A1(SCMP_CMP_EQ, F_GETFL);
    return rc ? rc : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, get_flags);
}

/* The compiled program, read back from memory. */
static enum hub_status compile(scmp_filter_ctx filter, struct hub_sandbox *sandbox, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "memory for the seccomp filter");
    const int rc = seccomp_export_bpf(filter, fd);
    const off_t size = lseek(fd, 0, SEEK_END);
    if (rc || size <= 0 || size > 65535 * (off_t)sizeof(struct sock_filter))
        return hub_fail_errno(err, rc ? -rc : EIO, "compiling the seccomp filter");
    struct sock_filter *code = malloc((size_t)size);
    if (!code || pread(fd, code, (size_t)size, 0) != size) {
        free(code);
        return hub_fail_errno(err, ENOMEM, "reading the seccomp filter");
    }
    sandbox->filter = code;
    sandbox->length = (unsigned short)((size_t)size / sizeof *code);
    return HUB_OK;
}

void hub_sandbox_prepare(struct hub_sandbox *sandbox)
{
    *sandbox = (struct hub_sandbox){0};
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int rc = filter ? seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS) : -ENOMEM;
    rc = rc ? rc : add_rules(filter);
    if (rc)
        hub_fail_errno(&sandbox->why, -rc, "building the seccomp filter");
    else
        (void)compile(filter, sandbox, &sandbox->why);
    if (filter)
        seccomp_release(filter);
}

void hub_sandbox_dispose(struct hub_sandbox *sandbox)
{
    free(sandbox->filter);
    *sandbox = (struct hub_sandbox){0};
}

static enum hub_status limit(int what, uint64_t soft, uint64_t hard, struct hub_error *err)
{
    struct rlimit now;
    if (getrlimit((__rlimit_resource_t)what, &now))
        return hub_fail_errno(err, errno, "reading limit %d", what);
    const struct rlimit wanted = {HUB_MIN((rlim_t)soft, now.rlim_max), HUB_MIN((rlim_t)hard, now.rlim_max)};
    if (setrlimit((__rlimit_resource_t)what, &wanted))
        return hub_fail_errno(err, errno, "setting limit %d", what);
    return HUB_OK;
}

static enum hub_status set_limits(const struct hub_sandbox_limits *limits, struct hub_error *err)
{
    HUB_TRY(limit(RLIMIT_CPU, limits->cpu_s, limits->cpu_s + (uint64_t)1,
                  err)); /* SIGXCPU tells, then SIGKILL holds */
#ifndef HUB_SANITIZED    /* shadow memory reserves terabytes */
    HUB_TRY(limit(RLIMIT_AS, limits->memory_bytes, limits->memory_bytes, err));
#endif
    signal(SIGXFSZ, SIG_IGN); /* over the side budget: EFBIG, and the driver goes on without */
    HUB_TRY(limit(RLIMIT_FSIZE, limits->file_bytes, limits->file_bytes, err));
    HUB_TRY(limit(RLIMIT_CORE, 0, 0, err));
    return limit(RLIMIT_NOFILE, 128, 128, err);
}

/* Second belt, where the kernel has it: no file can be named, whatever seccomp let through. */
static void forbid_files(void)
{
    const long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return;
    /* all rights of ABI 1 */
    struct landlock_ruleset_attr attr = {.handled_access_fs = (UINT64_C(1) << 13) - 1};
    if (abi >= 2)
        attr.handled_access_fs |= LANDLOCK_ACCESS_FS_REFER;
    const long fd = syscall(SYS_landlock_create_ruleset, &attr, sizeof attr.handled_access_fs, 0);
    if (fd < 0)
        return;
    (void)!syscall(SYS_landlock_restrict_self, (int)fd, 0);
    close((int)fd);
}

enum hub_status hub_sandbox_enter(const struct hub_sandbox *sandbox, const struct hub_sandbox_limits *limits,
                                  struct hub_error *err)
{
    HUB_TRY(set_limits(limits, err));
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return hub_fail_as(err, HUB_IO, HUB_PROBLEM_SANDBOX_UNAVAILABLE,
                           "no_new_privs is refused by this system");
    if (!limits->no_landlock)
        forbid_files();
    const struct sock_fprog program = {sandbox->length, sandbox->filter};
    if (sandbox->filter && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0)
        return HUB_OK;
    if (limits->unsafe)
        return HUB_OK;
    struct hub_error why = sandbox->why;
    if (sandbox->filter)
        hub_fail_errno(&why, errno, "seccomp");
    return hub_fail_as(err, HUB_IO, HUB_PROBLEM_SANDBOX_UNAVAILABLE,
                       "no sandbox can be set up here (%s), so nothing is inspected; --unsafe-inspect "
                       "(minari-inspect: --unsafe) inspects without a sandbox",
                       why.detail);
}
