/* Preconditions in the order of RFC 9110 13.2.2. A list field may come as several lines, which count as one
 * list. */
#include "server/http/fields.h"
#include "storage/text/time.h"

#include <strings.h>

unsigned hub_field_count(const struct hub_request *request, const char *name)
{
    unsigned n = 0;
    for (unsigned i = 0; i < request->header_count; i++)
        n += hub_param_named(&request->headers[i], name);
    return n;
}

/* One list of entity tags: "*", or tags separated by commas, each W/ or not. Google's clients send theirs
 * without the quotes. A list that breaks off matches up to there. */
static bool list_has(struct hub_view list, const char *etag, bool weak)
{
    const char *at = list.data, *end = list.data + list.size;
    size_t size = etag ? strlen(etag) : 0;
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
            at++;
        if (at < end && *at == '*')
            return true;
        bool is_weak = end - at > 2 && at[0] == 'W' && at[1] == '/';
        if (is_weak)
            at += 2;
        if (at == end)
            return false;
        const bool bare = *at != '"';
        const char *close = at;
        while (bare && close < end && !strchr(" \t,", *close))
            close++;
        if (!bare)
            close = memchr(at + 1, '"', (size_t)(end - at - 1));
        if (!close || close == at)
            return false;
        const size_t tag = (size_t)(close - at) + !bare, quote = bare;
        if (etag && tag + 2 * quote == size && memcmp(at, etag + quote, tag) == 0 && (weak || !is_weak))
            return true;
        at += tag;
    }
}

static bool any_has(const struct hub_request *request, const char *name, const char *etag, bool weak)
{
    for (unsigned i = 0; i < request->header_count; i++)
        if (hub_param_named(&request->headers[i], name) && list_has(request->headers[i].value, etag, weak))
            return true;
    return false;
}

/* The date of a field; false when it is absent, doubled, malformed, or we have none to compare with: the
 * field is then ignored. */
static bool date_of(const struct hub_request *request, const struct hub_validators *validators,
                    const char *name, int64_t *when)
{
    return validators->modified_s >= 0 && hub_field_count(request, name) == 1 &&
           hub_time_parse_http(hub_view_of(hub_request_header(request, name)), hub_time_now_s(), when);
}

enum hub_condition hub_conditions(const struct hub_request *request, const struct hub_validators *validators)
{
    bool reads = request->method == HUB_GET || request->method == HUB_HEAD;
    int64_t when = 0;
    if (hub_request_header(request, "If-Match")) {
        if (!any_has(request, "If-Match", validators->etag, false))
            return HUB_PRECONDITION_FAILED;
    } else if (date_of(request, validators, "If-Unmodified-Since", &when) && validators->modified_s > when) {
        return HUB_PRECONDITION_FAILED;
    }
    if (hub_request_header(request, "If-None-Match")) {
        if (any_has(request, "If-None-Match", validators->etag, true))
            return reads ? HUB_NOT_MODIFIED : HUB_PRECONDITION_FAILED;
    } else if (reads && date_of(request, validators, "If-Modified-Since", &when) &&
               validators->modified_s <= when) {
        return HUB_NOT_MODIFIED;
    }
    return HUB_SERVE;
}

static void put_hex(char *out, uint64_t value)
{
    for (int i = 15; i >= 0; i--, value >>= 4)
        out[i] = "0123456789abcdef"[value & 15];
}

void hub_fingerprint(char out[40], const struct hub_view *parts, unsigned count)
{
    uint64_t a = 0xcbf29ce484222325u, b = 0x9ae16a3b2f90404fu;
    for (unsigned i = 0; i < count; i++) {
        for (size_t k = 0; k < parts[i].size; k++) {
            const uint8_t byte = (uint8_t)parts[i].data[k];
            a = (a ^ byte) * 0x100000001b3u;
            b = (b ^ byte) * 0x9e3779b97f4a7c15u;
            b ^= b >> 29;
        }
        a = (a ^ 0xff) * 0x100000001b3u; /* parts end: "ab","c" differs from "a","bc" */
        b = (b ^ 0xff) * 0x9e3779b97f4a7c15u;
    }
    out[0] = out[33] = '"';
    put_hex(out + 1, a);
    put_hex(out + 17, b);
    out[34] = '\0';
}
