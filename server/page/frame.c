/* What every page begins and ends with: see frame.h. */
#include "server/page/frame.h"

#include "server/api/reply.h"
#include "server/page/handlers.h"
#include "storage/text/number.h"
#include "storage/text/uri.h"

#include <stdarg.h>
#include <stdio.h>

enum { PAGE_LIMIT = 8 * 1024 * 1024, AGAIN_S = 3, FEW_TRIES = 2, MANY_TRIES = 100000 };

static const char policy[] = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                             "media-src 'self'; connect-src 'self'; "
                             "manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "
                             "'none'; require-trusted-types-for "
                             "'script'; trusted-types 'none'; report-uri /~csp";

void page_dispose(struct page *page)
{
    for (unsigned i = 0; i < PAGE_URLS; i++)
        hub_buf_dispose(&page->urls[i]);
    hub_buf_dispose(&page->alternate);
}

enum hub_status page_begin(struct page *page, struct hub_request *request, struct hub_response *response,
                           struct hub_error *err)
{
    *page = (struct page){.request = request, .response = response, .err = err};
    if (hub_accepts_html(request))
        request->shape = &hub_page_shape;
    return request->may_block ? page_find_revision(page) : HUB_AGAIN;
}

enum hub_status page_fetch(struct page *page, struct hub_view target, json_t **out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(2 * PAGE_URL_LIMIT);
    if (!target.size)
        return hub_no_memory(page->err);
    HUB_TRY(hub_buf_add_view(&url, target, page->err));
    if (page->revision.size && page_is_own(page, target))
        HUB_TRY(page_add_revision(page->revision, &url, page->err));
    return hub_page_fetch(page->request, url.data, &page->response->problem_extra, out, page->err);
}

enum hub_status page_fetch_if_any(struct page *page, struct hub_view target, json_t **out)
{
    const enum hub_status st = page_fetch(page, target, out);
    /* the next answer would be of another state, or has no reader */
    if (st == HUB_AGAIN || st == HUB_CHANGED || st == HUB_CANCELLED)
        return st;
    if (st) { /* the page goes on without it */
        snprintf(page->trouble, sizeof page->trouble, "%s", page->err->detail);
        *page->err = (struct hub_error){0};
        free(page->response->problem_extra);
        page->response->problem_extra = NULL;
    }
    return HUB_OK;
}

static enum hub_status put_headers(struct hub_response *response, struct hub_error *err)
{
    HUB_TRY(hub_response_header(response, err, "Content-Security-Policy", policy));
    HUB_TRY(hub_response_header(response, err, "Referrer-Policy", "same-origin"));
    HUB_TRY(hub_response_header(response, err, "Cross-Origin-Resource-Policy", "same-origin"));
    return hub_response_header(response, err, "Permissions-Policy",
                               "camera=(), microphone=(), geolocation=()");
}

/* "/~login?next=..." for a page; the page that one signs in on leads to the front. */
static enum hub_status write_login_url(const struct hub_request *request, struct hub_buf *out,
                                       struct hub_error *err)
{
    const bool itself = hub_view_starts(hub_view_of(request->target), "/~log");
    const char *query = request->query_text ? request->query_text : "";
    HUB_TRY(hub_buf_add_text(out, "/~login", err));
    if (itself)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, "?next=", err));
    HUB_TRY(hub_uri_encode_segment(hub_view_of(request->target), out, err));
    if (!*query)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, "%3F", err));
    return hub_uri_encode_segment(hub_view_of(query), out, err);
}

/* The name of whoever has signed in, where that makes a difference. */
static void write_account(struct page_out *out, const struct hub_request *request)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(PAGE_URL_LIMIT);
    const struct hub_principal *principal = &request->principal;
    const char *name = principal->token ? principal->token : principal->user;
    if (name && hub_request_may_write_some(request))
        page_account_drafts(out, NULL);
    if (name && request->carrier == HUB_BY_COOKIE)
        page_account_out(out, &(struct page_account_out){hub_view_of(name)});
    else if (name)
        page_account(out, &(struct page_account){hub_view_of(name)});
    else if (request->access && hub_access_hides(request->access) && !write_login_url(request, &url, NULL))
        page_account_in(out, &(struct page_account_in){hub_buf_view(&url)});
}

static void begin_frame(struct page_out *out, const struct hub_request *request, struct hub_view title,
                        struct hub_view alternate, unsigned refresh_s)
{
    const struct page_head head = {title};
    page_document_begin(out, NULL);
    page_head_begin(out, &head);
    if (alternate.size)
        page_alternate(out, &(struct page_alternate){alternate});
    if (refresh_s)
        page_refresh(out, &(struct page_refresh){refresh_s});
    page_head_end(out, &head);
    page_body_begin(out, NULL);
    page_header_begin(out, NULL);
    write_account(out, request);
    page_header_end(out, NULL);
    page_main_begin(out, NULL);
}

static void end_frame(struct page_out *out, struct hub_view alternate)
{
    const struct page_footer footer = {HUB_VIEW(HUB_VERSION)};
    page_main_end(out, NULL);
    page_footer_begin(out, &footer);
    if (alternate.size)
        page_as_json(out, &(struct page_as_json){alternate});
    page_footer_end(out, &footer);
    page_body_end(out, NULL);
    page_document_end(out, NULL);
}

void page_open(struct page *page, struct hub_view title, struct hub_view alternate)
{
    struct hub_buf *buf = hub_response_buffer(page->response, 200, "text/html; charset=utf-8", PAGE_LIMIT);
    page->out = (struct page_out){.buf = buf, .err = page->err};
    page->alternate = HUB_BUF_INIT(PAGE_URL_LIMIT);
    alternate.size -= hub_view_ends(alternate, "?");
    page->out.status = hub_buf_add_view(&page->alternate, alternate, page->err);
    if (!page->out.status && page->revision.size && page_is_own(page, alternate))
        page->out.status = page_add_revision(page->revision, &page->alternate, page->err);
    begin_frame(&page->out, page->request, title, hub_buf_view(&page->alternate), page->refresh_s);
}

enum hub_status page_close(struct page *page)
{
    end_frame(&page->out, hub_buf_view(&page->alternate));
    HUB_TRY(page->out.status);
    HUB_TRY(put_headers(page->response, page->err));
    HUB_TRY(hub_response_header(page->response, page->err, "Cache-Control", "no-cache"));
    return hub_reply_document(page->request, page->response, page->err);
}

/* ---- parts ---- */

struct hub_view page_id(const struct page *page)
{
    return hub_request_capture(page->request, "id");
}

void page_crumbs(struct page *page, struct hub_view id, const char *view)
{
    struct page_out *out = &page->out;
    page_crumbs_begin(out, NULL);
    for (size_t from = 0; from < id.size;) {
        const char *slash = memchr(id.data + from, '/', id.size - from);
        const size_t end = slash ? (size_t)(slash - id.data) : id.size;
        const struct hub_view part = {id.data + from, end - from}, prefix = {id.data, end};
        if (slash)
            page_crumb(out,
                       &(struct page_crumb){page_url(page, "/?prefix=%s%r", prefix, HUB_VIEW("/")), part});
        else if (*view)
            page_crumb(out, &(struct page_crumb){page_url(page, "@/d/%p", id), part});
        else
            page_crumb_here(out, &(struct page_crumb_here){part});
        from = end + 1;
    }
    if (*view)
        page_crumb_here(out, &(struct page_crumb_here){hub_view_of(view)});
    page_crumbs_end(out, NULL);
}

/* The query of this page at a cursor of the list that it shows: what else the page asked for is no
 * parameter of its own. */
static struct hub_view query_at(struct page *page, struct hub_view url)
{
    static const char name[] = "cursor=";
    const struct hub_view requested = page_query_of(url);
    const char *at = requested.size ? memmem(requested.data, requested.size, name, sizeof name - 1) : NULL;
    if (!at)
        return HUB_VIEW("");
    const char *end = memchr(at, '&', (size_t)(requested.data + requested.size - at));
    const struct hub_view cursor = {at, (size_t)((end ? end : requested.data + requested.size) - at)};
    const struct hub_view query = page_query(page, "cursor", NULL);
    return page_url(page, query.size > 1 ? "%r&%r" : "%r%r", query, cursor);
}

void page_pages(struct page *page, const json_t *list)
{
    struct page_out *out = &page->out;
    const struct hub_view next = query_at(page, page_text(list, "next")),
                          prev = query_at(page, page_text(list, "prev"));
    if (!next.size && !prev.size)
        return;
    page_pager_begin(out, NULL);
    if (prev.size) {
        page_pager_link(out, &(struct page_pager_link){page_query(page, "cursor", NULL), HUB_VIEW("first"),
                                                       HUB_VIEW("First")});
        page_pager_link(out, &(struct page_pager_link){prev, HUB_VIEW("prev"), HUB_VIEW("Previous")});
    }
    if (next.size)
        page_pager_link(out, &(struct page_pager_link){next, HUB_VIEW("next"), HUB_VIEW("Next")});
    page_pager_end(out, NULL);
}

/* Without sort= lists are by their ids or numbers, what was searched for by its rank. */
static struct hub_view order_of(const struct page *page, const char *key)
{
    const struct hub_view sort = hub_request_query(page->request, "sort");
    const bool first = strcmp(key, "id") == 0 || strcmp(key, "number") == 0;
    return sort.size || !first || hub_request_if_taken(page->request, "q").size ? sort : hub_view_of(key);
}

void page_sort_head(struct page *page, const char *class, const char *text, const char *key)
{
    const struct hub_view now = order_of(page, key), label = hub_view_of(text);
    const bool down = now.size && now.data[0] == '-';
    const struct hub_view named = {now.data + down, now.size - down};
    if (!now.size || !hub_view_is(named, key)) {
        const struct hub_view href = page_query(page, "sort cursor", "sort", hub_view_of(key), NULL);
        page_th_sort(&page->out, &(struct page_th_sort){hub_view_of(class), href, label});
        return;
    }
    const struct hub_view other = page_url(page, "%r%r", hub_view_of(down ? "" : "-"), hub_view_of(key));
    const struct hub_view href = page_query(page, "sort cursor", "sort", other, NULL);
    page_th_sorted(&page->out,
                   &(struct page_th_sorted){hub_view_of(class), href,
                                            hub_view_of(down ? "descending" : "ascending"), label});
}

/* ---- what cannot be shown ---- */

/* The page above: without the query, else without the last segment. */
static struct hub_view above(const struct hub_request *request)
{
    struct hub_view path = hub_view_of(request->target ? request->target : "/");
    if (!request->query_text || !*request->query_text)
        while (path.size > 1 && path.data[--path.size] != '/')
            continue;
    return path.size > 3 && (hub_view_starts(path, "/d/") || hub_view_starts(path, "/~guide"))
               ? path
               : HUB_VIEW("/"); /* nothing is at /d */
}

/* Datasets that may have been meant: other versions, and names spelled nearly so. */
static void write_meant(struct page_out *out, const char *extra)
{
    static const char *const lists[] = {"versions", "nearest"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB), url = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *members = NULL;
    if (!extra || hub_buf_addf(&text, NULL, "{%s}", extra) ||
        hub_json_parse(hub_buf_view(&text), text.limit, &members, NULL))
        return;
    if (!json_array_size(json_object_get(members, "versions")) &&
        !json_array_size(json_object_get(members, "nearest")))
        return;
    page_meant_begin(out, NULL);
    for (size_t l = 0; l < HUB_COUNT(lists); l++) {
        const json_t *id;
        size_t i;
        json_array_foreach(json_object_get(members, lists[l]), i, id)
        {
            const struct hub_view name = {json_string_value(id), json_string_length(id)};
            url.size = 0;
            if (hub_buf_add_text(&url, "/d/", NULL) || hub_uri_encode_path(name, &url, NULL))
                continue;
            page_meant_one(out, &(struct page_meant_one){hub_buf_view(&url), name});
        }
    }
    page_meant_end(out, NULL);
}

static unsigned again_s(const struct hub_error *err)
{
    return err->retry_after_s ? err->retry_after_s : AGAIN_S;
}

/* The same address again, which page.js opens by itself: what comes until it is there, else a few times. */
static void write_again(struct page_out *out, const struct hub_request *request, const struct hub_error *err,
                        bool comes)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    const char *query = request->query_text ? request->query_text : "";
    const unsigned tries = comes ? MANY_TRIES : FEW_TRIES;
    if (!hub_buf_addf(&url, NULL, "%s%s%s", request->target, *query ? "?" : "", query))
        page_again(out, &(struct page_again){again_s(err), tries, hub_buf_view(&url)});
}

static enum hub_status write_problem(struct hub_buf *buf, const struct hub_request *request,
                                     const struct hub_error *err, const struct hub_problem_row *problem,
                                     const char *extra)
{
    static const struct {
        unsigned status;
        const char *title;
    } titles[] = {{400, "This link is not valid"},
                  {404, "Not found"},
                  {409, "This dataset is being written"},
                  {422, "This dataset cannot be read"},
                  {503, "Not available now"}};
    const char *title = problem->page;
    struct page_out out = {.buf = buf};
    for (size_t i = 0; i < HUB_COUNT(titles) && !title; i++)
        title = titles[i].status == problem->status ? titles[i].title : NULL;
    title = title ? title : "This cannot be shown";
    const char *detail = err->detail[0] ? err->detail : problem->name;
    begin_frame(&out, request, hub_view_of(title), HUB_VIEW("/openapi.json"),
                problem->page_comes ? again_s(err) : 0);
    page_problem(&out, &(struct page_problem){problem->status, hub_view_of(title), hub_view_of(detail),
                                              above(request)});
    if (problem->status == 503)
        write_again(&out, request, err, problem->page_comes);
    write_meant(&out, extra);
    end_frame(&out, HUB_VIEW("/openapi.json"));
    return out.status;
}

/* A page that wants a token leads to the form. */
static enum hub_status send_to_form(struct hub_response *response, const struct hub_request *request)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(PAGE_URL_LIMIT);
    HUB_TRY(write_login_url(request, &url, NULL));
    HUB_TRY(hub_response_header(response, NULL, "Location", "%s", url.data));
    response->status = 303;
    return HUB_OK;
}

static enum hub_status problem_headers(struct hub_response *response, const struct hub_request *request,
                                       const struct hub_error *err, const struct hub_problem_row *problem)
{
    (void)err;
    HUB_TRY(put_headers(response, NULL));
    return problem == &hub_problem_rows[HUB_PROBLEM_SIGN_IN] ? send_to_form(response, request) : HUB_OK;
}

const struct hub_problem_shape hub_page_shape = {"text/html; charset=utf-8", write_problem, problem_headers,
                                                 .has_form = true};

void page_heads_begin(struct page *page, const struct page_table *table, const char *const *heads,
                      const char *figures)
{
    page_table_begin(&page->out, table);
    page_thead_begin(&page->out, NULL);
    for (size_t i = 0; heads[i]; i++)
        page_th(&page->out,
                &(struct page_th){figures[i] == 'n' ? HUB_VIEW("n") : HUB_VIEW(""), hub_view_of(heads[i])});
    page_thead_end(&page->out, NULL);
    page_tbody_begin(&page->out, NULL);
}

void page_heads_end(struct page *page, const struct page_table *table)
{
    page_tbody_end(&page->out, NULL);
    page_table_end(&page->out, table);
}
