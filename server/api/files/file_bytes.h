/** Bytes of files as answers: all of a file, or a run of it behind a head, by range, with every condition. */
#ifndef HUB_API_FILES_FILE_BYTES_H
#define HUB_API_FILES_FILE_BYTES_H

#include "server/api/resolve.h"

/** Bytes to answer with: those of a file, or a run of them behind `head`. */
struct hub_file_part {
    const struct hub_dataset_file *entry;
    /* not NULL: it is not the whole file. What the ETag is over besides revision and path; the name it is
     * saved under. Its type is set before. */
    const char *version, *name;
    const char *etag; /* of another protocol, instead of that; or NULL */
    uint64_t offset, length;
    /* not NULL: of a dataset that is on its way here; handed over. Its digest, if that is known, and the
     * revision */
    struct hub_file *coming;
    const uint8_t *sha256;
    const char *revision;
};
/**
 * The answer for these bytes: headers, conditions, range. Where a part has a head it lies in the response's
 * buffer, which the memory of requests was asked for.
 */
HUB_MUST_USE enum hub_status hub_file_send(struct hub_request *request, const struct hub_target *target,
                                           const struct hub_file_part *part, struct hub_response *response,
                                           struct hub_error *err);

#endif
