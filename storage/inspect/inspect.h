/**
 * The hub's side of inspection: a sandboxed child answers "is this a dataset?", "what is it, which parts?"
 * and "what is in this part?"; this module runs it, hands it descriptors, and believes nothing it says (see
 * record.h and layout.h for the proofs).
 *
 * One inspector is one `minari-inspect --worker` process (single-threaded, never opens anything) that forks a
 * child a job. Thread-safety: hub_inspector_run may be called from several threads; each call has its own
 * child.
 */
#ifndef HUB_INSPECT_INSPECT_H
#define HUB_INSPECT_INSPECT_H

#include "storage/inspect/protocol.h"
#include "storage/model/findings.h"
#include "storage/model/layout.h"

#include <stdatomic.h>

struct hub_inspector;

struct hub_inspector_options {
    const char *program;   /* path of minari-inspect */
    unsigned wall_ms;      /* a job is killed after this; default 60,000 */
    unsigned cpu_s;        /* processor time of a child; 0: more than wall_ms allows */
    uint64_t memory_bytes; /* address space of a child; default 2 GiB; ignored by sanitizer builds */
    uint64_t total_bytes;  /* of all children at once: others wait; 0: half of the machine's memory */
    uint64_t side_budget;  /* bytes of side data a part may write */
    bool unsafe;           /* go on where seccomp cannot be installed */
    bool no_landlock;      /* for tests: seccomp has to hold alone */
};
#define HUB_INSPECTOR_OPTIONS_INIT                                                                           \
    {                                                                                                        \
        .wall_ms = 60000, .memory_bytes = 2 * GIB, .side_budget = 4 * GIB                                    \
    }

HUB_MUST_USE enum hub_status hub_inspector_new(const struct hub_inspector_options *options,
                                               struct hub_inspector **out, struct hub_error *err);
void hub_inspector_free(struct hub_inspector *inspector);
/** Names the limits of a child: what failed under others is worth another try. */
uint64_t hub_inspector_limits(const struct hub_inspector *inspector);

/** What minari-inspect announced at its start; the same until the inspector is freed. Waits for it, at most 5
 * s. HUB_IO: it ended, or is no minari-inspect. */
struct hub_format_table;
HUB_MUST_USE enum hub_status hub_inspector_formats(struct hub_inspector *inspector,
                                                   const struct hub_format_table **out,
                                                   struct hub_error *err);

struct hub_job_file {
    const char *path;
    uint64_t size;
    bool directory;
};

struct hub_job {
    enum hub_job_kind kind;
    const char *format; /* PLAN, INSPECT */
    const struct hub_job_file *files;
    uint32_t file_count;
    /* CLAIM: the first entry of each listing, from 0 on, ascending; NULL: one listing */
    const uint32_t *listings;
    uint32_t listing_count;
    const char *part, *hint; /* INSPECT; CLAIM: hint HUB_HINT_FILES or NULL; PLAN: hint the dataset's place */
    const uint32_t *part_files; /* INSPECT: only these are handed out */
    uint32_t part_file_count;
    int side_fd; /* INSPECT: where side data goes, or -1: none allowed */
    /** Open file `number` read-only, beneath its root. Called on the calling thread of hub_inspector_run. */
    enum hub_status (*open_file)(void *user, uint32_t number, int *fd, struct hub_error *err);
    void *user;
    atomic_bool *cancel; /* may be NULL; set: the child is killed and HUB_CANCELLED returned */
};

/**
 * Run one job in a fresh sandboxed child and wait for it. Blocking: never on an event thread.
 *
 * @return HUB_OK; HUB_NOT_ACCEPTABLE (the driver declines); HUB_UNSUPPORTED; HUB_CORRUPT (the driver says the
 * files are, or the child lied, crashed, or was stopped by the sandbox: problem "inspector-lied",
 * "inspector-crashed", "inspector-stopped"); HUB_TOO_BIG (problem "inspection-limit": it used
 * up the memory or processor time it may have); HUB_TIMEOUT (it did not come to its end in time though it was
 * not busy, or was killed from outside: nothing is said about the files); HUB_CHANGED (a file is not of the
 * size the job says); HUB_DENIED, HUB_NOT_FOUND (what open_file said, where the driver could not go on);
 * HUB_NO_SPACE; HUB_CANCELLED; HUB_IO ("inspection-unread": a file could not be read;
 * "sandbox-unavailable" among them)
 */
HUB_MUST_USE enum hub_status hub_inspector_run(struct hub_inspector *inspector, const struct hub_job *job,
                                               struct hub_findings *out, struct hub_error *err);

/**
 * Plan with the first of the formats, best bidder first, whose driver does not decline. Of the job files and
 * how to open them are used.
 *
 * @param[out] format  the one asked last
 * @return as above; HUB_NOT_ACCEPTABLE: all decline
 */
HUB_MUST_USE enum hub_status hub_inspector_plan(struct hub_inspector *inspector, struct hub_job job,
                                                const char *const *formats, uint32_t count,
                                                const char **format, struct hub_findings *out,
                                                struct hub_error *err);

#endif
