/* What a rule would take: see preview.h. */
#include "server/mirror/preview.h"

#include "server/mirror/work.h"
#include "storage/model/record.h"

struct counting {
    const json_t *spec;
    struct hub_mirror_preview *out;
};

static enum hub_status count(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    const struct counting *c = user;
    const char *id = hub_member_text(item, "id"), *format = hub_member_text(item, "format");
    (void)text;
    (void)err;
    if (!id || !hub_remote_has_prefix(id, hub_member_text(c->spec, "prefix")))
        return HUB_OK;
    c->out->datasets++;
    c->out->distinct +=
        !format || (strcmp(format, "files") != 0 && strcmp(format, HUB_FORMAT_COLLECTOR) != 0);
    c->out->bytes += hub_member_uint(item, "size");
    return HUB_OK;
}

enum hub_status hub_mirror_preview(const json_t *spec, struct hub_mirror_preview *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_close) struct hub_remote remote = {0};
    char token[HUB_MIRROR_TOKEN] = "";
    struct counting counting = {spec, out};
    struct hub_remote_options options;
    *out = (struct hub_mirror_preview){0};
    HUB_TRY(hub_mirror_reach(spec, token, &options, err));
    options.transport.retry = HUB_MIRROR_BRIEFLY;
    const struct hub_remote_query query = {.prefix = hub_member_text(spec, "prefix"),
                                           .only = hub_mirror_only(spec),
                                           .left = &out->left,
                                           .exact = true,
                                           .brief = true};
    enum hub_status st = hub_remote_open(hub_member_text(spec, "remote"), &options, &remote, err);
    if (!st)
        st = remote.kind->list(&remote, &query, count, &counting, err);
    explicit_bzero(token, sizeof token);
    return st;
}
