/* What the numbers of a dataset come to: returns, steps, outcomes, then every field, a line a dimension. */
#include "server/page/handlers.h"
#include "server/page/problems.h"
#include "server/page/svg.h"
#include "server/page/where.h"

#include <stdio.h>

enum {
    MOST_DIMS = 200,
    GRID_BINS = 48,
    FEW = 500 /* episodes, which a fine grid would lose */,
    FEW_BINS = 12
};

/* What a dimension is called, as the dataset says or by its place. */
static struct hub_view name_of(struct page *page, const json_t *field, size_t dim)
{
    const json_t *name = json_array_get(json_object_get(field, "names"), dim);
    if (name)
        return (struct hub_view){json_string_value(name), json_string_length(name)};
    return json_array_size(json_object_get(field, "mean")) > 1 ? page_url(page, "[%u]", (uint64_t)dim)
                                                               : HUB_VIEW("value");
}

static void write_dims(struct page *page, const json_t *field)
{
    const json_t *mean = json_object_get(field, "mean"), *std = json_object_get(field, "std");
    const json_t *min = json_object_get(field, "min"), *max = json_object_get(field, "max");
    const size_t dims = HUB_MIN(json_array_size(mean), (size_t)MOST_DIMS);
    for (size_t i = 0; i < dims; i++) {
        const double low = page_double_of(json_array_get(min, i)),
                     high = page_double_of(json_array_get(max, i));
        page_dim_row(&page->out,
                     &(struct page_dim_row){
                         name_of(page, field, i), low, page_double_of(json_array_get(mean, i)),
                         page_double_of(json_array_get(std, i)), high,
                         low == high ? HUB_VIEW("constant: dividing by std gives NaN") : HUB_VIEW("")});
    }
}

/* How the numbers of each dimension are spread, once they are counted. */
static void write_spread(struct page *page, const char *name, const json_t *field)
{
    struct page_out *out = &page->out;
    const json_t *histograms = json_object_get(field, "histogram"), *h,
                 *coverage = json_object_get(field, "histogram_coverage");
    size_t i;
    if (!page_flag(coverage, "complete"))
        page_paragraph(out, &(struct page_paragraph){HUB_VIEW("muted counting"),
                                                     page_url(page, "Counting: %u of %u parts so far.",
                                                              page_count(coverage, "parts"),
                                                              page_count(coverage, "of_parts"))});
    page_statistics_spread_begin(out, &(struct page_statistics_spread){hub_view_of(name)});
    json_array_foreach(histograms, i, h)
    {
        const struct page_numbers of = {name_of(page, field, i), page_count(field, "count"),
                                        page_double_of(json_array_get(json_object_get(field, "mean"), i)),
                                        page_double_of(json_array_get(json_object_get(field, "max"), i))};
        if (json_object_get(h, "values"))
            page_counts_figure(page, &of, json_object_get(h, "values"));
        else
            page_histogram_figure(page, &of, h, NULL);
    }
    page_statistics_spread_end(out, &(struct page_statistics_spread){hub_view_of(name)});
}

/* The distributions of the field that is asked for, before all others. */
static enum hub_status write_requested(struct page *page, struct hub_view id, struct hub_view name)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *statistics = NULL;
    const char *path;
    json_t *field;
    if (!name.size)
        return HUB_OK;
    HUB_TRY(page_fetch(page, page_url(page, "/api/v1/datasets/%p/~statistics?field=%s&bins=20", id, name),
                       &statistics));
    const json_t *fields = json_object_get(statistics, "fields");
    json_object_foreach((json_t *)fields, path, field)
    {
        const struct page_section section = {HUB_VIEW("field"), page_url(page, "%r", hub_view_of(path))};
        page_section_begin(&page->out, &section);
        write_spread(page, path, field);
        page_section_end(&page->out, &section);
    }
    return HUB_OK;
}

static void write_field(struct page *page, const char *name, const json_t *field, bool open)
{
    static const char *const heads[] = {"Dimension", "Min", "Mean", "Std", "Max", ""};
    struct page_out *out = &page->out;
    const json_t *bad = json_object_get(field, "nonfinite");
    const uint64_t odd = page_count(bad, "nan") + page_count(bad, "+inf") + page_count(bad, "-inf");
    const struct hub_view caption = page_url(page, "%n rows, %n not finite; %r", page_count(field, "count"),
                                             odd, page_text(field, "origin"));
    const struct page_scrolled_table table = {caption};
    const struct page_details folded = {hub_view_of(name)};
    const struct page_details_open unfolded = {hub_view_of(name)};
    if (open)
        page_details_open_begin(out, &unfolded);
    else
        page_details_begin(out, &folded);
    page_link(out, &(struct page_link){
                       page_url(page, "@/d/%p/~statistics?field=%s#field", page_id(page), hub_view_of(name)),
                       HUB_VIEW("Distribution")});
    page_scrolled_table_begin(out, &table);
    page_thead_begin(out, NULL);
    for (size_t i = 0; i < HUB_COUNT(heads) - 1; i++)
        page_th(out, &(struct page_th){i ? HUB_VIEW("n") : HUB_VIEW(""), hub_view_of(heads[i])});
    page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Note")});
    page_thead_end(out, NULL);
    page_tbody_begin(out, NULL);
    write_dims(page, field);
    page_tbody_end(out, NULL);
    page_scrolled_table_end(out, &table);
    if (open)
        page_details_open_end(out, &unfolded);
    else
        page_details_end(out, &folded);
}

/* The first two are unfolded. */
static void write_fields(struct page *page, const json_t *fields)
{
    const struct page_section section = {HUB_VIEW("fields"), HUB_VIEW("Fields")};
    const char *name;
    json_t *field;
    unsigned shown = 0;
    page_section_begin(&page->out, &section);
    json_object_foreach((json_t *)fields, name, field) if (json_array_size(json_object_get(field, "mean")))
        write_field(page, name, field, shown++ < 2);
    page_section_end(&page->out, &section);
}

enum hub_status hub_page_statistics(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *statistics = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *both = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view id = page_id(&page);
    const struct hub_view api =
        page_url(&page, "/api/v1/datasets/%p/~statistics%r", id, page_query(&page, "revision field", NULL));
    HUB_TRY(page_fetch(&page, api, &statistics));
    HUB_TRY(page_fetch_if_any(&page,
                              page_url(&page, "/api/v1/datasets/%p/~statistics?by=steps,return&bins=%u", id,
                                       page_count(statistics, "episodes") < FEW ? FEW_BINS : GRID_BINS),
                              &both));
    const json_t *fields = json_object_get(statistics, "fields"),
                 *coverage = json_object_get(statistics, "coverage");
    const json_t *returns = json_object_get(fields, "return"), *steps = json_object_get(fields, "steps");
    page_open(&page, page_url(&page, "Statistics - %r", id), api);
    page_crumbs(&page, id, "statistics");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Statistics")});
    page_revision_bar(&page, statistics);
    page_where_note(&page, statistics);
    if (page_where_is_measured(statistics))
        page_paragraph(&page.out,
                       &(struct page_paragraph){
                           HUB_VIEW("muted"),
                           page_url(&page, "Measured: %n of %n episodes%r.", page_count(coverage, "episodes"),
                                    page_count(coverage, "of"), page_unreadable_words(&page, coverage))});
    page_hidden_head(&page.out, &(struct page_hidden_head){HUB_VIEW("Distributions")});
    page_dataset_cards_begin(&page.out, NULL);
    page_episodes_figure(&page, returns, "Return", "return");
    page_episodes_figure(&page, steps, "Steps", "steps");
    page_grid_figure(&page, json_object_get(both, "grid"), "Return against steps");
    page_outcome_figure(&page, json_object_get(statistics, "outcome"));
    page_values_figure(&page, json_object_get(statistics, "tasks"), "Tasks", "task",
                       page_count(statistics, "episodes"));
    page_values_figure(&page, json_object_get(statistics, "splits"), "Splits", "split",
                       page_count(statistics, "episodes"));
    page_dataset_cards_end(&page.out, NULL);
    HUB_TRY(write_requested(&page, id, hub_request_query(request, "field")));
    write_fields(&page, fields);
    return page_close(&page);
}
