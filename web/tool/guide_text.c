/* See guide_text.h. */
#include "guide_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *to, const char *data, size_t size)
{
    if (!to->data || to->size + size + 1 > to->room) {
        to->room = 2 * (to->size + size + 1);
        to->data = realloc(to->data, to->room);
        if (!to->data)
            abort();
    }
    if (size)
        memcpy(to->data + to->size, data, size);
    to->size += size;
    to->data[to->size] = '\0';
}

void text_put(struct text *to, const char *text)
{
    text_add(to, text, strlen(text));
}

void text_escape(struct text *to, const char *data, size_t size)
{
    static const char special[] = "&<>\"";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    for (size_t i = 0; i < size; i++) {
        const char *found = data[i] ? strchr(special, data[i]) : NULL;
        if (found)
            text_put(to, names[found - special]);
        else
            text_add(to, data + i, 1);
    }
}

bool text_is(const struct text *text, const char *word)
{
    return text->data && strcmp(text->data, word) == 0;
}

void text_anchor(struct text *to, const struct text *title)
{
    text_put(to, "");
    for (size_t i = 0; i < title->size; i++) {
        const unsigned char c = (unsigned char)title->data[i];
        const char lower = (char)(c == ' ' ? '-' : tolower(c));
        if (isalnum(c) || c == ' ' || c == '-' || c == '_')
            text_add(to, &lower, 1);
    }
}
