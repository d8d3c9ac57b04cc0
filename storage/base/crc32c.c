/* CRC-32C: the processor's own instruction where it has one (SSE 4.2), three at once where it multiplies
 * without carries as well (PCLMULQDQ), else half a byte at a time from a table of 16. */
#include "storage/base/digest.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#include <wmmintrin.h>
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

/* a * b modulo the polynomial, both reflected. `a` is not 0. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = UINT32_C(1) << 31;; bit >>= 1) {
        if (a & bit)
            product ^= b;
        if (!(a & (bit - 1)))
            return product;
        b = b & 1 ? b >> 1 ^ 0x82F63B78 : b >> 1;
    }
}

/* Zeros behind the first bytes multiply their remainder by x^8 each; then both remainders add up. */
uint32_t hub_crc32c_join(uint32_t first, uint32_t second, uint64_t second_size)
{
    uint32_t power = UINT32_C(1) << 31, square = UINT32_C(1) << 23; /* 1, x^8 */
    for (; second_size; second_size >>= 1) {
        if (second_size & 1)
            power = multiply(power, square);
        square = multiply(square, square);
    }
    return multiply(power, first) ^ second;
}

#if defined(__x86_64__)
static uint64_t word_at(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t state = ~crc;
    for (; size >= 8; at += 8, size -= 8)
        state = _mm_crc32_u64(state, word_at(at));
    for (; size; at++, size--)
        state = _mm_crc32_u8((uint32_t)state, *at);
    return ~(uint32_t)state;
}

/* state * x^(8n): `power` is x^(8n - 33), as the product is shifted by one bit and the instruction adds
 * 32. */
__attribute__((target("sse4.2,pclmul"))) static uint64_t shift(uint64_t state, uint32_t power)
{
    const __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi64_si128((int64_t)state), _mm_cvtsi64_si128(power), 0);
    return _mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

/* Three runs side by side: an instruction has its result after three cycles and can begin in each. */
__attribute__((target("sse4.2,pclmul"))) static uint32_t crc32c_three(uint32_t crc, const void *data,
                                                                      size_t size)
{
    static const struct {
        size_t bytes;      /* of a run */
        uint32_t one, two; /* x^(8n - 33) for so many, and for twice as many */
    } runs[] = {{4096, 0x82F89C77, 0x54A86326}, {256, 0xB9E02B86, 0xDD7E3B0C}};
    const uint8_t *at = data;
    uint64_t a = ~crc;
    for (size_t i = 0; i < HUB_COUNT(runs); i++) {
        const size_t n = runs[i].bytes;
        for (; size >= 3 * n; at += 3 * n, size -= 3 * n) {
            uint64_t b = 0, c = 0;
            for (const uint8_t *run = at; run < at + n; run += 8) {
                a = _mm_crc32_u64(a, word_at(run));
                b = _mm_crc32_u64(b, word_at(run + n));
                c = _mm_crc32_u64(c, word_at(run + 2 * n));
            }
            a = shift(a, runs[i].two) ^ shift(b, runs[i].one) ^ c;
        }
    }
    return crc32c_sse42(~(uint32_t)a, at, size);
}
#endif

uint32_t hub_crc32c(uint32_t crc, const void *data, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return __builtin_cpu_supports("pclmul") ? crc32c_three(crc, data, size)
                                                : crc32c_sse42(crc, data, size);
#endif
    return hub_crc32c_portable(crc, data, size);
}
