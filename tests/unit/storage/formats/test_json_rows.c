/* Numbers inside rows of JSON as fields: of episodes that are handed in row by row, through the sink and the
 * hub's proofs. */
#include "storage/formats/kit/json_rows.h"
#include "storage/inspect/proof.h"
#include "storage/worker/sink.h"
#include "tests/fuzz/memory_files.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct memory_files memory;
static struct hub_json_rows rows;
static struct hub_findings found;
static struct hub_findings_reader reader;
static struct hub_frame_reader frames;
static struct hub_frame_writer w;
static struct hub_sink *sink;
static struct hub_job job;

static enum hub_status flush(void *user, struct hub_frame_writer *out, struct hub_error *err)
{
    struct hub_frame frame;
    (void)user;
    for (size_t at = 0, n; at < out->out.size; at += n) {
        void *room;
        size_t space;
        HUB_TRY(hub_frame_room(&frames, &room, &space, err));
        n = HUB_MIN(space, out->out.size - at);
        memcpy(room, out->out.data + at, n);
        hub_frame_filled(&frames, n);
        for (;;) {
            HUB_TRY(hub_frame_next(&frames, &frame, err));
            if (!frame.type)
                break;
            HUB_TRY(hub_findings_take(&reader, &frame, err));
        }
    }
    out->out.size = 0;
    return HUB_OK;
}

static void set_up(void)
{
    memory_files_init(&memory);
    memory_files_add(&memory, "a.h5", "0123456789", 10);
    static const struct hub_job_file file = {"a.h5", 10, false};
    job = (struct hub_job){.kind = HUB_JOB_INSPECT, .files = &file, .file_count = 1, .side_fd = -1};
    reader = (struct hub_findings_reader){.job = &job, .found = &found};
    hub_frame_reader_init(&frames);
    hub_frame_writer_init(&w, (size_t)4 * HUB_MAX_MESSAGE);
    cr_assert_eq(hub_sink_new(&memory.files, &w, flush, NULL, &sink, NULL), HUB_OK);
    rows = (struct hub_json_rows){.files = &memory.files, .narrow = true};
}

static void tear_down(void)
{
    hub_json_rows_dispose(&rows);
    hub_findings_dispose(&found);
    hub_sink_freep(&sink);
    hub_frame_writer_dispose(&w);
    hub_frame_reader_dispose(&frames);
    memory_files_dispose(&memory);
}

TestSuite(json_rows, .init = set_up, .fini = tear_down);

/* An episode with these rows, a NULL behind them; "" is one that is no JSON. */
static void episode(const char *const *texts)
{
    const struct hub_field field = {.path = HUB_VIEW("rows"), .axis = HUB_AXIS_STATE};
    struct hub_episode e = hub_episode_of(HUB_VIEW("episode"), 0, 1);
    uint32_t index, count = 0;
    while (texts[count])
        count++;
    cr_assert_eq(hub_sink_episode(sink, &e, &index, NULL), HUB_OK);
    cr_assert_eq(hub_json_rows_begin(&rows, &field, index, count, NULL), HUB_OK);
    for (uint32_t i = 0; i < count; i++)
        cr_assert_eq(hub_json_rows_take(&rows, hub_view_of(texts[i]), NULL), HUB_OK);
    cr_assert_eq(hub_json_rows_end(&rows, NULL), HUB_OK);
}
#define EPISODE(...) episode((const char *const[]){__VA_ARGS__, NULL})

static void finish(void)
{
    struct hub_error err = {0};
    cr_assert_eq(hub_json_rows_finish(&rows, sink, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_sink_finish(sink, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(flush(NULL, &w, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_findings_finish(&reader, memory.files.side_size, &err), HUB_OK, "%s", err.detail);
}

/* "int64 r", "float32 -", "bool why": the element of a field, and how each episode's rows are: read, absent,
 * or refused. */
static void expect(const char *path, const char *wanted)
{
    struct hub_layout layout;
    char text[256] = "", dtype[24] = "none";
    for (uint32_t i = 0; i < found.field_count; i++) {
        const struct hub_found_field *f = &found.fields[i];
        if (strcmp(f->path, path) != 0)
            continue;
        cr_assert_eq(hub_layout_open(f->layout, f->layout_size, &layout, NULL), HUB_OK);
        if (layout.counts[HUB_T_VARIANTS])
            hub_variant_name(&layout.variants[0], f->type, dtype);
        cr_expect_leq(layout.counts[HUB_T_VARIANTS], 1, "%s: all episodes are of one type", path);
        size_t n = (size_t)snprintf(text, sizeof text, "%s", dtype);
        for (uint32_t e = 0; e < found.episode_count; e++) {
            const struct hub_window *window = hub_layout_window(&layout, e);
            const char *why = window ? hub_layout_refusal(&layout, window) : NULL;
            n += (size_t)snprintf(text + n, sizeof text - n, " %s", why ? why : window ? "r" : "-");
        }
    }
    cr_expect_str_eq(text, wanted, "%s: %s", path, text);
}

Test(json_rows, integers_that_are_floats_elsewhere)
{
    EPISODE("{\"a\":1,\"b\":1,\"c\":1}", "{\"a\":2,\"b\":2,\"c\":33554433}", "{\"a\":3,\"b\":3,\"c\":3}");
    EPISODE("{\"a\":1.5,\"b\":1,\"c\":0.5}", "{\"a\":2,\"b\":2,\"c\":2}", "{\"a\":3,\"b\":3,\"c\":3}");
    finish();
    expect("rows/a", "float32 r r");
    expect("rows/b", "int64 r r");
    expect("rows/c", "float64 r r"); /* one is beyond 2^24 */
}

Test(json_rows, types_that_differ)
{
    EPISODE("{\"a\":true,\"b\":1}", "{\"a\":true,\"b\":2}", "{\"a\":false,\"b\":[3]}");
    EPISODE("{\"a\":1}", "{\"a\":2,\"b\":2}", "{\"a\":3}");
    EPISODE("{\"a\":true,\"b\":1}", "{\"a\":1,\"b\":1}", "{\"b\":1}");
    EPISODE("{\"a\":true}", "{\"a\":true}", "{}");
    finish();
    expect("rows/a", "bool r type differs from other episodes type differs at row 1 no value at row 2");
    expect("rows/b", "float32 shape differs at row 2 r r -");
}

Test(json_rows, rows_without_a_value)
{
    EPISODE("{}", "{\"a\":1}", "{\"done\":true}");
    EPISODE("", "{\"b\":[1]}", "{\"b\":[2],\"a\":1}");
    EPISODE("{\"a\":1}");
    finish();
    expect("rows/a", "float32 r - r");
    expect("rows/b", "float32 - r -");
    expect("rows/done", "");
    cr_expect_eq(found.problem_count, 0);
}

/* Where no episode agrees with itself there is no field, and nothing is reported. */
Test(json_rows, never_of_one_shape)
{
    EPISODE("{\"a\":[1],\"b\":1}", "{\"a\":[1,2],\"b\":\"x\"}", "{}");
    finish();
    expect("rows/a", "");
    expect("rows/b", "");
    cr_expect_eq(found.field_count + found.problem_count, 0);
}

Test(json_rows, no_room_is_a_reason)
{
    memory.files.side_budget = 40;
    EPISODE("{\"a\":1,\"b\":[1,1,1,1]}", "{\"a\":1,\"b\":[2,1,1,1]}", "{\"a\":1,\"b\":[3,1,1,1]}");
    finish();
    expect("rows/a", "int64 r");
    expect("rows/b", "none side-file budget");
}

Test(json_rows, a_ceiling_for_values)
{
    static char text[64 * 1024] = "{\"a\":1";
    size_t n = strlen(text);
    for (unsigned i = 0; i < 200; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, ",\"k%u\":%u", i, i);
    snprintf(text + n, sizeof text - n, "}");
    EPISODE(text, text);
    finish();
    cr_expect_eq(found.field_count, HUB_JSON_ROWS_VALUES);
    cr_assert_eq(found.problem_count, 1);
    cr_expect_str_eq(found.problems[0].code, "too-many-fields");
    cr_expect_str_eq(found.problems[0].path, "rows");
}

/* Of an episode that is larger than what may be in memory the numbers are refused, before any is kept. */
Test(json_rows, a_ceiling_for_memory)
{
    const struct hub_field field = {.path = HUB_VIEW("rows"), .axis = HUB_AXIS_STATE};
    struct hub_episode e = hub_episode_of(HUB_VIEW("episode"), 0, 1);
    uint32_t index;
    cr_assert_eq(hub_sink_episode(sink, &e, &index, NULL), HUB_OK);
    cr_assert_eq(hub_json_rows_begin(&rows, &field, index, 40 * MIB, NULL), HUB_OK);
    for (unsigned i = 0; i < 3; i++)
        cr_assert_eq(hub_json_rows_take(&rows, HUB_VIEW("{\"a\":1}"), NULL), HUB_OK);
    rows.rows = 3; /* so that the rows end here */
    cr_assert_eq(hub_json_rows_end(&rows, NULL), HUB_OK);
    finish();
    expect("rows/a", "none more than 256 MiB of numbers");
}
