/* JSON of any size: see json_stream.h. Tokens are found here and made strict one by one by
 * hub_json_strict. */
#include "storage/formats/json_stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 64 * 1024, MAX_TOKEN = 1024 * 1024, MAX_WORD = 1100, MAX_FIRST = 64 };

struct hub_json_stream {
    struct hub_byte_source *source;
    uint64_t at, end; /* range of the file that is not in `raw` yet */
    char raw[BLOCK];
    size_t raw_at, raw_size;

    bool inside, escaped, closed; /* in a string; behind a backslash; its closing quote was met */
    struct hub_json_unescape unescape;
    char text[BLOCK + 8];
    size_t text_at, text_size;
    uint64_t entered, decoded;

    struct hub_buf token, strict; /* a scalar as written, and as strict JSON */
    uint64_t characters;          /* of a string token */
    bool cut;                     /* the token is longer than what was kept of it */

    struct hub_buf *out;
    size_t max;       /* of out->size */
    bool full, space; /* nothing more is written; a space is being read */
    unsigned depth;
    enum hub_status failed; /* reading the source */
    struct hub_error why;
};

enum hub_status hub_json_stream_new(struct hub_byte_source *source, uint64_t first, uint64_t end,
                                    struct hub_json_stream **out, struct hub_error *err)
{
    struct hub_json_stream *s = calloc(1, sizeof *s);
    HUB_TRY(hub_allocated(s, err));
    s->source = source;
    s->at = first;
    s->end = end;
    s->token = HUB_BUF_INIT(MAX_TOKEN + 64);
    s->strict = HUB_BUF_INIT(2 * MAX_TOKEN);
    *out = s;
    return HUB_OK;
}

void hub_json_stream_free(struct hub_json_stream *stream)
{
    if (!stream)
        return;
    hub_buf_dispose(&stream->token);
    hub_buf_dispose(&stream->strict);
    free(stream);
}

void hub_json_stream_freep(struct hub_json_stream **stream)
{
    hub_json_stream_free(*stream);
    *stream = NULL;
}

/* ---- characters ---- */

static bool fill_raw(struct hub_json_stream *s)
{
    const size_t size = (size_t)HUB_MIN(s->end - s->at, (uint64_t)BLOCK);
    if (s->failed || size == 0)
        return false;
    s->failed = hub_byte_source_read(s->source, s->at, s->raw, size, &s->why);
    s->at += size;
    s->raw_at = 0;
    s->raw_size = s->failed ? 0 : size;
    return !s->failed;
}

/* Some more of the string's text; false at its end. */
static bool fill_text(struct hub_json_stream *s)
{
    s->text_at = s->text_size = 0;
    while (s->text_size == 0 && !s->closed && (s->raw_at < s->raw_size || fill_raw(s))) {
        size_t end = s->raw_at;
        for (; end < s->raw_size && (s->escaped || s->raw[end] != '"'); end++) {
            if ((uint8_t)s->raw[end] < 0x20) {
                s->failed = hub_fail(&s->why, HUB_CORRUPT, "control character in a string");
                return false;
            }
            s->escaped = !s->escaped && s->raw[end] == '\\';
        }
        s->text_size = hub_json_unescape(&s->unescape, s->raw + s->raw_at, end - s->raw_at, s->text);
        s->closed = end < s->raw_size;
        s->raw_at = end + s->closed;
        if (s->closed)
            s->text_size += hub_json_unescape_end(&s->unescape, s->text + s->text_size);
        s->decoded += s->text_size;
    }
    return s->text_size > 0;
}

static inline int look(struct hub_json_stream *s)
{
    if (s->inside)
        return s->text_at < s->text_size || fill_text(s) ? (uint8_t)s->text[s->text_at] : -1;
    return s->raw_at < s->raw_size || fill_raw(s) ? (uint8_t)s->raw[s->raw_at] : -1;
}

/* Past the character that was looked at. */
static inline void step(struct hub_json_stream *s)
{
    *(s->inside ? &s->text_at : &s->raw_at) += 1;
}

uint64_t hub_json_stream_offset(const struct hub_json_stream *s)
{
    return s->at - (s->raw_size - s->raw_at);
}

static enum hub_status bad(const struct hub_json_stream *s, const char *what, struct hub_error *err)
{
    if (s->failed)
        return hub_fail(err, s->failed, "%s", s->why.detail);
    return hub_fail(err, HUB_CORRUPT, "bad JSON at byte %llu: %s",
                    (unsigned long long)hub_json_stream_offset(s), what);
}

int hub_json_stream_peek(struct hub_json_stream *s)
{
    int c;
    while ((c = look(s)) == ' ' || c == '\n' || c == '\t' || c == '\r')
        step(s);
    return c;
}

enum hub_status hub_json_stream_take(struct hub_json_stream *s, char c, struct hub_error *err)
{
    const int next = hub_json_stream_peek(s);
    char what[] = "'?' was expected";
    what[1] = c;
    if (next != (uint8_t)c)
        return bad(s, next < 0 ? "unfinished" : what, err);
    step(s);
    return HUB_OK;
}

enum hub_status hub_json_stream_end(struct hub_json_stream *s, struct hub_error *err)
{
    return hub_json_stream_peek(s) < 0 && !s->failed ? HUB_OK : bad(s, "there is text after the value", err);
}

enum hub_status hub_json_stream_enter(struct hub_json_stream *s, struct hub_error *err)
{
    HUB_TRY(hub_json_stream_take(s, '"', err));
    s->inside = true;
    s->escaped = s->closed = false;
    s->unescape = (struct hub_json_unescape){0};
    s->text_at = s->text_size = 0;
    s->decoded = 0;
    s->entered = hub_json_stream_offset(s);
    return HUB_OK;
}

enum hub_status hub_json_stream_leave(struct hub_json_stream *s, uint64_t *stored, uint64_t *decoded,
                                      struct hub_error *err)
{
    while (!s->closed && fill_text(s))
        ;
    s->inside = false;
    if (!s->closed)
        return bad(s, "unfinished string", err);
    *stored = hub_json_stream_offset(s) - 1 - s->entered;
    *decoded = s->decoded;
    return HUB_OK;
}

/* ---- tokens ---- */

static enum hub_status keep(struct hub_json_stream *s, int c, struct hub_error *err)
{
    const char byte = (char)c;
    step(s);
    if (s->token.size < MAX_TOKEN)
        return hub_buf_add(&s->token, &byte, 1, err);
    s->cut = true;
    return HUB_OK;
}

static enum hub_status read_text(struct hub_json_stream *s, struct hub_error *err)
{
    int c;
    HUB_TRY(keep(s, '"', err));
    while ((c = look(s)) >= 0 && c != '"') {
        s->characters += (c & 0xC0) != 0x80;
        HUB_TRY(keep(s, c, err));
        if (c != '\\')
            continue;
        c = look(s);
        if (c < 0)
            break;
        HUB_TRY(keep(s, c, err));
        for (int i = 0; c == 'u' && i < 4 && look(s) >= 0 && look(s) != '"'; i++)
            HUB_TRY(keep(s, look(s), err));
    }
    return c < 0 ? bad(s, "unfinished string", err) : keep(s, '"', err);
}

static bool ends_word(int c)
{
    return c < 0 || c == ',' || c == ']' || c == '}' || c == ':' || c == ' ' || c == '\n' || c == '\t' ||
           c == '\r';
}

/* The next scalar as it is written. */
static enum hub_status read_token(struct hub_json_stream *s, struct hub_error *err)
{
    s->token.size = 0;
    s->characters = 0;
    s->cut = false;
    if (hub_json_stream_peek(s) == '"')
        return read_text(s, err);
    for (int c; !ends_word(c = look(s));) {
        if (s->token.size == MAX_WORD)
            return bad(s, "a number of more than 1100 characters", err);
        HUB_TRY(keep(s, c, err));
    }
    return s->token.size ? HUB_OK : bad(s, look(s) < 0 ? "unfinished" : "a value was expected", err);
}

static enum hub_status make_strict(struct hub_json_stream *s, struct hub_view text, struct hub_error *err)
{
    struct hub_error why = {0};
    s->strict.size = 0;
    const enum hub_status st = hub_json_strict(text, &s->strict, &why);
    const char *colon = strchr(why.detail, ':');
    return st == HUB_CORRUPT ? bad(s, colon ? colon + 2 : why.detail, err)
           : st              ? hub_fail(err, st, "%s", why.detail)
                             : HUB_OK;
}

enum hub_status hub_json_stream_key(struct hub_json_stream *s, struct hub_view *key, struct hub_error *err)
{
    if (hub_json_stream_peek(s) != '"')
        return bad(s, "a key was expected", err);
    HUB_TRY(read_token(s, err));
    if (s->cut)
        return hub_fail(err, HUB_TOO_BIG, "a key of more than 1 MiB");
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf object = HUB_BUF_INIT(MAX_TOKEN + 64); /* keys have rules */
    HUB_TRY(hub_buf_addf(&object, err, "{%s:0}", s->token.data));
    HUB_TRY(make_strict(s, hub_buf_view(&object), err));
    *key = (struct hub_view){s->strict.data + 1, s->strict.size - 4};
    return hub_json_stream_take(s, ':', err);
}

/* ---- values ---- */

static enum hub_status put(struct hub_json_stream *s, struct hub_view text, struct hub_error *err)
{
    s->full = s->full || text.size > s->max - s->out->size;
    return s->full ? HUB_OK : hub_buf_add_view(s->out, text, err);
}

static enum hub_status put_char(struct hub_json_stream *s, char c, struct hub_error *err)
{
    return put(s, (struct hub_view){&c, 1}, err);
}

static enum hub_status read_scalar(struct hub_json_stream *s, struct hub_error *err)
{
    char text[64];
    HUB_TRY(read_token(s, err));
    if (s->space && s->token.size > HUB_JSON_MAX_SHOWN_TEXT) {
        const int n = snprintf(text, sizeof text, "{\"characters\":%llu}", (unsigned long long)s->characters);
        return put(s, (struct hub_view){text, (size_t)n}, err);
    }
    if (s->cut) {
        s->full = true;
        return HUB_OK;
    }
    HUB_TRY(make_strict(s, hub_buf_view(&s->token), err));
    return put(s, hub_buf_view(&s->strict), err);
}

static enum hub_status read_value(struct hub_json_stream *s, bool bounds, struct hub_error *err);

static enum hub_status descend(struct hub_json_stream *s, struct hub_error *err)
{
    return ++s->depth > HUB_JSON_DEPTH ? bad(s, "nested too deeply", err) : HUB_OK;
}

/* Behind an element: a comma, or the end of the container, both taken. */
static enum hub_status more(struct hub_json_stream *s, char close, bool *go_on, struct hub_error *err)
{
    *go_on = hub_json_stream_peek(s) == ',';
    return hub_json_stream_take(s, *go_on ? ',' : close, err);
}

static enum hub_status read_object(struct hub_json_stream *s, struct hub_error *err)
{
    HUB_TRY(descend(s, err));
    HUB_TRY(hub_json_stream_take(s, '{', err));
    HUB_TRY(put_char(s, '{', err));
    bool go_on = hub_json_stream_peek(s) != '}';
    if (!go_on)
        step(s);
    while (go_on) {
        struct hub_view key = {0};
        HUB_TRY(hub_json_stream_key(s, &key, err));
        const bool bounds = hub_view_is(key, "\"low\"") || hub_view_is(key, "\"high\"");
        HUB_TRY(put(s, key, err));
        HUB_TRY(put_char(s, ':', err));
        HUB_TRY(read_value(s, bounds, err));
        HUB_TRY(more(s, '}', &go_on, err));
        if (go_on)
            HUB_TRY(put_char(s, ',', err));
    }
    s->depth--;
    return put_char(s, '}', err);
}

/* What the nested lists of a list of numbers come to. */
struct numbers {
    uint64_t count;
    char first[MAX_FIRST]; /* token */
    bool differ, other;    /* not all are the first; there is something else than numbers */
    bool real;             /* not all are integers */
    double least, most;
};

static bool is_number(struct hub_view token, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}};
    for (size_t i = 0; i < HUB_COUNT(words); i++)
        if (hub_view_is(token, words[i].word)) {
            *value = words[i].value;
            return true;
        }
    *value = strtod(token.data, NULL);
    return token.data[0] == '-' || (token.data[0] >= '0' && token.data[0] <= '9');
}

static enum hub_status read_number(struct hub_json_stream *s, struct numbers *n, struct hub_error *err)
{
    double value = 0;
    HUB_TRY(read_token(s, err));
    const struct hub_view token = hub_buf_view(&s->token);
    if (n->count++ && hub_view_is(token, n->first))
        return n->count > HUB_JSON_MAX_VALUES ? HUB_OK : put(s, hub_buf_view(&s->strict), err);
    HUB_TRY(make_strict(s, token, err));
    n->other = n->other || !is_number(token, &value);
    if (n->count == 1) {
        snprintf(n->first, sizeof n->first, "%.*s", (int)HUB_MIN(token.size, sizeof n->first - 1),
                 token.data);
        n->differ = token.size >= sizeof n->first;
        n->least = INFINITY;
        n->most = -INFINITY;
    } else {
        n->differ = true;
        n->first[0] = '\0';
    }
    if (!n->other) {
        n->least = fmin(n->least, value);
        n->most = fmax(n->most, value);
        n->real = n->real || strpbrk(token.data, ".eENI");
    }
    return n->count > HUB_JSON_MAX_VALUES ? HUB_OK : put(s, hub_buf_view(&s->strict), err);
}

static enum hub_status read_elements(struct hub_json_stream *s, struct numbers *n, struct hub_error *err)
{
    HUB_TRY(descend(s, err));
    HUB_TRY(hub_json_stream_take(s, '[', err));
    HUB_TRY(put_char(s, '[', err));
    bool go_on = hub_json_stream_peek(s) != ']';
    if (!go_on)
        step(s);
    while (go_on) {
        const int c = hub_json_stream_peek(s);
        if (c == '[' && s->space) {
            HUB_TRY(read_elements(s, n, err));
        } else if (c == '[' || c == '{' || c == '"' || !s->space) {
            n->other = true;
            n->first[0] = '\0'; /* `strict` is no longer the first's */
            HUB_TRY(read_value(s, false, err));
        } else {
            HUB_TRY(read_number(s, n, err));
        }
        HUB_TRY(more(s, ']', &go_on, err));
        if (go_on && n->count <= HUB_JSON_MAX_VALUES)
            HUB_TRY(put_char(s, ',', err));
    }
    s->depth--;
    return put_char(s, ']', err);
}

static enum hub_status put_range(struct hub_json_stream *s, const struct numbers *n, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    struct hub_json json = hub_json_to(&text, err);
    const bool whole = !n->real && fabs(n->least) < 9e15 && fabs(n->most) < 9e15;
    hub_json_object(&json);
    if (whole) {
        hub_json_put_int(&json, "min", (int64_t)n->least);
        hub_json_put_int(&json, "max", (int64_t)n->most);
    } else {
        hub_json_put_double(&json, "min", n->least);
        hub_json_put_double(&json, "max", n->most);
    }
    hub_json_put_uint(&json, "values", n->count);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return put(s, hub_buf_view(&text), err);
}

static enum hub_status read_list(struct hub_json_stream *s, bool bounds, struct hub_error *err)
{
    const size_t start = s->out->size;
    const bool was_full = s->full;
    struct numbers n = {0};
    HUB_TRY(read_elements(s, &n, err));
    const bool one = bounds && n.count && !n.differ && !n.other, many = n.count > HUB_JSON_MAX_VALUES;
    if (many && n.other)
        s->full = true;
    if (n.other || !(one || many))
        return HUB_OK;
    s->out->size = start;
    s->full = was_full;
    if (!one)
        return put_range(s, &n, err);
    HUB_TRY(make_strict(s, hub_view_of(n.first), err));
    return put(s, hub_buf_view(&s->strict), err);
}

static enum hub_status read_value(struct hub_json_stream *s, bool bounds, struct hub_error *err)
{
    switch (hub_json_stream_peek(s)) {
    case '{':
        return read_object(s, err);
    case '[':
        return read_list(s, bounds && s->space, err);
    default:
        return read_scalar(s, err);
    }
}

static enum hub_status value(struct hub_json_stream *s, struct hub_buf *out, size_t limit, bool space,
                             bool *shown, struct hub_error *err)
{
    const size_t start = out->size;
    s->out = out;
    s->max = start + limit;
    s->space = space;
    s->full = false;
    s->depth = 0;
    HUB_TRY(hub_buf_reserve(out, 0, err));
    const enum hub_status st = read_value(s, false, err);
    *shown = !st && !s->full;
    if (!*shown)
        out->size = start;
    out->data[out->size] = '\0';
    return st;
}

enum hub_status hub_json_stream_value(struct hub_json_stream *s, struct hub_buf *out, size_t limit,
                                      bool *shown, struct hub_error *err)
{
    return value(s, out, limit, false, shown, err);
}

enum hub_status hub_json_stream_space(struct hub_json_stream *s, struct hub_buf *out, size_t limit,
                                      bool *shown, struct hub_error *err)
{
    return value(s, out, limit, true, shown, err);
}
