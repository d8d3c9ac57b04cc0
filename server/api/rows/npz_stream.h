/** Rows as an npz that is sent while it is read: one array a column, one after another. */
#ifndef HUB_API_ROWS_NPZ_STREAM_H
#define HUB_API_ROWS_NPZ_STREAM_H

#include "server/api/app.h"
#include "storage/rows/row_reader.h"

struct hub_npz_stream_member; /* one array */

struct hub_npz_stream {
    struct hub_body_producer maker; /* first */
    struct hub_row_reader reading;
    struct hub_npz_writer *zip;
    struct hub_npz_stream_member *members;
    uint32_t count, member; /* the one that is being written */
    uint64_t at;            /* rows of it that were */
    bool open, ended;
    char *names;                        /* owned: what the names of columns lie in, or NULL */
    uint64_t longest[HUB_MAX_SELECTED]; /* of each column of text or bytes: hub_npz_stream_measure */
};

HUB_MUST_USE enum hub_status hub_npz_stream_new(struct hub_request *request, struct hub_npz_stream **out,
                                                struct hub_error *err);
void hub_npz_stream_freep(struct hub_npz_stream **zipped);

/** Text and bytes are padded to their longest: all of them are read to know it. Blocking. HUB_TOO_BIG
 * "too-large"; HUB_CANCELLED. */
HUB_MUST_USE enum hub_status hub_npz_stream_measure(struct hub_npz_stream *zipped, uint32_t column,
                                                    struct hub_error *err);

/** Answer with it, once all columns were looked at and measured: memory is reserved, the length is sent, and
 * it is
 * handed over (*zipped becomes NULL). */
HUB_MUST_USE enum hub_status hub_npz_stream_send(struct hub_request *request, struct hub_response *response,
                                                 struct hub_npz_stream **zipped, struct hub_error *err);

#endif
