/**
 * minari-inspect for people and scripts: find the datasets at a path, inspect each as the hub would (in the
 * same sandbox, by the same worker), say what they are. One file a step: cli_find.c discovers, cli_tree.c
 * lists, cli_report.c inspects and sums up, cli_text.c and cli_json.c print.
 */
#ifndef HUB_PROGRAM_CLI_H
#define HUB_PROGRAM_CLI_H

#include "storage/discover/discover.h"
#include "storage/ids/version.h"
#include "storage/inspect/inspect.h"
#include "storage/text/json.h"
#include "storage/worker/format.h"

enum {
    HUB_EXIT_OK = 0,
    HUB_EXIT_FAILED = 1,
    HUB_EXIT_USAGE = 2,
    HUB_EXIT_NOT_FOUND = 3,
    HUB_EXIT_BROKEN = 8
};

/* ---- files ---- */

/** The files of one dataset, as a job wants them. */
struct hub_tree {
    const struct hub_walk *walk; /* borrowed */
    char *path;                  /* below the walk's root: what the files' paths are relative to */
    struct hub_fileset set;
    struct hub_job_file *files; /* the same as `set`, in its order */
    uint64_t bytes;
};

/** Take over a file set, which is empty then. */
HUB_MUST_USE enum hub_status hub_tree_take(const struct hub_walk *walk, const char *path,
                                           struct hub_fileset *files, struct hub_tree *out,
                                           struct hub_error *err);
void hub_tree_dispose(struct hub_tree *tree);
/** For struct hub_job: `user` is a struct hub_tree. */
enum hub_status hub_tree_open(void *user, uint32_t number, int *fd, struct hub_error *err);

/* ---- one dataset ---- */

/** A dictionary page of Parquet: many pieces, of one part or several, may have the same one. */
struct hub_report_dictionary {
    uint64_t offset;
    uint32_t file, stored;
};

struct hub_report_field {
    char *path, *unreadable;
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
    struct hub_variant variant; /* the first one met */
    uint32_t variants;          /* how many were met, part by part */
    uint32_t varies;            /* bit d: trailing dimension d differs; bit 31: more than that differs */
    uint64_t episodes, rows, stored, layout_bytes, pieces[HUB_PIECE_KIND_COUNT], chunks;
    struct hub_report_dictionary *dictionaries; /* not in `stored` before all parts were seen */
    uint32_t dictionary_count, dictionary_capacity;
};

struct hub_report {
    const char *path;     /* as it was given, and on from there */
    const char *id;       /* what a hub with that root calls it */
    const char *format;   /* NULL: no driver knows it */
    const char *status;   /* "ready" "broken" "unsupported" "files" */
    struct hub_error why; /* unless ready */
    struct hub_tree tree;
    struct hub_findings plan;
    struct hub_report_field *fields;
    uint32_t field_count;
    uint32_t field_capacity;
    uint64_t episodes, steps, problems, broken_parts;
    char *refused; /* why its own library does not load it, or NULL */
    /* members of the JSON lists, separated by commas; lines of text */
    struct hub_buf episode_list, part_list, media_list, problem_list, problem_text;
};

/** The value of a fact, or NULL. */
const char *hub_report_fact(const struct hub_report *report, const char *key);
/** The driver, or NULL; the rule by which releases of its library load it, or NULL. */
const struct hub_format *hub_report_format(const struct hub_report *report);
const struct hub_load_rule *hub_report_rule(const struct hub_report *report);
void hub_report_dispose(struct hub_report *report);
/** A dataset to report on. */
struct hub_report_target {
    const char *path, *id;
    const char *const *formats; /* bidders, best first */
    uint32_t format_count;
};
/**
 * Plan with the first format that does not decline, then inspect every part. What is wrong with the dataset
 * is in the report; an error is returned only for what is wrong with this machine. `tree` becomes the
 * report's.
 */
HUB_MUST_USE enum hub_status hub_report_make(struct hub_inspector *inspector,
                                             const struct hub_report_target *target, struct hub_tree *tree,
                                             struct hub_report *out, struct hub_error *err);

/* ---- all datasets at a path ---- */

typedef enum hub_status hub_report_each(void *user, const struct hub_report *report, struct hub_error *err);

enum { HUB_MAX_TARGETS = 16 };

struct hub_find {
    struct hub_inspector *inspector;
    const char *path;
    const char *targets[HUB_MAX_TARGETS]; /* folders that links may lead to, besides PATH */
    uint32_t target_count;
    hub_report_each *each;
    void *user;
};

/** Reports on every dataset at a path, in the order of their paths: a folder as the hub discovers it
 * (storage/scan), or the dataset a file belongs to. HUB_NOT_FOUND: the path, or a dataset for that file. */
HUB_MUST_USE enum hub_status hub_find_datasets(const struct hub_find *find, struct hub_error *err);

/* ---- usage ---- */

/** --help on stdout; the man page or a completion, for the build (`--generate man`). Exit codes. */
int hub_inspect_help(void);
int hub_inspect_generate(const char *what);

/* ---- printing ---- */

HUB_MUST_USE enum hub_status hub_report_text(const struct hub_report *report, struct hub_buf *out,
                                             struct hub_error *err);
HUB_MUST_USE enum hub_status hub_report_json(const struct hub_report *report, struct hub_buf *out,
                                             struct hub_error *err);
/** One episode, medium or problem as a member of its list. */
HUB_MUST_USE enum hub_status hub_report_json_episode(struct hub_buf *out, const struct hub_found_episode *e,
                                                     int64_t number, const char *file, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_report_json_media(struct hub_buf *out, const struct hub_found_media *m,
                                                   int64_t number, const char *file, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_report_json_problem(struct hub_buf *out, const struct hub_found_problem *p,
                                                     struct hub_error *err);
/** "float64", and "(28, *)" with a star where the shape varies. `out` of 24 and 96 bytes. */
void hub_report_dtype(const struct hub_report_field *field, char out[24]);
void hub_report_shape(const struct hub_report_field *field, const char *open, const char *star,
                      const char *close, char out[96]);

#endif
