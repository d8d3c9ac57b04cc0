/* The client, its URLs and the documents it reads. */
#include "client/lib/internal.h"
#include "storage/base/id.h"
#include "storage/base/uri.h"

#include <stdio.h>
#include <stdlib.h>

static enum hub_status make(const struct minari_client_options *o, struct minari_client *c,
                            struct hub_error *err)
{
    struct minari_remote remote;
    if (!o->base_url || minari_remote_parse(o->base_url, &remote, NULL) || remote.kind != MINARI_REMOTE_HUB)
        return hub_fail(err, HUB_INVALID,
                        "'%.200s' is not the URL of a hub: http://HOST[:PORT] or https://HOST[:PORT]",
                        o->base_url ? o->base_url : "");
    c->base = strdup(remote.text);
    if (!c->base)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a client");
    struct hub_transport_options t = {.token = o->token,
                                      .user_agent = o->user_agent ? o->user_agent : "libminari/" HUB_VERSION,
                                      .proxy = o->proxy,
                                      .environment_proxy = o->environment_proxy,
                                      .other_hosts = o->trust_redirects,
                                      .bytes_per_s = o->bytes_per_s ? HUB_MAX(o->bytes_per_s, 64 * KIB) : 0,
                                      .waiting = o->waiting,
                                      .trace = o->trace,
                                      .connect_timeout_ms =
                                          o->connect_timeout_ms ? o->connect_timeout_ms : 10000,
                                      .stall_timeout_ms = o->stall_timeout_ms ? o->stall_timeout_ms : 30000,
                                      .retry = HUB_RETRY_DEFAULT,
                                      .interrupted = o->interrupted,
                                      .user = o->user};
    if (o->attempts)
        t.retry.attempts = o->attempts;
    return hub_transport_new(&t, &c->transport, err);
}

enum minari_status minari_client_new(const struct minari_client_options *options, struct minari_client **out,
                                     struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_client_options own;
    HUB_OPTIONS_COPY(own, options);
    if (!out)
        return hub_client_report(hub_client_missing(&error), &error, err);
    struct minari_client *c = calloc(1, sizeof *c);
    enum hub_status st =
        c ? make(&own, c, &error) : hub_fail(&error, HUB_NO_MEMORY, "no memory for a client");
    if (st)
        minari_client_free(c);
    else
        *out = c;
    return hub_client_report(st, &error, err);
}

void minari_client_free(struct minari_client *client)
{
    if (!client)
        return;
    hub_transport_free(client->transport);
    free(client->base);
    free(client);
}

enum hub_status hub_client_missing(struct hub_error *err)
{
    return hub_fail(err, HUB_INVALID, "a client and a place for the result are needed");
}

/* ---- URLs ---- */

enum hub_status hub_client_url(const struct minari_client *client, const char *id, const char *rest,
                               struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(out, err, "%s/api/v1/datasets", client->base));
    if (!id)
        return HUB_OK;
    HUB_TRY(hub_id_check(hub_view_of(id), err));
    HUB_TRY(hub_buf_add_text(out, "/", err));
    HUB_TRY(hub_uri_encode_path(hub_view_of(id), out, err));
    return rest ? hub_buf_addf(out, err, "/%s", rest) : HUB_OK;
}

enum hub_status hub_client_parameter(struct hub_buf *url, const char *name, const char *value,
                                     struct hub_error *err)
{
    if (!value)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(url, err, "%s%s=", memchr(url->data, '?', url->size) ? "&" : "?", name));
    return hub_uri_encode_segment(hub_view_of(value), url, err);
}

/* ---- documents ---- */

static enum hub_status into_buffer_head(struct hub_fetch *fetch, const struct hub_answer *answer,
                                        struct hub_error *err)
{
    struct hub_buf *out = fetch->user;
    out->size = 0; /* an earlier attempt's */
    fetch->done = 0;
    if (!answer->has_length || answer->length > out->limit)
        return HUB_OK; /* counted as it comes */
    return hub_buf_reserve(out, (size_t)answer->length, err);
}

static enum hub_status into_buffer(struct hub_fetch *fetch, struct hub_view bytes, struct hub_error *err)
{
    return hub_buf_add(fetch->user, bytes.data, bytes.size, err);
}

enum hub_status hub_client_read(struct minari_client *client, const char *url, const char *accept,
                                struct hub_buf *out, struct hub_error *err)
{
    struct hub_fetch fetch = {.url = url,
                              .accept = accept,
                              .restartable = true,
                              .limit = out->limit,
                              .head = into_buffer_head,
                              .body = into_buffer,
                              .user = out};
    return hub_transport_get(client->transport, &fetch, err);
}

enum hub_status hub_client_document(struct minari_client *client, const char *url, size_t max_bytes,
                                    struct hub_buf *text, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf own = HUB_BUF_INIT(max_bytes);
    struct hub_buf *body = text ? text : &own;
    HUB_TRY(hub_client_read(client, url, "application/json", body, err));
    if (hub_json_parse(hub_buf_view(body), max_bytes, out, NULL) || !json_is_object(*out))
        return hub_fail_as(err, HUB_CORRUPT, "protocol",
                           "the answer of %.200s is not a JSON object: is it a hub?", url);
    return HUB_OK;
}

const char *hub_member_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

uint64_t hub_member_uint(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
    return n > 0 ? (uint64_t)n : 0;
}

bool hub_client_same_id(const char *asked, const char *got)
{
    struct hub_view name;
    uint32_t version;
    return strcmp(asked, got) == 0 ||
           (hub_id_split_alias(hub_view_of(got), &name, &version) && hub_view_is(name, asked));
}

enum hub_status hub_path_check(const char *path, struct hub_error *err)
{
    const char *at = path;
    bool good = path && strlen(path) < 4096;
    while (good) {
        const char *slash = strchrnul(at, '/');
        good = hub_id_segment_safe((struct hub_view){at, (size_t)(slash - at)});
        if (!*slash)
            break;
        at = slash + 1;
    }
    return good ? HUB_OK
                : hub_fail_as(err, HUB_CORRUPT, "protocol",
                              "the hub lists a file that cannot be created safely: '%.200s'",
                              path ? path : "");
}

/* ---- the raw text of a page's items ---- */

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    return at;
}

/* Behind a string that begins at `at`. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

/* Behind one value of JSON that parses: only nesting and strings matter. */
static const char *skip_value(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            if (!depth)
                return at;
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']')
            depth--;
        else if (!depth && strchr(", \t\r\n", *at))
            return at;
        if (depth < 0)
            return at; /* the container's end behind a bare number or word */
        at++;
        if (!depth && (at[-1] == '}' || at[-1] == ']'))
            return at;
    }
    return end;
}

/* Where the value of `key` begins, or NULL. */
static const char *find_member(struct hub_view object, const char *key)
{
    const char *end = object.data + object.size, *found = NULL;
    const char *at = skip_space(object.data, end) + 1;
    while (true) {
        at = skip_space(at, end);
        if (at >= end || *at != '"')
            return found;
        const char *name = at + 1;
        at = skip_string(at, end);
        const struct hub_view text = {name, (size_t)(at - name) - 1};
        at = skip_space(at, end) + 1; /* the colon */
        at = skip_space(at, end);
        if (hub_view_is(text, key))
            found = at;
        at = skip_space(skip_value(at, end), end) + 1;
    }
}

enum hub_status hub_raw_items(struct hub_view object, const char *key, size_t max, struct hub_view **out,
                              size_t *count, struct hub_error *err)
{
    const char *end = object.data + object.size, *at = find_member(object, key);
    struct hub_view *items = calloc(max + 1, sizeof *items);
    size_t n = 0;
    if (!items)
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a page");
    if (at && at < end && *at == '[') {
        at = skip_space(at + 1, end);
        while (at < end && *at != ']' && n < max) {
            const char *next = skip_value(at, end);
            items[n++] = (struct hub_view){at, (size_t)(next - at)};
            at = skip_space(next, end);
            if (at < end && *at == ',')
                at = skip_space(at + 1, end);
        }
    }
    *out = items;
    *count = n;
    return HUB_OK;
}

/* ---- pages ---- */

enum { PAGE_BYTES = 64 * 1024 * 1024 };

enum hub_status hub_page_get(struct minari_client *client, const char *url, struct hub_page *page,
                             struct hub_error *err)
{
    hub_page_dispose(page);
    page->text = HUB_BUF_INIT(PAGE_BYTES);
    HUB_TRY(hub_client_document(client, url, PAGE_BYTES, &page->text, &page->document, err));
    page->items = json_object_get(page->document, "items");
    if (!json_is_array(page->items))
        return hub_fail_as(err, HUB_CORRUPT, "protocol", "the answer of %.200s has no items: is it a hub?",
                           url);
    HUB_TRY(hub_raw_items(hub_buf_view(&page->text), "items", json_array_size(page->items), &page->raw,
                          &page->count, err));
    if (page->count != json_array_size(page->items))
        return hub_fail_as(err, HUB_CORRUPT, "protocol", "the answer of %.200s cannot be read", url);
    /* Only the query is taken over: another host, or the hub's name for itself behind a proxy, is of no use
     * here. */
    const char *next = hub_member_text(page->document, "next");
    const char *query = next ? strchr(next, '?') : NULL;
    if (query && page->count && !(page->next = strdup(query)))
        return hub_fail(err, HUB_NO_MEMORY, "no memory for a page");
    return HUB_OK;
}

void hub_page_dispose(struct hub_page *page)
{
    hub_buf_dispose(&page->text);
    json_decref(page->document);
    free(page->raw);
    free(page->next);
    *page = (struct hub_page){0};
}
