/* Assets, whose addresses name their state, and the reports of browsers. */
#include "server/page/assets.h"
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(assets, .init = wire_open, .fini = wire_close, .timeout = 60);

Test(assets, addresses)
{
    char script[128], style[128], logo[128], none[128];
    const char *build = hub_assets_build();
    cr_expect_eq(strlen(build), 12);
    cr_expect_eq(strspn(build, "0123456789abcdef"), 12, "%s", build);
    snprintf(script, sizeof script, "/~assets/%s/page.js", build);
    snprintf(style, sizeof style, "/~assets/%s/style.css", build);
    snprintf(logo, sizeof logo, "/~assets/%s/logo.svg", build);
    snprintf(none, sizeof none, "/~assets/%s/none.js", build);
    const struct wire_case cases[] = {
        {script, 200, NULL, "Content-Type: text/javascript; charset=utf-8"},
        {script, 200, NULL, "Cache-Control: public, max-age=31536000, immutable"},
        {style, 200, NULL, "Content-Type: text/css; charset=utf-8"},
        {logo, 200, "<svg", "Content-Type: image/svg+xml"},
        {logo, 200, "<svg",
         "Content-Security-Policy: default-src 'none'; sandbox"}, /* opened by itself it runs nothing */
        {none, 404, "reload the page"},
        {"/~assets/000000000000/page.js", 404, "reload the page",
         "Cache-Control: no-store"}, /* of another version */
        {script, 405, NULL, NULL, NULL, HUB_POST, "x"},
    };
    wire_expect(cases, HUB_COUNT(cases));
    (void)wire_body("/d/lab/odd");
    cr_expect_str_eq(wire_between("/~assets/", "/"), build);
}

/* Comments of scripts stay here: no line that is one is sent, and none that is not is lost. */
Test(assets, scripts)
{
    static const char *const names[] = {"page.js",  "theme.js",    "timeline.js", "compare.js", "clock.js",
                                        "lanes.js", "pictures.js", "tiles.js",    "values.js"};
    for (size_t i = 0; i < HUB_COUNT(names); i++) {
        char target[128];
        snprintf(target, sizeof target, "/~assets/%s/%s", hub_assets_build(), names[i]);
        const struct hub_view body = wire_body(target);
        cr_expect_gt(body.size, 100, "%s", names[i]);
        for (const char *line = body.data; line && *line; line = strchr(line, '\n'), line += line != NULL) {
            const char *words = line + strspn(line, " ");
            cr_expect(strncmp(words, "//", 2) != 0, "%s: %.60s", names[i], line);
        }
    }
}

Test(assets, reports_of_browsers)
{
    static const struct wire_case cases[] = {
        {"/~csp", 204, "", NULL, "Content-Type: application/csp-report", HUB_POST,
         "{\"csp-report\":{\"document-uri\":\"http://hub/d/"
         "x\",\"violated-directive\":\"script-src\",\"blocked-uri\":\"inline\"}}"},
        {"/~csp", 204, "", NULL, NULL, HUB_POST, "{\"csp-report\":{\"blocked-uri\":7}}"},
        {"/~csp", 204, "", NULL, NULL, HUB_POST, "{\"csp-report\":[]}"},
        {"/~csp", 400, "not a report of a browser", NULL, NULL, HUB_POST, "{}"},
        {"/~csp", 400, "not a report of a browser", NULL, NULL, HUB_POST, "\"csp-report\""},
        {"/~csp", 400, "not a report of a browser", NULL, NULL, HUB_POST, ""},
        {"/~csp", 405, NULL},
    };
    wire_expect(cases, HUB_COUNT(cases));
}
