/* The guard against request smuggling: see guard.h. */
#include "server/http/guard.h"
#include "server/http/trust.h"

#include <string.h>
#include <strings.h>

static bool is_token_char(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!is_token_char((unsigned char)text.data[i]))
            return false;
    return text.size > 0;
}

static bool has_control(struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.data[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            return true;
    }
    return false;
}

static enum hub_status refuse(struct hub_error *err, const char *why)
{
    return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_BAD_REQUEST, "%s", why);
}

static enum hub_status content_length(struct hub_view value, uint64_t *out, struct hub_error *err)
{
    uint64_t n = 0;
    if (value.size == 0 || value.size > 18)
        return refuse(err, "Content-Length is not a number of bytes");
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < '0' || value.data[i] > '9')
            return refuse(err, "Content-Length is not a number of bytes");
        n = n * 10 + (uint64_t)(value.data[i] - '0');
    }
    *out = n;
    return HUB_OK;
}

static enum hub_status method_of(const char *name, enum hub_method *out, struct hub_error *err)
{
    static const struct {
        const char *name;
        enum hub_method method;
    } known[] = {{"GET", HUB_GET},       {"HEAD", HUB_HEAD},       {"POST", HUB_POST},  {"PUT", HUB_PUT},
                 {"DELETE", HUB_DELETE}, {"OPTIONS", HUB_OPTIONS}, {"PATCH", HUB_PATCH}};
    for (size_t i = 0; i < HUB_COUNT(known); i++) {
        if (strcmp(name, known[i].name) == 0) {
            *out = known[i].method;
            return HUB_OK;
        }
    }
    *out = 0; /* the router answers 405 with what is allowed */
    return is_token(hub_view_of(name)) ? HUB_OK : refuse(err, "the method is not a token");
}

struct counts {
    unsigned host, length, encoding;
};

static enum hub_status look_at(const struct hub_param *header, struct counts *counts,
                               struct hub_guard_facts *facts, struct hub_error *err)
{
    if (!is_token(header->name))
        return refuse(err, "a header name is not a token");
    if (has_control(header->value))
        return refuse(err, "a header value has a control character");
    if (hub_param_named(header, "Host")) {
        counts->host++;
        facts->host = header->value.data;
        if (!hub_is_host(header->value)) /* it becomes part of the links we write */
            return refuse(err, "Host is not a host name");
    } else if (hub_param_named(header, "Content-Length")) {
        counts->length++;
        return content_length(header->value, &facts->content_length, err);
    } else if (hub_param_named(header, "Transfer-Encoding")) {
        counts->encoding++;
        if (header->value.size != 7 || strncasecmp(header->value.data, "chunked", 7) != 0)
            return refuse(err, "Transfer-Encoding must be chunked");
    }
    return HUB_OK;
}

enum hub_status hub_guard(const struct hub_guard_request *request, struct hub_guard_facts *facts,
                          struct hub_error *err)
{
    struct counts counts = {0};
    memset(facts, 0, sizeof *facts);
    if (request->folded)
        return refuse(err, "a header field is folded into two lines");
    if (request->hidden)
        return refuse(err, "the header has a NUL, or a field without a name");
    bool modern = strcmp(request->version, "HTTP/1.0") != 0;
    for (unsigned i = 0; i < request->header_count; i++)
        HUB_TRY(look_at(&request->headers[i], &counts, facts, err));
    if (counts.length > 1 || counts.encoding > 1)
        return refuse(err, "there is more than one Content-Length or Transfer-Encoding");
    if (counts.length && counts.encoding)
        return refuse(err, "there may be Content-Length or Transfer-Encoding, not both");
    if (counts.encoding && strcmp(request->version, "HTTP/1.1") != 0)
        return refuse(err, "Transfer-Encoding needs HTTP/1.1");
    if (counts.host > 1 || (modern && counts.host == 0))
        return refuse(err, "there must be exactly one Host header");
    if (request->target[0] != '/')
        return refuse(err, "the request target must begin with /");
    HUB_TRY(method_of(request->method, &facts->method, err));
    facts->announced = counts.length + counts.encoding > 0;
    facts->chunked = counts.encoding > 0;
    facts->has_body = facts->chunked || facts->content_length > 0;
    return HUB_OK;
}
