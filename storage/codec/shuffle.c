/*
 * HDF5's byte shuffle undone: plane j holds byte j of every element. Sizes 2, 4 and 8 are woven 16 elements
 * at a time; other sizes go plane by plane over blocks that stay in the first-level cache.
 */
#include "storage/codec/decode.h"

#ifdef __SSE2__
#include <emmintrin.h>

static __m128i load(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static void store(uint8_t *at, __m128i v)
{
    _mm_storeu_si128((__m128i *)(void *)at, v);
}

static size_t weave2(const uint8_t *in, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m128i a = load(in + i), b = load(in + n + i);
        store(out + 2 * i, _mm_unpacklo_epi8(a, b));
        store(out + 2 * i + 16, _mm_unpackhi_epi8(a, b));
    }
    return i;
}

static size_t weave4(const uint8_t *in, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m128i a = load(in + i), b = load(in + n + i), c = load(in + 2 * n + i),
                      d = load(in + 3 * n + i);
        const __m128i ab = _mm_unpacklo_epi8(a, b), cd = _mm_unpacklo_epi8(c, d);
        const __m128i AB = _mm_unpackhi_epi8(a, b), CD = _mm_unpackhi_epi8(c, d);
        store(out + 4 * i, _mm_unpacklo_epi16(ab, cd));
        store(out + 4 * i + 16, _mm_unpackhi_epi16(ab, cd));
        store(out + 4 * i + 32, _mm_unpacklo_epi16(AB, CD));
        store(out + 4 * i + 48, _mm_unpackhi_epi16(AB, CD));
    }
    return i;
}

static size_t weave8(const uint8_t *in, uint8_t *out, size_t n)
{
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m128i p[8], q[8];
        for (unsigned j = 0; j < 8; j++)
            p[j] = load(in + j * n + i);
        for (unsigned j = 0; j < 4; j++) { /* pairs of bytes: q[j] of elements 0-7, q[j + 4] of 8-15 */
            q[j] = _mm_unpacklo_epi8(p[2 * j], p[2 * j + 1]);
            q[j + 4] = _mm_unpackhi_epi8(p[2 * j], p[2 * j + 1]);
        }
        for (unsigned half = 0; half < 2; half++) {
            const __m128i *h = q + 4 * half;
            const __m128i low0 = _mm_unpacklo_epi16(h[0], h[1]), high0 = _mm_unpacklo_epi16(h[2], h[3]);
            const __m128i low1 = _mm_unpackhi_epi16(h[0], h[1]), high1 = _mm_unpackhi_epi16(h[2], h[3]);
            uint8_t *to = out + 8 * i + 64 * half;
            store(to, _mm_unpacklo_epi32(low0, high0));
            store(to + 16, _mm_unpackhi_epi32(low0, high0));
            store(to + 32, _mm_unpacklo_epi32(low1, high1));
            store(to + 48, _mm_unpackhi_epi32(low1, high1));
        }
    }
    return i;
}

/* How many elements from the first were woven. */
static size_t weave(const uint8_t *in, uint8_t *out, size_t n, uint32_t element)
{
    switch (element) {
    case 2:
        return weave2(in, out, n);
    case 4:
        return weave4(in, out, n);
    case 8:
        return weave8(in, out, n);
    default:
        return 0;
    }
}
#else
static size_t weave(const uint8_t *in, uint8_t *out, size_t n, uint32_t element)
{
    (void)in, (void)out, (void)n, (void)element;
    return 0;
}
#endif

void hub_unshuffle(const uint8_t *in, uint8_t *out, size_t size, uint32_t element)
{
    const size_t n = element > 1 ? size / element : 0; /* whole elements; what is left stays as it is */
    if (n <= 1) {
        if (size)
            memcpy(out, in, size);
        return;
    }
    const size_t block = HUB_MAX(16 * KIB / element, 1);
    for (size_t from = weave(in, out, n, element); from < n; from += block) {
        const size_t to = HUB_MIN(from + block, n);
        for (uint32_t j = 0; j < element; j++) {
            const uint8_t *plane = in + j * n;
            for (size_t i = from; i < to; i++)
                out[i * element + j] = plane[i];
        }
    }
    memcpy(out + n * element, in + n * element, size - n * element);
}

enum hub_status hub_undo_shuffle(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                                 bool exact, struct hub_error *err)
{
    if (exact ? stage->size != capacity : stage->size > capacity)
        return hub_fail(err, HUB_CORRUPT, "chunk does not decode to the declared length");
    hub_unshuffle(stage->data, out, stage->size, param);
    stage->data = out;
    return HUB_OK;
}
