/** Texts that grow, for the compiler of the guide. */
#ifndef HUB_GUIDE_TEXT_H
#define HUB_GUIDE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *data; /* NUL-terminated once something was added */
    size_t size, room;
};

void text_add(struct text *to, const char *data, size_t size);
void text_put(struct text *to, const char *text);
void text_escape(struct text *to, const char *data, size_t size);
bool text_is(const struct text *text, const char *word);
/** As GitHub: letters and digits in lower case, '-' for a blank, nothing else but '-' and '_'. */
void text_anchor(struct text *to, const struct text *title);

#endif
