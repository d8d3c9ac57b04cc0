/** Rows as a table that is sent while it is read: csv, jsonl, arrow. */
#ifndef HUB_API_TABLED_H
#define HUB_API_TABLED_H

#include "server/api/reading.h"

struct hub_tabled {
    struct hub_maker maker; /* first */
    struct hub_reading reading;
    const struct hub_representation *as; /* with blocks */
    enum hub_nonfinite nonfinite;
    uint64_t at; /* rows that were sent */
    bool begun, ended;
    char *names; /* owned: what the names of columns lie in, or NULL */
};

HUB_MUST_USE enum hub_status hub_tabled_new(struct hub_request *request, const struct hub_representation *as,
                                            struct hub_tabled **out, struct hub_error *err);
void hub_tabled_freep(struct hub_tabled **tabled);

/**
 * Answer with it, from its first row: memory is reserved, and it is handed over in any case (*tabled becomes NULL).
 * HUB_TOO_BIG "too-large": a row takes more than a block.
 */
HUB_MUST_USE enum hub_status hub_tabled_send(struct hub_request *request, struct hub_response *response,
                                             const char *media_type, struct hub_tabled **tabled,
                                             struct hub_error *err);

#endif
