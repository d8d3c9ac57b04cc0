#include "storage/text/options.h"

#include <criterion/criterion.h>

struct values {
    uint64_t size, time, rate, count;
    const char *name;
    bool on, all;
    unsigned word;
};
#define AT(kind, member) HUB_OPTION_AT(kind, struct values, member)
static const struct hub_usage_option rows[] = {
    {0, "size", "BYTES", NULL, "", AT(SIZE, size)},
    {0, "time", "TIME", NULL, "", AT(DURATION, time)},
    {0, "rate", "BYTES", NULL, "", AT(RATE, rate)},
    {'n', "count", "N", NULL, "", HUB_OPTION_NUMBER, offsetof(struct values, count), NULL, 1, 9},
    {'o', "name", "NAME", NULL, "", AT(TEXT, name)},
    {0, "on", "on|off", NULL, "", AT(SWITCH, on)},
    {'a', "all", NULL, NULL, "", AT(TEXT, all)},
    {0, "word", "one|two", "one|two", "", AT(CHOICE, word)},
};

Test(options, values_are_read_by_type)
{
    static const struct {
        const char *word;
        uint64_t size, time, rate, count;
        const char *shown; /* NULL: as it was written */
    } cases[] = {
        {.word = "--size=12", .size = 12},
        {.word = "--size=3k", .size = 3072, .shown = "3K"},
        {.word = "--size=2M", .size = 2 * MIB},
        {.word = "--size=2GiB", .size = 2 * GIB, .shown = "2G"},
        {.word = "--size=1T", .size = 1024 * GIB},
        {.word = "--time=500ms", .time = 500},
        {.word = "--time=90", .time = 90000, .shown = "90s"}, /* plain: seconds */
        {.word = "--time=2m", .time = 120000},
        {.word = "--time=48H", .time = 172800000, .shown = "2d"},
        {.word = "--time=3d", .time = 259200000},
        {.word = "--time=2w", .time = 1209600000},
        {.word = "--rate=500K", .rate = 500000},
        {.word = "--rate=20m", .rate = 20000000, .shown = "20M"},
        {.word = "--count=9", .count = 9},
        {.word = "-n3", .count = 3, .shown = "3"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct values v = {0};
        struct hub_error err = {0};
        const char *value, *written = strchr(cases[i].word, '=');
        char shown[HUB_OPTION_CHARS];
        const struct hub_usage_option *option = hub_option_find(HUB_OPTIONS(rows), cases[i].word, &value);
        cr_assert(option && value, "%s", cases[i].word);
        cr_assert_eq(hub_option_set(option, value, &v, &err), HUB_OK, "%s", err.detail);
        cr_expect(v.size == cases[i].size && v.time == cases[i].time && v.rate == cases[i].rate &&
                      v.count == cases[i].count,
                  "%s", cases[i].word);
        hub_option_show(option, &v, shown);
        cr_expect_str_eq(shown, cases[i].shown ? cases[i].shown : written + 1);
    }
}

Test(options, mistakes_are_named)
{
    static const char *const cases[][2] = {
        {"--size=lots", "size \"lots\": not a size"},
        {"--size=1Q", "not a size"},
        {"--size=99999999999999999999G", "not a size"},
        {"--time=2 weeks", "not a time"},
        {"--time=-1s", "not a time"},
        {"--rate=1T", "not a rate"},
        {"--count=10", "must be between 1 and 9"},
        {"--count=0", "must be between 1 and 9"},
        {"--count=", "not a whole number"},
        {"--on=perhaps", "must be on or off"},
        {"--word=three", "must be one of one|two"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct values v = {0};
        struct hub_error err = {0};
        const char *value;
        const struct hub_usage_option *option = hub_option_find(HUB_OPTIONS(rows), cases[i][0], &value);
        cr_assert(option && value, "%s", cases[i][0]);
        cr_assert_eq(hub_option_set(option, value, &v, &err), HUB_INVALID, "%s", cases[i][0]);
        cr_expect(strstr(err.detail, cases[i][1]), "%s", err.detail);
        cr_expect_str_eq(err.parameter, option->name);
    }
}

Test(options, texts_words_and_switches)
{
    struct values v = {0};
    const char *value;
    cr_assert_eq(hub_option_set(&rows[4], "lab", &v, NULL), HUB_OK);
    cr_assert_eq(hub_option_set(&rows[5], "Yes", &v, NULL), HUB_OK);
    cr_assert_eq(hub_option_set(&rows[6], NULL, &v, NULL), HUB_OK);
    cr_assert_eq(hub_option_set(&rows[7], "two", &v, NULL), HUB_OK);
    cr_expect_str_eq(v.name, "lab");
    cr_expect(v.on && v.all && v.word == 1);
    cr_expect_eq(hub_option_find(HUB_OPTIONS(rows), "-o", &value), &rows[4]);
    cr_expect_null(value);
    cr_expect_eq(hub_option_find(HUB_OPTIONS(rows), "--all", &value), &rows[6]);
    static const char *const none[] = {"-", "", "all", "--al", "--alls", "-x", "--"};
    for (size_t i = 0; i < HUB_COUNT(none); i++)
        cr_expect_null(hub_option_find(HUB_OPTIONS(rows), none[i], &value), "%s", none[i]);
}

Test(options, the_nearest_name_is_suggested)
{
    struct hub_error err = {0};
    cr_expect_str_eq(hub_option_nearest(HUB_OPTIONS(rows), "--cuont=3"), "count");
    cr_expect_null(hub_option_nearest(HUB_OPTIONS(rows), "--elsewhere"));
    cr_expect_str_eq(hub_option_nearest(HUB_OPTIONS(rows), "cuont"), "count");
    cr_expect_eq(hub_option_unknown(HUB_OPTIONS(rows), "--sise", &err), HUB_INVALID);
    cr_expect_str_eq(err.detail, "unknown option --sise, probably meant: --size; see --help");
}
