/* The words beside a curve: see legend.h. */
#include "server/page/legend.h"

#include <math.h>
#include <stdio.h>

enum { MOST_LISTED = 128 };

struct hub_view page_series_class(size_t i, const char *more, char out[PAGE_SERIES_CLASS])
{
    snprintf(out, PAGE_SERIES_CLASS, "s%zu%s", i % PAGE_SERIES + 1, more);
    return hub_view_of(out);
}

bool page_curve_is_leaf(const struct page_curve *curve)
{
    return hub_view_starts(curve->chosen, "/");
}

bool page_curve_is_few(const struct page_curve *curve)
{
    return curve->dims <= PAGE_SERIES && !page_curve_is_leaf(curve) && !curve->sum;
}

/* A dimension's name, else its number. */
static struct hub_view name_of(struct page *page, const json_t *names, uint64_t dim, size_t place)
{
    const char *name = json_string_value(json_array_get(names, place));
    return name ? page_url(page, "%r", hub_view_of(name)) : page_url(page, "[%u]", dim);
}

/* ---- what the curves are ---- */

static bool is_drawn(const json_t *field, size_t dim)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(field, "dims"), i,
                       one) if ((size_t)json_integer_value(one) == dim) return true;
    return false;
}

/* An entry is a switch: this dimension alone, or all of them where it is alone. */
static void write_switch(struct page *page, const struct page_curve *curve, const json_t *field, size_t place,
                         const char *more)
{
    const json_t *dims = json_object_get(field, "dims");
    const bool few = page_curve_is_few(curve);
    const uint64_t dim = few ? place : (uint64_t)json_integer_value(json_array_get(dims, place));
    const bool on = !few || is_drawn(field, place), alone = on && json_array_size(dims) == 1;
    const char *colon = memchr(curve->all.data, ':', curve->all.size);
    const struct hub_view stem = {curve->all.data,
                                  colon ? (size_t)(colon - curve->all.data) : curve->all.size};
    const struct hub_view lane = alone ? curve->all : page_url(page, "%r:%u", stem, dim);
    const struct hub_view lanes = page_url(page, "%r%r%r", curve->before, lane, curve->after);
    char class[PAGE_SERIES_CLASS];
    page_switch_item(&page->out,
                     &(struct page_switch_item){
                         (int64_t)dim, hub_view_of(on ? "" : "off"),
                         page_query(page, "lanes", "lanes", lanes, NULL),
                         page_series_class(place, more, class),
                         name_of(page, json_object_get(few ? curve->field : field, "names"), dim, place)});
}

/* What the curves are, each with its colour and dash. */
static void write_legend(struct page *page, const struct page_curve *curve, const json_t *field,
                         struct hub_view over)
{
    const json_t *names = json_object_get(field, "names"), *dims = json_object_get(field, "dims");
    const char *more = over.size ? " over" : "";
    const size_t count = page_curve_is_few(curve) ? curve->dims : json_array_size(dims);
    const bool switches = count > 1 && !curve->sum;
    const struct page_legend_list list = {hub_view_of(switches ? "legend switches" : "legend"), over,
                                          over.size ? over : curve->path};
    page_legend_list_begin(&page->out, &list);
    if (over.size)
        page_legend_field(&page->out, &(struct page_legend_field){over});
    for (size_t i = 0; i < count; i++) {
        char class[PAGE_SERIES_CLASS];
        const int64_t dim = json_integer_value(json_array_get(dims, i));
        if (switches)
            write_switch(page, curve, field, i, more);
        else
            page_legend_item(&page->out, &(struct page_legend_item){dim, page_series_class(i, more, class),
                                                                    name_of(page, names, (uint64_t)dim, i)});
    }
    page_legend_list_end(&page->out, &list);
}

void page_legends(struct page *page, const struct page_curve *curve, const json_t *field, const json_t *over)
{
    const bool several = json_array_size(json_object_get(field, "dims")) > 1;
    if (several || over || (page_curve_is_few(curve) && curve->dims > 1))
        write_legend(page, curve, field, HUB_VIEW(""));
    if (over)
        write_legend(page, curve, over, curve->over);
}

/* ---- where a field is least and greatest ---- */

struct extreme_end {
    const char *word, *key, *row_key;
};

static const struct extreme_end extremes[] = {{"least", "min", "min_row"}, {"greatest", "max", "max_row"}};

/* NaN: that dimension has no finite value. */
static double value_of(const json_t *field, const struct extreme_end *which, size_t place)
{
    return page_double_of(json_array_get(json_object_get(field, which->key), place));
}

/* A link to the step of it. `place`: of those that are drawn; `where`: the dimension, where that is not
 * clear. */
static void write_extreme(struct page *page, const struct page_curve *curve, const json_t *field,
                          const struct extreme_end *which, size_t place, struct hub_view where)
{
    const double value = value_of(field, which, place),
                 row = page_double_of(json_array_get(json_object_get(field, which->row_key), place));
    if (!isfinite(value) || !isfinite(row))
        return;
    const uint64_t step = (uint64_t)row - (row > 0 && hub_view_is(curve->axis, "shifted"));
    const struct hub_view at = page_url(page, "%u", curve->steps ? HUB_MIN(step, curve->steps - 1) : 0);
    page_extreme(&page->out, &(struct page_extreme){page_query(page, "at", "at", at, NULL),
                                                    hub_view_of(which->word), value, where, step});
}

/* The dimension of all that are drawn which is least, or greatest. */
static size_t most_extreme(const json_t *field, const struct extreme_end *which)
{
    const json_t *values = json_object_get(field, which->key), *value;
    const double sign = which == &extremes[0] ? -1 : 1;
    double best = -INFINITY;
    size_t i, found = 0;
    json_array_foreach(values, i, value)
    {
        if (!json_is_number(value) || sign * json_number_value(value) <= best)
            continue;
        best = sign * json_number_value(value);
        found = i;
    }
    return found;
}

static void write_extremes_of(struct page *page, const struct page_curve *curve, const json_t *field,
                              size_t place)
{
    for (size_t i = 0; i < HUB_COUNT(extremes); i++) {
        if (i)
            page_words(&page->out, &(struct page_words){HUB_VIEW(", ")});
        write_extreme(page, curve, field, &extremes[i], place, HUB_VIEW(""));
    }
}

static uint64_t odd_values(const json_t *field)
{
    uint64_t all = 0;
    size_t i;
    const json_t *kinds;
    json_array_foreach(json_object_get(field, "nonfinite"), i, kinds) all +=
        page_count(kinds, "nan") + page_count(kinds, "+inf") + page_count(kinds, "-inf");
    return all;
}

static struct hub_view words_for_odd(struct page *page, const json_t *field)
{
    const uint64_t odd = odd_values(field);
    return !odd ? HUB_VIEW("all finite")
                : page_url(page, odd == 1 ? "%u value is not finite" : "%u values are not finite", odd);
}

/* Of the whole episode, in words: the label of the drawing. */
struct hub_view page_extremes_words(struct page *page, const json_t *field)
{
    char low[PAGE_REAL_BYTES], high[PAGE_REAL_BYTES];
    const double least = value_of(field, &extremes[0], most_extreme(field, &extremes[0]));
    if (!isfinite(least))
        return odd_values(field) ? page_url(page, "no finite value: %r", words_for_odd(page, field))
                                 : HUB_VIEW("No values");
    page_real(least, low);
    page_real(value_of(field, &extremes[1], most_extreme(field, &extremes[1])), high);
    return page_url(page, "least %r, greatest %r; %r", hub_view_of(low), hub_view_of(high),
                    words_for_odd(page, field));
}

void page_extremes_caption(struct page *page, const struct page_curve *curve, const json_t *field)
{
    const json_t *dims = json_object_get(field, "dims"), *names = json_object_get(field, "names");
    const struct page_extreme_caption caption = {words_for_odd(page, field)};
    if (!isfinite(value_of(field, &extremes[0], most_extreme(field, &extremes[0])))) {
        page_caption(&page->out, &(struct page_caption){page_extremes_words(page, field)});
        return;
    }
    page_extreme_caption_begin(&page->out, &caption);
    for (size_t i = 0; i < HUB_COUNT(extremes); i++) {
        const size_t place = most_extreme(field, &extremes[i]);
        const uint64_t dim = (uint64_t)json_integer_value(json_array_get(dims, place));
        const struct hub_view name = name_of(page, names, dim, place);
        if (i)
            page_words(&page->out, &(struct page_words){HUB_VIEW(", ")});
        write_extreme(page, curve, field, &extremes[i], place,
                      json_array_size(dims) > 1 || (page_curve_is_few(curve) && curve->dims > 1)
                          ? page_url(page, "%r, ", name)
                          : HUB_VIEW(""));
    }
    page_extreme_caption_end(&page->out, &caption);
}

/* Of a few curves: each with its own. */
void page_extremes_each(struct page *page, const struct page_curve *curve, const json_t *field)
{
    const json_t *dims = json_object_get(field, "dims"), *names = json_object_get(field, "names");
    const struct page_details details = {HUB_VIEW("Least and greatest of each")};
    if (json_array_size(dims) < 2)
        return;
    page_details_begin(&page->out, &details);
    page_extreme_list_begin(&page->out, NULL);
    for (size_t i = 0; i < json_array_size(dims); i++) {
        const int64_t dim = json_integer_value(json_array_get(dims, i));
        const struct page_extreme_item item = {dim, name_of(page, names, (uint64_t)dim, i)};
        page_extreme_item_begin(&page->out, &item);
        write_extremes_of(page, curve, field, i);
        page_extreme_item_end(&page->out, &item);
    }
    page_extreme_list_end(&page->out, NULL);
    page_details_end(&page->out, &details);
}

/* All dimensions of a strip, each a link that adds its curve. */
void page_dimensions(struct page *page, const struct page_curve *curve, const json_t *whole)
{
    const json_t *names = json_object_get(whole, "names");
    const struct page_details details = {page_url(page, "%u dimensions", (uint64_t)curve->dims)};
    page_first_eight(&page->out, NULL);
    page_details_begin(&page->out, &details);
    page_legend_begin(&page->out, NULL);
    for (unsigned i = 0; i < HUB_MIN(curve->dims, (unsigned)MOST_LISTED); i++) {
        const struct hub_view lanes = page_url(page, "%r,%r:%u", curve->shown, curve->name, (uint64_t)i);
        const struct hub_view href = page_query(page, "lanes", "lanes", lanes, NULL);
        page_legend_link(&page->out, &(struct page_legend_link){i, href, name_of(page, names, i, i)});
    }
    page_legend_end(&page->out, NULL);
    page_details_end(&page->out, &details);
}
