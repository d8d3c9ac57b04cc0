/* Streaming digests: see digest.h. */
#include "storage/base/digest.h"

#include "storage/base/hex.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

static const EVP_MD *algorithm(enum hub_digest_kind kind)
{
    switch (kind) {
    case HUB_MD5:
        return EVP_md5();
    case HUB_SHA1:
        return EVP_sha1();
    case HUB_SHA256:
        return EVP_sha256();
    }
    return NULL;
}

void hub_digest_prepare(void)
{
    uint8_t out[HUB_DIGEST_MAX];
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    for (unsigned kind = HUB_MD5; kind <= HUB_SHA256; kind++)
        if (hub_digest_of((enum hub_digest_kind)kind, HUB_VIEW(""), out, NULL))
            return; /* the first real one says why */
}

enum hub_status hub_digest_begin(struct hub_digest *digest, enum hub_digest_kind kind, struct hub_error *err)
{
    const EVP_MD *md = algorithm(kind);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (!context || EVP_DigestInit_ex(context, md, NULL) != 1) {
        EVP_MD_CTX_free(context);
        return hub_fail(err, HUB_NO_MEMORY, "the digest cannot be started");
    }
    digest->context = context;
    digest->size = (size_t)EVP_MD_get_size(md);
    return HUB_OK;
}

enum hub_status hub_digest_add(struct hub_digest *digest, struct hub_view bytes, struct hub_error *err)
{
    if (bytes.size && EVP_DigestUpdate(digest->context, bytes.data, bytes.size) != 1)
        return hub_fail(err, HUB_IO, "the digest failed");
    return HUB_OK;
}

enum hub_status hub_digest_end(struct hub_digest *digest, uint8_t out[HUB_DIGEST_MAX], struct hub_error *err)
{
    unsigned size = 0;
    const int done = EVP_DigestFinal_ex(digest->context, out, &size);
    hub_digest_dispose(digest);
    return done == 1 ? HUB_OK : hub_fail(err, HUB_IO, "the digest failed");
}

void hub_digest_dispose(struct hub_digest *digest)
{
    EVP_MD_CTX_free(digest->context);
    digest->context = NULL;
}

enum hub_status hub_digest_of(enum hub_digest_kind kind, struct hub_view bytes, uint8_t out[HUB_DIGEST_MAX],
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    HUB_TRY(hub_digest_begin(&digest, kind, err));
    HUB_TRY(hub_digest_add(&digest, bytes, err));
    return hub_digest_end(&digest, out, err);
}

void hub_hex(const void *bytes, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *in = bytes;
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
    out[2 * size] = '\0';
}

bool hub_unhex(struct hub_view text, void *out, size_t size)
{
    uint8_t *to = out;
    if (text.size % 2 || text.size / 2 != size)
        return false;
    for (size_t i = 0; i < size; i++) {
        const int high = hub_hex_digit(text.data[2 * i]), low = hub_hex_digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}
