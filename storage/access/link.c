/* Signed links: see link.h. */
#include "storage/access/link.h"

#include "storage/base/digest.h"

enum { BLOCK = 64 };

/* RFC 2104: SHA-256 of the key, XORed with `pad`, and a message. */
static enum hub_status digest_padded(const uint8_t key[HUB_LINK_KEY], uint8_t pad, struct hub_view message,
                                     uint8_t out[HUB_SHA256_BYTES], struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    uint8_t block[BLOCK];
    memset(block, pad, sizeof block);
    for (unsigned i = 0; i < HUB_LINK_KEY; i++)
        block[i] ^= key[i];
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    HUB_TRY(hub_digest_add(&digest, (struct hub_view){(const char *)block, sizeof block}, err));
    HUB_TRY(hub_digest_add(&digest, message, err));
    explicit_bzero(block, sizeof block);
    return hub_digest_end(&digest, out, err);
}

enum hub_status hub_link_sign(const uint8_t key[HUB_LINK_KEY], const struct hub_link *link,
                              char out[HUB_LINK_SIGNATURE + 1], struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf message = HUB_BUF_INIT(2 * HUB_LINK_PATH);
    uint8_t inner[HUB_SHA256_BYTES], outer[HUB_SHA256_BYTES];
    if (link->path.size > HUB_LINK_PATH || link->maker.size > HUB_LINK_PATH / 2)
        return hub_fail(err, HUB_TOO_BIG, "a link has a path of at most %d bytes", HUB_LINK_PATH);
    /* neither a maker nor a path has a line feed */
    HUB_TRY(hub_buf_addf(&message, err, "link\n%lld %u\n%.*s\n%.*s", (long long)link->expires_s, link->below,
                         (int)link->maker.size, link->maker.data, (int)link->path.size, link->path.data));
    HUB_TRY(digest_padded(key, 0x36, hub_buf_view(&message), inner, err));
    HUB_TRY(digest_padded(key, 0x5C, (struct hub_view){(const char *)inner, sizeof inner}, outer, err));
    hub_hex(outer, sizeof outer, out);
    return HUB_OK;
}

bool hub_link_is_signed(const uint8_t key[HUB_LINK_KEY], const struct hub_link *link,
                        struct hub_view signature)
{
    char right[HUB_LINK_SIGNATURE + 1];
    volatile unsigned differs = 0;
    if (signature.size != HUB_LINK_SIGNATURE || hub_link_sign(key, link, right, NULL))
        return false;
    for (unsigned i = 0; i < HUB_LINK_SIGNATURE; i++)
        differs = differs | (unsigned)(right[i] ^ signature.data[i]);
    return differs == 0;
}
