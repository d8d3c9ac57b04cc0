/* What a browser kept a page from doing: counted with the requests of this route, and reported once a
 * second at most. */
#include "server/api/app.h"
#include "server/log/log.h"
#include "server/page/ask.h"
#include "server/page/handlers.h"
#include "storage/text/json.h"
#include "storage/text/time.h"

static void log_report(struct hub_log *log, const json_t *report)
{
    const struct hub_view what = page_text(report, "violated-directive"),
                          address = page_text(report, "document-uri"),
                          blocked = page_text(report, "blocked-uri");
    hub_log_event(
        log, &(struct hub_log_event){HUB_LOG_WARNING, "page-refused", NULL},
        "a browser blocked content of a page that the hub did not send (%.60s: %.100s, at %.200s): an "
        "extension of the browser, a proxy that changes pages, or text of a dataset; report the last",
        what.data ? what.data : "?", blocked.data ? blocked.data : "?", address.data ? address.data : "?");
}

enum hub_status hub_page_report(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    const int64_t now = hub_time_mono_ms();
    atomic_int_fast64_t *reported_ms = &request->app->page_reported_ms;
    int_fast64_t last = atomic_load(reported_ms);
    response->status = 204;
    if (hub_json_parse(request->body, request->body.size, &body, NULL) ||
        !json_object_get(body, "csp-report"))
        return hub_fail(err, HUB_INVALID, "the body is not a report of a browser");
    if ((!last || now - last >= 1000) && atomic_compare_exchange_strong(reported_ms, &last, now))
        log_report(request->app->log, json_object_get(body, "csp-report"));
    return HUB_OK;
}
