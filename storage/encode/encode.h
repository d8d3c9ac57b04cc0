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

/** What an array has of rows. */
enum hub_npy_array {
    HUB_NPY_VALUES,  /* as they are */
    HUB_NPY_TEXT,    /* "<U" as wide as the longest. A null is empty; a byte that is not UTF-8 is U+FFFD */
    HUB_NPY_BYTES,   /* rows of varying length: uint8, or the numbers of sequences as stored, one axis more,
                        padded with zeros to the longest. A null has none */
    HUB_NPY_LENGTHS, /* how many each of these has: int64 */
};
/** Not lengths. */
enum hub_npy_array hub_npy_array_of(enum hub_field_type type, const struct hub_variant *variant);

/** The header of an array of rows, which may stand in windows; their data is not looked at. `longest`: of
 * text and bytes. */
HUB_MUST_USE enum hub_status hub_npy_array_header(enum hub_npy_array as, const struct hub_rows *shape,
                                                  bool bare, uint64_t longest, struct hub_buf *out,
                                                  struct hub_error *err);
/** Bytes of a row in it. */
uint64_t hub_npy_row_bytes(enum hub_npy_array as, const struct hub_variant *variant, uint64_t longest);
/** Rows of it. HUB_CHANGED: one is longer than the longest. */
HUB_MUST_USE enum hub_status hub_npy_array_rows(enum hub_npy_array as, const struct hub_rows *rows,
                                                uint64_t longest, struct hub_buf *out, struct hub_error *err);
/** Characters or bytes of the longest. */
uint64_t hub_npy_longest(const struct hub_rows *rows, bool text);

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

/* ---- npz ---- */

/** A stored (uncompressed) ZIP, zip64 where needed, members one after another; deterministic (fixed time
 * stamp). */
struct hub_npz_writer;
/** @param out  that holds all of it; NULL: it is sent in chunks, each between hub_npz_writer_resume and
 *              hub_npz_writer_pause, and its members have their checksums behind them */
HUB_MUST_USE enum hub_status hub_npz_writer_begin(struct hub_buf *out, struct hub_npz_writer **npz,
                                                  struct hub_error *err);
/** It goes on in this buffer, behind what is there. */
void hub_npz_writer_resume(struct hub_npz_writer *npz, struct hub_buf *out);
void hub_npz_writer_pause(struct hub_npz_writer *npz);
/** Bytes of it so far; paused or not. */
uint64_t hub_npz_writer_at(const struct hub_npz_writer *npz);
/** A member of so many bytes follows, which are added to the buffer and announced by hub_npz_writer_take, or
 * hub_npz_writer_skip: not written, where only the length of all of it is asked for. `name` is without
 * ".npy"; '/' stays. */
HUB_MUST_USE enum hub_status hub_npz_writer_open_member(struct hub_npz_writer *npz, const char *name,
                                                        uint64_t size, struct hub_error *err);
void hub_npz_writer_take(struct hub_npz_writer *npz, const void *data, size_t size);
void hub_npz_writer_skip(struct hub_npz_writer *npz, uint64_t size);
HUB_MUST_USE enum hub_status hub_npz_writer_close_member(struct hub_npz_writer *npz, struct hub_error *err);
/** The directory; afterwards it is only freed. */
HUB_MUST_USE enum hub_status hub_npz_writer_finish(struct hub_npz_writer *npz, struct hub_error *err);
void hub_npz_writer_free(struct hub_npz_writer *npz);

#endif
