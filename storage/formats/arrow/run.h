/** Rows of Arrow columns on their way to their values: what rows.c describes and place.c puts into a layout.
 * */
#ifndef HUB_FORMATS_ARROW_RUN_H
#define HUB_FORMATS_ARROW_RUN_H

#include "storage/formats/arrow/arrow.h"

/** Buffers of a field. */
enum { HUB_ARROW_VALIDITY, HUB_ARROW_VALUES, HUB_ARROW_OFFSETS = 1, HUB_ARROW_TEXT };

/** Slots of a field in one batch, on the way down. */
struct hub_arrow_run {
    const struct hub_arrow_batch *batch;
    uint64_t first, count, rows; /* rows: those of the layout that they are */
    uint8_t *valid;              /* a byte a slot; NULL: no nulls */
};

/** Lengths of the lists around a value, outermost first. */
struct hub_arrow_shape {
    uint64_t dims[HUB_ARROW_MAX_DEPTH + 1];
    bool known[HUB_ARROW_MAX_DEPTH + 1];
    unsigned rank;
    bool ragged;
    bool null_lists; /* among those of varying length; they may have no items to count as nulls */
};

/** What the types of a column say of it. */
struct hub_arrow_shape hub_arrow_shape_of(const struct hub_arrow *a, const struct hub_arrow_rows *rows);

/** Where the bytes of a buffer are; packed: `stored` that become `size`. */
struct hub_arrow_body {
    uint64_t offset, stored, size;
    bool packed;
};

static inline bool hub_arrow_lists(uint8_t type)
{
    return type == HUB_ARROW_LIST || type == HUB_ARROW_LARGE_LIST;
}

/** Where a buffer of a batch lies. HUB_TOO_BIG: it holds more than a chunk may. */
HUB_MUST_USE enum hub_status hub_arrow_body_find(struct hub_arrow *a, const struct hub_arrow_batch *b,
                                                 uint32_t buffer, struct hub_arrow_body *out,
                                                 struct hub_error *err);
/** HUB_CORRUPT: it has fewer bytes than from there on so many. */
HUB_MUST_USE enum hub_status hub_arrow_body_check(const struct hub_arrow_body *body, uint64_t from,
                                                  uint64_t size, struct hub_error *err);
/** What a packed body holds, into a->plain. */
HUB_MUST_USE enum hub_status hub_arrow_unpack(struct hub_arrow *a, const struct hub_arrow_batch *b,
                                              const struct hub_arrow_body *body, struct hub_error *err);
/** Memory for `count` items, at most what a chunk may be, so that nothing a file says is memory unbounded. */
HUB_MUST_USE enum hub_status hub_arrow_allot(uint64_t count, size_t item, void *out, struct hub_error *err);
/** So many bytes of what a buffer holds. */
HUB_MUST_USE enum hub_status hub_arrow_load(struct hub_arrow *a, const struct hub_arrow_batch *b,
                                            uint32_t buffer, uint64_t from, uint64_t size, void *out,
                                            struct hub_error *err);
/** Offsets of the items of lists or bytes of texts: one more than slots. The caller frees them. */
HUB_MUST_USE enum hub_status hub_arrow_load_offsets(struct hub_arrow *a, const struct hub_arrow_run *r,
                                                    const struct hub_arrow_field *f, uint64_t **out,
                                                    struct hub_error *err);
/** All values of the run, booleans a byte each. The caller frees them. */
HUB_MUST_USE enum hub_status hub_arrow_load_values(struct hub_arrow *a, const struct hub_arrow_run *r,
                                                   const struct hub_arrow_field *leaf, uint8_t **out,
                                                   struct hub_error *err);
/** The slots of a run are there in the batch; which of them are null. */
HUB_MUST_USE enum hub_status hub_arrow_enter(struct hub_arrow *a, struct hub_arrow_run *r,
                                             const struct hub_arrow_field *f, struct hub_error *err);
/** From the wanted rows of a batch down to the values of a field on the way to their leaf, which may be it.
 * Lengths on the way go to `s`, which may be NULL. */
HUB_MUST_USE enum hub_status hub_arrow_follow(struct hub_arrow *a, const struct hub_arrow_rows *rows,
                                              const struct hub_arrow_batch *b, uint32_t until,
                                              struct hub_arrow_shape *s, struct hub_arrow_run *r,
                                              struct hub_error *err);
void hub_arrow_run_dispose(struct hub_arrow_run *r);

#endif
