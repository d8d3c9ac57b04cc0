/* An episode: how it ended, its curves beside what the cameras saw, and the rows at a step. */
#include "server/page/episodes.h"
#include "server/page/handlers.h"
#include "server/page/lanes.h"
#include "server/page/leaves.h"
#include "server/page/media.h"
#include "server/page/recipes.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEAST_WINDOW = 8, MOST_VALUES = 40, SHOWN_NUMBERS = 12 };

struct episode {
    struct page *page;
    struct hub_view id;
    uint64_t number, steps, at, from, to;
    json_t *dataset, *document, *media, *around;
};

static struct page_lanes lanes_of(const struct episode *e)
{
    return (struct page_lanes){
        e->page,    page_id_of(e->page, e->dataset), e->number, e->steps, e->at, e->from, e->to, e->dataset,
        e->document};
}

static void dispose(struct episode *e)
{
    json_decref(e->dataset);
    json_decref(e->document);
    json_decref(e->media);
    json_decref(e->around);
}

/* ---- around it ---- */

/* The first number of another page of the list. */
static enum hub_status fetch_neighbour(struct episode *e, const char *which, uint64_t *out, bool *any)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    const struct hub_view query = page_query_of(page_text(e->around, which));
    *any = false;
    if (!query.size)
        return HUB_OK;
    HUB_TRY(
        page_fetch_if_any(e->page, page_url(e->page, "/api/v1/datasets/%p/episodes%r", e->id, query), &list));
    const json_t *item = json_array_get(json_object_get(list, "items"), 0);
    *any = item != NULL;
    *out = page_count(item, "number");
    return HUB_OK;
}

static enum hub_status write_neighbours(struct episode *e)
{
    struct page *page = e->page;
    const struct hub_view query = page_query(page, "at from to lanes rate revision", NULL);
    const struct hub_view carried = query.size > 1 ? query : HUB_VIEW("");
    const struct hub_view shown =
        page_query(page, "revision", NULL); /* the same fields, window, step and speed */
    const struct hub_view onward = shown.size > 1 ? shown : HUB_VIEW("");
    uint64_t prev, next;
    bool has_prev, has_next;
    HUB_TRY(fetch_neighbour(e, "prev", &prev, &has_prev));
    HUB_TRY(fetch_neighbour(e, "next", &next, &has_next));
    page_episode_nav_begin(&page->out, NULL);
    if (has_prev)
        page_pager_link(&page->out, &(struct page_pager_link){
                                        page_url(page, "@/d/%p/episodes/%u%r", e->id, prev, onward),
                                        HUB_VIEW("prev"), page_url(page, "\xE2\x86\x90 Episode %u", prev)});
    if (has_next)
        page_pager_link(&page->out, &(struct page_pager_link){
                                        page_url(page, "@/d/%p/episodes/%u%r", e->id, next, onward),
                                        HUB_VIEW("next"), page_url(page, "Episode %u \xE2\x86\x92", next)});
    page_pager_link(&page->out, &(struct page_pager_link){
                                    page_url(page, "@/d/%p/episodes%r", e->id, carried), HUB_VIEW("up"),
                                    carried.size ? HUB_VIEW("Back to the list") : HUB_VIEW("All episodes")});
    page_pager_link(&page->out,
                    &(struct page_pager_link){page_url(page, "@/d/%p/~compare?e=%u", e->id, e->number),
                                              HUB_VIEW("nofollow"), HUB_VIEW("Compare with others")});
    page_episode_nav_end(&page->out, NULL);
    return HUB_OK;
}

static void write_head(struct episode *e)
{
    struct page *page = e->page;
    struct page_out *out = &page->out;
    const char *outcome = page_outcome_of(e->document);
    const double fps = page_double(e->dataset, "fps");
    const json_t *measured = json_object_get(e->document, "measured"),
                 *seed = json_object_get(e->document, "seed");
    const json_t *of = json_object_get(e->document, "return") ? e->document : measured;
    const double sum = page_double(of, "return"); /* a text where it is infinite or NaN */
    page_facts_begin(out, NULL);
    if (json_object_get(of, "return"))
        page_fact_real(out, &(struct page_fact_real){sum, HUB_VIEW("return")});
    page_fact_count(out, &(struct page_fact_count){e->steps, HUB_VIEW("steps")});
    if (fps > 0)
        page_fact_real(out, &(struct page_fact_real){(double)e->steps / fps, HUB_VIEW("seconds")});
    if (*outcome)
        page_fact_text(out, &(struct page_fact_text){hub_view_of(outcome), HUB_VIEW("outcome")});
    if (page_text(e->document, "task").size)
        page_fact_text(out, &(struct page_fact_text){page_text(e->document, "task"), HUB_VIEW("task")});
    const struct hub_view seed_text = json_is_integer(seed)
                                          ? page_url(page, "%u", (uint64_t)json_integer_value(seed))
                                          : page_text(e->document, "seed"); /* of 64 bits */
    if (seed_text.size)
        page_fact_text(out, &(struct page_fact_text){seed_text, HUB_VIEW("seed")});
    page_facts_end(out, NULL);
}

/* ---- the rows at a step ---- */

/* A row of JSON that its writer cut off at the width of its sensor is null, as an empty one is. */
static struct hub_view words_for_null(struct episode *e, const json_t *field)
{
    const json_t *here = page_field_of(e->document, page_text(field, "path")),
                 *width = json_array_get(json_object_get(here, "shape"), 0);
    if (!hub_view_is(page_text(field, "type"), "padded-json"))
        return HUB_VIEW("null");
    return json_is_integer(width) ? page_url(e->page, "not JSON: empty, or cut off by its writer at %u bytes",
                                             (uint64_t)json_integer_value(width))
                                  : HUB_VIEW("not JSON: empty, or cut off by its writer");
}

/* As stored: text as it is, numbers as JSON writes them, the first of many. */
static void write_value(struct episode *e, const json_t *field, uint64_t row, const json_t *value)
{
    const struct hub_view path = page_text(field, "path");
    HUB_CLEANUP(hub_json_decrefp) json_t *shown = json_is_array(value) ? json_array() : NULL;
    const size_t count = json_array_size(value);
    for (size_t i = 0; shown && i < HUB_MIN(count, (size_t)SHOWN_NUMBERS); i++)
        (void)json_array_append(shown, json_array_get(value, i));
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(shown ? shown : value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
    const struct hub_view whole =
        text ? hub_view_of(text) : (struct hub_view){json_string_value(value), json_string_length(value)};
    const struct hub_view said = count > SHOWN_NUMBERS
                                     ? page_url(e->page, "%r \xE2\x80\xA6 %u in all", whole, (uint64_t)count)
                                     : whole;
    const struct hub_view none = words_for_null(e, field);
    const struct page_value_row item = {
        path, (int64_t)HUB_MAX(count, (size_t)1), none, json_is_null(value) ? none : said,
        page_url(e->page, "@/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=json", e->id, e->number, path,
                 row)};
    page_value_row_begin(&e->page->out, &item);
    if (hub_view_is(page_text(field, "type"), "padded-json")) {
        const struct page_lanes lanes = lanes_of(e);
        page_leaves(&lanes, field, value);
    }
    page_value_row_end(&e->page->out, &item);
    free(text);
}

/* Whether a field has a row at this step that text can show. */
static bool has_row(const struct episode *e, const json_t *field, uint64_t *row)
{
    const struct hub_view type = page_text(field, "type");
    const json_t *here = page_field_of(e->document, page_text(field, "path"));
    *row = e->at + hub_view_is(page_text(field, "axis"), "shifted");
    return here && *row < (uint64_t)page_double_of(json_array_get(json_object_get(here, "shape"), 0)) &&
           !hub_view_is(type, "image") && !hub_view_is(type, "bytes");
}

/* Those without a part in learning are left out first where there are too many. */
static bool is_aside(const json_t *field)
{
    const struct hub_view role = page_text(field, "role");
    return !role.size || hub_view_is(role, "info") || hub_view_is(role, "other");
}

static enum hub_status write_rows(struct episode *e, uint64_t *left_out)
{
    const json_t *fields = json_object_get(e->dataset, "fields"), *field;
    unsigned first = 0, shown[2] = {0, 0};
    uint64_t row;
    size_t i;
    json_array_foreach(fields, i, field) first += has_row(e, field, &row) && !is_aside(field);
    first = HUB_MIN(first, (unsigned)MOST_VALUES);
    *left_out = 0;
    json_array_foreach(fields, i, field)
    {
        HUB_CLEANUP(hub_json_decrefp) json_t *value = NULL;
        const bool aside = is_aside(field);
        if (!has_row(e, field, &row))
            continue;
        if (shown[aside]++ >= (aside ? MOST_VALUES - first : first)) {
            ++*left_out;
            continue;
        }
        HUB_TRY(page_fetch_if_any(
            e->page,
            page_url(e->page, "@/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=json&nonfinite=string",
                     e->id, e->number, page_text(field, "path"), row),
            &value));
        if (value)
            write_value(e, field, row, value);
    }
    return HUB_OK;
}

static enum hub_status write_values(struct episode *e)
{
    struct page *page = e->page;
    struct page_out *out = &page->out;
    const struct page_section section = {HUB_VIEW("values"), page_url(page, "At step %u", e->at)};
    const struct hub_view action = page_url(page, "@/d/%p/episodes/%u", e->id, e->number);
    const uint64_t last = e->steps ? e->steps - 1 : 0;
    const struct page_episode_at form = {action, (int64_t)e->at, (int64_t)last};
    const struct page_table table = {HUB_VIEW("values"), HUB_VIEW("Rows as stored")};
    uint64_t left_out;
    page_section_begin(out, &section);
    page_episode_at_begin(out, &form);
    for (unsigned i = 0; i < page->request->query_count; i++)
        if (!hub_view_is(page->request->query[i].name, "at"))
            page_hidden(out,
                        &(struct page_hidden){page->request->query[i].name, page->request->query[i].value});
    page_episode_at_end(out, &form);
    page_dataset_more_begin(out, NULL);
    if (e->at)
        page_link(out,
                  &(struct page_link){page_query(page, "at", "at", page_url(page, "%u", e->at - 1), NULL),
                                      HUB_VIEW("Previous step")});
    if (e->at < last)
        page_link(out,
                  &(struct page_link){page_query(page, "at", "at", page_url(page, "%u", e->at + 1), NULL),
                                      HUB_VIEW("Next step")});
    page_dataset_more_end(out, NULL);
    page_table_begin(out, &table);
    page_tbody_begin(out, NULL);
    HUB_TRY(write_rows(e, &left_out));
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
    if (left_out)
        page_paragraph(out,
                       &(struct page_paragraph){HUB_VIEW("muted"),
                                                page_url(page, "%u more fields are not shown.", left_out)});
    page_section_end(out, &section);
    return HUB_OK;
}

/* ---- all of it ---- */

static enum hub_status fetch_documents(struct episode *e)
{
    struct page *page = e->page;
    const struct hub_view n = hub_request_capture(page->request, "n");
    const struct hub_view list =
        page_query(page, "at from to lanes rate revision limit", "limit", HUB_VIEW("1"), "at", n, NULL);
    HUB_TRY(page_fetch(page, page_url(page, "/api/v1/datasets/%p", e->id), &e->dataset));
    HUB_TRY(page_fetch(page, page_url(page, "/api/v1/datasets/%p/episodes/%s", e->id, n), &e->document));
    HUB_TRY(page_fetch_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes/%s/~media", e->id, n),
                              &e->media));
    HUB_TRY(
        page_fetch_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes%r", e->id, list), &e->around));
    e->number = page_count(e->document, "number");
    e->steps = page_count(e->document, "steps");
    return HUB_OK;
}

/* What the cameras saw, beside the curves where there is room. */
static enum hub_status write_beside(struct episode *e, const struct page_lanes *lanes)
{
    struct page_out *out = &e->page->out;
    const struct page_media media = {e->page, e->id,      e->number,   e->steps,
                                     e->at,   e->dataset, e->document, e->media};
    const bool any = page_has_media(&media);
    if (any) {
        page_beside_begin(out, NULL);
        page_media(&media);
    }
    HUB_TRY(page_lanes_section(lanes));
    if (any)
        page_beside_end(out, NULL);
    return HUB_OK;
}

static enum hub_status show(struct episode *e)
{
    struct page *page = e->page;
    const struct hub_view id = page_id_of(page, e->dataset), title = page_url(page, "Episode %u", e->number);
    const struct page_section use = {HUB_VIEW("use"), HUB_VIEW("Use this episode")};
    const struct page_lanes lanes = lanes_of(e);
    page_open(page, page_url(page, "%r - %r", title, id),
              page_url(page, "/api/v1/datasets/%p/episodes/%u", id, e->number));
    page_crumbs(page, id, title.data);
    page_title(&page->out, &(struct page_title){page_url(page, "Episode %u", e->number)});
    page_revision_bar(page, e->dataset);
    HUB_TRY(write_neighbours(e));
    write_head(e);
    page_lanes_timeline(&lanes);
    HUB_TRY(write_beside(e, &lanes));
    HUB_TRY(write_values(e));
    const struct page_details details = {HUB_VIEW("Code for this episode")};
    page_section_begin(&page->out, &use);
    page_details_begin(&page->out, &details);
    HUB_TRY(page_recipes(page, e->dataset, (int64_t)e->number, page_first_number(e->dataset, e->document),
                         false));
    page_details_end(&page->out, &details);
    page_section_end(&page->out, &use);
    page_plots(&page->out, NULL);
    return page_close(page);
}

/* The step that is marked and the steps that are drawn: whole numbers, moved to where there are some. */
static void read_window(struct episode *e)
{
    int64_t at = 0, from = 0, to = 0;
    (void)hub_request_int(e->page->request, "at", &at);
    (void)hub_request_int(e->page->request, "from", &from);
    (void)hub_request_int(e->page->request, "to", &to);
    e->at = at > 0 && e->steps ? HUB_MIN((uint64_t)at, e->steps - 1) : 0;
    e->to = to > 0 ? HUB_MIN((uint64_t)to, e->steps) : e->steps;
    e->from = from > 0 ? (uint64_t)from : 0;
    if (e->from + LEAST_WINDOW > e->to)
        e->from = e->to > LEAST_WINDOW ? e->to - LEAST_WINDOW : 0;
    e->to = HUB_MIN(HUB_MAX(e->to, e->from + LEAST_WINDOW), e->steps);
}

enum hub_status hub_page_episode(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(dispose) struct episode e = {.page = &page};
    HUB_TRY(page_begin(&page, request, response, err));
    e.id = page_id(&page);
    HUB_TRY(fetch_documents(&e));
    read_window(&e);
    return show(&e);
}
