/** Rows of an inspected dataset, read from its layout alone: what the server does. */
#ifndef HUB_TESTS_ROWS_H
#define HUB_TESTS_ROWS_H

#include "storage/read/read.h"
#include "tests/support/inspected.h"

/** All rows of a window. hub_rows_dispose the result. */
HUB_MUST_USE enum hub_status rows_read(const struct inspected *d, uint32_t part,
                                       const struct hub_layout *layout, const struct hub_window *window,
                                       struct hub_rows *rows, struct hub_error *err);
/** Rows start, start + step, ... of a window. */
HUB_MUST_USE enum hub_status rows_read_slice(const struct inspected *d, uint32_t part,
                                             const struct hub_layout *layout, const struct hub_window *window,
                                             struct hub_slice slice, struct hub_rows *rows,
                                             struct hub_error *err);

#endif
