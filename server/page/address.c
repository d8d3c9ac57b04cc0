/* Addresses that pages lead to: see frame.h. */
#include "server/page/frame.h"

#include "storage/text/number.h"
#include "storage/text/uri.h"

#include <stdarg.h>
#include <stdlib.h>

static struct hub_buf *next_url(struct page *page)
{
    struct hub_buf *url = &page->urls[page->next_url++ % PAGE_URLS];
    url->limit = PAGE_URL_LIMIT;
    url->size = 0;
    return url;
}

/* Before the fragment; once. */
enum hub_status page_add_revision(struct hub_view revision, struct hub_buf *url, struct hub_error *err)
{
    if (memmem(url->data, url->size, "revision=", 9))
        return HUB_OK;
    const char *hash = memchr(url->data, '#', url->size);
    HUB_CLEANUP(hub_freep) char *fragment = hash ? strdup(hash) : NULL;
    if (hash)
        url->size = (size_t)(hash - url->data);
    const char *query = memchr(url->data, '?', url->size);
    HUB_TRY(hub_buf_add_text(url, !query ? "?" : url->data[url->size - 1] == '?' ? "" : "&", err));
    HUB_TRY(hub_buf_add_text(url, "revision=", err));
    HUB_TRY(hub_uri_encode_segment(revision, url, err));
    return fragment ? hub_buf_add_text(url, fragment, err) : HUB_OK;
}

enum hub_status page_add_shell(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(out, "'", err));
    for (size_t i = 0; i < text.size; i++)
        HUB_TRY(text.data[i] == '\'' ? hub_buf_add_text(out, "'\\''", err)
                                     : hub_buf_add(out, text.data + i, 1, err));
    return hub_buf_add_text(out, "'", err);
}

static enum hub_status add_part(struct hub_buf *url, char kind, va_list *args)
{
    char digits[HUB_NUMBER_CHARS];
    if (kind == 'n') {
        page_count_text(va_arg(*args, uint64_t), digits);
        return hub_buf_add_text(url, digits, NULL);
    }
    if (kind == 'u')
        return hub_buf_add(url, digits, hub_number_u64(va_arg(*args, uint64_t), digits), NULL);
    const struct hub_view text = va_arg(*args, struct hub_view);
    if (kind == 'q')
        return page_add_shell(text, url, NULL);
    if (kind == 'p')
        return hub_uri_encode_path(text, url, NULL);
    return kind == 's' ? hub_uri_encode_segment(text, url, NULL) : hub_buf_add_view(url, text, NULL);
}

struct hub_view page_url(struct page *page, const char *pattern, ...)
{
    struct hub_buf *url = next_url(page);
    enum hub_status st = HUB_OK;
    const bool at_revision = *pattern == '@';
    va_list args;
    va_start(args, pattern);
    pattern += at_revision;
    while (*pattern && !st) {
        const size_t plain = strcspn(pattern, "%");
        st = hub_buf_add(url, pattern, plain, NULL);
        pattern += plain;
        if (!st && *pattern) {
            st = add_part(url, pattern[1], &args);
            pattern += 2;
        }
    }
    va_end(args);
    if (!st && at_revision && page->revision.size)
        st = page_add_revision(page->revision, url, NULL);
    return st ? HUB_VIEW("") : hub_buf_view(url);
}

static bool is_among(const char *words, struct hub_view name)
{
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t size = strcspn(at, " ");
        if (size == name.size && memcmp(at, name.data, size) == 0)
            return true;
        at += size;
    }
    return false;
}

static enum hub_status add_pair(struct hub_buf *url, struct hub_view name, struct hub_view value)
{
    if (!value.size)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(url, url->size > 1 ? "&" : "", NULL));
    HUB_TRY(hub_uri_encode_segment(name, url, NULL));
    HUB_TRY(hub_buf_add_text(url, "=", NULL));
    return hub_uri_encode_segment(value, url, NULL);
}

struct hub_view page_query(struct page *page, const char *without, ...)
{
    struct hub_buf *url = next_url(page);
    enum hub_status st = hub_buf_add_text(url, "?", NULL);
    for (unsigned i = 0; i < page->request->query_count && !st; i++)
        if (!is_among(without, page->request->query[i].name))
            st = add_pair(url, page->request->query[i].name, page->request->query[i].value);
    va_list args;
    va_start(args, without);
    for (const char *name; !st && (name = va_arg(args, const char *));)
        st = add_pair(url, hub_view_of(name), va_arg(args, struct hub_view));
    va_end(args);
    return st ? HUB_VIEW("") : hub_buf_view(url);
}

struct hub_view page_query_of(struct hub_view url)
{
    const char *at = url.size ? memchr(url.data, '?', url.size) : NULL;
    return at ? (struct hub_view){at, (size_t)(url.data + url.size - at)} : HUB_VIEW("");
}
