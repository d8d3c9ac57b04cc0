/* Names in a Minari dataset: episodes, where links lead, where a space says that pictures are. */
#include "storage/formats/minari/minari.h"

#include <criterion/criterion.h>

Test(minari_names, episodes)
{
    static const struct {
        const char *name;
        int64_t number; /* -1: none */
    } cases[] = {
        {"episode_0", 0},
        {"episode_12", 12},
        {"episode_999999999999999999", 999999999999999999},
        {"episode_", -1},
        {"episode_01", -1},
        {"episode_-1", -1},
        {"episode_1x", -1},
        {"episode_+1", -1},
        {"Episode_1", -1},
        {"episodes_1", -1},
        {"episode_9999999999999999999", -1},
        {"", -1},
        {"episode_00", -1},
        {"episode_ 1", -1},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        int64_t number = -1;
        const bool good = hub_numbered(hub_view_of(cases[i].name), "episode_", &number);
        cr_expect(good == (cases[i].number >= 0) && number == cases[i].number, "%s: %lld", cases[i].name,
                  (long long)number);
    }
}

Test(minari_names, links_stay_inside_data)
{
    static const struct hub_file_entry entries[] = {{.path = {"data/additional_data_0.hdf5", 27}},
                                                    {.path = {"data/main_data.hdf5", 19}},
                                                    {.path = {"secret.hdf5", 11}}};
    const struct hub_files files = {.entries = entries, .count = HUB_COUNT(entries)};
    static const struct {
        const char *name;
        enum minari_link kind;
    } cases[] = {
        {"additional_data_0.hdf5", MINARI_LINK_GOOD},
        {"./additional_data_0.hdf5", MINARI_LINK_GOOD},
        {"additional_data_1.hdf5", MINARI_LINK_MISSING},
        {"../secret.hdf5", MINARI_LINK_LEAVES},
        {"/data/main_data.hdf5", MINARI_LINK_LEAVES},
        {"x/../../secret.hdf5", MINARI_LINK_LEAVES},
        {"", MINARI_LINK_LEAVES},
        {"..", MINARI_LINK_LEAVES},
        {"C:\\main_data.hdf5", MINARI_LINK_LEAVES},
        {".//etc/passwd", MINARI_LINK_LEAVES},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        uint32_t number = 99;
        const enum minari_link kind = minari_link_target(&files, hub_view_of(cases[i].name), &number);
        cr_expect_eq(kind, cases[i].kind, "'%s': %d", cases[i].name, (int)kind);
        if (kind == MINARI_LINK_GOOD)
            cr_expect_eq(number, 0);
    }
}

static void expect_paths(const char *space, const char *hint)
{
    struct hub_buf out = HUB_BUF_INIT(MINARI_MAX_HINT);
    cr_assert_eq(minari_image_paths(space, strlen(space), "observations", &out, NULL), HUB_OK);
    cr_expect_str_eq(out.size ? out.data : "", hint, "%s", space);
    hub_buf_dispose(&out);
}

Test(minari_names, pictures_of_a_space)
{
    expect_paths("{\"type\":\"Box\",\"dtype\":\"uint8\",\"shape\":[64,48,3]}", "image observations\n");
    expect_paths("{\"type\":\"Box\",\"dtype\":\"uint8\",\"shape\":[64]}", "");
    expect_paths("{\"type\":\"Box\",\"dtype\":\"float32\",\"shape\":[64,48,3]}", "");
    expect_paths("{\"type\":\"Dict\",\"subspaces\":{\"a "
                 "b\":{\"type\":\"Tuple\",\"subspaces\":[{\"type\":\"Discrete\"},"
                 "{\"type\":\"Box\",\"dtype\":\"uint8\",\"shape\":[7,7]}]}}}",
                 "image observations/a b/_index_1\n");
    expect_paths("{\"type\":\"Tuple\",\"subspaces\":{}}", "");
    expect_paths("not json", "");
}

Test(minari_names, a_note_names_paths_or_all)
{
    const struct hub_view note = HUB_VIEW("image observations\nimage actions/x\n"),
                          all = HUB_VIEW("image *\n");
    cr_expect(minari_hint_image(note, HUB_VIEW("observations")));
    cr_expect(minari_hint_image(note, HUB_VIEW("actions/x")));
    cr_expect_not(minari_hint_image(note, HUB_VIEW("actions")));
    cr_expect_not(minari_hint_image(HUB_VIEW(""), HUB_VIEW("observations")));
    cr_expect(minari_hint_image(all, HUB_VIEW("anything")));
}
