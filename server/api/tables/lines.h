/** Bodies of one JSON object a line, made as they are sent: lists of any length in a few KiB. */
#ifndef HUB_API_TABLES_LINES_H
#define HUB_API_TABLES_LINES_H

#include "server/api/cursor.h"

/** The first member of what the items are made of, all zero but for `put` and `dispose`. */
struct hub_lines {
    struct hub_body_producer maker; /* first */
    uint32_t at, end;               /* items */
    /** The members of an item, inside an object. */
    enum hub_status (*put)(struct hub_lines *lines, uint32_t item, struct hub_json *json,
                           struct hub_error *err);
    /** NULL, or around each block of them, by whichever thread makes it; `end` after a failed `begin`
     * too. */
    enum hub_status (*begin)(struct hub_lines *lines, struct hub_error *err);
    void (*end_chunk)(struct hub_lines *lines);
    void (*dispose)(struct hub_lines *lines); /* of all but the memory itself, which is free()d */
};
/** Answer with items [at, end). `lines` is handed over, and freed on failure too. */
HUB_MUST_USE enum hub_status hub_lines_answer(struct hub_response *response, struct hub_lines *lines,
                                              struct hub_error *err);

#endif
