/* CRC-32C: the processor's own instruction where it has one (SSE 4.2), else half a byte at a time from a
 * table of 16. */
#include "storage/base/digest.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

/* The reflected polynomial 0x82F63B78, one half byte at a time: no big table and no mutable static. */
static const uint32_t nibbles[16] = {
    0x00000000, 0x105EC76F, 0x20BD8EDE, 0x30E349B1, 0x417B1DBC, 0x5125DAD3, 0x61C69362, 0x7198540D,
    0x82F63B78, 0x92A8FC17, 0xA24BB5A6, 0xB21572C9, 0xC38D26C4, 0xD3D3E1AB, 0xE330A81A, 0xF36E6F75,
};

uint32_t hub_crc32c_portable(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        crc = crc >> 4 ^ nibbles[crc & 15];
        crc = crc >> 4 ^ nibbles[crc & 15];
    }
    return ~crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t state = ~crc;
    for (; size >= 8; at += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        state = _mm_crc32_u64(state, word);
    }
    for (; size; at++, size--)
        state = _mm_crc32_u8((uint32_t)state, *at);
    return ~(uint32_t)state;
}
#endif

uint32_t hub_crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_sse42(crc, data, size);
#endif
    return hub_crc32c_portable(crc, data, size);
}
