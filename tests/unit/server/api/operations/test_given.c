/* What a hub says that it gives to whom. */
#include "server/api/operations/given.h"
#include "server/http/server.h"
#include "tests/support/api_kit.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(given, .init = api_kit_open, .fini = api_kit_close, .timeout = 60);

enum { LINES = 8 };

#define ALL "everybody who reaches @ may "
#define SIGNED_IN "; who is signed in may "
#define NOBODY "; nobody may write"

static const struct {
    const char *lines[LINES], *said; /* @: the address and the port */
} cases[] = {
    {{NULL}, ALL "read everything" NOBODY},
    {{"* none lab/secret/"}, ALL "read everything, but nothing of lab/secret/" NOBODY "; 1 rule, 0 tokens"},
    {{"* none lab/", "* read lab/open/", "token:ann write lab/ann/"},
     ALL "read everything, but nothing of lab/ and read lab/open/; 3 rules, 0 tokens"},
    {{"* none", "* read lab/open/", "signed-in read"},
     ALL "read nothing but lab/open/" SIGNED_IN "read everything" NOBODY "; 3 rules, 0 tokens"},
    {{"* none", "* read lab/", "* none lab/secret/", "* write lab/in/"},
     ALL "read nothing but lab/ and write lab/in/, but nothing of lab/secret/; 4 rules, 0 tokens"},
    {{"* write lab/in/", "signed-in label lab/"},
     ALL "read everything and write lab/in/" SIGNED_IN "label lab/; 2 rules, 0 tokens"},
    {{"* none a/", "* none b/", "* none c/", "* none d/", "* none e/", "group:x read a/"},
     ALL "read everything, but nothing of a/, b/, c/ and 2 more" NOBODY "; 6 rules, 0 tokens"},
    {{"* none", "net:10.0.0.0/8 read"}, ALL "read nothing" NOBODY "; 2 rules, 0 tokens"},
    {{"signed-in none lab/", "signed-in write"},
     ALL "read everything" SIGNED_IN "read and write everything, but nothing of lab/; 2 rules, 0 tokens"},
};

static struct hub_access_table *compile(const char *const lines[LINES])
{
    HUB_CLEANUP(hub_access_rules_dispose) struct hub_access_rules all = {0};
    struct hub_access_table *table = NULL;
    for (size_t i = 0; i < LINES && lines[i]; i++)
        cr_assert_eq(hub_access_rules_read(&all, hub_view_of(lines[i]), false, NULL), HUB_OK, "%s", lines[i]);
    cr_assert_eq(hub_access_new(all.items, all.count, NULL, 0, &table, NULL), HUB_OK);
    return table;
}

Test(given, in_a_sentence)
{
    struct hub_app *app = api_kit_app();
    char text[HUB_GIVEN_CHARS], expected[HUB_GIVEN_CHARS];
    app->address = "0.0.0.0";
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        struct hub_access_table *table = compile(cases[i].lines);
        const char *at = strchr(cases[i].said, '@');
        hub_access_given(app, table, text);
        snprintf(expected, sizeof expected, "%.*s0.0.0.0:%u%s", (int)(at - cases[i].said), cases[i].said,
                 hub_http_port(app->http), at + 1);
        cr_expect_str_eq(text, expected);
        hub_access_put(table);
    }
}

Test(given, whatever_the_address)
{
    static const struct {
        const char *address, *begins;
        bool beyond;
    } addresses[] = {{"127.0.0.1", "everybody who reaches 127.0.0.1:", false},
                     {"::1", "everybody who reaches [::1]:", false},
                     {"10.0.0.1", "everybody who reaches 10.0.0.1:", true},
                     {"::", "everybody who reaches [::]:", true},
                     {NULL, "only the control socket answers", false}};
    struct hub_app *app = api_kit_app();
    char text[HUB_GIVEN_CHARS];
    for (size_t i = 0; i < HUB_COUNT(addresses); i++) {
        app->address = addresses[i].address;
        hub_access_given(app, NULL, text);
        cr_expect(hub_view_starts(hub_view_of(text), addresses[i].begins), "%s", text);
        cr_expect_eq(hub_access_beyond_loopback(app), addresses[i].beyond);
    }
}

Test(given, in_the_status)
{
    static const char *const lines[] = {"* none door-human-v0", "token:ann admin"};
    const struct api_case cases_of_status[] = {
        {"/api/v1/status", 200, NULL,
         "\"hides\":true,\"rules\":2,\"tokens\":0,\"text\":\"everybody who reaches"},
    };
    api_kit_app()->address = "0.0.0.0";
    api_kit_rules(lines, HUB_COUNT(lines));
    api_kit_ask_as("ann");
    api_kit_expect(cases_of_status, HUB_COUNT(cases_of_status));
}
