/* Fields of episodes over each other: see compare.h. */
#include "server/page/compare.h"

#include "server/page/compare_lane.h"

#include <math.h>
#include <stdio.h>

enum { MOST_LANES = 12, MOST_CHOICES = 60, MOST_OFFERED = 24, USUAL_DIMS = 4 };

struct compared_lanes {
    struct compared_lane lanes[MOST_LANES];
    unsigned count;
};

/* ---- which ---- */

static void add(struct compared_lanes *shown, const json_t *field, bool sum, struct hub_view dims)
{
    struct compared_lane *lane = &shown->lanes[shown->count];
    if (!field || shown->count == MOST_LANES || dims.size >= sizeof lane->dims)
        return;
    *lane = (struct compared_lane){.field = field, .sum = sum};
    memcpy(lane->dims, dims.data, dims.size);
    shown->count++;
}

static size_t dims_of(const json_t *field)
{
    double dims = 1;
    for (size_t i = 0; i < json_array_size(json_object_get(field, "shape")); i++)
        dims *= page_double_of(json_array_get(json_object_get(field, "shape"), i));
    return dims >= 1 && dims < 1e9 ? (size_t)dims : 0;
}

/* Rewards, their sum, the first numbers of an action. */
static void choose_usual(const struct compare *c, struct compared_lanes *shown)
{
    const json_t *reward = compare_first_of(c->sides[0].dataset, "reward"),
                 *action = compare_first_of(c->sides[0].dataset, "action");
    add(shown, reward, false, HUB_VIEW(""));
    add(shown, reward, true, HUB_VIEW(""));
    add(shown, action, false, dims_of(action) > USUAL_DIMS ? HUB_VIEW("0-3") : HUB_VIEW(""));
}

/* FIELD, FIELD:DIMS, or "return". */
static void choose_one(const struct compare *c, struct hub_view chosen, struct compared_lanes *shown)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(c->sides[0].dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        const bool more = chosen.size > path.size && chosen.data[path.size] == ':';
        if (chosen.size < path.size || memcmp(chosen.data, path.data, path.size) != 0 ||
            (chosen.size > path.size && !more))
            continue;
        const size_t skip = path.size + more;
        add(shown, field, false, (struct hub_view){chosen.data + skip, chosen.size - skip});
        return;
    }
    if (hub_view_is(chosen, "return"))
        add(shown, compare_first_of(c->sides[0].dataset, "reward"), true, HUB_VIEW(""));
}

static void choose(const struct compare *c, struct compared_lanes *shown)
{
    struct hub_view lanes = hub_request_query(c->page.request, "lanes");
    if (!lanes.size)
        choose_usual(c, shown);
    while (lanes.size) {
        const char *comma = memchr(lanes.data, ',', lanes.size);
        const size_t size = comma ? (size_t)(comma - lanes.data) : lanes.size;
        choose_one(c, (struct hub_view){lanes.data, size}, shown);
        lanes = (struct hub_view){lanes.data + size + (comma != NULL), lanes.size - size - (comma != NULL)};
    }
}

/* ---- links that change it ---- */

static enum hub_status add_name(struct hub_buf *out, const struct compared_lane *lane)
{
    HUB_TRY(hub_buf_add_text(out, out->size ? "," : "", NULL));
    if (lane->sum)
        return hub_buf_add_text(out, "return", NULL);
    HUB_TRY(hub_buf_add_view(out, page_text(lane->field, "path"), NULL));
    HUB_TRY(hub_buf_add_text(out, *lane->dims ? ":" : "", NULL));
    return hub_buf_add_text(out, lane->dims, NULL);
}

/* All of them, with `other` instead of `instead`, or behind them; NULL: none. */
static enum hub_status add_list(struct hub_buf *out, const struct compared_lanes *shown,
                                const struct compared_lane *instead, const struct compared_lane *other)
{
    for (unsigned i = 0; i < shown->count; i++) {
        const bool replaced = &shown->lanes[i] == instead;
        if (!replaced || other)
            HUB_TRY(add_name(out, replaced ? other : &shown->lanes[i]));
    }
    return instead || !other ? HUB_OK : add_name(out, other);
}

static struct hub_view href_of(struct compare *c, const struct compared_lanes *shown,
                               const struct compared_lane *instead, const struct compared_lane *other)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
    if (add_list(&list, shown, instead, other))
        return HUB_VIEW("");
    return page_query(&c->page, "lanes", "lanes", hub_buf_view(&list), NULL);
}

static const struct compared_lane *lane_of(const struct compared_lanes *shown, const json_t *field)
{
    for (unsigned i = 0; i < shown->count; i++)
        if (shown->lanes[i].field == field && !shown->lanes[i].sum)
            return &shown->lanes[i];
    return NULL;
}

/* A link for each field: it is put there, or taken away. */
static void write_choices(struct compare *c, const struct compared_lanes *shown)
{
    struct page *page = &c->page;
    const struct page_chips chips = {HUB_VIEW("Fields")};
    unsigned count = 0;
    size_t i;
    const json_t *field;
    page_chips_begin(&page->out, &chips);
    json_array_foreach(json_object_get(c->sides[0].dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        const struct compared_lane *there = lane_of(shown, field);
        struct compared_lane more = {.field = field};
        if (!hub_view_is(page_text(field, "type"), "number") || (count++ >= MOST_CHOICES && !there))
            continue;
        if (dims_of(field) > USUAL_DIMS)
            memcpy(more.dims, "0-3", sizeof "0-3");
        const struct hub_view href = there ? href_of(c, shown, there, NULL) : href_of(c, shown, NULL, &more);
        if (there)
            page_lane_there(&page->out, &(struct page_lane_there){href, path});
        else
            page_lane_link(&page->out, &(struct page_lane_link){href, path});
    }
    page_chips_end(&page->out, &chips);
}

/* A link that adds the differences, or takes them away. */
static void write_toggle(struct compare *c)
{
    struct page *page = &c->page;
    const struct page_chips chips = {HUB_VIEW("Difference")};
    const struct hub_view name = HUB_VIEW("show difference (first - second)");
    if (c->count < 2)
        return;
    page_chips_begin(&page->out, &chips);
    if (hub_request_query(page->request, "diff").size)
        page_lane_there(&page->out, &(struct page_lane_there){page_query(page, "diff", NULL), name});
    else
        page_lane_link(&page->out,
                       &(struct page_lane_link){page_query(page, "diff", "diff", HUB_VIEW("1"), NULL), name});
    page_chips_end(&page->out, &chips);
}

/* "4 of 7 shown: [4] [5] [6]": each a link that shows it too; where no more are drawn, it alone. */
static void write_others(struct compare *c, const struct compared_lanes *shown,
                         const struct compared_lane *lane)
{
    struct page *page = &c->page;
    const json_t *some = compare_lane_field(c), *names = json_object_get(lane->field, "names");
    const size_t all = dims_of(lane->field),
                 drawn = HUB_MIN(json_array_size(json_object_get(some, "dims")), (size_t)COMPARE_FIGURES);
    unsigned offered = 0;
    if (!some || lane->sum || drawn >= all)
        return;
    const struct page_compare_others others = {drawn, all};
    page_compare_others_begin(&page->out, &others);
    for (size_t dim = 0; dim < all && offered < MOST_OFFERED; dim++) {
        struct compared_lane other = *lane;
        if (compare_lane_shows(some, dim))
            continue;
        const bool alone = drawn == COMPARE_FIGURES || !*lane->dims;
        snprintf(other.dims, sizeof other.dims, "%s%s%zu", alone ? "" : lane->dims, alone ? "" : "+", dim);
        const char *name = json_string_value(json_array_get(names, dim));
        page_link(&page->out, &(struct page_link){href_of(c, shown, lane, &other),
                                                  name ? page_url(page, "%r", hub_view_of(name))
                                                       : page_url(page, "[%u]", (uint64_t)dim)});
        offered++;
    }
    page_compare_others_end(&page->out, &others);
}

/* ---- all of it ---- */

void compare_timeline(struct compare *c)
{
    const double fps = page_double(c->sides[0].dataset, "fps");
    const struct page_timeline timeline = {HUB_VIEW(""),     HUB_VIEW(""),   (int64_t)c->span, (int64_t)c->at,
                                           (int64_t)c->from, (int64_t)c->to, fps > 0 ? fps : 0};
    const json_t *reward = compare_first_of(c->sides[0].dataset, "reward");
    page_timeline_begin(&c->page.out, &timeline);
    if (reward)
        page_timeline_field(&c->page.out,
                            &(struct page_timeline_field){
                                HUB_VIEW("overview"),
                                page_url(&c->page, "/api/v1/datasets/%p/episodes/%u/%p", c->sides[0].id,
                                         c->sides[0].number, page_text(reward, "path")),
                                page_text(reward, "path"), page_text(reward, "axis"), c->sides[0].shift,
                                page_text(c->sides[0].dataset, "revision")});
    page_timeline_end(&c->page.out, &timeline);
}

enum hub_status compare_lanes(struct compare *c)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
    struct compared_lanes shown = {0};
    choose(c, &shown);
    HUB_TRY(add_list(&list, &shown, NULL, NULL));
    const struct page_lane_list lanes = {HUB_VIEW("lanes overlaid"), hub_buf_view(&list)};
    page_hidden_head(&c->page.out, &(struct page_hidden_head){HUB_VIEW("Fields over each other")});
    write_choices(c, &shown);
    write_toggle(c);
    page_lane_list_begin(&c->page.out, &lanes);
    for (unsigned i = 0; i < shown.count; i++) {
        HUB_TRY(compare_lane(c, &shown.lanes[i]));
        write_others(c, &shown, &shown.lanes[i]);
    }
    page_lane_list_end(&c->page.out, &lanes);
    return HUB_OK;
}
