/** Tables as answers, sent while they are read: their ETag, their length, and parts of them. */
#ifndef HUB_API_TABLES_TABLE_ANSWER_H
#define HUB_API_TABLES_TABLE_ANSWER_H

#include "server/api/app.h"
#include "storage/encode/representation.h"

/** What decides the bytes of a table, besides the request. */
struct hub_table_facts {
    const char *encoder; /* version: changes when the same rows come out as other bytes */
    const struct hub_summary *summary;
    const struct hub_representation *as;
    uint64_t measured; /* the state of what was measured */
};
void hub_table_etag(const struct hub_request *request, const struct hub_table_facts *facts, char out[40]);

/**
 * Answer with a table, from its first row: memory is reserved, and it is handed over (*table becomes NULL),
 * but where something speaks against it. A Range, and the length that HEAD asks for, are there of tables of
 * a few MiB: some readers of URLs need them. Blocking. HUB_TOO_BIG "too-large": a row is larger than a chunk.
 *
 * @param etag  as it was sent; NULL: none
 */
HUB_MUST_USE enum hub_status hub_table_answer(struct hub_request *request, struct hub_response *response,
                                              const char *etag, struct hub_table_stream **table,
                                              struct hub_error *err);

#endif
