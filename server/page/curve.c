/* Curves of an episode: see curve.h. */
#include "server/page/curve.h"

#include "storage/text/number.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 1000, HEIGHT = 120, MARGIN = 6, MOST_CURVES = 8, MOST_LISTED = 128, CLASS_BYTES = 12 };

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

static struct hub_view class_of(size_t i, const char *more, char out[CLASS_BYTES])
{
    snprintf(out, CLASS_BYTES, "s%zu%s", i % MOST_CURVES + 1, more);
    return hub_view_of(out);
}

static bool is_leaf(const struct page_curve *curve)
{
    return hub_view_starts(curve->chosen, "/");
}

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

static void draw_lines(struct page *page, const json_t *document, const json_t *field, const struct scale *s,
                       const char *more)
{
    const json_t *lines = json_object_get(field, s->pairs ? "pairs" : "values");
    for (size_t i = 0; i < json_array_size(lines); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(256 * KIB);
        char class[CLASS_BYTES];
        if (!line_of(document, json_array_get(lines, i), s, &d) && d.size)
            page_plot_line(&page->out, &(struct page_plot_line){class_of(i, more, class), hub_buf_view(&d)});
    }
}

static void draw(struct page *page, const struct page_curve *curve, const struct curve_figure *drawn,
                 const struct scale *s, const char *label)
{
    struct page_out *out = &page->out;
    const struct page_plot plot = {hub_view_of(label), hub_view_of(size_of(curve))};
    page_plot_begin(out, &plot);
    if (s->low < 0 && s->high > 0)
        page_plot_zero(out, &(struct page_plot_zero){y_of(s, 0), y_of(s, 0)});
    draw_lines(page, drawn->document, drawn->field, s, "");
    if (drawn->over)
        draw_lines(page, drawn->over_document, drawn->over, s, " over");
    draw_cursor(page, curve, s);
    page_plot_end(out, &plot);
}

/* A dimension's name, else its number. */
static struct hub_view name_of(struct page *page, const json_t *names, uint64_t dim, size_t place)
{
    const char *name = json_string_value(json_array_get(names, place));
    return name ? page_url(page, "%r", hub_view_of(name)) : page_url(page, "[%u]", dim);
}

/* What the curves are, each with its colour and dash. */
static void write_legend(struct page *page, const json_t *field, const char *more)
{
    const json_t *names = json_object_get(field, "names"), *dims = json_object_get(field, "dims");
    for (size_t i = 0; i < json_array_size(dims); i++) {
        char class[CLASS_BYTES];
        const int64_t dim = json_integer_value(json_array_get(dims, i));
        page_legend_item(&page->out, &(struct page_legend_item){dim, class_of(i, more, class),
                                                                name_of(page, names, (uint64_t)dim, i)});
    }
}

static void write_legends(struct page *page, const struct page_curve *curve, const struct curve_figure *drawn)
{
    const struct page_legend_over over = {curve->over};
    if (json_array_size(json_object_get(drawn->field, "dims")) > 1 || drawn->over) {
        page_legend_begin(&page->out, NULL);
        write_legend(page, drawn->field, "");
        page_legend_end(&page->out, NULL);
    }
    if (!drawn->over)
        return;
    page_legend_over_begin(&page->out, &over);
    write_legend(page, drawn->over, " over");
    page_legend_over_end(&page->out, &over);
}

/* All dimensions of a strip, each a link that adds its curve. */
static void write_dimensions(struct page *page, const json_t *whole, const struct page_curve *curve)
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

static uint64_t odd_values(const json_t *field)
{
    uint64_t all = 0;
    size_t i;
    const json_t *kinds;
    json_array_foreach(json_object_get(field, "nonfinite"), i, kinds) all +=
        page_count(kinds, "nan") + page_count(kinds, "+inf") + page_count(kinds, "-inf");
    return all;
}

/* What is shown of the whole episode, in words. */
static void write_caption(const struct page_curve *curve, const json_t *field, char *out, size_t size)
{
    struct scale s;
    char low[PAGE_REAL_BYTES], high[PAGE_REAL_BYTES];
    find_scale(field, &s);
    page_real(s.low, low);
    page_real(s.high, high);
    const bool single = json_array_size(json_object_get(field, "min")) == 1;
    const uint64_t odd = odd_values(field);
    if (s.low > s.high) {
        snprintf(out, size, odd ? "no finite value: %llu values are not finite" : "No values",
                 (unsigned long long)odd);
        return;
    }
    int used = snprintf(out, size, "min %s, max %s", low, high);
    if (single && !curve->sum)
        used = snprintf(
            out, size, "min %s at row %llu, max %s at row %llu", low,
            (unsigned long long)page_double_of(json_array_get(json_object_get(field, "min_row"), 0)), high,
            (unsigned long long)page_double_of(json_array_get(json_object_get(field, "max_row"), 0)));
    snprintf(out + used, size - (size_t)used,
             !odd       ? "; all finite"
             : odd == 1 ? "; %llu value is not finite"
                        : "; %llu values are not finite",
             (unsigned long long)odd);
}

/* A discrete action: a few whole numbers are easier to distinguish than to measure. */
static bool is_discrete(const struct page_curve *curve, const json_t *field)
{
    struct scale s;
    find_scale(field, &s);
    return curve->dims == 1 && !curve->sum && memchr(curve->dtype.data, 'i', curve->dtype.size) &&
           s.high - s.low < 64;
}

/* Bounds of the space that all dimensions have in common: "[-1,1]", or "". */
static struct hub_view bounds_of(struct page *page, const struct page_curve *curve)
{
    static const char *const keys[] = {"low", "high"};
    struct hub_view out = HUB_VIEW("");
    for (size_t k = 0; k < HUB_COUNT(keys) && !curve->sum; k++) {
        const json_t *bounds = json_object_get(curve->field, keys[k]), *bound;
        const double first = page_double_of(json_array_get(bounds, 0));
        char digits[HUB_NUMBER_CHARS];
        bool same = isfinite(first);
        size_t i;
        json_array_foreach(bounds, i, bound) same = same && page_double_of(bound) == first;
        if (same)
            out = page_url(page, "%r%r%r", out, out.size ? HUB_VIEW(",") : HUB_VIEW(""),
                           (struct hub_view){digits, hub_number_double(first, digits)});
    }
    return out.size ? page_url(page, "[%r]", out) : out;
}

static struct page_lane figure_of(struct page *page, const struct page_curve *curve, const char *mode)
{
    return (struct page_lane){
        curve->over.size ? page_url(page, "%r and %r", curve->path, curve->over)
                         : page_url(page,
                                    curve->sum            ? "return so far, the sum of %r"
                                    : !curve->chosen.size ? "%r"
                                    : is_leaf(curve)      ? "%r %r"
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
        curve->dims,
        bounds_of(page, curve),
        curve->over.size
            ? page_url(page, "/api/v1/datasets/%p/episodes/%u/%p", curve->id, curve->episode, curve->over)
            : HUB_VIEW("")};
}

static void write_figure(struct page *page, const struct page_curve *curve, const struct curve_figure *drawn,
                         const json_t *whole)
{
    const json_t *field = drawn->field;
    struct scale s = {.start = (double)curve->from, .steps = (double)(curve->to - curve->from)};
    char caption[300];
    const struct page_lane figure = figure_of(page, curve,
                                              is_discrete(curve, whole) ? "bands"
                                              : is_strip(curve)         ? "strip"
                                                                        : "curves");
    find_scale(field, &s);
    widen_scale(drawn->over, &s);
    s.pairs = json_object_get(field, "pairs") != NULL;
    s.shift = hub_view_is(curve->axis, "shifted") ? -1 : 0;
    s.stepped = !s.pairs && !hub_view_is(curve->axis, "state") && WIDTH / HUB_MAX(1.0, s.steps) > 3;
    write_caption(curve, whole, caption, sizeof caption);
    page_lane_begin(&page->out, &figure);
    draw(page, curve, drawn, &s, caption);
    if (is_strip(curve))
        write_dimensions(page, whole, curve);
    else
        write_legends(page, curve, drawn);
    if (curve->offer.size)
        page_lane_offer(&page->out, &(struct page_lane_offer){curve->offer_href, curve->offer});
    page_caption(&page->out, &(struct page_caption){hub_view_of(caption)});
    page_lane_end(&page->out, &figure);
}

/* In the place of a drawing: why there is none. */
static void write_trouble(struct page *page, const struct page_curve *curve)
{
    const struct page_lane figure = figure_of(page, curve, "");
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
        char class[CLASS_BYTES];
        if (colour == json_array_size(seen))
            (void)json_array_append(seen, (json_t *)value);
        if (end > x && !json_is_false(value))
            page_plot_band(&page->out,
                           &(struct page_plot_band){class_of(colour, "", class), x, 0, end - x, HEIGHT});
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
    const struct page_lane figure = figure_of(page, curve, "bands");
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
    const struct hub_view dims = is_leaf(curve)       ? page_url(page, "&leaf=%s", curve->chosen)
                                 : curve->chosen.size ? page_url(page, "&dims=%s", curve->chosen)
                                 : is_strip(curve)    ? HUB_VIEW("&dims=0-7")
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
