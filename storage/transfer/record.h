/** The record a download leaves beside `data/`: .minari-hub.json, with the revision and the digests. */
#ifndef HUB_TRANSFER_RECORD_H
#define HUB_TRANSFER_RECORD_H

#include "storage/transfer/hash.h"
#include "storage/transfer/origin.h"

/** One file as it was downloaded. */
struct hub_record_file {
    char *path;
    uint64_t size;
    int64_t modified_ns; /* of the file as it was left here; 0: not said */
    bool has_sha256;     /* else `other` is there: it was not computed yet */
    uint8_t sha256[HUB_SHA256_BYTES];
    uint8_t other; /* enum hub_remote_digest, of `sum`: what the remote said */
    uint8_t sum[HUB_SHA1_BYTES];
    /* the remote gave this digest, or another that agreed; else we computed it from what came */
    bool from_hub;
};

struct hub_record {
    char *id, *remote, *revision;
    int64_t downloaded_s;          /* Unix time; 0: not said */
    bool partial;                  /* not all files of the dataset were wanted */
    struct hub_record_file *files; /* sorted by path bytes */
    size_t count;
};

/** Open the object of a record, and what it begins with. `remote` NULL: it does not say from where. */
void hub_record_begin(struct hub_json *json, const char *id, const char *remote, const char *revision);
/** An item of its array "files". The path is one that hub_path_check takes. */
void hub_record_file(struct hub_json *json, const char *path, uint64_t size, const char *sha256,
                     const char *origin);

/** Append the record's text. `origins` are one a file of `plan`. */
HUB_MUST_USE enum hub_status hub_record_write(const struct hub_remote_files *plan, const char *remote,
                                              const struct hub_origin *origins, struct hub_buf *out,
                                              struct hub_error *err);

/** Read the record of a dataset's directory. HUB_NOT_FOUND when there is none. Dispose the result. */
HUB_MUST_USE enum hub_status hub_record_read(const char *directory, struct hub_record *out,
                                             struct hub_error *err);
void hub_record_dispose(struct hub_record *record);

/** What a file has to agree with: its SHA-256, or where it has none the remote's other digest. Borrows the
 * path. */
struct hub_remote_file hub_record_expects(const struct hub_record_file *file);

#endif
