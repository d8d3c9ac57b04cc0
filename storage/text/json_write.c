/* Writing JSON: see json.h. */
#include "storage/text/json.h"

#include "storage/text/number.h"

#include <math.h>

#define SAFE_INTEGER 9007199254740991U /* 2^53 - 1: the last integer every reader of JSON gets exactly */

struct hub_json hub_json_to(struct hub_buf *out, struct hub_error *err)
{
    return (struct hub_json){.out = out, .err = err};
}

enum hub_status hub_json_status(const struct hub_json *json)
{
    return json->status;
}

/* Text that opens, closes or is a value; `comma_before` when one may have to stand before it. */
static void put(struct hub_json *json, const char *text, size_t size, bool comma_before, bool comma_after)
{
    if (!json->status && comma_before && json->comma)
        json->status = hub_buf_add(json->out, ",", 1, json->err);
    if (!json->status)
        json->status = hub_buf_add(json->out, text, size, json->err);
    json->comma = comma_after;
}

void hub_json_object(struct hub_json *json)
{
    put(json, "{", 1, true, false);
}

void hub_json_end_object(struct hub_json *json)
{
    put(json, "}", 1, false, true);
}

void hub_json_array(struct hub_json *json)
{
    put(json, "[", 1, true, false);
}

void hub_json_end_array(struct hub_json *json)
{
    put(json, "]", 1, false, true);
}

void hub_json_string(struct hub_json *json, struct hub_view text)
{
    put(json, "", 0, true, true);
    if (!json->status)
        json->status = hub_json_add_string(json->out, text, json->err);
}

void hub_json_key(struct hub_json *json, struct hub_view key)
{
    hub_json_string(json, key);
    put(json, ":", 1, false, false);
}

void hub_json_int(struct hub_json *json, int64_t value)
{
    char text[HUB_NUMBER_CHARS];
    put(json, text, hub_number_i64(value, text), true, true);
}

void hub_json_uint(struct hub_json *json, uint64_t value)
{
    char text[HUB_NUMBER_CHARS];
    put(json, text, hub_number_u64(value, text), true, true);
}

void hub_json_safe_int(struct hub_json *json, int64_t value)
{
    char text[HUB_NUMBER_CHARS];
    if (value <= (int64_t)SAFE_INTEGER && value >= -(int64_t)SAFE_INTEGER)
        hub_json_int(json, value);
    else
        hub_json_string(json, (struct hub_view){text, hub_number_i64(value, text)});
}

void hub_json_safe_uint(struct hub_json *json, uint64_t value)
{
    char text[HUB_NUMBER_CHARS];
    if (value <= SAFE_INTEGER)
        hub_json_uint(json, value);
    else
        hub_json_string(json, (struct hub_view){text, hub_number_u64(value, text)});
}

void hub_json_double(struct hub_json *json, double value)
{
    char text[HUB_NUMBER_CHARS];
    if (isfinite(value))
        put(json, text, hub_number_double(value, text), true, true);
    else
        hub_json_string(json, hub_view_of(isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity"));
}

void hub_json_bool(struct hub_json *json, bool value)
{
    if (value)
        put(json, "true", 4, true, true);
    else
        put(json, "false", 5, true, true);
}

void hub_json_null(struct hub_json *json)
{
    put(json, "null", 4, true, true);
}

void hub_json_raw(struct hub_json *json, struct hub_view text)
{
    if (text.size)
        put(json, text.data, text.size, true, true);
    else
        hub_json_null(json);
}

void hub_json_put_text(struct hub_json *json, const char *key, const char *text)
{
    if (text)
        hub_json_put_string(json, key, hub_view_of(text));
}

void hub_json_put_string(struct hub_json *json, const char *key, struct hub_view text)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_string(json, text);
}

void hub_json_put_int(struct hub_json *json, const char *key, int64_t value)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_int(json, value);
}

void hub_json_put_uint(struct hub_json *json, const char *key, uint64_t value)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_uint(json, value);
}

void hub_json_put_double(struct hub_json *json, const char *key, double value)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_double(json, value);
}

void hub_json_put_bool(struct hub_json *json, const char *key, bool value)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_bool(json, value);
}

void hub_json_put_raw(struct hub_json *json, const char *key, struct hub_view text)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_raw(json, text);
}

void hub_json_put_object(struct hub_json *json, const char *key)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_object(json);
}

void hub_json_put_array(struct hub_json *json, const char *key)
{
    hub_json_key(json, hub_view_of(key));
    hub_json_array(json);
}

/* Bytes that stand for themselves: neither control characters, nor quote or backslash, nor beginnings of
 * longer characters. */
static size_t plain_run(struct hub_view text)
{
    size_t n = 0;
    while (n < text.size) {
        const uint8_t c = (uint8_t)text.data[n];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x80)
            break;
        n++;
    }
    return n;
}

static enum hub_status add_escape(struct hub_buf *out, char c, struct hub_error *err)
{
    static const char names[] = "btn?fr"; /* from U+0008 */
    static const char hex[] = "0123456789abcdef";
    if (c == '"' || c == '\\')
        return hub_buf_add(out, (char[]){'\\', c}, 2, err);
    if (c >= 8 && c <= 13 && c != 11)
        return hub_buf_add(out, (char[]){'\\', names[c - 8]}, 2, err);
    return hub_buf_add(out, (char[]){'\\', 'u', '0', '0', hex[c >> 4 & 15], hex[c & 15]}, 6, err);
}

enum hub_status hub_json_add_string(struct hub_buf *out, struct hub_view text, struct hub_error *err)
{
    HUB_TRY(hub_buf_add(out, "\"", 1, err));
    while (text.size) {
        uint32_t code;
        size_t n = plain_run(text);
        if (n) {
            HUB_TRY(hub_buf_add(out, text.data, n, err));
        } else if ((uint8_t)text.data[0] < 0x80) {
            n = 1;
            HUB_TRY(add_escape(out, text.data[0], err));
        } else {
            n = hub_utf8_decode(text, &code);
            HUB_TRY(n ? hub_buf_add(out, text.data, n, err) : hub_buf_add_text(out, "\xEF\xBF\xBD", err));
            n += !n;
        }
        text.data += n;
        text.size -= n;
    }
    return hub_buf_add(out, "\"", 1, err);
}
