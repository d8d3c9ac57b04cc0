/** Dimensions of a row, as dims= names them: "0-3+7", counted in C order. */
#ifndef HUB_API_ROWS_DIMS_H
#define HUB_API_ROWS_DIMS_H

#include "server/http/http.h"

struct hub_dims {
    uint32_t *of, most; /* room for so many */
    uint32_t count;     /* set */
};
/**
 * The dimensions that one value of dims= names; an empty one means all there are.
 *
 * @param path   of the field, for errors
 * @param there  how many it has
 * @return HUB_INVALID "bad-parameter": others than there are, or more than there is room for
 */
HUB_MUST_USE enum hub_status hub_dims_read(const struct hub_request *request, struct hub_view text,
                                           const char *path, uint32_t there, struct hub_dims *out,
                                           struct hub_error *err);

/** The value of dims= that is of field number `field`, as it is repeated in the order of the fields; empty
 * where there is none. How many there are in all: *given. */
struct hub_view hub_dims_of(const struct hub_request *request, uint32_t field, uint32_t *given);

#endif
