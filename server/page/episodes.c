/* The episodes of a dataset: a filter, an order, a page of the table. */
#include "server/page/episodes.h"

#include "server/page/handlers.h"
#include "server/page/posters.h"
#include "server/page/recipes.h"
#include "server/page/svg.h"
#include "server/page/where.h"

#include <stdio.h>

enum { MOST_CHOSEN = 500 };

const char *page_outcome_of(const json_t *episode)
{
    const json_t *success = json_object_get(episode, "success");
    if (json_is_boolean(success))
        return json_is_true(success) ? "success" : "no success";
    if (page_flag(episode, "terminated"))
        return page_flag(episode, "truncated") ? "terminated, truncated" : "terminated";
    if (page_flag(episode, "truncated"))
        return "truncated";
    return json_is_false(json_object_get(episode, "terminated")) ? "not ended" : "";
}

void page_video_missing(struct page *page, const json_t *item, struct hub_view label)
{
    const struct hub_view problem = page_text(item, "problem");
    page_episode_video_missing(&page->out,
                               &(struct page_episode_video_missing){
                                   label.size ? label : page_text(item, "camera"),
                                   problem.size ? problem : HUB_VIEW("this video cannot be shown")});
}

/* ---- columns, as far as some row has something in them ---- */

static struct hub_view seed_of(struct page *page, const json_t *episode)
{
    const json_t *seed = json_object_get(episode, "seed");
    return json_is_integer(seed) ? page_url(page, "%u", (uint64_t)json_integer_value(seed))
                                 : page_text(episode, "seed");
}

static bool has_curve(const json_t *episode)
{
    return page_text(episode, "spark").size;
}

static void put_curve(struct page *page, const json_t *episode)
{
    page_episode_curve_begin(&page->out, NULL);
    page_sparkline(&page->out, page_text(episode, "spark"));
    page_episode_curve_end(&page->out, NULL);
}

static bool has_return(const json_t *episode)
{
    return json_object_get(episode, "return"); /* a text where it is infinite or NaN */
}

static void put_return(struct page *page, const json_t *episode)
{
    if (has_return(episode))
        page_episode_return(&page->out, &(struct page_episode_return){page_double(episode, "return")});
    else
        page_episode_no_return(&page->out, NULL);
}

static bool has_steps(const json_t *episode)
{
    return json_object_get(episode, "steps");
}

static void put_steps(struct page *page, const json_t *episode)
{
    page_episode_steps(&page->out, &(struct page_episode_steps){page_count(episode, "steps")});
}

static bool has_outcome(const json_t *episode)
{
    return *page_outcome_of(episode);
}

static void put_outcome(struct page *page, const json_t *episode)
{
    page_episode_text(&page->out, &(struct page_episode_text){hub_view_of(page_outcome_of(episode))});
}

static bool has_task(const json_t *episode)
{
    return page_text(episode, "task").size;
}

static void put_task(struct page *page, const json_t *episode)
{
    page_episode_text(&page->out, &(struct page_episode_text){page_text(episode, "task")});
}

static bool has_seed(const json_t *episode)
{
    return json_object_get(episode, "seed");
}

static void put_seed(struct page *page, const json_t *episode)
{
    page_episode_value(&page->out, &(struct page_episode_value){HUB_VIEW("seed"), seed_of(page, episode)});
}

static const struct column {
    const char *class, *text, *key;
    bool (*has)(const json_t *episode);
    void (*put)(struct page *page, const json_t *episode);
} columns[] = {{"", "Reward over time", NULL, has_curve, put_curve},
               {"n", "Return", "return", has_return, put_return},
               {"n", "Steps", "steps", has_steps, put_steps},
               {"", "Outcome", NULL, has_outcome, put_outcome},
               {"", "Task", "task", has_task, put_task},
               {"n", "Seed", "seed", has_seed, put_seed}};

/* As bits. */
static unsigned columns_of(const json_t *items)
{
    unsigned found = 0;
    size_t i;
    const json_t *episode;
    json_array_foreach(items, i, episode) for (size_t c = 0; c < HUB_COUNT(columns); c++) found |=
        columns[c].has(episode) ? 1U << c : 0;
    return found;
}

/* What the rows of a table have beside their number. */
struct shape {
    unsigned shown; /* bits: columns[] */
    struct page_row_camera camera;
    const struct page_columns *more;
};

static void write_row(struct page *page, const json_t *episode, struct hub_view carried,
                      const struct shape *shape)
{
    const uint64_t number = page_count(episode, "number");
    const struct page_episode_row row = {
        page_url(page, "@/d/%p/episodes/%u%r", page_id(page), number, carried), (int64_t)number};
    page_episode_row_begin(&page->out, &row);
    if (shape->more)
        page_compare_pick(&page->out, &(struct page_compare_pick){(int64_t)number});
    if (shape->camera.name.size)
        page_row_poster(page, &shape->camera, episode);
    for (size_t c = 0; c < HUB_COUNT(columns); c++)
        if (shape->shown >> c & 1)
            columns[c].put(page, episode);
    if (shape->more)
        page_columns_cells(page, shape->more, number);
    page_episode_row_end(&page->out, &row);
}

static void write_head(struct page *page, const struct column *column, bool sorted)
{
    if (sorted && column->key)
        page_sort_head(page, column->class, column->text, column->key);
    else
        page_th(&page->out, &(struct page_th){hub_view_of(column->class), hub_view_of(column->text)});
}

static void write_heads(struct page *page, const struct shape *shape)
{
    static const struct column number = {"number", "Episode", "number", NULL, NULL};
    page_thead_begin(&page->out, NULL);
    write_head(page, &number, shape->more);
    if (shape->more)
        page_th(&page->out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Compare")});
    if (shape->camera.name.size)
        page_th(&page->out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Camera")});
    for (size_t c = 0; c < HUB_COUNT(columns); c++)
        if (shape->shown >> c & 1)
            write_head(page, &columns[c], shape->more);
    if (shape->more)
        page_columns_heads(page, shape->more);
    page_thead_end(&page->out, NULL);
}

void page_episodes_table(struct page *page, const json_t *dataset, const json_t *list,
                         struct hub_view carried, const struct page_columns *more)
{
    struct page_out *out = &page->out;
    const uint64_t total = page_count(list, "total");
    const struct shape shape = {columns_of(json_object_get(list, "items")), page_row_camera(dataset), more};
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf kept = HUB_BUF_INIT(64 * KIB); /* addresses last for a few more */
    char caption[80], count[PAGE_COUNT_BYTES];
    page_count_text(total, count);
    snprintf(caption, sizeof caption, "%s episode%s", count, total == 1 ? "" : "s");
    if (carried.size > 1 && !out->status)
        out->status = hub_buf_add_view(&kept, carried, out->err);
    const struct page_table table = {HUB_VIEW("cardlike"), hub_view_of(caption)};
    if (shape.camera.name.size)
        page_cameras_style(out, NULL);
    page_table_begin(out, &table);
    write_heads(page, &shape);
    page_tbody_begin(out, NULL);
    size_t i;
    const json_t *episode;
    json_array_foreach(json_object_get(list, "items"), i, episode)
        write_row(page, episode, hub_buf_view(&kept), &shape);
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
    if (shape.camera.name.size)
        page_posters(page);
}

static void write_filter(struct page *page, const json_t *dataset)
{
    struct page_out *out = &page->out;
    const struct hub_view split = hub_request_query(page->request, "split");
    const struct page_where_form form = {page_url(page, "@/d/%p/episodes", page_id(page)),
                                         hub_request_query(page->request, "where")};
    page_where_form_begin(out, &form);
    const json_t *splits = json_object_get(dataset, "splits");
    const char *name;
    json_t *value;
    if (json_object_size(splits)) {
        page_where_split_begin(out, NULL);
        json_object_foreach((json_t *)splits, name, value)
        {
            if (hub_view_is(split, name))
                page_option_chosen(out, &(struct page_option_chosen){hub_view_of(name), hub_view_of(name)});
            else
                page_option(out, &(struct page_option){hub_view_of(name), hub_view_of(name)});
        }
        page_where_split_end(out, NULL);
    }
    const struct hub_view sort = hub_request_query(page->request, "sort");
    if (sort.size)
        page_hidden(out, &(struct page_hidden){HUB_VIEW("sort"), sort});
    page_hidden_revision(page);
    page_where_form_end(out, &form);
}

/* A number that a form was given leads to its episode. */
static enum hub_status go_to(struct page *page, struct hub_view number)
{
    const struct hub_view query = page_query(page, "number cursor limit", NULL);
    page->response->status = 303;
    return hub_response_header(
        page->response, page->err, "Location", "%s",
        page_url(page, "@/d/%p/episodes/%s%r", page_id(page), number, query.size > 1 ? query : HUB_VIEW(""))
            .data);
}

/* Where there is another page; the choice and the order stay. */
static void write_go_to(struct page *page, const json_t *list)
{
    static const char *const kept[] = {"where", "split", "task", "name", "sort"};
    const struct page_dataset_goto go = {page_url(page, "/d/%p/episodes", page_id(page)), HUB_VIEW("")};
    if (!page_text(list, "next").size && !page_text(list, "prev").size)
        return;
    page_dataset_goto_begin(&page->out, &go);
    for (size_t i = 0; i < HUB_COUNT(kept); i++)
        if (hub_request_query(page->request, kept[i]).size)
            page_hidden(&page->out, &(struct page_hidden){hub_view_of(kept[i]),
                                                          hub_request_query(page->request, kept[i])});
    page_hidden_revision(page);
    page_dataset_goto_end(&page->out, &go);
}

/* What `where` gets wrong stands beside it, and the page is whole. */
static enum hub_status fetch_list(struct page *page, struct hub_view *api, json_t **list,
                                  struct hub_error *wrong)
{
    const struct hub_view limit = hub_request_query(page->request, "limit");
    const struct hub_view query =
        page_query(page, "limit revision include", "limit", limit.size ? limit : HUB_VIEW("50"), "include",
                   HUB_VIEW("spark"), NULL);
    *api = page_url(page, "/api/v1/datasets/%p/episodes%r", page_id(page), query);
    const enum hub_status st = page_fetch(page, *api, list);
    if (st != HUB_INVALID)
        return st;
    *wrong = *page->err;
    *page->err = (struct hub_error){0};
    page->response->status = 400;
    return HUB_OK;
}

static enum hub_status show_list(struct page *page, const json_t *list, const json_t *dataset)
{
    HUB_CLEANUP(page_columns_dispose) struct page_columns more = {0};
    page_where_note(page, list);
    if (!page_count(list, "total"))
        return page_where_empty(page, dataset, list);
    HUB_TRY(page_columns_fetch(page, list, &more));
    page_episodes_table(page, dataset, list, page_query(page, "cursor limit at include", NULL), &more);
    const struct page_compare_picked picked = {page_url(page, "/d/%p/~compare", page_id(page))};
    page_compare_picked_begin(&page->out, &picked);
    page_hidden_revision(page);
    page_compare_picked_end(&page->out, &picked);
    return HUB_OK;
}

static bool is_chosen(const struct page *page)
{
    static const char *const choices[] = {"where", "split", "task", "name"};
    for (size_t i = 0; i < HUB_COUNT(choices); i++)
        if (hub_request_query(page->request, choices[i]).size)
            return true;
    return false;
}

/* Of a choice that is small enough to be written down: its numbers, as those who go on with it want them. */
static enum hub_status write_chosen(struct page *page, const json_t *dataset, const json_t *list)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *table = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf numbers = HUB_BUF_INIT(16 * KIB);
    const struct page_details details = {HUB_VIEW("Code for these episodes")};
    const uint64_t total = page_count(list, "total");
    size_t i;
    const json_t *number;
    if (!is_chosen(page) || !total || total > MOST_CHOSEN || !page_where_is_measured(list))
        return HUB_OK; /* numbers that are copied stand for a choice that is complete */
    const struct hub_view query = page_query(page, "cursor limit at include sort revision columns format",
                                             "columns", HUB_VIEW("number"), "format", HUB_VIEW("json"), NULL);
    HUB_TRY(page_fetch_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes%r", page_id(page), query),
                              &table));
    json_array_foreach(json_object_get(json_object_get(table, "columns"), "number"), i, number) HUB_TRY(
        hub_buf_addf(&numbers, page->err, "%s%lld", i ? ", " : "", (long long)json_integer_value(number)));
    if (!numbers.size)
        return HUB_OK;
    page_details_begin(&page->out, &details);
    HUB_TRY(page_recipes_chosen(page, dataset, hub_buf_view(&numbers)));
    page_details_end(&page->out, &details);
    return HUB_OK;
}

enum hub_status hub_page_episodes(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *dataset = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *statistics = NULL;
    struct hub_view api;
    struct hub_error wrong = {0};
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view number = hub_request_query(request, "number");
    if (number.size)
        return go_to(&page, number);
    HUB_TRY(page_fetch(&page, page_url(&page, "/api/v1/datasets/%p", page_id(&page)), &dataset));
    HUB_TRY(fetch_list(&page, &api, &list, &wrong));
    HUB_TRY(page_fetch_if_any(&page, page_url(&page, "/api/v1/datasets/%p/~statistics", page_id(&page)),
                              &statistics));
    const struct hub_view id = page_id_of(&page, dataset);
    page_open(&page, page_url(&page, "Episodes - %r", id), api);
    page_crumbs(&page, id, "episodes");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Episodes")});
    page_revision_bar(&page, dataset);
    write_filter(&page, dataset);
    page_where_examples(&page, dataset, statistics);
    if (!list)
        page_where_wrong(&page.out, &(struct page_where_wrong){hub_view_of(wrong.detail)});
    else
        HUB_TRY(show_list(&page, list, dataset));
    page_pages(&page, list);
    write_go_to(&page, list);
    HUB_TRY(write_chosen(&page, dataset, list));
    const enum hub_status st = page_close(&page);
    if (!list)
        response->status = 400;
    return st;
}
