/* An episode: how it ended, what the cameras saw, its curves, and the rows at a step. */
#include "server/page/curve.h"
#include "server/page/episodes.h"
#include "server/page/handlers.h"
#include "server/page/recipes.h"

#include <stdio.h>

enum { MOST_LANES = 12, MOST_VALUES = 40, FRAMES = 7, SHOWN_NUMBERS = 12 };

struct episode {
    struct page *page;
    struct hub_view id;
    uint64_t number, steps, at;
    json_t *dataset, *document, *media, *around;
};

static void dispose(struct episode *e)
{
    json_decref(e->dataset);
    json_decref(e->document);
    json_decref(e->media);
    json_decref(e->around);
}

/* ---- around it ---- */

/* The first number of another page of the list. */
static enum hub_status ask_neighbour(struct episode *e, const char *which, uint64_t *out, bool *any)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    const struct hub_view query = page_query_of(page_text(e->around, which));
    *any = false;
    if (!query.size)
        return HUB_OK;
    HUB_TRY(
        page_ask_if_any(e->page, page_url(e->page, "/api/v1/datasets/%p/episodes%r", e->id, query), &list));
    const json_t *item = json_array_get(json_object_get(list, "items"), 0);
    *any = item != NULL;
    *out = page_count(item, "number");
    return HUB_OK;
}

static enum hub_status write_neighbours(struct episode *e)
{
    struct page *page = e->page;
    const struct hub_view kept = page_query(page, "at from to lanes revision", NULL);
    const struct hub_view carried = kept.size > 1 ? kept : HUB_VIEW("");
    uint64_t prev, next;
    bool has_prev, has_next;
    HUB_TRY(ask_neighbour(e, "prev", &prev, &has_prev));
    HUB_TRY(ask_neighbour(e, "next", &next, &has_next));
    page_episode_nav_begin(&page->out, NULL);
    if (has_prev)
        page_pager_link(&page->out, &(struct page_pager_link){
                                        page_url(page, "/d/%p/episodes/%u%r", e->id, prev, carried),
                                        HUB_VIEW("prev"), page_url(page, "\xE2\x86\x90 Episode %u", prev)});
    if (has_next)
        page_pager_link(&page->out, &(struct page_pager_link){
                                        page_url(page, "/d/%p/episodes/%u%r", e->id, next, carried),
                                        HUB_VIEW("next"), page_url(page, "Episode %u \xE2\x86\x92", next)});
    page_pager_link(&page->out, &(struct page_pager_link){
                                    page_url(page, "/d/%p/episodes%r", e->id, carried), HUB_VIEW("up"),
                                    carried.size ? HUB_VIEW("Back to the list") : HUB_VIEW("All episodes")});
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
    const double sum = json_is_number(json_object_get(e->document, "return"))
                           ? page_double(e->document, "return")
                           : page_double(measured, "return");
    page_facts_begin(out, NULL);
    if (sum == sum)
        page_fact_real(out, &(struct page_fact_real){sum, HUB_VIEW("return")});
    page_fact_count(out, &(struct page_fact_count){e->steps, HUB_VIEW("steps")});
    if (fps > 0)
        page_fact_real(out, &(struct page_fact_real){(double)e->steps / fps, HUB_VIEW("seconds")});
    if (*outcome)
        page_fact_text(out, &(struct page_fact_text){hub_view_of(outcome), HUB_VIEW("outcome")});
    if (page_text(e->document, "task").size)
        page_fact_text(out, &(struct page_fact_text){page_text(e->document, "task"), HUB_VIEW("task")});
    if (json_is_integer(seed))
        page_fact_text(out, &(struct page_fact_text){page_url(page, "%u", (uint64_t)json_integer_value(seed)),
                                                     HUB_VIEW("seed")});
    page_facts_end(out, NULL);
}

/* ---- what cameras saw ---- */

static void write_videos(struct episode *e)
{
    struct page *page = e->page;
    const json_t *items = json_object_get(e->media, "items"), *item;
    size_t i;
    if (!json_array_size(items))
        return;
    page_hidden_head(&page->out, &(struct page_hidden_head){HUB_VIEW("Videos")});
    page_episode_media_begin(&page->out, NULL);
    json_array_foreach(items, i, item)
    {
        const struct hub_view camera = page_text(item, "camera"), problem = page_text(item, "problem");
        const struct hub_view label = page_text(item, "label").size ? page_text(item, "label") : camera;
        const uint64_t frames = page_count(item, "frames");
        const struct hub_view about =
            page_url(page, "%u frames, %u \xC3\x97 %u, %r", frames, page_count(item, "width"),
                     page_count(item, "height"), page_text(item, "codecs"));
        if (frames && json_object_get(item, "width"))
            page_episode_video(&page->out, &(struct page_episode_video){
                                               camera, label,
                                               page_url(page, "/api/v1/datasets/%p/episodes/%u/~media/%p.mp4",
                                                        e->id, e->number, camera),
                                               about});
        if (problem.size || !frames)
            page_episode_video_missing(
                &page->out, &(struct page_episode_video_missing){
                                label, problem.size ? problem : HUB_VIEW("this video cannot be shown")});
    }
    page_episode_media_end(&page->out, NULL);
}

static const json_t *field_of(const json_t *document, struct hub_view path)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(document, "fields"), i,
                       field) if (hub_view_equal(page_text(field, "path"), path)) return field;
    return NULL;
}

static uint64_t rows_of(const json_t *field)
{
    return (uint64_t)page_double_of(json_array_get(json_object_get(field, "shape"), 0));
}

/* Numbers in a row of a field of the dataset; 0: more than a curve can be made of. */
static unsigned dims_of(const json_t *field)
{
    double dims = 1;
    size_t i;
    const json_t *size;
    json_array_foreach(json_object_get(field, "shape"), i, size) dims *= page_double_of(size);
    return dims >= 1 && dims <= 512 ? (unsigned)dims : 0;
}

static void write_frames(struct episode *e)
{
    struct page *page = e->page;
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(e->dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        const json_t *here = field_of(e->document, path);
        const uint64_t rows = rows_of(here), count = HUB_MIN(rows, (uint64_t)FRAMES);
        if (!hub_view_is(page_text(field, "type"), "image") || !here || !rows)
            continue;
        const struct page_episode_frames frames = {path};
        page_episode_frames_begin(&page->out, &frames);
        for (uint64_t k = 0; k < count; k++) {
            const uint64_t row = count > 1 ? k * (rows - 1) / (count - 1) : 0;
            const struct hub_view at = page_url(page, "%u", row);
            page_episode_frame(&page->out,
                               &(struct page_episode_frame){
                                   page_query(page, "at", "at", at, NULL),
                                   page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=image",
                                            e->id, e->number, path, row),
                                   path, row});
        }
        page_episode_frames_end(&page->out, &frames);
    }
}

/* ---- curves ---- */

static enum hub_status draw_field(struct episode *e, const json_t *field, bool sum)
{
    const struct page_curve curve = {e->id,         page_text(field, "path"), e->number, e->steps, e->at, sum,
                                     dims_of(field)};
    return curve.dims ? page_curve_figure(e->page, &curve) : HUB_OK;
}

static bool is_drawn(const json_t *field, const char *role)
{
    return hub_view_is(page_text(field, "type"), "number") && hub_view_is(page_text(field, "role"), role);
}

/* Rewards, their sum, actions, observations. */
static enum hub_status draw_usual(struct episode *e)
{
    static const char *const roles[] = {"reward", "action", "observation"};
    unsigned lanes = 0;
    for (size_t r = 0; r < HUB_COUNT(roles); r++) {
        size_t i;
        const json_t *field;
        json_array_foreach(json_object_get(e->dataset, "fields"), i, field)
        {
            if (!is_drawn(field, roles[r]) || !field_of(e->document, page_text(field, "path")) ||
                lanes >= MOST_LANES)
                continue;
            lanes++;
            HUB_TRY(draw_field(e, field, false));
            if (r == 0)
                HUB_TRY(draw_field(e, field, true));
        }
        if (r == 0 && !lanes)
            page_paragraph(
                &e->page->out,
                &(struct page_paragraph){HUB_VIEW("muted"), HUB_VIEW("This dataset stores no rewards.")});
    }
    return HUB_OK;
}

static enum hub_status draw_asked(struct episode *e, struct hub_view lanes)
{
    for (unsigned count = 0; lanes.size && count < MOST_LANES; count++) {
        const char *comma = memchr(lanes.data, ',', lanes.size);
        const size_t size = comma ? (size_t)(comma - lanes.data) : lanes.size;
        const json_t *field = field_of(e->dataset, (struct hub_view){lanes.data, size});
        if (field)
            HUB_TRY(draw_field(e, field, false));
        lanes.data += size + (comma != NULL);
        lanes.size -= size + (comma != NULL);
    }
    return HUB_OK;
}

static void write_choices(struct episode *e)
{
    struct page *page = e->page;
    size_t i;
    const json_t *field;
    page_chips_begin(&page->out, &(struct page_chips){HUB_VIEW("Curves")});
    json_array_foreach(json_object_get(e->dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        if (!hub_view_is(page_text(field, "type"), "number") || !field_of(e->document, path) ||
            i > MOST_VALUES)
            continue;
        page_lane_link(&page->out,
                       &(struct page_lane_link){page_query(page, "lanes", "lanes", path, NULL), path});
    }
    if (hub_request_query(page->request, "lanes").size)
        page_lane_link(&page->out,
                       &(struct page_lane_link){page_query(page, "lanes", NULL), HUB_VIEW("the usual ones")});
    page_chips_end(&page->out, &(struct page_chips){HUB_VIEW("Curves")});
}

static enum hub_status write_curves(struct episode *e)
{
    const struct page_section section = {HUB_VIEW("curves"), HUB_VIEW("Curves")};
    const struct hub_view lanes = hub_request_query(e->page->request, "lanes");
    page_section_begin(&e->page->out, &section);
    write_choices(e);
    HUB_TRY(lanes.size ? draw_asked(e, lanes) : draw_usual(e));
    page_section_end(&e->page->out, &section);
    return HUB_OK;
}

/* ---- the rows at a step ---- */

/* As stored: text as it is, numbers as JSON writes them, the first of many. */
static void write_value(struct episode *e, const json_t *value, struct hub_view path, uint64_t row)
{
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
    const struct page_value_row item = {path, said};
    page_value_row_begin(&e->page->out, &item);
    page_value_link(&e->page->out, &(struct page_value_link){page_url(
                                       e->page, "/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=json",
                                       e->id, e->number, path, row)});
    page_value_row_end(&e->page->out, &item);
    free(text);
}

static enum hub_status write_rows(struct episode *e)
{
    unsigned count = 0;
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(e->dataset, "fields"), i, field)
    {
        HUB_CLEANUP(hub_json_decrefp) json_t *value = NULL;
        const struct hub_view path = page_text(field, "path"), type = page_text(field, "type");
        const json_t *here = field_of(e->document, path);
        if (!here || e->at >= rows_of(here) || hub_view_is(type, "image") || hub_view_is(type, "bytes") ||
            count++ > MOST_VALUES)
            continue;
        HUB_TRY(page_ask_if_any(
            e->page,
            page_url(e->page, "/api/v1/datasets/%p/episodes/%u/%p?row=%u&format=json&nonfinite=string", e->id,
                     e->number, path, e->at),
            &value));
        if (value)
            write_value(e, value, path, e->at);
    }
    return HUB_OK;
}

static enum hub_status write_values(struct episode *e)
{
    struct page *page = e->page;
    struct page_out *out = &page->out;
    const struct page_section section = {HUB_VIEW("values"), page_url(page, "At step %u", e->at)};
    const struct hub_view action = page_url(page, "/d/%p/episodes/%u", e->id, e->number);
    const uint64_t last = e->steps ? e->steps - 1 : 0;
    const struct page_episode_at form = {action, e->at, last};
    const struct page_table table = {HUB_VIEW("values"), HUB_VIEW("Rows as stored")};
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
    HUB_TRY(write_rows(e));
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
    page_section_end(out, &section);
    return HUB_OK;
}

/* ---- all of it ---- */

static const char *first_number(const struct episode *e)
{
    size_t i;
    const json_t *field;
    json_array_foreach(
        json_object_get(e->dataset, "fields"), i,
        field) if (hub_view_is(page_text(field, "type"), "number") &&
                   field_of(e->document,
                            page_text(field, "path"))) return json_string_value(json_object_get(field,
                                                                                                "path"));
    return NULL;
}

static enum hub_status ask(struct episode *e)
{
    struct page *page = e->page;
    const struct hub_view n = hub_request_capture(page->request, "n");
    const struct hub_view list =
        page_query(page, "at from to lanes revision limit", "limit", HUB_VIEW("1"), "at", n, NULL);
    HUB_TRY(page_ask(page, page_url(page, "/api/v1/datasets/%p", e->id), &e->dataset));
    HUB_TRY(page_ask(page, page_url(page, "/api/v1/datasets/%p/episodes/%s", e->id, n), &e->document));
    HUB_TRY(
        page_ask_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes/%s/~media", e->id, n), &e->media));
    HUB_TRY(page_ask_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes%r", e->id, list), &e->around));
    e->number = page_count(e->document, "number");
    e->steps = page_count(e->document, "steps");
    return HUB_OK;
}

static enum hub_status show(struct episode *e)
{
    struct page *page = e->page;
    const struct hub_view id = page_text(e->dataset, "id"), title = page_url(page, "Episode %u", e->number);
    const struct page_section use = {HUB_VIEW("use"), HUB_VIEW("Use this episode")};
    page_open(page, page_url(page, "%r - %r", title, id),
              page_url(page, "/api/v1/datasets/%p/episodes/%u", id, e->number));
    page_crumbs(page, id, title.data);
    page_title(&page->out, &(struct page_title){page_url(page, "Episode %u", e->number)});
    HUB_TRY(write_neighbours(e));
    write_head(e);
    write_videos(e);
    write_frames(e);
    HUB_TRY(write_curves(e));
    HUB_TRY(write_values(e));
    const struct page_details details = {HUB_VIEW("Commands and programs for these rows")};
    page_section_begin(&page->out, &use);
    page_details_begin(&page->out, &details);
    page_recipes(page, e->dataset, e->number, first_number(e));
    page_details_end(&page->out, &details);
    page_section_end(&page->out, &use);
    return page_close(page);
}

enum hub_status hub_page_episode(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    static const char *const parameters[] = {"at",   "from", "to",   "lanes",    "where", "split",
                                             "task", "name", "sort", "revision", NULL};
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(dispose) struct episode e = {.page = &page};
    HUB_TRY(page_begin(&page, request, response, parameters, err));
    int64_t at = 0;
    bool present;
    HUB_TRY(hub_request_int(request, "at", &at, &present, err));
    e.id = page_id(&page);
    HUB_TRY(ask(&e));
    e.at = at > 0 && e.steps ? HUB_MIN((uint64_t)at, e.steps - 1) : 0;
    return show(&e);
}
