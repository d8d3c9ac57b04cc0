/* The status of a dataset, what is lost in one sentence, and the list of its problems. */
#include "server/page/problems.h"
#include "tests/support/page_kit.h"

#define CUT                                                                                                  \
    "\"status\":\"ready\",\"format\":\"lerobot\",\"episodes\":3,\"claimed_episodes\":4,\"loadable\":false,"  \
    "\"costly_problems\":2,\"problems\":[{\"code\":\"id-mismatch\",\"detail\":\"another id\"},{\"code\":"    \
    "\"fewer-than-claimed\",\"detail\":\"4, but 3\",\"costs\":\"episodes\"},{\"code\":\"not-loadable\","     \
    "\"path\":\"x.parquet\",\"detail\":\"cut short\",\"costs\":\"loading\"}]"

Test(problems, status)
{
    static const struct {
        const char *dataset, *words, *class;
    } cases[] = {
        {"{\"status\":\"ready\"}", "ready", "ready"},
        {"{" CUT "}", "ready, 2 problems", "flawed"},
        {"{\"status\":\"ready\",\"damaged\":1}", "ready, 1 problem", "flawed"},
        {"{\"status\":\"broken\",\"costly_problems\":3}", "broken", "broken"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *json = page_kit_json(cases[i].dataset);
        struct page_kit k;
        page_kit_begin(&k, "/d/x", "x");
        cr_expect(hub_view_is(page_status_words(&k.page, json), cases[i].words), "%s", cases[i].dataset);
        cr_expect(hub_view_is(page_status_class(json), cases[i].class), "%s", cases[i].dataset);
        page_kit_end(&k);
    }
}

Test(problems, what_is_lost_comes_first)
{
    static const struct {
        const char *dataset, *part;
    } cases[] = {
        {"{" CUT "}",
         "<bdi>1 of 4 episodes cannot be read; LeRobot does not load it.</bdi></p><ul><li><bdi>4, but 3"},
        {"{" CUT "}",
         "x.parquet: cut short</bdi></li>\n</ul>\n<details><summary>1 note, which costs nothing</summary>"
         "<ul><li><bdi>another id"},
        {"{\"status\":\"ready\",\"costly_problems\":1,\"problems\":[{\"detail\":\"d\",\"costs\":\"cameras\"}]"
         "}",
         "Videos are missing or cut short."},
        {"{\"status\":\"ready\",\"costly_problems\":2,\"problems\":[{\"detail\":\"d\",\"costs\":\"fields\"},"
         "{\"detail\":\"e\",\"costs\":\"episodes\"}]}",
         "Episodes, or rows of them, are missing; 1 field cannot be read everywhere."},
        {"{\"status\":\"ready\",\"damaged\":2,\"problems\":[{\"code\":\"file-damaged\",\"costs\":"
         "\"episodes\"}]}",
         "<bdi>2 damaged files are not served.</bdi>"}, /* of a list that was cut */
        {"{\"status\":\"ready\",\"damaged\":1,\"problems\":[{\"code\":\"file-damaged\",\"costs\":"
         "\"episodes\"},"
         "{\"code\":\"fewer-than-claimed\",\"costs\":\"episodes\"}]}",
         "<bdi>Episodes, or rows of them, are missing; 1 damaged file is not served.</bdi>"},
        {"{\"status\":\"ready\",\"problems\":[{\"detail\":\"d\"}]}", "Nothing is lost.</bdi></p><details>"},
        {"{\"status\":\"broken\",\"reason\":\"cut short\",\"problems\":[]}", "<bdi>cut short</bdi>"},
        {"{\"status\":\"pending\"}", "Not ready yet: it is being read.</bdi>"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *json = page_kit_json(cases[i].dataset);
        struct page_kit k;
        page_kit_begin(&k, "/d/x", "x");
        page_problems(&k.page, json);
        cr_expect(strstr(k.html.data, cases[i].part), "no %s in %s", cases[i].part, k.html.data);
        page_kit_end(&k);
    }
}
