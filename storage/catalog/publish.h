/** The steps of a publication, shared by parts.c, problems.c, merge.c, directory.c, summary.c and publish.c.
 * All run in the writer's transaction. */
#ifndef HUB_CATALOG_PUBLISH_H
#define HUB_CATALOG_PUBLISH_H

#include "storage/catalog/fields.h"

/** Some texts, each once, sorted; the first HUB_MAX_SAID of them. */
enum { HUB_MAX_SAID = 256 };
struct hub_text_set {
    char *items[HUB_MAX_SAID];
    uint32_t count;
};
HUB_MUST_USE enum hub_status hub_text_set_add(struct hub_text_set *said, const char *text,
                                              struct hub_error *err);
void hub_text_set_dispose(struct hub_text_set *said);

struct hub_publication {
    struct hub_catalog *catalog;
    struct hub_db *db;
    const struct hub_draft *draft;
    int64_t row;        /* of the dataset */
    bool applied;       /* by an earlier call with the same attempt */
    int64_t *part_rows; /* draft->part_count */
    uint32_t broken_parts;
    char *broken_why;              /* of the first of them */
    struct hub_kept_field *fields; /* of all parts, sorted by path, their texts one by one */
    uint32_t field_count, field_capacity;
    bool inside_left; /* a number inside rows of JSON is left out, and that was reported */
    struct hub_dataset_episode *episodes;
    uint32_t episode_count, episode_capacity;
    uint64_t steps;
    struct hub_text_set tasks, cameras; /* of the episodes */
    struct hub_buf conflicts;           /* the problems that it met: see problems.c */
    uint32_t problem_count;             /* in them */
    uint32_t costly_count;              /* of these: see storage/model/problem.h */
    struct hub_retired *retired;        /* side data of the parts that were deleted */
    struct hub_summary_box *summary;    /* as written, until it is in the list */
};

/* ---- parts.c ---- */

/** Row of the part of this name and signature, or HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_part_find(struct hub_db *db, int64_t dataset, const char *name,
                                           uint64_t signature, int64_t *row, struct hub_error *err);
/** How many are kept of it. HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_part_episodes(struct hub_db *db, int64_t row, uint32_t *count,
                                               struct hub_error *err);
/** Write a part with all it found, in place of one of the same name and signature. */
HUB_MUST_USE enum hub_status hub_part_write(struct hub_publication *p, const struct hub_draft_part *part,
                                            int64_t *row, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_part_delete(struct hub_publication *p, int64_t row, struct hub_error *err);
/** Number of a file of the draft by its path, or HUB_NONE. */
uint32_t hub_draft_file(const struct hub_draft *draft, struct hub_view path);

/* ---- media.c ---- */

HUB_MUST_USE enum hub_status hub_media_write(struct hub_publication *p, int64_t part,
                                             const struct hub_findings *found, struct hub_error *err);

/** Cameras of the first episodes of a part that is stored. */
HUB_MUST_USE enum hub_status hub_media_cameras(struct hub_publication *p, int64_t part,
                                               struct hub_error *err);

/* ---- problems.c ---- */

/** Those of a part, or of a dataset's plan. */
HUB_MUST_USE enum hub_status hub_problems_write(struct hub_db *db, int64_t owner,
                                                const struct hub_findings *found, struct hub_error *err);
/** Those that measuring a part met, in place of what it met before; they count as problems of the dataset.
 * `changed`: there were some before, or are now. */
HUB_MUST_USE enum hub_status hub_problems_write_measured(struct hub_catalog *catalog, int64_t part,
                                                         const struct hub_findings *found, bool *changed,
                                                         struct hub_error *err);
/** A problem found while publishing. */
HUB_MUST_USE enum hub_status hub_publication_problem(struct hub_publication *p, const char *code,
                                                     const char *path, struct hub_error *err, const char *fmt,
                                                     ...) HUB_PRINTF(5, 6);
/** Those that are stored of the dataset and its parts. */
struct hub_problem_tally {
    uint32_t count, costly; /* costly: that cost data or loading */
    bool refused;           /* "not-loadable" is among them */
};
HUB_MUST_USE enum hub_status hub_problems_count(struct hub_publication *p, struct hub_problem_tally *out,
                                                struct hub_error *err);

/* ---- facts.c ---- */

/** In place of those that are there. */
HUB_MUST_USE enum hub_status hub_facts_write(struct hub_db *db, int64_t dataset,
                                             const struct hub_findings *plan, struct hub_error *err);
/** Add the text to `out`; none when it is not known. HUB_NOT_FOUND: the dataset is gone. */
HUB_MUST_USE enum hub_status hub_fact_read(struct hub_catalog *catalog, struct hub_db *db, int64_t dataset,
                                           const char *key, struct hub_buf *out, struct hub_error *err);

/** What sets are chosen by (storage/model/facet.h), of the stored facts and the merged fields. */
HUB_MUST_USE enum hub_status hub_facets_read(struct hub_publication *p, struct hub_buf *out,
                                             struct hub_error *err);

/* ---- merge.c ---- */

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
