/* The catalogue: search, filters, namespaces and the table of datasets. And "/", which scripts read as
 * JSON. */
#include "server/api/handlers.h"
#include "server/page/facets.h"
#include "server/page/handlers.h"
#include "server/page/posters.h"
#include "server/page/problems.h"
#include "server/page/svg.h"

static const char *const filters[] = {"format",   "status", "problems",  "env",    "task",    "robot",
                                      "camera",   "author", "algorithm", "kind",   "license", "action_dim",
                                      "loadable", "for",    "latest",    "prefix", NULL};

/* How they are spread; the next look at the catalogue counts what this one left out. */
static void write_returns(struct page_out *out, const json_t *returns)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf bars = HUB_BUF_INIT(KIB);
    const json_t *edges = json_object_get(returns, "edges");
    if (edges && !page_bars_path(json_object_get(returns, "counts"), &bars))
        page_catalogue_returns(out, &(struct page_catalogue_returns){
                                        page_double_of(json_array_get(edges, 0)),
                                        page_double_of(json_array_get(edges, json_array_size(edges) - 1)),
                                        hub_buf_view(&bars)});
    else
        page_catalogue_no_returns(out, &(struct page_catalogue_no_returns){
                                           page_flag(returns, "pending") ? HUB_VIEW("...") : HUB_VIEW("")});
}

static void write_row(struct page *page, const json_t *dataset, bool seen)
{
    struct page_out *out = &page->out;
    const struct hub_view id = page_text(dataset, "id");
    const struct hub_view reason = page_text(dataset, "reason"), about = page_text(dataset, "description");
    const struct page_catalogue_row row = {page_url(page, "/d/%p", id), id, reason.size ? reason : about};
    page_catalogue_row_begin(out, &row);
    if (seen)
        page_dataset_poster(page, dataset);
    write_returns(out, json_object_get(dataset, "returns"));
    if (json_object_get(dataset, "episodes"))
        page_catalogue_figures(out, &(struct page_catalogue_figures){page_count(dataset, "episodes"),
                                                                     page_count(dataset, "steps")});
    else
        page_catalogue_no_figures(out, NULL);
    page_catalogue_rest(
        out, &(struct page_catalogue_rest){page_count(dataset, "size"), page_text(dataset, "format"),
                                           page_text(dataset, "modified"), page_status_class(dataset),
                                           page_status_words(page, dataset)});
    page_catalogue_row_end(out, &row);
}

static void write_table(struct page *page, const json_t *list)
{
    struct page_out *out = &page->out;
    const bool seen = page_any_camera(list);
    char caption[80], count[PAGE_COUNT_BYTES];
    const uint64_t total = page_count(list, "total");
    page_count_text(total, count);
    snprintf(caption, sizeof caption, "%s dataset%s", count, total == 1 ? "" : "s");
    const struct page_table table = {HUB_VIEW("cardlike"), hub_view_of(caption)};
    page_table_begin(out, &table);
    page_thead_begin(out, NULL);
    page_sort_head(page, "", "Name", "id");
    if (seen)
        page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Camera")});
    page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Returns")});
    page_sort_head(page, "n", "Episodes", "episodes");
    page_sort_head(page, "n", "Steps", "steps");
    page_sort_head(page, "n", "Size", "size");
    page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Format")});
    page_sort_head(page, "spare", "Modified (UTC)", "modified");
    page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Status")});
    page_thead_end(out, NULL);
    page_tbody_begin(out, NULL);
    size_t i;
    const json_t *dataset;
    json_array_foreach(json_object_get(list, "items"), i, dataset) write_row(page, dataset, seen);
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
}

static void write_search(struct page *page)
{
    struct page_out *out = &page->out;
    const struct page_catalogue_search form = {hub_request_query(page->request, "q"), HUB_VIEW("Datasets")};
    page_catalogue_search_begin(out, &form);
    for (unsigned i = 0; filters[i]; i++)
        if (hub_request_query(page->request, filters[i]).size)
            page_hidden(out, &(struct page_hidden){hub_view_of(filters[i]),
                                                   hub_request_query(page->request, filters[i])});
    page_catalogue_search_end(out, &form);
}

static void write_chips(struct page *page)
{
    struct page_out *out = &page->out;
    const struct page_chips chips = {HUB_VIEW("Filters in use")};
    bool any = false;
    for (unsigned i = 0; filters[i]; i++) {
        const struct hub_view value = hub_request_query(page->request, filters[i]);
        if (!value.size)
            continue;
        if (!any)
            page_chips_begin(out, &chips);
        any = true;
        char without[40];
        snprintf(without, sizeof without, "cursor %s", filters[i]);
        page_chip(out, &(struct page_chip){page_query(page, without, NULL), hub_view_of(filters[i]),
                                           page_facet_words(filters[i], value)});
    }
    if (any)
        page_chips_end(out, &chips);
}

static void write_empty(struct page *page)
{
    struct page_out *out = &page->out;
    if (!page->request->query_count) {
        page_catalogue_empty(out, &(struct page_catalogue_empty){HUB_VIEW(
                                      "minari-hub mirror add gcp://minari-remote --prefix D4RL/door/")});
        return;
    }
    const struct page_note note = {HUB_VIEW(""),
                                   HUB_VIEW("Nothing matches. Use fewer words, or remove a filter.")};
    page_note_begin(out, &note);
    page_link(out, &(struct page_link){HUB_VIEW("/"), HUB_VIEW("All datasets")});
    page_note_end(out, &note);
}

static unsigned filters_in_use(const struct page *page)
{
    unsigned count = 0;
    for (unsigned i = 0; filters[i]; i++)
        count += hub_request_query(page->request, filters[i]).size > 0;
    return count;
}

/* What the whole hub has; a choice has its own count above the table. */
static void write_totals(struct page *page, const json_t *counts)
{
    struct page_out *out = &page->out;
    const uint64_t total = page_count(counts, "total"), remote = page_count(counts, "remote");
    page_facts_begin(out, NULL);
    page_fact_count(out, &(struct page_fact_count){total - HUB_MIN(remote, total),
                                                   remote ? HUB_VIEW("here") : HUB_VIEW("datasets")});
    if (remote)
        page_fact_count(out, &(struct page_fact_count){remote, HUB_VIEW("remote")});
    page_fact_count(out, &(struct page_fact_count){page_count(counts, "episodes"), HUB_VIEW("episodes")});
    page_fact_count(out, &(struct page_fact_count){page_count(counts, "steps"), HUB_VIEW("steps")});
    page_fact_bytes(out, &(struct page_fact_bytes){page_count(counts, "size"), HUB_VIEW("in files")});
    page_facts_end(out, NULL);
}

static void write_results(struct page *page, const json_t *list)
{
    page_catalogue_results_begin(&page->out, NULL);
    write_chips(page);
    if (page_count(list, "total"))
        write_table(page, list);
    else
        write_empty(page);
    page_pages(page, list);
    page_catalogue_results_end(&page->out, NULL);
}

static enum hub_status show(struct page *page, struct hub_view api, const json_t *list, const json_t *status)
{
    const unsigned in_use = filters_in_use(page);
    page_open(page, HUB_VIEW("Datasets"), api);
    if (!page->request->query_count && !page_count(list, "total")) {
        write_empty(page);
        return page_close(page);
    }
    page_title(&page->out, &(struct page_title){HUB_VIEW("Datasets")});
    if (!in_use && !hub_request_query(page->request, "q").size)
        write_totals(page, json_object_get(status, "datasets"));
    write_search(page);
    page_cameras_style(&page->out, NULL); /* a search as one types may find cameras, where there were none */
    page_catalogue_columns_begin(&page->out, NULL);
    page_facets(page, json_object_get(list, "facets"), in_use);
    write_results(page, list);
    page_catalogue_columns_end(&page->out, NULL);
    page_posters(page);
    return page_close(page);
}

static enum hub_status show_html(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *status = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    request->parameters++; /* a browser sends no others */
    HUB_TRY(hub_request_check(request, err));
    const struct hub_view limit = hub_request_query(request, "limit");
    const struct hub_view query =
        page_query(&page, "facets limit include", "facets", HUB_VIEW(PAGE_FACETS), "limit",
                   limit.size ? limit : HUB_VIEW("50"), "include", HUB_VIEW("returns"), NULL);
    const struct hub_view api = page_url(&page, "/api/v1/datasets%r", query);
    HUB_TRY(page_fetch(&page, api, &list));
    HUB_TRY(page_fetch_if_any(&page, HUB_VIEW("/api/v1/status"), &status));
    return show(&page, api, list, status);
}

enum hub_status hub_page_front(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept"));
    return hub_accepts_html(request) ? show_html(request, response, err)
                                     : hub_front_show(request, response, err);
}
