/**
 * A dataset's folder as the hub sees it after discovery: claimed, planned and inspected through the real,
 * sandboxed inspector. For contract tests of drivers; asserts nothing itself.
 */
#ifndef HUB_TESTS_INSPECTED_H
#define HUB_TESTS_INSPECTED_H

#include "storage/inspect/inspect.h"

struct inspected {
    char *dir;
    const char *only; /* not NULL: this file of it is all there is */
    struct hub_inspector *inspector;
    struct hub_job_file *files; /* all files of the dataset, by number */
    uint32_t file_count;
    struct hub_findings plan, *parts; /* parts[i] belongs to plan.parts[i] */
    enum hub_status *part_status;
    struct hub_error *part_errors;
    int *side; /* side data of each part, or -1 */
    char format[64];
};

/** `program`: minari-inspect. HUB_NOT_FOUND when no driver claims the folder. Plan errors are returned, part
 * errors kept. */
HUB_MUST_USE enum hub_status inspected_open(struct inspected *d, const char *program, const char *dir,
                                            struct hub_error *err);
/** The same of one file, which is a dataset alone. */
HUB_MUST_USE enum hub_status inspected_open_file(struct inspected *d, const char *program, const char *path,
                                                 struct hub_error *err);
void inspected_close(struct inspected *d);

/** The text of a fact, or "". */
const char *inspected_fact(const struct inspected *d, const char *key);
/** A problem of the plan or of any part with this code (and, if not NULL, this path), or NULL. */
const struct hub_found_problem *inspected_problem(const struct inspected *d, const char *code,
                                                  const char *path);
/** A field of a part, or NULL. */
const struct hub_found_field *inspected_field(const struct hub_findings *part, const char *path);

#endif
