/* storage/worker/sink*.c: what a driver says, as the frames that the hub reads. */
#include "storage/inspect/text.h"
#include "storage/worker/sink.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

static const struct hub_file_entry entries[] = {{{"data.h5", 7}, 4096, false}};
static const struct hub_files files = {.entries = entries, .count = 1};
static struct hub_frame_writer writer;
static struct hub_frame_reader reader;
static struct hub_sink *sink;

static enum hub_status keep(void *user, struct hub_frame_writer *w, struct hub_error *err)
{
    (void)user, (void)w;
    return hub_fail(err, HUB_TOO_BIG, "more than a test says");
}

static void begin(void)
{
    hub_frame_writer_init(&writer, MIB);
    hub_frame_reader_init(&reader);
    cr_assert_eq(hub_sink_new(&files, &writer, keep, NULL, &sink, NULL), HUB_OK);
}

static void end(void)
{
    hub_sink_freep(&sink);
    hub_frame_writer_dispose(&writer);
    hub_frame_reader_dispose(&reader);
}

TestSuite(sink, .init = begin, .fini = end);

/* The next frame that was written, of this type; its payload. */
static struct hub_cursor next(uint8_t type)
{
    struct hub_frame frame = {0};
    for (size_t at = 0, n; at < writer.out.size; at += n) {
        void *room;
        size_t space;
        cr_assert_eq(hub_frame_room(&reader, &room, &space, NULL), HUB_OK);
        n = HUB_MIN(space, writer.out.size - at);
        memcpy(room, writer.out.data + at, n);
        hub_frame_filled(&reader, n);
    }
    writer.out.size = 0;
    cr_assert_eq(hub_frame_next(&reader, &frame, NULL), HUB_OK);
    cr_assert_eq(frame.type, type, "%u", frame.type);
    return hub_cursor_of(frame.data, frame.size);
}

static void expect_text(struct hub_cursor *c, const char *text)
{
    const struct hub_view got = hub_cursor_text(c, HUB_MAX_TEXT);
    cr_expect(hub_view_is(got, text), "'%.*s', not '%s'", (int)got.size, got.data, text);
}

static void expect_problem(const char *code, const char *path, const char *detail)
{
    struct hub_cursor c = next(HUB_FRAME_PROBLEM);
    expect_text(&c, code);
    expect_text(&c, path);
    expect_text(&c, detail);
}

/* ---- facts ---- */

Test(sink, facts)
{
    static const struct {
        const char *key, *text, *sent; /* NULL: a problem instead */
    } cases[] = {
        {"id", "D4RL/pen-v1", "D4RL/pen-v1"},
        {"fps", "30", "30"},
        {"metadata", "{'best': NaN}", NULL},              /* quotes of Python's are no JSON */
        {"statistics", "{\"a\":NaN}", "{\"a\":\"NaN\"}"}, /* as Python writes it */
        {"authors", "{}", NULL},                          /* an array is meant */
        {"claimed_episodes", "12", "12"},
        {"claimed_steps", "many", NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_assert_eq(hub_sink_fact(sink, cases[i].key, hub_view_of(cases[i].text), NULL), HUB_OK);
    cr_assert_eq(hub_sink_finish(sink, NULL), HUB_OK);
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        if (!cases[i].sent)
            continue;
        struct hub_cursor c = next(HUB_FRAME_FACT);
        expect_text(&c, cases[i].key);
        expect_text(&c, cases[i].sent);
    }
    expect_problem("bad-metadata", "metadata", "not shown: not a value of the right type");
    expect_problem("bad-metadata", "authors", "not shown: not a value of the right type");
    expect_problem("bad-metadata", "claimed_steps", "not shown: not a value of the right type");
}

Test(sink, of_a_fact_the_first_value_counts)
{
    cr_assert_eq(hub_sink_fact(sink, "id", HUB_VIEW("a-v0"), NULL), HUB_OK);
    cr_assert_eq(hub_sink_fact(sink, "id", HUB_VIEW("b-v0"), NULL), HUB_OK);
    cr_expect_eq(hub_sink_fact(sink, "colour", HUB_VIEW("red"), NULL), HUB_INVALID, "a driver's own fault");
    cr_assert_eq(hub_sink_finish(sink, NULL), HUB_OK);
    struct hub_cursor c = next(HUB_FRAME_FACT);
    expect_text(&c, "id");
    expect_text(&c, "a-v0");
    expect_problem("repeated-metadata", "id", "it occurs twice; the first one is used");
}

/* ---- parts ---- */

Test(sink, names_of_parts)
{
    static const uint32_t numbers[] = {0, 7};
    const struct hub_part good = {.name = HUB_VIEW("main_data.hdf5"), .files = numbers, .file_count = 2},
                          nameless = {.name = HUB_VIEW("")}, line = {.name = HUB_VIEW("a\nb")};
    cr_assert_eq(hub_sink_part(sink, &good, NULL), HUB_OK);
    cr_expect_eq(hub_sink_part(sink, &nameless, NULL), HUB_CORRUPT);
    cr_expect_eq(hub_sink_part(sink, &line, NULL), HUB_CORRUPT);
    struct hub_cursor c = next(HUB_FRAME_PART);
    expect_text(&c, "main_data.hdf5");
    expect_text(&c, "");
    cr_expect_eq(hub_cursor_u32(&c), 2);
    cr_expect_eq(hub_cursor_u32(&c), 0);
    cr_expect_eq(hub_cursor_u32(&c), 7);
}

/* ---- fields ---- */

static uint32_t field(const char *path, enum hub_field_type type)
{
    const struct hub_field f = {.path = hub_view_of(path), .type = type, .axis = HUB_AXIS_STEP};
    uint32_t number = 99;
    cr_assert_eq(hub_sink_field(sink, &f, &number, NULL), HUB_OK);
    return number;
}

Test(sink, a_bad_field_hides_no_other)
{
    cr_expect_eq(field("actions", HUB_FIELD_TEXT), 0);
    cr_expect_eq(field("a/../b", HUB_FIELD_NUMBER), 1);
    cr_expect_eq(field("rewards", HUB_FIELD_NUMBER), 2);
    cr_expect_eq(field("actions", HUB_FIELD_NUMBER), 0, "the same again");
    cr_expect_eq(hub_sink_find_field(sink, HUB_VIEW("rewards")), 2);
    cr_expect_eq(hub_sink_find_field(sink, HUB_VIEW("states")), HUB_NONE);
    cr_assert_eq(hub_sink_finish(sink, NULL), HUB_OK);
    struct hub_cursor c = next(HUB_FRAME_FIELD);
    expect_text(&c, "actions");
    cr_expect_eq(hub_cursor_u8(&c), HUB_FIELD_NUMBER, "what was said last");
    c = next(HUB_FRAME_FIELD);
    expect_text(&c, "rewards");
    expect_problem("bad-field-name", "a/../b",
                   "not shown: its name is too long, not UTF-8, or has an empty, '.' or '..' segment");
}

Test(sink, many_fields_keep_their_numbers)
{
    char path[16];
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(path, sizeof path, "f%u", i);
        cr_assert_eq(field(path, HUB_FIELD_NUMBER), i);
    }
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(path, sizeof path, "f%u", i);
        cr_assert_eq(hub_sink_find_field(sink, hub_view_of(path)), i);
    }
}

/* ---- episodes ---- */

static struct hub_cursor episode(const struct hub_episode *e)
{
    uint32_t index = 99;
    cr_assert_eq(hub_sink_episode(sink, e, &index, NULL), HUB_OK);
    return next(HUB_FRAME_EPISODE);
}

Test(sink, an_episode)
{
    const struct hub_episode e = {.number = 7,
                                  .steps = 50,
                                  .name = HUB_VIEW("demo_7"),
                                  .seed = HUB_VIEW("42"),
                                  .has_return = true,
                                  .return_computed = true,
                                  .episode_return = 1.5,
                                  .success = 5,
                                  .terminated = 0,
                                  .truncated = -7};
    struct hub_cursor c = episode(&e);
    cr_expect_eq(hub_cursor_u64(&c), 7);
    cr_expect_eq(hub_cursor_u32(&c), 0);
    cr_expect_eq(hub_cursor_u64(&c), 50);
    cr_expect_eq(hub_cursor_u8(&c), 3);
    cr_expect_eq(hub_cursor_f64(&c), 1.5);
    cr_expect_eq(hub_cursor_u8(&c), 2, "true");
    cr_expect_eq(hub_cursor_u8(&c), 1, "false");
    cr_expect_eq(hub_cursor_u8(&c), 0, "unknown");
    expect_text(&c, "demo_7");
    expect_text(&c, "42");
}

Test(sink, an_attribute_says_success_where_nothing_else_does)
{
    static const struct {
        int8_t known, want;
        const char *attributes;
    } cases[] = {{-1, 1, "{\"success\": true}"},
                 {-1, 0, "{\"success\": false}"},
                 {-1, 1, "{\"success\": 1.0}"},
                 {-1, -1, "{\"success\": \"no\"}"},
                 {-1, -1, "{\"a\": {\"success\": true}}"},
                 {1, 1, "{\"success\": false}"},
                 {-1, -1, ""}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_episode e = {.success = cases[i].known,
                                      .attributes = hub_view_of(cases[i].attributes)};
        struct hub_cursor c = episode(&e);
        (void)hub_cursor_bytes(&c, 8 + 4 + 8 + 1 + 8);
        cr_expect_eq((int)hub_cursor_u8(&c) - 1, cases[i].want, "%s", cases[i].attributes);
    }
}

Test(sink, what_is_wrong_with_an_episode_is_left_out_and_said)
{
    const struct hub_episode e = {.number = INT64_MAX,
                                  .steps = UINT64_MAX,
                                  .name = HUB_VIEW("a\xff\n"),
                                  .attributes = HUB_VIEW("[1]"),
                                  .statistics = HUB_VIEW("{\"reward\": Infinity}")};
    struct hub_cursor c = episode(&e);
    cr_expect_eq((int64_t)hub_cursor_u64(&c), -1);
    (void)hub_cursor_u32(&c);
    cr_expect_eq(hub_cursor_u64(&c), 0);
    (void)hub_cursor_bytes(&c, 1 + 8 + 3);
    cr_expect(hub_line_valid(hub_cursor_text(&c, HUB_MAX_SHORT)));
    expect_text(&c, "");
    expect_text(&c, "");
    expect_text(&c, "");
    expect_text(&c, ""); /* attributes are an object */
    const struct hub_view statistics = hub_cursor_text(&c, HUB_MAX_ATTRIBUTES);
    cr_expect(hub_json_valid(statistics, HUB_JSON_OBJECT), "as Python writes it becomes strict");
    cr_assert_eq(hub_sink_finish(sink, NULL), HUB_OK);
    static const char *const codes[] = {"bad-attributes", "bad-number", "bad-steps"};
    for (size_t i = 0; i < HUB_COUNT(codes); i++) {
        c = next(HUB_FRAME_PROBLEM);
        expect_text(&c, codes[i]);
    }
}

/* ---- problems ---- */

static void problem(const char *code, unsigned number)
{
    char path[16];
    snprintf(path, sizeof path, "e%u", number);
    cr_assert_eq(hub_sink_problem(sink, code, hub_view_of(path), NULL, "number %u", number), HUB_OK);
}

Test(sink, three_of_a_kind_are_said_and_more_are_counted)
{
    for (unsigned i = 0; i < 3; i++)
        problem("few", i);
    for (unsigned i = 0; i < 1000; i++)
        problem("many", i);
    problem("NOT a name", 7);
    cr_assert_eq(hub_sink_finish(sink, NULL), HUB_OK);
    expect_problem("few", "e0", "number 0");
    expect_problem("few", "e1", "number 1");
    expect_problem("few", "e2", "number 2");
    expect_problem("many", "e0", "number 0 ... and 999 more");
    expect_problem("other", "e7", "number 7");
}

Test(sink, kinds_beyond_the_limit_are_counted)
{
    char code[16];
    for (unsigned i = 0; i < HUB_MAX_PROBLEMS + 4; i++) {
        snprintf(code, sizeof code, "kind-%u", i);
        problem(code, i);
    }
    cr_assert_eq(hub_sink_finish(sink, NULL), HUB_OK);
    for (unsigned i = 0; i < HUB_MAX_PROBLEMS - 1; i++)
        (void)next(HUB_FRAME_PROBLEM);
    expect_problem("more-problems", "", "5 further problems");
}

/* ---- layouts ---- */

static void add_array(uint32_t number, uint64_t rows)
{
    struct hub_layout_builder *b = NULL;
    const struct hub_variant variant = {.kind = HUB_KIND_FLOAT, .item_size = 4};
    const struct hub_piece piece = {
        .kind = HUB_PIECE_STRIDED, .rows = rows, .row_stride = 4, .geometry = HUB_NONE};
    uint32_t v = 0, array = 0;
    cr_assert_eq(hub_sink_layout(sink, number, &b, NULL), HUB_OK);
    cr_assert_eq(hub_layout_variant(b, &variant, &v, NULL), HUB_OK);
    cr_assert_eq(hub_layout_array(b, v, &array, NULL), HUB_OK);
    cr_assert_eq(hub_layout_piece(b, &piece, NULL), HUB_OK);
    cr_assert_eq(hub_layout_add_window(b, &(struct hub_window){0, array, 0, rows}, NULL), HUB_OK);
}

Test(sink, rows_beyond_the_end_of_their_file_are_refused)
{
    struct hub_layout_builder *none = NULL;
    uint32_t index;
    cr_assert_eq(hub_sink_episode(sink, &(struct hub_episode){.steps = 1024}, &index, NULL), HUB_OK);
    (void)next(HUB_FRAME_EPISODE);
    add_array(field("fits", HUB_FIELD_NUMBER), 1024); /* 4096 bytes */
    add_array(field("beyond", HUB_FIELD_NUMBER), 1025);
    cr_expect_eq(hub_sink_layout(sink, 2, &none, NULL), HUB_INVALID, "there is no such field");
    cr_assert_eq(hub_sink_finish(sink, NULL), HUB_OK);
    (void)next(HUB_FRAME_FIELD);
    (void)next(HUB_FRAME_FIELD);
    for (uint32_t i = 0; i < 2; i++) {
        struct hub_cursor c = next(HUB_FRAME_LAYOUT);
        struct hub_layout layout;
        cr_expect_eq(hub_cursor_u32(&c), i);
        const uint64_t size = hub_cursor_u64(&c);
        c = next(HUB_FRAME_LAYOUT_DATA);
        cr_assert_eq(hub_cursor_left(&c), size);
        HUB_CLEANUP(hub_freep) void *data = malloc(size); /* aligned, as a layout is */
        memcpy(data, hub_cursor_bytes(&c, size), size);
        cr_assert_eq(hub_layout_open(data, size, &layout, NULL), HUB_OK);
        const char *refusal = hub_layout_refusal(&layout, &layout.windows[0]);
        cr_expect_eq(refusal != NULL, i == 1);
        if (refusal)
            cr_expect_eq(strncmp(refusal, "damaged: ", 9), 0, "%s", refusal);
    }
}
