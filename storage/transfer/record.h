/** The record a download leaves beside `data/`: .minari-hub.json, with the revision and the digests. */
#ifndef HUB_TRANSFER_RECORD_H
#define HUB_TRANSFER_RECORD_H

#include "storage/remote/remote.h"

struct hub_record {
    char *id, *remote, *revision;
    char *commit;                 /* of a dataset that was published here; else "" */
    int64_t downloaded_s;         /* Unix time; 0: not said */
    bool partial;                 /* not all files of the dataset were wanted */
    struct hub_file_facts *files; /* its own; sorted by path bytes */
    size_t count;
};

/** Open the object of a record, and what it begins with. `remote` NULL: it does not say from where. */
void hub_record_begin(struct hub_json *json, const char *id, const char *remote, const char *revision);
/** An item of its array "files". The path is one that hub_path_check takes. */
void hub_record_file(struct hub_json *json, const char *path, uint64_t size, const char *sha256,
                     const char *origin);

/** Append the record's text, of the files as they are here. */
HUB_MUST_USE enum hub_status hub_record_write(const struct hub_remote_files *plan, const char *remote,
                                              struct hub_buf *out, struct hub_error *err);

/** Read the record of a dataset's directory. HUB_NOT_FOUND when there is none. Dispose the result. */
HUB_MUST_USE enum hub_status hub_record_read(const char *directory, struct hub_record *out,
                                             struct hub_error *err);
void hub_record_dispose(struct hub_record *record);

#endif
