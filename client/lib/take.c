/* An answer as it comes, into a sink or a buffer. */
#include "client/lib/internal.h"

static enum hub_status answer_head(struct hub_fetch *fetch, const struct hub_answer *head,
                                   struct hub_error *err)
{
    struct hub_taken *a = fetch->user;
    (void)err;
    a->used = 0; /* an earlier attempt's */
    if (a->info) {
        *a->info = (struct minari_rows_info){.ndim = -1};
        memcpy(a->info->media_type, head->type, sizeof a->info->media_type);
    }
    return HUB_OK;
}

static enum hub_status answer_body(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    struct hub_taken *a = fetch->user;
    if (a->sink)
        return a->sink(bytes.data, bytes.size, a->user) ? hub_fail(err, HUB_CANCELLED, "stopped") : HUB_OK;
    if (bytes.size > a->capacity - a->used)
        return hub_fail(err, HUB_TOO_BIG, "the answer takes more than the buffer's %zu bytes", a->capacity);
    memcpy(a->buffer + a->used, bytes.data, bytes.size);
    a->used += bytes.size;
    return HUB_OK;
}

enum hub_status hub_take(struct minari_client *client, const char *url, const char *json, struct hub_taken *a,
                         struct hub_error *err)
{
    struct hub_fetch fetch = {.url = url,
                              .post = json,
                              .form = json,
                              .form_type = "application/json",
                              .restartable = a->buffer,
                              .head = answer_head,
                              .body = answer_body,
                              .user = a};
    HUB_TRY(hub_transport_get(client->remote.transport, &fetch, err));
    if (a->info)
        a->info->bytes = fetch.done;
    return HUB_OK;
}
