/**
 * What of a download is on disk: a file of small records, appended as segments arrive, so that a killed
 * download goes on where it was. A record carries the CRC-32C of the bytes it speaks of: whoever reads it
 * checks the data, so nothing has to be synced in order. A torn last record is no record.
 */
#ifndef HUB_TRANSFER_JOURNAL_H
#define HUB_TRANSFER_JOURNAL_H

#include "storage/base/buf.h"

struct hub_segment {
    /* The contents that it is of, by any of two names that is not 0: as of one revision of the dataset, and
     * as of whatever revision has the same. */
    uint64_t names[2];
    uint32_t number; /* of the segment in the file */
    uint32_t crc32c; /* of its bytes */
};

enum {
    HUB_SEGMENT_FORGET = 0xFFFFFFFE, /* as number: nothing said so far about the file counts */
    HUB_SEGMENT_RECORD = 28,         /* bytes of a record */
};

/** Append a record to an open file (O_APPEND). */
HUB_MUST_USE enum hub_status hub_journal_add(int fd, const struct hub_segment *segment,
                                             struct hub_error *err);

/** Read records in order up to the first that is torn or damaged; `valid_bytes` is where they end. */
void hub_journal_read(struct hub_view bytes, void (*take)(const struct hub_segment *, void *user), void *user,
                      size_t *valid_bytes);

/** How a file is cut: a whole number of segments but for the last; an empty file has none. */
uint64_t hub_segment_count(uint64_t size, uint64_t segment_bytes);
void hub_segment_range(uint64_t size, uint64_t segment_bytes, uint64_t number, uint64_t *first,
                       uint64_t *count);

#endif
