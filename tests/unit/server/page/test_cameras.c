/* What is said of cameras, and which fields are pictures. */
#include "server/page/camera_words.h"
#include "server/page/posters.h"
#include "tests/support/page_kit.h"

#include <criterion/criterion.h>
#include <math.h>

Test(cameras, words)
{
    static const struct {
        const char *codecs, *name;
    } cases[] = {{"avc1.64001e", "H.264"},
                 {"av01.0.04M.08", "AV1"},
                 {"hvc1.1.6.L93.B0", "HEVC"},
                 {"hev1.1.6.L30.90", "HEVC"},
                 {"vp09.00.10.08", "VP9"},
                 {"mp4v.20.241", "MPEG-4 Part 2"},
                 {"jpeg", "JPEG"},
                 {"png", "PNG"},
                 {"uint16", "uint16"},
                 {"", ""}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect(hub_view_is(page_codec(hub_view_of(cases[i].codecs)), cases[i].name), "%s",
                  cases[i].codecs);
}

Test(cameras, rates)
{
    static const struct {
        const char *media;
        double rate;
    } cases[] = {{"{\"fps\":\"30000/1001\"}", 30000 / 1001.0},
                 {"{\"fps\":\"10/1\"}", 10},
                 {"{\"fps\":\"10/0\"}", 0},
                 {"{\"fps\":\"10\"}", 0},
                 {"{\"fps\":\"/\"}", 0},
                 {"{}", 0}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *media = page_kit_json(cases[i].media);
        cr_expect(fabs(page_rate(media) - cases[i].rate) < 1e-9, "%s", cases[i].media);
    }
}

Test(cameras, fields)
{
    HUB_CLEANUP(hub_json_decrefp)
    json_t *dataset = page_kit_json("{\"fields\":["
                                    "{\"path\":\"obs/front/rgb\",\"type\":\"image\"},"
                                    "{\"path\":\"obs/wrist/rgb\",\"type\":\"image\"},"
                                    "{\"path\":\"obs/wrist/depth\",\"type\":\"number\",\"picture\":{}},"
                                    "{\"path\":\"obs/wrist/intrinsic_cv\",\"type\":\"number\"},"
                                    "{\"path\":\"obs.tiff\",\"type\":\"bytes\"}],"
                                    "\"cameras\":[{\"camera\":\"obs.tiff\",\"type\":\"image\"}]}");
    static const struct {
        const char *label;
        bool is_picture, is_matrix, is_unshown;
    } cases[] = {{"front/rgb", true, false, false},
                 {"wrist/rgb", true, false, false},
                 {"depth", true, false, false},
                 {"intrinsic_cv", false, true, false},
                 {"tiff", false, false, true}};
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(dataset, "fields"), i, field)
    {
        const struct hub_view label = page_picture_label(dataset, page_text(field, "path"));
        cr_expect(hub_view_is(label, cases[i].label), "%zu: %s", i, label.data);
        cr_expect_eq(page_is_picture(field), cases[i].is_picture, "%zu", i);
        cr_expect_eq(page_is_camera_matrix(field), cases[i].is_matrix, "%zu", i);
        cr_expect_eq(page_is_unshown(dataset, field), cases[i].is_unshown, "%zu", i);
    }
    cr_expect(hub_view_is(page_row_camera(dataset).name, "obs/front/rgb") &&
              !page_row_camera(dataset).is_video);
}
