/* A field of several episodes: see compare_lane.h. */
#include "server/page/compare_lane.h"

#include <math.h>
#include <stdio.h>

enum { MOST_STEPS = 2000, WIDTH = 1000, HEIGHT = 120, MARGIN = 6 };

static void drop_values(struct compare *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        json_decref(c->sides[i].values);
        c->sides[i].values = NULL;
    }
}

static const json_t *field_of(const json_t *document)
{
    return json_object_iter_value(json_object_iter(json_object_get(document, "fields")));
}

static const json_t *values_of(const struct side *side)
{
    return field_of(side->values);
}

static double number_at(const json_t *field, const char *key, size_t i)
{
    return page_double_of(json_array_get(json_object_get(field, key), i));
}

const json_t *compare_lane_field(const struct compare *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (values_of(&c->sides[i]))
            return values_of(&c->sides[i]);
    return NULL;
}

bool compare_lane_shows(const json_t *field, size_t dim)
{
    size_t i;
    const json_t *one;
    json_array_foreach(json_object_get(field, "dims"), i, one)
    {
        if (i < COMPARE_FIGURES && (size_t)json_integer_value(one) == dim)
            return true;
    }
    return false;
}

static uint64_t ahead_of(const struct compared_lane *lane)
{
    return hub_view_is(page_text(lane->field, "axis"), "shifted");
}

static double x_of(const struct compare *c, double step)
{
    return (step - (double)c->from) / HUB_MAX(1.0, (double)(c->to - c->from)) * WIDTH;
}

/* A pair stands at its bucket's first row and at its middle; a value at its row. Broken where there is
 * none. */
static enum hub_status line_of(const struct compare *c, const struct side *side,
                               const struct compared_lane *lane, size_t dim, const double range[2],
                               struct hub_buf *d)
{
    const json_t *pairs = json_object_get(values_of(side), "pairs"),
                 *rows = pairs ? pairs : json_object_get(values_of(side), "values"), *value;
    const double width = page_double(side->values, "width"),
                 first = page_double(side->values, "first") * width + side->shift - (double)ahead_of(lane);
    const double apart = pairs ? width / 2 : 1, high = range[1] - range[0];
    bool pen = false;
    size_t i;
    json_array_foreach(json_array_get(rows, dim), i, value)
    {
        const double up = high > 0 ? (json_number_value(value) - range[0]) / high : 0.5;
        if (json_is_number(value))
            HUB_TRY(hub_buf_addf(d, NULL, "%c%.1f %.1f", pen ? 'L' : 'M', x_of(c, first + (double)i * apart),
                                 HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)));
        pen = json_is_number(value);
    }
    return HUB_OK;
}

/* What is drawn, in words: "episode 3: from -1 to 4". */
static void add_words(const struct side *side, size_t dim, char *out, size_t size)
{
    char low[PAGE_REAL_BYTES], high[PAGE_REAL_BYTES];
    const size_t used = strlen(out);
    const double least = number_at(values_of(side), "min", dim);
    page_real(least, low);
    page_real(number_at(values_of(side), "max", dim), high);
    if (isnan(least))
        snprintf(out + used, size - used, "%s%s: no finite value", used ? "; " : "", side->name);
    else
        snprintf(out + used, size - used, "%s%s: from %s to %s", used ? "; " : "", side->name, low, high);
}

static struct hub_view title_of(struct compare *c, const struct compared_lane *lane, const json_t *field,
                                size_t dim)
{
    const struct hub_view path = page_text(lane->field, "path");
    const char *name = json_string_value(json_array_get(json_object_get(field, "names"), dim));
    if (lane->sum)
        return page_url(&c->page, "return so far, the sum of %r", path);
    if (json_array_size(json_object_get(field, "dims")) < 2 && !*lane->dims)
        return page_url(&c->page, "%r", path);
    return name ? page_url(&c->page, "%r: %r", path, hub_view_of(name))
                : page_url(&c->page, "%r [%u]", path, (uint64_t)number_at(field, "dims", dim));
}

/* ---- for scripts ---- */

static struct hub_view source_of(struct compare *c, const struct side *side, const struct compared_lane *lane)
{
    return page_url(&c->page, "/api/v1/datasets/%p/episodes/%u/%p", side->id, side->number,
                    page_text(lane->field, "path"));
}

static json_t *side_of(const struct side *side, const char *source)
{
    char name[24];
    snprintf(name, sizeof name, "%llu", (unsigned long long)side->number);
    const char *revision = json_string_value(json_object_get(side->dataset, "revision"));
    return json_pack("{s:s, s:f, s:I, s:s, s:s}", "name", name, "shift", side->shift, "steps",
                     (json_int_t)side->steps, "revision", revision ? revision : "", "src", source);
}

/* [{"name", "shift", "steps", "revision", "src"}]: src "" where an episode has no such curve. */
static struct hub_view sides_of(struct compare *c, const struct compared_lane *lane, size_t dim,
                                unsigned count)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *sides = json_array();
    for (unsigned i = 0; i < count; i++) {
        const struct side *side = &c->sides[i];
        const bool has = dim < json_array_size(json_object_get(values_of(side), "dims"));
        (void)json_array_append_new(sides, side_of(side, has ? source_of(c, side, lane).data : ""));
    }
    char *text = json_dumps(sides, JSON_COMPACT);
    const struct hub_view out = text ? page_url(&c->page, "%r", hub_view_of(text)) : HUB_VIEW("");
    free(text);
    return out;
}

/* `mode`: "curves" of all, or the "difference" of the first two. */
static struct page_lane figure_of(struct compare *c, const struct compared_lane *lane, const json_t *some,
                                  size_t dim, const char *mode)
{
    struct page *page = &c->page;
    const bool differ = strcmp(mode, "difference") == 0;
    const size_t dims = json_array_size(json_object_get(some, "dims"));
    const struct hub_view number = page_url(page, "%u", (uint64_t)number_at(some, "dims", dim)),
                          path = page_text(lane->field, "path"), title = title_of(c, lane, some, dim);
    return (struct page_lane){differ ? page_url(page, "%r: the difference", title) : title,
                              source_of(c, &c->sides[0], lane),
                              lane->sum                 ? HUB_VIEW("return")
                              : dims > 1 || *lane->dims ? page_url(page, "%r:%r", path, number)
                                                        : path,
                              path,
                              page_text(lane->field, "axis"),
                              page_text(lane->field, "dtype"),
                              hub_view_of(mode),
                              hub_view_of(lane->sum ? "sum" : "value"),
                              dims > 1 || *lane->dims ? number : HUB_VIEW(""),
                              HUB_VIEW(""),
                              1,
                              HUB_VIEW(""),
                              HUB_VIEW(""),
                              sides_of(c, lane, dim, differ ? 2 : c->count)};
}

/* ---- the difference (first - second) ---- */

/* Rows of a field at the steps [from, from + count) of the drawing, one by one. */
static enum hub_status fetch_rows(struct compare *c, const struct side *side,
                                  const struct compared_lane *lane, uint64_t from, uint64_t count,
                                  json_t **out)
{
    const uint64_t start =
        from - (uint64_t)side->shift + hub_view_is(page_text(lane->field, "axis"), "shifted");
    const struct hub_view dims =
        *lane->dims ? page_url(&c->page, "&dims=%s", hub_view_of(lane->dims)) : HUB_VIEW("");
    return page_fetch_if_any(&c->page,
                             page_url(&c->page,
                                      "/api/v1/datasets/%p/episodes/%u/%p?width=1&start=%u&stop=%u%r%r",
                                      side->id, side->number, page_text(lane->field, "path"), start,
                                      start + count, lane->sum ? HUB_VIEW("&of=sum") : HUB_VIEW(""), dims),
                             out);
}

static void write_difference(struct compare *c, const struct page_lane *figure, const json_t *a,
                             const json_t *b, uint64_t from)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(256 * KIB);
    double low = INFINITY, high = -INFINITY;
    char words[2 * COMPARE_NAME + 200], least[PAGE_REAL_BYTES], most[PAGE_REAL_BYTES];
    const size_t count = HUB_MIN(json_array_size(a), json_array_size(b));
    for (int pass = 0; pass < 2; pass++) {
        bool pen = false;
        for (size_t i = 0; i < count; i++) {
            const json_t *left = json_array_get(a, i), *right = json_array_get(b, i);
            const bool known = json_is_number(left) && json_is_number(right);
            const double value = json_number_value(left) - json_number_value(right);
            if (known && pass == 0)
                low = fmin(low, value), high = fmax(high, value);
            if (known && pass == 1 &&
                hub_buf_addf(&d, NULL, "%c%.1f %.1f", pen ? 'L' : 'M', x_of(c, (double)(from + i)),
                             HEIGHT - MARGIN -
                                 (high > low ? (value - low) / (high - low) : 0.5) * (HEIGHT - 2 * MARGIN)))
                return;
            pen = known;
        }
    }
    page_real(low, least);
    page_real(high, most);
    if (low > high)
        snprintf(words, sizeof words, "%s - %s: there is no step at which both are finite", c->sides[0].name,
                 c->sides[1].name);
    else
        snprintf(words, sizeof words, "%s - %s, %zu steps: from %s to %s", c->sides[0].name, c->sides[1].name,
                 count, least, most);
    const struct page_plot plot = {hub_view_of(words), HUB_VIEW("plot")};
    page_lane_begin(&c->page.out, figure);
    page_plot_begin(&c->page.out, &plot);
    if (low < 0 && high > 0) {
        const double zero = HEIGHT - MARGIN + low / (high - low) * (HEIGHT - 2 * MARGIN);
        page_plot_zero(&c->page.out, &(struct page_plot_zero){zero, zero});
    }
    if (d.size)
        page_plot_line(&c->page.out, &(struct page_plot_line){HUB_VIEW("s1"), hub_buf_view(&d)});
    page_plot_end(&c->page.out, &plot);
    page_caption(&c->page.out, &(struct page_caption){hub_view_of(words)});
    page_lane_end(&c->page.out, figure);
}

/* Step by step where both have one, of the first MOST_STEPS of these. */
static enum hub_status write_differences(struct compare *c, const struct compared_lane *lane,
                                         const json_t *some)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *left = NULL, *right = NULL;
    const struct side *sides = c->sides;
    const double from = HUB_MAX((double)c->from, HUB_MAX(sides[0].shift, sides[1].shift)),
                 end = HUB_MIN((double)c->to, HUB_MIN(sides[0].shift + (double)sides[0].steps,
                                                      sides[1].shift + (double)sides[1].steps));
    if (end <= from)
        return HUB_OK;
    const uint64_t count = HUB_MIN((uint64_t)(end - from), (uint64_t)MOST_STEPS);
    HUB_TRY(fetch_rows(c, &sides[0], lane, (uint64_t)from, count, &left));
    HUB_TRY(fetch_rows(c, &sides[1], lane, (uint64_t)from, count, &right));
    const json_t *a = json_object_get(field_of(left), "values"),
                 *b = json_object_get(field_of(right), "values");
    const size_t count_of = HUB_MIN(json_array_size(a), json_array_size(b));
    for (size_t i = 0; i < HUB_MIN(count_of, (size_t)COMPARE_FIGURES); i++) {
        const struct page_lane figure = figure_of(c, lane, some, i, "difference");
        write_difference(c, &figure, json_array_get(a, i), json_array_get(b, i), (uint64_t)from);
    }
    return HUB_OK;
}

/* ---- the figures ---- */

static void write_figure(struct compare *c, const struct compared_lane *lane, const json_t *some, size_t dim)
{
    struct page_out *out = &c->page.out;
    double range[2] = {INFINITY, -INFINITY};
    char words[COMPARE_SIDES * (COMPARE_NAME + 100)] = "";
    for (unsigned i = 0; i < c->count; i++) {
        if (!values_of(&c->sides[i]))
            continue;
        range[0] = fmin(range[0], number_at(values_of(&c->sides[i]), "min", dim));
        range[1] = fmax(range[1], number_at(values_of(&c->sides[i]), "max", dim));
        add_words(&c->sides[i], dim, words, sizeof words);
    }
    const struct page_lane figure = figure_of(c, lane, some, dim, "curves");
    const struct page_plot plot = {hub_view_of(words), HUB_VIEW("plot")};
    const struct page_legend_list list = {HUB_VIEW("legend"), HUB_VIEW(""), HUB_VIEW("episodes")};
    page_lane_begin(out, &figure);
    page_plot_begin(out, &plot);
    for (unsigned i = 0; i < c->count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(256 * KIB);
        if (!line_of(c, &c->sides[i], lane, dim, range, &d) && d.size)
            page_plot_line(out, &(struct page_plot_line){hub_view_of(c->sides[i].class), hub_buf_view(&d)});
    }
    if (c->at >= c->from && c->at <= c->to)
        page_plot_cursor(out, &(struct page_plot_cursor){x_of(c, (double)c->at), x_of(c, (double)c->at)});
    page_plot_end(out, &plot);
    page_legend_list_begin(out, &list);
    for (unsigned i = 0; i < c->count; i++)
        page_legend_item(out, &(struct page_legend_item){i, hub_view_of(c->sides[i].class),
                                                         hub_view_of(c->sides[i].name)});
    page_legend_list_end(out, &list);
    page_caption(out, &(struct page_caption){hub_view_of(words)});
    page_lane_end(out, &figure);
}

/* What of an episode is in the window; nothing where none of it is. */
static enum hub_status fetch_values(struct compare *c, struct side *side, const struct compared_lane *lane)
{
    struct page *page = &c->page;
    const struct hub_view axis = page_text(lane->field, "axis"),
                          dims = *lane->dims ? page_url(page, "&dims=%s", hub_view_of(lane->dims))
                                             : HUB_VIEW("");
    const double start = HUB_MAX(0.0, (double)c->from - side->shift),
                 stop = HUB_MIN((double)side->steps, (double)c->to - side->shift);
    if (stop <= start)
        return HUB_OK;
    return page_fetch_if_any(
        page,
        page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?buckets=300&start=%u&stop=%u%r%r", side->id,
                 side->number, page_text(lane->field, "path"), (uint64_t)start + ahead_of(lane),
                 (uint64_t)stop + !hub_view_is(axis, "step"), lane->sum ? HUB_VIEW("&of=sum") : HUB_VIEW(""),
                 dims),
        &side->values);
}

enum hub_status compare_lane(struct compare *c, const struct compared_lane *lane)
{
    drop_values(c);
    for (unsigned i = 0; i < c->count; i++)
        HUB_TRY(fetch_values(c, &c->sides[i], lane));
    const json_t *some = compare_lane_field(c);
    const size_t dims = json_array_size(json_object_get(some, "dims"));
    for (size_t i = 0; i < HUB_MIN(dims, (size_t)COMPARE_FIGURES); i++)
        write_figure(c, lane, some, i);
    if (c->count > 1 && hub_request_query(c->page.request, "diff").size)
        return write_differences(c, lane, some);
    return HUB_OK;
}
