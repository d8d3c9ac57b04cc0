/* Access tokens: see token.h. */
#include "storage/access/token.h"

#include "storage/base/digest.h"

#include <sys/random.h>

enum { CHECK_CHARS = 6, CHECKED = HUB_TOKEN_TEXT - CHECK_CHARS, START_CHARS = 3 };

static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567"; /* RFC 4648's, in lower case */

/* The low 30 bits of the CRC-32C of all before the check. */
static void write_check(const char text[CHECKED], char out[CHECK_CHARS])
{
    uint32_t crc = hub_crc32c(0, text, CHECKED);
    for (unsigned i = 0; i < CHECK_CHARS; i++, crc >>= 5)
        out[i] = digits[crc & 31];
}

enum hub_status hub_secret_make(void *out, size_t size, struct hub_error *err)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = getrandom((char *)out + done, size - done, 0);
        if (n < 0)
            return hub_fail(err, HUB_IO, "the system has no random numbers");
        done += (size_t)n;
    }
    return HUB_OK;
}

enum hub_status hub_token_make(char out[HUB_TOKEN_TEXT + 1], struct hub_error *err)
{
    uint8_t random[CHECKED - START_CHARS];
    HUB_TRY(hub_secret_make(random, sizeof random, err));
    memcpy(out, HUB_TOKEN_START, START_CHARS);
    for (unsigned i = 0; i < sizeof random; i++)
        out[START_CHARS + i] = digits[random[i] & 31];
    write_check(out, out + CHECKED);
    out[HUB_TOKEN_TEXT] = '\0';
    explicit_bzero(random, sizeof random);
    return HUB_OK;
}

bool hub_token_claims(struct hub_view text)
{
    return hub_view_starts(text, HUB_TOKEN_START);
}

static bool is_digit(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '2' && c <= '7');
}

bool hub_token_well_formed(struct hub_view text)
{
    char check[CHECK_CHARS];
    if (text.size != HUB_TOKEN_TEXT || !hub_token_claims(text))
        return false;
    for (size_t i = START_CHARS; i < text.size; i++)
        if (!is_digit(text.data[i]))
            return false;
    write_check(text.data, check);
    return memcmp(check, text.data + CHECKED, CHECK_CHARS) == 0;
}

enum hub_status hub_token_digest(struct hub_view text, struct hub_token *out, struct hub_error *err)
{
    memcpy(out->id, text.data + START_CHARS, HUB_TOKEN_ID);
    out->id[HUB_TOKEN_ID] = '\0';
    return hub_digest_of(HUB_SHA256, text, out->sha256, err);
}

bool hub_token_same(const uint8_t a[HUB_TOKEN_SHA256], const uint8_t b[HUB_TOKEN_SHA256])
{
    volatile uint8_t differs = 0;
    for (unsigned i = 0; i < HUB_TOKEN_SHA256; i++)
        differs = (uint8_t)(differs | (a[i] ^ b[i]));
    return differs == 0;
}
