/* Versions and specifier sets: see version.h. https://peps.python.org/pep-0440/ */
#include "storage/ids/version.h"

/* Text being read from the left. */
struct version_text {
    const char *at, *end;
};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
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

static bool read_release(struct version_text *r, struct hub_version *v)
{
    do {
        if (v->release_count == HUB_VERSION_NUMBERS || !number(r, &v->release[v->release_count++]))
            return false;
    } while (peek(r, 0) == '.' && digit(peek(r, 1)) && r->at++);
    return true;
}

/* Of a pre-release; else nothing is read. */
static bool read_suffix(struct version_text *r, struct hub_version *v)
{
    static const char *const words[] = {"a", "b", "rc"};
    for (size_t i = 0; i < HUB_COUNT(words); i++) {
        const size_t n = strlen(words[i]);
        if ((size_t)(r->end - r->at) > n && memcmp(r->at, words[i], n) == 0) {
            v->pre_kind = words[i][0];
            r->at += n;
            return number(r, &v->pre);
        }
    }
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
    return read_release(r, v) && read_suffix(r, v);
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
    int order = 0;
    for (uint32_t i = 0; i < HUB_VERSION_NUMBERS && !order; i++)
        order = order_of(release_number(a, i), release_number(b, i));
    return order;
}

int hub_version_compare(const struct hub_version *a, const struct hub_version *b)
{
    int order = compare_release(a, b);
    if (!order) /* a release comes after those that lead to it */
        order =
            order_of(a->pre_kind ? (uint32_t)a->pre_kind : 'z', b->pre_kind ? (uint32_t)b->pre_kind : 'z');
    return order ? order : order_of(a->pre, b->pre);
}

/* ---- specifiers ---- */

static const struct {
    const char *text;
    enum hub_spec_op op;
} operators[] = {
    /* longer ones first */
    {"~=", HUB_SPEC_COMPATIBLE}, {"==", HUB_SPEC_EQUAL},         {"!=", HUB_SPEC_NOT_EQUAL},
    {"<=", HUB_SPEC_LESS_EQUAL}, {">=", HUB_SPEC_GREATER_EQUAL}, {"<", HUB_SPEC_LESS},
    {">", HUB_SPEC_GREATER},
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
    if (!read_version(r, &spec->version))
        return false;
    const bool equality = spec->op == HUB_SPEC_EQUAL || spec->op == HUB_SPEC_NOT_EQUAL;
    if (equality && !spec->version.pre_kind && peek(r, 0) == '.' && peek(r, 1) == '*') {
        spec->wildcard = true;
        r->at += 2;
    }
    return r->at == r->end && (spec->op != HUB_SPEC_COMPATIBLE || spec->version.release_count > 1);
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
    for (uint32_t i = 0; i < count; i++)
        if (release_number(v, i) != prefix->release[i])
            return false;
    return true;
}

static bool spec_holds(const struct hub_spec *spec, const struct hub_version *v)
{
    const struct hub_version *bound = &spec->version;
    const int order = hub_version_compare(v, bound);
    const bool equal = spec->wildcard ? has_prefix(v, bound, bound->release_count) : order == 0;
    switch (spec->op) {
    case HUB_SPEC_COMPATIBLE:
        return order >= 0 && has_prefix(v, bound, bound->release_count - 1);
    case HUB_SPEC_EQUAL:
        return equal;
    case HUB_SPEC_NOT_EQUAL:
        return !equal;
    case HUB_SPEC_LESS_EQUAL:
        return order <= 0;
    case HUB_SPEC_GREATER_EQUAL:
        return order >= 0;
    case HUB_SPEC_LESS: /* no pre-release of the bound itself */
        return order < 0 && (bound->pre_kind || !v->pre_kind || compare_release(v, bound) != 0);
    case HUB_SPEC_GREATER:
        return order > 0;
    }
    return false;
}

static bool names_prerelease(const struct hub_spec *spec)
{
    return spec->version.pre_kind && spec->op != HUB_SPEC_NOT_EQUAL && spec->op != HUB_SPEC_LESS &&
           spec->op != HUB_SPEC_GREATER;
}

bool hub_spec_contains(const struct hub_spec_set *set, const struct hub_version *version)
{
    bool prereleases = !version->pre_kind, all = true;
    for (uint32_t i = 0; i < set->count; i++) {
        prereleases |= names_prerelease(&set->specs[i]);
        all &= spec_holds(&set->specs[i], version);
    }
    return prereleases && all;
}
