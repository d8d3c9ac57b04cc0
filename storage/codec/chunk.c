/* One HDF5 chunk decoded: its filters backwards, the last of them straight into the caller's memory. */
#include "storage/codec/decode.h"

struct stage {
    const uint8_t *data;
    size_t size;
};

/* HDF5 1.6.2 and older on little-endian machines swapped the bytes of both sums: the library reads both, and
 * so do we. */
static bool checksum_holds(uint32_t stored, uint32_t computed)
{
    const uint32_t swapped = (computed & 0x00ff00ff) << 8 | (computed >> 8 & 0x00ff00ff);
    return stored == computed || stored == swapped;
}

static enum hub_status strip_fletcher(struct stage *stage, struct hub_error *err)
{
    uint32_t stored;
    if (stage->size < sizeof stored)
        return hub_fail(err, HUB_CORRUPT, "chunk of %zu bytes has no checksum", stage->size);
    stage->size -= sizeof stored;
    memcpy(&stored, stage->data + stage->size, sizeof stored);
    if (!checksum_holds(stored, hub_fletcher32(stage->data, stage->size)))
        return hub_fail(err, HUB_CORRUPT, "chunk fails its checksum (fletcher32)");
    return HUB_OK;
}

/* Is i the last filter to be undone? One whose checksum is still to be stripped needs 4 bytes more than the
 * chunk has. */
static bool is_last(uint32_t mask, uint32_t i)
{
    while (i-- > 0)
        if (!(mask >> i & 1))
            return false;
    return true;
}

/* Undo one filter from `stage` into `out`; `exact`: all of `capacity` must come out. */
static enum hub_status undo(const struct hub_filter *filter, struct stage *stage, uint8_t *out,
                            size_t capacity, bool exact, struct hub_error *err)
{
    size_t made = capacity;
    switch (filter->id) {
    case HUB_FILTER_SHUFFLE:
        if (exact ? stage->size != capacity : stage->size > capacity)
            return hub_fail(err, HUB_CORRUPT, "chunk decodes to another length than declared");
        made = stage->size;
        hub_unshuffle(stage->data, out, made, filter->param);
        break;
    case HUB_FILTER_DEFLATE:
        HUB_TRY(hub_inflate_upto(stage->data, stage->size, out, capacity, exact ? NULL : &made, err));
        break;
    case HUB_FILTER_LZF:
        HUB_TRY(hub_unlzf_upto(stage->data, stage->size, out, capacity, exact ? NULL : &made, err));
        break;
    default:
        return hub_fail(err, HUB_UNSUPPORTED, "filter %u", filter->id);
    }
    *stage = (struct stage){out, made};
    return HUB_OK;
}

enum hub_status hub_chunk_decode(const struct hub_pipeline *pipeline, uint32_t mask, const void *in,
                                 size_t in_size, void *out, size_t out_size, void *scratch,
                                 struct hub_error *err)
{
    const size_t half = HUB_MAX(in_size, out_size) + 64;
    struct stage stage = {in, in_size};
    unsigned turn = 0;
    for (uint32_t i = pipeline->count; i-- > 0;) {
        if (mask >> i & 1)
            continue;
        if (pipeline->filters[i].id == HUB_FILTER_FLETCHER32) {
            HUB_TRY(strip_fletcher(&stage, err));
            continue;
        }
        const bool last = is_last(mask, i);
        uint8_t *to = last ? out : (uint8_t *)scratch + (turn++ % 2) * half;
        HUB_TRY(undo(&pipeline->filters[i], &stage, to, last ? out_size : half, last, err));
    }
    if (stage.size != out_size)
        return hub_fail(err, HUB_CORRUPT, "chunk decodes to %zu bytes instead of %zu", stage.size, out_size);
    if (stage.data != out && out_size)
        memcpy(out, stage.data, out_size);
    return HUB_OK;
}
