/** What the head of an HTTP answer says, as far as we use it. Every number in it is foreign and proven
 * here. */
#ifndef HUB_NET_ANSWER_H
#define HUB_NET_ANSWER_H

#include "storage/base/buf.h"
#include "storage/base/digest.h"

struct hub_answer {
    unsigned status;
    bool has_length, has_range, has_sha256, has_offset;
    bool parts;                       /* Accept-Ranges: bytes */
    uint64_t length;                  /* Content-Length */
    uint64_t first, last, total;      /* Content-Range */
    char etag[160];                   /* strong ones only; empty otherwise */
    char type[64];                    /* without parameters */
    char shape[256], dtype[64];       /* X-Shape, X-Dtype */
    uint64_t nonfinite;               /* X-Nonfinite */
    unsigned retry_after_s;           /* Retry-After, else when a RateLimit that is used up starts again */
    uint64_t offset;                  /* Upload-Offset: where a file that is pushed goes on */
    uint64_t generation;              /* X-Goog-Generation; 0: none */
    char next[2048];                  /* Link: the URL of rel="next"; empty otherwise */
    char code[32];                    /* X-Error-Code */
    uint8_t sha256[HUB_SHA256_BYTES]; /* Repr-Digest */
};

/** Take one header line. A status line begins a new answer: redirects and 1xx leave nothing behind. */
void hub_answer_line(struct hub_answer *answer, struct hub_view line, int64_t now_s);

/** "bytes 0-9/100" in full; "*" in any place is false. */
bool hub_answer_range(struct hub_view value, uint64_t *first, uint64_t *last, uint64_t *total);

#endif
