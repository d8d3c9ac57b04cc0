/* The spaces of a dataset, as nested lists: Box with its bounds, Discrete with its range, the others with
 * what they hold. */
#include "server/page/spaces.h"

#include <math.h>
#include <stdio.h>

enum { DEEPEST = 8, MOST_BOUNDS = 12, ABOUT_BYTES = 600 };

/* One bound, or the first of many. */
static void say_bounds(const json_t *bounds, char *out, size_t size)
{
    char text[PAGE_REAL_BYTES];
    if (!json_is_array(bounds)) {
        if (json_is_string(bounds))
            snprintf(out, size, "%s",
                     strcmp(json_string_value(bounds), "-Infinity") == 0 ? "-\xE2\x88\x9E" : "\xE2\x88\x9E");
        else
            page_real(page_double_of(bounds), text), snprintf(out, size, "%s", text);
        return;
    }
    const size_t count = json_array_size(bounds);
    size_t used = (size_t)snprintf(out, size, "(");
    for (size_t i = 0; i < HUB_MIN(count, (size_t)MOST_BOUNDS) && used + PAGE_REAL_BYTES < size; i++) {
        const json_t *bound = json_array_get(bounds, i);
        page_real(page_double_of(json_is_array(bound) ? json_array_get(bound, 0) : bound), text);
        used += (size_t)snprintf(out + used, size - used, "%s%s", i ? ", " : "", text);
    }
    snprintf(out + used, size - used, count > MOST_BOUNDS ? ", \xE2\x80\xA6 %zu)" : ")", count);
}

static void say_shape(const json_t *shape, char *out, size_t size)
{
    size_t used = (size_t)snprintf(out, size, "(");
    for (size_t i = 0; i < json_array_size(shape) && used + 24 < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%lld", i ? ", " : "",
                                 (long long)json_integer_value(json_array_get(shape, i)));
    snprintf(out + used, size - used, ")");
}

static void describe(const json_t *space, char out[ABOUT_BYTES])
{
    const char *type = json_string_value(json_object_get(space, "type"));
    char low[240] = "", high[240] = "", shape[80];
    say_shape(json_object_get(space, "shape"), shape, sizeof shape);
    if (type && strcmp(type, "Box") == 0) {
        say_bounds(json_object_get(space, "low"), low, sizeof low);
        say_bounds(json_object_get(space, "high"), high, sizeof high);
        const char *dtype = json_string_value(json_object_get(space, "dtype"));
        snprintf(out, ABOUT_BYTES, "Box %s %s from %s to %s", dtype ? dtype : "", shape, low, high);
    } else if (type && strcmp(type, "Discrete") == 0) {
        const double start = page_double(space, "start"), n = page_double(space, "n"),
                     first = isfinite(start) ? start : 0; /* as Gymnasium has it where nothing is said */
        if (isfinite(n))
            snprintf(out, ABOUT_BYTES, "Discrete %.0f to %.0f", first, first + n - 1);
        else
            snprintf(out, ABOUT_BYTES, "Discrete from %.0f", first);
    } else {
        snprintf(out, ABOUT_BYTES, "%.200s", type ? type : "");
    }
}

static void write_space(struct page *page, const char *name, const json_t *space, unsigned depth)
{
    char about[ABOUT_BYTES], index[24];
    const json_t *inner = json_object_get(space, "spaces");
    describe(space, about);
    const struct page_space_item item = {hub_view_of(name), hub_view_of(about)};
    page_space_item_begin(&page->out, &item);
    if (json_is_object(space) && depth < DEEPEST && (json_array_size(inner) || json_object_size(inner))) {
        const char *key;
        json_t *child;
        page_space_children_begin(&page->out, NULL);
        json_object_foreach((json_t *)inner, key, child) write_space(page, key, child, depth + 1);
        for (size_t i = 0; i < json_array_size(inner); i++) {
            const json_t *pair = json_array_get(inner, i); /* of a Dict: name and space */
            snprintf(index, sizeof index, "%zu", i);
            const char *named = json_is_array(pair) ? json_string_value(json_array_get(pair, 0)) : NULL;
            write_space(page, named ? named : index, named ? json_array_get(pair, 1) : pair, depth + 1);
        }
        page_space_children_end(&page->out, NULL);
    }
    page_space_item_end(&page->out, &item);
}

void page_space_tree(struct page *page, const char *name, const json_t *space)
{
    if (!json_is_object(space))
        return;
    page_space_begin(&page->out, NULL);
    write_space(page, name, space, 0);
    page_space_end(&page->out, NULL);
}
