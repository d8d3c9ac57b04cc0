/* Curves of an episode: see curve.h. */
#include "server/page/curve.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 1000, HEIGHT = 120, MARGIN = 6, MOST_CURVES = 8 };

struct scale {
    double low, high; /* of the values */
    double start, steps;
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

static void find_scale(const json_t *field, struct scale *s)
{
    size_t i;
    const json_t *value;
    s->low = INFINITY;
    s->high = -INFINITY;
    json_array_foreach(json_object_get(field, "min"), i, value) if (json_is_number(value)) s->low =
        HUB_MIN(s->low, json_number_value(value));
    json_array_foreach(json_object_get(field, "max"), i, value) if (json_is_number(value)) s->high =
        HUB_MAX(s->high, json_number_value(value));
}

/* The line through the values of a dimension; broken where there is none. A pair stands at its bucket's first row and
 * at its middle. */
static enum hub_status line_of(const json_t *document, const json_t *values, bool pairs,
                               const struct scale *s, struct hub_buf *d)
{
    const double width = page_double(document, "width"), first = page_double(document, "first") * width;
    bool pen = false;
    size_t i;
    const json_t *value;
    json_array_foreach(values, i, value)
    {
        const double step = pairs ? first + ((double)i / 2) * width : first + (double)i;
        if (!json_is_number(value)) {
            pen = false;
            continue;
        }
        HUB_TRY(hub_buf_addf(d, NULL, "%c%.1f %.1f", pen ? 'L' : 'M', x_of(s, step),
                             y_of(s, json_number_value(value))));
        pen = true;
    }
    return HUB_OK;
}

static struct hub_view class_of(size_t i, char out[4])
{
    snprintf(out, 4, "s%zu", i % MOST_CURVES + 1);
    return hub_view_of(out);
}

static void draw(struct page *page, const struct page_curve *curve, const json_t *document,
                 const json_t *field, const struct scale *s, const char *label)
{
    struct page_out *out = &page->out;
    const json_t *values = json_object_get(field, "values"), *pairs = json_object_get(field, "pairs");
    const json_t *lines = pairs ? pairs : values;
    const struct page_plot plot = {hub_view_of(label)};
    page_plot_begin(out, &plot);
    if (s->low < 0 && s->high > 0)
        page_plot_zero(out, &(struct page_plot_zero){y_of(s, 0), y_of(s, 0)});
    for (size_t i = 0; i < json_array_size(lines); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(256 * KIB);
        char class[4];
        if (!line_of(document, json_array_get(lines, i), pairs != NULL, s, &d) && d.size)
            page_plot_line(out, &(struct page_plot_line){class_of(i, class), hub_buf_view(&d)});
    }
    const double x = x_of(s, (double)curve->at);
    page_plot_cursor(out, &(struct page_plot_cursor){x, x});
    page_plot_end(out, &plot);
}

static void write_legend(struct page *page, const json_t *field, const struct page_curve *curve)
{
    const json_t *names = json_object_get(field, "names"), *dims = json_object_get(field, "dims");
    const size_t count = json_array_size(dims);
    if (count < 2)
        return;
    page_legend_begin(&page->out, NULL);
    for (size_t i = 0; i < count; i++) {
        char index[32], class[4];
        snprintf(index, sizeof index, "[%lld]", (long long)json_integer_value(json_array_get(dims, i)));
        const char *name = json_string_value(json_array_get(names, i));
        page_legend_item(&page->out,
                         &(struct page_legend_item){class_of(i, class), hub_view_of(name ? name : index)});
    }
    page_legend_end(&page->out, NULL);
    if (curve->dims > MOST_CURVES)
        page_paragraph(&page->out, &(struct page_paragraph){HUB_VIEW("muted small"),
                                                            page_url(page, "The first 8 of %u dimensions.",
                                                                     (uint64_t)curve->dims)});
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

static void write_figure(struct page *page, const struct page_curve *curve, const json_t *document,
                         const json_t *field)
{
    struct scale s = {.start = page_double(document, "start"), .steps = (double)curve->steps};
    char low[PAGE_REAL_BYTES], high[PAGE_REAL_BYTES], caption[300];
    const struct hub_view path = curve->path;
    find_scale(field, &s);
    page_real(s.low, low);
    page_real(s.high, high);
    const bool single = json_array_size(json_object_get(field, "min")) == 1;
    const uint64_t odd = odd_values(field);
    int used = snprintf(caption, sizeof caption, "From %s to %s", low, high);
    if (single && !curve->sum)
        used = snprintf(
            caption, sizeof caption, "From %s at row %llu to %s at row %llu", low,
            (unsigned long long)page_double_of(json_array_get(json_object_get(field, "min_row"), 0)), high,
            (unsigned long long)page_double_of(json_array_get(json_object_get(field, "max_row"), 0)));
    snprintf(caption + used, sizeof caption - (size_t)used,
             odd ? "; %llu values are not finite" : "; no missing values", (unsigned long long)odd);
    const struct page_figure figure = {
        page_url(page, curve->sum ? "return: the sum of %r so far" : "%r", path)};
    page_figure_begin(&page->out, &figure);
    if (isfinite(s.low))
        draw(page, curve, document, field, &s, caption);
    write_legend(page, field, curve);
    page_caption(&page->out, &(struct page_caption){hub_view_of(caption)});
    page_figure_end(&page->out, &figure);
}

enum hub_status page_curve_figure(struct page *page, const struct page_curve *curve)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    const struct hub_view dims = curve->dims > MOST_CURVES ? HUB_VIEW("&dims=0-7") : HUB_VIEW(""),
                          of = curve->sum ? HUB_VIEW("&of=sum") : HUB_VIEW("");
    HUB_TRY(page_ask_if_any(page,
                            page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?buckets=300%r%r", curve->id,
                                     curve->episode, curve->path, of, dims),
                            &document));
    json_t *field = json_object_iter_value(json_object_iter(json_object_get(document, "fields")));
    if (field)
        write_figure(page, curve, document, field);
    return HUB_OK;
}
