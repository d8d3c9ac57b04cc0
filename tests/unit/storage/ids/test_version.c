/* storage/ids/version.c, version_minari.c: versions as PEP 440 has them, and which Minari loads what. */
#include "storage/ids/version.h"

#include <criterion/criterion.h>

static struct hub_version version(const char *text)
{
    struct hub_version v = {0};
    cr_assert_eq(hub_version_parse(hub_view_of(text), &v, NULL), HUB_OK, "%s", text);
    return v;
}

static struct hub_spec_set specs(const char *text)
{
    struct hub_spec_set set = {0};
    cr_assert_eq(hub_spec_parse(hub_view_of(text), &set, NULL), HUB_OK, "%s", text);
    return set;
}

/* The versions each specifier is tried on; a case lists with '1' which are contained. */
static const char *const tried[] = {"0.3.1",  "0.4",   "0.4.0", "0.4.1", "0.4.2",   "0.4.3",
                                    "0.4.10", "0.5.0", "0.5.3", "1.0.0", "0.4.3rc1"};

static const struct {
    const char *spec, *contained;
} table[] = {
    /* 0.3.1 .4 .4.0 .4.1 .4.2 .4.3 .4.10 .5.0 .5.3 1.0 rc */
    {"~=0.4", "01111111100"},
    {"~=0.4.0", "01111110000"},
    {"==0.4.*", "01111110000"},
    {"<0.5,>=0.4", "01111110000"},
    {"~=0.4.2", "00001110000"},
    {">0.4", "00011111110"},
    {"<=0.4", "11100000000"},
    {"==0.4", "01100000000"},
    {"==0.4.3", "00000100000"},
    {"", "11111111110"},
    {">0.3.1", "01111111110"},
    {">=0.4.0", "01111111110"},
    {" >= 0.4.0 , <0.5, ", "01111110000"},
    {"!=0.4.*", "10000001110"},
    {"!=0.4.3", "11111011110"},
    {"<0.4.3", "11111000000"},
    {">0.4.3", "00000011110"},
    {"<=0.4.3", "11111100000"},
    {">=0.4.3rc1", "00000111111"},
    {">=0.4.3rc1,<0.4.3", "00000000000"}, /* its own pre-releases are not below a version */
    {"==0.4.3rc1", "00000000001"},
    {"<0.4.3rc2,>=0.4.3a1", "00000000001"},
};

Test(version, specifiers_contain)
{
    for (size_t i = 0; i < HUB_COUNT(table); i++) {
        const struct hub_spec_set set = specs(table[i].spec);
        cr_assert_eq(strlen(table[i].contained), HUB_COUNT(tried));
        for (size_t j = 0; j < HUB_COUNT(tried); j++) {
            const struct hub_version v = version(tried[j]);
            cr_expect_eq(hub_spec_contains(&set, &v), table[i].contained[j] == '1', "'%s' and %s",
                         table[i].spec, tried[j]);
        }
    }
}

Test(version, specifiers_refused)
{
    static const char *const bad[] = {"0.4.3",     "~=0",     "~=1",         "garbage",       "=0.4",
                                      "==",        ">=0.4.*", ">=0.4+local", "~=0.4.*",       ">=0.4 <0.5",
                                      "==0.4.*.1", "~=0.4;x", "===0.4",      ">=0.4,garbage", "==1!"};
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        struct hub_spec_set set;
        cr_expect_eq(hub_spec_parse(hub_view_of(bad[i]), &set, NULL), HUB_INVALID, "%s", bad[i]);
    }
    struct hub_spec_set set;
    cr_expect_eq(hub_spec_parse(HUB_VIEW(">1,>1,>1,>1,>1,>1,>1,>1,>1,>1,>1,>1,>1,>1,>1,>1,>1"), &set, NULL),
                 HUB_TOO_BIG);
}

Test(version, order)
{
    static const char *const sorted[] = {"0.3.1", "0.4a1",    "0.4a2", "0.4b1",  "0.4rc1", "0.4",
                                         "0.4.1", "0.4.3rc1", "0.4.3", "0.4.10", "1.0.0"};
    for (size_t i = 0; i < HUB_COUNT(sorted); i++) {
        for (size_t j = 0; j < HUB_COUNT(sorted); j++) {
            const struct hub_version a = version(sorted[i]), b = version(sorted[j]);
            const int order = hub_version_compare(&a, &b);
            cr_expect_eq((order > 0) - (order < 0), (i > j) - (i < j), "%s %s", sorted[i], sorted[j]);
        }
    }
    const struct hub_version a = version("0.4"), b = version("0.4.0.0");
    cr_expect_eq(hub_version_compare(&a, &b), 0);
}

Test(version, versions_refused)
{
    static const char *const bad[] = {"",      "x",         "1.",      "1..2",       "1.0-",
                                      "1.0+",  "1 0",       "1.0x",    "4294967296", "~=0.4",
                                      "1!2.0", "1.0rc",     "1.0+ab",  "1.0.post4",  "1.0.dev6",
                                      "v1.0",  "1.0alpha1", "1.0a1b2", "1.0rcx",     "1.2.3.4.5.6.7.8.9"};
    for (size_t i = 0; i < HUB_COUNT(bad); i++) {
        struct hub_version v;
        cr_expect_eq(hub_version_parse(hub_view_of(bad[i]), &v, NULL), HUB_INVALID, "%s", bad[i]);
    }
}

Test(version, loadable)
{
    static const struct {
        const char *minari_version;
        bool metadata_json;
        const char *loadable; /* 0.3.0 0.3.1 0.4.0 0.4.1 0.4.2 0.4.3 0.5.0 0.5.1 0.5.2 0.5.3 0.5.4 */
    } cases[] = {
        {"~=0.4", false,
         "00"
         "1111"
         "00000"},
        {"~=0.4", true,
         "00"
         "1111"
         "11111"},
        {">0.3.1", false,
         "00"
         "1111"
         "00000"},
        {"~=0.4.2", false,
         "00"
         "0011"
         "00000"},
        {"==0.3.1", false,
         "01"
         "0000"
         "00000"},
        {"0.4.3", true,
         "00"
         "0000"
         "11111"},
        {"0.4.3", false,
         "00"
         "0000"
         "00000"},
        {"0.5.0", true,
         "00"
         "0000"
         "11111"},
        {"0.5.2", true,
         "00"
         "0000"
         "00111"},
        {"0.5.4", true,
         "00"
         "0000"
         "00001"},
        {"0.6.0", true,
         "00"
         "0000"
         "00000"},
        {"", false,
         "11"
         "0000"
         "00000"},
        {"", true,
         "00"
         "0000"
         "00000"},
        {"garbage", false,
         "00"
         "0000"
         "00000"},
    };
    const struct hub_load_rule *rule = hub_load_rule_find("minari");
    cr_assert_not_null(rule);
    cr_expect_null(hub_load_rule_find(""));
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_view stated = hub_view_of(cases[i].minari_version),
                              era = cases[i].metadata_json ? HUB_VIEW("E5") : HUB_VIEW("E4b");
        for (uint32_t j = 0; rule->releases[j]; j++) {
            cr_expect_eq(rule->loads(stated, era, hub_view_of(rule->releases[j])),
                         cases[i].loadable[j] == '1', "%s by %s", cases[i].minari_version, rule->releases[j]);
        }
    }
    cr_expect(hub_minari_loadable(HUB_VIEW("0.5.2"), true, HUB_VIEW("0.6.1")), "a release yet unknown");
    cr_expect_not(hub_minari_loadable(HUB_VIEW("0.5.2"), true, HUB_VIEW("latest")));
}

Test(version, a_later_writer_is_said)
{
    static const struct {
        const char *minari_version, *era;
        unsigned count;
        const char *last;
    } cases[] = {
        {"0.5.3", "E5", 2, "0.5.4"},
        {"0.5.4", "E5", 1, "0.5.4"},
        {"0.5.5", "E5", 1, "newer than 0.5.4"},
        {"1.0", "E5", 1, "newer than 0.5.4"},
        {"0.6.0", "E4b", 0, NULL},
        {"~=0.4.2", "E4b", 2, "0.4.3"},
        {"garbage", "E5", 0, NULL},
    };
    const struct hub_load_rule *rule = hub_load_rule_find("minari");
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_view stated = hub_view_of(cases[i].minari_version), era = hub_view_of(cases[i].era);
        const char *release, *last = NULL;
        unsigned count = 0;
        for (size_t at = 0; (release = hub_load_rule_next(rule, stated, era, &at)); count++)
            last = release;
        cr_expect_eq(count, cases[i].count, "%s", cases[i].minari_version);
        cr_expect_eq(last == NULL, cases[i].last == NULL, "%s", cases[i].minari_version);
        if (last && cases[i].last)
            cr_expect_str_eq(last, cases[i].last);
    }
}
