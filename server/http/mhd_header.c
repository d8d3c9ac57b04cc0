/* The header of a request as the library shows it, and what it hides: see mhd_header.h. */
#include "server/http/mhd_header.h"

#include "server/http/mhd_answer.h"

/* Between name and value lie the colon (a NUL by now) and white space. The library moves a field that was
 * folded, and takes the second line for a part of its name: a length would be lost, and a body run as the
 * next request. */
static bool is_folded(const char *name, size_t name_size, const char *value)
{
    const char *end = name + name_size;
    return value <= end || strspn(end + 1, " \t") != (size_t)(value - end - 1);
}

static enum MHD_Result add_header(void *cls, enum MHD_ValueKind kind, const char *name, size_t name_size,
                                  const char *value, size_t value_size)
{
    struct hub_exchange *x = cls;
    (void)kind;
    if (x->request.header_count == HUB_MAX_HEADERS)
        return MHD_NO;
    x->folded |= value && is_folded(name, name_size, value);
    x->headers[x->request.header_count++] =
        (struct hub_param){{name, name_size}, {value ? value : "", value ? value_size : 0}};
    return MHD_YES;
}

/* Between two parts of a header that the library shows lie the ends of lines, which are NULs by now, and
 * blanks. What else lies there it hides: a NUL ends a value for it, and a field without a name is none,
 * while a proxy in front may have read them. Parts that do not lie in its buffer (`from` is none of it) say
 * nothing. */
static bool hides(const char *from, const char *to)
{
    if (from > to || (size_t)(to - from) > HUB_MHD_BYTES)
        return false;
    while (from < to && (*from == '\0' || strchr(" \t\r\n", *from)))
        from++;
    return from < to;
}

static bool has_hidden(const struct hub_exchange *x, const char *method, const char *version)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    const char *at = version + strlen(version);
    bool hidden = hides(x->target_end, version);
    for (unsigned i = 0; i < x->request.header_count; i++) {
        const struct hub_view name = x->headers[i].name, value = x->headers[i].value;
        hidden |= hides(at, name.data);
        at = value.size ? value.data + value.size : name.data + name.size + 1; /* behind the colon */
    }
    return hidden || (info && info->header_size && hides(at, method + info->header_size));
}

void hub_mhd_read_header(struct hub_exchange *x, const char *method, const char *version)
{
    int count = MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, add_header, x);
    if (count > HUB_MAX_HEADERS) {
        x->request.header_count = 0; /* a part of them would mislead */
        x->parsed = hub_fail_as(&x->error, HUB_INVALID, HUB_PROBLEM_BAD_REQUEST, "more than %d header fields",
                                HUB_MAX_HEADERS);
        x->close = true;
    }
    x->hidden = has_hidden(x, method, version);
}

void hub_mhd_hide_expectation(struct hub_exchange *x)
{
    for (unsigned i = 0; i < x->request.header_count; i++)
        if (hub_param_named(&x->headers[i], "Expect") && x->headers[i].value.size)
            ((char *)x->headers[i].value.data)[0] = '-';
}
