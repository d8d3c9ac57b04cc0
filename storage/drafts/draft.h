/**
 * The files of a draft on the disk: ROOT/.minari-hub/drafts/ID/ with "tree" (files that are whole, as the
 * dataset will have them) and "parts" (files that still come). Nothing of it is visible. Different files
 * of a draft may be written to at once; of one file one writer at a time.
 */
#ifndef HUB_DRAFTS_DRAFT_H
#define HUB_DRAFTS_DRAFT_H

#include "storage/model/file_hasher.h"
#include "storage/transfer/private.h"

struct hub_draft_folder {
    struct hub_private place;
    int folder, tree, parts;
    char within[80]; /* the folder, from that of the place: "drafts/ID" */
};
#define HUB_DRAFT_FOLDER_INIT                                                                                \
    (struct hub_draft_folder)                                                                                \
    {                                                                                                        \
        .place = HUB_PRIVATE_INIT, .folder = -1, .tree = -1, .parts = -1                                     \
    }

/** @param root  its directory
 *  @param make  make the folder; without, HUB_NOT_FOUND where there is none, and `tree` is -1 where its tree
 *               has gone to its place */
HUB_MUST_USE enum hub_status hub_draft_open(const char *root, const char *id, bool make,
                                            struct hub_draft_folder *out, struct hub_error *err);
void hub_draft_close(struct hub_draft_folder *draft);
/** Hold it until it is closed, together with others, so that nobody publishes it. HUB_BUSY "draft-busy":
 * somebody has it alone. */
HUB_MUST_USE enum hub_status hub_draft_lock(const struct hub_draft_folder *draft, struct hub_error *err);
/** Hold it alone, so that nobody puts a file into its tree; false while somebody holds it. */
bool hub_draft_try_lock(const struct hub_draft_folder *draft);
void hub_draft_unlock(const struct hub_draft_folder *draft);
/** HUB_NO_SPACE "no-space": so many bytes more leave less than `spare_bytes` free on its disk. */
HUB_MUST_USE enum hub_status hub_draft_room(const struct hub_draft_folder *draft, uint64_t more,
                                            uint64_t spare_bytes, struct hub_error *err);
/** Remove it with all that came. Nothing there is fine. */
HUB_MUST_USE enum hub_status hub_draft_remove(const char *root, const char *id, struct hub_error *err);
/** The same, but its files are only put with what is to be removed (storage/transfer/removed.h). */
HUB_MUST_USE enum hub_status hub_draft_discard(const char *root, const char *id, struct hub_error *err);

/** May a file of a dataset be called so? HUB_INVALID says why not: hidden and impossible names, backslashes,
 * segments of more than 255 bytes. */
HUB_MUST_USE enum hub_status hub_draft_path_check(struct hub_view path, struct hub_error *err);

/** Bytes that came of a file that is not whole, since the machine was started; 0: none. */
uint64_t hub_draft_came(const struct hub_draft_folder *draft, const char *path);
/** Remove what came of files before the machine was started last: nobody goes on with it. */
void hub_draft_drop_old_parts(const struct hub_draft_folder *draft);
/** Whether a file of the tree has these bytes: it is read. */
HUB_MUST_USE enum hub_status hub_draft_has(const struct hub_draft_folder *draft, const char *path,
                                           uint64_t size, const uint8_t sha256[HUB_SHA256_BYTES], bool *out,
                                           struct hub_error *err);
/** Remove a file, whole or not, and folders that are empty then. Nothing there is fine. HUB_BUSY: it is being
 * sent. */
HUB_MUST_USE enum hub_status hub_draft_drop(const struct hub_draft_folder *draft, const char *path,
                                            struct hub_error *err);

/* ---- upload.c ---- */

/** A file that comes. HUB_UPLOAD_INIT: none. */
struct hub_upload {
    const struct hub_draft_folder *draft;
    char *path;
    int fd;
    uint64_t size;                 /* of the whole file */
    uint64_t spare_bytes;          /* that stay free on the disk */
    struct hub_file_hasher hasher; /* its `at` is how much of it is there */
    struct hub_sums sums;          /* once it is whole */
};
#define HUB_UPLOAD_INIT                                                                                      \
    (struct hub_upload)                                                                                      \
    {                                                                                                        \
        .fd = -1                                                                                             \
    }
/** A file that comes, from where it ends. */
struct hub_upload_order {
    const char *path;
    uint64_t offset, size;
    uint64_t spare_bytes; /* that stay free on the disk */
    bool md5;             /* its MD5 is computed, too, which takes as long as all else */
};
/**
 * Go on with a file where it ends. Bytes that came before are read again for their digest.
 * @return HUB_INVALID "upload-offset": the file does not end at `offset`; HUB_BUSY: somebody writes to it;
 * HUB_NO_SPACE: what is missing of it leaves less than `spare_bytes` free
 */
HUB_MUST_USE enum hub_status hub_upload_begin(const struct hub_draft_folder *draft,
                                              const struct hub_upload_order *order, struct hub_upload *out,
                                              struct hub_error *err);
/** HUB_TOO_BIG: more than its size. */
HUB_MUST_USE enum hub_status hub_upload_add(struct hub_upload *upload, struct hub_view bytes,
                                            struct hub_error *err);
static inline bool hub_upload_is_whole(const struct hub_upload *upload)
{
    return upload->hasher.at == upload->size;
}
/** Digests that all of a file must have, as its sender states them. Zeroed: none. */
struct hub_stated_digests {
    bool has_sha256, has_md5, has_crc32c;
    uint8_t sha256[HUB_SHA256_BYTES], md5[HUB_MD5_BYTES], crc32c[4]; /* crc32c: big-endian */
};
/** A file that is whole is put into the tree, in place of one that is there, and has its sums: SHA-256,
 * CRC-32C and the MD5 that was asked for, computed as it came.
 * @param stated  that they must be; NULL: any
 * @return HUB_CORRUPT "digest-mismatch" says which is another: nothing of the file is kept */
HUB_MUST_USE enum hub_status hub_upload_end(struct hub_upload *upload,
                                            const struct hub_stated_digests *stated, struct hub_error *err);
/** Bytes that came are kept. */
void hub_upload_dispose(struct hub_upload *upload);

#endif
