/*
 * Strict JSON without building it: an inspector's JSON texts are stored and shown as they are, so they are
 * proven first, in one pass, with a stack of one bit a level (RFC 8259; see text.h for the bounds added).
 */
#include "storage/inspect/text.h"

#include "storage/base/hex.h"

#include <math.h>
#include <stdlib.h>

#define MAX_DEPTH 64
#define MAX_INTEGER 9007199254740991 /* 2^53-1 */

struct scan {
    const char *at, *end;
};

static void blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool take(struct scan *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static bool word(struct scan *s, const char *text)
{
    const size_t n = strlen(text);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, text, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* Four hexadecimal digits, or -1. */
static int hex4(struct scan *s)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        if (s->at == s->end)
            return -1;
        const int digit = hub_hex_digit(*s->at++);
        if (digit < 0)
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

static bool escape(struct scan *s, bool key)
{
    if (s->at == s->end)
        return false;
    const char c = *s->at++;
    if (c != 'u')
        return c != '\0' && strchr("\"\\/bfnrt", c) != NULL;
    const int unit = hex4(s);
    if (unit < 0 || (unit == 0 && key) || (unit >= 0xDC00 && unit <= 0xDFFF))
        return false;
    if (unit < 0xD800 || unit > 0xDBFF)
        return true;
    if (!take(s, '\\') || !take(s, 'u'))
        return false;
    const int low = hex4(s);
    return low >= 0xDC00 && low <= 0xDFFF;
}

/* NUL may stand in a string, escaped, but not in a key: jansson's rule. */
static bool string(struct scan *s, bool key)
{
    if (!take(s, '"'))
        return false;
    while (s->at < s->end) {
        const unsigned char c = (unsigned char)*s->at++;
        if (c == '"')
            return true;
        if (c < 0x20 || (c == '\\' && !escape(s, key)))
            return false;
    }
    return false;
}

static size_t digits(struct scan *s)
{
    const char *start = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9')
        s->at++;
    return (size_t)(s->at - start);
}

static bool number(struct scan *s)
{
    const char *start = s->at;
    bool real = false;
    take(s, '-');
    if (!take(s, '0') && digits(s) == 0)
        return false;
    if (take(s, '.')) {
        real = true;
        if (digits(s) == 0)
            return false;
    }
    if (take(s, 'e') || take(s, 'E')) {
        real = true;
        if (!take(s, '+'))
            take(s, '-');
        if (digits(s) == 0)
            return false;
    }
    char text[1100]; /* longer numbers are nobody's */
    const size_t n = (size_t)(s->at - start);
    if (n >= (real ? sizeof text : 18))
        return false;
    memcpy(text, start, n);
    text[n] = '\0';
    return real ? isfinite(strtod(text, NULL)) : llabs(strtoll(text, NULL, 10)) <= MAX_INTEGER;
}

static bool scalar(struct scan *s)
{
    if (s->at == s->end)
        return false;
    switch (*s->at) {
    case '"':
        return string(s, false);
    case 't':
        return word(s, "true");
    case 'f':
        return word(s, "false");
    case 'n':
        return word(s, "null");
    default:
        return number(s);
    }
}

static bool member_key(struct scan *s)
{
    blanks(s);
    if (!string(s, true))
        return false;
    blanks(s);
    return take(s, ':');
}

/* After a value: closes what ends here. True when the next value is due (`*done`: none is), false on an
 * error. */
static bool after_value(struct scan *s, uint64_t objects, int *depth, bool *done)
{
    for (;;) {
        blanks(s);
        *done = *depth == 0;
        if (*done)
            return s->at == s->end;
        const bool object = objects >> (*depth - 1) & 1;
        if (take(s, ','))
            return !object || member_key(s);
        if (!take(s, object ? '}' : ']'))
            return false;
        --*depth;
    }
}

/* One value, nested ones included, up to the end of the text. */
static bool document(struct scan *s)
{
    uint64_t objects = 0; /* bit d: level d is an object */
    int depth = 0;
    for (bool done = false; !done;) {
        blanks(s);
        const bool object = s->at < s->end && *s->at == '{', array = s->at < s->end && *s->at == '[';
        if (!object && !array) {
            if (!scalar(s) || !after_value(s, objects, &depth, &done))
                return false;
            continue;
        }
        if (depth == MAX_DEPTH)
            return false;
        s->at++;
        objects = (objects & ~((uint64_t)1 << depth)) | (uint64_t)object << depth;
        depth++;
        blanks(s);
        if (s->at < s->end && *s->at == (object ? '}' : ']')) {
            if (!after_value(s, objects, &depth, &done))
                return false;
        } else if (object && !member_key(s)) {
            return false;
        }
    }
    return true;
}

bool hub_json_valid(struct hub_view text, enum hub_json_kind kind)
{
    if (!text.data || !hub_text_valid(text))
        return false;
    struct scan s = {text.data, text.data + text.size};
    blanks(&s);
    const char first = s.at < s.end ? *s.at : '\0';
    if ((kind == HUB_JSON_OBJECT && first != '{') || (kind == HUB_JSON_ARRAY && first != '['))
        return false;
    return document(&s);
}
