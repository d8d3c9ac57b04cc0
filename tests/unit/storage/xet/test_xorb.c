/* Xorbs: chunks as hf_xet writes them, and as a liar would. */
#include "storage/xet/hash.h"
#include "storage/xet/xorb.h"

#include "tests/unit/storage/xet/xet_kit.h"

#include <criterion/parameterized.h>
#include <lz4frame.h>

static struct hub_error err;

static enum hub_status scan_of(const void *data, size_t size, size_t step, struct hub_xorb_scan *out)
{
    *out = (struct hub_xorb_scan){0};
    for (size_t at = 0; at < size; at += step)
        HUB_TRY(hub_xorb_scan_add(out, (struct hub_view){(const char *)data + at, HUB_MIN(step, size - at)},
                                  &err));
    return hub_xorb_scan_end(out, &err);
}

static size_t put_header(uint8_t *to, unsigned scheme, size_t stored, size_t raw)
{
    const uint8_t header[HUB_XORB_HEADER] = {0,
                                             (uint8_t)stored,
                                             (uint8_t)(stored >> 8),
                                             (uint8_t)(stored >> 16),
                                             (uint8_t)scheme,
                                             (uint8_t)raw,
                                             (uint8_t)(raw >> 8),
                                             (uint8_t)(raw >> 16)};
    memcpy(to, header, sizeof header);
    return sizeof header;
}

Test(xorb, hashes_are_written_as_words)
{
    uint8_t hash[HUB_XET_HASH];
    char text[HUB_XET_HASH_TEXT + 1];
    cr_assert(hub_xet_hash_read(HUB_VIEW(FIRST_XORB), hash));
    cr_expect_eq(hash[0], 0x21); /* as it lies in the shard */
    cr_expect_eq(hash[7], 0x99);
    hub_xet_hash_write(hash, text);
    cr_expect_str_eq(text, FIRST_XORB);
    cr_expect_not(hub_xet_hash_read(
        HUB_VIEW("99C6b9e0e4195b212dd19bce2e807caba38e6629b519470dd019b2bd0c0c2184"), hash));
    cr_expect_not(hub_xet_hash_read(HUB_VIEW("99"), hash));
    cr_expect_not(hub_xet_hash_read(
        HUB_VIEW("../9e0e4195b212dd19bce2e807caba38e6629b519470dd019b2bd0c0c218412"), hash));
}

Test(xorb, chunks_are_found_however_the_bytes_come)
{
    static const size_t steps[] = {1, 7, 1000, 1 << 20};
    size_t size;
    uint8_t *data = slurp("xet/xorbs/" FIRST_XORB, &size);
    for (unsigned i = 0; i < HUB_COUNT(steps); i++) {
        HUB_CLEANUP(hub_xorb_scan_dispose) struct hub_xorb_scan scan;
        cr_assert_eq(scan_of(data, size, steps[i], &scan), HUB_OK, "%s", err.detail);
        cr_expect_eq(scan.count, 11);
        cr_expect_eq(hub_xorb_scan_size(&scan), size);
        cr_expect_eq(scan.chunks[1].end, 1 + 8 + 21207 + 8);
        cr_expect_eq(scan.chunks[10].raw_end, 0x09651c); /* as the shard says */
    }
    free(data);
}

/* Byte i of the chunk is byte i of the numbers that the script wrote. */
Test(xorb, every_scheme_is_decoded)
{
    size_t size;
    uint8_t *data = slurp("xet/xorbs/" FIRST_XORB, &size), *out = malloc(HUB_XORB_CHUNK_BYTES),
            *scratch = malloc(HUB_XORB_SCRATCH);
    HUB_CLEANUP(hub_xorb_scan_dispose) struct hub_xorb_scan scan;
    cr_assert_eq(scan_of(data, size, size, &scan), HUB_OK);
    uint32_t at = 0, raw = 0;
    unsigned schemes = 0;
    for (uint32_t i = 0; i < scan.count; i++) {
        const struct hub_view chunk = {(const char *)data + at, scan.chunks[i].end - at};
        cr_assert_eq(hub_xorb_chunk_decode(chunk, out, scan.chunks[i].raw_end - raw, scratch, &err), HUB_OK);
        schemes |= 1u << data[at + 4];
        if (i == 0)
            cr_expect_eq(out[0], 'x');
        if (i == 2) /* 3,319 bytes: three planes have one more */
            cr_expect_eq(memcmp(out + 3316, "abc", 3), 0);
        if (i == 4)
            cr_expect_eq(memcmp(out, "{\"episode\": 0, \"frame\": 0, ", 27), 0);
        at = scan.chunks[i].end;
        raw = scan.chunks[i].raw_end;
    }
    cr_expect_eq(schemes, 7);
    free(data), free(out), free(scratch);
}

Test(xorb, what_follows_a_footer_does_not_count)
{
    uint8_t data[100] = {0};
    const size_t end = put_header(data, 0, 4, 4) + 4;
    memcpy(data + end, "XETBLOB\1 and more", 17);
    HUB_CLEANUP(hub_xorb_scan_dispose) struct hub_xorb_scan scan;
    cr_assert_eq(scan_of(data, sizeof data, 5, &scan), HUB_OK, "%s", err.detail);
    cr_expect_eq(scan.count, 1);
    cr_expect_eq(hub_xorb_scan_size(&scan), end);
}

Test(xorb, is_refused_wherever_it_is_cut)
{
    uint8_t data[64] = {0};
    const size_t first = put_header(data, 0, 5, 5) + 5, size = first + put_header(data + first, 0, 6, 6) + 6;
    for (size_t cut = 0; cut < size; cut++) {
        HUB_CLEANUP(hub_xorb_scan_dispose) struct hub_xorb_scan scan;
        cr_expect_eq(scan_of(data, cut, 3, &scan), cut == first ? HUB_OK : HUB_CORRUPT, "cut at %zu", cut);
    }
}

struct lie {
    uint8_t header[HUB_XORB_HEADER];
    enum hub_status st;
};
ParameterizedTestParameters(xorb, headers_that_lie)
{
    static struct lie lies[] = {
        {{1, 1, 0, 0, 0, 1, 0, 0}, HUB_CORRUPT},       /* another version */
        {{0, 1, 0, 0, 3, 1, 0, 0}, HUB_CORRUPT},       /* no such scheme */
        {{0, 1, 0, 0, 99, 1, 0, 0}, HUB_CORRUPT},      /* "auto", which is none */
        {{0, 0, 0, 0, 0, 0, 0, 0}, HUB_CORRUPT},       /* empty */
        {{0, 1, 0, 0, 1, 0, 0, 0}, HUB_CORRUPT},       /* empty once decoded */
        {{0, 1, 0, 0, 1, 1, 0, 2}, HUB_TOO_BIG},       /* 128 KiB and a byte */
        {{0, 1, 0, 0, 1, 255, 255, 255}, HUB_TOO_BIG}, /* 16 MiB */
        {{0, 255, 255, 255, 1, 1, 0, 0}, HUB_TOO_BIG}, /* stored as 16 MiB */
    };
    return cr_make_param_array(struct lie, lies, HUB_COUNT(lies));
}

ParameterizedTest(struct lie *lie, xorb, headers_that_lie)
{
    HUB_CLEANUP(hub_xorb_scan_dispose) struct hub_xorb_scan scan;
    cr_expect_eq(scan_of(lie->header, sizeof lie->header, 8, &scan), lie->st);
    cr_expect_eq(scan.count, 0);
}

Test(xorb, more_chunks_or_bytes_than_a_xorb_has_are_refused)
{
    static uint8_t block[HUB_XORB_HEADER + HUB_XORB_CHUNK_BYTES];
    HUB_CLEANUP(hub_xorb_scan_dispose) struct hub_xorb_scan many = {0}, large = {0};
    const size_t small = put_header(block, 0, 1, 1) + 1;
    for (unsigned i = 0; i < HUB_XORB_CHUNKS; i++)
        cr_assert_eq(hub_xorb_scan_add(&many, (struct hub_view){(char *)block, small}, NULL), HUB_OK);
    cr_expect_eq(hub_xorb_scan_add(&many, (struct hub_view){(char *)block, small}, NULL), HUB_TOO_BIG);

    put_header(block, 0, HUB_XORB_CHUNK_BYTES, HUB_XORB_CHUNK_BYTES);
    for (unsigned i = 0; i < HUB_XORB_RAW_BYTES / HUB_XORB_CHUNK_BYTES; i++)
        cr_assert_eq(hub_xorb_scan_add(&large, (struct hub_view){(char *)block, sizeof block}, NULL), HUB_OK);
    cr_expect_eq(hub_xorb_scan_add(&large, (struct hub_view){(char *)block, small}, NULL), HUB_TOO_BIG);
}

/* A frame that decodes to more, or less, than its header says; what is behind `out` stays as it is. */
Test(xorb, a_frame_gives_what_its_header_says_or_nothing)
{
    enum { RAW = 100000 };
    uint8_t *zeros = calloc(1, RAW), *chunk = malloc(2 * RAW), *out = malloc(RAW),
            *scratch = malloc(HUB_XORB_SCRATCH);
    const size_t stored =
        LZ4F_compressFrame(chunk + HUB_XORB_HEADER, 2 * RAW - HUB_XORB_HEADER, zeros, RAW, NULL);
    const size_t size = stored + HUB_XORB_HEADER;
    cr_assert_lt(stored, 1000);
    for (unsigned scheme = 1; scheme <= 2; scheme++) {
        static const size_t claims[] = {1, 99, RAW - 1, RAW};
        for (unsigned i = 0; i < HUB_COUNT(claims); i++) {
            put_header(chunk, scheme, stored, claims[i]);
            memset(out, 0xee, RAW);
            const enum hub_status st =
                hub_xorb_chunk_decode((struct hub_view){(char *)chunk, size}, out, claims[i], scratch, &err);
            cr_expect_eq(st, claims[i] == RAW ? HUB_OK : HUB_CORRUPT, "scheme %u, %zu bytes", scheme,
                         claims[i]);
            if (claims[i] < RAW)
                cr_expect_eq(out[claims[i]], 0xee);
        }
        put_header(chunk, scheme, stored - 1, RAW);
        cr_expect_eq(
            hub_xorb_chunk_decode((struct hub_view){(char *)chunk, size - 1}, out, RAW, scratch, &err),
            HUB_CORRUPT);
        put_header(chunk, scheme, stored, RAW + 1);
        cr_expect_eq(hub_xorb_chunk_decode((struct hub_view){(char *)chunk, size}, out, RAW, scratch, &err),
                     HUB_CORRUPT); /* the table says otherwise */
    }
    cr_expect_eq(hub_xorb_chunk_decode((struct hub_view){(char *)chunk, 7}, out, RAW, scratch, &err),
                 HUB_CORRUPT);
    free(zeros), free(chunk), free(out), free(scratch);
}

/* Of every length a chunk may have at its end, the planes come together again. */
Test(xorb, bytes_are_ungrouped_for_every_length)
{
    uint8_t raw[200], planes[200], chunk[400], out[200], scratch[HUB_XORB_SCRATCH / 64];
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = (uint8_t)(i * 7 + i / 5);
    for (size_t size = 1; size <= sizeof raw; size++) {
        size_t at = 0;
        for (size_t j = 0; j < 4; j++)
            for (size_t i = j; i < size; i += 4)
                planes[at++] = raw[i];
        const size_t stored =
            LZ4F_compressFrame(chunk + HUB_XORB_HEADER, sizeof chunk - HUB_XORB_HEADER, planes, size, NULL);
        const size_t all = put_header(chunk, 2, stored, size) + stored;
        cr_assert_eq(hub_xorb_chunk_decode((struct hub_view){(char *)chunk, all}, out, size, scratch, &err),
                     HUB_OK, "%zu bytes: %s", size, err.detail);
        cr_assert_eq(memcmp(out, raw, size), 0, "%zu bytes", size);
    }
}
