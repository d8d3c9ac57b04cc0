/* The end of answers that are JSON documents: see reply.h. */
#include "server/api/reply.h"

#include "server/api/resolve.h"

enum { WORTH_BYTES = 1024, MOST_BYTES = 16 * 1024 * 1024 };

bool hub_reply_is_worth_gzip(size_t size)
{
    return size >= WORTH_BYTES && size <= MOST_BYTES;
}

void hub_reply_gzip_etag(char etag[40])
{
    memcpy(etag + strlen(etag) - 1, "-gz\"", 5); /* of another 32 digits and two quotes: there is room */
}

enum hub_status hub_reply_on_worker(const struct hub_request *request)
{
    return !request->may_block && hub_accepts_gzip(request) ? HUB_AGAIN : HUB_OK;
}

static enum hub_status compress(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf coded = HUB_BUF_INIT(2 * (size_t)MOST_BYTES);
    struct hub_meter meter;
    hub_meter_buf(&meter, request->app->budget, request, response, &coded);
    HUB_TRY(hub_gzip(hub_buf_view(&response->buffer), response->is_kept ? HUB_GZIP_SMALL : HUB_GZIP_QUICK,
                     &coded, err));
    coded.meter = NULL; /* complete */
    hub_buf_dispose(&response->buffer);
    response->buffer = coded;
    response->is_json = false;
    coded = HUB_BUF_INIT(0);
    return hub_response_header(response, err, "Content-Encoding", "gzip");
}

enum hub_status hub_reply_compressed(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    hub_response_end_line(response);
    return hub_reply_is_worth_gzip(response->buffer.size) && hub_accepts_gzip(request)
               ? compress(request, response, err)
               : HUB_OK;
}

enum hub_status hub_reply_document(struct hub_request *request, struct hub_response *response,
                                   struct hub_error *err)
{
    hub_response_end_line(response);
    const struct hub_view body = hub_buf_view(&response->buffer);
    const bool gzip = hub_reply_is_worth_gzip(body.size) && hub_accepts_gzip(request);
    char etag[40];
    bool done = false;
    hub_fingerprint(etag, &body, 1);
    if (gzip)
        hub_reply_gzip_etag(etag);
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept-Encoding"));
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    if (done || !gzip)
        return HUB_OK;
    HUB_TRY(hub_reply_on_worker(request));
    return compress(request, response, err);
}
