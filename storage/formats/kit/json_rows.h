/**
 * Numbers inside rows of JSON, as fields of their own: rows {"arm": [0.1, 0.2]} of `actions/joint_pos` are a
 * field `actions/joint_pos/arm` besides, of numbers of shape (2). They are found once, here, and kept as side
 * data.
 *
 * In an episode a value has one shape. Rows without it are NaN, so integers are floats there; an episode
 * whose rows disagree cannot be read ("shape differs at row 7"), and where no episode of the part agrees
 * there is no field. A value that only the first or the last row has ({"done":true}) belongs to what is
 * around the steps, and is none either. What all episodes write as integers is int64, as true and false bool;
 * else all are floats: float32 where the format's arrays are, unless there is a number beyond 2^24, above
 * which float32 has no fractions.
 */
#ifndef HUB_FORMATS_JSON_ROWS_H
#define HUB_FORMATS_JSON_ROWS_H

#include "storage/formats/kit/json_numbers.h"
#include "storage/formats/kit/kit.h"

enum {
    HUB_JSON_ROWS_VALUES = 128,     /* that the rows of one field are looked through for, in a part */
    HUB_JSON_ROWS_VALUES_ALL = 512, /* those of all fields */
};

struct hub_json_leaf;

/** A field whose rows are JSON. */
struct hub_json_column {
    char *path;
    enum hub_role role;
    enum hub_axis axis;
    struct hub_json_leaf *leaves;
    uint32_t count, capacity, next; /* next: the leaf that is likely to be named next */
    bool full;                      /* there are more than are taken */
};

/** Of a part; zeroed, but for what stands first. */
struct hub_json_rows {
    struct hub_files *files;
    bool narrow; /* the format's arrays are float32 */

    struct hub_json_column *columns;
    uint32_t count, capacity, current; /* current: the column that is read */
    uint32_t leaf_count;
    uint32_t episode;
    uint64_t rows, row, bytes; /* of the episode; the next row; in memory */
    struct hub_json_value *value;
};

/** Begin the rows of a field in an episode. All are taken, or they are dropped. */
HUB_MUST_USE enum hub_status hub_json_rows_begin(struct hub_json_rows *r, const struct hub_field *field,
                                                 uint32_t episode, uint64_t rows, struct hub_error *err);
/** The next row: a text that hub_json_strict passes, or an empty one. */
HUB_MUST_USE enum hub_status hub_json_rows_take(struct hub_json_rows *r, struct hub_view text,
                                                struct hub_error *err);
/** All rows were taken: their numbers are written to the side data. */
HUB_MUST_USE enum hub_status hub_json_rows_end(struct hub_json_rows *r, struct hub_error *err);
/** The rows cannot be read to their end: nothing of them is kept. */
void hub_json_rows_drop(struct hub_json_rows *r);

/** Declare the fields, behind all others, and say where their rows lie. */
HUB_MUST_USE enum hub_status hub_json_rows_finish(struct hub_json_rows *r, struct hub_sink *sink,
                                                  struct hub_error *err);
void hub_json_rows_dispose(struct hub_json_rows *r);

#endif
