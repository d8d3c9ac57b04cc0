/** Verified digests of files, in hub.db: they outlive the index. Safe from any thread. */
#ifndef HUB_TRUTH_DIGESTS_H
#define HUB_TRUTH_DIGESTS_H

#include "storage/model/file_hasher.h"
#include "storage/model/record.h"
#include "storage/truth/truth.h"

struct hub_file_digests {
    char sha256[65], md5[33], crc32c[9];
};

/** Write the digests that are known of a file; the others stay as they are. */
void hub_digests_stated(const struct hub_file_facts *facts, struct hub_file_digests *out);

/** What a pass over a file computes beside SHA-256 and CRC-32C: an MD5, unless the file came with a CRC-32C
 * alone. */
enum hub_file_digest hub_digests_kind(const struct hub_file_digests *stored);
/** End a pass and write what it computed; an MD5 that it did not stays as it is. */
HUB_MUST_USE enum hub_status hub_digests_end(struct hub_file_hasher *hasher, struct hub_file_digests *out,
                                             struct hub_error *err);
/** Whether none of those that are known is another one. */
bool hub_digests_agree(const struct hub_file_digests *stored, const struct hub_file_digests *is);

/** Digests verified at exactly this stamp; what of them is not known is empty. HUB_NOT_FOUND: none is. Cheap
 * (in memory after the first use). */
HUB_MUST_USE enum hub_status hub_digest_find(struct hub_truth *truth, uint32_t root, const char *path,
                                             const struct hub_stamp *stamp, struct hub_file_digests *out,
                                             struct hub_error *err);
/** The same from memory alone, for threads that must not block: HUB_AGAIN where hub.db has to be asked. */
HUB_MUST_USE enum hub_status hub_digest_recall(struct hub_truth *truth, uint32_t root, const char *path,
                                               const struct hub_stamp *stamp, struct hub_file_digests *out);
/** Those of many files at once, in the order of hub_dataset's: one question instead of one a file. What is
 * not known has an empty sha256. `path` is of the folder they lie in. */
HUB_MUST_USE enum hub_status hub_digest_list(struct hub_truth *truth, uint32_t root, const char *path,
                                             const struct hub_dataset_file *files, uint32_t count,
                                             struct hub_file_digests *out, struct hub_error *err);
/** A file that came with other digests and has no SHA-256 yet. Zeroed: before the first one. */
struct hub_unhashed {
    uint32_t root;
    char *path; /* freed by the caller, or with the next one */
    struct hub_stamp stamp;
};
/** Go on to the next one. HUB_NOT_FOUND: there is none. */
HUB_MUST_USE enum hub_status hub_digest_unhashed(struct hub_truth *truth, struct hub_unhashed *at,
                                                 struct hub_error *err);
/** How often digests were stored since the start: what is derived from them is as old as this number. */
uint64_t hub_digest_generation(const struct hub_truth *truth);
HUB_MUST_USE enum hub_status hub_digest_store(struct hub_truth *truth, uint32_t root, const char *path,
                                              const struct hub_stamp *stamp,
                                              const struct hub_file_digests *digests, struct hub_error *err);
struct hub_digest_item {
    const char *path; /* below the root; borrowed */
    struct hub_stamp stamp;
    struct hub_file_digests digests;
};
/** Many in one transaction: all are kept, or none. */
HUB_MUST_USE enum hub_status hub_digests_store(struct hub_truth *truth, uint32_t root,
                                               const struct hub_digest_item *items, size_t count,
                                               struct hub_error *err);
/** A folder has another place now, and what is known of its files goes with them; `to` NULL: they are
 * removed, and it is forgotten. */
struct hub_digest_move {
    const char *from, *to; /* below the root */
};
/** That, and what is known of the files that came in its place, at once; without a move as
 * hub_digests_store. */
HUB_MUST_USE enum hub_status hub_digests_move(struct hub_truth *truth, uint32_t root,
                                              const struct hub_digest_move *move,
                                              const struct hub_digest_item *items, size_t count,
                                              struct hub_error *err);
/** The last stored digests of a file, whatever its stamp was. */
struct hub_digest_note {
    struct hub_file_digests digests;
    bool same;          /* at this very stamp */
    int64_t checked_ms; /* when it was; Unix time */
};
/** HUB_NOT_FOUND: nothing. Asks hub.db each time. */
HUB_MUST_USE enum hub_status hub_digest_request(struct hub_truth *truth, uint32_t root, const char *path,
                                                const struct hub_stamp *stamp, struct hub_digest_note *out,
                                                struct hub_error *err);

#endif
