/*
 * Block compressors, each behind the same exact-length door: LZF (h5py's filter), Snappy (Parquet),
 * Zstandard and LZ4 (both; as a filter, LZ4 comes in blocks, in Arrow in frames).
 */
#include "storage/codec/decode.h"

#include <errno.h>
#include <liblzf/lzf.h>
#include <limits.h>
#include <lz4.h>
#include <lz4frame.h>
#include <pthread.h>
#include <snappy-c.h>
#include <zstd.h>

static enum hub_status damaged(const char *what, struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "damaged %s data, or not of the declared length", what);
}

enum hub_status hub_unlzf_upto(const void *in, size_t in_size, void *out, size_t capacity, size_t *out_size,
                               struct hub_error *err)
{
    if (in_size > UINT_MAX || capacity > UINT_MAX)
        return hub_fail(err, HUB_TOO_BIG, "lzf data over 4 GiB");
    /* An empty stream is empty data: liblzf would read its first byte. */
    const size_t made =
        in_size && capacity ? lzf_decompress(in, (unsigned)in_size, out, (unsigned)capacity) : 0;
    if ((made == 0 && (in_size || capacity)) || (!out_size && made != capacity))
        return damaged("lzf", err);
    if (out_size)
        *out_size = made;
    return HUB_OK;
}

enum hub_status hub_unlzf(const void *in, size_t in_size, void *out, size_t out_size, struct hub_error *err)
{
    return hub_unlzf_upto(in, in_size, out, out_size, NULL, err);
}

enum hub_status hub_unsnappy(const void *in, size_t in_size, void *out, size_t out_size,
                             struct hub_error *err)
{
    size_t length = 0;
    if (snappy_uncompressed_length(in, in_size, &length) != SNAPPY_OK || length != out_size)
        return damaged("snappy", err);
    if (snappy_uncompress(in, in_size, out, &length) != SNAPPY_OK || length != out_size)
        return damaged("snappy", err);
    return HUB_OK;
}

static pthread_key_t zstd_key;
static pthread_once_t zstd_once = PTHREAD_ONCE_INIT;
static _Thread_local ZSTD_DCtx *zstd_context;

static void free_zstd(void *context)
{
    ZSTD_freeDCtx(context);
}

static void make_zstd_key(void)
{
    (void)pthread_key_create(&zstd_key, free_zstd);
}

static ZSTD_DCtx *own_zstd(void)
{
    if (!zstd_context) {
        pthread_once(&zstd_once, make_zstd_key);
        zstd_context = ZSTD_createDCtx();
        if (zstd_context)
            (void)pthread_setspecific(zstd_key, zstd_context);
    }
    return zstd_context;
}

/* Decoding in one step uses the output as its window: no frame can make it allocate one. */
static enum hub_status unzstd_upto(const void *in, size_t in_size, void *out, size_t capacity,
                                   size_t *out_size, struct hub_error *err)
{
    ZSTD_DCtx *context = own_zstd();
    HUB_TRY(hub_allocated(context, err));
    const size_t made = ZSTD_decompressDCtx(context, out, capacity, in, in_size);
    if (ZSTD_isError(made) || (!out_size && made != capacity))
        return damaged("zstd", err);
    if (out_size)
        *out_size = made;
    return HUB_OK;
}

enum hub_status hub_unzstd(const void *in, size_t in_size, void *out, size_t out_size, struct hub_error *err)
{
    return unzstd_upto(in, in_size, out, out_size, NULL, err);
}

enum hub_status hub_unlz4(const void *in, size_t in_size, void *out, size_t out_size, struct hub_error *err)
{
    if (in_size > INT_MAX || out_size > INT_MAX)
        return hub_fail(err, HUB_TOO_BIG, "lz4 data over 2 GiB");
    const int made = LZ4_decompress_safe(in, out, (int)in_size, (int)out_size);
    return made < 0 || (size_t)made != out_size ? damaged("lz4", err) : HUB_OK;
}

/* A frame's blocks decode straight into place; what it allocates besides is bounded by its block size, 4 MiB.
 * Frames may follow one another. */
static bool unframe(LZ4F_dctx *context, const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    const LZ4F_decompressOptions_t options = {.stableDst = 1};
    size_t hint = 0;
    do {
        size_t made = out_size, taken = in_size;
        hint = LZ4F_decompress(context, out, &made, in, &taken, &options);
        if (LZ4F_isError(hint) || (made == 0 && taken == 0))
            return false;
        in += taken;
        in_size -= taken;
        out += made;
        out_size -= made;
    } while (in_size || out_size);
    return hint == 0;
}

enum hub_status hub_unlz4_frame(const void *in, size_t in_size, void *out, size_t out_size,
                                struct hub_error *err)
{
    LZ4F_dctx *context = NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)))
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a decompressor");
    const bool good = unframe(context, in, in_size, out, out_size);
    (void)LZ4F_freeDecompressionContext(context);
    return good ? HUB_OK : damaged("lz4", err);
}

enum hub_status hub_undo_lzf(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                             bool exact, struct hub_error *err)
{
    (void)param;
    size_t made = capacity;
    HUB_TRY(hub_unlzf_upto(stage->data, stage->size, out, capacity, exact ? NULL : &made, err));
    *stage = (struct hub_stage){out, made};
    return HUB_OK;
}

enum hub_status hub_undo_zstd(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                              bool exact, struct hub_error *err)
{
    (void)param;
    size_t made = capacity;
    HUB_TRY(unzstd_upto(stage->data, stage->size, out, capacity, exact ? NULL : &made, err));
    *stage = (struct hub_stage){out, made};
    return HUB_OK;
}

/* Filter 32004, big-endian: bytes u64, block u32, then for each block its stored bytes u32 and those; a block
 * that did not shrink is stored as it is. https://github.com/nexusformat/HDF5-External-Filter-Plugins */
enum hub_status hub_undo_lz4(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                             bool exact, struct hub_error *err)
{
    (void)param;
    struct hub_cursor c = hub_cursor_of(stage->data, stage->size);
    const uint64_t size = hub_cursor_be64(&c), block = hub_cursor_be32(&c);
    if (c.failed || size > capacity || (exact && size != capacity) || (block == 0 && size))
        return damaged("lz4", err);
    for (uint64_t done = 0; done < size; done += block) {
        const size_t want = (size_t)HUB_MIN(block, size - done), stored = hub_cursor_be32(&c);
        const uint8_t *in = hub_cursor_bytes(&c, stored);
        if (!in)
            return damaged("lz4", err);
        if (stored == want)
            memcpy(out + done, in, want);
        else
            HUB_TRY(hub_unlz4(in, stored, out + done, want, err));
    }
    *stage = (struct hub_stage){out, (size_t)size};
    return HUB_OK;
}
