/* PEP 440 versions and specifier sets: see version.h. https://peps.python.org/pep-0440/ */
#include "storage/ids/version.h"

#include <stdio.h>

/* Text in lower case being read from the left. */
struct version_text {
    const char *at, *end;
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool alnum(char c)
{
    return digit(c) || (lower(c) >= 'a' && lower(c) <= 'z');
}

static bool separator(char c)
{
    return c == '.' || c == '-' || c == '_';
}

static char peek(const struct version_text *r, size_t ahead)
{
    return (size_t)(r->end - r->at) > ahead ? r->at[ahead] : '\0';
}

/* Decimal digits, at least one; over 32 bits is refused. */
static bool number(struct version_text *r, uint32_t *out)
{
    uint64_t value = 0;
    if (!digit(peek(r, 0)))
        return false;
    while (digit(peek(r, 0))) {
        value = value * 10 + (uint64_t)(*r->at++ - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *out = (uint32_t)value;
    return true;
}

/* An optional separator, then one of the words, then an optional separator and digits (0 when absent). */
static bool labelled(struct version_text *r, const char *const *words, size_t count, size_t *which,
                     uint32_t *out)
{
    struct version_text ahead = *r;
    if (separator(peek(&ahead, 0)))
        ahead.at++;
    for (size_t i = 0; i < count; i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(ahead.end - ahead.at) < n || strncasecmp(ahead.at, words[i], n) != 0)
            continue;
        ahead.at += n;
        if (separator(peek(&ahead, 0)) && digit(peek(&ahead, 1)))
            ahead.at++;
        *out = 0;
        if (digit(peek(&ahead, 0)) && !number(&ahead, out))
            return false;
        *which = i;
        *r = ahead;
        return true;
    }
    return false;
}

static bool read_release(struct version_text *r, struct hub_version *v)
{
    uint32_t first;
    if (lower(peek(r, 0)) == 'v')
        r->at++;
    if (!number(r, &first))
        return false;
    if (peek(r, 0) == '!') {
        v->epoch = first;
        r->at++;
        if (!number(r, &first))
            return false;
    }
    v->release[v->release_count++] = first;
    while (peek(r, 0) == '.' && digit(peek(r, 1))) {
        r->at++;
        if (v->release_count == HUB_VERSION_NUMBERS || !number(r, &v->release[v->release_count++]))
            return false;
    }
    return true;
}

static void read_suffixes(struct version_text *r, struct hub_version *v)
{
    static const char *const pre[] = {"alpha", "a", "beta", "b", "preview", "pre", "rc", "c"};
    static const char *const post[] = {"post", "rev", "r"};
    static const char *const dev[] = {"dev"};
    size_t which;
    if (labelled(r, pre, HUB_COUNT(pre), &which, &v->pre))
        v->pre_kind = which < 2 ? 'a' : which < 4 ? 'b' : 'c';
    if (peek(r, 0) == '-' && digit(peek(r, 1))) {
        r->at++;
        v->has_post = number(r, &v->post);
    } else {
        v->has_post = labelled(r, post, HUB_COUNT(post), &which, &v->post);
    }
    v->has_dev = labelled(r, dev, HUB_COUNT(dev), &which, &v->dev);
}

/* "+alnum(.alnum)*" with '-' and '_' as '.', leading zeros of numbers dropped as int() does. */
static bool read_local(struct version_text *r, struct hub_version *v)
{
    size_t size = 0;
    if (peek(r, 0) != '+')
        return true;
    do {
        r->at++;
        const char *from = r->at;
        bool digits = true;
        while (alnum(peek(r, 0)))
            digits &= digit(*r->at++);
        if (r->at == from)
            return false;
        while (digits && *from == '0' && r->at - from > 1)
            from++;
        if (size + (size_t)(r->at - from) + 2 > sizeof(v->local))
            return false;
        if (size)
            v->local[size++] = '.';
        while (from < r->at)
            v->local[size++] = lower(*from++);
    } while (separator(peek(r, 0)));
    v->local[size] = '\0';
    return true;
}

static struct version_text trimmed(struct hub_view text)
{
    struct version_text r = {text.data, text.data + text.size};
    while (r.at < r.end && strchr(" \t\r\n\f\v", *r.at) && *r.at)
        r.at++;
    while (r.end > r.at && strchr(" \t\r\n\f\v", r.end[-1]) && r.end[-1])
        r.end--;
    return r;
}

static bool read_version(struct version_text *r, struct hub_version *v)
{
    *v = (struct hub_version){0};
    if (!read_release(r, v))
        return false;
    read_suffixes(r, v);
    return read_local(r, v);
}

enum hub_status hub_version_parse(struct hub_view text, struct hub_version *out, struct hub_error *err)
{
    struct hub_version v;
    struct version_text r = trimmed(text);
    if (!read_version(&r, &v) || r.at != r.end)
        return hub_fail(err, HUB_INVALID, "'%.*s' is not a version", (int)HUB_MIN(text.size, (size_t)80),
                        text.data);
    *out = v;
    return HUB_OK;
}

static int order_of(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static uint32_t release_number(const struct hub_version *v, uint32_t i)
{
    return i < v->release_count ? v->release[i] : 0;
}

static int compare_release(const struct hub_version *a, const struct hub_version *b)
{
    int order = order_of(a->epoch, b->epoch);
    for (uint32_t i = 0; i < HUB_VERSION_NUMBERS && !order; i++)
        order = order_of(release_number(a, i), release_number(b, i));
    return order;
}

/* Where the pre-release part sorts: a dev release alone before all pre-releases, a final or post release
 * after. */
static int pre_rank(const struct hub_version *v)
{
    if (v->pre_kind)
        return v->pre_kind;
    return !v->has_post && v->has_dev ? 0 : 'z';
}

/* Segment by segment; numbers sort above words, more segments above fewer. */
static int compare_local(const char *a, const char *b)
{
    while (*a && *b) {
        const size_t an = strcspn(a, "."), bn = strcspn(b, ".");
        const bool a_number = strspn(a, "0123456789") == an, b_number = strspn(b, "0123456789") == bn;
        if (a_number != b_number)
            return a_number ? 1 : -1;
        if (a_number && an != bn)
            return an > bn ? 1 : -1;
        const int order = memcmp(a, b, HUB_MIN(an, bn));
        if (order || an != bn)
            return order ? order : (an > bn ? 1 : -1);
        a += an + (a[an] == '.');
        b += bn + (b[bn] == '.');
    }
    return (*a != '\0') - (*b != '\0');
}

static int compare_public(const struct hub_version *a, const struct hub_version *b)
{
    int order = compare_release(a, b);
    if (!order)
        order = order_of((uint32_t)pre_rank(a), (uint32_t)pre_rank(b));
    if (!order)
        order = order_of(a->pre, b->pre);
    if (!order)
        order = a->has_post - b->has_post;
    if (!order)
        order = order_of(a->post, b->post);
    if (!order)
        order = b->has_dev - a->has_dev; /* a dev release comes before what it leads to */
    return order ? order : order_of(a->dev, b->dev);
}

int hub_version_compare(const struct hub_version *a, const struct hub_version *b)
{
    const int order = compare_public(a, b);
    return order ? order : compare_local(a->local, b->local);
}

bool hub_version_is_prerelease(const struct hub_version *version)
{
    return version->pre_kind || version->has_dev;
}

/* Longest: 8 release numbers of 10 digits and all suffixes, well under this. */
enum { VERSION_CHARS = 256 };

static void print_version(const struct hub_version *v, char out[VERSION_CHARS])
{
    int n = 0;
    if (v->epoch)
        n += snprintf(out + n, VERSION_CHARS - (size_t)n, "%u!", v->epoch);
    for (uint32_t i = 0; i < v->release_count; i++)
        n += snprintf(out + n, VERSION_CHARS - (size_t)n, i ? ".%u" : "%u", v->release[i]);
    if (v->pre_kind)
        n += snprintf(out + n, VERSION_CHARS - (size_t)n, "%s%u",
                      v->pre_kind == 'c' ? "rc" : (char[]){v->pre_kind, 0}, v->pre);
    if (v->has_post)
        n += snprintf(out + n, VERSION_CHARS - (size_t)n, ".post%u", v->post);
    if (v->has_dev)
        n += snprintf(out + n, VERSION_CHARS - (size_t)n, ".dev%u", v->dev);
    if (v->local[0])
        snprintf(out + n, VERSION_CHARS - (size_t)n, "+%s", v->local);
}

/* ---- specifiers ---- */

static const struct {
    const char *text;
    enum hub_spec_op op;
} operators[] = {
    /* longer ones first */
    {"===", HUB_SPEC_ARBITRARY}, {"~=", HUB_SPEC_COMPATIBLE}, {"==", HUB_SPEC_EQUAL},
    {"!=", HUB_SPEC_NOT_EQUAL},  {"<=", HUB_SPEC_LESS_EQUAL}, {">=", HUB_SPEC_GREATER_EQUAL},
    {"<", HUB_SPEC_LESS},        {">", HUB_SPEC_GREATER},
};

static bool read_operator(struct version_text *r, enum hub_spec_op *op)
{
    for (size_t i = 0; i < HUB_COUNT(operators); i++) {
        const size_t n = strlen(operators[i].text);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, operators[i].text, n) == 0) {
            *op = operators[i].op;
            r->at += n;
            return true;
        }
    }
    return false;
}

static bool read_spec(struct version_text *r, struct hub_spec *spec)
{
    *spec = (struct hub_spec){0};
    if (!read_operator(r, &spec->op))
        return false;
    *r = trimmed((struct hub_view){r->at, (size_t)(r->end - r->at)});
    if (spec->op == HUB_SPEC_ARBITRARY) {
        size_t n = 0;
        for (; r->at < r->end && *r->at != ' ' && n < sizeof(spec->text) - 1; r->at++)
            spec->text[n++] = lower(*r->at);
        return n > 0 && r->at == r->end;
    }
    if (!read_version(r, &spec->version))
        return false;
    const bool equality = spec->op == HUB_SPEC_EQUAL || spec->op == HUB_SPEC_NOT_EQUAL;
    const bool plain = !spec->version.pre_kind && !spec->version.has_post && !spec->version.has_dev;
    if (equality && plain && !spec->version.local[0] && peek(r, 0) == '.' && peek(r, 1) == '*') {
        spec->wildcard = true;
        r->at += 2;
    }
    if (spec->version.local[0] && !equality)
        return false;
    if (spec->op == HUB_SPEC_COMPATIBLE && spec->version.release_count < 2)
        return false;
    return r->at == r->end;
}

enum hub_status hub_spec_parse(struct hub_view text, struct hub_spec_set *out, struct hub_error *err)
{
    out->count = 0;
    size_t from = 0;
    while (from <= text.size) {
        const char *comma = from < text.size ? memchr(text.data + from, ',', text.size - from) : NULL;
        const size_t to = comma ? (size_t)(comma - text.data) : text.size;
        struct version_text r =
            text.size ? trimmed((struct hub_view){text.data + from, to - from}) : (struct version_text){0};
        from = to + 1;
        if (r.at == r.end)
            continue;
        if (out->count == HUB_SPEC_MAX)
            return hub_fail(err, HUB_TOO_BIG, "more than %d version specifiers", HUB_SPEC_MAX);
        if (!read_spec(&r, &out->specs[out->count]))
            return hub_fail(err, HUB_INVALID, "'%.*s' is not a version specifier",
                            (int)HUB_MIN(text.size, (size_t)80), text.data);
        out->count++;
    }
    return HUB_OK;
}

/* The first `count` release numbers agree; the version is padded with zeros. */
static bool has_prefix(const struct hub_version *v, const struct hub_version *prefix, uint32_t count)
{
    if (v->epoch != prefix->epoch)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (release_number(v, i) != prefix->release[i])
            return false;
    }
    return true;
}

static bool equals(const struct hub_spec *spec, const struct hub_version *v)
{
    if (spec->wildcard)
        return has_prefix(v, &spec->version, spec->version.release_count);
    return spec->version.local[0] ? hub_version_compare(v, &spec->version) == 0
                                  : compare_public(v, &spec->version) == 0;
}

static bool spec_holds(const struct hub_spec *spec, const struct hub_version *v)
{
    const struct hub_version *bound = &spec->version;
    char text[VERSION_CHARS];
    switch (spec->op) {
    case HUB_SPEC_COMPATIBLE:
        return compare_public(v, bound) >= 0 && has_prefix(v, bound, bound->release_count - 1);
    case HUB_SPEC_EQUAL:
        return equals(spec, v);
    case HUB_SPEC_NOT_EQUAL:
        return !equals(spec, v);
    case HUB_SPEC_LESS_EQUAL:
        return compare_public(v, bound) <= 0;
    case HUB_SPEC_GREATER_EQUAL:
        return compare_public(v, bound) >= 0;
    case HUB_SPEC_LESS: /* not a prerelease of the bound itself */
        return hub_version_compare(v, bound) < 0 &&
               !(!hub_version_is_prerelease(bound) && hub_version_is_prerelease(v) &&
                 compare_release(v, bound) == 0);
    case HUB_SPEC_GREATER: /* not a post-release or local version of the bound itself */
        return hub_version_compare(v, bound) > 0 &&
               !(compare_release(v, bound) == 0 && ((!bound->has_post && v->has_post) || v->local[0]));
    case HUB_SPEC_ARBITRARY:
        print_version(v, text);
        return strcmp(text, spec->text) == 0;
    }
    return false;
}

static bool names_prerelease(const struct hub_spec *spec)
{
    struct hub_version v = {0};
    switch (spec->op) {
    case HUB_SPEC_NOT_EQUAL:
    case HUB_SPEC_LESS:
    case HUB_SPEC_GREATER:
        return false;
    case HUB_SPEC_ARBITRARY:
        return hub_version_parse(hub_view_of(spec->text), &v, NULL) == HUB_OK &&
               hub_version_is_prerelease(&v);
    case HUB_SPEC_COMPATIBLE:
    case HUB_SPEC_EQUAL:
    case HUB_SPEC_LESS_EQUAL:
    case HUB_SPEC_GREATER_EQUAL:
        return hub_version_is_prerelease(&spec->version);
    }
    return false;
}

bool hub_spec_contains(const struct hub_spec_set *set, const struct hub_version *version)
{
    bool prereleases = !hub_version_is_prerelease(version);
    for (uint32_t i = 0; i < set->count && !prereleases; i++)
        prereleases = names_prerelease(&set->specs[i]);
    if (!prereleases)
        return false;
    for (uint32_t i = 0; i < set->count; i++) {
        if (!spec_holds(&set->specs[i], version))
            return false;
    }
    return true;
}
