/* The rows of the formats, and what is asked of them by name. */
#include "storage/model/format_row.h"

#include <criterion/criterion.h>

Test(format_row, names_are_those_of_one_row)
{
    for (size_t i = 0; i < HUB_FORMAT_COUNT; i++) {
        cr_assert(hub_format_rows[i].name);
        cr_expect_eq(hub_format_traits_of(hub_format_rows[i].name), &hub_format_rows[i], "%s",
                     hub_format_rows[i].name);
    }
}

/* What has a name that no row has may be of a newer hub. */
Test(format_row, unknown_names_have_no_traits)
{
    static const char *const names[] = {NULL, "", "files", "minari", "minari-", "lerobot-v4", "webdatase"};
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        const struct hub_format_traits *traits = hub_format_traits_of(names[i]);
        cr_assert(traits);
        cr_expect(!traits->name && !traits->library && !traits->repo_tag && !traits->shards[0] &&
                      !traits->loading && !traits->episodes_apart && !traits->recording,
                  "%s", names[i] ? names[i] : "NULL");
    }
}

Test(format_row, libraries)
{
    static const struct {
        const char *name, *library;
    } cases[] = {
        {"minari-hdf5", "Minari"},
        {"minari-arrow", "Minari"},
        {"minari-parquet", "Minari"},
        {"minari-zarr", "Minari"}, /* a newer hub's */
        {"minari", "Minari"},      /* any of them */
        {"minaret", NULL},
        {"min", NULL},
        {"lerobot", "LeRobot"},
        {"lerobot-v4", NULL},
        {"datasets", "datasets"},
        {"data-collector", NULL},
        {"files", NULL},
        {"", NULL},
        {NULL, NULL},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const char *library = hub_format_library(cases[i].name),
                   *name = cases[i].name ? cases[i].name : "NULL";
        cr_expect_eq(!library, !cases[i].library, "%s", name);
        if (library && cases[i].library)
            cr_expect_str_eq(library, cases[i].library, "%s", name);
        cr_expect_eq(hub_format_is_of(cases[i].name, HUB_LIBRARY_MINARI),
                     cases[i].library && strcmp(cases[i].library, "Minari") == 0, "%s", name);
    }
}

/* Files that nothing claims have no row, and a name all the same. */
Test(format_row, files_are_no_format)
{
    cr_expect(hub_format_is_files(HUB_FILES_FORMAT));
    cr_expect_not(hub_format_is_files(NULL));
    cr_expect_not(hub_format_is_files(""));
    cr_expect_not(hub_format_is_files("lerobot"));
    cr_expect_null(hub_format_traits_of(HUB_FILES_FORMAT)->name);
}

/* As listings of buckets and repos show what they cannot look into. */
Test(format_row, what_metadata_states)
{
    cr_expect_str_eq(hub_format_stated("arrow"), "minari-arrow");
    cr_expect_str_eq(hub_format_stated("parquet"), "minari-parquet");
    cr_expect_str_eq(hub_format_stated("hdf5"), "minari-hdf5");
    cr_expect_str_eq(hub_format_stated("other"), "minari-hdf5");
    cr_expect_str_eq(hub_format_stated(NULL), "minari-hdf5");
}
