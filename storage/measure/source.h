/**
 * The rows of one field of a part, handed out in blocks as doubles. What lies close behind is read with
 * them: rows of neighbouring episodes often share a chunk, which is then decoded once.
 *
 * Thread-safety: of one thread.
 */
#ifndef HUB_MEASURE_SOURCE_H
#define HUB_MEASURE_SOURCE_H

#include "storage/read/read.h"

enum { HUB_MEASURE_DIMS = 4096 }; /* values of a row, at most */

/** What measuring asks of whoever has it done. */
struct hub_measure_host {
    void *user;
    /** A file of the part, by number (HUB_SIDE_FILE too); counted. */
    enum hub_status (*open)(void *user, uint32_t number, struct hub_file **out, struct hub_error *err);
    /** Before a block is read, which takes so much memory besides: waits for its turn. HUB_CANCELLED. */
    enum hub_status (*turn)(void *user, uint64_t bytes, uint64_t memory, struct hub_error *err);
    /** NULL, or whether it shall end, while it waits for bytes. */
    bool (*stops)(void *user);
};

/** Some rows of an episode; lives until the source is asked again. */
struct hub_block {
    const struct hub_variant *variant;
    uint32_t dims;
    uint64_t rows;
    const double *values; /* rows x dims */
    const uint8_t *raw;
    const uint8_t *valid; /* or NULL */
};

/** Zeroed but for the first three, which are borrowed; `files` is shared by the fields of the part. */
struct hub_row_source {
    const struct hub_measure_host *host;
    const struct hub_layout *layout;
    struct hub_plan_files *files;
    /* NULL, or rows are texts of JSON: of each the number that this RFC 6901 pointer names, else NaN */
    const char *leaf;
    uint64_t end; /* 0, or the row of the array behind the last that is going to be asked for */
    /* inside */
    uint32_t column; /* 0: whole rows; else one more than which */
    struct hub_variant narrow;
    struct hub_wants wants;
    struct hub_rows rows;
    struct hub_held held;
    double *values;
    uint64_t room;
    bool in_place; /* the rows are doubles themselves */
    uint32_t array;
    uint64_t first, count; /* rows of the array that are there */
    uint32_t bad_array;    /* a block of it could not be decoded; up to `bad_end`, */
    uint64_t bad_end;      /* rows are read without those close behind, which may be sound */
    uint64_t tried;        /* how many the last block was to have */
    uint64_t leaves;       /* numbers that were found */
};

/** Numbers of a row where its rows can be measured, else 0. */
uint32_t hub_source_dims(const struct hub_layout *layout, const struct hub_window *window);
/** Bytes of rows that a block of an array has at most. */
uint64_t hub_source_block_bytes(const struct hub_layout *layout, const struct hub_array *array);
/** Numbers of a row that a chunk holds where rows lie in several beside each other, else 0; and how many
 * rows from row `from` on lie in the same ones. Whoever asks for no row as a whole better takes such a
 * column at a time. */
uint32_t hub_source_column(const struct hub_row_source *source, const struct hub_window *window);
uint64_t hub_source_column_rows(const struct hub_row_source *source, const struct hub_window *window,
                                uint64_t from);
/** From now on only one column's part of each row, from 0; what is there is forgotten. */
void hub_source_take_column(struct hub_row_source *source, uint32_t column);
/** At most `count` rows of a window from row `from` on, which it has; at least one. */
HUB_MUST_USE enum hub_status hub_source_get(struct hub_row_source *source, const struct hub_window *window,
                                            uint64_t from, uint64_t count, struct hub_block *out,
                                            struct hub_error *err);
void hub_source_dispose(struct hub_row_source *source);
/** Is a failure to read about the data, and not about this machine at this moment? Then the rows are left
 * out. */
bool hub_measure_is_verdict(enum hub_status st);

#endif
