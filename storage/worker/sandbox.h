/**
 * The box a child puts itself into before it reads a foreign byte. The filter is compiled once, by the
 * worker; entering costs a handful of system calls.
 */
#ifndef HUB_WORKER_SANDBOX_H
#define HUB_WORKER_SANDBOX_H

#include "storage/base/error.h"

struct sock_filter;

struct hub_sandbox {
    struct sock_filter *filter; /* NULL: could not be compiled, `why` says so */
    unsigned short length;
    struct hub_error why;
};

struct hub_sandbox_limits {
    uint32_t cpu_s;
    uint64_t memory_bytes, file_bytes;
    bool unsafe;      /* go on without seccomp where it cannot be installed */
    bool no_landlock; /* for tests: seccomp has to hold alone */
};

/** Never fails: what went wrong is kept for hub_sandbox_enter to say. */
void hub_sandbox_prepare(struct hub_sandbox *sandbox);
void hub_sandbox_dispose(struct hub_sandbox *sandbox);

/** For the rest of this process: no new privileges, limits, Landlock where there is one, the seccomp allow
 * list. Whatever is not on the list ends the process with SIGSYS. HUB_IO ("sandbox-unavailable"). */
HUB_MUST_USE enum hub_status hub_sandbox_enter(const struct hub_sandbox *sandbox,
                                               const struct hub_sandbox_limits *limits,
                                               struct hub_error *err);

#endif
