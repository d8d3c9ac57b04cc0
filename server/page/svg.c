/* Drawings: histograms whose bars open their episodes, outcomes, sparklines. */
#include "server/page/svg.h"

#include "storage/base/base64.h"
#include "storage/base/number.h"

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
    return page_url(page, "/d/%p/episodes?where=%s", page_id(page), where);
}

static void put_bar(struct page *page, const json_t *histogram, size_t i, const char *key, double most)
{
    const json_t *edges = json_object_get(histogram, "edges"), *counts = json_object_get(histogram, "counts");
    const size_t bins = json_array_size(counts);
    const double low = page_double_of(json_array_get(edges, i)),
                 high = page_double_of(json_array_get(edges, i + 1));
    const double count = json_number_value(json_array_get(counts, i)), w = (double)WIDTH / (double)bins;
    const double h = count > 0 ? HUB_MAX(2.0, count / most * HEIGHT) : 0;
    char label[160], from[PAGE_REAL_BYTES], to[PAGE_REAL_BYTES];
    page_real(low, from);
    page_real(high, to);
    snprintf(label, sizeof label, "%.0f from %s to %s", count, from, to);
    const struct hub_view text = hub_view_of(label);
    const double x = (double)i * w, gap = HUB_MIN(1.0, w / 4);
    if (key)
        page_histogram_bar(&page->out,
                           &(struct page_histogram_bar){bar_href(page, key, low, high, i + 1 == bins), text,
                                                        x, HEIGHT - h, w - gap, h});
    else
        page_histogram_plain(&page->out, &(struct page_histogram_plain){text, x, HEIGHT - h, w - gap, h});
}

void page_histogram_figure(struct page *page, const json_t *field, const json_t *histogram, const char *title,
                           const char *key)
{
    struct page_out *out = &page->out;
    const json_t *edges = json_object_get(histogram, "edges"), *counts = json_object_get(histogram, "counts");
    const size_t bins = json_array_size(counts);
    if (!bins || json_array_size(edges) != bins + 1)
        return;
    const double low = page_double_of(json_array_get(edges, 0)),
                 high = page_double_of(json_array_get(edges, bins));
    const double mean = page_double(field, "mean"), most = largest(counts);
    char caption[300], from[PAGE_REAL_BYTES], to[PAGE_REAL_BYTES], middle[PAGE_REAL_BYTES];
    page_real(low, from);
    page_real(high, to);
    page_real(mean, middle);
    snprintf(caption, sizeof caption, "%llu values from %s to %s, mean %s; tallest bar %.0f",
             (unsigned long long)page_count(field, "count"), from, to, middle, most);
    const struct page_figure figure = {hub_view_of(title)};
    const struct page_histogram drawing = {hub_view_of(caption)};
    page_figure_begin(out, &figure);
    page_histogram_begin(out, &drawing);
    for (size_t i = 0; i < bins; i++)
        if (json_number_value(json_array_get(counts, i)) > 0)
            put_bar(page, histogram, i, key, most);
    page_histogram_end(out, &drawing);
    snprintf(caption, sizeof caption, "mean %s", middle);
    page_ends(out, &(struct page_ends){low, hub_view_of(isnan(mean) ? "" : caption), high});
    page_figure_end(out, &figure);
}

/* A name, a bar and a count, which open the episodes of `query`. */
static void put_share(struct page *page, struct hub_view name, struct hub_view query, uint64_t count,
                      uint64_t of)
{
    page_outcome_row(&page->out,
                     &(struct page_outcome_row){page_url(page, "/d/%p/episodes?%r", page_id(page), query),
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
                       &(struct page_paragraph){HUB_VIEW("muted"), page_url(page, "and %u more", more)});
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
