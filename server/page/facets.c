/* What the catalogue can be narrowed by: see facets.h. */
#include "server/page/facets.h"

#include <string.h>
#include <strings.h>

enum { AT_ONCE = 5, MOST = 25 };

/* In the order in which people think of data. */
static const struct facet {
    const char *title, *name;
    bool folded;
} facets_shown[] = {{"Robot", "robot", false},        {"Task", "task", false},
                    {"Camera", "camera", false},      {"Environment", "env", false},
                    {"Format", "format", false},      {"Problems", "problems", false},
                    {"Status", "status", false},      {"Namespaces", "namespace", false},
                    {"Kind", "kind", true},           {"Author", "author", true},
                    {"Algorithm", "algorithm", true}, {"License", "license", true}};

struct hub_view page_facet_words(const char *name, struct hub_view value)
{
    return strcmp(name, "problems") != 0 ? value
           : hub_view_is(value, "true")  ? HUB_VIEW("with problems")
           : hub_view_is(value, "false") ? HUB_VIEW("without problems")
                                         : value;
}

static bool is_of_spaces(const struct facet *facet)
{
    return strcmp(facet->name, "namespace") == 0;
}

static struct hub_view chosen_of(const struct page *page, const struct facet *facet)
{
    return hub_request_query(page->request, is_of_spaces(facet) ? "prefix" : facet->name);
}

/* ---- values ---- */

static bool is_same(struct hub_view a, struct hub_view b)
{
    return a.size == b.size && a.size && strncasecmp(a.data, b.data, a.size) == 0;
}

static bool has(const json_t *values, struct hub_view chosen)
{
    size_t i;
    const json_t *value;
    json_array_foreach(values, i, value) if (is_same(page_text(value, "value"), chosen)) return true;
    return false;
}

/* A value leads to the datasets that have it, the chosen one back to all. */
static void write_value(struct page *page, const struct facet *facet, struct hub_view value, uint64_t count)
{
    char without[40];
    const struct hub_view shown = page_facet_words(facet->name, value);
    snprintf(without, sizeof without, "cursor %s", facet->name);
    if (is_same(value, hub_request_query(page->request, facet->name)))
        page_catalogue_value_here(
            &page->out, &(struct page_catalogue_value_here){HUB_VIEW("l0"), page_query(page, without, NULL),
                                                            shown, count});
    else
        page_catalogue_value(
            &page->out, &(struct page_catalogue_value){HUB_VIEW("l0"),
                                                       page_query(page, without, facet->name, value, NULL),
                                                       shown, count});
}

/* The chosen value is there even where no dataset has it. */
static void write_values(struct page *page, const struct facet *facet, const json_t *values)
{
    const struct hub_view chosen = chosen_of(page, facet);
    const size_t count = HUB_MIN(json_array_size(values), (size_t)MOST);
    const struct page_catalogue_more more = {count > AT_ONCE ? count - AT_ONCE : 0};
    page_catalogue_values_begin(&page->out, NULL);
    if (chosen.size && !has(values, chosen))
        write_value(page, facet, chosen, 0);
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(values, i);
        if (i == AT_ONCE) {
            page_catalogue_values_end(&page->out, NULL);
            page_catalogue_more_begin(&page->out, &more);
            page_catalogue_values_begin(&page->out, NULL);
        }
        write_value(page, facet, page_text(value, "value"), page_count(value, "count"));
    }
    page_catalogue_values_end(&page->out, NULL);
    if (more.count)
        page_catalogue_more_end(&page->out, &more);
}

/* ---- namespaces ---- */

/* Is `name` within `parent`, which ends with a slash or is empty, and not deeper? */
static bool is_child(struct hub_view name, struct hub_view parent)
{
    return name.size > parent.size && memcmp(name.data, parent.data, parent.size) == 0 &&
           !memchr(name.data + parent.size, '/', name.size - parent.size);
}

static void write_space(struct page *page, struct hub_view name, uint64_t count, unsigned depth)
{
    const struct hub_view here = hub_request_query(page->request, "prefix");
    const char level[] = {'l', (char)('0' + HUB_MIN(depth, 7U)), '\0'};
    const struct hub_view prefix = page_url(page, "%r/", name);
    if (hub_view_equal(prefix, here))
        page_catalogue_value_here(&page->out, &(struct page_catalogue_value_here){
                                                  hub_view_of(level), page_query(page, "prefix cursor", NULL),
                                                  hub_view_behind(name, '/'), count});
    else
        page_catalogue_value(&page->out, &(struct page_catalogue_value){
                                             hub_view_of(level),
                                             page_query(page, "prefix cursor", "prefix", prefix, NULL),
                                             hub_view_behind(name, '/'), count});
}

/* Those right within `parent`; of them the one on the path to what is chosen with what is within it. */
static void write_spaces(struct page *page, const json_t *spaces, struct hub_view parent, unsigned depth)
{
    enum { DEEPEST = 32 };
    const struct hub_view here = hub_request_query(page->request, "prefix");
    size_t i;
    const json_t *space;
    json_array_foreach(spaces, i, space)
    {
        const struct hub_view name = page_text(space, "value");
        if (!is_child(name, parent))
            continue;
        write_space(page, name, page_count(space, "count"), depth);
        if (depth < DEEPEST && here.size > name.size && here.data[name.size] == '/' &&
            memcmp(here.data, name.data, name.size) == 0)
            write_spaces(page, spaces, (struct hub_view){here.data, name.size + 1}, depth + 1);
    }
}

/* ---- all ---- */

/* That none has problems narrows nothing. */
static bool is_shown(const struct page *page, const struct facet *facet, const json_t *values)
{
    const bool chosen = chosen_of(page, facet).size > 0;
    if (strcmp(facet->name, "problems") == 0 && !chosen)
        return has(values, HUB_VIEW("true"));
    return json_array_size(values) || (chosen && !is_of_spaces(facet));
}

static void write_facet(struct page *page, const struct facet *facet, const json_t *values)
{
    const struct page_catalogue_facet open = {hub_view_of(facet->title)};
    const struct page_catalogue_folded folded = {hub_view_of(facet->title)};
    const bool closed = facet->folded && !chosen_of(page, facet).size;
    if (closed)
        page_catalogue_folded_begin(&page->out, &folded);
    else
        page_catalogue_facet_begin(&page->out, &open);
    if (is_of_spaces(facet)) {
        page_catalogue_values_begin(&page->out, NULL);
        write_spaces(page, values, HUB_VIEW(""), 0);
        page_catalogue_values_end(&page->out, NULL);
    } else {
        write_values(page, facet, values);
    }
    if (closed)
        page_catalogue_folded_end(&page->out, &folded);
    else
        page_catalogue_facet_end(&page->out, &open);
}

void page_facets(struct page *page, const json_t *facets, unsigned in_use)
{
    const struct page_catalogue_filters filters = {in_use ? page_url(page, "Filters (%u)", (uint64_t)in_use)
                                                          : HUB_VIEW("Filters")};
    page_catalogue_filters_begin(&page->out, &filters);
    for (size_t f = 0; f < HUB_COUNT(facets_shown); f++) {
        const json_t *values = json_object_get(facets, facets_shown[f].name);
        if (is_shown(page, &facets_shown[f], values))
            write_facet(page, &facets_shown[f], values);
    }
    page_catalogue_filters_end(&page->out, &filters);
}
