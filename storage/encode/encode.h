/**
 * Encoders turn gathered rows into representations. Each writes into a buffer with a ceiling; npy and npz
 * lengths are known in advance so that rows can be gathered in place behind the header. Pure functions, safe
 * from any thread.
 */
#ifndef HUB_ENCODE_ENCODE_H
#define HUB_ENCODE_ENCODE_H

#include "storage/read/read.h"
#include "storage/text/json.h"

/** Rows that are runs of bytes to npz: padded to the longest, with their lengths. */
bool hub_encode_as_bytes(enum hub_field_type type, const struct hub_variant *variant);

/** Whether a row is one text or one run of bytes. Rows of different lengths, which each episode may store in
 * its own size, can then stand in one column. */
bool hub_encode_as_item(enum hub_field_type type, const struct hub_variant *variant);

/* ---- rows of text or bytes as items ---- */

/** How many: texts, or runs of bytes. A row of numbers, such as a padded JPEG, is one. */
uint64_t hub_item_count(const struct hub_rows *rows);
bool hub_item_null(const struct hub_rows *rows, uint64_t i);
/** As stored; a null is empty. */
struct hub_view hub_item_at(const struct hub_rows *rows, uint64_t i);
/** Fixed text ends before its padding. */
struct hub_view hub_item_text(const struct hub_rows *rows, uint64_t i);
/** A byte that is not UTF-8 is U+FFFD. */
HUB_MUST_USE enum hub_status hub_item_add_utf8(struct hub_view text, struct hub_buf *out,
                                               struct hub_error *err);

/* `bare`, here and below: one row without the leading axis, as x[i] in numpy. */

/* .npy, version 1.0, 64-byte aligned; all append. */

/** The header for `rows` rows of the variant: shape (rows, *dims). */
HUB_MUST_USE enum hub_status hub_npy_header(const struct hub_variant *variant, uint64_t rows, bool bare,
                                            struct hub_buf *out, struct hub_error *err);
/** The same of rows that may stand in windows; their data is not looked at. */
HUB_MUST_USE enum hub_status hub_npy_rows_header(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                                                 struct hub_error *err);
/** A whole .npy of text rows: "<U" as wide as the longest, at most 64 MiB (HUB_TOO_BIG). A null is empty; a
 * byte that is not UTF-8 is U+FFFD. */
HUB_MUST_USE enum hub_status hub_npy_text(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                                          struct hub_error *err);
/** Rows of varying length: uint8, or the numbers of sequences as stored, (rows, longest), padded with zeros;
 * and their lengths: int64 (rows). A null has none. */
HUB_MUST_USE enum hub_status hub_npy_bytes(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                                           struct hub_error *err);
HUB_MUST_USE enum hub_status hub_npy_lengths(const struct hub_rows *rows, bool bare, struct hub_buf *out,
                                             struct hub_error *err);
/** The header of a .npy of another type ("<U7", "<i8"): of `rows` rows, each of `inner` elements (0: of
 * one). */
HUB_MUST_USE enum hub_status hub_npy_header_of(const char *descr, uint64_t rows, uint64_t inner,
                                               bool has_inner, struct hub_buf *out, struct hub_error *err);
/** Characters or bytes of the longest. */
uint64_t hub_npy_longest(const struct hub_rows *rows, bool text);
/** Text padded to `width` characters of 4 bytes each, or bytes to `width` bytes. */
HUB_MUST_USE enum hub_status hub_npy_padded_rows(const struct hub_rows *rows, bool text, uint64_t width,
                                                 struct hub_buf *out, struct hub_error *err);
/** What text or bytes take once padded to the longest: only known when they were read. */
uint64_t hub_npy_padded(const struct hub_rows *rows, bool text);

/** The nested array of a field. `nonfinite_count` grows by the non-finite numbers met, and by
 * padded-json rows that are no JSON (both written as null). Text is made UTF-8 with U+FFFD; fixed text ends
 * before its NULs. */
HUB_MUST_USE enum hub_status hub_json_rows(enum hub_field_type type, const struct hub_rows *rows, bool bare,
                                           enum hub_nonfinite how, uint64_t *nonfinite_count,
                                           struct hub_buf *out, struct hub_error *err);
/** Upper bound of its size in bytes, for the memory budget. */
uint64_t hub_json_bound(enum hub_field_type type, const struct hub_variant *variant, uint64_t rows,
                        uint64_t data_bytes);

/** Turn numbers round in place where they are big-endian. */
void hub_rows_little_endian(struct hub_rows *rows);
/** Little-endian C-ordered rows (in place swap of rows->data when big-endian). VAR: the one row's bytes. */
HUB_MUST_USE enum hub_status hub_raw_rows(struct hub_rows *rows, struct hub_buf *out, struct hub_error *err);

/* ---- pictures ---- */

/** Between which two values numbers are drawn, from black to white. */
struct hub_drawn_range {
    bool known;
    double least, greatest;
};

/** A row's pixels, 8 bits a sample, line by line; several frames stand side by side, the first one left. */
struct hub_pixels {
    const uint8_t *data; /* the row itself, where it lies so; else `made` */
    uint8_t *made;
    uint32_t width, height, channels;
};
void hub_pixels_dispose(struct hub_pixels *pixels);
/**
 * Draw one row of a layout of storage/model/picture.h.
 *
 * @param range  of numbers that are no bytes: used where it is known, else found in this row and stated: of
 *               one channel the least and the greatest finite value; of colours 0 to 1, 0 to 255 or -1 to 1
 *               where all lie within. What is no number is black. Bytes leave it unknown
 */
HUB_MUST_USE enum hub_status hub_pixels_of_row(const struct hub_rows *rows, struct hub_drawn_range *range,
                                               struct hub_pixels *out, struct hub_error *err);
/** PNG of one row, drawn so. */
HUB_MUST_USE enum hub_status hub_png_row(const struct hub_rows *rows, struct hub_drawn_range *range,
                                         struct hub_buf *out, struct hub_error *err);

/** A stored (uncompressed) ZIP, zip64 where needed, members one after another; deterministic (fixed time
 * stamp). */
struct hub_npz_writer;
HUB_MUST_USE enum hub_status hub_npz_writer_begin(struct hub_buf *out, struct hub_npz_writer **npz,
                                                  struct hub_error *err);
/** `name` without ".npy"; '/' stays. `npy` is a whole .npy. */
HUB_MUST_USE enum hub_status hub_npz_writer_add(struct hub_npz_writer *npz, const char *name,
                                                struct hub_view npy, struct hub_error *err);
/**
 * A member of numbers whose rows are written straight into place: `bytes` of them into *room, before
 * hub_npz_writer_end_rows,
 * which comes before anything else is added.
 * @param shape  the rows as they will be, without their data
 * @param[out] room  address of a pointer of any type
 */
HUB_MUST_USE enum hub_status hub_npz_writer_begin_rows(struct hub_npz_writer *npz, const char *name,
                                                       const struct hub_rows *shape, uint64_t bytes,
                                                       void *room, struct hub_error *err);
void hub_npz_writer_end_rows(struct hub_npz_writer *npz);
HUB_MUST_USE enum hub_status hub_npz_writer_end(struct hub_npz_writer *npz,
                                                struct hub_error *err); /* frees it */
void hub_npz_writer_free(struct hub_npz_writer *npz);

/* One that is sent while it is made, in blocks: its members tell their checksum behind them. */

/** It goes on in this buffer, behind what is there; before it is ended or another buffer has its turn, it
 * pauses. */
void hub_npz_writer_resume(struct hub_npz_writer *npz, struct hub_buf *out);
void hub_npz_writer_pause(struct hub_npz_writer *npz);
/** Bytes of it so far; paused or not. */
uint64_t hub_npz_writer_at(const struct hub_npz_writer *npz);
/** A member of so many bytes follows, which are added to the buffer and announced by hub_npz_writer_take, or
 * hub_npz_writer_skip: not
 * written, where only the length of all of it is asked for. */
HUB_MUST_USE enum hub_status hub_npz_writer_open_member(struct hub_npz_writer *npz, const char *name,
                                                        uint64_t size, struct hub_error *err);
void hub_npz_writer_take(struct hub_npz_writer *npz, const void *data, size_t size);
void hub_npz_writer_skip(struct hub_npz_writer *npz, uint64_t size);
HUB_MUST_USE enum hub_status hub_npz_writer_close_member(struct hub_npz_writer *npz, struct hub_error *err);
/** The directory; afterwards it is only freed. */
HUB_MUST_USE enum hub_status hub_npz_writer_finish(struct hub_npz_writer *npz, struct hub_error *err);

#endif
