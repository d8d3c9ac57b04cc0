/* Reading JSON of foreign origin: see json.h. Python's json.dumps writes NaN and Infinity bare, integers of
 * any length and lone surrogates; jansson and browsers refuse those. The tokens are checked by RFC 8259 and
 * copied, so that digits stay as written; or only checked; or passed over. */
#include "storage/text/json.h"

#include "storage/base/hex.h"

#include <math.h>
#include <stdlib.h>

enum { DEEPEST = 2048 }; /* that jansson parses */

struct json_reader {
    struct hub_view text;
    size_t at;
    struct hub_buf *out; /* NULL: nothing is copied */
    bool strict;         /* what would be written in another way is refused */
    bool data;           /* integers keep their digits; non-finite numbers stand as `how` says, and count */
    enum hub_nonfinite how;
    uint64_t nonfinite;
    struct hub_error *err;
    unsigned depth, deepest;
    bool array[DEEPEST]; /* what each open container is */
};

static enum hub_status bad(const struct json_reader *r, const char *what)
{
    return hub_fail(r->err, HUB_CORRUPT, "bad JSON at byte %zu: %s", r->at, what);
}

static char peek(const struct json_reader *r)
{
    return r->at < r->text.size ? r->text.data[r->at] : '\0';
}

static void skip_spaces(struct json_reader *r)
{
    while (r->at < r->text.size) {
        const char c = r->text.data[r->at];
        if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            break;
        r->at++;
    }
}

static enum hub_status copy(struct json_reader *r, size_t size)
{
    if (r->out)
        HUB_TRY(hub_buf_add(r->out, r->text.data + r->at, size, r->err));
    r->at += size;
    return HUB_OK;
}

/* What Python wrote goes out in another way. */
static enum hub_status put(struct json_reader *r, struct hub_view text)
{
    if (r->strict)
        return bad(r, "not strict");
    return r->out ? hub_buf_add_view(r->out, text, r->err) : HUB_OK;
}

static bool at_word(const struct json_reader *r, const char *word)
{
    const size_t n = strlen(word);
    return r->text.size - r->at >= n && memcmp(r->text.data + r->at, word, n) == 0;
}

/* "\uXXXX" at `at`: its number, or -1. */
static int unicode_escape(const struct json_reader *r, size_t at)
{
    if (r->text.size - at < 6 || r->text.data[at] != '\\' || r->text.data[at + 1] != 'u')
        return -1;
    int code = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        const int digit = hub_hex_digit(r->text.data[i]);
        if (digit < 0)
            return -1;
        code = code << 4 | digit;
    }
    return code;
}

static bool low_surrogate(int code)
{
    return code >= 0xDC00 && code < 0xE000;
}

static enum hub_status read_escape(struct json_reader *r, bool key)
{
    if (r->text.size - r->at < 2)
        return bad(r, "unfinished string");
    if (r->text.data[r->at + 1] != 'u') {
        if (!r->text.data[r->at + 1] || !strchr("\"\\/bfnrt", r->text.data[r->at + 1]))
            return bad(r, "unknown escape");
        return copy(r, 2);
    }
    const int code = unicode_escape(r, r->at);
    if (code < 0)
        return bad(r, "bad \\u escape");
    if (code >= 0xD800 && code < 0xDC00 && low_surrogate(unicode_escape(r, r->at + 6)))
        return copy(r, 12);
    if ((code >= 0xD800 && code < 0xE000) || (code == 0 && key)) {
        r->at += 6;
        return put(r, HUB_VIEW("\\ufffd"));
    }
    return copy(r, 6);
}

static enum hub_status read_string(struct json_reader *r, bool key)
{
    HUB_TRY(copy(r, 1));
    while (r->at < r->text.size) {
        size_t end = r->at;
        uint8_t c = 0;
        for (; end < r->text.size; end++) {
            c = (uint8_t)r->text.data[end];
            if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80)
                break;
        }
        HUB_TRY(copy(r, end - r->at));
        if (end == r->text.size)
            break;
        if (c == '"')
            return copy(r, 1);
        if (c < 0x20)
            return bad(r, "control character in a string");
        if (c == '\\') {
            HUB_TRY(read_escape(r, key));
        } else {
            uint32_t code;
            const size_t n =
                hub_utf8_decode((struct hub_view){r->text.data + end, r->text.size - end}, &code);
            if (!n)
                return bad(r, "not UTF-8");
            HUB_TRY(copy(r, n));
        }
    }
    return bad(r, "unfinished string");
}

static size_t digits(struct json_reader *r)
{
    const size_t from = r->at;
    while (peek(r) >= '0' && peek(r) <= '9')
        r->at++;
    return r->at - from;
}

/* More than 2^53-1, by its digits: they have no leading zeros. */
static bool unsafe_integer(const char *text, size_t count)
{
    static const char limit[] = "9007199254740991";
    return count > 16 || (count == 16 && memcmp(text, limit, 16) > 0);
}

/* A number with fraction or exponent that no double can hold: the caller has checked its grammar. */
static bool overflows(struct hub_view number)
{
    char text[512];
    if (number.size >= sizeof(text)) {
        char *copy = hub_view_dup(number); /* strtod needs a terminator; that long is rare */
        const bool over = !copy || isinf(strtod(copy, NULL));
        free(copy);
        return over;
    }
    memcpy(text, number.data, number.size);
    text[number.size] = '\0';
    return isinf(strtod(text, NULL));
}

static enum hub_status add_quoted(struct json_reader *r, struct hub_view text)
{
    HUB_TRY(put(r, HUB_VIEW("\"")));
    HUB_TRY(put(r, text));
    return put(r, HUB_VIEW("\""));
}

static enum hub_status add_nonfinite(struct json_reader *r, struct hub_view name)
{
    r->nonfinite++;
    if (!r->data || r->how == HUB_NONFINITE_STRING)
        return add_quoted(r, name);
    return put(r, r->how == HUB_NONFINITE_NULL ? HUB_VIEW("null") : name);
}

static enum hub_status read_number(struct json_reader *r)
{
    const size_t from = r->at;
    const bool negative = peek(r) == '-';
    r->at += negative;
    const size_t whole_at = r->at;
    const size_t whole = digits(r);
    if (!whole || (whole > 1 && r->text.data[whole_at] == '0'))
        return bad(r, "bad number");
    bool integer = true, exponent = false;
    if (peek(r) == '.') {
        r->at++;
        integer = false;
        if (!digits(r))
            return bad(r, "bad number");
    }
    if (peek(r) == 'e' || peek(r) == 'E') {
        r->at++;
        integer = false;
        exponent = true;
        if (peek(r) == '+' || peek(r) == '-')
            r->at++;
        if (!digits(r))
            return bad(r, "bad number");
    }
    const struct hub_view number = {r->text.data + from, r->at - from};
    if (integer && !r->data && unsafe_integer(r->text.data + whole_at, whole))
        return add_quoted(r, number);
    if (!integer && (exponent || whole > 300) && overflows(number))
        return add_nonfinite(r, negative ? HUB_VIEW("-Infinity") : HUB_VIEW("Infinity"));
    return r->out ? hub_buf_add_view(r->out, number, r->err) : HUB_OK;
}

/* A value that is no container. */
static enum hub_status read_scalar(struct json_reader *r)
{
    static const char *const plain[] = {"true", "false", "null"};
    static const char *const quoted[] = {"NaN", "Infinity", "-Infinity"};
    if (peek(r) == '"')
        return read_string(r, false);
    for (size_t i = 0; i < HUB_COUNT(plain); i++) {
        if (at_word(r, plain[i]))
            return copy(r, strlen(plain[i]));
    }
    for (size_t i = 0; i < HUB_COUNT(quoted); i++) {
        if (at_word(r, quoted[i])) {
            r->at += strlen(quoted[i]);
            return add_nonfinite(r, hub_view_of(quoted[i]));
        }
    }
    if (peek(r) == '-' || (peek(r) >= '0' && peek(r) <= '9'))
        return read_number(r);
    if (r->at == 0 && hub_view_starts(r->text, "\xef\xbb\xbf"))
        return bad(r, "it begins with a byte order mark; save it as UTF-8 without one");
    return bad(r, r->at == r->text.size ? "unfinished" : "a value was expected");
}

static enum hub_status read_key(struct json_reader *r)
{
    skip_spaces(r);
    if (peek(r) != '"')
        return bad(r, "a key was expected");
    HUB_TRY(read_string(r, true));
    skip_spaces(r);
    if (peek(r) != ':')
        return bad(r, "':' was expected");
    return copy(r, 1);
}

/* Open containers until a scalar or an empty container has been read: a whole value ends here unless
 * something is open. */
static enum hub_status read_value(struct json_reader *r)
{
    while (true) {
        skip_spaces(r);
        const char c = peek(r);
        if (c != '[' && c != '{')
            return read_scalar(r);
        if (r->depth == r->deepest)
            return bad(r, "nested too deeply");
        HUB_TRY(copy(r, 1));
        r->array[r->depth++] = c == '[';
        skip_spaces(r);
        if (peek(r) == (c == '[' ? ']' : '}')) {
            r->depth--;
            return copy(r, 1);
        }
        if (c == '{')
            HUB_TRY(read_key(r));
    }
}

/* One value, nested ones included. */
static enum hub_status read_whole(struct json_reader *r)
{
    HUB_TRY(read_value(r));
    while (r->depth) {
        const bool array = r->array[r->depth - 1];
        skip_spaces(r);
        const char c = peek(r);
        if (c == (array ? ']' : '}')) {
            r->depth--;
            HUB_TRY(copy(r, 1));
        } else if (c == ',') {
            HUB_TRY(copy(r, 1));
            if (!array)
                HUB_TRY(read_key(r));
            HUB_TRY(read_value(r));
        } else {
            return bad(r, r->at == r->text.size ? "unfinished" : "',' or an end was expected");
        }
    }
    return HUB_OK;
}

static enum hub_status read_all(struct json_reader *r)
{
    HUB_TRY(read_whole(r));
    skip_spaces(r);
    return r->at == r->text.size ? HUB_OK : bad(r, "there is text after the value");
}

/* read_all; `out` is as it was where that fails. */
static enum hub_status rewrite(struct json_reader *r)
{
    const size_t start = r->out->size;
    const enum hub_status st = read_all(r);
    if (st && r->out->data) {
        r->out->size = start;
        r->out->data[start] = '\0';
    }
    return st;
}

enum hub_status hub_json_strict(struct hub_view text, struct hub_buf *out, struct hub_error *err)
{
    struct json_reader r = {.text = text, .out = out, .err = err, .deepest = HUB_JSON_DEPTH};
    return rewrite(&r);
}

enum hub_status hub_json_data(struct hub_view text, enum hub_nonfinite how, uint64_t *nonfinite,
                              struct hub_buf *out, struct hub_error *err)
{
    struct json_reader r = {
        .text = text, .out = out, .err = err, .deepest = HUB_JSON_DEPTH, .data = true, .how = how};
    HUB_TRY(rewrite(&r));
    *nonfinite += r.nonfinite;
    return HUB_OK;
}

bool hub_json_valid(struct hub_view text, enum hub_json_kind kind)
{
    struct json_reader r = {.text = text, .strict = true, .deepest = HUB_JSON_DEPTH};
    skip_spaces(&r);
    if ((kind == HUB_JSON_OBJECT && peek(&r) != '{') || (kind == HUB_JSON_ARRAY && peek(&r) != '['))
        return false;
    return read_all(&r) == HUB_OK;
}

bool hub_json_take(struct hub_view *rest, struct hub_view *key, struct hub_view *value)
{
    struct json_reader r = {.text = *rest, .deepest = DEEPEST};
    skip_spaces(&r);
    r.at += r.at < r.text.size; /* the opening bracket, or the comma behind the one before */
    skip_spaces(&r);
    size_t from = r.at;
    if (key) {
        if (peek(&r) != '"' || read_string(&r, true))
            return false;
        *key = (struct hub_view){r.text.data + from + 1, r.at - from - 2};
        skip_spaces(&r);
        r.at += r.at < r.text.size; /* ':' */
        skip_spaces(&r);
        from = r.at;
    }
    if (read_whole(&r))
        return false;
    *value = (struct hub_view){r.text.data + from, r.at - from};
    *rest = (struct hub_view){r.text.data + r.at, r.text.size - r.at};
    return true;
}

enum hub_status hub_json_parse(struct hub_view text, size_t max_bytes, json_t **out, struct hub_error *err)
{
    json_error_t why;
    if (text.size > max_bytes)
        return hub_fail(err, HUB_TOO_BIG, "JSON of %zu bytes, more than %zu", text.size, max_bytes);
    json_t *json =
        text.size ? json_loadb(text.data, text.size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why) : NULL;
    if (!json)
        return hub_fail(err, HUB_CORRUPT, "bad JSON at byte %d: %s", text.size ? why.position : 0,
                        text.size ? why.text : "it is empty");
    *out = json;
    return HUB_OK;
}

void hub_json_decrefp(json_t **json)
{
    json_decref(*json);
    *json = NULL;
}
