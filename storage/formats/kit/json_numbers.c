/* Numbers inside one row of JSON: see json_numbers.h. The text was checked before, so that only its end is
 * watched. */
#include "storage/formats/kit/json_numbers.h"

#include "storage/inspect/text.h"
#include "storage/model/record.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct walk {
    const char *at, *end;
    struct hub_json_value *value;
    hub_json_value_fn fn;
    void *user;
    unsigned depth;
    size_t path_size;
    char path[HUB_MAX_PATH + 4];
};

static char peek(struct walk *w)
{
    while (w->at < w->end && strchr(" \t\r\n", *w->at))
        w->at++;
    return w->at < w->end ? *w->at : '\0';
}

/* Take this character, if it is next. */
static bool take(struct walk *w, char c)
{
    const bool there = peek(w) == c;
    w->at += there && w->at < w->end;
    return there;
}

static bool take_word(struct walk *w, const char *word)
{
    const size_t size = strlen(word);
    const bool there = (size_t)(w->end - w->at) >= size && memcmp(w->at, word, size) == 0;
    w->at += there ? size : 0;
    return there;
}

/* What lies between the quotes of a string. */
static struct hub_view take_string(struct walk *w)
{
    const char *from = ++w->at;
    while (w->at < w->end && *w->at != '"')
        w->at += *w->at == '\\' && w->end - w->at > 1 ? 2 : 1;
    const struct hub_view text = {from, (size_t)(w->at - from)};
    w->at += w->at < w->end;
    return text;
}

/* Pass over a value, whatever it is. */
static void skip(struct walk *w)
{
    unsigned open = 0;
    do {
        const char c = peek(w);
        if (c == '"')
            take_string(w);
        else
            w->at += c != '\0';
        open += c == '{' || c == '[';
        open -= c == '}' || c == ']';
    } while (open ? peek(w) != '\0' : !strchr(",]}", peek(w)));
}

/* ---- one number, or a list of them ---- */

struct number_list {
    bool uneven; /* of several shapes, or with something else than numbers in it */
    bool bools, numbers, reals;
    bool closed[HUB_MAX_RANK]; /* a list at this level ended: all others there are as long */
};

static void put_integer(struct hub_json_value *v, const struct number_list *list, int64_t value)
{
    union hub_json_item *item = &v->items[v->count++];
    item->integer = value;
    if (list->reals)
        hub_json_item_to_real(item);
}

/* Where it is the first one, those before it become floats as well. */
static void put_real(struct hub_json_value *v, struct number_list *list, double value)
{
    for (uint32_t i = 0; !list->reals && i < v->count; i++)
        hub_json_item_to_real(&v->items[i]);
    list->reals = true;
    v->items[v->count++].real = value;
}

/* Of 64 bits, else it is a float. An object is open, so that the text does not end within a number. */
static bool take_integer(struct walk *w, int64_t *out)
{
    char *end;
    errno = 0;
    const long long value = strtoll(w->at, &end, 10);
    if (errno || end == w->at || strchr(".eE", *end))
        return false;
    w->at = end;
    *out = value;
    return true;
}

static double take_real(struct walk *w)
{
    char *end;
    if (take_word(w, "null") || take_word(w, "NaN"))
        return NAN;
    if (take_word(w, "Infinity"))
        return INFINITY;
    if (take_word(w, "-Infinity"))
        return -INFINITY;
    const double value = strtod(w->at, &end);
    w->at = end;
    return value;
}

static void read_element(struct walk *w, struct number_list *list)
{
    struct hub_json_value *v = w->value;
    const char c = peek(w);
    int64_t integer;
    if (v->count == HUB_JSON_NUMBERS_ITEMS || c == '"' || c == '{' || c == '[') {
        list->uneven = true;
        skip(w);
    } else if (c == 't' || c == 'f') {
        list->bools = true;
        put_integer(v, list, take_word(w, "true"));
        (void)take_word(w, "false");
    } else {
        list->numbers = true;
        if (take_integer(w, &integer))
            put_integer(v, list, integer);
        else
            put_real(v, list, take_real(w));
    }
}

static void read_list(struct walk *w, struct number_list *list, uint32_t level)
{
    struct hub_json_value *v = w->value;
    uint32_t length = 0;
    for (w->at++; peek(w) && !take(w, ']'); length++) {
        if (peek(w) == '[' && level + 1 < HUB_MAX_RANK) {
            read_list(w, list, level + 1);
        } else {
            list->uneven |= v->count && v->rank != level + 1;
            v->rank = level + 1;
            read_element(w, list);
        }
        take(w, ',');
    }
    list->uneven |= list->closed[level] && v->dims[level] != length;
    list->closed[level] = true;
    v->dims[level] = length;
}

static void read_value(struct walk *w)
{
    struct hub_json_value *v = w->value;
    struct number_list list = {0};
    uint64_t count = 1;
    v->rank = v->count = 0;
    if (peek(w) == '[')
        read_list(w, &list, 0);
    else
        read_element(w, &list);
    for (uint32_t i = 0; i < v->rank; i++)
        count *= v->dims[i]; /* a list that is longer than its elements is uneven */
    if (list.uneven || !v->count || count != v->count || (list.bools && list.numbers))
        v->kind = HUB_JSON_NO_NUMBERS;
    else
        v->kind = list.bools ? HUB_JSON_BOOLS : list.reals ? HUB_JSON_FLOATS : HUB_JSON_INTEGERS;
}

/* ---- objects ---- */

/* Add a key to the path. False: no field can be called so. */
static bool enter(struct walk *w, struct hub_view key)
{
    struct hub_json_unescape u = {0};
    char *to = w->path + w->path_size + (w->path_size != 0);
    if (w->path_size + key.size + 1 > HUB_MAX_PATH)
        return false;
    size_t size = hub_json_unescape(&u, key.data, key.size, to);
    size += hub_json_unescape_end(&u, to + size);
    if (w->path_size)
        to[-1] = '/';
    w->path_size = (size_t)(to + size - w->path);
    return hub_path_valid((struct hub_view){to, size});
}

static enum hub_status walk_object(struct walk *w, struct hub_error *err);

static enum hub_status walk_value(struct walk *w, bool named, struct hub_error *err)
{
    const char c = peek(w);
    const bool deep = w->depth == HUB_JSON_NUMBERS_DEPTH;
    if (!named || c == 'n' || (c == '{' && deep)) {
        skip(w);
        return HUB_OK;
    }
    if (c == '{')
        return walk_object(w, err);
    read_value(w);
    w->value->path = (struct hub_view){w->path, w->path_size};
    return w->fn(w->user, w->value, err);
}

static enum hub_status walk_object(struct walk *w, struct hub_error *err)
{
    const size_t above = w->path_size;
    w->depth++;
    for (w->at++; peek(w) == '"'; take(w, ',')) {
        const bool named = enter(w, take_string(w));
        take(w, ':');
        HUB_TRY(walk_value(w, named, err));
        w->path_size = above;
    }
    w->depth--;
    take(w, '}');
    return HUB_OK;
}

enum hub_status hub_json_numbers(struct hub_view text, struct hub_json_value *value, hub_json_value_fn fn,
                                 void *user, struct hub_error *err)
{
    struct walk w = {.at = text.data, .end = text.data + text.size, .value = value, .fn = fn, .user = user};
    return peek(&w) == '{' ? walk_object(&w, err) : HUB_OK;
}
