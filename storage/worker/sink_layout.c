/*
 * The layouts of a part. Each is proven here before it is sent: a field whose rows cannot be where its file
 * says is refused, and the rest of the part stands. The hub proves them all again and then believes
 * the child nothing.
 */
#include "storage/worker/sink_state.h"

#include <stdio.h>
#include <stdlib.h>

enum hub_status hub_sink_layout(struct hub_sink *sink, uint32_t field, struct hub_layout_builder **builder,
                                struct hub_error *err)
{
    if (field >= sink->field_count)
        return hub_fail(err, HUB_INVALID, "there is no field %u", field);
    struct hub_sink_field *f = &sink->fields[field];
    if (!f->builder)
        HUB_TRY(hub_layout_builder_new(HUB_MAX_LAYOUT_BYTES, &f->builder, err));
    *builder = f->builder;
    return HUB_OK;
}

enum hub_status hub_sink_refuse(struct hub_sink *sink, uint32_t field, uint32_t episode, const char *why,
                                struct hub_error *err)
{
    struct hub_layout_builder *builder;
    struct hub_view text = hub_view_of(*why ? why : "unknown");
    HUB_TRY(hub_sink_fit(sink, 1, &text, HUB_MAX_REFUSAL, true, err));
    HUB_TRY(hub_sink_layout(sink, field, &builder, err));
    return hub_layout_refuse(builder, episode, text, err);
}

static enum hub_status prove(const struct hub_sink *sink, const void *data, size_t size,
                             const uint64_t *file_sizes, struct hub_error *err)
{
    struct hub_layout layout;
    HUB_TRY(hub_layout_open(data, size, &layout, err));
    return hub_layout_check(&layout, file_sizes, sink->files->count, sink->files->side_size, sink->episodes,
                            err);
}

static enum hub_status send(struct hub_sink *sink, uint32_t wire, const char *data, size_t size,
                            struct hub_error *err)
{
    hub_frame_begin(sink->w, HUB_FRAME_LAYOUT);
    hub_frame_u32(sink->w, wire);
    hub_frame_u64(sink->w, size);
    HUB_TRY(hub_sink_end_frame(sink, err));
    for (size_t at = 0, n; at < size; at += n) {
        n = HUB_MIN(size - at, (size_t)HUB_MAX_FRAME);
        hub_frame_begin(sink->w, HUB_FRAME_LAYOUT_DATA);
        hub_frame_bytes(sink->w, data + at, n);
        HUB_TRY(hub_sink_end_frame(sink, err));
    }
    return HUB_OK;
}

static enum hub_status finish(const struct hub_sink *sink, struct hub_layout_builder *builder,
                              const uint64_t *file_sizes, void **data, size_t *size, struct hub_error *err)
{
    HUB_TRY(hub_layout_finish(builder, data, size, err));
    return prove(sink, *data, *size, file_sizes, err);
}

static enum hub_status finish_field(struct hub_sink *sink, struct hub_sink_field *f,
                                    const uint64_t *file_sizes, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) void *data = NULL;
    struct hub_error why = {0};
    char reason[HUB_MAX_REFUSAL];
    size_t size = 0;
    enum hub_status st = finish(sink, f->builder, file_sizes, &data, &size, &why);
    if (st && st != HUB_NO_MEMORY) {
        hub_freep(&data);
        data = NULL;
        snprintf(reason, sizeof reason, "damaged: %s", why.detail);
        HUB_TRY(hub_layout_refuse_all(f->builder, hub_view_of(reason), err));
        st = finish(sink, f->builder, file_sizes, &data, &size, &why);
    }
    hub_layout_builder_free(f->builder);
    f->builder = NULL;
    return st ? hub_fail(err, st, "%s", why.detail) : send(sink, f->wire, data, size, err);
}

enum hub_status hub_sink_finish(struct hub_sink *sink, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) uint64_t *file_sizes = calloc(sink->files->count + 1, sizeof *file_sizes);
    HUB_TRY(hub_allocated(file_sizes, err));
    for (uint32_t i = 0; i < sink->files->count; i++)
        file_sizes[i] = sink->files->entries[i].size;
    HUB_TRY(hub_sink_send_fields(sink, err));
    for (uint32_t i = 0; i < sink->field_count; i++) {
        struct hub_sink_field *f = &sink->fields[i];
        if (f->builder && f->wire != HUB_NONE)
            HUB_TRY(finish_field(sink, f, file_sizes, err));
    }
    return hub_sink_send_problems(sink, err);
}
