/** Rows that are chosen by their own numbers: step_where=rewards < -10. */
#ifndef HUB_API_ROWS_STEP_WHERE_H
#define HUB_API_ROWS_STEP_WHERE_H

#include "server/api/app.h"
#include "storage/query/where.h"
#include "storage/rows/row_reader.h"

/** What step_where= says, read before its reading begins. */
struct hub_step_where {
    struct hub_where *where; /* NULL: it says nothing */
    uint32_t tests;
    uint32_t columns[HUB_WHERE_TESTS]; /* of each test: of the reading, and ... */
    uint32_t numbers[HUB_WHERE_TESTS]; /* ... which number of its row */
    uint32_t column_count;             /* that the reading has for this alone: its last ones */
};
void hub_step_where_dispose(struct hub_step_where *steps);

/** HUB_INVALID "bad-where". */
HUB_MUST_USE enum hub_status hub_step_where_read(const struct hub_request *request,
                                                 struct hub_step_where *out, struct hub_error *err);
/** Add a column for each field that is tested, behind those of the answer. HUB_INVALID "bad-where": it has no
 * such step field of numbers. */
HUB_MUST_USE enum hub_status hub_step_where_columns(struct hub_step_where *steps,
                                                    struct hub_row_reader *reading, struct hub_error *err);
/**
 * Read these of all rows, and leave the reading with those that are chosen, without the columns. Blocking,
 * for as long as that takes. Reserves the memory it takes. HUB_TOO_BIG "too-large": the rows lie in too many
 * pieces.
 */
HUB_MUST_USE enum hub_status hub_step_where_choose(struct hub_step_where *steps, struct hub_request *request,
                                                   struct hub_response *response,
                                                   struct hub_row_reader *reading, struct hub_error *err);

#endif
