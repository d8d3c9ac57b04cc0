/* Patterns of object names: see glob.h. Alternatives are written out first. What is left is matched in one
 * pass over the name, with the set of all places in the pattern that what was read so far may lead to: no
 * name takes more than its length times the pattern's. */
#include "server/facade/glob.h"

enum { MOST_BYTES = KIB, MOST_PATTERNS = 64, MOST_WRITTEN = 8 * KIB, WORDS = MOST_BYTES / 64 + 1 };

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
            return wrong(err, "has more than 64 combinations of alternatives");
        if (out->patterns.size + text.size + 1 > MOST_WRITTEN)
            return wrong(err, "expands to more than 8 KiB");
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
    *out = (struct hub_glob){.patterns = HUB_BUF_INIT((size_t)MOST_WRITTEN)};
    return text.size > MOST_BYTES ? wrong(err, "is longer than 1,024 bytes") : write_out(text, out, err);
}

void hub_glob_dispose(struct hub_glob *glob)
{
    hub_buf_dispose(&glob->patterns);
}

/* ---- matching ---- */

/* The places in a pattern, as bits: the bytes that the next character is compared with, and behind the last
 * one its end. */
struct places {
    uint64_t bits[WORDS];
};

/* A character of UTF-8, its bytes as one number. */
static uint32_t take(const char **at)
{
    uint32_t c = (uint8_t) * (*at)++;
    while (c >= 0xC0 && ((uint8_t) * *at & 0xC0) == 0x80)
        c = c << 8 | (uint8_t) * (*at)++;
    return c;
}

/* Is `c` in the set behind whose bracket `glob` stands? */
static bool in_set(const char *glob, const char *close, uint32_t c)
{
    const bool wanted = !strchr("!^", *glob);
    bool found = false;
    for (glob += !wanted; glob < close;) {
        const uint32_t first = take(&glob);
        uint32_t last = first;
        if (*glob == '-' && glob + 1 < close) {
            ++glob;
            last = take(&glob);
        }
        found |= first <= c && c <= last;
    }
    return found == wanted;
}

/* A place, and those behind the stars that stand there, which may match nothing. */
static void enter(struct places *places, const char *glob, size_t at)
{
    for (;; at += glob[at + 1] == '*' ? 2 : 1) {
        places->bits[at / 64] |= UINT64_C(1) << at % 64;
        if (glob[at] != '*')
            return;
    }
}

/* Where the character `c` leads to from the place `at`. */
static void step(struct places *next, struct hub_view glob, size_t at, uint32_t c, uint64_t *steps)
{
    const char *const here = glob.data + at, *behind = here;
    if (*here == '*') {
        if (here[1] == '*' || c != '/')
            enter(next, glob.data, at);
        return;
    }
    const size_t end = *here == '[' || *here == '\\' ? skip(glob, at) : at + 1;
    *steps += end - at;
    if (*here == '?' || (*here == '[' && end > at + 1)) {
        if (c != '/' && (*here == '?' || in_set(here + 1, glob.data + end - 1, c)))
            enter(next, glob.data, end);
        return;
    }
    behind += *here == '\\' && end > at + 1; /* an escaped character stands for itself */
    if (take(&behind) == c)
        enter(next, glob.data, (size_t)(behind - glob.data));
}

static bool matches(struct hub_view glob, const char *name, uint64_t *steps)
{
    struct places now = {{0}};
    const size_t words = glob.size / 64 + 1;
    enter(&now, glob.data, 0);
    while (*name) {
        struct places next = {{0}};
        bool any = false;
        const uint32_t c = take(&name);
        for (size_t word = 0; word < words; word++)
            for (uint64_t bits = now.bits[word]; bits; bits &= bits - 1) {
                const size_t at = word * 64 + (size_t)__builtin_ctzll(bits);
                ++*steps;
                any = true;
                if (at < glob.size)
                    step(&next, glob, at, c, steps);
            }
        if (!any)
            return false;
        now = next;
    }
    return now.bits[glob.size / 64] >> glob.size % 64 & 1;
}

bool hub_glob_matches(const struct hub_glob *glob, const char *name, uint64_t *steps)
{
    struct hub_view pattern = {glob->patterns.data, 0};
    for (uint32_t i = 0; i < glob->count; i++, pattern.data += pattern.size + 1) {
        pattern = hub_view_of(pattern.data);
        if (matches(pattern, name, steps))
            return true;
    }
    return !glob->count;
}
