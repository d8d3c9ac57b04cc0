/**
 * Reads one column of a property, whatever it comes from: the run that was last looked into stays at hand.
 * Zeroed at first; of one thread, and of a state that outlives it.
 */
#ifndef HUB_EPISODES_COLUMN_CURSOR_H
#define HUB_EPISODES_COLUMN_CURSOR_H

#include "storage/catalog/columns.h"
#include "storage/catalog/dataset.h"

struct hub_column_blob;

struct hub_column_cursor {
    struct hub_column_blob *at; /* NULL: there is none of this run */
    struct hub_columns columns; /* of `at` */
    uint32_t part, first, end;  /* which cells of which part it is at; none: end is 0 */
    unsigned moves;             /* counts the blobs it was in */
};

/** Which column, of a part of a state. */
struct hub_column_id {
    const struct hub_state *state;
    const char *word;
    struct hub_view of; /* the field or the attribute; else empty */
    uint32_t part;
};

/** It is at this cell, which has a blob or has none. */
static inline bool hub_column_cursor_has(const struct hub_column_cursor *cursor, uint32_t part, uint32_t cell)
{
    return cell < cursor->end && cell >= cursor->first && part == cursor->part;
}
/** Values of a cell it is at; `out` is the first one. */
static inline uint32_t hub_column_cursor_get(const struct hub_column_cursor *cursor, uint32_t cell,
                                             struct hub_value *out)
{
    return cursor->at && cell - cursor->first < cursor->columns.count
               ? hub_columns_get(&cursor->columns, cell - cursor->first, out)
               : 0;
}
/** To a cell of what the files state (HUB_FROM_COLUMN, HUB_ROWS): mostly that of hub_dataset_episode.index.
 * Blocking. `passing`: the run it leaves is not kept in the cache. */
HUB_MUST_USE enum hub_status hub_column_cursor_move(struct hub_column_cursor *cursor,
                                                    const struct hub_column_id *id, uint32_t cell,
                                                    bool passing, struct hub_error *err);
/** To a cell of what was measured. */
HUB_MUST_USE enum hub_status hub_column_cursor_move_measured(struct hub_column_cursor *cursor,
                                                             const struct hub_column_id *id, uint32_t cell,
                                                             struct hub_error *err);
/** To a cell of a column in memory, which `make` fills with cells from `first` on where it is not there yet.
 * There is none where it fails: no memory, texts too long, a row that cannot be read. */
typedef enum hub_status hub_column_make(void *user, uint32_t first, uint32_t count,
                                        struct hub_column_run *run, struct hub_error *err);
void hub_column_cursor_move_made(struct hub_column_cursor *cursor, const struct hub_column_id *id,
                                 uint32_t cell, hub_column_make *make, void *user);
void hub_column_cursor_reset(struct hub_column_cursor *cursor);

/** Which parts have a measured column, by part; to be freed. Broken ones have. Blocking. */
HUB_MUST_USE enum hub_status hub_column_parts(const struct hub_state *state, const char *word,
                                              struct hub_view of, bool **out, struct hub_error *err);
/** To a cell of what was measured, and its value. The cursor reads no other column. False: nothing was. */
HUB_MUST_USE enum hub_status hub_column_measured(struct hub_column_cursor *cursor,
                                                 const struct hub_column_id *id, uint32_t cell,
                                                 struct hub_value *out, bool *found, struct hub_error *err);

#endif
