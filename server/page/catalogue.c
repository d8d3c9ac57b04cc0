/* The catalogue: search, filters, namespaces and the table of datasets. And "/", which scripts read as
 * JSON. */
#include "server/api/handlers.h"
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "server/page/posters.h"
#include "server/page/problems.h"
#include "server/page/svg.h"

static const char *const filters[] = {"format",   "status", "problems",  "env",    "task",    "robot",
                                      "camera",   "author", "algorithm", "kind",   "license", "action_dim",
                                      "loadable", "for",    "latest",    "prefix", NULL};

enum { PROBLEMS = 2 }; /* of these */

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
    char caption[80];
    const uint64_t total = page_count(list, "total");
    snprintf(caption, sizeof caption, "%llu dataset%s", (unsigned long long)total, total == 1 ? "" : "s");
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
    page_sort_head(page, "", "Modified (UTC)", "modified");
    page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Status")});
    page_thead_end(out, NULL);
    page_tbody_begin(out, NULL);
    size_t i;
    const json_t *dataset;
    json_array_foreach(json_object_get(list, "items"), i, dataset) write_row(page, dataset, seen);
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
}

static void write_select(struct page *page, const json_t *facets, const char *label, const char *name)
{
    struct page_out *out = &page->out;
    const struct hub_view chosen = hub_request_query(page->request, name);
    const struct page_catalogue_select select = {hub_view_of(label), hub_view_of(name)};
    size_t i;
    const json_t *value;
    page_catalogue_select_begin(out, &select);
    json_array_foreach(json_object_get(facets, name), i, value)
    {
        const struct hub_view text = page_text(value, "value");
        const struct hub_view shown = page_url(page, "%r (%u)", text, page_count(value, "count"));
        if (hub_view_equal(text, chosen))
            page_option_chosen(out, &(struct page_option_chosen){text, shown});
        else
            page_option(out, &(struct page_option){text, shown});
    }
    page_catalogue_select_end(out, &select);
}

/* Which of two words a truth value stands for here. */
static struct hub_view problem_words(struct hub_view value)
{
    return hub_view_is(value, "true")    ? HUB_VIEW("with problems")
           : hub_view_is(value, "false") ? HUB_VIEW("without")
                                         : value;
}

/* Both are offered, however many there are. */
static void write_problems(struct page *page, const json_t *facets)
{
    static const char *const values[] = {"true", "false"};
    struct page_out *out = &page->out;
    const struct hub_view chosen = hub_request_query(page->request, "problems");
    const struct page_catalogue_select select = {HUB_VIEW("Problems"), HUB_VIEW("problems")};
    page_catalogue_select_begin(out, &select);
    for (size_t v = 0; v < HUB_COUNT(values); v++) {
        const struct hub_view value = hub_view_of(values[v]);
        uint64_t count = 0;
        size_t i;
        const json_t *item;
        json_array_foreach(json_object_get(facets, "problems"), i, item) count +=
            hub_view_equal(page_text(item, "value"), value) ? page_count(item, "count") : 0;
        const struct hub_view shown = page_url(page, "%r (%u)", problem_words(value), count);
        if (hub_view_equal(value, chosen))
            page_option_chosen(out, &(struct page_option_chosen){value, shown});
        else
            page_option(out, &(struct page_option){value, shown});
    }
    page_catalogue_select_end(out, &select);
}

static void write_search(struct page *page, const json_t *facets)
{
    struct page_out *out = &page->out;
    const struct page_catalogue_search form = {hub_request_query(page->request, "q"), HUB_VIEW("Datasets")};
    page_catalogue_search_begin(out, &form);
    write_select(page, facets, "Format", "format");
    write_select(page, facets, "Status", "status");
    write_problems(page, facets);
    for (unsigned i = 3; filters[i]; i++) /* those without a list stay as they are */
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
                                           i == PROBLEMS ? problem_words(value) : value});
    }
    if (any)
        page_chips_end(out, &chips);
}

static void write_tree(struct page *page, const json_t *spaces, uint64_t all)
{
    struct page_out *out = &page->out;
    const struct hub_view here = hub_request_query(page->request, "prefix");
    const struct page_catalogue_facet tree = {HUB_VIEW("Namespaces")};
    const json_t *items = json_object_get(spaces, "items"), *space;
    if (!json_array_size(items))
        return;
    page_catalogue_facet_begin(out, &tree);
    if (here.size)
        page_catalogue_space(out, &(struct page_catalogue_space){HUB_VIEW("l0"),
                                                                 page_query(page, "prefix cursor", NULL),
                                                                 HUB_VIEW("all"), all});
    size_t i;
    json_array_foreach(items, i, space)
    {
        const struct hub_view name = page_text(space, "namespace"), prefix = page_url(page, "%r/", name);
        unsigned depth = 0;
        for (size_t c = 0; c < name.size; c++)
            depth += name.data[c] == '/';
        char level[] = {'l', (char)('0' + HUB_MIN(depth, 3U)), '\0'};
        const struct hub_view href = page_query(page, "prefix cursor", "prefix", prefix, NULL);
        const struct hub_view shown = hub_view_behind(name, '/');
        if (hub_view_equal(prefix, here))
            page_catalogue_space_here(out,
                                      &(struct page_catalogue_space_here){hub_view_of(level), href, shown,
                                                                          page_count(space, "datasets")});
        else
            page_catalogue_space(out, &(struct page_catalogue_space){hub_view_of(level), href, shown,
                                                                     page_count(space, "datasets")});
    }
    page_catalogue_facet_end(out, &tree);
}

/* What the datasets that are found say of themselves, each with its most frequent values. */
static void write_facets(struct page *page, const json_t *facets)
{
    enum { MOST = 8 };
    static const char *const shown[][2] = {
        {"Robot", "robot"}, {"Environment", "env"}, {"Task", "task"},           {"Camera", "camera"},
        {"Kind", "kind"},   {"Author", "author"},   {"Algorithm", "algorithm"}, {"License", "license"}};
    for (size_t f = 0; f < HUB_COUNT(shown); f++) {
        const struct page_catalogue_facet facet = {hub_view_of(shown[f][0])};
        const json_t *values = json_object_get(facets, shown[f][1]), *value;
        size_t i;
        if (!json_array_size(values) || hub_request_query(page->request, shown[f][1]).size)
            continue;
        page_catalogue_facet_begin(&page->out, &facet);
        json_array_foreach(values, i, value)
        {
            const struct hub_view text = page_text(value, "value");
            if (i < MOST)
                page_catalogue_space(&page->out,
                                     &(struct page_catalogue_space){
                                         HUB_VIEW("l0"), page_query(page, "cursor", shown[f][1], text, NULL),
                                         text, page_count(value, "count")});
        }
        page_catalogue_facet_end(&page->out, &facet);
    }
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

static enum hub_status show(struct page *page, struct hub_view api, const json_t *list, const json_t *spaces,
                            const json_t *status)
{
    struct page_out *out = &page->out;
    const json_t *counts = json_object_get(status, "datasets");
    page_open(page, HUB_VIEW("Datasets"), api);
    if (!page->request->query_count && !page_count(list, "total")) {
        write_empty(page);
        return page_close(page);
    }
    page_title(out, &(struct page_title){HUB_VIEW("Datasets")});
    page_facts_begin(out, NULL);
    page_fact_count(out, &(struct page_fact_count){page_count(counts, "total"), HUB_VIEW("datasets")});
    page_fact_count(out, &(struct page_fact_count){page_count(counts, "episodes"), HUB_VIEW("episodes")});
    page_fact_count(out, &(struct page_fact_count){page_count(counts, "steps"), HUB_VIEW("steps")});
    page_fact_bytes(out, &(struct page_fact_bytes){page_count(counts, "size"), HUB_VIEW("in files")});
    page_facts_end(out, NULL);
    page_cameras_style(out, NULL); /* a search as one types may find cameras, where there were none */
    page_catalogue_columns_begin(out, NULL);
    page_catalogue_main_begin(out, NULL);
    write_search(page, json_object_get(list, "facets"));
    page_catalogue_results_begin(out, NULL);
    write_chips(page);
    if (page_count(list, "total"))
        write_table(page, list);
    else
        write_empty(page);
    page_pages(page, list);
    page_catalogue_results_end(out, NULL);
    page_catalogue_main_end(out, NULL);
    page_catalogue_tree_begin(out, NULL);
    write_tree(page, spaces, page_count(counts, "total"));
    write_facets(page, json_object_get(list, "facets"));
    page_catalogue_tree_end(out, NULL);
    page_catalogue_columns_end(out, NULL);
    page_posters(page);
    return page_close(page);
}

static enum hub_status show_html(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *spaces = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *status = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    request->parameters++; /* a browser sends no others */
    HUB_TRY(hub_request_check(request, err));
    const struct hub_view limit = hub_request_query(request, "limit");
    const struct hub_view query =
        page_query(&page, "facets limit include", "facets",
                   HUB_VIEW("format,status,problems,robot,env,task,camera,kind,author,algorithm,license"),
                   "limit", limit.size ? limit : HUB_VIEW("50"), "include", HUB_VIEW("returns"), NULL);
    const struct hub_view api = page_url(&page, "/api/v1/datasets%r", query);
    HUB_TRY(page_fetch(&page, api, &list));
    HUB_TRY(page_fetch_if_any(&page, HUB_VIEW("/api/v1/namespaces?limit=200"), &spaces));
    HUB_TRY(page_fetch_if_any(&page, HUB_VIEW("/api/v1/status"), &status));
    return show(&page, api, list, spaces, status);
}

enum hub_status hub_page_front(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_TRY(hub_response_header(response, err, "Vary", "Accept"));
    return hub_accepts_html(request) ? show_html(request, response, err)
                                     : hub_front_show(request, response, err);
}
