/** A small dataset in memory files and a job over it, for tests of the inspector. Each file is "aaaa...",
 * "bbbb...", 4 KiB long. */
#ifndef HUB_TESTS_INSPECT_JOB_H
#define HUB_TESTS_INSPECT_JOB_H

#include "storage/inspect/inspect.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct fixture {
    struct hub_inspector *inspector;
    struct hub_job job;
    struct hub_job_file files[16];
    uint32_t part_files[1];
    unsigned opened;
    uint64_t grown; /* added to what the files really are */
    struct hub_findings found;
    struct hub_error err;
};

static inline enum hub_status fixture_open(void *user, uint32_t number, int *fd, struct hub_error *err)
{
    struct fixture *f = user;
    char path[64], block[4096];
    const int writable = memfd_create("fixture", MFD_CLOEXEC);
    f->opened++;
    memset(block, 'a' + (int)number, sizeof block);
    cr_assert_eq(write(writable, block, f->files[number].size + f->grown),
                 (ssize_t)(f->files[number].size + f->grown));
    snprintf(path, sizeof path, "/proc/self/fd/%d", writable);
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    close(writable);
    return *fd >= 0 ? HUB_OK : hub_fail(err, HUB_IO, "no fixture");
}

/** Standard error of the worker goes nowhere: sanitizers report there what the tests provoke. */
static inline void fixture_start(struct fixture *f, const char *program, struct hub_inspector_options options)
{
    *f = (struct fixture){0};
    const int saved = dup(2), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 2);
    options.program = program;
    const enum hub_status st = hub_inspector_new(&options, &f->inspector, &f->err);
    dup2(saved, 2);
    close(saved);
    close(nowhere);
    cr_assert_eq(st, HUB_OK, "%s", f->err.detail);
    f->job = (struct hub_job){.kind = HUB_JOB_INSPECT,
                              .files = f->files,
                              .part = "part",
                              .hint = "here",
                              .part_files = f->part_files,
                              .part_file_count = 1,
                              .open_file = fixture_open,
                              .user = f};
    static const char *const names[] = {"a.txt", "b.txt"};
    for (uint32_t i = 0; i < 2; i++)
        f->files[f->job.file_count++] = (struct hub_job_file){.path = names[i], .size = 2048};
    f->job.side_fd = memfd_create("side", MFD_CLOEXEC);
}

static inline enum hub_status fixture_run(struct fixture *f, const char *format)
{
    f->job.format = format;
    f->err = (struct hub_error){0};
    return hub_inspector_run(f->inspector, &f->job, &f->found, &f->err);
}

static inline void fixture_stop(struct fixture *f)
{
    hub_findings_dispose(&f->found);
    hub_inspector_free(f->inspector);
    close(f->job.side_fd);
}

#endif
