/* The guide: its pages, a list of them, and the sections that hold all words of a search. */
#include "server/page/guide.h"

#include "server/page/frame.h"
#include "server/page/handlers.h"

#include <ctype.h>
#include <strings.h>

enum { EXCERPT_BYTES = 200, EXAMPLES = 50 };

/* What the sources of the guide say for this hub and for one of its datasets. */
static const struct hub_view example_hub = HUB_VIEW("http://hub:8080"),
                             example_id = HUB_VIEW("door-human-v0");

/* ---- this hub's own names ---- */

/* Whether an id means itself in HTML, in an address and in a shell. */
static bool is_plain(struct hub_view id)
{
    for (size_t i = 0; i < id.size; i++)
        if (!isalnum((unsigned char)id.data[i]) && !strchr("-_./", id.data[i]))
            return false;
    return id.size > 0;
}

/* A dataset of this hub that commands may name: the example itself, else one of Minari's, else any. */
static enum hub_status choose_id(struct page *page, struct hub_buf *id)
{
    static const char *const lists[] = {"/api/v1/datasets?status=ready&format=minari-hdf5&limit=%u",
                                        "/api/v1/datasets?status=ready&limit=%u"};
    HUB_CLEANUP(hub_json_decrefp) json_t *example = NULL;
    HUB_TRY(page_fetch_if_any(page, page_url(page, "/api/v1/datasets/%p", example_id), &example));
    struct hub_view found = example ? example_id : HUB_VIEW("");
    HUB_TRY(hub_buf_add_view(id, found, page->err));
    for (size_t l = 0; l < HUB_COUNT(lists) && !id->size; l++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
        size_t i;
        const json_t *dataset;
        HUB_TRY(page_fetch_if_any(page, page_url(page, lists[l], (uint64_t)EXAMPLES), &list));
        json_array_foreach(json_object_get(list, "items"), i, dataset)
        {
            found = page_text(dataset, "id");
            if (!id->size && is_plain(found))
                HUB_TRY(hub_buf_add_view(id, found, page->err));
        }
    }
    return id->size ? HUB_OK : hub_buf_add_view(id, example_id, page->err);
}

static bool starts(struct hub_view text, struct hub_view with)
{
    return text.size >= with.size && memcmp(text.data, with.data, with.size) == 0;
}

/* HTML of the guide, with the names of this hub in the place of the examples. */
static void put_html(struct page *page, struct hub_view html, struct hub_view id)
{
    while (html.size) {
        const char *hub = memmem(html.data, html.size, example_hub.data, example_hub.size);
        const char *dataset = memmem(html.data, html.size, example_id.data, example_id.size);
        const char *next = hub && (!dataset || hub < dataset) ? hub : dataset;
        const size_t plain = next ? (size_t)(next - html.data) : html.size;
        page_put_raw(&page->out, html.data, plain);
        html = (struct hub_view){html.data + plain, html.size - plain};
        if (!html.size)
            return;
        const struct hub_view name = starts(html, example_hub) ? example_hub : example_id;
        page_put_whole(&page->out, next == hub ? hub_view_of(hub_base_url(page->request)) : id);
        html = (struct hub_view){html.data + name.size, html.size - name.size};
    }
}

/* ---- pages ---- */

static struct hub_view title_of(const struct guide_page *guide)
{
    return guide->sections[0].title;
}

static struct hub_view address_of(struct page *page, const struct guide_page *guide,
                                  const struct guide_section *section)
{
    return section == guide->sections ? page_url(page, "/~guide/%s", guide->name)
                                      : page_url(page, "/~guide/%s#%s", guide->name, section->anchor);
}

/* All pages, with the sections of the one that is shown. */
static void write_tree(struct page *page, const struct guide_page *shown)
{
    struct page_out *out = &page->out;
    page_guide_tree_begin(out, NULL);
    for (unsigned p = 0; p < guide_page_count; p++) {
        const struct guide_page *guide = &guide_pages[p];
        const struct hub_view href = address_of(page, guide, guide->sections);
        if (guide != shown) {
            page_guide_leaf(out, &(struct page_guide_leaf){HUB_VIEW("l0"), href, title_of(guide)});
            continue;
        }
        page_guide_leaf_here(out, &(struct page_guide_leaf_here){HUB_VIEW("l0"), href, title_of(guide)});
        for (unsigned s = 1; s < guide->count; s++)
            page_guide_leaf(out, &(struct page_guide_leaf){HUB_VIEW("l1"),
                                                           address_of(page, guide, &guide->sections[s]),
                                                           guide->sections[s].title});
    }
    page_guide_tree_end(out, NULL);
}

static void open_guide(struct page *page, struct hub_view title, const struct guide_page *shown)
{
    page_open(page, title, HUB_VIEW(""));
    page_guide_search(&page->out, &(struct page_guide_search){hub_request_if_taken(page->request, "q")});
    page_guide_columns_begin(&page->out, NULL);
    write_tree(page, shown);
    page_guide_text_begin(&page->out, NULL);
}

static enum hub_status close_guide(struct page *page)
{
    page_guide_text_end(&page->out, NULL);
    page_guide_columns_end(&page->out, NULL);
    return page_close(page);
}

enum hub_status hub_page_guide_page(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(4 * KIB);
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view name = hub_request_capture(request, "path");
    const struct guide_page *shown = NULL;
    for (unsigned p = 0; p < guide_page_count; p++)
        if (hub_view_equal(guide_pages[p].name, name))
            shown = &guide_pages[p];
    if (!shown)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "the guide has no page '%.*s'",
                           (int)HUB_MIN(name.size, (size_t)EXCERPT_BYTES), name.data);
    HUB_TRY(choose_id(&page, &id));
    open_guide(&page, title_of(shown), shown);
    for (unsigned s = 0; s < shown->count; s++)
        put_html(&page, shown->sections[s].html, hub_buf_view(&id));
    return close_guide(&page);
}

/* ---- search ---- */

static struct hub_view next_word(struct hub_view *query)
{
    size_t from = 0, to;
    while (from < query->size && isspace((unsigned char)query->data[from]))
        from++;
    for (to = from; to < query->size && !isspace((unsigned char)query->data[to]);)
        to++;
    const struct hub_view word = {query->data + from, to - from};
    *query = (struct hub_view){query->data + to, query->size - to};
    return word;
}

/* Where a word begins in a text, in either case; NULL: nowhere. */
static const char *find(struct hub_view text, struct hub_view word)
{
    for (size_t i = 0; i + word.size <= text.size; i++)
        if (strncasecmp(text.data + i, word.data, word.size) == 0)
            return text.data + i;
    return NULL;
}

static bool holds_all(const struct guide_page *guide, const struct guide_section *section,
                      struct hub_view query, bool in_title)
{
    for (struct hub_view word = next_word(&query); word.size; word = next_word(&query))
        if (!find(section->title, word) && !find(title_of(guide), word) &&
            (in_title || !find(section->words, word)))
            return false;
    return true;
}

/* A few words of the section around the first word of the query that stands in it. */
static struct hub_view excerpt_of(const struct guide_section *section, struct hub_view query)
{
    const struct hub_view text = section->words;
    const char *at = NULL;
    for (struct hub_view word = next_word(&query); word.size && !at; word = next_word(&query))
        at = find(text, word);
    size_t from = at && at - text.data > EXCERPT_BYTES / 4 ? (size_t)(at - text.data) - EXCERPT_BYTES / 4 : 0;
    while (from && from < text.size && text.data[from - 1] != ' ' && text.data[from - 1] != '\n')
        from++;
    size_t size = HUB_MIN(text.size - from, (size_t)EXCERPT_BYTES);
    while (size && from + size < text.size && text.data[from + size] != ' ' && text.data[from + size] != '\n')
        size--;
    return (struct hub_view){text.data + from, size};
}

static void write_found(struct page *page, const struct guide_page *guide,
                        const struct guide_section *section, struct hub_view query)
{
    const struct page_guide_found found = {address_of(page, guide, section), title_of(guide), section->title};
    page_guide_found_begin(&page->out, &found);
    page_put_text(&page->out, excerpt_of(section, query));
    page_guide_found_end(&page->out, &found);
}

/* Sections whose title holds all words first. */
static void write_results(struct page *page, struct hub_view query)
{
    uint64_t count = 0;
    for (unsigned p = 0; p < guide_page_count; p++)
        for (unsigned s = 0; s < guide_pages[p].count; s++)
            count += holds_all(&guide_pages[p], &guide_pages[p].sections[s], query, false);
    page_title(&page->out, &(struct page_title){HUB_VIEW("Search the guide")});
    page_paragraph(&page->out, &(struct page_paragraph){
                                   HUB_VIEW("lead"), page_url(page,
                                                              count == 1 ? "%u section has all these words"
                                                                         : "%u sections have all these words",
                                                              count)});
    page_guide_list_begin(&page->out, NULL);
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned p = 0; p < guide_page_count; p++)
            for (unsigned s = 0; s < guide_pages[p].count; s++) {
                const struct guide_section *section = &guide_pages[p].sections[s];
                if (holds_all(&guide_pages[p], section, query, true) == (pass == 0) &&
                    holds_all(&guide_pages[p], section, query, false))
                    write_found(page, &guide_pages[p], section, query);
            }
    page_guide_list_end(&page->out, NULL);
}

static void write_list(struct page *page)
{
    page_title(&page->out, &(struct page_title){HUB_VIEW("Guide")});
    page_guide_list_begin(&page->out, NULL);
    for (unsigned p = 0; p < guide_page_count; p++) {
        const struct guide_page *guide = &guide_pages[p];
        const struct page_guide_listed listed = {address_of(page, guide, guide->sections), title_of(guide)};
        page_guide_listed_begin(&page->out, &listed);
        page_put_text(&page->out, guide->lead);
        page_guide_listed_end(&page->out, &listed);
    }
    page_guide_list_end(&page->out, NULL);
}

enum hub_status hub_page_guide(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view query = hub_request_query(request, "q");
    struct hub_view words = query;
    const bool is_search = next_word(&words).size > 0;
    open_guide(&page, is_search ? page_url(&page, "%r - guide", query) : HUB_VIEW("Guide"), NULL);
    if (is_search)
        write_results(&page, query);
    else
        write_list(&page);
    return close_guide(&page);
}
