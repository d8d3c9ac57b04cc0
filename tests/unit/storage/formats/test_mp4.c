/* storage/formats/mp4 and storage/encode/mp4.c over the fixtures: codecs, counts, what is refused; cuts. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "storage/encode/mp4.h"
#include "storage/formats/mp4/mp4.h"
#include "tests/support/slurp.h"

static uint8_t *bytes;
static size_t size;

static void free_bytes(void)
{
    free(bytes);
}

TestSuite(mp4, .fini = free_bytes);

static enum hub_status read_fixture(const char *name, struct hub_mp4 *mp4, struct hub_error *err)
{
    struct hub_byte_source source;
    char path[64];
    snprintf(path, sizeof path, "mp4/%s.mp4", name);
    bytes = slurp(path, &size);
    hub_byte_source_memory(&source, bytes, size);
    return hub_mp4_read(&source, mp4, err);
}

struct file_case {
    char name[24], codecs[24];
    uint64_t samples;
    uint32_t keys;
};

ParameterizedTestParameters(mp4, codecs)
{
    static struct file_case cases[] = {
        {"h264", "avc1.64000a", 12, 1},
        {"h264-lerobot", "avc1.64000a", 12, 6},
        {"hevc", "hev1.1.6.L30.90", 12, 1},
        {"hevc-depth", "hev1.4.10.L255.99.C8", 12, 6},
        {"av1", "av01.0.00M.08", 12, 6},
        {"av1-long", "av01.0.00M.08", 12, 1},
        {"vp9", "vp09.00.10.08", 12, 1},
        {"mpeg4", "mp4v.20.241", 12, 1},
        {"front", "avc1.64000a", 12, 1},
        {"fragmented", "avc1.64000a", 60, 3},
        {"half-fragmented", "avc1.64000a", 60, 3},
        {"three", "av01.0.00M.08", 18, 9},
    };
    return cr_make_param_array(struct file_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct file_case *c, mp4, codecs)
{
    struct hub_mp4 mp4 = {0};
    struct hub_error err = {0};
    cr_assert_eq(read_fixture(c->name, &mp4, &err), HUB_OK, "%s: %s", c->name, err.detail);
    cr_expect_str_eq(mp4.codecs, c->codecs, "%s: %s", c->name, mp4.codecs);
    cr_expect_str_eq(mp4.problem, "", "%s: %s", c->name, mp4.problem);
    cr_expect_eq(mp4.samples, c->samples, "%s: %llu", c->name, (unsigned long long)mp4.samples);
    cr_expect_eq(mp4.keys, c->keys, "%s: %u", c->name, mp4.keys);
    cr_expect(mp4.width == 64 && mp4.height == 48 && mp4.fps_num == 30 && mp4.fps_den == 1);
    cr_expect_float_eq(mp4.seconds, (double)c->samples / 30, 1e-9);
    hub_mp4_dispose(&mp4);
}

struct hostile_case {
    char name[32], problem[16], why[72]; /* problem: the file is refused; else why it cannot be cut */
};

ParameterizedTestParameters(mp4, hostile)
{
    static struct hostile_case cases[] = {
        {"hostile-sizes", "bad-video", "sizes"},
        {"hostile-times", "", "another number of frames"},
        {"hostile-time-run", "", "another number of frames"},
        {"hostile-shifts", "", "another number of frames"},
        {"hostile-chunk-runs", "bad-video", "where all its frames are"},
        {"hostile-chunk-frames", "", ""}, /* there are no more than twelve */
        {"hostile-chunks", "bad-video", "where all its frames are"},
        {"hostile-offset", "bad-video", "with frames outside its file"},
        {"hostile-keys", "", "key frames"},
        {"hostile-key", "", "key frames"},
        {"hostile-backwards-key", "", "key frames"},
        {"hostile-no-timescale", "bad-video", "neither codec nor duration"},
        {"hostile-box", "bad-video", "damaged"},
        {"hostile-deep", "bad-video", "damaged"},
        {"hostile-run", "bad-video", "that it does not have"},
        {"hostile-encrypted", "", "encrypted"},
        {"hostile-cut", "cut-video", "200 bytes are missing"},
        {"hostile-short", "cut-video", "missing"},
    };
    return cr_make_param_array(struct hostile_case, cases, HUB_COUNT(cases));
}

ParameterizedTest(struct hostile_case *c, mp4, hostile)
{
    struct hub_mp4 mp4 = {0};
    struct hub_error err = {0};
    const enum hub_status st = read_fixture(c->name, &mp4, &err);
    cr_expect_str_eq(hub_problem_name(err.problem), c->problem, "%s: %s", c->name, err.detail);
    cr_expect_eq(st != HUB_OK, c->problem[0] != '\0');
    cr_expect_not_null(strstr(st ? err.detail : mp4.problem, c->why), "%s: %s%s", c->name, err.detail,
                       mp4.problem);
    cr_expect_eq(mp4.table.size != 0, !st && !mp4.problem[0], "%s", c->name);
    hub_mp4_dispose(&mp4);
}

static uint32_t be32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return __builtin_bswap32(value);
}

static const char *box(const struct hub_buf *head, const char *type)
{
    return (const char *)memmem(head->data, head->size, type, 4) + 4;
}

/* Three episodes of six frames, a key frame every second one: the second is frames 6 to 11 and nothing
 * else. */
Test(mp4, a_cut_is_one_run_of_bytes)
{
    struct hub_mp4 mp4 = {0};
    struct hub_video video;
    struct hub_mp4_cut cut, whole;
    struct hub_buf head = HUB_BUF_INIT(64 * KIB);
    cr_assert_eq(read_fixture("three", &mp4, NULL), HUB_OK);
    cr_assert_eq(hub_video_open(mp4.table.data, mp4.table.size, &video, NULL), HUB_OK);
    cr_assert_eq(hub_mp4_cut(&video, 0, 18, &head, &whole, NULL), HUB_OK);
    head.size = 0;
    cr_assert_eq(hub_mp4_cut(&video, 6, 6, &head, &cut, NULL), HUB_OK);
    cr_expect(cut.offset > whole.offset && cut.offset + cut.length < whole.offset + whole.length);
    cr_expect_eq(be32(box(&head, "stsz") + 8), 6);
    cr_expect_eq(be32(box(&head, "stss") + 4), 3);
    cr_expect_eq(be32(box(&head, "co64") + 12), head.size, "its bytes follow the head");
    cr_expect_eq(be32(box(&head, "mdat") - 8), cut.length + 8);
    head.size = 0; /* frame 9 is no key frame: 8 comes along, and is hidden */
    cr_assert_eq(hub_mp4_cut(&video, 9, 1, &head, &cut, NULL), HUB_OK);
    cr_expect_eq(be32(box(&head, "stsz") + 8), 2);
    cr_expect_eq(be32(box(&head, "elst") + 20), be32(box(&head, "stts") + 12), "media_time is one frame");
    hub_buf_dispose(&head);
    hub_mp4_dispose(&mp4);
}

/* Nearest to a time: by the frame rate, or by the frames' own times where they are not regular. */
Test(mp4, frames_are_found_by_time)
{
    int64_t times[] = {0, 10, 15, 40};
    struct hub_mp4 even = {.fps_num = 30000, .fps_den = 1001, .timescale = 30000}, uneven = even;
    uneven.times = (struct hub_buf){.data = (char *)times, .size = sizeof times};
    uneven.timescale = 10;
    uneven.fps_num = 2;
    uneven.fps_den = 1;
    cr_expect_eq(hub_mp4_frame_at(&even, 0), 0);
    cr_expect_eq(hub_mp4_frame_at(&even, 2000 * 1001 / 30000.0), 2000);
    const struct {
        double seconds;
        uint64_t frame;
    } cases[] = {{0, 0},   {0.4, 0}, {0.6, 1}, {1, 1},   {1.2, 1}, {1.3, 2},
                 {2.7, 2}, {2.8, 3}, {4, 3},   {4.6, 4}, {9, 13}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_eq(hub_mp4_frame_at(&uneven, cases[i].seconds), cases[i].frame, "%g s", cases[i].seconds);
}

/* The hub believes a table only as far as it cannot do harm. */
Test(mp4, tables_are_proven)
{
    struct hub_mp4 mp4 = {0};
    struct hub_video video;
    cr_assert_eq(read_fixture("h264", &mp4, NULL), HUB_OK);
    const size_t all = mp4.table.size;
    cr_assert_eq(hub_video_open(mp4.table.data, all - 4, &video, NULL), HUB_CORRUPT);
    cr_assert_eq(hub_video_open(mp4.table.data, 16, &video, NULL), HUB_CORRUPT);
    cr_assert_eq(hub_video_open(mp4.table.data, all, &video, NULL), HUB_OK);
    cr_expect_eq(hub_video_check(&video, 100, NULL), HUB_CORRUPT, "its frames lie beyond");
    for (size_t at = 4; at + 4 <= all - video.head->description_size; at += 4) {
        uint32_t before, most = UINT32_MAX;
        memcpy(&before, mp4.table.data + at, 4);
        memcpy(mp4.table.data + at, &most, 4);
        struct hub_video bent;
        if (!hub_video_open(mp4.table.data, all, &bent, NULL) && !hub_video_check(&bent, size, NULL)) {
            struct hub_buf head = HUB_BUF_INIT(hub_mp4_head_bytes(&bent));
            struct hub_mp4_cut cut;
            if (bent.head->shown && !hub_mp4_cut(&bent, 0, bent.head->shown, &head, &cut, NULL))
                cr_expect(cut.offset + cut.length <= size);
            hub_buf_dispose(&head);
        }
        memcpy(mp4.table.data + at, &before, 4);
    }
    hub_mp4_dispose(&mp4);
}
