/* Base64: see base64.h. */
#include "storage/text/base64.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>

enum hub_status hub_base64_encode(struct hub_view bytes, struct hub_buf *out, struct hub_error *err)
{
    if (bytes.size > INT_MAX / 4 * 3)
        return hub_fail(err, HUB_TOO_BIG, "too much to encode");
    HUB_TRY(hub_buf_reserve(out, (bytes.size + 2) / 3 * 4, err));
    out->size += (size_t)EVP_EncodeBlock((unsigned char *)out->data + out->size,
                                         (const unsigned char *)bytes.data, (int)bytes.size);
    return HUB_OK;
}

/* OpenSSL passes over more than is written here: what it made is encoded again and compared. */
enum hub_status hub_base64_decode(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf again = HUB_BUF_INIT(text.size);
    HUB_CLEANUP(hub_freep) unsigned char *raw = malloc(text.size + 1);
    HUB_TRY(hub_allocated(raw, err));
    int n = text.size % 4 || text.size > INT_MAX
                ? -1
                : EVP_DecodeBlock(raw, (const unsigned char *)text.data, (int)text.size);
    if (n > 0)
        n -= hub_view_ends(text, "=") + hub_view_ends(text, "==");
    const struct hub_view bytes = {(const char *)raw, n > 0 ? (size_t)n : 0};
    if (n < 0 || hub_base64_encode(bytes, &again, NULL) || !hub_view_equal(hub_buf_view(&again), text))
        return hub_fail(err, HUB_INVALID, "not base64");
    return hub_buf_add_view(out, bytes, err);
}
