/* Curves as a document or as plain numbers: see buckets.h. */
#include "server/api/rows/buckets.h"

#include "storage/rows/dimensions.h"

#include <inttypes.h>
#include <math.h>

/* A bucket's two points in the order of their rows; the one value where buckets are rows. */
static unsigned points(const struct hub_buckets *b, uint32_t bucket, uint32_t dim, double out[2])
{
    const struct hub_bucket *k = &b->buckets[(size_t)bucket * b->dims + dim];
    const bool none = bucket >= b->grid.count || k->low > k->high;
    if (none)
        out[0] = out[1] = NAN;
    else
        out[k->low_at <= k->high_at ? 0 : 1] = k->low, out[k->low_at <= k->high_at ? 1 : 0] = k->high;
    return b->grid.width == 1 ? 1 : 2;
}

static void put_real(struct hub_json *json, double value)
{
    if (isfinite(value))
        hub_json_double(json, value);
    else
        hub_json_null(json);
}

static void put_points(struct hub_json *json, const struct hub_curves *c, const struct hub_buckets *b)
{
    hub_json_put_array(json, c->grid.width == 1 ? "values" : "pairs");
    for (uint32_t d = 0; d < b->dims; d++) {
        hub_json_array(json);
        for (uint32_t k = 0; k < c->grid.count; k++) {
            double two[2];
            const unsigned n = points(b, k, d, two);
            for (unsigned i = 0; i < n; i++)
                put_real(json, two[i]);
        }
        hub_json_end_array(json);
    }
    hub_json_end_array(json);
}

struct extreme {
    double value;
    uint64_t row;
};

static struct extreme extreme_of(const struct hub_buckets *b, uint32_t dim, bool most)
{
    struct extreme e = {.value = NAN};
    for (uint32_t k = 0; k < b->grid.count; k++) {
        const struct hub_bucket *bucket = &b->buckets[(size_t)k * b->dims + dim];
        const double value = most ? bucket->high : bucket->low;
        if (bucket->low > bucket->high || (most ? value <= e.value : value >= e.value))
            continue;
        e.value = value;
        e.row = (b->grid.first + k) * b->grid.width + (most ? bucket->high_at : bucket->low_at);
    }
    return e;
}

static void put_extremes(struct hub_json *json, const struct hub_buckets *b, bool most)
{
    hub_json_put_array(json, most ? "max" : "min");
    for (uint32_t d = 0; d < b->dims; d++)
        put_real(json, extreme_of(b, d, most).value);
    hub_json_end_array(json);
    hub_json_put_array(json, most ? "max_row" : "min_row");
    for (uint32_t d = 0; d < b->dims; d++) {
        const struct extreme e = extreme_of(b, d, most);
        if (isnan(e.value))
            hub_json_null(json);
        else
            hub_json_safe_uint(json, e.row);
    }
    hub_json_end_array(json);
}

/* Of a dimension over all its buckets. */
struct total {
    double sum;
    uint64_t count, nan, above, below;
};

static struct total total_of(const struct hub_buckets *b, uint32_t dim)
{
    struct total t = {0};
    for (uint32_t k = 0; k < b->grid.count; k++) {
        const struct hub_bucket *bucket = &b->buckets[(size_t)k * b->dims + dim];
        t.sum += bucket->sum;
        t.count += bucket->count;
        t.nan += bucket->nan;
        t.above += bucket->above;
        t.below += bucket->below;
    }
    return t;
}

static void put_totals(struct hub_json *json, const struct hub_buckets *b)
{
    hub_json_put_array(json, "mean");
    for (uint32_t d = 0; d < b->dims; d++) {
        const struct total t = total_of(b, d);
        put_real(json, t.count ? t.sum / (double)t.count : NAN);
    }
    hub_json_end_array(json);
    hub_json_put_array(json, "nonfinite");
    for (uint32_t d = 0; d < b->dims; d++) {
        const struct total t = total_of(b, d);
        hub_json_object(json);
        hub_json_put_uint(json, "nan", t.nan);
        hub_json_put_uint(json, "+inf", t.above);
        hub_json_put_uint(json, "-inf", t.below);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

/* The buckets that hold something that is not finite. */
static void put_holes(struct hub_json *json, const struct hub_buckets *b)
{
    hub_json_put_array(json, "holes");
    for (uint32_t d = 0; d < b->dims; d++) {
        hub_json_array(json);
        for (uint32_t k = 0; k < b->grid.count; k++)
            if (hub_bucket_has_hole(&b->buckets[(size_t)k * b->dims + d]))
                hub_json_uint(json, b->grid.first + k);
        hub_json_end_array(json);
    }
    hub_json_end_array(json);
}

static void put_curve(struct hub_json *json, const struct hub_curves *c, const struct hub_curve *curve)
{
    const struct hub_buckets *b = &curve->buckets;
    hub_json_put_object(json, curve->field->path + c->prefix);
    hub_json_put_text(json, "dtype", curve->dtype);
    hub_json_put_text(json, "axis", hub_axis_name(curve->field->axis));
    hub_json_put_uint(json, "rows", curve->rows);
    hub_json_put_array(json, "dims");
    for (uint32_t d = 0; d < b->dims; d++)
        hub_json_uint(json, curve->dims[d]);
    hub_json_end_array(json);
    if (!c->leaf)
        hub_dimensions_put(json, c->dimensions, curve->field->path, b->row_dims, curve->dims, b->dims);
    put_points(json, c, b);
    put_extremes(json, b, false);
    put_extremes(json, b, true);
    put_totals(json, b);
    put_holes(json, b);
    hub_json_end_object(json);
}

static enum hub_status write_document(const struct hub_curves *c, struct hub_response *response,
                                      struct hub_error *err)
{
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", 512 * MIB), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "revision", c->target.summary->revision);
    hub_json_put_uint(&json, "start", c->grid.start);
    hub_json_put_uint(&json, "stop", c->grid.stop);
    hub_json_put_uint(&json, "width", c->grid.width);
    hub_json_put_uint(&json, "first", c->grid.first);
    hub_json_put_uint(&json, "count", c->grid.count);
    hub_json_put_object(&json, "fields");
    for (uint32_t i = 0; i < c->count; i++)
        put_curve(&json, c, &c->curves[i]);
    hub_json_end_object(&json);
    hub_json_end_object(&json);
    return hub_json_status(&json);
}

static enum hub_status write_raw(const struct hub_curves *c, struct hub_response *response,
                                 struct hub_error *err)
{
    const struct hub_buckets *b = &c->curves[0].buckets;
    struct hub_buf *out = hub_response_buffer(response, 200, "application/octet-stream", 512 * MIB);
    const unsigned each = c->grid.width == 1 ? 1 : 2;
    for (uint32_t d = 0; d < b->dims; d++)
        for (uint32_t k = 0; k < c->grid.count; k++) {
            double two[2];
            points(b, k, d, two);
            const float less[] = {(float)two[0], (float)two[1]};
            HUB_TRY(c->wide ? hub_buf_add(out, two, each * sizeof *two, err)
                            : hub_buf_add(out, less, each * sizeof *less, err));
        }
    HUB_TRY(
        hub_response_header(response, err, "X-Shape", "%" PRIu32 ",%" PRIu32, b->dims, c->grid.count * each));
    HUB_TRY(hub_response_header(response, err, "X-Dtype", "%s", c->wide ? "float64" : "float32"));
    HUB_TRY(hub_response_header(response, err, "X-Bucket-Width", "%" PRIu64, c->grid.width));
    return hub_response_header(response, err, "X-First-Bucket", "%" PRIu64, c->grid.first);
}

enum hub_status hub_curves_write(const struct hub_curves *c, struct hub_response *response,
                                 struct hub_error *err)
{
    return c->raw ? write_raw(c, response, err) : write_document(c, response, err);
}
