/* storage/model/picture.c */
#include "storage/model/picture.h"

#include <criterion/criterion.h>

/* dims end at their first zero */
static struct hub_variant variant_of(enum hub_kind kind, uint32_t item_size, const uint32_t *dims)
{
    struct hub_variant v = {.kind = (uint8_t)kind, .item_size = item_size};
    for (; dims[v.rank]; v.rank++)
        v.dims[v.rank] = dims[v.rank];
    return v;
}

Test(picture, layouts)
{
    static const struct {
        uint32_t dims[6];
        const char *layout; /* NULL: no picture */
        uint32_t frames, height, width, channels;
    } cases[] = {
        {{84, 84}, "HW", 1, 84, 84, 1},
        {{5, 7, 3}, "HWC", 1, 5, 7, 3},
        {{84, 80, 4}, "HWC", 1, 84, 80, 4},
        {{84, 84, 4}, "HWC", 4, 84, 84, 1}, /* Atari, channels last */
        {{4, 84, 84}, "CHW", 4, 84, 84, 1}, /* and first */
        {{3, 64, 48}, "CHW", 1, 64, 48, 3},
        {{1, 64, 48}, "CHW", 1, 64, 48, 1},
        {{12, 96, 96}, "CHW", 4, 96, 96, 3}, /* il-representations: MAGICAL, procgen */
        {{9, 100, 100}, "CHW", 3, 100, 100, 3},
        {{64, 64, 6}, "HWC", 2, 64, 64, 3},
        {{64, 64, 2}, "HWC", 2, 64, 64, 1},
        {{5, 32, 40, 3}, "NHWC", 5, 32, 40, 3},
        {{2, 3, 32, 40}, "NCHW", 2, 32, 40, 3},
        {{3, 7, 7}, NULL, 0, 0, 0, 0}, /* a grid of a small world */
        {{17, 64, 64}, NULL, 0, 0, 0, 0},
        {{2, 3, 7, 7}, NULL, 0, 0, 0, 0},
        {{65, 32, 32, 3}, NULL, 0, 0, 0, 0},
        {{2, 2, 3, 32, 32}, NULL, 0, 0, 0, 0},
        {{64}, NULL, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_variant v = variant_of(HUB_KIND_UINT, 1, cases[i].dims);
        struct hub_picture p;
        cr_assert_eq(hub_picture_of(&v, &p), cases[i].layout != NULL, "case %zu", i);
        if (!cases[i].layout)
            continue;
        cr_expect_str_eq(p.layout, cases[i].layout, "case %zu", i);
        cr_expect(p.frames == cases[i].frames && p.height == cases[i].height && p.width == cases[i].width &&
                      p.channels == cases[i].channels,
                  "case %zu: %u frames of %u x %u x %u", i, p.frames, p.height, p.width, p.channels);
        const uint64_t last = (p.frames - 1) * p.stride.frame + (p.height - 1) * p.stride.line +
                              (p.width - 1) * p.stride.column + (p.channels - 1) * p.stride.channel;
        cr_expect_eq(last + 1, hub_variant_row_items(&v), "case %zu: its last sample is the row's", i);
    }
}

Test(picture, grids)
{
    static const struct {
        enum hub_kind kind;
        uint32_t item_size, dims[4];
        bool is_grid;
    } cases[] = {
        {HUB_KIND_FLOAT, 4, {8, 8}, true},       {HUB_KIND_FLOAT, 8, {16, 12}, true},
        {HUB_KIND_INT, 4, {64, 9}, true},        {HUB_KIND_FLOAT, 4, {7, 8}, false},
        {HUB_KIND_FLOAT, 4, {4, 4}, false},      {HUB_KIND_FLOAT, 4, {64}, false},
        {HUB_KIND_FLOAT, 4, {16, 16, 3}, false}, {HUB_KIND_UINT, 1, {16, 16}, false},
        {HUB_KIND_INT, 8, {16, 16}, false},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_variant v = variant_of(cases[i].kind, cases[i].item_size, cases[i].dims);
        cr_expect_eq(hub_picture_is_grid(&v), cases[i].is_grid, "case %zu", i);
    }
}

Test(picture, what_is_called_one)
{
    static const struct {
        const char *path;
        enum hub_kind kind;
        uint32_t item_size;
        uint32_t dims[5];
        enum hub_field_type expected, other; /* as an observation, and not */
    } cases[] = {
        {"x", HUB_KIND_UINT, 1, {5, 7, 3}, HUB_FIELD_IMAGE_RAW, HUB_FIELD_IMAGE_RAW},
        {"x", HUB_KIND_UINT, 1, {4, 7, 3}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"a/picture", HUB_KIND_UINT, 1, {4, 7, 3}, HUB_FIELD_IMAGE_RAW, HUB_FIELD_IMAGE_RAW},
        {"x", HUB_KIND_UINT, 1, {3, 64, 64}, HUB_FIELD_IMAGE_RAW, HUB_FIELD_IMAGE_RAW},
        {"x", HUB_KIND_UINT, 1, {64, 64}, HUB_FIELD_IMAGE_RAW, HUB_FIELD_NUMBER},
        {"x", HUB_KIND_UINT, 1, {12, 64, 64}, HUB_FIELD_IMAGE_RAW, HUB_FIELD_NUMBER},
        {"x", HUB_KIND_UINT, 1, {84, 84, 4}, HUB_FIELD_IMAGE_RAW, HUB_FIELD_NUMBER},
        {"x", HUB_KIND_UINT, 1, {7, 9}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"image", HUB_KIND_UINT, 1, {3, 7, 7}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"a_depth", HUB_KIND_FLOAT, 4, {6, 8, 1}, HUB_FIELD_IMAGE_NUMBER, HUB_FIELD_IMAGE_NUMBER},
        {"Depth/left", HUB_KIND_UINT, 2, {6, 8}, HUB_FIELD_IMAGE_NUMBER, HUB_FIELD_IMAGE_NUMBER},
        {"cam/depth", HUB_KIND_INT, 2, {1, 64, 64}, HUB_FIELD_IMAGE_NUMBER, HUB_FIELD_IMAGE_NUMBER},
        {"depth", HUB_KIND_FLOAT, 4, {3, 3}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"depth", HUB_KIND_FLOAT, 4, {0}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"depthwise", HUB_KIND_FLOAT, 4, {64, 64}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"obs", HUB_KIND_FLOAT, 4, {64, 64}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"obs", HUB_KIND_FLOAT, 4, {3, 64, 64}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"obs/rgb", HUB_KIND_FLOAT, 4, {3, 64, 64}, HUB_FIELD_IMAGE_NUMBER, HUB_FIELD_IMAGE_NUMBER},
        {"obs/image", HUB_KIND_FLOAT, 8, {2, 3, 64, 64}, HUB_FIELD_IMAGE_NUMBER, HUB_FIELD_IMAGE_NUMBER},
        {"obs/image", HUB_KIND_FLOAT, 4, {3, 7, 7}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"obs/image", HUB_KIND_UINT, 2, {64, 64, 3}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
        {"obs/image", HUB_KIND_BOOL, 1, {64, 64, 3}, HUB_FIELD_NUMBER, HUB_FIELD_NUMBER},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_variant v = variant_of(cases[i].kind, cases[i].item_size, cases[i].dims);
        const struct hub_view path = hub_view_of(cases[i].path);
        cr_expect_eq(hub_picture_type(&v, path, true), cases[i].expected, "case %zu", i);
        cr_expect_eq(hub_picture_type(&v, path, false), cases[i].other, "case %zu", i);
    }
}

static void expect_document(enum hub_field_type type, const char *dtype, const char *shape,
                            const char *wanted)
{
    struct hub_error err = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(KIB);
    struct hub_json json = hub_json_to(&out, &err);
    hub_json_object(&json);
    hub_picture_put_named(&json, type, dtype, hub_view_of(shape));
    hub_json_end_object(&json);
    cr_assert_eq(hub_json_status(&json), HUB_OK);
    cr_expect_str_eq(out.data, wanted);
}

Test(picture, documents)
{
    expect_document(
        HUB_FIELD_IMAGE_RAW, "uint8", "[12,96,96]",
        "{\"picture\":{\"layout\":\"CHW\",\"frames\":4,\"height\":96,\"width\":96,\"channels\":3}}");
    expect_document(HUB_FIELD_IMAGE_NUMBER, "float32", "[6, 8, 1]",
                    "{\"picture\":{\"layout\":\"HWC\",\"frames\":1,\"height\":6,\"width\":8,\"channels\":1,"
                    "\"range\":\"row\"}}");
    expect_document(HUB_FIELD_IMAGE_RAW, "uint8", "[null,96,3]", "{}");
    expect_document(HUB_FIELD_IMAGE_JPEG, "bytes", "[]", "{\"encoding\":\"jpeg\"}");
    expect_document(HUB_FIELD_IMAGE_PNG, "bytes", "[]", "{\"encoding\":\"png\"}");
    expect_document(HUB_FIELD_NUMBER, "float32", "[16, 12]",
                    "{\"picture\":{\"layout\":\"HW\",\"frames\":1,\"height\":16,\"width\":12,\"channels\":1,"
                    "\"range\":\"row\"}}");
    expect_document(HUB_FIELD_NUMBER, "float32", "[4, 4]", "{}");
    expect_document(HUB_FIELD_IMAGE_RAW, NULL, NULL, "{}");
    expect_document(HUB_FIELD_NUMBER, "uint8", "[12,96,96]", "{}");
}
