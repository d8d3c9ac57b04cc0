/** All digests that the catalogue keeps of a file, computed in one pass over its bytes. */
#ifndef HUB_SCAN_SUMS_H
#define HUB_SCAN_SUMS_H

#include "storage/base/digest.h"
#include "storage/catalog/catalog.h"
#include "storage/truth/digests.h"

/** Zeroed or disposed ones may be disposed again; begin and then add, end. */
struct hub_file_sums {
    struct hub_digest sha256, md5;
    uint32_t crc32c;
    struct hub_file_digests known; /* digests that came with the copied file */
};

/** @param known  of the file already, or NULL: an MD5 is left out where there is a CRC-32C */
HUB_MUST_USE enum hub_status hub_file_sums_begin(struct hub_file_sums *sums,
                                                 const struct hub_file_digests *known, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_file_sums_add(struct hub_file_sums *sums, struct hub_view bytes,
                                               struct hub_error *err);
/** Write the digests and dispose. HUB_CORRUPT: they are not those that were known. */
HUB_MUST_USE enum hub_status hub_file_sums_end(struct hub_file_sums *sums, struct hub_file_digests *out,
                                               struct hub_error *err);
void hub_file_sums_dispose(struct hub_file_sums *sums);

#endif
