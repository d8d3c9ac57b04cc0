#include "storage/codec/codec.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <libdeflate.h>
#include <liblzf/lzf.h>
#include <lz4.h>
#include <lz4frame.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <zstd.h>

enum { SIZE = 5000 };

enum codec { ZLIB, GZIP, LZF, SNAPPY, ZSTD, LZ4, LZ4_FRAME, CODECS };

static size_t compress(enum codec codec, const uint8_t *in, size_t size, uint8_t *out, size_t capacity)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    size_t made = capacity;
    switch (codec) {
    case ZLIB:
        made = libdeflate_zlib_compress(c, in, size, out, capacity);
        break;
    case GZIP:
        made = libdeflate_gzip_compress(c, in, size, out, capacity);
        break;
    case LZF:
        made = lzf_compress(in, (unsigned)size, out, (unsigned)capacity);
        break;
    case SNAPPY:
        cr_assert_eq(snappy_compress((const char *)in, size, (char *)out, &made), SNAPPY_OK);
        break;
    case ZSTD:
        made = ZSTD_compress(out, capacity, in, size, 3);
        break;
    case LZ4_FRAME:
        made = LZ4F_compressFrame(out, capacity, in, size, NULL);
        break;
    default:
        made = (size_t)LZ4_compress_default((const char *)in, (char *)out, (int)size, (int)capacity);
    }
    libdeflate_free_compressor(c);
    return made;
}

static enum hub_status decompress(enum codec codec, const void *in, size_t in_size, void *out, size_t size)
{
    switch (codec) {
    case ZLIB:
        return hub_inflate(in, in_size, out, size, NULL);
    case GZIP:
        return hub_gunzip(in, in_size, out, size, NULL);
    case LZF:
        return hub_unlzf(in, in_size, out, size, NULL);
    case SNAPPY:
        return hub_unsnappy(in, in_size, out, size, NULL);
    case ZSTD:
        return hub_unzstd(in, in_size, out, size, NULL);
    case LZ4_FRAME:
        return hub_unlz4_frame(in, in_size, out, size, NULL);
    default:
        return hub_unlz4(in, in_size, out, size, NULL);
    }
}

ParameterizedTestParameters(codec, exact)
{
    static int codecs[CODECS] = {ZLIB, GZIP, LZF, SNAPPY, ZSTD, LZ4, LZ4_FRAME};
    return cr_make_param_array(int, codecs, CODECS);
}

ParameterizedTest(int *codec, codec, exact)
{
    uint8_t in[SIZE], packed[2 * SIZE], out[SIZE + 1];
    for (unsigned i = 0; i < SIZE; i++)
        in[i] = (uint8_t)(i % 97 * (i / 500));
    const size_t size = compress(*codec, in, SIZE, packed, sizeof packed);
    cr_assert_gt(size, 0);
    cr_assert_lt(size, SIZE);
    cr_expect_eq(decompress(*codec, packed, size, out, SIZE), HUB_OK);
    cr_expect_arr_eq(out, in, SIZE);
    cr_expect_eq(decompress(*codec, packed, size, out, SIZE - 1), HUB_CORRUPT);
    cr_expect_eq(decompress(*codec, packed, size, out, SIZE + 1), HUB_CORRUPT);
    cr_expect_eq(decompress(*codec, packed, size, out, 0), HUB_CORRUPT);
    for (size_t cut = 0; cut < size; cut += 7) { /* in its own memory, so that a read past it is seen */
        uint8_t *piece = malloc(cut + 1);
        memcpy(piece, packed, cut);
        cr_expect_eq(decompress(*codec, piece, cut, out, SIZE), HUB_CORRUPT);
        free(piece);
    }
}

Test(codec, gunzip_of_several_members_and_of_zlib)
{
    uint8_t packed[400], out[9];
    size_t size = compress(GZIP, (const uint8_t *)"abcd", 4, packed, sizeof packed);
    size += compress(GZIP, (const uint8_t *)"efghi", 5, packed + size, sizeof packed - size);
    cr_expect_eq(hub_gunzip(packed, size, out, 9, NULL), HUB_OK);
    cr_expect_arr_eq(out, "abcdefghi", 9);
    cr_expect_eq(hub_gunzip(packed, size - 1, out, 9, NULL), HUB_CORRUPT);
    size = compress(ZLIB, (const uint8_t *)"abcd", 4, packed, sizeof packed);
    cr_expect_eq(hub_gunzip(packed, size, out, 4, NULL), HUB_OK);
    cr_expect_arr_eq(out, "abcd", 4);
}

Test(codec, unshuffle_is_the_inverse_of_the_formula)
{
    static const uint32_t elements[] = {0, 1, 2, 3, 4, 5, 8, 12, 16, 100, 5000};
    static const size_t sizes[] = {0, 1, 7, 16, 33, 256, 1000, 4096, 4999};
    uint8_t in[SIZE], out[SIZE], expected[SIZE];
    for (unsigned i = 0; i < SIZE; i++)
        in[i] = (uint8_t)(i * 2654435761u >> 24);
    for (unsigned e = 0; e < HUB_COUNT(elements); e++)
        for (unsigned s = 0; s < HUB_COUNT(sizes); s++) {
            const size_t size = sizes[s], element = elements[e], n = element ? size / element : 0;
            memcpy(expected, in, size);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < element; j++)
                    expected[i * element + j] = in[j * n + i];
            hub_unshuffle(in, out, size, (uint32_t)element);
            cr_assert_arr_eq(out, expected, size, "element %zu, %zu bytes", element, size);
        }
}

struct sum_case {
    uint8_t data[12];
    size_t size;
    uint32_t sum;
};

ParameterizedTestParameters(codec, fletcher32)
{
    static struct sum_case cases[] = {
        /* stored by libhdf5 1.10.8 through h5py, as little-endian words */
        {{1}, 1, 0x01000100},
        {{1, 2, 3}, 3, 0x05040402},
        {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 10, 0x28371419},
        {{0, 0, 0, 0}, 4, 0},
        {{255, 255, 255, 255}, 4, 0xffffffff},
        {{255, 255, 255, 255, 255, 255, 255}, 7, 0xff00ff00},
    };
    return cr_make_param_array(struct sum_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct sum_case *c, codec, fletcher32)
{
    cr_expect_eq(hub_fletcher32(c->data, c->size), c->sum);
}

Test(codec, fletcher32_of_many)
{
    const size_t size = 200001;
    uint8_t *data = malloc(size);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 7919 % 251);
    cr_expect_eq(hub_fletcher32(data, size), 0x134cf6fa); /* libhdf5 1.10.8 */
    free(data);
}
