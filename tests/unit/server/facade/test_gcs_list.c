/* Listings of a bucket: prefixes, delimiters, offsets and pages, as JSON and as XML. */
#include "storage/text/json.h"
#include "tests/support/wire_kit.h"

#include <criterion/criterion.h>

TestSuite(gcs_list, .init = wire_open, .fini = wire_close, .timeout = 60);

#define LIST "/storage/v1/b/minari-datasets/o"

static void add_line(char out[2048], const char *text)
{
    cr_assert_lt(strlen(out) + strlen(text) + 2, 2048);
    strcat(out, text);
    strcat(out, "\n");
}

/* All pages of a listing: names of objects, and prefixes, a line each. */
static void read_all(const char *query, unsigned most, char items[2048], char prefixes[2048])
{
    char target[4096], token[1024] = "";
    *items = *prefixes = '\0';
    for (unsigned pages = 0; pages < 40; pages++) {
        snprintf(target, sizeof target, LIST "?%s&maxResults=%u%s%s", query, most,
                 *token ? "&pageToken=" : "", token);
        HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
        cr_assert_eq(hub_json_parse(wire_body(target), MIB, &page, NULL), HUB_OK, "%s", target);
        const json_t *names = json_object_get(page, "items"), *folders = json_object_get(page, "prefixes"),
                     *one;
        size_t i;
        cr_expect_leq(json_array_size(names) + json_array_size(folders), most, "%s", target);
        json_array_foreach(names, i, one) add_line(items, json_string_value(json_object_get(one, "name")));
        json_array_foreach(folders, i, one) add_line(prefixes, json_string_value(one));
        const char *next = json_string_value(json_object_get(page, "nextPageToken"));
        if (!next)
            return;
        token[0] = '\0';
        for (; *next; next++) /* as clients encode it */
            snprintf(token + strlen(token), 4, strchr("+/=", *next) ? "%%%02X" : "%c", *next);
    }
    cr_expect(false, "%s: the pages do not end", query);
}

Test(gcs_list, names)
{
    static const struct {
        const char *query, *items, *prefixes;
    } cases[] = {
        {"prefix=lab/odd/", "lab/odd/" WIRE_HOSTILE "\nlab/odd/a b+c%.txt\nlab/odd/empty.bin\n", ""},
        {"delimiter=/", "notes.txt\n", "D4RL/\ndoor-human-v0/\nlab/\n"},
        {"delimiter=/&prefix=", "notes.txt\n",
         "D4RL/\ndoor-human-v0/\nlab/\n"},            /* rclone sends an empty one */
        {"delimiter=%2F&prefix=D4RL", "", "D4RL/\n"}, /* so gcloud sees a folder */
        {"delimiter=/&prefix=lab/", "", "lab/arm/\nlab/odd/\n"},
        {"delimiter=/&prefix=D4RL/door/", "D4RL/door/namespace_metadata.json\n", "D4RL/door/human-v2/\n"},
        {"delimiter=door/&prefix=D4RL/", "D4RL/namespace_metadata.json\n", "D4RL/door/\n"},
        {"prefix=lab/arm/meta/ep", "lab/arm/meta/episodes.jsonl\nlab/arm/meta/episodes_stats.jsonl\n", ""},
        {"prefix=lab/odd/a+b%2Bc%25", "lab/odd/a b+c%.txt\n", ""}, /* in a query + is a space */
        {"prefix=door-human-v", "door-human-v0/data/main_data.hdf5\n", ""},
        {"prefix=lab/odd/&startOffset=lab/odd/b", "lab/odd/empty.bin\n", ""},
        {"prefix=lab/odd/&startOffset=D4RL",
         "lab/odd/" WIRE_HOSTILE "\nlab/odd/a b+c%.txt\nlab/odd/empty.bin\n", ""},
        {"startOffset=D4RL/door/n&endOffset=D4RL/o",
         "D4RL/door/namespace_metadata.json\nD4RL/namespace_metadata.json\n", ""},
        {"startOffset=notes.txt", "notes.txt\n", ""}, /* the start is in, the end is not */
        {"startOffset=notes.txt&endOffset=notes.txt", "", ""},
        {"delimiter=/&startOffset=lab/b", "notes.txt\n", "lab/\n"},
        {"matchGlob=**.json",
         "D4RL/door/human-v2/data/metadata.json\nD4RL/door/namespace_metadata.json\n"
         "D4RL/namespace_metadata.json\nlab/arm/meta/info.json\n",
         ""},
        {"matchGlob=*", "notes.txt\n", ""},
        {"prefix=nothing", "", ""},
        {"prefix=notes.txt/", "", ""},
    };
    static const unsigned most[] = {1, 2, 1000};
    for (size_t i = 0; i < HUB_COUNT(cases); i++)
        for (size_t m = 0; m < HUB_COUNT(most); m++) {
            char items[2048], prefixes[2048];
            read_all(cases[i].query, most[m], items, prefixes);
            cr_expect_str_eq(items, cases[i].items, "%s, %u a page: %s", cases[i].query, most[m], items);
            cr_expect_str_eq(prefixes, cases[i].prefixes, "%s, %u a page: %s", cases[i].query, most[m],
                             prefixes);
        }
}

Test(gcs_list, shapes)
{
    static const struct wire_case cases[] = {
        {LIST "?prefix=nothing", 200, "{\"kind\":\"storage#objects\"}",
         "Content-Type: application/json; charset=UTF-8"},
        {LIST "?softDeleted=True", 200, "{\"kind\":\"storage#objects\"}"},
        {LIST "?softDeleted=False&prefix=notes", 200, "\"name\":\"notes.txt\""},
        {LIST "?projection=noAcl&prettyPrint=false&fields=items/name&prefix=notes", 200, "\"size\":\"5\""},
        {LIST "?prefix=notes", 200, "\"metageneration\":\"1\""},
        {LIST "?prefix=notes", 200, "\"md5Hash\":\"XUFAKrxLKna5cZ2REBfFkg==\",\"crc32c\":\"mnG7TA==\""},
        {LIST "?prefix=lab/odd/a", 200,
         "\"mediaLink\":\"http://hub/download/storage/v1/b/minari-datasets/o/"
         "lab%2Fodd%2Fa%20b%2Bc%25.txt?generation="},
        {LIST "?maxResults=5000&prefix=notes", 200, "\"name\":\"notes.txt\""}, /* the page is 1,000 at most */
        {"/b/minari-datasets/o?prefix=notes", 200, "\"name\":\"notes.txt\""},
        {"/storage/v1/b/D4RL/o?delimiter=/", 200, "\"prefixes\":[\"door/\"]"}, /* a folder is a bucket too */
        {"/storage/v1/b/D4RL/o?prefix=door/n", 200,
         "\"name\":\"door/namespace_metadata.json\",\"bucket\":\"D4RL\""},
        {"/storage/v1/b/D4RL/o?prefix=nothing", 200, "{\"kind\":\"storage#objects\"}"},
        {"/storage/v1/b/nothing/o", 404,
         "{\"error\":{\"code\":404,\"message\":\"The specified bucket does not exist"},
        {LIST "?pageToken=%21", 400, "\"reason\":\"invalid\""},
        {LIST "?pageToken=AA%3D%3D", 400, "\"reason\":\"invalid\""}, /* a NUL */
        {LIST "?maxResults=many", 400, "\"reason\":\"invalid\""},
        {LIST "?matchGlob=%7Ba", 400, "\"reason\":\"invalid\""},
        {LIST, 405, "\"reason\":\"methodNotAllowed\"", NULL, NULL, HUB_POST, "{}"},
        {LIST, 405, "{\"error\":{\"code\":405,", NULL, NULL, HUB_DELETE},
    };
    wire_expect(cases, HUB_COUNT(cases));
}

/* A token that stands before the prefix, as one of another listing may, does not move the listing there. */
Test(gcs_list, token_of_another_listing)
{
    char target[512];
    cr_assert(strstr(wire_body(LIST "?maxResults=1").data, "\"nextPageToken\":\""));
    snprintf(target, sizeof target, LIST "?prefix=notes&pageToken=%s",
             wire_between("\"nextPageToken\":\"", "\""));
    cr_expect(strstr(wire_body(target).data, "\"name\":\"notes.txt\""));
    cr_expect_eq(wire_count(wire_body(target), "\"kind\":\"storage#object\""), 1);
}

Test(gcs_list, as_xml)
{
    static const struct wire_case cases[] = {
        {"/minari-datasets/?list-type=2&delimiter=/", 200,
         "<CommonPrefixes><Prefix>D4RL/</Prefix></CommonPrefixes><CommonPrefixes><Prefix>door-human-v0/</"
         "Prefix>",
         "Content-Type: application/xml; charset=UTF-8"},
        {"/minari-datasets?list-type=2&prefix=lab/odd/%3C", 200,
         "<Key>lab/odd/&lt;b onload=&#39;x&#39;&gt;&amp;&quot;q&quot;.txt</Key>"},
        {"/minari-datasets?list-type=2&prefix=lab/odd/%3C", 200, "<Prefix>lab/odd/&lt;</Prefix>"},
        {"/minari-datasets?list-type=2&prefix=notes", 200,
         "<Size>5</Size><StorageClass>STANDARD</StorageClass>"},
        {"/minari-datasets?list-type=2&start-after=notes.txt", 200, "<KeyCount>0</KeyCount>"}, /* behind it */
        {"/minari-datasets?list-type=2&start-after=notes.tx", 200, "<KeyCount>1</KeyCount>"},
        {"/minari-datasets?list-type=2&max-keys=2", 200,
         "<KeyCount>2</KeyCount><MaxKeys>2</MaxKeys><IsTruncated>true"},
        {"/nothing?list-type=2", 404, "<Error><Code>NoSuchKey</Code>",
         "Content-Type: application/xml; charset=UTF-8"},
        {"/minari-datasets/?list-type=2&continuation-token=!", 400, "<Error><Code>InvalidArgument</Code>"},
    };
    char names[2048] = "", target[1024] = "/minari-datasets?list-type=2&prefix=lab/odd/&max-keys=1",
         token[512];
    wire_expect(cases, HUB_COUNT(cases));
    for (unsigned pages = 0; pages < 5 && *target; pages++) {
        (void)wire_body(target);
        add_line(names, wire_between("<Key>", "</Key>"));
        snprintf(token, sizeof token, "%s", wire_between("<NextContinuationToken>", "<"));
        snprintf(target, sizeof target,
                 "/minari-datasets?list-type=2&prefix=lab/odd/&max-keys=1&continuation-token=%s", token);
        if (!*token)
            *target = '\0';
    }
    cr_expect_str_eq(names, "lab/odd/&lt;b onload=&#39;x&#39;&gt;&amp;&quot;q&quot;.txt\nlab/odd/a b+c%.txt\n"
                            "lab/odd/empty.bin\n");
}
