/**
 * The pickle machine between two opcodes: where it reads, its stack and its memo, which are the pickle's. All
 * functions return HUB_CORRUPT where the pickle asks for what there is not, and say where; HUB_TOO_BIG where
 * it grows over its limits. Single-threaded.
 */
#ifndef HUB_FORMATS_PICKLE_MACHINE_H
#define HUB_FORMATS_PICKLE_MACHINE_H

#include "storage/formats/pickle/values.h"

#define PICKLE_MARK HUB_PICKLE_NONE /* on the stack */

struct pickle_machine {
    struct hub_pickle *p;
    struct hub_byte_source *source;
    uint64_t at, end;
    uint64_t frame_end; /* of the last FRAME; nothing reaches beyond it from within */
    struct hub_error *err;
};

/* ---- the stack and the memo ---- */

HUB_MUST_USE enum hub_status pickle_push(struct pickle_machine *m, uint32_t value);
/** The uppermost value; a mark is not one. */
HUB_MUST_USE enum hub_status pickle_pop(struct pickle_machine *m, uint32_t *value);
HUB_MUST_USE enum hub_status pickle_push_new(struct pickle_machine *m, enum hub_pickle_kind kind,
                                             struct hub_pickle_value **out);
HUB_MUST_USE enum hub_status pickle_push_integer(struct pickle_machine *m, int64_t integer);
HUB_MUST_USE enum hub_status pickle_push_bool(struct pickle_machine *m, bool truth);
/** Index of the first item above the last mark; the mark itself stays below it. */
HUB_MUST_USE enum hub_status pickle_find_mark(struct pickle_machine *m, uint32_t *first);
/** Remember the uppermost value. */
HUB_MUST_USE enum hub_status pickle_memo_put(struct pickle_machine *m, uint32_t slot);
/** Push what is remembered. */
HUB_MUST_USE enum hub_status pickle_memo_get(struct pickle_machine *m, uint32_t slot);

/* ---- operands ---- */

/** Whether `size` more bytes are there, within the frame. */
HUB_MUST_USE enum hub_status pickle_check_left(struct pickle_machine *m, uint64_t size);
/** The next bytes, which are valid until the next call. */
HUB_MUST_USE enum hub_status pickle_take(struct pickle_machine *m, size_t size, const uint8_t **out);
/** Of `width` bytes, little-endian. */
HUB_MUST_USE enum hub_status pickle_take_uint(struct pickle_machine *m, size_t width, uint64_t *out);
/** A line as a text, without its end. */
HUB_MUST_USE enum hub_status pickle_take_line(struct pickle_machine *m, uint32_t *out);
/** A string behind its length of `width` bytes. */
HUB_MUST_USE enum hub_status pickle_push_string(struct pickle_machine *m, enum hub_pickle_kind kind,
                                                size_t width);
HUB_MUST_USE enum hub_status pickle_push_long(struct pickle_machine *m);
HUB_MUST_USE enum hub_status pickle_push_float(struct pickle_machine *m);

#endif
