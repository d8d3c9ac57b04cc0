/** What a tree of files is, as the hub would list it: claimed, planned and inspected in the sandbox. */
#ifndef HUB_DRAFTS_VERDICT_H
#define HUB_DRAFTS_VERDICT_H

#include "storage/inspect/inspect.h"
#include "storage/text/json.h"

enum { HUB_VERDICT_PROBLEMS = 100 };

enum hub_verdict_status {
    HUB_VERDICT_READY,  /* a dataset that can be read, perhaps with problems */
    HUB_VERDICT_BROKEN, /* of a known format, but a part cannot be read, or its own library refuses it */
    HUB_VERDICT_FILES,  /* no format claims it */
};
/** "ready", "broken", "files", NULL. */
extern const char *const hub_verdict_names[];

/** Zeroed or disposed ones may be disposed again. */
struct hub_verdict {
    enum hub_verdict_status status;
    char *format;            /* NULL: none */
    char reason[400];        /* of one that is not ready */
    char doubt[400];         /* the first problem that breaks nothing, or "" */
    struct hub_buf problems; /* items of a JSON array: {"code", "path", "detail"}, the first ones */
    uint64_t problem_count, episodes, steps;
    uint32_t parts;
};
void hub_verdict_dispose(struct hub_verdict *verdict);

/**
 * Inspect the tree in a directory. Blocking, as long as an inspection takes.
 * @param cancel  NULL, or set from any thread: HUB_CANCELLED
 * @return an error for what is wrong with this machine alone; what is wrong with the files is in the verdict
 */
HUB_MUST_USE enum hub_status hub_tree_inspect(struct hub_inspector *inspector, const char *directory,
                                              atomic_bool *cancel, struct hub_verdict *out,
                                              struct hub_error *err);

#endif
