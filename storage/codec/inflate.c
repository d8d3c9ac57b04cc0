/*
 * zlib (RFC 1950) and gzip (RFC 1952) by libdeflate, which is two to three times as fast as zlib but decodes
 * whole buffers only: all lengths are known here. A decompressor is made on a thread's first use and freed
 * when the thread ends.
 */
#include "storage/codec/decode.h"

#include <libdeflate.h>
#include <pthread.h>

static pthread_key_t decompressor_key;
static pthread_once_t decompressor_once = PTHREAD_ONCE_INIT;
static _Thread_local struct libdeflate_decompressor *decompressor;

static void free_decompressor(void *d)
{
    libdeflate_free_decompressor(d);
}

static void make_key(void)
{
    /* Without a key the decompressor of an ended thread leaks: no reason to fail. */
    (void)pthread_key_create(&decompressor_key, free_decompressor);
}

static struct libdeflate_decompressor *own_decompressor(void)
{
    if (!decompressor) {
        pthread_once(&decompressor_once, make_key);
        decompressor = libdeflate_alloc_decompressor();
        if (decompressor)
            (void)pthread_setspecific(decompressor_key, decompressor);
    }
    return decompressor;
}

static enum hub_status explain(enum libdeflate_result result, const char *what, struct hub_error *err)
{
    switch (result) {
    case LIBDEFLATE_SUCCESS:
        return HUB_OK;
    case LIBDEFLATE_SHORT_OUTPUT:
    case LIBDEFLATE_INSUFFICIENT_SPACE:
        return hub_fail(err, HUB_CORRUPT, "%s data not of the declared length", what);
    case LIBDEFLATE_BAD_DATA:
        break;
    }
    return hub_fail(err, HUB_CORRUPT, "damaged %s data", what);
}

enum hub_status hub_inflate_upto(const void *in, size_t in_size, void *out, size_t capacity, size_t *out_size,
                                 struct hub_error *err)
{
    struct libdeflate_decompressor *d = own_decompressor();
    HUB_TRY(hub_allocated(d, err));
    return explain(libdeflate_zlib_decompress(d, in, in_size, out, capacity, out_size), "deflate", err);
}

enum hub_status hub_inflate(const void *in, size_t in_size, void *out, size_t out_size, struct hub_error *err)
{
    return hub_inflate_upto(in, in_size, out, out_size, NULL, err);
}

/* Parquet writers may join several members; some write zlib where gzip is named. */
enum hub_status hub_gunzip(const void *in, size_t in_size, void *out, size_t out_size, struct hub_error *err)
{
    const uint8_t *at = in;
    uint8_t *to = out;
    if (in_size >= 2 && (at[0] != 0x1f || at[1] != 0x8b))
        return hub_inflate(in, in_size, out, out_size, err);
    struct libdeflate_decompressor *d = own_decompressor();
    HUB_TRY(hub_allocated(d, err));
    do {
        size_t used = 0, made = 0;
        HUB_TRY(
            explain(libdeflate_gzip_decompress_ex(d, at, in_size, to, out_size, &used, &made), "gzip", err));
        at += used;
        in_size -= used;
        to += made;
        out_size -= made;
    } while (in_size > 0 && out_size > 0);
    return out_size ? explain(LIBDEFLATE_SHORT_OUTPUT, "gzip", err) : HUB_OK;
}

enum hub_status hub_undo_deflate(struct hub_stage *stage, uint32_t param, uint8_t *out, size_t capacity,
                                 bool exact, struct hub_error *err)
{
    (void)param;
    size_t made = capacity;
    HUB_TRY(hub_inflate_upto(stage->data, stage->size, out, capacity, exact ? NULL : &made, err));
    *stage = (struct hub_stage){out, made};
    return HUB_OK;
}
