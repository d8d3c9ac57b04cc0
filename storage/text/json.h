/**
 * JSON text. Three things: a writer that puts commas and escapes where they belong; a scanner that turns what
 * Python's json module writes into strict RFC 8259, checks a text or finds its parts; and a parser of strict
 * text (jansson) with a ceiling.
 */
#ifndef HUB_TEXT_JSON_H
#define HUB_TEXT_JSON_H

#include "storage/text/utf8.h"

#include <jansson.h>

/* ---- writing ---- */

/**
 * Writes into a buffer. The first failure sticks: later calls do nothing, hub_json_status tells at the end.
 * Keys and values must come in a legal order; that is the caller's business and not checked.
 */
struct hub_json {
    struct hub_buf *out;
    struct hub_error *err;
    enum hub_status status;
    bool comma; /* something stands before the next key or value in this container */
};

struct hub_json hub_json_to(struct hub_buf *out, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_json_status(const struct hub_json *json);

void hub_json_object(struct hub_json *json);
void hub_json_end_object(struct hub_json *json);
void hub_json_array(struct hub_json *json);
void hub_json_end_array(struct hub_json *json);
void hub_json_key(struct hub_json *json, struct hub_view key);

/** A string; malformed UTF-8 becomes U+FFFD. */
void hub_json_string(struct hub_json *json, struct hub_view text);
void hub_json_int(struct hub_json *json, int64_t value);
void hub_json_uint(struct hub_json *json, uint64_t value);
/** A number up to 2^53-1, beyond it a decimal string: for seeds and metadata. */
void hub_json_safe_int(struct hub_json *json, int64_t value);
void hub_json_safe_uint(struct hub_json *json, uint64_t value);
/** Shortest digits; "NaN", "Infinity", "-Infinity" as strings. */
void hub_json_double(struct hub_json *json, double value);
void hub_json_bool(struct hub_json *json, bool value);
void hub_json_null(struct hub_json *json);
/** One value that is strict JSON already; an empty text is null. */
void hub_json_raw(struct hub_json *json, struct hub_view text);

/* A key and its value in one line. put_text leaves the key out when the text is NULL. */
void hub_json_put_text(struct hub_json *json, const char *key, const char *text);
void hub_json_put_string(struct hub_json *json, const char *key, struct hub_view text);
void hub_json_put_int(struct hub_json *json, const char *key, int64_t value);
void hub_json_put_uint(struct hub_json *json, const char *key, uint64_t value);
void hub_json_put_double(struct hub_json *json, const char *key, double value);
void hub_json_put_bool(struct hub_json *json, const char *key, bool value);
void hub_json_put_raw(struct hub_json *json, const char *key, struct hub_view text);
void hub_json_put_object(struct hub_json *json, const char *key);
void hub_json_put_array(struct hub_json *json, const char *key);

/** Append a quoted, escaped string; malformed UTF-8 becomes U+FFFD. */
HUB_MUST_USE enum hub_status hub_json_add_string(struct hub_buf *out, struct hub_view text,
                                                 struct hub_error *err);

/* ---- reading ---- */

enum { HUB_JSON_DEPTH = 64 };

/**
 * Re-write one value of Python's JSON as strict JSON without spaces. NaN, Infinity and -Infinity, and numbers
 * too big for a double, become strings; integers beyond 2^53-1 become decimal strings; all other digits stay
 * as written. Lone surrogates become U+FFFD, and so does NUL in keys.
 *
 * @return HUB_CORRUPT with the position for anything else than one JSON value of at most HUB_JSON_DEPTH
 * levels in UTF-8, HUB_TOO_BIG when `out` is full; `out` is then as it was
 */
HUB_MUST_USE enum hub_status hub_json_strict(struct hub_view text, struct hub_buf *out,
                                             struct hub_error *err);

/** How NaN and infinities stand in JSON. */
enum hub_nonfinite { HUB_NONFINITE_NULL = 0, HUB_NONFINITE_STRING, HUB_NONFINITE_LITERAL };

/** hub_json_strict of a value that is data, as rows of numbers are written: non-finite numbers stand as `how`
 * says and are added to `*nonfinite`, integers keep their digits. */
HUB_MUST_USE enum hub_status hub_json_data(struct hub_view text, enum hub_nonfinite how, uint64_t *nonfinite,
                                           struct hub_buf *out, struct hub_error *err);

enum hub_json_kind { HUB_JSON_VALUE = 0, HUB_JSON_OBJECT, HUB_JSON_ARRAY };
/** Would hub_json_strict leave it as it is, but for spaces? Uses no memory. What it passes, jansson
 * parses. */
bool hub_json_valid(struct hub_view text, enum hub_json_kind kind);

/**
 * The next part of an object or array whose text parses: `rest` is the container's text at first, and loses
 * what was taken. False at its end. Keys are as written, between their quotes.
 * @param key  NULL: of an array
 */
bool hub_json_take(struct hub_view *rest, struct hub_view *key, struct hub_view *value);

/**
 * The text that a JSON string stands for, piece by piece: what lies between its quotes goes in, UTF-8 comes
 * out; a lone surrogate is U+FFFD. Meant for strings that were checked once: it never fails.
 */
struct hub_json_unescape {
    uint32_t code, high; /* of an unfinished escape; a high surrogate that waits for its other half */
    uint8_t state;
};
/** `out` has room for size + 3 bytes. How many were written. */
size_t hub_json_unescape(struct hub_json_unescape *u, const char *in, size_t size, char *out);
/** The string is over: up to 3 bytes more. */
size_t hub_json_unescape_end(struct hub_json_unescape *u, char *out);

/** Parse strict text (the last of equal keys counts). HUB_TOO_BIG over `max_bytes`, HUB_CORRUPT. json_decref
 * the result. */
HUB_MUST_USE enum hub_status hub_json_parse(struct hub_view text, size_t max_bytes, json_t **out,
                                            struct hub_error *err);

/** For HUB_CLEANUP. */
void hub_json_decrefp(json_t **json);

#endif
