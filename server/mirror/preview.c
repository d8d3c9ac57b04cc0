/* What a rule would take: see preview.h. */
#include "server/mirror/preview.h"

#include "server/mirror/work.h"
#include "storage/base/order.h"
#include "storage/model/format_row.h"

#include <stdlib.h>

struct previewed_set {
    char *id;
    bool files;
};

struct counting {
    const json_t *spec;
    struct hub_mirror_preview *out;
    struct previewed_set *items;
    uint32_t count, capacity;
};

static void dispose(struct counting *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        free(c->items[i].id);
    free(c->items);
}

static enum hub_status count(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    struct counting *c = user;
    const char *id = hub_member_text(item, "id"), *format = hub_member_text(item, "format");
    (void)text;
    if (!id || !hub_remote_has_prefix(id, hub_member_text(c->spec, "prefix")))
        return HUB_OK;
    c->out->datasets++;
    c->out->bytes += hub_member_uint(item, "size");
    format = format ? format : "";
    const json_int_t before = json_integer_value(json_object_get(c->out->formats, format));
    HUB_TRY(hub_allocated(json_object_set_new(c->out->formats, format, json_integer(before + 1)) == 0, err));
    if (hub_format_traits_of(format)->recording)
        return HUB_OK;
    HUB_TRY(hub_grow(&c->items, c->count, &c->capacity, sizeof *c->items, err));
    c->items[c->count] = (struct previewed_set){.files = hub_format_is_files(format)};
    return hub_dup(&c->items[c->count++].id, id, err);
}

static void count_copies(struct counting *c)
{
    const struct hub_mirror_listing listing = {c->items, c->count, sizeof *c->items};
    if (c->count)
        qsort(c->items, c->count, sizeof *c->items, hub_by_text);
    for (uint32_t i = 0; i < c->count; i++)
        c->out->copies += !(c->items[i].files && hub_mirror_is_around(&listing, c->items[i].id));
}

void hub_mirror_preview_dispose(struct hub_mirror_preview *preview)
{
    json_decref(preview->formats);
    hub_remote_left_dispose(&preview->left);
}

enum hub_status hub_mirror_preview(const json_t *spec, struct hub_mirror_preview *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_remote_close) struct hub_remote remote = {0};
    char token[HUB_MIRROR_TOKEN] = "";
    HUB_CLEANUP(dispose) struct counting counting = {.spec = spec, .out = out};
    struct hub_remote_options options;
    *out = (struct hub_mirror_preview){.formats = json_object()};
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
    if (!st)
        count_copies(&counting);
    explicit_bzero(token, sizeof token);
    return st;
}
