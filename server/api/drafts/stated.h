/** What requests about drafts state in headers and bodies: foreign bytes, read and checked. Safe from any
 * thread. */
#ifndef HUB_API_DRAFTS_STATED_H
#define HUB_API_DRAFTS_STATED_H

#include "storage/drafts/draft.h"
#include "storage/text/json.h"

/** The part of a file that a body is. */
struct hub_draft_span {
    uint64_t first, count, size; /* bytes; `size`: of the whole file */
};
/**
 * Content-Range: bytes 0-99/1000 (RFC 9110 14.4). Without it the body is the whole file.
 * @param range  NULL: none was sent
 * @param body   bytes of the body, or HUB_BODY_SIZE_UNKNOWN
 * @return HUB_INVALID; else the span lies in the file, and has as many bytes as the body
 */
HUB_MUST_USE enum hub_status hub_draft_span_read(const char *range, uint64_t body, struct hub_draft_span *out,
                                                 struct hub_error *err);

/**
 * The digests that all of the file must have: Repr-Digest: sha-256=:BASE64:, md5=:BASE64:, crc32c=:BASE64:
 * (RFC 9530), one of them or more, and others that are not looked at.
 * @param digest  NULL: none was sent
 */
HUB_MUST_USE enum hub_status hub_draft_digest_read(const char *digest, struct hub_stated_digests *out,
                                                   struct hub_error *err);
/** Content-MD5: BASE64 (RFC 1864), of a body that is a whole file. NULL: none was sent. HUB_INVALID: it is no
 * MD5, or `out` has another one. */
HUB_MUST_USE enum hub_status hub_draft_md5_read(const char *md5, struct hub_stated_digests *out,
                                                struct hub_error *err);

/** What opens a draft; texts borrow from the document. */
struct hub_draft_order {
    const char *id;   /* a good one */
    const char *base; /* NULL: nothing is there */
    const char *from; /* NULL: not stated; "": nothing */
    const char *key;  /* of the header, "": none */
    uint64_t bytes;   /* that all files will have; 0: not stated */
};
/** Idempotency-Key: 1 to HUB_DRAFT_KEY visible ASCII characters. NULL: none was sent, and "" comes out.
 * HUB_INVALID. */
HUB_MUST_USE enum hub_status hub_draft_key_read(const char *header, const char **out, struct hub_error *err);
/** {"id": "lab/arm-v1", "base"?, "from"?, "bytes"?}. Free the document, on failure too. */
HUB_MUST_USE enum hub_status hub_draft_body_read(struct hub_view body, json_t **document,
                                                 struct hub_draft_order *out, struct hub_error *err);
/** {"message": "..."}, or nothing: the message borrows from the document. Free the document, on failure
 * too. */
HUB_MUST_USE enum hub_status hub_draft_message_read(struct hub_view body, json_t **document,
                                                    const char **message, struct hub_error *err);

#endif
