/* See markup.h. */
#include "server/facade/markup.h"

static const char *entity_of(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

enum hub_status hub_markup_add(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    for (size_t i = 0; i < text.size; i++) {
        const char *entity = entity_of(text.data[i]);
        HUB_TRY(entity ? hub_buf_add_text(out, entity, err) : hub_buf_add(out, text.data + i, 1, err));
    }
    return HUB_OK;
}
