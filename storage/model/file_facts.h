/** What is known of a file of a dataset: one struct from the list of a remote to the record of a copy. */
#ifndef HUB_MODEL_FILE_FACTS_H
#define HUB_MODEL_FILE_FACTS_H

#include "storage/base/digest.h"

/** Digests that a remote states where it has no SHA-256. */
enum hub_file_digest {
    HUB_NO_DIGEST,
    HUB_GIT_SHA1 /* of a blob */,
    HUB_BY_CRC32C /* big-endian */,
    HUB_BY_MD5
};

/** Its texts, pieces and metadata are borrowed; a list that owns them disposes of each. */
struct hub_file_facts {
    const char *path; /* in the dataset; first: see order.h */
    const char *etag; /* NULL or "": not known */
    uint64_t size;
    uint64_t generation;    /* which of its contents; 0: not known */
    int64_t modified_ns;    /* 0: not known */
    struct json_t *custom;  /* metadata that a remote keeps with the file, or NULL */
    struct hub_view pieces; /* CRC-32C of each HUB_SUM_PIECE bytes; empty: of one piece, or not known */
    bool has_sha256;
    bool computed; /* the SHA-256 is of the bytes that came: the remote does not state it */
    uint8_t other; /* enum hub_file_digest, of `sum`: as the remote states it */
    uint8_t sha256[HUB_SHA256_BYTES], sum[HUB_SHA1_BYTES];
};

/** Free what it owns, as an item of a list does. */
void hub_file_facts_dispose(struct hub_file_facts *facts);

/** Whether a digest is known. */
static inline bool hub_file_proven(const struct hub_file_facts *facts)
{
    return facts->has_sha256 || facts->other;
}
/** "SHA-256", "CRC-32C": of the digest that counts. */
const char *hub_file_digest_name(const struct hub_file_facts *facts);

/** Whether a file that a remote lists now is the same as then: by digest, or without one by generation. */
bool hub_file_same(const struct hub_file_facts *then, const struct hub_file_facts *now);

#endif
