/* Range and If-Range (RFC 9110 13.1.5, 14.2): single byte ranges of GET; everything else is answered
 * whole. */
#include "server/http/fields.h"
#include "storage/text/time.h"

#include <inttypes.h>
#include <strings.h>

/* Digits into a number that saturates. False: no digit. */
static bool digits(const char **at, uint64_t *out)
{
    const char *c = *at;
    uint64_t n = 0;
    for (; *c >= '0' && *c <= '9'; c++)
        n = n > (UINT64_MAX - 9) / 10 ? UINT64_MAX : n * 10 + (uint64_t)(*c - '0');
    bool any = c > *at;
    *at = c;
    *out = n;
    return any;
}

enum range_kind { RANGE_NONE, RANGE_FROM, RANGE_SUFFIX };

/* "bytes=first-", "bytes=first-last", "bytes=-suffix"; anything else, several ranges too, is RANGE_NONE. */
static enum range_kind parse(const char *text, uint64_t *first, uint64_t *last)
{
    if (strncasecmp(text, "bytes=", 6) != 0)
        return RANGE_NONE;
    const char *at = text + 6;
    at += strspn(at, " \t");
    bool has_first = digits(&at, first);
    if (*at != '-')
        return RANGE_NONE;
    at++;
    bool has_last = digits(&at, last);
    at += strspn(at, " \t");
    if (*at != '\0' || (!has_first && !has_last))
        return RANGE_NONE;
    if (!has_first)
        return RANGE_SUFFIX;
    if (!has_last)
        *last = UINT64_MAX;
    return *first <= *last ? RANGE_FROM : RANGE_NONE;
}

/* If-Range holds: a strong validator that is exactly ours. */
static bool if_range_holds(const struct hub_request *request, const struct hub_validators *validators)
{
    const char *text = hub_request_header(request, "If-Range");
    int64_t when = 0;
    if (!text)
        return true;
    if (hub_field_count(request, "If-Range") != 1)
        return false;
    if (text[0] == '"' || text[0] == 'W')
        return text[0] == '"' && validators->etag && validators->etag[0] == '"' &&
               strcmp(text, validators->etag) == 0;
    int64_t now = hub_time_now_s();
    if (!hub_time_parse_http(hub_view_of(text), now, &when))
        return false;
    return validators->modified_s >= 0 && when == validators->modified_s &&
           when < now - 1; /* a date this old is strong: 8.8.2.2 */
}

enum hub_status hub_range(const struct hub_request *request, const struct hub_validators *validators,
                          uint64_t size, uint64_t *first, uint64_t *count, bool *partial,
                          struct hub_error *err)
{
    uint64_t from = 0, last = 0;
    *first = 0;
    *count = size;
    *partial = false;
    if (request->method != HUB_GET || hub_field_count(request, "Range") != 1 ||
        !if_range_holds(request, validators))
        return HUB_OK;
    enum range_kind kind = parse(hub_request_header(request, "Range"), &from, &last);
    if (kind == RANGE_NONE)
        return HUB_OK;
    if (kind == RANGE_SUFFIX) {
        if (last > 0 && size == 0)
            return HUB_OK; /* all of nothing: there is no Content-Range to say so */
        from = last < size ? size - last : 0;
        last = last > 0 ? UINT64_MAX : 0;
        if (last == 0)
            from = size;
    }
    if (from >= size)
        return hub_fail_as(err, HUB_OUT_OF_RANGE, HUB_PROBLEM_RANGE_NOT_SATISFIABLE,
                           "the range begins past the last of %llu bytes", (unsigned long long)size);
    *first = from;
    *count = HUB_MIN(last, size - 1) - from + 1;
    *partial = true;
    return HUB_OK;
}

enum hub_status hub_bytes_range(struct hub_request *request, const struct hub_validators *validators,
                                uint64_t size, struct hub_response *response, struct hub_byte_range *out,
                                struct hub_error *err)
{
    const enum hub_status st =
        hub_range(request, validators, size, &out->first, &out->count, &out->partial, err);
    if (st == HUB_OUT_OF_RANGE) { /* the one problem with a header of its own */
        out->answered = true;
        hub_response_dispose(response);
        hub_problem_write(response, request, err, NULL);
        return hub_response_header(response, err, "Content-Range", "bytes */%" PRIu64, size);
    }
    HUB_TRY(st);
    response->status = out->partial ? 206 : 200;
    return out->partial
               ? hub_response_header(response, err, "Content-Range", "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
                                     out->first, out->first + out->count - 1, size)
               : HUB_OK;
}
