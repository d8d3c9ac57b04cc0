/*
 * Block compressors, each behind the same exact-length door: LZF (h5py's filter), and Snappy, Zstandard and
 * LZ4 (Parquet).
 */
#include "storage/codec/decode.h"

#include <errno.h>
#include <liblzf/lzf.h>
#include <limits.h>
#include <lz4.h>
#include <pthread.h>
#include <snappy-c.h>
#include <zstd.h>

static enum hub_status damaged(const char *what, struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, "damaged %s data, or of another length than declared", what);
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
enum hub_status hub_unzstd(const void *in, size_t in_size, void *out, size_t out_size, struct hub_error *err)
{
    ZSTD_DCtx *context = own_zstd();
    HUB_TRY(hub_allocated(context, err));
    const size_t made = ZSTD_decompressDCtx(context, out, out_size, in, in_size);
    return ZSTD_isError(made) || made != out_size ? damaged("zstd", err) : HUB_OK;
}

enum hub_status hub_unlz4(const void *in, size_t in_size, void *out, size_t out_size, struct hub_error *err)
{
    if (in_size > INT_MAX || out_size > INT_MAX)
        return hub_fail(err, HUB_TOO_BIG, "lz4 data over 2 GiB");
    const int made = LZ4_decompress_safe(in, out, (int)in_size, (int)out_size);
    return made < 0 || (size_t)made != out_size ? damaged("lz4", err) : HUB_OK;
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
