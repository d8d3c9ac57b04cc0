/* Spaces as text: see space.h. */
#include "client/cli/space.h"

#include "storage/base/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_DEPTH = 16 };

/* ---- numbers: JSON ones, and "Infinity" in quotes ---- */

static double value_of(const json_t *v)
{
    if (json_is_number(v))
        return json_number_value(v);
    const char *text = json_string_value(v);
    return text ? strtod(text, NULL) : NAN;
}

static enum hub_status add_double(double v, bool whole, struct hub_buf *out, struct hub_error *err)
{
    char text[HUB_NUMBER_CHARS + 1];
    if (!isfinite(v))
        return hub_buf_add_text(out, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf", err);
    if (whole)
        return hub_buf_addf(out, err, "%.0f", v);
    text[hub_number_double(v, text)] = '\0';
    return hub_buf_add_text(out, text, err);
}

struct bounds {
    double least, most;
    bool any, whole; /* whole: integers only */
};

static void gather(const json_t *v, struct bounds *b, unsigned depth)
{
    const json_t *item;
    size_t i;
    if (json_is_array(v)) {
        json_array_foreach(v, i, item) if (depth < MAX_DEPTH) gather(item, b, depth + 1);
        return;
    }
    const double x = value_of(v);
    b->whole = b->whole && json_is_integer(v);
    b->least = b->any ? fmin(b->least, x) : x;
    b->most = b->any ? fmax(b->most, x) : x;
    b->any = true;
}

static enum hub_status add_bounds(const json_t *v, struct hub_buf *out, struct hub_error *err)
{
    struct bounds b = {.whole = true};
    gather(v, &b, 0);
    if (!b.any)
        return hub_buf_add_text(out, "[]", err);
    if (b.least == b.most || isnan(b.least))
        return add_double(b.least, b.whole, out, err);
    HUB_TRY(hub_buf_add_text(out, "[", err));
    HUB_TRY(add_double(b.least, b.whole, out, err));
    HUB_TRY(hub_buf_add_text(out, " .. ", err));
    HUB_TRY(add_double(b.most, b.whole, out, err));
    return hub_buf_add_text(out, "]", err);
}

/* A Python tuple: "()", "(39,)", "(2, 3)". */
static enum hub_status add_shape(const json_t *shape, struct hub_buf *out, struct hub_error *err)
{
    const json_t *item;
    size_t i;
    HUB_TRY(hub_buf_add_text(out, "(", err));
    json_array_foreach(shape, i, item)
        HUB_TRY(hub_buf_addf(out, err, "%s%" JSON_INTEGER_FORMAT, i ? ", " : "", json_integer_value(item)));
    return hub_buf_add_text(out, json_array_size(shape) == 1 ? ",)" : ")", err);
}

/* ---- spaces ---- */

static enum hub_status add_space(const json_t *space, unsigned depth, struct hub_buf *out,
                                 struct hub_error *err);

static enum hub_status add_json(const json_t *v, struct hub_buf *out, struct hub_error *err)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY);
    const enum hub_status st = hub_buf_add_text(out, text ? text : "?", err);
    free(text);
    return st;
}

static enum hub_status add_box(const json_t *s, struct hub_buf *out, struct hub_error *err)
{
    const char *dtype = json_string_value(json_object_get(s, "dtype"));
    HUB_TRY(hub_buf_add_text(out, "Box(", err));
    HUB_TRY(add_bounds(json_object_get(s, "low"), out, err));
    HUB_TRY(hub_buf_add_text(out, ", ", err));
    HUB_TRY(add_bounds(json_object_get(s, "high"), out, err));
    HUB_TRY(hub_buf_add_text(out, ", ", err));
    HUB_TRY(add_shape(json_object_get(s, "shape"), out, err));
    return hub_buf_addf(out, err, ", %s)", dtype ? dtype : "?");
}

static enum hub_status add_discrete(const json_t *s, struct hub_buf *out, struct hub_error *err)
{
    const json_int_t n = json_integer_value(json_object_get(s, "n"));
    const json_int_t start = json_integer_value(json_object_get(s, "start"));
    if (start)
        return hub_buf_addf(out, err, "Discrete(%" JSON_INTEGER_FORMAT ", start=%" JSON_INTEGER_FORMAT ")", n,
                            start);
    return hub_buf_addf(out, err, "Discrete(%" JSON_INTEGER_FORMAT ")", n);
}

/* The charset may be thousands of characters: its length says enough. */
static enum hub_status add_text_space(const json_t *s, struct hub_buf *out, struct hub_error *err)
{
    return hub_buf_addf(out, err, "Text(%" JSON_INTEGER_FORMAT ", %" JSON_INTEGER_FORMAT ")",
                        json_integer_value(json_object_get(s, "min_length")),
                        json_integer_value(json_object_get(s, "max_length")));
}

static enum hub_status add_members(const char *name, const json_t *members, unsigned depth,
                                   struct hub_buf *out, struct hub_error *err)
{
    const char *key;
    json_t *item;
    size_t i = 0;
    HUB_TRY(hub_buf_addf(out, err, "%s(", name));
    if (json_is_array(members))
        for (; i < json_array_size(members); i++) {
            HUB_TRY(hub_buf_add_text(out, i ? ", " : "", err));
            HUB_TRY(add_space(json_array_get(members, i), depth + 1, out, err));
        }
    else
        json_object_foreach((json_t *)members, key, item)
        {
            HUB_TRY(hub_buf_addf(out, err, "%s'%s': ", i++ ? ", " : "", key));
            HUB_TRY(add_space(item, depth + 1, out, err));
        }
    return hub_buf_add_text(out, ")", err);
}

static enum hub_status add_space(const json_t *s, unsigned depth, struct hub_buf *out, struct hub_error *err)
{
    const char *type = json_string_value(json_object_get(s, "type"));
    if (!type || depth > MAX_DEPTH)
        return add_json(s, out, err);
    if (!strcmp(type, "Box"))
        return add_box(s, out, err);
    if (!strcmp(type, "Discrete"))
        return add_discrete(s, out, err);
    if (!strcmp(type, "Text"))
        return add_text_space(s, out, err);
    if (!strcmp(type, "Dict") || !strcmp(type, "Tuple"))
        return add_members(type, json_object_get(s, "subspaces"), depth, out, err);
    if (!strcmp(type, "MultiDiscrete") || !strcmp(type, "MultiBinary")) {
        const json_t *n = json_object_get(s, type[5] == 'D' ? "nvec" : "n");
        HUB_TRY(hub_buf_addf(out, err, "%s(", type));
        HUB_TRY(add_json(n, out, err));
        return hub_buf_add_text(out, ")", err);
    }
    return add_json(s, out, err);
}

enum hub_status space_text(const json_t *space, struct hub_buf *out, struct hub_error *err)
{
    return add_space(space, 0, out, err);
}
