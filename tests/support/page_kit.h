/** Parts of pages written into a buffer, without an answer: for those that ask nothing of the API. */
#ifndef HUB_TESTS_PAGE_KIT_H
#define HUB_TESTS_PAGE_KIT_H

#include "server/api/app.h"
#include "server/http/exchange.h"
#include "server/page/frame.h"

#include <criterion/criterion.h>

struct page_kit {
    struct page page;
    struct hub_buf html;
    struct hub_request request;
    struct hub_error err;
    struct hub_app app;
    struct hub_route none; /* the API: no row */
    struct hub_http http;
};

/** A page at `target`, below the dataset `id`. */
static inline void page_kit_begin(struct page_kit *k, const char *target, const char *id)
{
    *k = (struct page_kit){.app = {.bucket = "minari-datasets", .author = "farama-minari"}};
    k->http.options.routes = &k->none;
    k->app.http = &k->http;
    cr_assert_eq(hub_request_init(&k->request, HUB_GET, target, &k->err), HUB_OK, "%s: %s", target,
                 k->err.detail);
    k->html = HUB_BUF_INIT(4 * MIB);
    cr_assert_eq(hub_buf_add_text(&k->html, "", NULL), HUB_OK);
    k->request.captures[0] = (struct hub_param){HUB_VIEW("id"), hub_view_of(id)};
    k->request.capture_count = 1;
    k->request.base_url = "http://hub";
    k->request.app = &k->app;
    k->page = (struct page){.request = &k->request, .err = &k->err, .out = {.buf = &k->html, .err = &k->err}};
}

static inline void page_kit_end(struct page_kit *k)
{
    cr_expect_eq(k->page.out.status, HUB_OK, "%s", k->err.detail);
    page_dispose(&k->page);
    hub_buf_dispose(&k->html);
    hub_request_end(&k->request);
    hub_request_dispose(&k->request);
}

/** json_decref it. */
static inline json_t *page_kit_json(const char *text)
{
    struct hub_error err = {0};
    json_t *out = NULL;
    cr_assert_eq(hub_json_parse(hub_view_of(text), MIB, &out, &err), HUB_OK, "%s: %s", text, err.detail);
    return out;
}

static inline void page_kit_expect(const struct page_kit *k, const char *part)
{
    cr_expect(strstr(k->html.data, part), "no %s in %s", part, k->html.data);
}

static inline void page_kit_expect_not(const struct page_kit *k, const char *part)
{
    cr_expect_not(strstr(k->html.data, part), "%s in %s", part, k->html.data);
}

#endif
