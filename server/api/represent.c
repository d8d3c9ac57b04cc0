/* Negotiation for rows: see represent.h. One table; q-values order, specificity is not needed for a list this
 * short. */
#include "server/api/represent.h"

#include <stdlib.h>

static const struct {
    enum hub_format_id as;
    const char *name, *type;
} known[] = {
    {HUB_AS_JSON, "json", "application/json"},
    {HUB_AS_NPY, "npy", "application/x-npy"},
    {HUB_AS_NPZ, "npz", "application/x-npz"},
    {HUB_AS_RAW, "raw", "application/octet-stream"},
    {HUB_AS_IMAGE, "image", "image/*"},
    {HUB_AS_IMAGE, "jpeg", "image/jpeg"},
    {HUB_AS_IMAGE, "png", "image/png"},
    {HUB_AS_JSON, NULL, "application/*"},
    {HUB_AS_JSON, NULL, "*/*"},
};

const char *hub_represent_name(enum hub_format_id as)
{
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (known[i].as == as)
            return known[i].name;
    return "json";
}

const char *hub_represent_type(enum hub_format_id as)
{
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (known[i].as == as)
            return known[i].type;
    return "application/json";
}

/* One element of Accept: its representation (false: not ours) and its weight in thousandths. */
static bool read_range(struct hub_view range, enum hub_format_id *as, unsigned *weight)
{
    const char *semicolon = memchr(range.data, ';', range.size);
    struct hub_view type = {range.data, semicolon ? (size_t)(semicolon - range.data) : range.size};
    while (type.size && (type.data[0] == ' ' || type.data[0] == '\t'))
        type = (struct hub_view){type.data + 1, type.size - 1};
    while (type.size && (type.data[type.size - 1] == ' ' || type.data[type.size - 1] == '\t'))
        type.size--;
    *weight = 1000;
    for (const char *p = semicolon; p && p + 3 < range.data + range.size; p++)
        if ((p[0] == ';' || p[0] == ' ') && (p[1] == 'q' || p[1] == 'Q') && p[2] == '=') {
            const double q = strtod(p + 3, NULL); /* the header is terminated, so this cannot run away */
            *weight = !(q > 0) ? 0 : q >= 1 ? 1000 : (unsigned)(q * 1000); /* "nan" is a number to strtod */
        }
    for (size_t i = 0; i < HUB_COUNT(known); i++)
        if (strlen(known[i].type) == type.size && strncasecmp(known[i].type, type.data, type.size) == 0) {
            *as = known[i].as;
            return true;
        }
    return false;
}

static enum hub_status from_accept(const char *accept, enum hub_format_id *out, struct hub_error *err)
{
    unsigned best = 0;
    for (const char *p = accept; *p;) {
        const size_t n = strcspn(p, ",");
        enum hub_format_id as;
        unsigned weight;
        if (read_range((struct hub_view){p, n}, &as, &weight) && weight > best) {
            best = weight;
            *out = as;
        }
        p += n + (p[n] == ',');
    }
    if (best)
        return HUB_OK;
    hub_fail_as(err, HUB_NOT_ACCEPTABLE, "not-acceptable",
                "rows come as application/json, application/x-npy, application/x-npz, "
                "application/octet-stream, image/jpeg, image/png");
    return hub_fail_about(err, "Accept", accept);
}

enum hub_status hub_represent(const struct hub_request *request, enum hub_format_id *out,
                              struct hub_error *err)
{
    const struct hub_view format = hub_request_query(request, "format");
    if (format.data) {
        for (size_t i = 0; i < HUB_COUNT(known); i++)
            if (known[i].name && hub_view_is(format, known[i].name)) {
                *out = known[i].as;
                return HUB_OK;
            }
        hub_fail_as(err, HUB_INVALID, "bad-parameter", "format is one of json, npy, npz, raw, jpeg, png");
        return hub_fail_about(err, "format", format.data);
    }
    const char *accept = hub_request_header(request, "Accept");
    *out = HUB_AS_JSON;
    return accept && *accept ? from_accept(accept, out, err) : HUB_OK;
}
