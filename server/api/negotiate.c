/* Negotiation: see negotiate.h. q-values order, specificity is not needed for a list this short. */
#include "server/api/negotiate.h"

#include <stdlib.h>

static bool is_type(struct hub_view type, const char *supported)
{
    return strlen(supported) == type.size && strncasecmp(supported, type.data, type.size) == 0;
}

/* The one of a media type; NULL: it is not offered. */
static const struct hub_representation *find_type(const struct hub_offer *offer, struct hub_view type)
{
    const struct hub_representation *as = NULL;
    if (is_type(type, "application/jsonl")) /* which many say instead of x-ndjson */
        type = HUB_VIEW("application/x-ndjson");
    while ((as = hub_representations_next(offer->list, as)) && !is_type(type, as->media_type))
        ;
    return as;
}

/* One element of Accept: its representation (NULL: not ours) and its weight in thousandths. */
static const struct hub_representation *read_range(const struct hub_offer *offer, struct hub_view range,
                                                   unsigned *weight)
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
    const struct hub_representation *as = find_type(offer, type);
    const bool any = is_type(type, "application/*") || is_type(type, "*/*") ||
                     is_type(type, "application/octet-stream"); /* bytes of any kind, where there is no raw */
    return as || !any ? as : hub_representations_next(offer->list, NULL);
}

static enum hub_status from_accept(const char *accept, const struct hub_offer *offer,
                                   const struct hub_representation **out, struct hub_error *err)
{
    char list[HUB_REPRESENTATIONS_CHARS];
    unsigned best = 0;
    for (const char *p = accept; *p;) {
        const size_t n = strcspn(p, ",");
        unsigned weight;
        const struct hub_representation *as = read_range(offer, (struct hub_view){p, n}, &weight);
        if (as && weight > best) {
            best = weight;
            *out = as;
        }
        p += n + (p[n] == ',');
    }
    if (best || !offer->what)
        return HUB_OK;
    hub_representations_list(offer->list, true, list);
    return hub_fail_about(err, HUB_NOT_ACCEPTABLE, HUB_PROBLEM_NOT_ACCEPTABLE, "Accept", accept,
                          "%s come as %s", offer->what, list);
}

const struct hub_representation *hub_negotiate_named(enum hub_representation_list list, struct hub_view name)
{
    const struct hub_representation *as = NULL;
    while ((as = hub_representations_next(list, as)) && !hub_view_is(name, as->name))
        ;
    return as;
}

static enum hub_status no_such_format(const struct hub_request *request, const struct hub_offer *offer,
                                      struct hub_error *err)
{
    char list[HUB_REPRESENTATIONS_CHARS];
    hub_representations_list(offer->list, false, list);
    return hub_request_wrong(request, "format", err, "format must be one of %s", list);
}

enum hub_status hub_negotiate(const struct hub_request *request, const struct hub_offer *offer,
                              const struct hub_representation **out, struct hub_error *err)
{
    const char *accept = hub_request_header(request, "Accept");
    bool named = false;
    *out = hub_representations_next(offer->list, NULL);
    for (unsigned i = 0; i < request->query_count; i++) {
        if (!hub_view_is(request->query[i].name, "format"))
            continue;
        const struct hub_representation *as = hub_negotiate_named(offer->list, request->query[i].value);
        if (!as && !offer->filter)
            return no_such_format(request, offer, err);
        *out = as ? as : *out;
        named |= as != NULL;
    }
    return named || !accept || !*accept ? HUB_OK : from_accept(accept, offer, out, err);
}
