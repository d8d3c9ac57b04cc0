/* How hashes of the Xet protocol are written: see hash.h. */
#include "storage/xet/hash.h"

void hub_xet_turn(const uint8_t in[HUB_XET_HASH], uint8_t out[HUB_XET_HASH])
{
    for (unsigned at = 0; at < HUB_XET_HASH; at += 8) {
        uint64_t word;
        memcpy(&word, in + at, sizeof word);
        word = __builtin_bswap64(word);
        memcpy(out + at, &word, sizeof word);
    }
}

void hub_xet_hash_write(const uint8_t hash[HUB_XET_HASH], char out[HUB_XET_HASH_TEXT + 1])
{
    uint8_t turned[HUB_XET_HASH];
    hub_xet_turn(hash, turned);
    hub_hex(turned, sizeof turned, out);
}

bool hub_xet_hash_read(struct hub_view text, uint8_t out[HUB_XET_HASH])
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] >= 'A' && text.data[i] <= 'F')
            return false;
    if (!hub_unhex(text, out, HUB_XET_HASH))
        return false;
    hub_xet_turn(out, out);
    return true;
}
