/** Rows of an Arrow column as JSON text, for lists of what has no form of its own: see json.c. */
#ifndef HUB_FORMATS_ARROW_JSON_H
#define HUB_FORMATS_ARROW_JSON_H

#include "storage/formats/arrow/run.h"

/** The field whose values are the rows: the outermost list around the leaf, or with `inner` what is in it. */
uint32_t hub_arrow_json_root(const struct hub_arrow *arrow, const struct hub_arrow_rows *rows);
/** Why what is below it cannot be written; NULL: it can. */
const char *hub_arrow_json_trouble(const struct hub_arrow *arrow, uint32_t root);

/** Takes rows in their order: which are there, a byte each, and those that are, each behind its length. */
struct hub_arrow_json_sink {
    enum hub_status (*page)(void *user, const struct hub_arrow_batch *batch, uint8_t *valid, uint32_t rows,
                            struct hub_view texts, struct hub_error *err);
    void *user;
};

HUB_MUST_USE enum hub_status hub_arrow_json_rows(struct hub_arrow *arrow, const struct hub_arrow_rows *rows,
                                                 const struct hub_arrow_json_sink *sink,
                                                 struct hub_error *err);

#endif
