/* Fields of episodes over each other: see compare.h. */
#include "server/page/compare.h"

#include <math.h>
#include <stdio.h>

enum { MOST_FIGURES = 8, MOST_STEPS = 2000, WIDTH = 1000, HEIGHT = 120, MARGIN = 6 };

static void drop_values(struct compare *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        json_decref(c->sides[i].values);
        c->sides[i].values = NULL;
    }
}

struct compared_lane {
    const json_t *field; /* of the first dataset */
    struct hub_view dims;
    bool sum;
};

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

/* A pair stands at its bucket's first row and at its middle; a value at its row. Broken where there is
 * none. */
static enum hub_status line_of(const struct compare *c, const struct side *side,
                               const struct compared_lane *lane, size_t dim, const double range[2],
                               struct hub_buf *d)
{
    const json_t *pairs = json_object_get(values_of(side), "pairs"),
                 *rows = pairs ? pairs : json_object_get(values_of(side), "values"), *value;
    const double width = page_double(side->values, "width"),
                 first = page_double(side->values, "first") * width + side->shift -
                         hub_view_is(page_text(lane->field, "axis"), "shifted");
    const double apart = pairs ? width / 2 : 1, high = range[1] - range[0];
    bool pen = false;
    size_t i;
    json_array_foreach(json_array_get(rows, dim), i, value)
    {
        const double x = (first + (double)i * apart) / HUB_MAX(1.0, c->span) * WIDTH;
        const double up = high > 0 ? (json_number_value(value) - range[0]) / high : 0.5;
        if (json_is_number(value))
            HUB_TRY(hub_buf_addf(d, NULL, "%c%.1f %.1f", pen ? 'L' : 'M', x,
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
    if (json_array_size(json_object_get(field, "dims")) < 2 && !lane->dims.size)
        return page_url(&c->page, "%r", path);
    return name ? page_url(&c->page, "%r: %r", path, hub_view_of(name))
                : page_url(&c->page, "%r [%u]", path, (uint64_t)number_at(field, "dims", dim));
}

/* ---- the show difference (first - second) ---- */

/* Rows of a field at the steps [from, from + count) of the drawing, one by one. */
static enum hub_status fetch_rows(struct compare *c, const struct side *side,
                                  const struct compared_lane *lane, uint64_t from, uint64_t count,
                                  json_t **out)
{
    const uint64_t start =
        from - (uint64_t)side->shift + hub_view_is(page_text(lane->field, "axis"), "shifted");
    const struct hub_view dims = lane->dims.size ? page_url(&c->page, "&dims=%s", lane->dims) : HUB_VIEW("");
    return page_fetch_if_any(&c->page,
                             page_url(&c->page,
                                      "/api/v1/datasets/%p/episodes/%u/%p?width=1&start=%u&stop=%u%r%r",
                                      side->id, side->number, page_text(lane->field, "path"), start,
                                      start + count, lane->sum ? HUB_VIEW("&of=sum") : HUB_VIEW(""), dims),
                             out);
}

static void write_difference(struct compare *c, const struct hub_view title, const json_t *a, const json_t *b,
                             uint64_t from)
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
                hub_buf_addf(&d, NULL, "%c%.1f %.1f", pen ? 'L' : 'M',
                             (double)(from + i) / HUB_MAX(1.0, c->span) * WIDTH,
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
    const struct page_figure figure = {title};
    const struct page_plot plot = {hub_view_of(words), HUB_VIEW("plot")};
    page_figure_begin(&c->page.out, &figure);
    page_plot_begin(&c->page.out, &plot);
    if (low < 0 && high > 0) {
        const double zero = HEIGHT - MARGIN + low / (high - low) * (HEIGHT - 2 * MARGIN);
        page_plot_zero(&c->page.out, &(struct page_plot_zero){zero, zero});
    }
    if (d.size)
        page_plot_line(&c->page.out, &(struct page_plot_line){HUB_VIEW("s1"), hub_buf_view(&d)});
    page_plot_end(&c->page.out, &plot);
    page_caption(&c->page.out, &(struct page_caption){hub_view_of(words)});
    page_figure_end(&c->page.out, &figure);
}

/* Step by step where both have one, of the first MOST_STEPS of these. */
static enum hub_status write_differences(struct compare *c, const struct compared_lane *lane,
                                         const json_t *some)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *left = NULL, *right = NULL;
    const struct side *sides = c->sides;
    const double from = HUB_MAX(sides[0].shift, sides[1].shift),
                 end = HUB_MIN(sides[0].shift + (double)sides[0].steps,
                               sides[1].shift + (double)sides[1].steps);
    if (end <= from)
        return HUB_OK;
    const uint64_t count = HUB_MIN((uint64_t)(end - from), (uint64_t)MOST_STEPS);
    HUB_TRY(fetch_rows(c, &sides[0], lane, (uint64_t)from, count, &left));
    HUB_TRY(fetch_rows(c, &sides[1], lane, (uint64_t)from, count, &right));
    const json_t *a = json_object_get(field_of(left), "values"),
                 *b = json_object_get(field_of(right), "values");
    for (size_t i = 0; i < HUB_MIN(HUB_MIN(json_array_size(a), json_array_size(b)), (size_t)MOST_FIGURES);
         i++)
        write_difference(c, page_url(&c->page, "%r: the difference", title_of(c, lane, some, i)),
                         json_array_get(a, i), json_array_get(b, i), (uint64_t)from);
    return HUB_OK;
}

/* ---- lanes ---- */

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
    const struct page_figure figure = {title_of(c, lane, some, dim)};
    const struct page_plot plot = {hub_view_of(words), HUB_VIEW("plot")};
    page_figure_begin(out, &figure);
    page_plot_begin(out, &plot);
    for (unsigned i = 0; i < c->count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(256 * KIB);
        if (!line_of(c, &c->sides[i], lane, dim, range, &d) && d.size)
            page_plot_line(out, &(struct page_plot_line){hub_view_of(c->sides[i].class), hub_buf_view(&d)});
    }
    page_plot_end(out, &plot);
    page_legend_begin(out, NULL);
    for (unsigned i = 0; i < c->count; i++)
        page_legend_item(out, &(struct page_legend_item){i, hub_view_of(c->sides[i].class),
                                                         hub_view_of(c->sides[i].name)});
    page_legend_end(out, NULL);
    page_caption(out, &(struct page_caption){hub_view_of(words)});
    page_figure_end(out, &figure);
}

static enum hub_status write_lane(struct compare *c, const struct compared_lane *lane)
{
    struct page *page = &c->page;
    const json_t *some = NULL;
    drop_values(c);
    for (unsigned i = 0; i < c->count; i++) {
        struct side *side = &c->sides[i];
        const struct hub_view dims = lane->dims.size ? page_url(page, "&dims=%s", lane->dims) : HUB_VIEW("");
        HUB_TRY(
            page_fetch_if_any(page,
                              page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?buckets=300&start=%u%r%r",
                                       side->id, side->number, page_text(lane->field, "path"),
                                       (uint64_t)hub_view_is(page_text(lane->field, "axis"), "shifted"),
                                       lane->sum ? HUB_VIEW("&of=sum") : HUB_VIEW(""), dims),
                              &side->values));
        some = some ? some : values_of(side);
    }
    const size_t dims = json_array_size(json_object_get(some, "dims"));
    for (size_t i = 0; i < HUB_MIN(dims, (size_t)MOST_FIGURES); i++)
        write_figure(c, lane, some, i);
    if (c->count > 1 && hub_request_query(page->request, "diff").size)
        HUB_TRY(write_differences(c, lane, some));
    return HUB_OK;
}

static bool is_wide(const json_t *field)
{
    double dims = 1;
    for (size_t i = 0; i < json_array_size(json_object_get(field, "shape")); i++)
        dims *= number_at(field, "shape", i);
    return dims > 4;
}

/* Rewards, their sum, the first four numbers of an action. */
static enum hub_status write_usual(struct compare *c)
{
    const json_t *reward = compare_first_of(c->sides[0].dataset, "reward"),
                 *action = compare_first_of(c->sides[0].dataset, "action");
    if (reward) {
        HUB_TRY(write_lane(c, &(struct compared_lane){reward, HUB_VIEW(""), false}));
        HUB_TRY(write_lane(c, &(struct compared_lane){reward, HUB_VIEW(""), true}));
    }
    if (!action)
        return HUB_OK;
    return write_lane(
        c, &(struct compared_lane){action, is_wide(action) ? HUB_VIEW("0-3") : HUB_VIEW(""), false});
}

/* A field of `lanes=`: FIELD, or FIELD:DIMS. */
static enum hub_status write_chosen(struct compare *c, struct hub_view chosen)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(c->sides[0].dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        const bool more = chosen.size > path.size && chosen.data[path.size] == ':';
        if (chosen.size < path.size || memcmp(chosen.data, path.data, path.size) != 0 ||
            (chosen.size > path.size && !more))
            continue;
        const size_t skip = path.size + more;
        return write_lane(c, &(struct compared_lane){field, {chosen.data + skip, chosen.size - skip}, false});
    }
    return HUB_OK;
}

static void write_choices(struct compare *c)
{
    struct page *page = &c->page;
    const struct page_details details = {HUB_VIEW("Other fields")};
    size_t i;
    const json_t *field;
    page_details_begin(&page->out, &details);
    page_legend_begin(&page->out, NULL);
    json_array_foreach(json_object_get(c->sides[0].dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        if (hub_view_is(page_text(field, "type"), "number"))
            page_lane_link(&page->out,
                           &(struct page_lane_link){page_query(page, "lanes", "lanes", path, NULL), path});
    }
    page_legend_end(&page->out, NULL);
    page_details_end(&page->out, &details);
}

/* A link that adds the differences, or takes them away. */
static void write_toggle(struct compare *c)
{
    struct page *page = &c->page;
    const struct page_chips chips = {HUB_VIEW("Difference")};
    const struct hub_view name = HUB_VIEW("show difference (first - second)");
    if (c->count < 2)
        return;
    page_chips_begin(&page->out, &chips);
    if (hub_request_query(page->request, "diff").size)
        page_lane_there(&page->out, &(struct page_lane_there){page_query(page, "diff", NULL), name});
    else
        page_lane_link(&page->out,
                       &(struct page_lane_link){page_query(page, "diff", "diff", HUB_VIEW("1"), NULL), name});
    page_chips_end(&page->out, &chips);
}

enum hub_status compare_lanes(struct compare *c)
{
    struct hub_view lanes = hub_request_query(c->page.request, "lanes");
    page_hidden_head(&c->page.out, &(struct page_hidden_head){HUB_VIEW("Fields over each other")});
    write_choices(c);
    write_toggle(c);
    page_compare_lanes_begin(&c->page.out, NULL);
    if (!lanes.size)
        HUB_TRY(write_usual(c));
    while (lanes.size) {
        const char *comma = memchr(lanes.data, ',', lanes.size);
        const size_t size = comma ? (size_t)(comma - lanes.data) : lanes.size;
        HUB_TRY(write_chosen(c, (struct hub_view){lanes.data, size}));
        lanes = (struct hub_view){lanes.data + size + (comma != NULL), lanes.size - size - (comma != NULL)};
    }
    page_compare_lanes_end(&c->page.out, NULL);
    return HUB_OK;
}
