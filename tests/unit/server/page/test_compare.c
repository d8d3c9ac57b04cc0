/* Episodes beside each other: which, and how they are aligned. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(compare, .init = wire_open, .fini = wire_close, .timeout = 60);

#define ARM "/d/lab/arm/~compare"

Test(compare, which)
{
    static const struct wire_case cases[] = {
        {ARM, 200, "<h1><bdi>Compare episodes</bdi></h1>", "Content-Type: text/html; charset=utf-8"},
        {ARM "?e=0&e=1", 200,
         "<th scope=\"row\">steps</th><td class=\"n\"><bdi>5</bdi></td><td class=\"n\"><bdi>8</bdi></td>"},
        {ARM "?e=0&e=0", 200, "<tr class=\"same\"><th scope=\"row\">steps</th>"},
        {ARM "?e=0&e=D4RL/door/human-v2:3", 200,
         "<a href=\"/d/D4RL/door/human-v2/episodes/3\"><bdi>D4RL/door/human-v2: episode 3</bdi></a>"},
        {ARM "?e=0&e=D4RL/door/human-v2:3", 200, "name=\"e\" value=\"D4RL/door/human-v2:3\" checked"},
        {ARM "?e=0&e=1&e=2&e=3&e=0&e=1", 200, "<h1><bdi>Compare episodes</bdi></h1>"},
        {ARM "?e=0&e=1&e=2&e=3&e=0&e=1&e=2", 400, "at most 6 episodes"},
        {ARM "?e=x", 400, "an episode&#39;s number, or ID:NUMBER"},
        {ARM "?e=1x", 400, "an episode&#39;s number, or ID:NUMBER"},
        {ARM "?e=-1", 400, "an episode&#39;s number, or ID:NUMBER"},
        {ARM "?e=lab/arm:", 400, "an episode&#39;s number, or ID:NUMBER"},
        {ARM "?e=", 200, "<h1><bdi>Compare episodes</bdi></h1>"}, /* the form's empty field */
        {ARM "?e=9", 404, "<h1>Not found</h1>"},
        {ARM "?e=99999999999999999999999", 404, "<!doctype html>"},
        {ARM "?e=none:1", 404, "<h1>Not found</h1>"},
        {ARM "?e=%3Cb%3E:1", 404, "&lt;b&gt;"},
        {ARM, 200, "Mark up to six episodes in the list"},
        {ARM "?e=1", 200, "Add the number of another episode"},
        {ARM "?e=0&e=1&from=1&to=3&at=2", 200, "data-at=\"2\" data-from=\"1\" data-to=\"3\""},
        {ARM "?e=0&e=1&from=9&to=3&at=99", 200, "data-at=\"7\" data-from=\"0\" data-to=\"3\""},
        {ARM "?e=0&e=1&lanes=action:1", 200,
         "1 of 4 shown: <a href=\"?e=0&amp;e=1&amp;lanes=action%3A1%2B0\">"},
        {ARM "?e=0&e=1&lanes=action:1,timestamp", 200, "data-list=\"action:1,timestamp\""},
        {ARM "?e=0&e=1&at=x", 400, "at must be a whole number"},
        {ARM "?colour=red", 400, "unknown parameter"},
        {ARM "?align=%22%3E%3Cb%3E", 200, "<option value=\"&quot;&gt;&lt;b&gt;\" selected>"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* Episodes 0 and 1 have 5 and 8 steps; the drawing holds all of both, aligned at one place. */
Test(compare, alignment)
{
    static const struct {
        const char *align;
        unsigned span;
        const char *shifts[2];
    } cases[] = {
        {"start", 8, {"0.00", "0.00"}}, {"end", 8, {"3.00", "0.00"}},  {"2,5", 8, {"3.00", "0.00"}},
        {"4,0", 12, {"0.00", "4.00"}},  {"0,6", 11, {"6.00", "0.00"}}, {"", 8, {"0.00", "0.00"}},
        {"x", 8, {"0.00", "0.00"}},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char target[128], part[64];
        snprintf(target, sizeof target, ARM "?e=0&e=1&align=%s", cases[i].align);
        const char *body = wire_body(target).data;
        snprintf(part, sizeof part, " data-steps=\"%u\"", cases[i].span);
        cr_expect(strstr(body, part), "%s: no %s", target, part);
        for (unsigned side = 0; side < 2; side++) {
            snprintf(part, sizeof part, "data-shift=\"%s\" data-fps=\"10.00\"", cases[i].shifts[side]);
            body = strstr(body, "<div class=\"side\" ");
            cr_assert(body, "%s: no videos", target);
            cr_expect(strncmp(body + 18, part, strlen(part)) == 0, "%s: %.80s", target, body);
            body = strstr(body + 18, side ? "" : "episodes/1/~media"); /* two cameras a side */
            while (!side && body && strncmp(body, "<div class=\"side\"", 17) != 0)
                body--;
            cr_assert(body, "%s: videos of one episode only", target);
        }
    }
}
