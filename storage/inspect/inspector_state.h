/** The inside of an inspector: shared by inspector.c, job.c and tests. */
#ifndef HUB_INSPECT_INSPECTOR_STATE_H
#define HUB_INSPECT_INSPECTOR_STATE_H

#include "storage/inspect/formats.h"
#include "storage/inspect/inspect.h"
#include "storage/inspect/protocol.h"

#include <pthread.h>
#include <sys/types.h>

enum { HUB_MAX_RESTARTS = 10, HUB_RESTART_WINDOW_S = 60 };

struct hub_inspector {
    struct hub_inspector_options options;
    char *program;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t room;
    uint64_t memory_used; /* that the children at work may take */
    pid_t worker;         /* 0: none */
    int control;
    int64_t restarts_ms[HUB_MAX_RESTARTS]; /* when the last ones were, a ring */
    unsigned restart;
    struct hub_format_table *formats; /* NULL: not heard yet */
};

/** Wait until a child of so much memory may be started beside the others. HUB_CANCELLED. */
HUB_MUST_USE enum hub_status hub_inspector_reserve(struct hub_inspector *inspector, uint64_t bytes,
                                                   atomic_bool *cancel, struct hub_error *err);
void hub_inspector_release(struct hub_inspector *inspector, uint64_t bytes);

/** Hand a job's two sockets to the worker, starting it if it is not there. Thread-safe. */
HUB_MUST_USE enum hub_status hub_inspector_order(struct hub_inspector *inspector,
                                                 const struct hub_job_order *order, int sock, int status,
                                                 struct hub_error *err);

#endif
