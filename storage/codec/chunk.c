/* One HDF5 chunk decoded: its filters backwards, the last of them straight into the caller's memory. */
#include "storage/codec/decode.h"

#define UNDO(name, number, effect, by_element, ns_byte, ns_stored, undo) {HUB_FILTER_##name, hub_undo_##undo},
static const struct {
    uint32_t id;
    hub_undo_fn undo;
} filters[] = {HUB_FILTERS(UNDO)};

/* Is i the last filter to be undone? One whose checksum is still to be stripped needs 4 bytes more than the
 * chunk has. */
static bool is_last(uint32_t mask, uint32_t i)
{
    while (i-- > 0)
        if (!(mask >> i & 1))
            return false;
    return true;
}

static hub_undo_fn find(uint32_t id)
{
    for (size_t i = 0; i < HUB_COUNT(filters); i++)
        if (filters[i].id == id)
            return filters[i].undo;
    return NULL;
}

enum hub_status hub_chunk_decode(const struct hub_pipeline *pipeline, uint32_t mask, struct hub_view in,
                                 void *out, size_t out_size, void *scratch, struct hub_error *err)
{
    const size_t half = HUB_MAX(in.size, out_size) + 64;
    struct hub_stage stage = {(const uint8_t *)in.data, in.size};
    unsigned turn = 0;
    for (uint32_t i = pipeline->count; i-- > 0;) {
        const struct hub_filter *filter = &pipeline->filters[i];
        if (mask >> i & 1)
            continue;
        const hub_undo_fn undo = find(filter->id);
        if (!undo)
            return hub_fail(err, HUB_UNSUPPORTED, "filter %u", filter->id);
        const bool last = is_last(mask, i);
        uint8_t *to = last ? out : (uint8_t *)scratch + turn % 2 * half;
        HUB_TRY(undo(&stage, filter->param, to, last ? out_size : half, last, err));
        turn += stage.data == to;
    }
    if (stage.size != out_size)
        return hub_fail(err, HUB_CORRUPT, "chunk decodes to %zu bytes instead of %zu", stage.size, out_size);
    if (stage.data != out && out_size)
        memcpy(out, stage.data, out_size);
    return HUB_OK;
}
