/* Patterns of object names: see glob.h. Alternatives are written out first, so that what is left is matched without recursion. */
#include "server/facade/glob.h"

enum { MOST_BYTES = KIB, MOST_PATTERNS = 64 };

/* ---- reading ---- */

/* Behind what stands at `at`: a set, an escaped character, or one byte. */
static size_t skip(struct hub_view text, size_t at)
{
    if (text.data[at] == '\\' && at + 1 < text.size)
        return at + 2;
    if (text.data[at] != '[')
        return at + 1;
    size_t end = at + 1 + (at + 1 < text.size && strchr("!^", text.data[at + 1]));
    const char *close = end + 1 < text.size ? memchr(text.data + end + 1, ']', text.size - end - 1) : NULL;
    return close ? (size_t)(close - text.data) + 1 : at + 1;
}

/* The next of the `wanted` that no braces behind `at` enclose; the size where there is none. */
static size_t find(struct hub_view text, size_t at, const char *wanted)
{
    for (unsigned deep = 0; at < text.size; at = skip(text, at)) {
        const char c = text.data[at];
        if (deep == 0 && strchr(wanted, c))
            return at;
        deep += c == '{';
        deep -= deep && c == '}';
    }
    return text.size;
}

static enum hub_status wrong(struct hub_error *err, const char *what)
{
    return hub_fail(err, HUB_INVALID, "the pattern %s", what);
}

static enum hub_status write_out(struct hub_view text, struct hub_glob *out, struct hub_error *err)
{
    const size_t open = find(text, 0, "{");
    if (open == text.size) {
        if (out->count++ == MOST_PATTERNS)
            return wrong(err, "has more than 64 ways to take its alternatives");
        HUB_TRY(hub_buf_add_view(&out->patterns, text, err));
        return hub_buf_add(&out->patterns, "", 1, err);
    }
    size_t close = open;
    do
        close = find(text, close + 1, ",}");
    while (close < text.size && text.data[close] == ',');
    if (close == text.size)
        return wrong(err, "has a { without a }");
    for (size_t at = open, end; at < close; at = end) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf one = HUB_BUF_INIT(MOST_BYTES);
        end = find(text, at + 1, ",}");
        HUB_TRY(hub_buf_add_view(&one, (struct hub_view){text.data, open}, err));
        HUB_TRY(hub_buf_add_view(&one, (struct hub_view){text.data + at + 1, end - at - 1}, err));
        HUB_TRY(hub_buf_add_view(&one, (struct hub_view){text.data + close + 1, text.size - close - 1}, err));
        HUB_TRY(write_out(hub_buf_view(&one), out, err));
    }
    return HUB_OK;
}

enum hub_status hub_glob_read(struct hub_view text, struct hub_glob *out, struct hub_error *err)
{
    *out = (struct hub_glob){.patterns = HUB_BUF_INIT((size_t)MOST_PATTERNS * (MOST_BYTES + 1))};
    return text.size > MOST_BYTES ? wrong(err, "is longer than 1,024 bytes") : write_out(text, out, err);
}

void hub_glob_dispose(struct hub_glob *glob)
{
    hub_buf_dispose(&glob->patterns);
}

/* ---- matching ---- */

/* A character of UTF-8, its bytes as one number. */
static uint32_t take(const char **at)
{
    uint32_t c = (uint8_t) * (*at)++;
    while (c >= 0xC0 && ((uint8_t) * *at & 0xC0) == 0x80)
        c = c << 8 | (uint8_t) * (*at)++;
    return c;
}

/* Is `c` in the set behind whose bracket `*glob` stands? Goes on behind it. */
static bool in_set(const char **glob, const char *close, uint32_t c)
{
    const bool wanted = !strchr("!^", **glob);
    bool found = false;
    for (*glob += !wanted; *glob < close;) {
        const uint32_t first = take(glob);
        uint32_t last = first;
        if (**glob == '-' && *glob + 1 < close) {
            ++*glob;
            last = take(glob);
        }
        found |= first <= c && c <= last;
    }
    *glob = close + 1;
    return found == wanted;
}

/* One character of the name by what stands in the pattern, which is no star. */
static bool match_one(const char **glob, const char **name)
{
    const uint32_t c = take(name);
    const char *const at = *glob;
    const size_t end = *at == '[' || *at == '\\' ? skip(hub_view_of(at), 0) : 1;
    if (*at == '?' || (*at == '[' && end > 1)) {
        ++*glob;
        return (*at == '?' || in_set(glob, at + end - 1, c)) && c != '/';
    }
    *glob += end - 1; /* of what is escaped, the character */
    return take(glob) == c;
}

static bool matches(const char *glob, const char *name)
{
    /* where the last star and the last double star would go on, with one character more; the other stars need no other try: who comes
     * later can do with what is left by the first way */
    const char *star = NULL, *star_name = NULL, *any = NULL, *any_name = NULL;
    for (;;) {
        if (glob[0] == '*' && glob[1] == '*') {
            any = glob += 2;
            any_name = name;
            star = NULL;
        } else if (glob[0] == '*') {
            star = ++glob;
            star_name = name;
        } else if (!*glob && !*name) {
            return true;
        } else if (!*glob || !*name || !match_one(&glob, &name)) {
            if (star && *star_name && *star_name != '/') {
                (void)take(&star_name);
                glob = star;
                name = star_name;
            } else if (any && *any_name) {
                (void)take(&any_name);
                glob = any;
                name = any_name;
                star = NULL;
            } else {
                return false;
            }
        }
    }
}

bool hub_glob_matches(const struct hub_glob *glob, const char *name)
{
    const char *pattern = glob->patterns.data;
    for (uint32_t i = 0; i < glob->count; i++, pattern += strlen(pattern) + 1)
        if (matches(pattern, name))
            return true;
    return !glob->count;
}
