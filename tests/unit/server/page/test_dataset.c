/* The page of a dataset, and those of datasets that are not there. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(dataset, .init = wire_open, .fini = wire_close, .timeout = 60);

Test(dataset, views)
{
    static const struct wire_case cases[] = {
        {"/d/lab/arm", 200, "<h1><bdi>lab/arm</bdi></h1><span class=\"status ready\">ready</span>",
         "Content-Type: text/html; charset=utf-8"},
        {"/d/lab/arm", 200,
         "<a href=\"/?prefix=lab/\"><bdi>lab</bdi></a> / <span aria-current=\"page\"><bdi>arm</bdi>",
         "Cross-Origin-Resource-Policy: same-origin"},
        {"/d/lab/arm", 200,
         "<link rel=\"alternate\" type=\"application/json\" href=\"/api/v1/datasets/lab/arm\">"},
        {"/d/lab/arm", 200, "<b>4</b><span>episodes</span></li>\n<li><b>17</b><span>steps</span>"},
        {"/d/lab/arm", 200, "<b>10</b><span>Hz</span>"},
        {"/d/lab/arm", 200, "<b><bdi>LeRobot v2.1</bdi></b><span>format</span>"},
        {"/d/lab/arm", 200, "pick up the &quot;red&quot; cube"},
        {"/d/lab/arm", 200, "<code><bdi>observation.state</bdi></code>"},
        {"/d/D4RL/door/human-v2", 200, "<bdi>Box float32 (28) from -1 to 1</bdi>"},
        {"/d/D4RL/door/human-v2", 200, "<bdi>Box float64 (39) from -\xE2\x88\x9E to \xE2\x88\x9E</bdi>"},
        {"/d/D4RL/door/human-v2", 200, "The Adroit door, opened by a person"},
        {"/d/door-human-v0", 200,
         "<dt><bdi>dataset_size</bdi></dt><dd><bdi>0.3</bdi></dd>"}, /* as it was stored */
        {"/d/door-human-v0", 200,
         "<dd><a rel=\"noopener noreferrer nofollow\" href=\"https://example.org/fixtures\">"},
        {"/d/lab/odd", 200, "<a href=\"/d/lab/odd/files\">3 files</a>"},
        {"/d/lab/arm?revision=0123456789abcdef0123456789abcdef01234567", 200,
         "The data changed since this link was made (0123456789ab\xE2\x80\xA6 is now "},
        {"/d/lab/arm?colour=red", 400, "unknown parameter &#39;colour&#39;"},
        {"/d/lab/arn", 404, "<a href=\"/d/lab/arm\"><bdi>lab/arm</bdi></a>"}, /* was it this one? */
        {"/d/D4RL/door/human-v3", 404, "<a href=\"/d/D4RL/door/human-v2\">"},
        {"/d/%3Cscript%3E", 404, "no dataset &#39;&lt;script&gt;&#39;",
         "Content-Type: text/html; charset=utf-8"},
        {"/d/lab/arm", 405, "<!doctype html>", NULL, NULL, HUB_DELETE},
        {"/d/", 404, NULL},
        {"/~operations", 200, "<b>5</b><span>ready</span>"},
        {"/~operations", 200, "<bdi>root 0 (without a name)</bdi>"},
        {"/d/lab/arm/~statistics", 200, "<h1><bdi>Statistics</bdi></h1>"},
        {"/d/lab/arm/~statistics?field=none", 404, "<h1>Not found</h1>"},
        {"/d/lab/arm/~findings", 200, "<h1><bdi>Odd episodes</bdi></h1>"},
        {"/d/lab/arm/~findings?k=x", 400, "Status 400"},
        {"/d/lab/arm/~use?e=2", 200, "LeRobotDataset(&quot;lab/arm&quot;, episodes=[2])"},
        {"/d/lab/arm/~use?e=x", 400, "e must be a whole number"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* Cameras come before all else: what is said of each, and where its frames are. */
Test(dataset, cameras)
{
#define TOP "/api/v1/datasets/lab/arm/episodes/0/~media/observation.images.top.mp4?poster="
    static const struct wire_case cases[] = {
        {"/d/lab/arm", 200,
         "<figcaption><b><bdi>top</bdi></b> <span class=\"small\">AV1, 10 Hz<span class=\"size\">, 64 "
         "\xC3\x97 64</span></span></figcaption>"},
        {"/d/lab/arm", 200, "<a href=\"/d/lab/arm/episodes/0?at=2\"><canvas class=\"poster\""},
        {"/d/lab/arm", 200, "data-src=\"" TOP "2\" data-codecs=\"av01.0.00M.08\""},
        {"/d/lab/arm", 200, "src=\"" TOP "4#t=0.001\" width=\"64\" height=\"64\""}, /* without script */
        {"/d/lab/arm", 200,
         "<td class=\"seen\"><canvas class=\"poster\" data-kind=\"video\" data-src=\"" TOP "2\""},
        {"/d/lab/arm/episodes", 200, "<th scope=\"col\" class=\"\">Camera</th>"},
        {"/?q=arm", 200, "data-kind=\"dataset\" data-src=\"/api/v1/datasets/lab/arm/~poster\"", NULL,
         "Accept: text/html"},
    };
#undef TOP
    wire_expect(cases, HUB_COUNT(cases));
    cr_expect_not(strstr(wire_body("/d/door-human-v0").data, "poster"));
    cr_expect_not(strstr(wire_body("/d/door-human-v0/episodes").data, "Camera"));
}

/* A page that was seen is not sent again; a large one comes compressed where that is taken. */
Test(dataset, conditions)
{
    char match[128];
    (void)wire_body("/d/lab/arm");
    const char *policy = wire_header("Content-Security-Policy");
    cr_expect(policy && strncmp(policy, "default-src 'none'; script-src 'self';", 38) == 0, "%s",
              policy ? policy : "none");
    cr_expect(policy && !strstr(policy, "unsafe"));
    cr_assert(wire_header("ETag"));
    snprintf(match, sizeof match, "If-None-Match: %s", wire_header("ETag"));
    const struct wire_case cases[] = {
        {"/d/lab/arm", 304, "", NULL, match},
        {"/d/lab/odd", 200, "<!doctype html>", NULL, match},
        {"/d/lab/arm", 200, "\x1F\x8B", "Content-Encoding: gzip", "Accept-Encoding: gzip"},
        {"/d/lab/arm", 200, "<!doctype html>", "!Content-Encoding", "Accept-Encoding: gzip;q=0"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}
