/** Rows as an npz that is sent while it is read: one array a column, one after another. */
#ifndef HUB_API_ROWS_ZIPPED_H
#define HUB_API_ROWS_ZIPPED_H

#include "server/api/app.h"
#include "storage/rows/reading.h"

struct hub_zipped_member; /* one array */

struct hub_zipped {
    struct hub_maker maker; /* first */
    struct hub_reading reading;
    struct hub_npz *zip;
    struct hub_zipped_member *members;
    uint32_t count, member; /* the one that is being written */
    uint64_t at;            /* rows of it that were */
    bool open, ended;
    char *names;                        /* owned: what the names of columns lie in, or NULL */
    uint64_t longest[HUB_MAX_SELECTED]; /* of each column of text or bytes: hub_zipped_measure */
};

HUB_MUST_USE enum hub_status hub_zipped_new(struct hub_request *request, struct hub_zipped **out,
                                            struct hub_error *err);
void hub_zipped_freep(struct hub_zipped **zipped);

/** Text and bytes are padded to their longest: all of them are read to know it. Blocking. HUB_TOO_BIG "too-large";
 * HUB_CANCELLED. */
HUB_MUST_USE enum hub_status hub_zipped_measure(struct hub_zipped *zipped, uint32_t column,
                                                struct hub_error *err);

/** Answer with it, once all columns were looked at and measured: memory is reserved, the length is told, and it is
 * handed over (*zipped becomes NULL). */
HUB_MUST_USE enum hub_status hub_zipped_send(struct hub_request *request, struct hub_response *response,
                                             struct hub_zipped **zipped, struct hub_error *err);

#endif
