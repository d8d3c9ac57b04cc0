/* The table of names: how patterns fit, and what names are worth. */
#include "storage/model/format_marks.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(format_marks, patterns)
{
    static const struct {
        const char *pattern, *path;
        bool directory, fits;
    } cases[] = {
        {"*.tar", "x.tar", false, true},
        {"*.tar", "x.tar", true, false},
        {"*.tar", "data/x.tar", false, false},
        {"house_#/", "house_0", true, true},
        {"house_#/", "house_120", true, true},
        {"house_#/", "house_01", true, false},
        {"house_#/", "house_", true, false},
        {"house_#/", "house_1a", true, false},
        {"house_#/", "house_1", false, false},
        {"train/house_#/", "train/house_1", true, true},
        {"train/house_#/", "house_1", true, false},
        {"*-#.x", "a-b-12.x", false, true},
        {"meta/info.json", "meta/info.json", false, true},
        {"meta/info.json", "meta", true, false},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_eq(hub_mark_fits(cases[i].pattern, hub_view_of(cases[i].path), cases[i].directory),
                     cases[i].fits, "%s: %s", cases[i].pattern, cases[i].path);
    cr_expect(hub_mark_looks_into("meta/info.json", HUB_VIEW("meta")));
    cr_expect_not(hub_mark_looks_into("meta_data/", HUB_VIEW("meta_data")), "it is enough that it is there");
}

static const char *best(const char *files)
{
    HUB_CLEANUP(hub_freep) char *copy = strdup(files);
    struct hub_formats_seen seen = {0};
    for (char *at = strtok(copy, " "); at; at = strtok(NULL, " "))
        hub_formats_see_file(&seen, hub_view_of(at));
    const char *format = hub_formats_best(&seen);
    return format ? format : "none";
}

Test(format_marks, what_names_are_worth)
{
    static const struct {
        const char *files, *format;
    } cases[] = {
        {"", "none"},
        {"data/main_data.hdf5", "minari-hdf5"},
        {"data/metadata.json", "minari-hdf5"},
        {"x/data/main_data.hdf5", "none"}, /* too deep */
        {"main_data.hdf5", "none"},
        {"meta/info.json", "none"},
        {"meta/info.json data/chunk-000/episode_000000.parquet", "lerobot"},
        {"meta/info.json meta/tasks.jsonl", "lerobot"},
        {"meta/tasks.jsonl", "none"},
        {"meta/tasks.jsonl videos/a/b.mp4", "lerobot"},
        {"meta_data/info.safetensors", "lerobot"},
        {"state.json", "none"},
        {"state.json data-00000-of-00001.arrow", "datasets"},
        {"dataset_dict.json train/state.json", "datasets"},
        {"val/house_7/trajectories_batch_1_of_1.h5", "molmospaces"},
        {"features.json", "none"},
        {"features.json x.tfrecord-00000-of-00001", "generic"},
        {"dataset_info.json x.array_record-00000-of-00001", "generic"},
        {"dataset_info.json meta/info.json videos/x x.tfrecord", "lerobot"}, /* the highest bid */
        {"a.hdf5 b.npz c.parquet d.tar e.pkl", "none"},
        {"episode_0.hdf5 episode_1.hdf5", "none"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_str_eq(best(cases[i].files), cases[i].format, "%s", cases[i].files);
}

#define PAIR(row, ...) hub_marks_##row,

/* So that all that says something is found by going to the first that does not. */
Test(format_marks, those_with_a_bid_come_first)
{
    static const struct hub_format_mark *const rows[] = {HUB_FORMATS(PAIR)};
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        unsigned bids = 0, first = 0;
        cr_assert(rows[i][0].name);
        for (; rows[i][first].bid; first++)
            ;
        for (unsigned k = 0; rows[i][k].name; k++) {
            bids += rows[i][k].bid > 0;
            cr_expect(rows[i][k].bid || !rows[i][k].beside[0], "%s: nothing is beside it", rows[i][k].name);
        }
        cr_expect_eq(bids, first, "%s", rows[i][0].name);
        cr_expect_leq(bids, 32, "as many as struct hub_marks_seen has bits");
    }
}
