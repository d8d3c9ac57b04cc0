/**
 * Access tokens: "mh_", 10 characters that name the token, 32 of secret, 6 that check the others. All are of
 * a-z and 2-7. A hub keeps the name and the SHA-256 of the whole text, never the secret.
 */
#ifndef HUB_ACCESS_TOKEN_H
#define HUB_ACCESS_TOKEN_H

#include "storage/access/rule.h"

#define HUB_TOKEN_START "mh_"
enum { HUB_TOKEN_ID = 10, HUB_TOKEN_TEXT = 3 + 10 + 32 + 6, HUB_TOKEN_SHA256 = 32, HUB_TOKEN_NETWORKS = 16 };

/** What a hub knows of a token. Several may have one name, while a rotated one is good yet. */
struct hub_token {
    char id[HUB_TOKEN_ID + 1];
    char name[HUB_TOKEN_NAME + 1];
    uint8_t sha256[HUB_TOKEN_SHA256];
    struct hub_cidr networks[HUB_TOKEN_NETWORKS]; /* where it is good */
    uint32_t network_count;                       /* 0: everywhere */
    bool from_file;                               /* of read-token-file or write-token-file */
    bool rotated;                                 /* another one has its name */
    char session_of[HUB_TOKEN_ID + 1];    /* id of the token that began this session; "": it is a token */
    int64_t made_ms, expires_ms, used_ms; /* Unix time; expires 0: never; used 0: not yet */
};

/** Make one from the system's random numbers; terminated. HUB_IO. */
HUB_MUST_USE enum hub_status hub_token_make(char out[HUB_TOKEN_TEXT + 1], struct hub_error *err);
/** `size` random bytes of the system. HUB_IO. */
HUB_MUST_USE enum hub_status hub_secret_make(void *out, size_t size, struct hub_error *err);
/** Does a text claim to be a token of a hub, whether or not it is one? Such a text is never passed on. */
bool hub_token_claims(struct hub_view text);
/** Is the text whole: its length, its characters and its check? Tells nothing of whether a hub knows it. */
bool hub_token_well_formed(struct hub_view text);
/** The id and digest of a well-formed text. */
HUB_MUST_USE enum hub_status hub_token_digest(struct hub_view text, struct hub_token *out,
                                              struct hub_error *err);
/** Is `text` the one that this digest is of? Takes as long for any other text. */
bool hub_token_same(const uint8_t a[HUB_TOKEN_SHA256], const uint8_t b[HUB_TOKEN_SHA256]);

#endif
