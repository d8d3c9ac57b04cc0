/* Where a client sends xorbs and shards, and a pass for it: what Xet asks first. */
#include "server/api/xet/place.h"
#include "server/facade/handlers.h"
#include "server/facade/hf_push.h"
#include "storage/text/json.h"
#include "storage/text/time.h"

#include <stdio.h>

enum { PASS_S = 3600 };

struct grant {
    const struct hub_xet_place *place;
    const char *pass, *base_url;
    int64_t expires_s;
};

/* As a document, and in headers, which clients before huggingface_hub 1.19 read. */
static enum hub_status answer(const struct grant *grant, struct hub_response *response, struct hub_error *err)
{
    char url[512];
    const int size = snprintf(url, sizeof url, "%s/xet/%s", grant->base_url, grant->place->epoch);
    if (size < 0 || (size_t)size >= sizeof url)
        return hub_fail(err, HUB_TOO_BIG, "the address of this hub is too long");
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * KIB), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "accessToken", grant->pass);
    hub_json_put_int(&json, "exp", grant->expires_s);
    hub_json_put_text(&json, "casUrl", url);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_response_header(response, err, "X-Xet-Cas-Url", "%s", url));
    HUB_TRY(hub_response_header(response, err, "X-Xet-Access-Token", "%s", grant->pass));
    HUB_TRY(
        hub_response_header(response, err, "X-Xet-Token-Expiration", "%lld", (long long)grant->expires_s));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}

enum hub_status hub_hf_xet_token(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_written_dispose) struct hub_hf_written written = {0};
    HUB_CLEANUP(hub_xet_place_close) struct hub_xet_place place = HUB_XET_PLACE_INIT;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf pass = HUB_BUF_INIT(HUB_XET_PASS_BYTES);
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &written, err));
    HUB_TRY(hub_xet_place_find(request, written.row.id, &place, err));
    const int64_t expires_s = hub_time_now_s() + PASS_S;
    HUB_TRY(hub_xet_pass_write(request, place.epoch, written.row.id, expires_s, &pass, err));
    const struct grant grant = {&place, pass.data, hub_base_url(request), expires_s};
    return answer(&grant, response, err);
}
