/* The bodies of Parquet pages decompressed; the levels of a v2 page never are compressed. */
#include "storage/codec/codec.h"

static enum hub_status decompress(uint8_t codec, const void *in, size_t in_size, void *out, size_t out_size,
                                  struct hub_error *err)
{
    switch (codec) {
    case HUB_PAGE_SNAPPY:
        return hub_unsnappy(in, in_size, out, out_size, err);
    case HUB_PAGE_GZIP:
        return hub_gunzip(in, in_size, out, out_size, err);
    case HUB_PAGE_ZSTD:
        return hub_unzstd(in, in_size, out, out_size, err);
    case HUB_PAGE_LZ4_RAW:
        return hub_unlz4(in, in_size, out, out_size, err);
    case HUB_PAGE_LZ4_FRAME:
        return hub_unlz4_frame(in, in_size, out, out_size, err);
    case HUB_PAGE_PLAIN:
        if (in_size != out_size)
            return hub_fail(err, HUB_CORRUPT, "page of %zu bytes decodes to %zu", out_size, in_size);
        if (out_size)
            memcpy(out, in, out_size);
        return HUB_OK;
    default:
        return hub_fail(err, HUB_UNSUPPORTED, "page codec %u", codec);
    }
}

enum hub_status hub_page_unpack(const struct hub_column *column, const struct hub_page *page, const void *in,
                                void *out, struct hub_error *err)
{
    if (page->version != 2)
        return decompress(column->codec, in, page->stored, out, page->decoded, err);
    const uint64_t levels = (uint64_t)page->def_bytes + page->rep_bytes;
    if (levels > page->stored || levels > page->decoded)
        return hub_fail(err, HUB_CORRUPT, "page ends in its levels");
    if (levels)
        memcpy(out, in, levels);
    if (page->decoded == levels)
        return HUB_OK; /* nulls only: some writers store no compressed bytes then */
    return decompress(page->compressed ? column->codec : HUB_PAGE_PLAIN, (const uint8_t *)in + levels,
                      page->stored - levels, (uint8_t *)out + levels, page->decoded - levels, err);
}
