/**
 * Measuring a part. Pass 1 reads every numeric field once: how its numbers are distributed, a dimension and
 * an episode at a time, and what of an episode needs no other. Pass 2 reads actions once more, when their
 * range over the whole dataset is known (motion.h). What comes out is columns, one value an episode, and
 * one blob about the fields; all of it is made of the part's own rows, and of the ranges that pass 2 was
 * given.
 */
#ifndef HUB_MEASURE_MEASURE_H
#define HUB_MEASURE_MEASURE_H

#include "storage/measure/fold.h"
#include "storage/measure/source.h"

#include "storage/base/cursor.h"
#include "storage/model/problem.h"
#include "storage/query/property.h"

enum { HUB_SPARK = 32 };

/** A field of a part, as far as it is measured. */
struct hub_measured_field {
    const char *path; /* borrowed */
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis; /* rows that belong to no step are not measured */
    bool sparse; /* a last row of NaN alone has no value, as that of {"done":true}: it is not counted */
    const struct hub_layout *layout; /* borrowed */
    struct hub_variant variant;      /* of its first episode */
    uint32_t dims;                   /* 0: no episode can be measured */
    uint32_t episodes;               /* that have rows of this shape */
    struct hub_fold *folds;          /* by dimension */
    struct hub_fold *each;           /* by episode: over all its values; count 0 and no others: it has none */
    char why[256];                   /* rows that could not be decoded: the first reason; "": all could */
    struct hub_lost lost;            /* ... and whose they are */
};
void hub_measured_field_dispose(struct hub_measured_field *field);

/** The episodes of a part; columns have one value for each, NaN where there is none. */
struct hub_measured_part {
    uint32_t episodes;
    const uint64_t *steps; /* borrowed */
    double fps;            /* 0: not known */
    const struct hub_measure_host *host;
    struct hub_plan_files files;
    double *returns;                                          /* sums of the reward */
    double *metrics[HUB_METRIC_COUNT], *at[HUB_METRIC_COUNT]; /* `at`: the step it is worst at */
    uint8_t *sparks;                                          /* HUB_SPARK bytes each */
    uint8_t *lost; /* by episode, rows that failed to decode: HUB_LOST_REWARD, HUB_LOST_ANY */
};
enum { HUB_LOST_ANY = 1, HUB_LOST_REWARD = 2 };
/** Of the episodes that lost this. */
struct hub_lost hub_measured_part_lost(const struct hub_measured_part *part, int what);
HUB_MUST_USE enum hub_status hub_measured_part_init(struct hub_measured_part *part, struct hub_error *err);
void hub_measured_part_dispose(struct hub_measured_part *part);

/** Pass 1 of one field, whose path, type, role, axis and layout are given. HUB_CHANGED: a file is not the one
 * that was indexed. */
HUB_MUST_USE enum hub_status hub_measure_field(struct hub_measured_part *part,
                                               struct hub_measured_field *field, struct hub_error *err);
/** Between two episodes: files are closed where many are open. As hub_measure_close_files. */
HUB_MUST_USE enum hub_status hub_measure_breathe(struct hub_measured_part *part, struct hub_error *err);
/** All files that were read are as they were. To be asked before what was measured is kept; closes them. */
HUB_MUST_USE enum hub_status hub_measure_close_files(struct hub_measured_part *part, struct hub_error *err);

/* ---- what is kept of the fields of a part (fields.c) ---- */

/** Append one field. */
HUB_MUST_USE enum hub_status hub_measured_field_pack(const struct hub_measured_field *field,
                                                     struct hub_buf *out, struct hub_error *err);
/** The next field of a packed list; its folds and path are the field's own until it is disposed. False:
 * there is none, or it makes no sense. */
bool hub_measured_field_unpack(struct hub_cursor *cursor, struct hub_measured_field *out, char path[4096]);
/** Add what another part knows of the same field. False: it has another shape there, and is left out. */
bool hub_measured_field_merge(struct hub_measured_field *into, const struct hub_measured_field *of);

#endif
