/* Negotiation for rows: see negotiate.h. q-values order, specificity is not needed for a list this short. */
#include "server/api/rows/negotiate.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_type(struct hub_view type, const char *known)
{
    return strlen(known) == type.size && strncasecmp(known, type.data, type.size) == 0;
}

/* One element of Accept: its representation (false: not ours) and its weight in thousandths. */
static bool read_range(struct hub_view range, const struct hub_representation **as, unsigned *weight)
{
    const char *semicolon = memchr(range.data, ';', range.size);
    const struct hub_view type =
        hub_trimmed((struct hub_view){range.data, semicolon ? (size_t)(semicolon - range.data) : range.size});
    *weight = 1000;
    for (const char *p = semicolon; p && p + 3 < range.data + range.size; p++)
        if ((p[0] == ';' || p[0] == ' ') && (p[1] == 'q' || p[1] == 'Q') && p[2] == '=') {
            const double q = strtod(p + 3, NULL); /* the header is terminated, so this cannot run away */
            *weight = !(q > 0) ? 0 : q >= 1 ? 1000 : (unsigned)(q * 1000); /* "nan" is a number to strtod */
        }
    *as = hub_representations;
    if (is_type(type, "application/*") || is_type(type, "*/*"))
        return true;
    while ((*as)->name && !is_type(type, (*as)->media_type))
        (*as)++;
    return (*as)->name;
}

static enum hub_status from_accept(const char *accept, const struct hub_representation **out,
                                   struct hub_error *err)
{
    char list[HUB_REPRESENTATIONS_CHARS];
    unsigned best = 0;
    for (const char *p = accept; *p;) {
        const size_t n = strcspn(p, ",");
        const struct hub_representation *as;
        unsigned weight;
        if (read_range((struct hub_view){p, n}, &as, &weight) && weight > best) {
            best = weight;
            *out = as;
        }
        p += n + (p[n] == ',');
    }
    if (best)
        return HUB_OK;
    hub_representations_list(HUB_LIST_MEDIA_TYPES, list);
    return hub_fail_about(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE, "Accept", accept,
                          "rows come as %s", list);
}

enum hub_status hub_negotiate(const struct hub_request *request, struct hub_encoding *e,
                              struct hub_error *err)
{
    const struct hub_view format = hub_request_query(request, "format");
    const char *accept = hub_request_header(request, "Accept");
    e->as = hub_representations;
    e->by_name = format.data;
    if (!format.data)
        return accept && *accept ? from_accept(accept, &e->as, err) : HUB_OK;
    while (e->as->name && !hub_view_is(format, e->as->name))
        e->as++;
    if (e->as->name)
        return HUB_OK;
    char list[HUB_REPRESENTATIONS_CHARS];
    hub_representations_list(HUB_LIST_NAMES, list);
    return hub_request_wrong(request, "format", err, "format must be one of %s", list);
}

bool hub_is_table(const struct hub_representation *as)
{
    return as->writer->blocks;
}

enum hub_status hub_negotiate_arrays(const struct hub_request *request,
                                     bool (*may)(const struct hub_representation *as),
                                     const struct hub_representation **out, struct hub_error *err)
{
    const struct hub_view format = hub_request_query(request, "format");
    const char *accept = hub_request_header(request, "Accept");
    const bool any = !accept || !*accept || strstr(accept, "*/*") || strstr(accept, "application/*") ||
                     strstr(accept, "application/octet-stream");
    char list[HUB_REPRESENTATIONS_CHARS] = "";
    const struct hub_representation *npz = NULL;
    for (const struct hub_representation *as = hub_representations; as->name; as++) {
        const bool is_npz = strcmp(as->name, "npz") == 0;
        if (!is_npz && !may(as))
            continue;
        npz = is_npz ? as : npz;
        if (format.data ? hub_view_is(format, as->name) : accept && strstr(accept, as->media_type)) {
            *out = as;
            return HUB_OK;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", *list ? ", " : "",
                 format.data ? as->name : as->media_type);
    }
    *out = npz;
    if (format.data)
        return hub_request_wrong(request, "format", err, "format must be one of %s", list);
    return any ? HUB_OK
               : hub_fail_about(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE, "Accept", accept,
                                "rows of many episodes come as %s", list);
}
