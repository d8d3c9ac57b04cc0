/* The raw text of items in a document, for who wants them as they came: see hub.h. */
#include "storage/remote/hub.h"

#include <stdlib.h>

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
