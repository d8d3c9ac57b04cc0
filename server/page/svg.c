/* Drawings: histograms whose bars open their episodes, outcomes, sparklines. */
#include "server/page/svg.h"

#include "storage/text/base64.h"
#include "storage/text/number.h"

#include <math.h>
#include <stdio.h>

enum { WIDTH = 400, HEIGHT = 94 };

static double largest(const json_t *counts)
{
    double most = 0;
    size_t i;
    const json_t *count;
    json_array_foreach(counts, i, count) most = HUB_MAX(most, json_number_value(count));
    return most;
}

/* The digits that read back as the same number: `where` compares exactly. */
static struct hub_view digits(double value, char out[HUB_NUMBER_CHARS])
{
    return (struct hub_view){out, isfinite(value) ? hub_number_double(value, out) : 0};
}

static struct hub_view bar_href(struct page *page, const char *key, double low, double high, bool last)
{
    char a[HUB_NUMBER_CHARS], b[HUB_NUMBER_CHARS];
    const struct hub_view name = hub_view_of(key), from = digits(low, a), to = digits(high, b);
    const struct hub_view below = last ? HUB_VIEW(" <= ") : HUB_VIEW(" < ");
    const struct hub_view where = page_url(page, "%r >= %r and %r%r%r", name, from, name, below, to);
    return page_url(page, "@/d/%p/episodes?where=%s", page_id(page), where);
}

struct bar {
    double low, high, count;
    char label[160];
};

static struct bar bar_at(const json_t *histogram, size_t i)
{
    const json_t *edges = json_object_get(histogram, "edges"), *counts = json_object_get(histogram, "counts");
    struct bar bar = {page_double_of(json_array_get(edges, i)), page_double_of(json_array_get(edges, i + 1)),
                      json_number_value(json_array_get(counts, i)), ""};
    char from[PAGE_REAL_BYTES], to[PAGE_REAL_BYTES];
    page_real(bar.low, from);
    page_real(bar.high, to);
    snprintf(bar.label, sizeof bar.label, "%.0f from %s to %s", bar.count, from, to);
    return bar;
}

static void put_bar(struct page *page, const json_t *histogram, size_t i, const char *key, double most)
{
    const size_t bins = json_array_size(json_object_get(histogram, "counts"));
    const struct bar bar = bar_at(histogram, i);
    const double w = (double)WIDTH / (double)bins;
    const double h = bar.count > 0 ? HUB_MAX(2.0, bar.count / most * HEIGHT) : 0;
    const struct hub_view text = hub_view_of(bar.label);
    const double x = (double)i * w, gap = HUB_MIN(1.0, w / 4);
    if (key)
        page_histogram_bar(&page->out,
                           &(struct page_histogram_bar){bar_href(page, key, bar.low, bar.high, i + 1 == bins),
                                                        text, x, HEIGHT - h, w - gap, h});
    else
        page_histogram_plain(&page->out, &(struct page_histogram_plain){text, x, HEIGHT - h, w - gap, h});
}

/* The bars are one Tab stop where there is script; without it they are none, and keys reach them here. */
static void put_list(struct page *page, const json_t *histogram, const char *key)
{
    const size_t bins = json_array_size(json_object_get(histogram, "counts"));
    page_as_list_begin(&page->out, NULL);
    for (size_t i = 0; i < bins; i++) {
        const struct bar bar = bar_at(histogram, i);
        if (bar.count > 0)
            page_list_link(&page->out,
                           &(struct page_list_link){bar_href(page, key, bar.low, bar.high, i + 1 == bins),
                                                    hub_view_of(bar.label)});
    }
    page_as_list_end(&page->out, NULL);
}

/* One value is a sentence, not a bar. */
static void write_one_value(struct page *page, const struct page_numbers *of, double value)
{
    const struct page_figure figure = {of->title};
    char text[PAGE_REAL_BYTES];
    page_real(value, text);
    page_figure_begin(&page->out, &figure);
    page_caption(&page->out, &(struct page_caption){of->count == 1 ? page_url(page, "%r", hub_view_of(text))
                                                                   : page_url(page, "%r in all %n.",
                                                                              hub_view_of(text), of->count)});
    page_figure_end(&page->out, &figure);
}

void page_histogram_figure(struct page *page, const struct page_numbers *of, const json_t *histogram,
                           const char *key)
{
    struct page_out *out = &page->out;
    const json_t *edges = json_object_get(histogram, "edges"), *counts = json_object_get(histogram, "counts");
    const size_t bins = json_array_size(counts);
    if (!bins || json_array_size(edges) != bins + 1)
        return;
    const double low = page_double_of(json_array_get(edges, 0)),
                 last = page_double_of(json_array_get(edges, bins)), high = fmin(last, of->max);
    const double most = largest(counts);
    if (low == last) {
        write_one_value(page, of, low);
        return;
    }
    char caption[300], from[PAGE_REAL_BYTES], to[PAGE_REAL_BYTES], middle[PAGE_REAL_BYTES],
        total[PAGE_COUNT_BYTES];
    page_real(low, from);
    page_real(high, to);
    page_real(of->mean, middle);
    page_count_text(of->count, total);
    snprintf(caption, sizeof caption, "%s values from %s to %s, mean %s; tallest bar %.0f", total, from, to,
             middle, most);
    const struct page_figure figure = {of->title};
    const struct page_histogram drawing = {hub_view_of(caption)};
    page_figure_begin(out, &figure);
    page_histogram_scale(out, &(struct page_histogram_scale){(uint64_t)most});
    page_histogram_begin(out, &drawing);
    for (size_t i = 0; i < bins; i++)
        if (json_number_value(json_array_get(counts, i)) > 0)
            put_bar(page, histogram, i, key, most);
    page_histogram_end(out, &drawing);
    snprintf(caption, sizeof caption, "mean %s", middle);
    page_ends(out, &(struct page_ends){low, hub_view_of(isnan(of->mean) ? "" : caption), high});
    if (key)
        put_list(page, histogram, key);
    page_figure_end(out, &figure);
}

void page_episodes_figure(struct page *page, const json_t *numbers, const char *title, const char *key)
{
    const struct page_numbers of = {hub_view_of(title), page_count(numbers, "count"),
                                    page_double(numbers, "mean"), page_double(numbers, "max")};
    page_histogram_figure(page, &of, json_object_get(numbers, "histogram"), key);
}

/* A name, a bar and a count, which open the episodes of `query`. */
static void put_share(struct page *page, struct hub_view name, struct hub_view query, uint64_t count,
                      uint64_t of)
{
    page_outcome_row(&page->out,
                     &(struct page_outcome_row){page_url(page, "@/d/%p/episodes?%r", page_id(page), query),
                                                name, of ? 100.0 * (double)count / (double)of : 0, count});
}

void page_values_figure(struct page *page, const json_t *values, const char *title, const char *key,
                        uint64_t episodes)
{
    enum { MOST = 12 };
    const json_t *items = json_object_get(values, "values"), *item;
    const struct page_figure figure = {hub_view_of(title)};
    const size_t count = json_array_size(items);
    size_t i;
    if (!count)
        return;
    page_figure_begin(&page->out, &figure);
    page_outcome_begin(&page->out, NULL);
    json_array_foreach(items, i, item)
    {
        const struct hub_view name = page_text(item, "value");
        if (i < MOST)
            put_share(page, name, page_url(page, "%r=%s", hub_view_of(key), name), page_count(item, "count"),
                      episodes);
    }
    page_outcome_end(&page->out, NULL);
    const uint64_t more =
        (count > MOST ? count - MOST : 0) + page_count(json_object_get(values, "left_out"), "values");
    if (more)
        page_paragraph(&page->out,
                       &(struct page_paragraph){HUB_VIEW("muted"), page_url(page, "and %n more", more)});
    page_figure_end(&page->out, &figure);
}

void page_counts_figure(struct page *page, const struct page_numbers *of, const json_t *values)
{
    const struct page_figure figure = {of->title};
    const json_t *item;
    size_t i;
    page_figure_begin(&page->out, &figure);
    page_outcome_begin(&page->out, NULL);
    json_array_foreach(values, i, item)
    {
        const uint64_t count = page_count(item, "count");
        char name[PAGE_REAL_BYTES];
        page_real(page_double(item, "value"), name);
        page_outcome_plain(&page->out, &(struct page_outcome_plain){
                                           hub_view_of(name),
                                           of->count ? 100.0 * (double)count / (double)of->count : 0, count});
    }
    page_outcome_end(&page->out, NULL);
    page_figure_end(&page->out, &figure);
}

/* The edge before bin `i` of one axis of a grid, as text. */
static const char *edge(const json_t *edges, size_t i, char out[PAGE_REAL_BYTES])
{
    page_real(page_double_of(json_array_get(edges, i)), out);
    return out;
}

static void put_cell(struct page *page, const json_t *grid, size_t x, size_t y, double most)
{
    enum { LEVELS = 9 };
    const json_t *xs = json_object_get(grid, "x_edges"), *ys = json_object_get(grid, "y_edges");
    const double w = (double)WIDTH / (double)(json_array_size(xs) - 1),
                 h = (double)HEIGHT / (double)(json_array_size(ys) - 1);
    const double count =
        json_number_value(json_array_get(json_array_get(json_object_get(grid, "counts"), x), y));
    char label[240], a[PAGE_REAL_BYTES], b[PAGE_REAL_BYTES], c[PAGE_REAL_BYTES], d[PAGE_REAL_BYTES];
    char level[] = {'g', (char)('0' + (int)ceil(sqrt(count / most) * LEVELS)), '\0'};
    if (count <= 0)
        return;
    snprintf(label, sizeof label, "%.0f: %s from %s to %s, %s from %s to %s", count,
             page_text(grid, "x").data, edge(xs, x, a), edge(xs, x + 1, b), page_text(grid, "y").data,
             edge(ys, y, c), edge(ys, y + 1, d));
    page_grid_cell(&page->out, &(struct page_grid_cell){hub_view_of(level), hub_view_of(label), (double)x * w,
                                                        HEIGHT - (double)(y + 1) * h, w, h});
}

void page_grid_figure(struct page *page, const json_t *grid, const char *title)
{
    const json_t *columns = json_object_get(grid, "counts"), *column;
    const json_t *xs = json_object_get(grid, "x_edges"), *ys = json_object_get(grid, "y_edges");
    const struct page_figure figure = {hub_view_of(title)};
    double most = 0;
    size_t x;
    json_array_foreach(columns, x, column) most = HUB_MAX(most, largest(column));
    if (most <= 0 || json_array_size(xs) < 3 || json_array_size(ys) < 3)
        return;
    char from[PAGE_REAL_BYTES], to[PAGE_REAL_BYTES];
    const struct page_grid drawing = {page_url(
        page, "vertical: %r from %r to %r; at most %u in one cell", page_text(grid, "y"),
        hub_view_of(edge(ys, 0, from)), hub_view_of(edge(ys, json_array_size(ys) - 1, to)), (uint64_t)most)};
    page_figure_begin(&page->out, &figure);
    page_grid_begin(&page->out, &drawing);
    json_array_foreach(columns, x, column) for (size_t y = 0; y < json_array_size(column); y++)
        put_cell(page, grid, x, y, most);
    page_grid_end(&page->out, &drawing);
    page_ends(&page->out, &(struct page_ends){page_double_of(json_array_get(xs, 0)), drawing.label,
                                              page_double_of(json_array_get(xs, json_array_size(xs) - 1))});
    page_figure_end(&page->out, &figure);
}

void page_outcome_figure(struct page *page, const json_t *outcome)
{
    static const struct {
        const char *key, *value, *name, *where;
    } rows[] = {{"success", "true", "success", "success = true"},
                {"success", "false", "no success", "success = false"},
                {"terminated", "true", "terminated", "terminated = true"},
                {"truncated", "true", "truncated", "truncated = true"},
                {"neither", "true", "neither", "terminated = false and truncated = false"}};
    struct page_out *out = &page->out;
    const struct page_figure figure = {HUB_VIEW("Outcome")};
    bool any = false;
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        const json_t *of = json_object_get(outcome, rows[i].key);
        const uint64_t yes = page_count(of, "true"), no = page_count(of, "false");
        if (!yes && !no)
            continue;
        if (!any) {
            page_figure_begin(out, &figure);
            page_outcome_begin(out, NULL);
        }
        any = true;
        put_share(page, hub_view_of(rows[i].name), page_url(page, "where=%s", hub_view_of(rows[i].where)),
                  page_count(of, rows[i].value), yes + no + page_count(of, "unknown"));
    }
    if (any) {
        page_outcome_end(out, NULL);
        page_figure_end(out, &figure);
    }
}

/* All of one value are a bar in the middle. */
enum hub_status page_bars_path(const json_t *counts, struct hub_buf *out)
{
    enum { BARS_WIDTH = 12, BARS_HEIGHT = 9, ALONE = 1 };
    const double most = largest(counts);
    const int count = (int)json_array_size(counts), width = count > 1 ? BARS_WIDTH / count : ALONE;
    int before = 0;
    size_t i;
    const json_t *n;
    HUB_TRY(hub_buf_addf(out, NULL, "M%d %d", (BARS_WIDTH - count * width) / 2, BARS_HEIGHT));
    json_array_foreach(counts, i, n)
    {
        const int height = most > 0 ? (int)ceil(json_number_value(n) / most * BARS_HEIGHT) : 0;
        if (height != before)
            HUB_TRY(hub_buf_addf(out, NULL, "v%d", before - height));
        HUB_TRY(hub_buf_addf(out, NULL, "h%d", width));
        before = height;
    }
    return hub_buf_addf(out, NULL, "V%dz", BARS_HEIGHT);
}

void page_sparkline(struct page_out *out, struct hub_view base64)
{
    enum { POINTS = 32 };
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bytes = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(2 * KIB);
    if (!base64.size || hub_base64_decode(base64, &bytes, NULL) || bytes.size != POINTS)
        return;
    for (int i = 0; i < POINTS; i++)
        if (hub_buf_addf(&d, NULL, "%c%d %.1f", i ? 'L' : 'M', i * 128 / (POINTS - 1),
                         22.5 - (uint8_t)bytes.data[i] / 255.0 * 21))
            return;
    page_spark(out, &(struct page_spark){HUB_VIEW("reward over time"), hub_buf_view(&d)});
}
