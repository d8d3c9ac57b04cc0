/* Frames: split, joined, in any portions, refused when they are too long or mixed up. */
#include "storage/inspect/protocol.h"

#include <criterion/criterion.h>

static void feed(struct hub_frame_reader *r, const char *data, size_t size)
{
    void *room;
    size_t space;
    cr_assert_eq(hub_frame_room(r, &room, &space, NULL), HUB_OK);
    cr_assert(space >= size);
    memcpy(room, data, size);
    hub_frame_filled(r, size);
}

Test(protocol, round_trip_byte_by_byte)
{
    struct hub_frame_writer w;
    struct hub_frame_reader r;
    struct hub_frame frame;
    hub_frame_writer_init(&w, 4096);
    hub_frame_reader_init(&r);
    hub_frame_begin(&w, HUB_FRAME_FACT);
    hub_frame_text(&w, HUB_VIEW("id"));
    hub_frame_u64(&w, 7);
    hub_frame_f64(&w, 0.5);
    cr_assert_eq(hub_frame_end(&w, NULL), HUB_OK);
    hub_frame_begin(&w, HUB_FRAME_GO);
    cr_assert_eq(hub_frame_end(&w, NULL), HUB_OK);
    unsigned seen = 0;
    for (size_t i = 0; i < w.out.size; i++) {
        feed(&r, w.out.data + i, 1);
        cr_assert_eq(hub_frame_next(&r, &frame, NULL), HUB_OK);
        if (frame.type == HUB_FRAME_FACT) {
            struct hub_cursor c = hub_cursor_of(frame.data, frame.size);
            cr_expect(hub_view_is(hub_cursor_text(&c, 10), "id"));
            cr_expect_eq(hub_cursor_u64(&c), 7);
            cr_expect_eq(hub_cursor_f64(&c), 0.5);
        }
        seen += frame.type != 0;
    }
    cr_expect_eq(seen, 2);
    cr_expect_eq(frame.type, HUB_FRAME_GO);
    cr_expect_eq(frame.size, 0);
    hub_frame_writer_dispose(&w);
    hub_frame_reader_dispose(&r);
}

Test(protocol, long_messages_are_split_and_joined)
{
    struct hub_frame_writer w;
    struct hub_frame_reader r;
    struct hub_frame frame = {0};
    HUB_CLEANUP(hub_freep) char *text = malloc(3 * MIB);
    for (size_t i = 0; i < 3 * MIB; i++)
        text[i] = (char)i;
    hub_frame_writer_init(&w, 8 * MIB);
    hub_frame_reader_init(&r);
    hub_frame_begin(&w, HUB_FRAME_FACT);
    hub_frame_bytes(&w, text, 3 * MIB);
    cr_assert_eq(hub_frame_end(&w, NULL), HUB_OK);
    cr_expect_eq(w.out.size, 3 * MIB + 4 * 5, "four frames");
    for (size_t at = 0; at < w.out.size; at += 60000) {
        cr_expect_eq(frame.type, 0);
        feed(&r, w.out.data + at, HUB_MIN((size_t)60000, w.out.size - at));
        cr_assert_eq(hub_frame_next(&r, &frame, NULL), HUB_OK);
    }
    cr_assert_eq(frame.size, 3 * MIB);
    cr_expect_eq(memcmp(frame.data, text, 3 * MIB), 0);
    hub_frame_writer_dispose(&w);
    hub_frame_reader_dispose(&r);
}

Test(protocol, refuses)
{
    static const struct {
        const char *bytes;
        size_t size;
    } cases[] = {
        {"\xfc\xff\x0f\x00\x2a", 5},                        /* one byte over a frame's limit */
        {"\x00\x00\x00\x00\x00", 5},                        /* no type */
        {"\x01\x00\x00\x80\x28x\x01\x00\x00\x00\x29x", 12}, /* another message inside one */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_frame_reader r;
        struct hub_frame frame;
        hub_frame_reader_init(&r);
        feed(&r, cases[i].bytes, cases[i].size);
        cr_expect_eq(hub_frame_next(&r, &frame, NULL), HUB_CORRUPT, "case %zu", i);
        hub_frame_reader_dispose(&r);
    }
    struct hub_frame_writer w;
    hub_frame_writer_init(&w, 1000);
    hub_frame_begin(&w, HUB_FRAME_FACT);
    hub_frame_text(&w, (struct hub_view){"x", HUB_MAX_MESSAGE + (size_t)1});
    cr_expect_eq(hub_frame_end(&w, NULL), HUB_TOO_BIG);
    hub_frame_writer_dispose(&w);
}
