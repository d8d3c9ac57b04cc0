/* server/api/negotiate.c */
#include "server/api/negotiate.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* As which representation a request is answered: its name, or why not. */
static void answer(const struct hub_offer *offer, const char *format, const char *accept, char out[300])
{
    const struct hub_param header = {HUB_VIEW("Accept"), hub_view_of(accept)};
    struct hub_request request = {.headers = &header, .header_count = *accept != '\0'};
    const struct hub_representation *as;
    struct hub_error err = {0};
    if (*format)
        request.query[request.query_count++] = (struct hub_param){HUB_VIEW("format"), hub_view_of(format)};
    const enum hub_status st = hub_negotiate(&request, offer, &as, &err);
    cr_expect(!st || st == HUB_INVALID || st == HUB_NOT_ACCEPTABLE);
    snprintf(out, 300, "%s", st ? err.detail : as->name);
}

Test(negotiate, format_and_accept)
{
    static const struct hub_offer all = {.what = "rows"},
                                  many = {.list = HUB_LIST_OF_ROWS, .what = "rows of many episodes"},
                                  values = {.list = HUB_LIST_OF_VALUES},
                                  pages = {.list = HUB_LIST_OF_PAGES, .filter = true};
    static const struct {
        const struct hub_offer *offer;
        const char *format, *accept, *want;
    } cases[] = {
        {&all, "", "", "json"},
        {&all, "npy", "application/json", "npy"}, /* format= wins */
        {&all, "tea", "",
         "format must be one of json, npy, npz, csv, arrow, arrow-file, jsonl, raw, image, jpeg, png"},
        {&all, "", "text/html;q=0.1, application/x-npz;q=0.9, */*;q=0.5", "npz"},
        {&all, "", "application/octet-stream", "raw"},
        {&all, "", "image/*", "image"},
        {&all, "", "text/html",
         "rows come as application/json, application/x-npy, application/x-npz, text/csv, "
         "application/vnd.apache.arrow.stream, application/vnd.apache.arrow.file, "
         "application/x-ndjson, application/octet-stream, image/jpeg, image/png"},
        {&many, "", "", "npz"},
        {&many, "", "*/*", "npz"},
        {&many, "", "application/octet-stream", "npz"}, /* there is no raw */
        {&many, "", "Text/CSV", "csv"},
        {&many, "", "application/x-npz;q=0, text/csv;q=0.1", "csv"},
        {&many, "json", "", "format must be one of npz, csv, arrow, arrow-file, jsonl"},
        {&many, "", "application/json",
         "rows of many episodes come as application/x-npz, text/csv, "
         "application/vnd.apache.arrow.stream, application/vnd.apache.arrow.file, "
         "application/x-ndjson"},
        {&values, "", "text/html,*/*;q=0.8", "json"},
        {&values, "", "text/html", "json"}, /* a browser gets a document */
        {&values, "", "text/csv", "csv"},
        {&values, "npy", "", "format must be one of json, npz, csv, arrow, arrow-file, jsonl"},
        {&pages, "", "application/x-ndjson", "jsonl"},
        {&pages, "", "application/jsonl, */*;q=0.1", "jsonl"},
        {&pages, "", "application/json, application/x-ndjson;q=0.5", "json"},
        {&pages, "lerobot", "", "json"}, /* a filter */
        {&pages, "jsonl", "", "jsonl"},
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        char got[300];
        answer(cases[i].offer, cases[i].format, cases[i].accept, got);
        cr_expect_str_eq(got, cases[i].want, "%zu: format '%s', Accept '%s': %s", i, cases[i].format,
                         cases[i].accept, got);
    }
}
