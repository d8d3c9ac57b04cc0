/* Curves of an episode: see curve.h. */
#include "server/page/curve.h"

#include "server/page/legend.h"

#include "storage/text/number.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 1000, HEIGHT = 120, MARGIN = 6, MOST_CURVES = PAGE_SERIES };

struct scale {
    double low, high; /* of the values */
    double start, steps;
    double shift;        /* from a row to the step that it stands at */
    bool pairs, stepped; /* of buckets; a row is wide enough to be seen to hold */
};

static double x_of(const struct scale *s, double step)
{
    return (step - s->start) / HUB_MAX(1.0, s->steps) * WIDTH;
}

static double y_of(const struct scale *s, double value)
{
    const double range = s->high - s->low;
    return range > 0 ? HEIGHT - MARGIN - (value - s->low) / range * (HEIGHT - 2 * MARGIN) : HEIGHT / 2.0;
}

static void widen_scale(const json_t *field, struct scale *s)
{
    size_t i;
    const json_t *value;
    json_array_foreach(json_object_get(field, "min"), i, value) if (json_is_number(value)) s->low =
        HUB_MIN(s->low, json_number_value(value));
    json_array_foreach(json_object_get(field, "max"), i, value) if (json_is_number(value)) s->high =
        HUB_MAX(s->high, json_number_value(value));
}

static void find_scale(const json_t *field, struct scale *s)
{
    s->low = INFINITY;
    s->high = -INFINITY;
    widen_scale(field, s);
}

static enum hub_status add_point(struct hub_buf *d, char op, double x, double y)
{
    return hub_buf_addf(d, NULL, "%c%.1f %.1f", op, x, y);
}

/* The line through the values of a dimension; broken where there is none. A pair stands at its bucket's
 * first row and at its middle. */
static enum hub_status line_of(const json_t *document, const json_t *values, const struct scale *s,
                               struct hub_buf *d)
{
    const double width = page_double(document, "width"), first = page_double(document, "first") * width;
    const double apart = s->pairs ? width / 2 : 1;
    bool pen = false;
    size_t i;
    const json_t *value;
    json_array_foreach(values, i, value)
    {
        const double x = x_of(s, first + (double)i * apart + s->shift), y = y_of(s, json_number_value(value));
        if (json_is_number(value))
            HUB_TRY(add_point(d, pen ? 'L' : 'M', x, y));
        if (json_is_number(value) && s->stepped)
            HUB_TRY(add_point(d, 'L', x_of(s, first + (double)i + 1 + s->shift), y));
        pen = json_is_number(value);
    }
    return HUB_OK;
}

/* Of a figure: a field, and where there is one, that which is drawn over it. */
struct curve_figure {
    const json_t *document, *field, *over_document, *over;
};

static bool is_strip(const struct page_curve *curve)
{
    return !curve->band && !curve->chosen.size && curve->dims > MOST_CURVES;
}

/* Room for a row of pixels a dimension: a strip takes the place of these curves where there is script. */
static const char *size_of(const struct page_curve *curve)
{
    if (curve->band)
        return "plot band";
    return !is_strip(curve) ? "plot" : curve->dims <= 40 ? "plot tall" : "plot taller";
}

static void draw_cursor(struct page *page, const struct page_curve *curve, const struct scale *s)
{
    const double x = x_of(s, (double)curve->at);
    if (curve->at >= curve->from && curve->at <= curve->to)
        page_plot_cursor(&page->out, &(struct page_plot_cursor){x, x});
}

/* The place in the order of colours of the dimension at a place of those that are drawn. */
static size_t colour_at(const struct page_curve *curve, const json_t *field, size_t place)
{
    return page_curve_is_few(curve)
               ? (size_t)json_integer_value(json_array_get(json_object_get(field, "dims"), place))
               : place;
}

static void draw_lines(struct page *page, const struct page_curve *curve, const json_t *document,
                       const json_t *field, const struct scale *s, const char *more)
{
    const json_t *lines = json_object_get(field, s->pairs ? "pairs" : "values");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(256 * KIB);
        char class[PAGE_SERIES_CLASS];
        if (!line_of(document, json_array_get(lines, i), s, &d) && d.size)
            page_plot_line(&page->out,
                           &(struct page_plot_line){
                               page_series_class(colour_at(curve, field, i), more, class), hub_buf_view(&d)});
    }
}

/* A discrete action: a few whole numbers are easier to distinguish than to measure. */
static bool is_discrete(const struct page_curve *curve, const json_t *field)
{
    struct scale s;
    find_scale(field, &s);
    return curve->dims == 1 && !curve->sum && memchr(curve->dtype.data, 'i', curve->dtype.size) &&
           s.high - s.low < 64;
}

/* The bounds of the space of a dimension: [low, high], each null where it is not finite. */
static json_t *bounds_at(const json_t *field, size_t dim)
{
    static const char *const keys[] = {"low", "high"};
    json_t *pair = json_array();
    for (size_t k = 0; k < HUB_COUNT(keys); k++) {
        json_t *bound = json_array_get(json_object_get(field, keys[k]), dim);
        (void)(json_is_number(bound) ? json_array_append(pair, bound)
                                     : json_array_append_new(pair, json_null()));
    }
    return pair;
}

/* [[low, high]] that all dimensions of the legend have in common, else a pair for each; [] where there are
 * none, and for a sum. */
static json_t *bounds_of(const struct page_curve *curve, const json_t *field)
{
    const json_t *dims = json_object_get(field, "dims");
    const size_t count = page_curve_is_few(curve) ? curve->dims : json_array_size(dims);
    json_t *all = json_array();
    bool same = true;
    for (size_t i = 0; i < count && !curve->sum && !page_curve_is_leaf(curve); i++) {
        const size_t dim = page_curve_is_few(curve) ? i : (size_t)json_integer_value(json_array_get(dims, i));
        (void)json_array_append_new(all, bounds_at(curve->field, dim));
        same = same && json_equal(json_array_get(all, i), json_array_get(all, 0));
    }
    const json_t *first = json_array_get(all, 0);
    const bool none = !json_is_number(json_array_get(first, 0)) && !json_is_number(json_array_get(first, 1));
    while (same && json_array_size(all) > !none)
        (void)json_array_remove(all, json_array_size(all) - 1);
    return all;
}

static struct hub_view words_for_bounds(struct page *page, const json_t *bounds)
{
    char *text = json_dumps(bounds, JSON_COMPACT);
    const struct hub_view out = text ? page_url(page, "%r", hub_view_of(text)) : HUB_VIEW("");
    free(text);
    return out;
}

/* Bounds that are no farther from the values than these are apart belong to what is drawn. */
static void widen_to_bounds(const json_t *bounds, struct scale *s)
{
    const double low = s->low - (s->high - s->low), high = s->high + (s->high - s->low);
    size_t i, k;
    const json_t *pair, *bound;
    json_array_foreach(bounds, i, pair) json_array_foreach(pair, k, bound)
    {
        const double value = page_double_of(bound);
        if (!json_is_number(bound) || value < low || value > high)
            continue;
        s->low = HUB_MIN(s->low, value);
        s->high = HUB_MAX(s->high, value);
    }
}

/* As thin lines; where each dimension has its own, in its colour. */
static void draw_bounds(struct page *page, const json_t *bounds, const struct scale *s)
{
    size_t i, k;
    const json_t *pair, *bound;
    json_array_foreach(bounds, i, pair) json_array_foreach(pair, k, bound)
    {
        char class[PAGE_SERIES_CLASS];
        const double value = page_double_of(bound);
        if (json_is_number(bound) && value >= s->low && value <= s->high)
            page_plot_bound(&page->out, &(struct page_plot_bound){json_array_size(bounds) > 1
                                                                      ? page_series_class(i, "", class)
                                                                      : HUB_VIEW(""),
                                                                  y_of(s, value), y_of(s, value)});
    }
}

static void draw(struct page *page, const struct page_curve *curve, const struct curve_figure *drawn,
                 const struct scale *s, const json_t *bounds, struct hub_view label)
{
    struct page_out *out = &page->out;
    const struct page_plot plot = {label, hub_view_of(size_of(curve))};
    page_plot_begin(out, &plot);
    if (s->low < 0 && s->high > 0)
        page_plot_zero(out, &(struct page_plot_zero){y_of(s, 0), y_of(s, 0)});
    if (!is_strip(curve))
        draw_bounds(page, bounds, s);
    draw_lines(page, curve, drawn->document, drawn->field, s, "");
    if (drawn->over)
        draw_lines(page, curve, drawn->over_document, drawn->over, s, " over");
    draw_cursor(page, curve, s);
    page_plot_end(out, &plot);
}

static struct page_lane figure_of(struct page *page, const struct page_curve *curve, const char *mode,
                                  struct hub_view bounds)
{
    return (struct page_lane){
        curve->over.size ? page_url(page, "%r and %r", curve->path, curve->over)
                         : page_url(page,
                                    curve->sum ? "return so far, the sum of %r"
                                    : !curve->chosen.size || page_curve_is_few(curve) ? "%r"
                                    : page_curve_is_leaf(curve)                       ? "%r %r"
                                                                                      : "%r [%r]",
                                    curve->path, curve->chosen),
        page_url(page, "/api/v1/datasets/%p/episodes/%u/%p", curve->id, curve->episode, curve->path),
        curve->name,
        curve->path,
        curve->axis,
        curve->dtype,
        hub_view_of(mode),
        hub_view_of(curve->sum ? "sum" : "value"),
        curve->chosen,
        curve->all,
        curve->dims,
        bounds,
        curve->over.size
            ? page_url(page, "/api/v1/datasets/%p/episodes/%u/%p", curve->id, curve->episode, curve->over)
            : HUB_VIEW(""),
        HUB_VIEW("")};
}

static void write_figure(struct page *page, const struct page_curve *curve, const struct curve_figure *drawn,
                         const json_t *whole)
{
    const json_t *field = drawn->field;
    struct scale s = {.start = (double)curve->from, .steps = (double)(curve->to - curve->from)};
    HUB_CLEANUP(hub_json_decrefp) json_t *bounds = bounds_of(curve, field);
    const struct page_lane figure =
        figure_of(page, curve,
                  is_discrete(curve, whole) ? "bands"
                  : is_strip(curve)         ? "strip"
                                            : "curves",
                  is_strip(curve) ? HUB_VIEW("") : words_for_bounds(page, bounds));
    find_scale(field, &s);
    widen_scale(drawn->over, &s);
    if (!is_strip(curve))
        widen_to_bounds(bounds, &s);
    s.pairs = json_object_get(field, "pairs") != NULL;
    s.shift = hub_view_is(curve->axis, "shifted") ? -1 : 0;
    s.stepped = !s.pairs && !hub_view_is(curve->axis, "state") && WIDTH / HUB_MAX(1.0, s.steps) > 3;
    page_lane_begin(&page->out, &figure);
    draw(page, curve, drawn, &s, bounds, page_extremes_words(page, whole));
    if (is_strip(curve))
        page_dimensions(page, curve, whole);
    else
        page_legends(page, curve, drawn->field, drawn->over);
    if (curve->offer.size)
        page_lane_offer(&page->out, &(struct page_lane_offer){curve->offer_href, curve->offer});
    page_extremes_caption(page, curve, whole);
    if (!is_strip(curve))
        page_extremes_each(page, curve, whole);
    page_lane_end(&page->out, &figure);
}

/* In the place of a drawing: why there is none. */
static void write_trouble(struct page *page, const struct page_curve *curve)
{
    const struct page_lane figure = figure_of(page, curve, "", HUB_VIEW(""));
    page_lane_unread(&page->out, &(struct page_lane_unread){figure.title, hub_view_of(page->trouble)});
}

/* ---- runs ---- */

static unsigned colour_of(const json_t *seen, const json_t *value)
{
    size_t i;
    const json_t *one;
    json_array_foreach(seen, i, one) if (json_equal(one, value)) break;
    return (unsigned)i;
}

static void draw_runs(struct page *page, const struct page_curve *curve, const json_t *runs, json_t *seen)
{
    struct scale s = {.start = (double)curve->from, .steps = (double)(curve->to - curve->from)};
    const double shift = hub_view_is(curve->axis, "shifted") ? -1 : 0;
    size_t i;
    const json_t *run;
    json_array_foreach(runs, i, run)
    {
        const json_t *value = json_array_get(run, 2);
        const double x = HUB_MAX(0.0, x_of(&s, page_double_of(json_array_get(run, 0)) + shift)),
                     end = HUB_MIN((double)WIDTH, x_of(&s, page_double_of(json_array_get(run, 1)) + shift));
        const unsigned colour = colour_of(seen, value);
        char class[PAGE_SERIES_CLASS];
        if (colour == json_array_size(seen))
            (void)json_array_append(seen, (json_t *)value);
        if (end > x && !json_is_false(value))
            page_plot_band(&page->out, &(struct page_plot_band){page_series_class(colour, "", class), x, 0,
                                                                end - x, HEIGHT});
    }
    draw_cursor(page, curve, &s);
}

static enum hub_status write_runs(struct page *page, const struct page_curve *curve)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL, *seen = json_array();
    HUB_TRY(page_fetch_if_any(page,
                              page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?runs=1000&start=%u&stop=%u",
                                       curve->id, curve->episode, curve->path, curve->from, curve->to),
                              &document));
    const json_t *runs = json_object_get(document, "runs");
    if (!document) {
        write_trouble(page, curve);
        return HUB_OK;
    }
    const struct hub_view said =
        page_url(page, "%u runs of equal values in these steps", (uint64_t)json_array_size(runs));
    const struct page_lane figure = figure_of(page, curve, "bands", HUB_VIEW(""));
    const struct page_plot plot = {said, hub_view_of(size_of(curve))};
    page_lane_begin(&page->out, &figure);
    page_plot_begin(&page->out, &plot);
    draw_runs(page, curve, runs, seen);
    page_plot_end(&page->out, &plot);
    page_caption(&page->out, &(struct page_caption){said});
    page_lane_end(&page->out, &figure);
    return HUB_OK;
}

/* ---- the figure ---- */

static json_t *first_field(json_t *document)
{
    return json_object_iter_value(json_object_iter(json_object_get(document, "fields")));
}

enum hub_status page_curve_figure(struct page *page, const struct page_curve *curve)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL, *all = NULL, *over = NULL;
    const struct hub_view dims = page_curve_is_leaf(curve) ? page_url(page, "&leaf=%s", curve->chosen)
                                 : curve->chosen.size      ? page_url(page, "&dims=%s", curve->chosen)
                                 : is_strip(curve)         ? HUB_VIEW("&dims=0-7")
                                                           : HUB_VIEW(""),
                          of = curve->sum ? HUB_VIEW("&of=sum") : HUB_VIEW("");
    const uint64_t ahead = hub_view_is(curve->axis, "shifted"), first = curve->from + ahead,
                   end = curve->to + !hub_view_is(curve->axis, "step");
    if (curve->band)
        return write_runs(page, curve);
    if (curve->over.size)
        HUB_TRY(page_fetch_if_any(
            page,
            page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?buckets=150&start=%u&stop=%u%r", curve->id,
                     curve->episode, curve->over, first, end, dims),
            &over));
    HUB_TRY(page_fetch_if_any(page,
                              page_url(page,
                                       "/api/v1/datasets/%p/episodes/%u/%p?buckets=150&start=%u&stop=%u%r%r",
                                       curve->id, curve->episode, curve->path, first, end, of, dims),
                              &document));
    if (curve->from || curve->to < curve->steps || is_strip(curve))
        HUB_TRY(page_fetch_if_any(page,
                                  page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?buckets=16&start=%u%r%r",
                                           curve->id, curve->episode, curve->path, ahead, of,
                                           is_strip(curve) ? HUB_VIEW("") : dims),
                                  &all));
    const struct curve_figure drawn = {document, first_field(document), over, first_field(over)};
    if (drawn.field)
        write_figure(page, curve, &drawn, all ? first_field(all) : drawn.field);
    else
        write_trouble(page, curve);
    return HUB_OK;
}
