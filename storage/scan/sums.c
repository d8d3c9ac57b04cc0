/* Digests of a file: see sums.h. */
#include "storage/scan/sums.h"

#include "storage/truth/digests.h"

enum hub_status hub_file_sums_begin(struct hub_file_sums *sums, const struct hub_file_digests *known,
                                    struct hub_error *err)
{
    hub_file_sums_dispose(sums);
    sums->known = known ? *known : (struct hub_file_digests){0};
    HUB_TRY(hub_digest_begin(&sums->sha256, HUB_SHA256, err));
    return *sums->known.crc32c && !*sums->known.md5 ? HUB_OK : hub_digest_begin(&sums->md5, HUB_MD5, err);
}

enum hub_status hub_file_sums_add(struct hub_file_sums *sums, struct hub_view bytes, struct hub_error *err)
{
    HUB_TRY(hub_digest_add(&sums->sha256, bytes, err));
    if (sums->md5.context)
        HUB_TRY(hub_digest_add(&sums->md5, bytes, err));
    sums->crc32c = hub_crc32c(sums->crc32c, bytes.data, bytes.size);
    return HUB_OK;
}

static bool agree(const char *known, const char *is)
{
    return !*known || strcmp(known, is) == 0;
}

enum hub_status hub_file_sums_end(struct hub_file_sums *sums, struct hub_file_digests *out,
                                  struct hub_error *err)
{
    uint8_t bytes[HUB_DIGEST_MAX];
    HUB_TRY(hub_digest_end(&sums->sha256, bytes, err));
    hub_hex(bytes, HUB_SHA256_BYTES, out->sha256);
    *out->md5 = '\0';
    if (sums->md5.context) {
        HUB_TRY(hub_digest_end(&sums->md5, bytes, err));
        hub_hex(bytes, HUB_MD5_BYTES, out->md5);
    }
    const uint8_t crc[] = {(uint8_t)(sums->crc32c >> 24), (uint8_t)(sums->crc32c >> 16),
                           (uint8_t)(sums->crc32c >> 8), (uint8_t)sums->crc32c};
    hub_hex(crc, sizeof crc, out->crc32c);
    return agree(sums->known.sha256, out->sha256) && agree(sums->known.md5, out->md5) &&
                   agree(sums->known.crc32c, out->crc32c)
               ? HUB_OK
               : hub_fail(err, HUB_CORRUPT, "the file has changed");
}

void hub_file_sums_dispose(struct hub_file_sums *sums)
{
    hub_digest_dispose(&sums->sha256);
    hub_digest_dispose(&sums->md5);
    sums->crc32c = 0;
}
