/* Dimensions of a row: see dims.h. */
#include "server/api/rows/dims.h"

#include <inttypes.h>
#include <stdlib.h>

static bool read_number(const char **at, uint32_t *out)
{
    char *end;
    const unsigned long value = strtoul(*at, &end, 10);
    const bool digits = **at >= '0' && **at <= '9' && end - *at < 10;
    *out = (uint32_t)value;
    *at = end;
    return digits;
}

static enum hub_status all(const struct hub_request *request, const char *path, uint32_t there,
                           struct hub_dims *out, struct hub_error *err)
{
    if (there > out->most)
        return hub_request_wrong(
            request, "dims", err,
            "'%s' has %" PRIu32 " numbers per row: name at most %" PRIu32 " of them with dims=", path, there,
            out->most);
    for (out->count = 0; out->count < there; out->count++)
        out->of[out->count] = out->count;
    return HUB_OK;
}

/* A plus comes as a space where it was not spelt. */
enum hub_status hub_dims_read(const struct hub_request *request, struct hub_view text, const char *path,
                              uint32_t there, struct hub_dims *out, struct hub_error *err)
{
    uint32_t from, to;
    if (!text.size)
        return all(request, path, there, out, err);
    out->count = 0;
    for (const char *at = text.data; *at; at += *at != '\0') {
        bool right = read_number(&at, &from);
        to = from;
        if (right && *at == '-') {
            at++;
            right = read_number(&at, &to);
        }
        if (!right || to < from || to >= there || (*at && *at != '+' && *at != ' '))
            return hub_request_wrong(request, "dims", err,
                                     "dims must be dimensions of '%s' below %" PRIu32 ", such as 0-3+7", path,
                                     there);
        for (; from <= to; from++) {
            if (out->count == out->most)
                return hub_request_wrong(request, "dims", err,
                                         "at most %" PRIu32 " dimensions of a field at once", out->most);
            out->of[out->count++] = from;
        }
    }
    return HUB_OK;
}

struct hub_view hub_dims_of(const struct hub_request *request, uint32_t field, uint32_t *given)
{
    struct hub_view found = {0};
    *given = 0;
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, "dims") && (*given)++ == field)
            found = request->query[i].value;
    return found;
}
