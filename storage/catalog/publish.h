/** The steps of a publication, shared by parts.c, merge.c, directory.c, summary.c and publish.c. All run in
 * the writer's transaction. */
#ifndef HUB_CATALOG_PUBLISH_H
#define HUB_CATALOG_PUBLISH_H

#include "storage/catalog/internal.h"

/* Who found a problem: the owner is the dataset's row, of PART the part's. Macros, for they stand in SQL
 * too. */
#define HUB_PROBLEM_PUBLISH 0
#define HUB_PROBLEM_PLAN 1
#define HUB_PROBLEM_PART 2
#define HUB_SQL_(number) #number
#define HUB_SQL(number) HUB_SQL_(number)

#define HUB_DIMS_VARIES UINT32_MAX

/** Element type and trailing shape as far as all variants agree. */
struct hub_shape {
    char dtype[24]; /* "": no rows yet */
    bool known;     /* ranks agree */
    uint32_t rank;
    uint32_t dims[HUB_MAX_RANK]; /* HUB_DIMS_VARIES */
};

/** A field over all parts. */
struct hub_merged_field {
    char *path, *unreadable;
    uint32_t type, role, axis;
    uint32_t episodes;
    bool readable; /* in one part at least */
    struct hub_shape shape;
};

/** An episode on its way into the directory. */
struct hub_merged_episode {
    int64_t number; /* resolved */
    int64_t shown;  /* as the table has it, -1: hidden there */
    uint64_t steps;
    uint32_t part, position;
};

struct hub_publication {
    struct hub_catalog *catalog;
    struct hub_db *db;
    const struct hub_draft *draft;
    int64_t row;        /* of the dataset */
    bool applied;       /* by an earlier call with the same attempt */
    int64_t *part_rows; /* draft->part_count */
    uint32_t broken_parts;
    char *broken_why;                /* of the first of them */
    struct hub_merged_field *fields; /* sorted by path */
    uint32_t field_count, field_capacity;
    struct hub_merged_episode *episodes;
    uint32_t episode_count, episode_capacity;
    uint64_t steps;
    uint32_t problem_count;
    struct hub_retired *retired;     /* side data of the parts that were deleted */
    struct hub_summary_box *summary; /* as written, until it is in the list */
};

/* ---- parts.c ---- */

/** Row of the part of this name and signature, or HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_part_find(struct hub_db *db, int64_t dataset, const char *name,
                                           uint64_t signature, int64_t *row, struct hub_error *err);
/** Write a part with all it found, in place of one of the same name and signature. With `show` its episodes
 * are written as they will most likely be resolved: numbers as stated, else counted from `base`. */
HUB_MUST_USE enum hub_status hub_part_write(struct hub_publication *p, const struct hub_draft_part *part,
                                            bool show, uint64_t base, int64_t *row, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_part_delete(struct hub_publication *p, int64_t row, struct hub_error *err);
/** Number of a file of the draft by its path, or HUB_NONE. */
uint32_t hub_draft_file(const struct hub_draft *draft, struct hub_view path);

/* ---- problems.c ---- */

HUB_MUST_USE enum hub_status hub_problem_store(struct hub_db *db, unsigned source, int64_t owner,
                                               uint32_t position, const struct hub_found_problem *problem,
                                               struct hub_error *err);
/** A problem found while publishing. */
HUB_MUST_USE enum hub_status hub_publication_problem(struct hub_publication *p, const char *code,
                                                     const char *path, struct hub_error *err, const char *fmt,
                                                     ...) HUB_PRINTF(5, 6);
HUB_MUST_USE enum hub_status hub_problems_delete(struct hub_db *db, unsigned source, int64_t owner,
                                                 struct hub_error *err);
/** Is there one of this name in the dataset or its parts? */
HUB_MUST_USE enum hub_status hub_problems_have(struct hub_db *db, int64_t dataset, const char *code,
                                               bool *have, struct hub_error *err);

/* ---- episodes.c ---- */

/** Write what a part found, with its splits; `show` and `base` as of hub_part_write. */
HUB_MUST_USE enum hub_status hub_episodes_write(struct hub_publication *p, int64_t part,
                                                const struct hub_findings *found, bool show, uint64_t base,
                                                struct hub_error *err);

/* ---- merge.c ---- */

void hub_shape_add(struct hub_shape *shape, const struct hub_shape *more);
void hub_shape_of_layout(const struct hub_layout *layout, enum hub_field_type type, struct hub_shape *out);
HUB_MUST_USE enum hub_status hub_merge_fields(struct hub_publication *p, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_merge_episodes(struct hub_publication *p, struct hub_error *err);

/* ---- directory.c ---- */

HUB_MUST_USE enum hub_status hub_directory_write(struct hub_publication *p, struct hub_error *err);

/* ---- summary.c ---- */

/** The dataset's row, after all else was written. */
HUB_MUST_USE enum hub_status hub_summary_store(struct hub_publication *p, uint64_t serial,
                                               struct hub_error *err);

void hub_publication_dispose(struct hub_publication *p);

#endif
