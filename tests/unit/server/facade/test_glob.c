/* Patterns of object names, as Google documents them for matchGlob
 * (https://cloud.google.com/storage/docs/json_api/v1/objects/list). */
#include "server/facade/glob.h"

#include <criterion/criterion.h>
#include <stdio.h>

static bool matches(const char *pattern, const char *name)
{
    HUB_CLEANUP(hub_glob_dispose) struct hub_glob glob = {0};
    struct hub_error err = {0};
    cr_assert_eq(hub_glob_read(hub_view_of(pattern), &glob, &err), HUB_OK, "%s: %s", pattern, err.detail);
    uint64_t steps = 0;
    const bool found = hub_glob_matches(&glob, name, &steps);
    cr_assert_leq(steps, 2 * (glob.patterns.size + 1) * (strlen(name) + 1), "%s: %llu steps", pattern,
                  (unsigned long long)steps);
    return found;
}

Test(glob, names)
{
    static const struct {
        const char *pattern, *name;
        bool matches;
    } cases[] = {
        {"*", "notes.txt", true},
        {"*", "lab/notes.txt", false}, /* one star crosses no slash */
        {"**", "lab/notes.txt", true},
        {"**", "", true},
        {"*", "", true},
        {"?", "", false},
        {"**/*.txt", "lab/notes.txt", true},
        {"**/*.txt", "notes.txt", false}, /* the slash is one that is there */
        {"**.txt", "lab/a/notes.txt", true},
        {"lab/**/data/*.hdf5", "lab/x/y/data/main.hdf5", true},
        {"lab/**/data/*.hdf5", "lab/data/main.hdf5", false},
        {"lab/*/data", "lab/x/y/data", false},
        {"a?c", "abc", true},
        {"a?c", "a/c", false},
        {"a?c",
         "a\xC3\xB6"
         "c",
         true}, /* a character, not a byte */
        {"a??c",
         "a\xC3\xB6"
         "c",
         false},
        {"[a-c]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]x", "dx", true},
        {"[^a-c]x", "bx", false},
        {"a[!b]c", "a/c", false}, /* no set holds a slash */
        {"a[/]c", "a/c", false},
        {"[]a]", "]", true}, /* the first bracket in a set is itself */
        {"[!]a]", "]", false},
        {"[a-]", "-", true},
        {"[", "[", true}, /* no set: it is never closed */
        {"[\xC3\xA4-\xC3\xBC]", "\xC3\xB6", true},
        {"{main,more}.h5", "more.h5", true},
        {"{main,more}.h5", "less.h5", false},
        {"{a,b{c,d}}e", "bde", true},
        {"{a,b{c,d}}e", "be", false},
        {"x{,y}", "x", true},
        {"{a,b}{1,2}", "b2", true},
        {"\\*", "*", true}, /* escaped: itself */
        {"\\*", "x", false},
        {"a\\{b", "a{b", true},
        {"a}b", "a}b", true}, /* closes nothing */
        {"a.c", "abc", false},
        {"a+c", "a+c", true},
        {"Notes", "notes", false},
        {"**a**b*c", "xaxbx/bxc", true},
        {"*a*b", "aab", true},
        {"*a*b", "aabx", false},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        cr_expect_eq(matches(cases[i].pattern, cases[i].name), cases[i].matches, "%s against %s: %s",
                     cases[i].pattern, cases[i].name, cases[i].matches ? "it does not match" : "it matches");
}

Test(glob, without_a_pattern_all_names_match)
{
    const struct hub_glob none = {0};
    uint64_t steps = 0;
    cr_expect(hub_glob_matches(&none, "any/name", &steps));
    cr_expect_eq(steps, 0);
}

/* Time grows with the product of the lengths at most, whatever the stars are. */
Test(glob, many_stars, .timeout = 10)
{
    char pattern[800] = "", name[4001];
    for (size_t i = 0; i + 8 < sizeof pattern; i += 4)
        memcpy(pattern + i,
               i % 8 ? "**a"
                       "*"
                     : "*a*a",
               5);
    strcat(pattern, "b");
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    cr_expect_not(matches(pattern, name));
    cr_expect_not(matches("**?*?*?*?*?*b", name));
    cr_expect_not(matches("**[a-c]*[a-c]*[!b]*\\a*[[*b", name));
}

Test(glob, what_is_no_pattern)
{
    char many[64] = "", most[64] = "", longest[1025], longer[1026], written[1001] = "{a,b,c,d,e,f,g,h,i}";
    struct hub_error err;
    for (unsigned i = 0; i < 7; i++)
        strcat(i < 6 ? most : many, "{a,b}");
    strcat(many, most); /* 128 ways; `most` has 64 */
    memset(longest, 'a', sizeof longest - 1);
    memset(longer, 'a', sizeof longer - 1);
    memset(written + strlen(written), 'a', sizeof written - 1 - strlen(written));
    longest[sizeof longest - 1] = longer[sizeof longer - 1] = '\0';
    const struct {
        const char *pattern, *detail; /* NULL: it is one */
    } cases[] = {{most, NULL},
                 {many, "more than 64 combinations"},
                 {longest, NULL},
                 {longer, "longer than 1,024 bytes"},
                 {written, "expands to more than 8 KiB"},
                 {"{a,b", "a { without a }"},
                 {"{a,{b}", "a { without a }"},
                 {"{a\\}", "a { without a }"},
                 {"[{]", NULL}, /* in a set it opens nothing */
                 {"", NULL}};
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_glob_dispose) struct hub_glob glob = {0};
        err = (struct hub_error){0};
        const enum hub_status st = hub_glob_read(hub_view_of(cases[i].pattern), &glob, &err);
        cr_expect_eq(st, cases[i].detail ? HUB_INVALID : HUB_OK, "%s", cases[i].pattern);
        cr_expect(!cases[i].detail || strstr(err.detail, cases[i].detail), "%s: %s", cases[i].pattern,
                  err.detail);
    }
}
