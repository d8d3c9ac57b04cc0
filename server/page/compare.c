/* Up to six episodes, of one dataset or of several, beside each other: what differs, videos, and fields
 * over each other. */
#include "server/page/compare.h"
#include "server/page/episodes.h"
#include "server/page/handlers.h"
#include "server/page/lanes.h"

#include <stdio.h>

static void dispose(struct compare *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        json_decref(c->sides[i].dataset);
        json_decref(c->sides[i].document);
        json_decref(c->sides[i].media);
        json_decref(c->sides[i].values);
    }
    page_dispose(&c->page);
}

/* ---- which ---- */

/* "7", or "OTHER-ID:7". */
static enum hub_status read_side(struct compare *c, struct hub_view requested, struct hub_error *err)
{
    const char *colon = memrchr(requested.data, ':', requested.size);
    const char *digits = colon ? colon + 1 : requested.data;
    char *end;
    if (c->count == COMPARE_SIDES)
        return hub_request_wrong(c->page.request, "e", err, "at most %d episodes", COMPARE_SIDES);
    struct side *side = &c->sides[c->count];
    side->number = strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end)
        return hub_request_wrong(c->page.request, "e", err, "an episode's number, or ID:NUMBER");
    side->requested = requested;
    side->id =
        colon ? (struct hub_view){requested.data, (size_t)(colon - requested.data)} : page_id(&c->page);
    snprintf(side->name, sizeof side->name, "%.*s%sepisode %llu",
             colon ? (int)HUB_MIN(side->id.size, (size_t)240) : 0, side->id.data, colon ? ": " : "",
             (unsigned long long)side->number);
    c->count++;
    snprintf(side->class, sizeof side->class, "s%u", c->count);
    return HUB_OK;
}

static enum hub_status read_sides(struct compare *c, struct hub_error *err)
{
    const struct hub_request *request = c->page.request;
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, "e") && request->query[i].value.size)
            HUB_TRY(read_side(c, request->query[i].value, err));
    return HUB_OK;
}

static enum hub_status fetch_side(struct compare *c, struct side *side)
{
    struct page *page = &c->page;
    HUB_TRY(page_fetch(page, page_url(page, "/api/v1/datasets/%p", side->id), &side->dataset));
    HUB_TRY(page_fetch(page, page_url(page, "/api/v1/datasets/%p/episodes/%u", side->id, side->number),
                       &side->document));
    HUB_TRY(page_fetch_if_any(
        page, page_url(page, "/api/v1/datasets/%p/episodes/%u/~media", side->id, side->number),
        &side->media));
    side->steps = page_count(side->document, "steps");
    return HUB_OK;
}

const json_t *compare_first_of(const json_t *dataset, const char *role)
{
    size_t i;
    const json_t *field;
    json_array_foreach(json_object_get(dataset, "fields"), i, field)
    {
        if (hub_view_is(page_text(field, "type"), "number") && hub_view_is(page_text(field, "role"), role))
            return field;
    }
    return NULL;
}

/* The first place of a line that is not 0, or how many there are. */
static size_t first_other(const json_t *line)
{
    size_t i;
    const json_t *value;
    json_array_foreach(line, i, value) if (json_is_number(value) && json_number_value(value) != 0) break;
    return i;
}

/* The step of the first reward that is not 0, by looking ever closer; 0 where there is none. */
static enum hub_status find_reward(struct compare *c, const struct side *side, double *out)
{
    enum { BUCKETS = 2000, LOOKS = 8 };
    struct page *page = &c->page;
    const json_t *reward = compare_first_of(side->dataset, "reward");
    uint64_t start = 0, stop = side->steps;
    for (unsigned look = 0; reward && look < LOOKS; look++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *curve = NULL;
        HUB_TRY(page_fetch_if_any(
            page,
            page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?buckets=%u&start=%u&stop=%u", side->id,
                     side->number, page_text(reward, "path"), (uint64_t)BUCKETS, start, stop),
            &curve));
        const json_t *field = json_object_iter_value(json_object_iter(json_object_get(curve, "fields")));
        const json_t *pairs = json_object_get(field, "pairs");
        const json_t *line = json_array_get(pairs ? pairs : json_object_get(field, "values"), 0);
        const size_t at = first_other(line);
        if (at == json_array_size(line))
            return HUB_OK;
        const uint64_t width = page_count(curve, "width");
        start = HUB_MAX(start, (page_count(curve, "first") + (pairs ? at / 2 : at)) * width);
        stop = HUB_MIN(stop, start - start % width + width);
        *out = (double)start;
        if (!pairs)
            return HUB_OK;
    }
    return HUB_OK;
}

/* align=start, end, reward, or a step of each: "12,40". */
static enum hub_status align(struct compare *c)
{
    const struct hub_view how = hub_request_query(c->page.request, "align");
    const bool ends = hub_view_is(how, "end"), rewards = hub_view_is(how, "reward");
    const char *at = how.size ? how.data : "";
    double most = 0;
    for (unsigned i = 0; i < c->count; i++) {
        char *end;
        double step = HUB_MIN(1e12, (double)strtoull(at, &end, 10));
        at = *end == ',' ? end + 1 : end;
        if (ends)
            step = (double)c->sides[i].steps;
        if (rewards)
            HUB_TRY(find_reward(c, &c->sides[i], &step));
        c->sides[i].shift = -step;
        most = HUB_MAX(most, step);
    }
    for (unsigned i = 0; i < c->count; i++) {
        c->sides[i].shift += most;
        c->span = HUB_MAX(c->span, c->sides[i].shift + (double)c->sides[i].steps);
    }
    return HUB_OK;
}

/* ---- what differs ---- */

static void text_of(const json_t *value, char out[COMPARE_NAME])
{
    if (json_is_integer(value))
        snprintf(out, COMPARE_NAME, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        page_real(json_real_value(value), out);
    else
        snprintf(out, COMPARE_NAME, "%s", json_is_string(value) ? json_string_value(value) : "");
}

static void write_row(struct compare *c, const char *name, char texts[COMPARE_SIDES][COMPARE_NAME])
{
    bool any = false, same = true;
    for (unsigned i = 0; i < c->count; i++) {
        any |= *texts[i] != '\0';
        same &= strcmp(texts[i], texts[0]) == 0;
    }
    const struct page_compare_row row = {hub_view_of(same ? "same" : ""), hub_view_of(name)};
    if (!any)
        return;
    page_compare_row_begin(&c->page.out, &row);
    for (unsigned i = 0; i < c->count; i++)
        page_compare_cell(&c->page.out, &(struct page_compare_cell){hub_view_of(texts[i])});
    page_compare_row_end(&c->page.out, &row);
}

static void write_rows(struct compare *c)
{
    static const struct {
        const char *name, *key;
        bool measured;
    } rows[] = {
        {"return", "return", false}, {"steps", "steps", false},        {"task", "task", false},
        {"seed", "seed", false},     {"still", "still", true},         {"frozen", "frozen", true},
        {"jerk", "jerk", true},      {"saturated", "saturated", true}, {"not finite", "nonfinite", true}};
    char texts[COMPARE_SIDES][COMPARE_NAME];
    for (unsigned i = 0; i < c->count; i++)
        snprintf(texts[i], COMPARE_NAME, "%s", page_outcome_of(c->sides[i].document));
    write_row(c, "outcome", texts);
    for (size_t r = 0; r < HUB_COUNT(rows); r++) {
        for (unsigned i = 0; i < c->count; i++) {
            const json_t *measured = json_object_get(c->sides[i].document, "measured");
            const json_t *value = json_object_get(c->sides[i].document, rows[r].key);
            text_of(rows[r].measured || !value ? json_object_get(measured, rows[r].key) : value, texts[i]);
        }
        write_row(c, rows[r].name, texts);
    }
}

static void write_table(struct compare *c)
{
    struct page *page = &c->page;
    const struct page_table table = {HUB_VIEW("compared"), HUB_VIEW("Equal values are grey")};
    page_table_begin(&page->out, &table);
    page_thead_begin(&page->out, NULL);
    page_th(&page->out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Measure")});
    for (unsigned i = 0; i < c->count; i++) {
        const struct side *side = &c->sides[i];
        page_compare_head(&page->out, &(struct page_compare_head){
                                          hub_view_of(side->class),
                                          page_url(page, "/d/%p/episodes/%u", side->id, side->number),
                                          side->requested, hub_view_of(side->name)});
    }
    page_thead_end(&page->out, NULL);
    page_tbody_begin(&page->out, NULL);
    write_rows(c);
    page_tbody_end(&page->out, NULL);
    page_table_end(&page->out, &table);
}

static void write_form(struct compare *c)
{
    static const char *const ways[][2] = {{"start", "start"}, {"end", "end"}, {"reward", "first reward"}};
    bool known = false;
    struct page *page = &c->page;
    const struct hub_view how = hub_request_query(page->request, "align"),
                          lanes = hub_request_query(page->request, "lanes");
    const struct page_compare_form form = {page_url(page, "/d/%p/~compare", page_id(page)),
                                           HUB_VIEW("a number, or ID:NUMBER of another dataset")};
    page_compare_form_begin(&page->out, &form);
    page_hidden_revision(page);
    if (lanes.size)
        page_hidden(&page->out, &(struct page_hidden){HUB_VIEW("lanes"), lanes});
    if (hub_request_query(page->request, "diff").size)
        page_hidden(&page->out, &(struct page_hidden){HUB_VIEW("diff"), HUB_VIEW("1")});
    page_compare_align_begin(&page->out, NULL);
    for (size_t i = 0; i < HUB_COUNT(ways); i++) {
        const struct hub_view way = hub_view_of(ways[i][0]), name = hub_view_of(ways[i][1]);
        known |= hub_view_equal(how, way);
        if (hub_view_equal(how, way))
            page_option_chosen(&page->out, &(struct page_option_chosen){way, name});
        else
            page_option(&page->out, &(struct page_option){way, name});
    }
    if (how.size && !known)
        page_option_chosen(&page->out, &(struct page_option_chosen){how, how});
    page_compare_align_end(&page->out, NULL);
    page_compare_form_end(&page->out, &form);
}

static void write_videos(struct compare *c)
{
    struct page *page = &c->page;
    bool any = false;
    for (unsigned i = 0; i < c->count; i++) {
        const struct side *side = &c->sides[i];
        const json_t *items = json_object_get(side->media, "items"), *item;
        size_t k;
        json_array_foreach(items, k, item)
        {
            const struct hub_view camera = page_text(item, "camera");
            const struct hub_view label = page_url(page, "%r: %r", hub_view_of(side->name), camera);
            if (!any)
                page_compare_media_begin(&page->out, NULL);
            any = true;
            if (!page_count(item, "frames") || !json_object_get(item, "width")) {
                page_video_missing(page, item, label);
                continue;
            }
            const struct page_compare_video video = {side->shift, page_double(side->dataset, "fps")};
            const struct page_episode_video shown = {camera, label,
                                                     page_url(page,
                                                              "/api/v1/datasets/%p/episodes/%u/~media/%p.mp4",
                                                              side->id, side->number, camera),
                                                     page_text(item, "codecs"), page_text(item, "codecs")};
            page_compare_video_begin(&page->out, &video);
            page_episode_video_begin(&page->out, &shown);
            page_episode_video_end(&page->out, &shown);
            page_compare_video_end(&page->out, &video);
        }
    }
    if (any)
        page_compare_media_end(&page->out, NULL);
}

/* The steps that are drawn and the one that is marked, moved to where there are some. */
static void read_window(struct compare *c)
{
    const struct hub_request *request = c->page.request;
    const uint64_t span = (uint64_t)c->span;
    int64_t at = 0, from = 0, to = 0;
    (void)hub_request_int(request, "at", &at);
    (void)hub_request_int(request, "from", &from);
    (void)hub_request_int(request, "to", &to);
    c->at = at > 0 && span ? HUB_MIN((uint64_t)at, span - 1) : 0;
    c->to = to > 0 ? HUB_MIN((uint64_t)to, span) : span;
    c->from = from > 0 ? HUB_MIN((uint64_t)from, span) : 0;
    if (c->from >= c->to)
        c->from = 0;
}

static void write_what_to_do(struct compare *c)
{
    struct page *page = &c->page;
    page_paragraph(&page->out,
                   &(struct page_paragraph){
                       HUB_VIEW(""),
                       c->count ? HUB_VIEW("Add the number of another episode above to see the two over each "
                                           "other.")
                                : HUB_VIEW("Nothing is chosen yet. Mark up to six episodes in the list and "
                                           "press Compare selected, or add their numbers above.")});
    page_dataset_more_begin(&page->out, NULL);
    page_link(&page->out, &(struct page_link){page_url(page, "@/d/%p/episodes", page_id(page)),
                                              HUB_VIEW("List of episodes")});
    page_dataset_more_end(&page->out, NULL);
}

enum hub_status hub_page_compare(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(dispose) struct compare c = {0};
    HUB_TRY(page_begin(&c.page, request, response, err));
    HUB_TRY(read_sides(&c, err));
    for (unsigned i = 0; i < c.count; i++)
        HUB_TRY(fetch_side(&c, &c.sides[i]));
    HUB_TRY(align(&c));
    const struct hub_view id = page_id(&c.page);
    page_open(&c.page, page_url(&c.page, "Compare - %r", id),
              page_url(&c.page, "/api/v1/datasets/%p/episodes", id));
    page_crumbs(&c.page, id, "compare");
    page_title(&c.page.out, &(struct page_title){HUB_VIEW("Compare episodes")});
    write_form(&c);
    read_window(&c);
    if (c.count < 2)
        write_what_to_do(&c);
    if (c.count) {
        write_table(&c);
        compare_timeline(&c);
        write_videos(&c);
        HUB_TRY(compare_lanes(&c));
        page_plots(&c.page.out, NULL);
        page_compare_script(&c.page.out, NULL);
    }
    return page_close(&c.page);
}
