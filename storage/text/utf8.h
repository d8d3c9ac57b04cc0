/** UTF-8 (RFC 3629): no surrogates, no overlong forms, nothing above U+10FFFF. */
#ifndef HUB_TEXT_UTF8_H
#define HUB_TEXT_UTF8_H

#include "storage/base/buf.h"

/** Decode the character at `text`. Returns its bytes (1 to 4), or 0 when there is none or it is malformed. */
size_t hub_utf8_decode(struct hub_view text, uint32_t *out);

/** The next character of a text that is not empty, taken off it: U+FFFD for a byte that belongs to none. */
uint32_t hub_utf8_next(struct hub_view *text);

bool hub_utf8_valid(struct hub_view text);

/** A control character (U+0000 to U+001F, U+007F to U+009F), or one that changes the direction of the text
 * behind it (U+202A to U+202E, U+2066 to U+2069), with which a name is shown as another one. */
bool hub_utf8_hides(uint32_t code);
/** Valid, and without characters that hide something. */
bool hub_utf8_printable(struct hub_view text);
/** Make text safe for a terminal, in place: each byte of a character that hides something, and each that is
 * not UTF-8, becomes '?'. */
void hub_utf8_clean(char *text, size_t size);

#endif
