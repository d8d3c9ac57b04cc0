/**
 * Rows of fields of some episodes, one episode after another, read in blocks while they are sent: columns
 * of equal length, in the memory of a block. Blocking. Of one thread at a time. What looks at episodes or
 * reads rows is HUB_CANCELLED once nobody waits for the answer.
 */
#ifndef HUB_ROWS_ROW_READER_H
#define HUB_ROWS_ROW_READER_H

#include "storage/encode/representation.h"
#include "storage/rows/rows.h"

/** What is not read but made: of each row its episode's number and its step, and how the episode ended
 * there. */
enum hub_computed_column {
    HUB_COMPUTED_NOT,
    HUB_COMPUTED_EPISODE,
    HUB_COMPUTED_STEP,
    HUB_COMPUTED_TERMINATED,
    HUB_COMPUTED_TRUNCATED,
    HUB_COMPUTED_DONE
};

/** A column of the answer, and what it is read from. */
struct hub_row_reader_column {
    enum hub_computed_column made; /* else read: */
    bool hidden;                   /* only read for what is made of it */
    uint32_t field;
    unsigned ahead;  /* so many rows further on: of what follows a step */
    bool last_again; /* where the episode has not one row more, its last one comes twice */
    bool as_items;   /* texts and runs of bytes are read as VAR, whatever they are kept as */
};

/** Rows of one episode, `stride` apart, which stand together in the answer. */
struct hub_row_reader_run {
    uint64_t first; /* row of the episode */
    uint64_t end;   /* rows of the answer up to and with its last one */
};

/** Zeroed at first, then `context` to `column_count` set; disposed of in any case. */
struct hub_row_reader {
    struct hub_rows_context context;   /* that may block; its `parallel` outlives the reading */
    const struct hub_dataset *dataset; /* its reference */
    uint32_t *places, count;           /* of the episodes; owned */
    uint64_t *ends;                    /* rows up to and with each; owned */
    /* NULL: all rows of each episode; else those of these runs, in order (hub_row_reader_slice). Owned */
    struct hub_row_reader_run *runs;
    uint64_t run_count, stride;
    uint64_t *wholes; /* with runs: all rows of each episode; owned */
    struct hub_row_reader_column columns[HUB_MAX_SELECTED];
    struct hub_stream_column
        as[HUB_MAX_SELECTED];           /* beside each: its name is set, its type and variant once the
                                                     episodes were looked at */
    uint32_t field_count, column_count; /* those that are read, and with those behind them that are made */
    /* the hidden columns that tell of an ending, HUB_NONE: there is none */
    uint32_t terminated, truncated, done;

    /* inside */
    struct hub_selected_field *fields; /* of each column; `slice` is all its rows there are, in its array */
    uint32_t part[HUB_MAX_SELECTED];   /* that its layout is of */
    struct hub_selection now;          /* some of these columns, from `first` on, in ... */
    uint32_t first, episode;           /* among places */
    bool sliced;                       /* the fields came with slices of their own */
    struct hub_rows rows[HUB_MAX_SELECTED]; /* of the last block */
    struct hub_held held[HUB_MAX_SELECTED]; /* what the next one goes on in ... */
    uint64_t holds;                         /* ... and how much memory that is, as the context counts it */
    size_t capacity[HUB_MAX_SELECTED];      /* of their data */
};

void hub_row_reader_dispose(struct hub_row_reader *reading);

/** HUB_CANCELLED: the request for the answer has ended. To be asked where much is looked at before rows are
 * read. */
HUB_MUST_USE enum hub_status hub_row_reader_wanted(const struct hub_row_reader *reading,
                                                   struct hub_error *err);

/** To be called first. */
HUB_MUST_USE enum hub_status hub_row_reader_begin(struct hub_row_reader *reading, struct hub_error *err);
/** Instead, of the fields of one episode as they were selected: the selection is handed over, and columns of
 * fewer rows end in nulls. */
HUB_MUST_USE enum hub_status hub_row_reader_begin_at(struct hub_row_reader *reading,
                                                     struct hub_selection *selection, struct hub_error *err);

/**
 * Look at a column in all episodes: its type and variant are set.
 *
 * @return HUB_NOT_FOUND "field-not-found": an episode does not have it, or not for all its rows;
 * HUB_UNSUPPORTED "field-unreadable"; HUB_NOT_ACCEPTABLE: its rows are not of one kind
 */
HUB_MUST_USE enum hub_status hub_row_reader_look(struct hub_row_reader *reading, uint32_t column,
                                                 struct hub_error *err);

/** Forget what was looked up for a column: another may stand in its place. */
void hub_row_reader_release(struct hub_row_reader *reading, uint32_t column);
/** How many rows of an episode a column has, the first one being the one of its first step. Ends need not be
 * set. */
HUB_MUST_USE enum hub_status hub_row_reader_there(struct hub_row_reader *reading, uint32_t column,
                                                  uint32_t episode, uint64_t *rows, struct hub_error *err);

/** A column that is made, behind all that are read. */
void hub_row_reader_add_computed(struct hub_row_reader *reading, const char *name,
                                 enum hub_computed_column made);

/** Of each episode, whose ends are set, only the rows of a slice. Its step is above 0. */
HUB_MUST_USE enum hub_status hub_row_reader_slice(struct hub_row_reader *reading,
                                                  const struct hub_row_range *range, struct hub_error *err);
/** Where a row of the answer lies in its episode, and how many rows of the answer, with this one, go on from
 * there at equal distances. */
struct hub_row_reader_spot {
    uint64_t row, left;
};
struct hub_row_reader_spot hub_row_reader_spot(const struct hub_row_reader *reading, uint32_t episode,
                                               uint64_t row);
/** All rows of an episode, whether they are read or not. */
uint64_t hub_row_reader_whole(const struct hub_row_reader *reading, uint32_t episode);
/** Take a column away that no answer has: the last one. */
void hub_row_reader_drop(struct hub_row_reader *reading);

/** All rows of each column. */
uint64_t hub_row_reader_count(const struct hub_row_reader *reading);
/** The episode of a row: its place among `places`. */
uint32_t hub_row_reader_episode(const struct hub_row_reader *reading, uint64_t row);
/** Bytes of a row of some columns; of what is of varying length, a guess. */
uint64_t hub_row_reader_row_bytes(const struct hub_row_reader *reading, uint32_t first, uint32_t count);

/**
 * Read rows [first, first + count) of some columns into reading->rows, where they last until the next call.
 * Fewer (*got), where these would take much more memory than was thought. HUB_CHANGED: the files are no
 * longer those that were indexed.
 */
HUB_MUST_USE enum hub_status hub_row_reader_rows(struct hub_row_reader *reading, uint32_t first_column,
                                                 uint32_t column_count, uint64_t first, uint64_t count,
                                                 uint64_t *got, struct hub_error *err);

/**
 * Have the next call put the rows of a column, of one size each, into memory of the caller's.
 * @param data   NULL afterwards, before anything else is read
 * @param bytes  of the rows that will be asked for, and one more
 */
void hub_row_reader_into(struct hub_row_reader *reading, uint32_t column, void *data, size_t bytes);

/* ---- within row readers ---- */

/** Text and runs of bytes whose sizes may differ from episode to episode. */
bool hub_row_reader_has_items(const struct hub_row_reader *reading, uint32_t column);
/** The window of a column's field in an episode, with its layout, which is kept while the part is the
 * same. */
HUB_MUST_USE enum hub_status hub_row_reader_window(struct hub_row_reader *reading, uint32_t column,
                                                   const struct hub_dataset_episode *episode,
                                                   const struct hub_window **out, struct hub_error *err);
/** Rows of the field before the first one of the column. */
uint64_t hub_row_reader_skipped(const struct hub_row_reader *reading, uint32_t column);

#endif
