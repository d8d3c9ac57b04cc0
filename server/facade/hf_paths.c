/* See hf_paths.h. */
#include "server/facade/hf_paths.h"

#include "storage/base/hex.h"
#include "storage/text/json.h"

struct path_reading {
    bool *expand;
    hub_hf_path_each *each;
    void *user;
};

/* Without the slash that the name of a folder may end with. */
struct hub_view hub_hf_without_slash(struct hub_view path)
{
    return hub_view_ends(path, "/") ? (struct hub_view){path.data, path.size - 1} : path;
}

/* As Python and JavaScript spell it. */
bool hub_hf_is_true(struct hub_view value)
{
    return value.size && (strcasecmp(value.data, "true") == 0 || hub_view_is(value, "1"));
}

static enum hub_status decode(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        const bool escaped = c == '%' && text.size - i > 2;
        const int high = escaped ? hub_hex_digit(text.data[i + 1]) : -1,
                  low = escaped ? hub_hex_digit(text.data[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            c = (char)(high * 16 + low);
            i += 2;
        }
        HUB_TRY(hub_buf_add(out, c == '+' && !escaped ? " " : &c, 1, err));
    }
    return HUB_OK;
}

static enum hub_status add_form(struct path_reading *r, struct hub_view body, struct hub_error *err)
{
    *r->expand =
        memmem(body.data, body.size, "expand=True", 11) || memmem(body.data, body.size, "expand=true", 11);
    while (body.size) {
        const char *end = memchr(body.data, '&', body.size);
        const struct hub_view pair = {body.data, end ? (size_t)(end - body.data) : body.size};
        body =
            (struct hub_view){body.data + pair.size + (end != NULL), body.size - pair.size - (end != NULL)};
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
        if (!hub_view_starts(pair, "paths="))
            continue;
        HUB_TRY(decode((struct hub_view){pair.data + 6, pair.size - 6}, &text, err));
        if (text.size)
            HUB_TRY(r->each(r->user, hub_buf_view(&text), err));
    }
    return HUB_OK;
}

static enum hub_status add_json(struct path_reading *r, struct hub_view body, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *asked = NULL;
    const json_t *path;
    size_t i;
    if (hub_json_parse(body, MIB, &asked, NULL) || !json_is_object(asked))
        return hub_fail(err, HUB_INVALID, "the body is not JSON with \"paths\"");
    const json_t *paths = json_object_get(asked, "paths");
    *r->expand = json_is_true(json_object_get(asked, "expand"));
    if (json_is_string(paths))
        return r->each(r->user, hub_view_of(json_string_value(paths)), err);
    json_array_foreach(paths, i, path) if (json_is_string(path))
        HUB_TRY(r->each(r->user, hub_view_of(json_string_value(path)), err));
    return HUB_OK;
}

enum hub_status hub_hf_paths_read(const struct hub_request *request, bool *expand, hub_hf_path_each *each,
                                  void *user, struct hub_error *err)
{
    struct path_reading r = {expand, each, user};
    const char *type = hub_request_header(request, "Content-Type");
    return type && hub_view_starts(hub_view_of(type), "application/json") ? add_json(&r, request->body, err)
                                                                          : add_form(&r, request->body, err);
}
