/* Lies: frames no sink would send, and records that contradict each other. */
#include "tests/support/planted/planted.h"

static struct hub_frame_writer *raw(struct hub_files *files)
{
    return &child_of(files)->writer;
}

static enum hub_status send_raw(struct hub_files *files, struct hub_error *err)
{
    HUB_TRY(hub_frame_end(raw(files), err));
    return hub_child_flush(child_of(files), err);
}

INSPECT(do_garbage)
{
    (void)part, (void)sink;
    char noise[4096];
    memset(noise, 0xA5, sizeof noise);
    HUB_TRY(hub_buf_add(&raw(files)->out, noise, sizeof noise, err));
    return hub_child_flush(child_of(files), err);
}

INSPECT(do_huge_frame)
{
    (void)part, (void)sink;
    HUB_TRY(hub_buf_add(&raw(files)->out, "\xff\xff\xff\x7f\x2a", 5, err));
    return hub_child_flush(child_of(files), err);
}

INSPECT(do_endless_message)
{
    (void)part, (void)sink;
    static char zeros[1024 * 1024 - 5];
    for (int i = 0; i < 10; i++) {
        HUB_TRY(hub_buf_add(&raw(files)->out, "\xfb\xff\x0f\x80\x28", 5,
                            err)); /* "more follows", 1 MiB at a time */
        HUB_TRY(hub_buf_add(&raw(files)->out, zeros, sizeof zeros, err));
    }
    return hub_child_flush(child_of(files), err);
}

INSPECT(do_open_other_file)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_OPEN);
    hub_frame_u32(raw(files), 1); /* of the dataset, not of the part */
    return send_raw(files, err);
}

INSPECT(do_open_no_file)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_OPEN);
    hub_frame_u32(raw(files), 77);
    return send_raw(files, err);
}

INSPECT(do_close_not_open)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_CLOSE);
    hub_frame_u32(raw(files), 0);
    return send_raw(files, err);
}

INSPECT(do_fact_in_inspect)
{
    (void)part;
    (void)files;
    return hub_sink_fact(sink, "id", HUB_VIEW("x"), err);
}

INSPECT(do_bad_utf8)
{
    (void)part, (void)sink;
    hub_frame_begin(raw(files), HUB_FRAME_FIELD);
    hub_frame_text(raw(files), HUB_VIEW("a\xff"));
    for (int i = 0; i < 3; i++)
        hub_frame_u8(raw(files), 1);
    return send_raw(files, err);
}

INSPECT(do_bad_type)
{
    (void)part, (void)files;
    const struct hub_field field = {.path = HUB_VIEW("a"), .type = (enum hub_field_type)99};
    uint32_t number;
    return hub_sink_field(sink, &field, &number, err);
}

INSPECT(do_same_field_twice)
{
    (void)part, (void)sink;
    for (int i = 0; i < 2; i++) {
        hub_frame_begin(raw(files), HUB_FRAME_FIELD);
        hub_frame_text(raw(files), HUB_VIEW("a"));
        for (int k = 0; k < 3; k++)
            hub_frame_u8(raw(files), 1);
        HUB_TRY(send_raw(files, err));
    }
    return HUB_OK;
}

static enum hub_status report_episode(struct hub_sink *sink, int64_t number, uint32_t file,
                                      struct hub_error *err)
{
    const struct hub_episode episode = {
        .number = number, .file = file, .steps = 3, .success = -1, .terminated = -1, .truncated = -1};
    uint32_t index;
    return hub_sink_episode(sink, &episode, &index, err);
}

INSPECT(do_same_episode_twice)
{
    (void)part, (void)files;
    HUB_TRY(report_episode(sink, 4, 0, err));
    return report_episode(sink, 4, 0, err);
}

INSPECT(do_episode_elsewhere)
{
    (void)part, (void)files;
    return report_episode(sink, 4, 1000, err);
}

static enum hub_status raw_episode(struct hub_files *files, int64_t number, const char *attributes,
                                   struct hub_error *err)
{
    struct hub_frame_writer *w = raw(files);
    hub_frame_begin(w, HUB_FRAME_EPISODE);
    hub_frame_u64(w, (uint64_t)number);
    hub_frame_u32(w, 0);
    hub_frame_u64(w, 1);
    hub_frame_u8(w, 0);
    hub_frame_f64(w, 0);
    for (int i = 0; i < 3; i++)
        hub_frame_u8(w, 0);
    for (int i = 0; i < 4; i++)
        hub_frame_text(w, HUB_VIEW(""));
    hub_frame_text(w, hub_view_of(attributes));
    hub_frame_text(w, HUB_VIEW(""));
    return send_raw(files, err);
}

INSPECT(do_huge_number)
{
    (void)part, (void)sink;
    return raw_episode(files, INT64_MAX, "", err);
}

INSPECT(do_bad_json)
{
    (void)part, (void)sink;
    return raw_episode(files, 0, "{\"a\":NaN}", err);
}

INSPECT(do_after_end)
{
    (void)part, (void)sink;
    HUB_TRY(hub_child_end(child_of(files), &(struct hub_error){0}));
    hub_frame_begin(raw(files), HUB_FRAME_END);
    return send_raw(files, err);
}

/* A field with one array of 8-byte rows at `offset` of `file`; the sink's own proof is passed by when
 * `lying`. */
enum hub_status planted_rows(struct hub_files *files, struct hub_sink *sink, uint32_t file, uint64_t offset,
                             uint64_t rows, bool lying, struct hub_error *err)
{
    const struct hub_field field = {
        .path = HUB_VIEW("rows"), .type = HUB_FIELD_NUMBER, .role = HUB_ROLE_ACTION, .axis = HUB_AXIS_STEP};
    const struct hub_variant variant = {.kind = HUB_KIND_FLOAT, .item_size = 8};
    const struct hub_piece piece = {.kind = HUB_PIECE_STRIDED,
                                    .file = file,
                                    .offset = offset,
                                    .rows = rows,
                                    .row_stride = 8,
                                    .geometry = HUB_NONE};
    struct hub_layout_builder *b;
    uint32_t number, index;
    HUB_TRY(report_episode(sink, 0, 0, err));
    HUB_TRY(hub_sink_field(sink, &field, &number, err));
    HUB_TRY(hub_sink_layout(sink, number, &b, err));
    HUB_TRY(hub_layout_variant(b, &variant, &index, err));
    HUB_TRY(hub_layout_array(b, index, &index, err));
    HUB_TRY(hub_layout_piece(b, &piece, err));
    HUB_TRY(hub_layout_add_window(
        b, &(struct hub_window){.episode = 0, .array = index, .first = 0, .count = rows}, err));
    if (lying && file == HUB_SIDE_FILE)
        files->side_size = UINT64_MAX / 2;
    else if (lying)
        child_of(files)->entries[file].size = UINT64_MAX / 2;
    return HUB_OK;
}

INSPECT(do_rows_beyond_file)
{
    (void)part;
    return planted_rows(files, sink, 0, 4096, 100000, true, err);
}

INSPECT(do_rows_beyond_side)
{
    (void)part;
    uint64_t at;
    HUB_TRY(hub_files_side_add(files, "12345678", 8, &at, err));
    return planted_rows(files, sink, HUB_SIDE_FILE, 0, 2, true, err);
}

INSPECT(do_layout_noise)
{
    (void)part, (void)sink;
    struct hub_frame_writer *w = raw(files);
    hub_frame_begin(w, HUB_FRAME_FIELD);
    hub_frame_text(w, HUB_VIEW("a"));
    for (int i = 0; i < 3; i++)
        hub_frame_u8(w, 1);
    HUB_TRY(send_raw(files, err));
    hub_frame_begin(w, HUB_FRAME_LAYOUT);
    hub_frame_u32(w, 0);
    hub_frame_u64(w, 4096);
    HUB_TRY(send_raw(files, err));
    hub_frame_begin(w, HUB_FRAME_LAYOUT_DATA);
    hub_frame_bytes(w, (char[4096]){1, 2, 3}, 4096);
    return send_raw(files, err);
}

INSPECT(do_layout_unfinished)
{
    (void)part;
    HUB_TRY(planted_rows(files, sink, 0, 0, 1, false, err));
    hub_frame_begin(raw(files), HUB_FRAME_LAYOUT);
    hub_frame_u32(raw(files), 0);
    hub_frame_u64(raw(files), 1 << 20);
    return send_raw(files, err);
}
