/* An episode: its lanes as drawings, the rows at a step, and the way to its neighbours. */
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(episode, .init = wire_open, .fini = wire_close, .timeout = 60);

#define ARM "/d/lab/arm/episodes/"
#define ARM_API "/api/v1/datasets/lab/arm/episodes"

/* A value holds over its step: 5 rows, 200 of 1,000 wide; from 114 at the least to 6 at the most. */
Test(episode, curves)
{
    static const struct wire_case cases[] = {
        {ARM "0?lanes=frame_index", 200,
         "d=\"M0.0 114.0L200.0 114.0L200.0 87.0L400.0 87.0L400.0 60.0L600.0 60.0L600.0 33.0L800.0 33.0L800.0 "
         "6.0L1000.0 6.0\""},
        {ARM "0?lanes=frame_index", 200,
         "<figcaption class=\"extremes\"><a href=\"?lanes=frame_index&amp;at=0\">least 0</a> (step 0), <a "
         "href=\"?lanes=frame_index&amp;at=4\">greatest 4</a> (step 4); all finite</figcaption>"},
        {ARM "0?lanes=frame_index", 200,
         "data-lane=\"frame_index\" data-field=\"frame_index\" data-axis=\"step\""},
        {ARM "0?lanes=frame_index", 200, "data-mode=\"bands\""}, /* a few whole numbers */
        {ARM "0?lanes=frame_index&at=2", 200, "<path class=\"cursor\" d=\"M400.00 0L400.00 120\"/>"},
        {ARM "3?lanes=frame_index", 200, "d=\"M0.0 60.0L1000.0 60.0\""}, /* one value: in the middle */
        {ARM "0?lanes=observation.state:1", 200, "<h3><bdi>observation.state</bdi></h3>"},
        /* an entry of a legend: alone; all where it is; those that are off are there too, in their colour */
        {ARM "0?lanes=timestamp,action:1", 200,
         "<li data-dim=\"0\" class=\"off\"><a href=\"?lanes=timestamp%2Caction%3A0\">"},
        {ARM "0?lanes=timestamp,action:1", 200,
         "<li data-dim=\"1\" class=\"\"><a href=\"?lanes=timestamp%2Caction\">"},
        {ARM "0?lanes=timestamp,action:1", 200, "data-lane=\"action:1\""},
        {ARM "0?lanes=timestamp,action:1", 200, "data-all=\"action\""},
        {ARM "0?lanes=timestamp,action:1", 200, "<path class=\"line s2\" d=\"M0.0"},
        {ARM "0?lanes=nothing", 200, "<div class=\"lanes\" data-list=\"\"></div>"},
        {ARM "0?lanes=%3Cb%3E,:,,%7C,%25", 200, "<div class=\"lanes\" data-list=\"\"></div>"},
        {ARM "0?lanes=frame_index:9", 200, "<p class=\"note\">"}, /* it says why it is not drawn */
        {ARM "0?lanes=frame_index", 200, "<a href=\"?\" aria-current=\"true\"><bdi>frame_index</bdi>"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

Test(episode, steps)
{
    static const struct wire_case cases[] = {
        {ARM "0", 200, "<h1><bdi>Episode 0</bdi></h1>", "Content-Type: text/html; charset=utf-8"},
        {ARM "0", 200, "<b>5</b><span>steps</span></li>\n<li><b>0.5</b><span>seconds</span>"},
        {ARM "0?at=2", 200, "At step 2</h2>"},
        {ARM "0?at=2", 200, "<bdi>frame_index</bdi></code></th><td class=\"id\"><bdi>2</bdi></td>"},
        {ARM "0?at=2&lanes=timestamp", 200, "<a href=\"?lanes=timestamp&amp;at=1\">Previous step</a>"},
        {ARM "0?at=2&lanes=timestamp", 200, "<input type=\"hidden\" name=\"lanes\" value=\"timestamp\">"},
        {ARM "0?at=99", 200, "At step 4</h2>"}, /* moved to where there are some */
        {ARM "0?at=-3", 200, "At step 0</h2>"},
        {ARM "0?from=4&to=2", 200, "data-from=\"0\" data-to=\"5\""},
        {ARM "1?from=2&to=3", 200, "data-from=\"0\" data-to=\"8\""}, /* eight steps at least */
        {ARM "0?at=x", 400, "at must be a whole number"},
        {ARM "0?at=99999999999999999999", 400, "at must be a whole number"},
        {ARM "0?colour=red", 400, "unknown parameter"},
        {ARM "4", 404, "<h1>Not found</h1>"},
        {ARM "x", 404, "<h1>Not found</h1>"},
        {"/d/lab/none/episodes/0", 404, "<h1>Not found</h1>"},
        {"/d/D4RL/door/human-v2/episodes/0", 200, "data-of=\"sum\""}, /* the return, below the rewards */
        {"/d/D4RL/door/human-v2/episodes/0", 200, "<h3><bdi>return so far, the sum of rewards</bdi></h3>"},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* Beside each other, in their own shape; without script they begin at the step. */
Test(episode, cameras)
{
#define TOP ARM_API "/0/~media/observation.images.top.mp4"
    static const struct wire_case cases[] = {
        {ARM "0?at=2", 200, "<h2 class=\"visually-hidden\">Cameras</h2>\n<div class=\"media watched\">"},
        {ARM "0?at=2", 200,
         "<figure class=\"square\"><video controls muted playsinline preload=\"metadata\""},
        {ARM "0?at=2", 200, "src=\"" TOP "#t=0.2500\" width=\"64\" height=\"64\""},
        {ARM "0", 200, "src=\"" TOP "\" width=\"64\""},
        {ARM "0", 200, "<bdi>64 \xC3\x97 64, AV1, 5 frames</bdi>"},
    };
#undef TOP
    wire_expect(cases, HUB_COUNT(cases));
    cr_expect_not(strstr(wire_body("/d/D4RL/door/human-v2/episodes/0").data, "beside"));
}

/* The list that a reader comes from says what is next. */
Test(episode, neighbours)
{
    static const struct wire_case cases[] = {
        {ARM "1", 200, "<a href=\"" ARM "0\" rel=\"prev\">"},
        {ARM "1", 200, "<a href=\"" ARM "2\" rel=\"next\">"},
        {ARM "1?lanes=action&rate=2&at=3&from=2", 200,
         "<a href=\"" ARM "2?lanes=action&amp;rate=2&amp;at=3&amp;from=2\" rel=\"next\">"},
        {ARM "1?sort=-number", 200, "<a href=\"" ARM "0?sort=-number\" rel=\"next\">"},
        {ARM "1?where=number+!%3D+2", 200, "<a href=\"" ARM "3?where=number%20%21%3D%202\" rel=\"next\">"},
        {ARM "1?where=number+!%3D+2&at=3&lanes=action", 200,
         "<a href=\"/d/lab/arm/episodes?where=number%20%21%3D%202\" rel=\"up\">"},
    };
    wire_expect(cases, HUB_COUNT(cases));
    cr_expect_not(strstr(wire_body(ARM "3").data, "rel=\"next\""));
    cr_expect_not(strstr(wire_body(ARM "0").data, "rel=\"prev\""));
}
