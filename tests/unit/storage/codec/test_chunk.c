#include "storage/codec/codec.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>

#define SHUFFLE(n)                                                                                           \
    {                                                                                                        \
        HUB_FILTER_SHUFFLE, n                                                                                \
    }
#define DEFLATE                                                                                              \
    {                                                                                                        \
        HUB_FILTER_DEFLATE, 0                                                                                \
    }
#define LZF                                                                                                  \
    {                                                                                                        \
        HUB_FILTER_LZF, 0                                                                                    \
    }
#define FLETCHER                                                                                             \
    {                                                                                                        \
        HUB_FILTER_FLETCHER32, 0                                                                             \
    }

/* Chunks as h5py 3.7 (libhdf5 1.10.8) stored them. */
struct stored_case {
    struct hub_pipeline pipeline;
    uint32_t mask;
    char hex[64];
    size_t out_size;
    enum hub_status st;
    uint8_t first[9];
};

ParameterizedTestParameters(chunk, stored)
{
    static struct stored_case cases[] = {
        {{0}, 0, "010203", 3, HUB_OK, {1, 2, 3}},
        {{0}, 0, "010203", 2, HUB_CORRUPT, {0}},
        {{0}, 0, "010203", 4, HUB_CORRUPT, {0}},
        {{1, 0, {FLETCHER}}, 0, "01020302040405", 3, HUB_OK, {1, 2, 3}},
        {{1, 0, {FLETCHER}}, 0, "01020304020504", 3, HUB_OK, {1, 2, 3}}, /* as HDF5 1.6.2 wrote it */
        {{1, 0, {FLETCHER}}, 0, "01020302040406", 3, HUB_CORRUPT, {0}},
        {{1, 0, {FLETCHER}}, 0, "01030302040405", 3, HUB_CORRUPT, {0}},
        {{1, 0, {FLETCHER}}, 0, "010203", 0, HUB_CORRUPT, {0}},
        {{1, 0, {FLETCHER}}, 1, "010203", 3, HUB_OK, {1, 2, 3}}, /* skipped for this chunk */
        {{1, 0, {SHUFFLE(3)}}, 0, "616467626568636669", 9, HUB_OK, "abcdefghi"},
        {{1, 0, {SHUFFLE(3)}}, 0, "616467626568636669", 8, HUB_CORRUPT, {0}},
        {{3, 0, {SHUFFLE(4), DEFLATE, FLETCHER}},
         0,
         "785e6360646266616563e760c00d000468002559404dfc",
         36,
         HUB_OK,
         {0, 0, 0, 0, 1, 0, 0, 0, 2}},
        {{3, 0, {SHUFFLE(4), DEFLATE, FLETCHER}},
         0,
         "785e6360646266616563e760c00d000468002559404dfc",
         35,
         HUB_CORRUPT,
         {0}},
        {{3, 0, {SHUFFLE(4), DEFLATE, FLETCHER}},
         4,
         "785e6360646266616563e760c00d0004680025",
         36,
         HUB_OK,
         {0, 0, 0, 0, 1, 0, 0, 0, 2}},
        {{3, 0, {SHUFFLE(4), LZF, FLETCHER}}, 0, "010000e0f300010000e0f582e3", 256, HUB_OK, {0}},
        {{3, 0, {SHUFFLE(4), LZF, FLETCHER}}, 0, "010000e0f300010000e0f582e3", 255, HUB_CORRUPT, {0}},
        {{1, 0, {{32013, 0}}}, 0, "00", 1, HUB_UNSUPPORTED, {0}},
    };
    return cr_make_param_array(struct stored_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct stored_case *c, chunk, stored)
{
    const size_t in_size = strlen(c->hex) / 2, half = HUB_MAX(in_size, c->out_size) + 64;
    uint8_t *in = malloc(in_size), *out = malloc(c->out_size + 1), *scratch = malloc(2 * half);
    for (size_t i = 0; i < in_size; i++) {
        unsigned byte;
        sscanf(c->hex + 2 * i, "%2x", &byte);
        in[i] = (uint8_t)byte;
    }
    struct hub_error err = {0};
    const enum hub_status st = hub_chunk_decode(
        &c->pipeline, c->mask, (struct hub_view){(const char *)in, in_size}, out, c->out_size, scratch, &err);
    cr_expect_eq(st, c->st, "%s: %s", c->hex, err.detail);
    if (!st)
        cr_expect_arr_eq(out, c->first, HUB_MIN(c->out_size, sizeof c->first));
    free(in);
    free(out);
    free(scratch);
}

/* Orders no usual writer makes: a checksum before compression, and compression twice. */
Test(chunk, unusual_orders)
{
    uint8_t data[104], once[300], twice[600], out[100], scratch[2000];
    for (unsigned i = 0; i < 100; i++)
        data[i] = (uint8_t)(i / 3);
    const uint32_t sum = hub_fletcher32(data, 100);
    memcpy(data + 100, &sum, 4);
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
    const size_t n = libdeflate_zlib_compress(c, data, 104, once, sizeof once);
    const struct hub_pipeline summed = {2, 0, {FLETCHER, DEFLATE}},
                              doubled = {3, 0, {FLETCHER, DEFLATE, DEFLATE}};
    cr_expect_eq(
        hub_chunk_decode(&summed, 0, (struct hub_view){(const char *)once, n}, out, 100, scratch, NULL),
        HUB_OK);
    cr_expect_arr_eq(out, data, 100);
    const size_t m = libdeflate_zlib_compress(c, once, n, twice, sizeof twice);
    memset(out, 0, sizeof out);
    cr_expect_eq(
        hub_chunk_decode(&doubled, 0, (struct hub_view){(const char *)twice, m}, out, 100, scratch, NULL),
        HUB_OK);
    cr_expect_arr_eq(out, data, 100);
    libdeflate_free_compressor(c);
}
