/* Signing in and out. A form sends a token, and the browser gets the cookie of a session. */
#include "server/api/access/session.h"
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "storage/text/utf8.h"

enum { FORM_BYTES = 8 * KIB, NEXT_CHARS = 2000 };

/* A page of another site must not sign anybody in or out: a browser says whose page it is. */
static enum hub_status check_origin(const struct hub_request *request, struct hub_error *err)
{
    const char *origin = hub_request_header(request, "Origin"), *ours = strstr(request->base_url, "://");
    const char *theirs = origin ? strstr(origin, "://") : NULL;
    if (!origin)
        return HUB_OK;
    const size_t size = ours ? strcspn(ours + 3, "/") : 0;
    if (theirs && ours && strlen(theirs + 3) == size && strncasecmp(theirs + 3, ours + 3, size) == 0)
        return HUB_OK;
    return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                       "a page of %.200s, and not of %.200s, sent this form: open /~login itself; a proxy in "
                       "front must pass on the Host",
                       origin, request->base_url);
}

/* A path of this hub, or "/": whoever wrote the address of the form must not send people elsewhere. */
static struct hub_view local_path(struct hub_view text)
{
    const bool ours = text.size > 1 && text.size <= NEXT_CHARS && text.data[0] == '/' &&
                      text.data[1] != '/' && text.data[1] != '\\' && hub_utf8_printable(text) &&
                      !memchr(text.data, ' ', text.size);
    return ours ? text : HUB_VIEW("/");
}

static enum hub_status write_form(struct page *page, struct hub_view next, const struct hub_error *wrong)
{
    page_open(page, HUB_VIEW("Sign in"), HUB_VIEW(""));
    page_title(&page->out, &(struct page_title){HUB_VIEW("Sign in")});
    if (wrong) {
        const struct page_note note = {HUB_VIEW("bad"), hub_view_of(wrong->detail)};
        page_note_begin(&page->out, &note);
        page_note_end(&page->out, &note);
    }
    page_login_form(&page->out, &(struct page_login_form){next});
    return page_close(page);
}

enum hub_status hub_page_login(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_TRY(page_begin(&page, request, response, err));
    return write_form(&page, local_path(hub_request_query(request, "next")), NULL);
}

/* What a form sends is written as a query is. */
static enum hub_status read_form(const struct hub_request *request, struct hub_request *out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(2 * FORM_BYTES);
    HUB_TRY(hub_buf_addf(&target, err, "/?%.*s", (int)request->body.size, request->body.data));
    return hub_request_init(out, HUB_POST, target.data, err);
}

/* A token out of a file, or pasted, may have blanks and the end of a line around it. */
static struct hub_view trimmed_token(struct hub_view text)
{
    while (text.size && strchr("\r\n \t", text.data[text.size - 1]))
        text.size--;
    return hub_trimmed(text);
}

static enum hub_status send_to(struct hub_response *response, struct hub_view path, struct hub_error *err)
{
    response->status = 303;
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    return hub_response_header(response, err, "Location", "%.*s", (int)path.size, path.data);
}

/* The form once more, with what was wrong. */
static enum hub_status ask_again(struct page *page, struct hub_view next)
{
    const struct hub_error wrong = *page->err;
    *page->err = (struct hub_error){0};
    HUB_TRY(write_form(page, next, &wrong));
    page->response->status = hub_problem_status(&wrong);
    return wrong.retry_after_s
               ? hub_response_header(page->response, page->err, "Retry-After", "%u", wrong.retry_after_s)
               : HUB_OK;
}

enum hub_status hub_page_login_post(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_request_dispose) struct hub_request form = {0};
    HUB_TRY(page_begin(&page, request, response, err));
    HUB_TRY(check_origin(request, err));
    HUB_TRY(read_form(request, &form, err));
    const struct hub_view next = local_path(hub_request_query(&form, "next"));
    const enum hub_status st =
        hub_session_open(request, trimmed_token(hub_request_query(&form, "token")), response, err);
    if (st == HUB_DENIED)
        return ask_again(&page, next);
    HUB_TRY(st);
    return send_to(response, next, err);
}

enum hub_status hub_page_logout(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_TRY(page_begin(&page, request, response, err));
    HUB_TRY(check_origin(request, err));
    HUB_TRY(hub_session_close(request, response, err));
    return send_to(response, HUB_VIEW("/"), err);
}
