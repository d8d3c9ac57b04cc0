/**
 * Rows of a Parquet column as JSON text: maps, lists of structs with texts in them, lists of texts or
 * bytes, and lists of numbers that have no other form. A map is an object where its keys are texts, else
 * pairs; bytes are base64; numbers are as everywhere (text/json.h). They are copied into side data, each
 * text of a batch once.
 */
#ifndef HUB_FORMATS_PARQUET_JSON_H
#define HUB_FORMATS_PARQUET_JSON_H

#include "storage/formats/parquet/decode.h"

/** Pages of side data, with their dictionary before them. */
struct hub_parquet_texts {
    struct hub_parquet_pages *batches;
    uint32_t count, capacity;
};

/**
 * All rows of a leaf: of its node where it has one, else of the lists around it. Without files of a job
 * (source.h) they are read, and nothing is kept.
 *
 * @param[out] texts  to be disposed of whatever it says
 */
HUB_MUST_USE enum hub_status hub_parquet_json(const struct hub_parquet *parquet, uint32_t leaf,
                                              struct hub_byte_source *source, struct hub_parquet_texts *texts,
                                              struct hub_error *err);
void hub_parquet_texts_dispose(struct hub_parquet_texts *texts);

#endif
