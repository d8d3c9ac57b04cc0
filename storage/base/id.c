/* Dataset ids of both Minari eras and the hub's own path rule: see id.h. The grammars are regular and end in
 * a suffix that can match in one place only, so each is parsed by cutting at fixed characters instead of by a
 * regular expression. */
#include "storage/base/id.h"

#include "storage/base/utf8.h"

static bool is_letter(uint32_t code)
{
    if (code < 0x80)
        return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') ||
               code == '_';
    return code >= 0xAA && code != 0x1680 && !(code >= 0x2000 && code < 0x2070) &&
           !(code >= 0x3000 && code < 0x3040) && !(code >= 0xE000 && code < 0xF900) && code != 0xFEFF &&
           code < 0xF0000;
}

/* Letters and the ASCII characters of `also`. */
static bool all_of(struct hub_view text, const char *also)
{
    while (text.size) {
        uint32_t code;
        const size_t n = hub_utf8_decode(text, &code);
        if (!n || !(is_letter(code) || (code && code < 0x80 && strchr(also, (int)code))))
            return false;
        text.data += n;
        text.size -= n;
    }
    return true;
}

static struct hub_view head_of(struct hub_view text, size_t size)
{
    return (struct hub_view){text.data, size};
}

static struct hub_view tail_of(struct hub_view text, size_t from)
{
    return (struct hub_view){text.data + from, text.size - from};
}

/* Position of the last '/', or SIZE_MAX. */
static size_t last_slash(struct hub_view text)
{
    const char *slash = text.size ? memrchr(text.data, '/', text.size) : NULL;
    return slash ? (size_t)(slash - text.data) : SIZE_MAX;
}

/* Where "-vN" begins, leaving at least one byte before it; SIZE_MAX without one. */
static size_t version_at(struct hub_view text)
{
    size_t i = text.size;
    while (i > 0 && text.data[i - 1] >= '0' && text.data[i - 1] <= '9')
        i--;
    if (i == text.size || i < 3 || text.data[i - 1] != 'v' || text.data[i - 2] != '-')
        return SIZE_MAX;
    return i - 2;
}

/* False when the number is over the limit. */
static bool parse_version(struct hub_view digits, uint32_t *out)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.size; i++) {
        value = value * 10 + (uint64_t)(digits.data[i] - '0');
        if (value > HUB_MAX_VERSION)
            return false;
    }
    *out = (uint32_t)value;
    return true;
}

/* The common end of both grammars: name, then "-vN". */
static enum hub_id_verdict parse_name(struct hub_view text, struct hub_id *out)
{
    const size_t at = version_at(text);
    out->name = at == SIZE_MAX ? text : head_of(text, at);
    if (at == SIZE_MAX)
        return HUB_ID_MISSING_VERSION;
    out->has_version = true;
    return parse_version(tail_of(text, at + 2), &out->version) ? HUB_ID_OK : HUB_ID_VERSION_TOO_BIG;
}

static enum hub_id_verdict parse_e4(struct hub_view text, struct hub_id *out)
{
    const char *dash = text.size ? memchr(text.data, '-', text.size) : NULL;
    if (!dash)
        return HUB_ID_MALFORMED;
    out->environment = head_of(text, (size_t)(dash - text.data));
    const struct hub_view rest = tail_of(text, out->environment.size + 1);
    if (!rest.size || !all_of(out->environment, "") || !all_of(rest, ":.-"))
        return HUB_ID_MALFORMED;
    return parse_name(rest, out);
}

bool hub_id_namespace_valid(struct hub_view text)
{
    return text.size >= 2 && text.data[0] != '/' && text.data[text.size - 1] != '/' && all_of(text, "-/") &&
           ((uint8_t)text.data[0] < 0x80 || hub_utf8_decode(text, &(uint32_t){0}) < text.size);
}

static enum hub_id_verdict parse_e5(struct hub_view text, struct hub_id *out)
{
    const size_t slash = last_slash(text);
    struct hub_view name = text;
    if (slash != SIZE_MAX) {
        out->ns = head_of(text, slash);
        name = tail_of(text, slash + 1);
        if (!hub_id_namespace_valid(out->ns))
            return HUB_ID_MALFORMED;
    }
    if (!name.size || !all_of(name, "-"))
        return HUB_ID_MALFORMED;
    return parse_name(name, out);
}

enum hub_id_verdict hub_id_parse(struct hub_view text, enum hub_id_era era, struct hub_id *out)
{
    struct hub_id id = {0};
    const enum hub_id_verdict verdict = era == HUB_ID_E4 ? parse_e4(text, &id) : parse_e5(text, &id);
    if (verdict == HUB_ID_OK || verdict == HUB_ID_MISSING_VERSION)
        *out = id;
    return verdict;
}

enum hub_status hub_id_explain(enum hub_id_verdict verdict, struct hub_view text, struct hub_error *err)
{
    const int shown = (int)HUB_MIN(text.size, (size_t)200);
    switch (verdict) {
    case HUB_ID_OK:
        return HUB_OK;
    case HUB_ID_MALFORMED:
        return hub_fail_as(err, HUB_INVALID, "bad-id", "'%.*s' is not a Minari dataset id", shown, text.data);
    case HUB_ID_MISSING_VERSION:
        return hub_fail_as(err, HUB_INVALID, "bad-id",
                           "'%.*s' lacks its version: an id ends in -v and a number", shown, text.data);
    case HUB_ID_VERSION_TOO_BIG:
        return hub_fail_as(err, HUB_INVALID, "bad-id", "the version of '%.*s' is over %u", shown, text.data,
                           HUB_MAX_VERSION);
    }
    return hub_fail_as(err, HUB_INVALID, "bad-id", "not a dataset id");
}

enum hub_status hub_id_format(const struct hub_id *id, enum hub_id_era era, struct hub_buf *out,
                              struct hub_error *err)
{
    if (era == HUB_ID_E4) {
        HUB_TRY(hub_buf_add_view(out, id->environment, err));
        HUB_TRY(hub_buf_add_text(out, "-", err));
    } else if (id->ns.size) {
        HUB_TRY(hub_buf_add_view(out, id->ns, err));
        HUB_TRY(hub_buf_add_text(out, "/", err));
    }
    HUB_TRY(hub_buf_add_view(out, id->name, err));
    return id->has_version ? hub_buf_addf(out, err, "-v%u", id->version) : HUB_OK;
}

bool hub_id_segment_safe(struct hub_view segment)
{
    return segment.size >= 1 && segment.size <= 255 && segment.data[0] != '.' &&
           !memchr(segment.data, '/', segment.size) && hub_utf8_printable(segment);
}

bool hub_id_segment_reserved(struct hub_view segment)
{
    static const char *const reserved[] = {"episodes", "files", "sample", "batch", "archive.tar"};
    if (segment.size && segment.data[0] == '~')
        return true;
    for (size_t i = 0; i < HUB_COUNT(reserved); i++) {
        if (hub_view_is(segment, reserved[i]))
            return true;
    }
    return false;
}

enum hub_status hub_id_check(struct hub_view id, struct hub_error *err)
{
    if (id.size == 0 || id.size > HUB_MAX_ID)
        return hub_fail_as(err, HUB_INVALID, "bad-id", "a dataset id has 1 to %d bytes", HUB_MAX_ID);
    while (true) {
        const char *slash = memchr(id.data, '/', id.size);
        const struct hub_view segment = head_of(id, slash ? (size_t)(slash - id.data) : id.size);
        if (!hub_id_segment_safe(segment))
            return hub_fail_as(
                err, HUB_INVALID, "bad-id",
                "a segment of a dataset id is 1 to 255 bytes of UTF-8 without control characters or a "
                "leading dot");
        if (hub_id_segment_reserved(segment))
            return hub_fail_as(err, HUB_INVALID, "bad-id",
                               "'%.*s' is reserved and cannot be part of a dataset id", (int)segment.size,
                               segment.data);
        if (!slash)
            return HUB_OK;
        id = tail_of(id, segment.size + 1);
    }
}

bool hub_id_split_alias(struct hub_view id, struct hub_view *alias, uint32_t *version)
{
    const size_t slash = last_slash(id);
    const size_t from = slash == SIZE_MAX ? 0 : slash + 1;
    const struct hub_view name = tail_of(id, from);
    const size_t at = version_at(name);
    *alias = id;
    if (at == SIZE_MAX || !parse_version(tail_of(name, at + 2), version))
        return false;
    *alias = head_of(id, from + at);
    return true;
}

static int compare_bytes(struct hub_view a, struct hub_view b)
{
    const size_t n = HUB_MIN(a.size, b.size);
    const int order = n ? memcmp(a.data, b.data, n) : 0;
    return order ? order : (a.size > b.size) - (a.size < b.size);
}

int hub_id_compare(struct hub_view a, struct hub_view b)
{
    struct hub_view left, right;
    uint32_t left_version = 0, right_version = 0;
    const bool left_has = hub_id_split_alias(a, &left, &left_version);
    const bool right_has = hub_id_split_alias(b, &right, &right_version);
    const size_t left_slash = last_slash(left), right_slash = last_slash(right);
    int order = compare_bytes(head_of(left, left_slash == SIZE_MAX ? 0 : left_slash),
                              head_of(right, right_slash == SIZE_MAX ? 0 : right_slash));
    if (!order)
        order = compare_bytes(tail_of(left, left_slash == SIZE_MAX ? 0 : left_slash + 1),
                              tail_of(right, right_slash == SIZE_MAX ? 0 : right_slash + 1));
    if (!order)
        order = left_has - right_has;
    if (!order)
        order = (left_version > right_version) - (left_version < right_version);
    return order ? order : compare_bytes(a, b);
}
