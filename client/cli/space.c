/* Spaces as text: see space.h. */
#include "client/cli/space.h"

#include "storage/text/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
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

/* As numpy prints it: with the digits of its type; in an array "1." for "1.0". */
static enum hub_status add_number(const json_t *v, const char *dtype, bool in_array, struct hub_buf *out,
                                  struct hub_error *err)
{
    char text[HUB_NUMBER_CHARS + 1];
    const double x = value_of(v);
    if (json_is_integer(v) && strncmp(dtype, "float", 5) != 0)
        return hub_buf_addf(out, err, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
    if (!isfinite(x))
        return hub_buf_add_text(out, isnan(x) ? "nan" : x < 0 ? "-inf" : "inf", err);
    size_t n = strcmp(dtype, "float64") == 0 ? hub_number_double(x, text) : hub_number_float((float)x, text);
    if (in_array && n > 2 && memcmp(text + n - 2, ".0", 2) == 0)
        n--;
    return hub_buf_add(out, text, n, err);
}

static enum hub_status add_array(const json_t *v, const char *dtype, unsigned depth, struct hub_buf *out,
                                 struct hub_error *err)
{
    const json_t *item;
    size_t i;
    if (!json_is_array(v) || depth > MAX_DEPTH)
        return add_number(v, dtype, true, out, err);
    HUB_TRY(hub_buf_add_text(out, "[", err));
    json_array_foreach(v, i, item)
    {
        HUB_TRY(hub_buf_add_text(out, i ? " " : "", err));
        HUB_TRY(add_array(item, dtype, depth + 1, out, err));
    }
    return hub_buf_add_text(out, "]", err);
}

/* The first number of nested arrays if all are the same, else NULL. */
static const json_t *one_of(const json_t *v, unsigned depth)
{
    const json_t *item, *first = NULL;
    size_t i;
    if (!json_is_array(v))
        return v;
    json_array_foreach(v, i, item)
    {
        const json_t *one = depth < MAX_DEPTH ? one_of(item, depth + 1) : NULL;
        if (!one || (first && !json_equal(one, first)))
            return NULL;
        first = one;
    }
    return first;
}

/* Bounds: one number, an array, or {"min","max"} of an array too long to be shown. */
static enum hub_status add_bounds(const json_t *v, const char *dtype, struct hub_buf *out,
                                  struct hub_error *err)
{
    const json_t *one = one_of(v, 0);
    if (!json_is_object(v))
        return one ? add_number(one, dtype, false, out, err) : add_array(v, dtype, 0, out, err);
    HUB_TRY(hub_buf_add_text(out, "[", err));
    HUB_TRY(add_number(json_object_get(v, "min"), dtype, false, out, err));
    HUB_TRY(hub_buf_add_text(out, " .. ", err));
    HUB_TRY(add_number(json_object_get(v, "max"), dtype, false, out, err));
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
    dtype = dtype ? dtype : "?";
    HUB_TRY(hub_buf_add_text(out, "Box(", err));
    HUB_TRY(add_bounds(json_object_get(s, "low"), dtype, out, err));
    HUB_TRY(hub_buf_add_text(out, ", ", err));
    HUB_TRY(add_bounds(json_object_get(s, "high"), dtype, out, err));
    HUB_TRY(hub_buf_add_text(out, ", ", err));
    HUB_TRY(add_shape(json_object_get(s, "shape"), out, err));
    return hub_buf_addf(out, err, ", %s)", dtype);
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

const json_t *space_shape(const json_t *space, const char *path)
{
    const char *slash = strchr(path, '/');
    for (unsigned depth = 0; slash && depth < MAX_DEPTH; depth++) {
        char key[256];
        const char *at = slash + 1;
        slash = strchr(at, '/');
        snprintf(key, sizeof key, "%.*s", slash ? (int)HUB_MIN(slash - at, 255) : 255, at);
        const json_t *inner = json_object_get(space, "subspaces");
        if (json_is_array(inner)) /* a Tuple's fields are called _index_0 and so on */
            space = json_array_get(inner, strtoul(key + strcspn(key, "0123456789"), NULL, 10));
        else
            space = json_object_get(inner, key);
    }
    return json_object_get(space, "shape");
}
