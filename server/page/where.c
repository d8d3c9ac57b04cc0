/* Filters of episodes, and why one chooses none: see where.h. */
#include "server/page/where.h"

#include "server/page/lanes.h"
#include "server/page/names.h"
#include "storage/text/number.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_STEPS_OF_JERK = 10, LONGEST_TASK = 40 };

/* ---- examples ---- */

static void write_example(struct page *page, struct hub_view where)
{
    page_where_example(&page->out, &(struct page_where_example){
                                       page_query(page, "where cursor", "where", where, NULL), where});
}

/* Of a number that differs among the episodes; as few digits as still choose some. */
static void add_number(struct page *page, const json_t *statistics, const char *name, const char *op,
                       const char *quantile)
{
    enum { FEW = 3, ALL = 17 };
    const json_t *field = json_object_get(json_object_get(statistics, "fields"), name);
    const double value = page_double(json_object_get(field, "quantiles"), quantile),
                 low = page_double(field, "min"), high = page_double(field, "max");
    char text[64], digits[HUB_NUMBER_CHARS];
    if (!isfinite(value) || !(low < high))
        return;
    double near = NAN;
    for (int precision = FEW; precision <= ALL && !(near >= low && near <= high); precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        near = strtod(text, NULL);
    }
    const size_t size = hub_number_double(near, digits);
    write_example(page, page_url(page, "%r %r %r", hub_view_of(name), hub_view_of(op),
                                 (struct hub_view){digits, size}));
}

/* How some episodes ended: badly before well, as that is what one looks for. */
static void add_outcome(struct page *page, const json_t *statistics, const char *name, const char *first)
{
    const json_t *counts = json_object_get(json_object_get(statistics, "outcome"), name);
    const char *other = strcmp(first, "false") == 0 ? "true" : "false";
    if (page_count(counts, first) + page_count(counts, other))
        write_example(page, page_url(page, "%r = %r", hub_view_of(name),
                                     hub_view_of(page_count(counts, first) ? first : other)));
}

/* One of several tasks, where it is short and needs no quoting. */
static void add_task(struct page *page, const json_t *statistics)
{
    const json_t *values = json_object_get(json_object_get(statistics, "tasks"), "values");
    const struct hub_view task = page_text(json_array_get(values, 0), "value");
    if (json_array_size(values) > 1 && task.size && task.size <= LONGEST_TASK &&
        !memchr(task.data, '\'', task.size))
        write_example(page, page_url(page, "task = '%r'", task));
}

/* Actions of real numbers that move somewhere; `odd`: values that are not finite. */
static void look_at_fields(const json_t *dataset, const json_t *statistics, bool *moves, bool *odd)
{
    const char *path;
    json_t *field;
    *moves = *odd = false;
    json_object_foreach(json_object_get(statistics, "fields"), path, field)
    {
        const json_t *kinds = json_object_get(field, "nonfinite");
        const struct hub_view dtype = page_text(page_field_of(dataset, hub_view_of(path)), "dtype");
        if (!json_object_get(field, "role"))
            continue;
        *odd |= page_count(kinds, "nan") + page_count(kinds, "+inf") + page_count(kinds, "-inf") > 0;
        *moves |= hub_view_is(page_text(field, "role"), "action") && hub_view_starts(dtype, "float") &&
                  json_array_size(json_object_get(field, "constant")) <
                      json_array_size(json_object_get(field, "min"));
    }
}

/* What is measured has values once all of it is. */
static void add_measured(struct page *page, const json_t *dataset, const json_t *statistics)
{
    bool moves, odd;
    const json_t *steps = json_object_get(json_object_get(statistics, "fields"), "steps");
    if (!page_flag(json_object_get(statistics, "coverage"), "complete"))
        return;
    look_at_fields(dataset, statistics, &moves, &odd);
    if (odd)
        write_example(page, HUB_VIEW("nonfinite > 0"));
    if (moves && page_double(steps, "max") >= LEAST_STEPS_OF_JERK)
        write_example(page, HUB_VIEW("jerk > 0.5"));
}

void page_where_examples(struct page *page, const json_t *dataset, const json_t *statistics)
{
    if (!page_count(statistics, "episodes"))
        return;
    page_where_examples_begin(&page->out, NULL);
    add_number(page, statistics, "steps", ">=", "0.75");
    add_number(page, statistics, "return", "<=", "0.25");
    add_outcome(page, statistics, "success", "false");
    add_outcome(page, statistics, "truncated", "true");
    add_task(page, statistics);
    add_measured(page, dataset, statistics);
    page_where_examples_end(&page->out, NULL);
}

/* ---- how much is measured ---- */

static struct page_where_partial measured_of(const json_t *answer)
{
    const json_t *measured = json_object_get(answer, "measured");
    return (struct page_where_partial){(uint64_t)json_integer_value(json_array_get(measured, 0)),
                                       (uint64_t)json_integer_value(json_array_get(measured, 1))};
}

bool page_where_is_measured(const json_t *answer)
{
    const struct page_where_partial measured = measured_of(answer);
    return measured.done == measured.of;
}

void page_where_note(struct page *page, const json_t *answer)
{
    const struct page_where_partial measured = measured_of(answer);
    if (measured.done != measured.of)
        page_where_partial(&page->out, &measured);
}

/* ---- why none is chosen ---- */

/* How many episodes a filter chooses, none of one that names what is not there; `measured`: whether what it
 * names is, or NULL. */
static enum hub_status fetch_count(struct page *page, struct hub_view where, uint64_t *out, bool *measured)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_TRY(page_fetch_if_any(
        page, page_url(page, "/api/v1/datasets/%p/episodes?limit=1&where=%s", page_id(page), where), &list));
    *out = page_count(list, "total");
    if (measured)
        *measured = page_where_is_measured(list);
    return HUB_OK;
}

/* A name that no episode has; an attribute of that name, which is written in quotes, may be meant. */
static enum hub_status write_name(struct page *page, const char *spelled, bool plain, uint64_t all)
{
    uint64_t with = 0, attributes = 0;
    bool measured;
    const struct hub_view name = hub_view_of(spelled);
    HUB_TRY(fetch_count(page, page_url(page, "%r is not null", name), &with, &measured));
    if (with)
        return HUB_OK;
    if (plain)
        HUB_TRY(fetch_count(page, page_url(page, "\"%r\" is not null", name), &attributes, NULL));
    page_item(&page->out,
              &(struct page_item){page_url(
                  page, measured ? "No episode here has a value for %r." : "%r is not measured yet.", name)});
    if (!attributes)
        return HUB_OK;
    const struct hub_view where = page_url(page, "\"%r\" is not null", name);
    page_where_instead(
        &page->out,
        &(struct page_where_instead){
            page_url(page, "%n of %n have an attribute of that name, written in quotes:", attributes, all),
            page_query(page, "where cursor", "where", where, NULL), where});
    return HUB_OK;
}

static enum hub_status write_names(struct page *page, uint64_t all)
{
    HUB_CLEANUP(hub_freep) struct page_names *names = NULL;
    HUB_TRY(hub_new(&names, 1, sizeof *names, page->err));
    HUB_TRY(page_names_of_where(hub_request_query(page->request, "where"), names, page->err));
    if (!names->count)
        return HUB_OK;
    page_list_begin(&page->out, NULL);
    for (unsigned i = 0; i < names->count; i++)
        HUB_TRY(write_name(page, names->spelled[i], names->plain[i], all));
    page_list_end(&page->out, NULL);
    return HUB_OK;
}

static void write_chips(struct page *page)
{
    static const char *const filters[] = {"where", "split", "task", "name"};
    const struct page_chips chips = {HUB_VIEW("Filters in use")};
    page_chips_begin(&page->out, &chips);
    for (size_t i = 0; i < HUB_COUNT(filters); i++) {
        const struct hub_view value = hub_request_if_taken(page->request, filters[i]);
        char without[40];
        snprintf(without, sizeof without, "cursor at %s", filters[i]);
        if (value.size)
            page_chip(&page->out,
                      &(struct page_chip){page_query(page, without, NULL), hub_view_of(filters[i]), value});
    }
    page_chips_end(&page->out, &chips);
}

enum hub_status page_where_empty(struct page *page, const json_t *dataset, const json_t *list)
{
    const uint64_t all = page_count(dataset, "episodes");
    const struct page_note note = {HUB_VIEW(""), !all ? HUB_VIEW("None of its episodes can be read.")
                                                 : page_where_is_measured(list)
                                                     ? HUB_VIEW("No episode matches. Remove a filter:")
                                                     : HUB_VIEW("No episode matches yet. Remove a filter:")};
    page_note_begin(&page->out, &note);
    if (all) {
        write_chips(page);
        HUB_TRY(write_names(page, all));
    }
    page_note_end(&page->out, &note);
    return HUB_OK;
}
