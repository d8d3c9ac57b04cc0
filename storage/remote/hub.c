/* A hub as a remote: see hub.h. */
#include "storage/remote/hub.h"

#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/remote/items.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <stdlib.h>

enum { DOCUMENT_BYTES = 64 * 1024 * 1024, LISTING_BYTES = 256 * 1024 * 1024 /* what a hub sends at most */ };

/* ---- URLs ---- */

enum hub_status hub_api_url(const struct hub_remote *remote, const char *id, const char *rest,
                            struct hub_buf *out, struct hub_error *err)
{
    if (remote->kind != &hub_remote_hub)
        return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_HUB_NEEDED,
                           "'%.200s' is not a hub: it has datasets and files only", remote->base);
    HUB_TRY(hub_buf_addf(out, err, "%s/api/v1/datasets", remote->base));
    if (!id)
        return HUB_OK;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf spelled = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_respell_id(hub_view_of(id), &spelled, err));
    HUB_TRY(hub_id_check(hub_buf_view(&spelled), err));
    HUB_TRY(hub_buf_add_text(out, "/", err));
    HUB_TRY(hub_uri_encode_path(hub_buf_view(&spelled), out, err));
    return rest ? hub_buf_addf(out, err, "/%s", rest) : HUB_OK;
}

enum hub_status hub_api_parameter(struct hub_buf *url, const char *name, const char *value,
                                  struct hub_error *err)
{
    if (!value)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(url, err, "%s%s=", memchr(url->data, '?', url->size) ? "&" : "?", name));
    return hub_uri_encode_segment(hub_view_of(value), url, err);
}

enum hub_status hub_api_list_url(const struct hub_remote *remote, const struct hub_remote_query *q,
                                 unsigned limit, struct hub_buf *url, struct hub_error *err)
{
    HUB_TRY(hub_api_url(remote, NULL, NULL, url, err));
    HUB_TRY(hub_buf_addf(url, err, "?limit=%u", limit));
    HUB_TRY(hub_api_parameter(url, "prefix", q->prefix, err));
    HUB_TRY(hub_api_parameter(url, "format", q->format, err));
    HUB_TRY(hub_api_parameter(url, "status", q->status, err));
    HUB_TRY(hub_api_parameter(url, "for", q->release, err));
    HUB_TRY(hub_api_parameter(url, "sort", q->sort, err));
    HUB_TRY(hub_api_parameter(url, "latest", q->latest ? "true" : NULL, err));
    for (const struct hub_remote_filter *f = q->filters; f && f->name; f++)
        HUB_TRY(hub_api_parameter(url, f->name, f->value, err));
    return HUB_OK;
}

bool hub_api_same_id(const char *requested, const char *got)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf spelled = HUB_BUF_INIT(64 * KIB);
    struct hub_view name;
    uint32_t version;
    if (hub_respell_id(hub_view_of(requested), &spelled, NULL))
        return false;
    return hub_view_is(hub_buf_view(&spelled), got) ||
           (hub_id_split_alias(hub_view_of(got), &name, &version) &&
            hub_view_equal(name, hub_buf_view(&spelled)));
}

/* ---- pages ---- */

enum { PAGE_BYTES = 64 * 1024 * 1024, MAX_PAGES = 100 * 1000 /* of up to 1000 items */ };

/* One page of a listing: its items both parsed and as they came. */
struct listing_page {
    struct hub_buf text;
    json_t *document;
    json_t *items;
    struct hub_view *raw; /* as many as items */
    size_t count;
    char *next; /* the query of the next page, or NULL */
};

static void dispose_page(struct listing_page *page)
{
    hub_buf_dispose(&page->text);
    json_decref(page->document);
    free(page->raw);
    free(page->next);
    *page = (struct listing_page){0};
}

static enum hub_status get_page(struct hub_remote *remote, const char *url, struct listing_page *page,
                                struct hub_error *err)
{
    dispose_page(page);
    page->text = HUB_BUF_INIT(PAGE_BYTES);
    HUB_TRY(hub_remote_document(remote, url, PAGE_BYTES, &page->text, &page->document, err));
    page->items = json_object_get(page->document, "items");
    if (!json_is_array(page->items))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the answer of %.200s has no items: check that it is a hub", url);
    HUB_TRY(hub_raw_items(hub_buf_view(&page->text), "items", json_array_size(page->items), &page->raw,
                          &page->count, err));
    if (page->count != json_array_size(page->items))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the answer of %.200s cannot be read",
                           url);
    /* Only the query is taken over: another host, or the hub's name for itself behind a proxy, is of no use
     * here. */
    const char *next = hub_member_text(page->document, "next");
    const char *query = next ? strchr(next, '?') : NULL;
    if (query && page->count && !(page->next = strdup(query)))
        return hub_no_memory(err);
    return HUB_OK;
}

enum hub_status hub_api_each(struct hub_remote *remote, const char *id, const char *rest, struct hub_buf *url,
                             hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    HUB_CLEANUP(dispose_page) struct listing_page page = {0};
    for (unsigned pages = 1;; pages++) {
        HUB_TRY(get_page(remote, url->data, &page, err));
        for (size_t i = 0; i < page.count; i++)
            HUB_TRY(fn(json_array_get(page.items, i), page.raw[i], user, err));
        if (!page.next)
            return HUB_OK;
        if (pages == MAX_PAGES)
            return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LONG,
                               "the hub's list does not end after %u pages", pages);
        url->size = 0;
        HUB_TRY(hub_api_url(remote, id, rest, url, err));
        HUB_TRY(hub_buf_add_text(url, page.next, err));
    }
}

/* ---- the row ---- */

/* HOST[:PORT] or [IPV6][:PORT] before the first slash. */
static bool is_address(struct hub_view rest)
{
    const char *end = memchr(rest.data, '/', rest.size);
    struct hub_view left = {rest.data, end ? (size_t)(end - rest.data) : rest.size};
    size_t host = 0;
    if (left.size && left.data[0] == '[') {
        const size_t inner = strspn(left.data + 1, "0123456789abcdefABCDEF:.%");
        host = inner && inner + 1 < left.size && left.data[inner + 1] == ']' ? inner + 2 : 0;
    } else {
        while (host < left.size && !strchr(":[]", left.data[host]))
            host++;
    }
    if (!host || host == left.size)
        return host;
    const struct hub_view digits = {left.data + host + 1, left.size - host - 1};
    unsigned port = 0;
    for (size_t i = 0; i < digits.size && port <= 65535; i++)
        port = digits.data[i] >= '0' && digits.data[i] <= '9' ? port * 10 + (unsigned)(digits.data[i] - '0')
                                                              : 65536;
    return left.data[host] == ':' && port > 0 && port <= 65535;
}

static enum hub_status list(struct hub_remote *remote, const struct hub_remote_query *q,
                            hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_api_list_url(remote, q, 1000, &url, err));
    return hub_api_each(remote, NULL, NULL, &url, fn, user, err);
}

static enum hub_status describe(struct hub_remote *remote, const char *id, const char *release,
                                struct hub_buf *text, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    HUB_TRY(hub_api_url(remote, id, NULL, &url, err));
    HUB_TRY(hub_api_parameter(&url, "for", release, err));
    return hub_remote_document(remote, url.data, DOCUMENT_BYTES, text, out, err);
}

/* What a list of files says beside the files, and their text. */
struct file_list {
    json_t *id, *revision;
    struct hub_view items;
};

static void dispose_list(struct file_list *list)
{
    json_decref(list->id);
    json_decref(list->revision);
}

static enum hub_status read_list(struct hub_view text, struct file_list *out, struct hub_error *err)
{
    struct hub_view key, value;
    while (hub_json_take(&text, &key, &value)) {
        const bool is_id = hub_view_is(key, "id");
        if (hub_view_is(key, "items"))
            out->items = value;
        if (!is_id && !hub_view_is(key, "revision"))
            continue;
        json_t **place = is_id ? &out->id : &out->revision;
        json_decref(*place); /* of equal keys the last counts */
        *place = json_loadb(value.data, value.size, JSON_DECODE_ANY, NULL);
        HUB_TRY(hub_allocated(*place, err));
    }
    return HUB_OK;
}

static enum hub_status add_file(const json_t *item, struct hub_remote_files *out, struct hub_error *err)
{
    const struct hub_view name = hub_member_view(item, "path");
    const char *path = name.size && !memchr(name.data, '\0', name.size) ? name.data : NULL;
    const char *modified = hub_member_text(item, "modified");
    const json_t *size = json_object_get(item, "size");
    HUB_TRY(hub_path_check(path, err));
    if (!json_is_integer(size) || json_integer_value(size) < 0)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the hub does not state the size of '%s'",
                           path);
    HUB_TRY(hub_remote_files_add(out, path, (uint64_t)json_integer_value(size),
                                 hub_member_text(item, "sha256"), err));
    if (modified)
        (void)hub_time_parse_rfc3339(hub_view_of(modified), &out->items[out->count - 1].modified_ns);
    return HUB_OK;
}

/* One after the other: parsed together, a million files take several times the memory of their text. */
static enum hub_status add_files(struct hub_view items, struct hub_remote_files *out, struct hub_error *err)
{
    struct hub_view value;
    while (hub_json_take(&items, NULL, &value)) {
        HUB_CLEANUP(hub_json_decrefp) json_t *item = NULL;
        HUB_TRY(hub_json_parse(value, value.size + 1, &item, err));
        HUB_TRY(add_file(item, out, err));
    }
    return hub_remote_files_finish(out, err);
}

static enum hub_status read_files(const struct file_list *list, const char *id, const char *revision,
                                  struct hub_remote_files *out, struct hub_error *err)
{
    const char *full = json_string_value(list->id), *now = json_string_value(list->revision);
    if (!full || !now || !list->items.size || list->items.data[0] != '[')
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the list of files of '%s' is not that of a hub", id);
    if (!hub_api_same_id(id, full))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the request names the files of '%.200s', but the hub listed those of '%.200s'",
                           id, full);
    if (revision && strcmp(now, revision) != 0)
        return hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_REVISION_GONE, "'%s' is now at revision %.40s", id,
                           now);
    HUB_TRY(hub_dup(&out->id, full, err));
    HUB_TRY(hub_dup(&out->revision, now, err));
    out->timed = true;
    return add_files(list->items, out, err);
}

static enum hub_status files(struct hub_remote *remote, const char *id, const char *revision,
                             struct hub_remote_files *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf url = HUB_BUF_INIT(16 * KIB), text = HUB_BUF_INIT(LISTING_BYTES);
    HUB_CLEANUP(dispose_list) struct file_list list = {0};
    HUB_TRY(hub_api_url(remote, id, "files", &url, err));
    HUB_TRY(hub_api_parameter(&url, "revision", revision, err));
    HUB_TRY(hub_remote_object(remote, url.data, &text, err));
    HUB_TRY(read_list(hub_buf_view(&text), &list, err));
    return read_files(&list, id, revision, out, err);
}

static enum hub_status open_file(const struct hub_remote *remote, const struct hub_remote_files *files_of,
                                 const struct hub_file_facts *file, struct hub_buf *url,
                                 struct hub_fetch *fetch, struct hub_error *err)
{
    (void)fetch;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf rest = HUB_BUF_INIT(32 * KIB);
    HUB_TRY(hub_buf_add_text(&rest, "files/", err));
    HUB_TRY(hub_uri_encode_path(hub_view_of(file->path), &rest, err));
    HUB_TRY(hub_api_url(remote, files_of->id, rest.data, url, err));
    return hub_api_parameter(url, "revision", files_of->revision, err);
}

static enum hub_status space(const struct hub_remote *remote, const char *name, struct hub_buf *url,
                             struct hub_error *err)
{
    HUB_TRY(hub_buf_addf(url, err, "%s/api/v1/namespaces/", remote->base));
    return hub_uri_encode_path(hub_view_of(name), url, err);
}

const struct hub_remote_kind hub_remote_hub = {
    .noun = "hub",
    .digests_come = true,
    .is_address = is_address,
    .list = list,
    .describe = describe,
    .files = files,
    .open = open_file,
    .space = space,
};
