/**
 * Bytes at offsets, from a file of the job or from memory: what the bounded parsers of tar, pickle, npy and
 * Parquet read from, so that one of them serves drivers, unit tests and fuzz targets. A small window keeps
 * neighbouring headers to one read.
 */
#ifndef HUB_FORMATS_SOURCE_H
#define HUB_FORMATS_SOURCE_H

#include "storage/worker/format.h"

#define HUB_BYTE_SOURCE_WINDOW 4096

struct hub_byte_source {
    uint64_t size;
    const uint8_t *memory;   /* not NULL: everything is here */
    struct hub_files *files; /* else this file of the job */
    uint32_t number;         /* or HUB_SIDE_FILE */
    uint64_t window_offset;
    size_t window_size;
    uint8_t window[HUB_BYTE_SOURCE_WINDOW];
};

/** A file of the job; `files` must outlive the source. */
void hub_byte_source_file(struct hub_byte_source *source, struct hub_files *files, uint32_t number);
/** Side data of the job that was written, up to its byte `end`. */
void hub_byte_source_side(struct hub_byte_source *source, struct hub_files *files, uint64_t end);
void hub_byte_source_memory(struct hub_byte_source *source, const void *data, size_t size);

/** Exactly `size` bytes; HUB_CORRUPT when the source ends before. */
HUB_MUST_USE enum hub_status hub_byte_source_read(struct hub_byte_source *source, uint64_t offset, void *out,
                                                  size_t size, struct hub_error *err);

/** Up to `want` bytes (at most HUB_BYTE_SOURCE_WINDOW) in place until the next call; `got` is less only at
 * the end
 * of the source. */
HUB_MUST_USE enum hub_status hub_byte_source_peek(struct hub_byte_source *source, uint64_t offset,
                                                  size_t want, const uint8_t **at, size_t *got,
                                                  struct hub_error *err);

/**
 * Whether a file of the job can be read and is not the pointer that Git LFS left in its place, the same words
 * in all drivers. `err->problem` is then a problem's code: HUB_DENIED "permission-denied", HUB_CORRUPT
 * "not-fetched". Anything else than these two is about this machine.
 */
HUB_MUST_USE enum hub_status hub_byte_source_usable(struct hub_byte_source *source, struct hub_error *err);
/** The same of a file by its number; the detail names it. */
HUB_MUST_USE enum hub_status hub_files_usable(struct hub_files *files, uint32_t number,
                                              struct hub_error *err);

/** Does a failure concern the object at hand alone (damaged, refused, too big, missing, not allowed)? Then it
 * is reported and the rest goes on. Everything else is about this machine, and ends the part. */
bool hub_is_local(enum hub_status st);

#endif
