/** Rows as a table that is sent while it is read: csv, jsonl, arrow, arrow-file. */
#ifndef HUB_API_ROWS_TABLE_STREAM_H
#define HUB_API_ROWS_TABLE_STREAM_H

#include "server/api/app.h"
#include "storage/rows/row_reader.h"

struct hub_table_stream {
    struct hub_body_producer maker; /* first */
    struct hub_row_reader reading;
    const struct hub_representation *as; /* with blocks */
    enum hub_nonfinite nonfinite;
    struct hub_block_trail trail;
    uint64_t at; /* rows that were sent */
    bool begun, ended;
    char *names; /* owned: what the names of columns lie in, or NULL */
};

HUB_MUST_USE enum hub_status hub_table_stream_new(struct hub_request *request,
                                                  const struct hub_representation *as,
                                                  struct hub_table_stream **out, struct hub_error *err);
void hub_table_stream_freep(struct hub_table_stream **tabled);

/** Is it so short that it is read and written at once? Of numbers, as many rows of each field. Not priced
 * yet. */
bool hub_table_stream_is_short(const struct hub_encoding *e);
/** Bytes that writing a short one takes besides its rows. */
uint64_t hub_table_stream_short_bytes(const struct hub_encoding *e);
/** All of a short one, to the same bytes as when it is sent while it is read. */
HUB_MUST_USE enum hub_status hub_table_stream_write(struct hub_encoding *e, struct hub_buf *out,
                                                    struct hub_error *err);

/** What is answered with a table. */
struct hub_table_stream_request {
    struct hub_request *request;
    const char *media_type, *etag;
};
/**
 * Answer with it, from its first row: memory is reserved, and it is handed over (*tabled becomes NULL), but
 * where something speaks against it. A Range, and the length that HEAD tells, are of tables of up to 8 MiB.
 * HUB_TOO_BIG "too-large": a row takes more than a block.
 */
HUB_MUST_USE enum hub_status hub_table_stream_send(const struct hub_table_stream_request *asked,
                                                   struct hub_response *response,
                                                   struct hub_table_stream **tabled, struct hub_error *err);

#endif
