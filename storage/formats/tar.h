/**
 * A bounded indexer of tar archives: where each member's bytes lie. ustar, GNU (long names, base-256
 * numbers), pax (path, size) and the older v7 headers, by checksum. Sparse members are refused. Names are
 * labels: nothing here or above uses one as a path.
 */
#ifndef HUB_FORMATS_TAR_H
#define HUB_FORMATS_TAR_H

#include "storage/formats/source.h"

#define HUB_TAR_MAX_NAME 4096

struct hub_tar {
    struct hub_source *source;
    uint64_t at;         /* of the next header */
    struct hub_buf name; /* of the current member */
    bool beginning;      /* the source is but the beginning: its last member may reach beyond it */
    bool unterminated;   /* the file ended without end blocks */
    bool trailing;       /* bytes follow the end blocks: another archive, or garbage */
};

struct hub_tar_member {
    struct hub_view name; /* valid until the next call; not necessarily UTF-8 */
    uint64_t offset, size;
    bool regular; /* a file; else a directory, link or device, without bytes */
};

void hub_tar_init(struct hub_tar *tar, struct hub_source *source);
void hub_tar_dispose(struct hub_tar *tar);

/**
 * The next member. `end` is set instead when there is none.
 * @return HUB_OK; HUB_CORRUPT (bad checksum, cut short); HUB_UNSUPPORTED (sparse); HUB_TOO_BIG (a name or pax
 * header)
 */
HUB_MUST_USE enum hub_status hub_tar_next(struct hub_tar *tar, struct hub_tar_member *out, bool *end,
                                          struct hub_error *err);

/** The 512 bytes are a tar header: its checksum is right. */
bool hub_tar_is_header(const uint8_t block[512]);

#endif
