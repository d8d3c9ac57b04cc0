/* What Minari does with specifiers: intersecting those of combined datasets, and deciding which releases load
 * a set. */
#include "storage/base/version.h"

/* Versions between two bounds, without some single ones. */
struct range {
    bool has_low, has_high, low_in, high_in;
    struct hub_version low, high;
    uint32_t hole_count;
    struct hub_version holes[2 * HUB_SPEC_MAX];
};

static void raise_low(struct range *r, const struct hub_version *v, bool in)
{
    const int order = r->has_low ? hub_version_compare(v, &r->low) : 1;
    if (order > 0 || (order == 0 && !in)) {
        r->low = *v;
        r->low_in = in;
        r->has_low = true;
    }
}

static void reduce_high(struct range *r, const struct hub_version *v, bool in)
{
    const int order = r->has_high ? hub_version_compare(v, &r->high) : -1;
    if (order < 0 || (order == 0 && !in)) {
        r->high = *v;
        r->high_in = in;
        r->has_high = true;
    }
}

/* Written with at least three numbers, as Minari's releases are. */
static struct hub_version padded(struct hub_version v)
{
    while (v.release_count < 3)
        v.release[v.release_count++] = 0;
    return v;
}

/* From the version up to, and without, the next release of its first `count` numbers. */
static void limit_to_series(struct range *r, const struct hub_version *v, uint32_t count)
{
    struct hub_version next = {.epoch = v->epoch, .release_count = count};
    memcpy(next.release, v->release, count * sizeof(next.release[0]));
    next.release[count - 1]++;
    next = padded(next);
    const struct hub_version low = padded(*v);
    raise_low(r, &low, true);
    reduce_high(r, &next, false);
}

static enum hub_status narrow(struct range *r, const struct hub_spec *spec, struct hub_error *err)
{
    const struct hub_version *v = &spec->version;
    switch (spec->op) {
    case HUB_SPEC_COMPATIBLE:
        limit_to_series(r, v, v->release_count - 1);
        return HUB_OK;
    case HUB_SPEC_EQUAL:
        if (spec->wildcard) {
            limit_to_series(r, v, v->release_count);
            return HUB_OK;
        }
        raise_low(r, v, true);
        reduce_high(r, v, true);
        return HUB_OK;
    case HUB_SPEC_NOT_EQUAL:
        if (spec->wildcard)
            break;
        r->holes[r->hole_count++] = *v;
        return HUB_OK;
    case HUB_SPEC_LESS:
    case HUB_SPEC_LESS_EQUAL:
        reduce_high(r, v, spec->op == HUB_SPEC_LESS_EQUAL);
        return HUB_OK;
    case HUB_SPEC_GREATER:
    case HUB_SPEC_GREATER_EQUAL:
        raise_low(r, v, spec->op == HUB_SPEC_GREATER_EQUAL);
        return HUB_OK;
    case HUB_SPEC_ARBITRARY:
        break;
    }
    return hub_fail(err, HUB_UNSUPPORTED, "this kind of version specifier cannot be intersected");
}

/* A hole on a closed bound opens it; one outside says nothing; the others are kept, each once. */
static void settle_holes(struct range *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->hole_count; i++) {
        const struct hub_version hole = r->holes[i];
        const int low = r->has_low ? hub_version_compare(&hole, &r->low) : 1;
        const int high = r->has_high ? hub_version_compare(&hole, &r->high) : -1;
        if (low == 0)
            r->low_in = false;
        if (high == 0)
            r->high_in = false;
        bool again = false;
        for (uint32_t j = 0; j < kept; j++)
            again |= hub_version_compare(&hole, &r->holes[j]) == 0;
        if (low > 0 && high < 0 && !again)
            r->holes[kept++] = hole;
    }
    r->hole_count = kept;
}

static enum hub_status put(struct hub_buf *out, const char *op, const struct hub_version *v, size_t start,
                           struct hub_error *err)
{
    if (out->size > start)
        HUB_TRY(hub_buf_add_text(out, ",", err));
    HUB_TRY(hub_buf_add_text(out, op, err));
    return hub_version_format(v, out, err);
}

static enum hub_status put_range(const struct range *r, struct hub_buf *out, struct hub_error *err)
{
    const size_t start = out->size;
    const int order = r->has_low && r->has_high ? hub_version_compare(&r->low, &r->high) : -1;
    if (order > 0 || (order == 0 && !(r->low_in && r->high_in)))
        return hub_fail(err, HUB_INVALID, "no version satisfies all specifiers");
    if (order == 0)
        return put(out, "==", &r->low, start, err);
    if (r->has_low)
        HUB_TRY(put(out, r->low_in ? ">=" : ">", &r->low, start, err));
    if (r->has_high)
        HUB_TRY(put(out, r->high_in ? "<=" : "<", &r->high, start, err));
    for (uint32_t i = 0; i < r->hole_count; i++)
        HUB_TRY(put(out, "!=", &r->holes[i], start, err));
    return HUB_OK;
}

enum hub_status hub_spec_intersect(const struct hub_spec_set *a, const struct hub_spec_set *b,
                                   struct hub_buf *out, struct hub_error *err)
{
    struct range r = {0};
    for (uint32_t i = 0; i < a->count; i++)
        HUB_TRY(narrow(&r, &a->specs[i], err));
    for (uint32_t i = 0; i < b->count; i++)
        HUB_TRY(narrow(&r, &b->specs[i], err));
    settle_holes(&r);
    return put_range(&r, out, err);
}

const char *const hub_minari_releases[HUB_MINARI_RELEASES] = {"0.3.0", "0.3.1", "0.4.0", "0.4.1", "0.4.2",
                                                              "0.4.3", "0.5.0", "0.5.1", "0.5.2", "0.5.3"};

static struct hub_version version_of(uint32_t major, uint32_t minor)
{
    return (struct hub_version){.release = {major, minor}, .release_count = 2};
}

bool hub_minari_loadable(struct hub_view minari_version, bool has_metadata_json, struct hub_view release)
{
    const struct hub_version v04 = version_of(0, 4), v05 = version_of(0, 5);
    struct hub_version asked, writer;
    struct hub_spec_set specs;
    if (hub_version_parse(release, &asked, NULL))
        return false;
    const bool reads_metadata = hub_version_compare(&asked, &v05) >= 0;
    if (!has_metadata_json && reads_metadata)
        return false;
    if (!minari_version.size)
        return !has_metadata_json && hub_version_compare(&asked, &v04) < 0;
    if (hub_version_parse(minari_version, &writer, NULL) == HUB_OK)
        return reads_metadata && hub_version_compare(&asked, &writer) >= 0;
    return hub_spec_parse(minari_version, &specs, NULL) == HUB_OK && hub_spec_contains(&specs, &asked);
}

uint32_t hub_minari_loadable_mask(struct hub_view minari_version, bool has_metadata_json)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < HUB_MINARI_RELEASES; i++) {
        if (hub_minari_loadable(minari_version, has_metadata_json, hub_view_of(hub_minari_releases[i])))
            mask |= 1U << i;
    }
    return mask;
}
