/* Up to six episodes, of one dataset or of several, beside each other: what differs, videos, and fields over each other. */
#include "server/page/episodes.h"
#include "server/page/handlers.h"
#include "server/page/lanes.h"

#include <math.h>
#include <stdio.h>

enum { MOST_SIDES = 6, MOST_FIGURES = 8, WIDTH = 1000, HEIGHT = 120, MARGIN = 6, NAME_BYTES = 320 };

struct side {
    struct hub_view asked, id; /* borrowed from the request */
    uint64_t number, steps;
    double shift; /* steps from the left edge of the drawing to the episode's first */
    char name[NAME_BYTES], class[4];
    json_t *dataset, *document, *media, *values; /* values: of the field that is drawn */
};

struct compare {
    struct page page;
    struct side sides[MOST_SIDES];
    unsigned count;
    double span; /* steps that the drawing is wide */
};

static void drop_values(struct compare *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        json_decref(c->sides[i].values);
        c->sides[i].values = NULL;
    }
}

static void dispose(struct compare *c)
{
    drop_values(c);
    for (unsigned i = 0; i < c->count; i++) {
        json_decref(c->sides[i].dataset);
        json_decref(c->sides[i].document);
        json_decref(c->sides[i].media);
    }
    page_dispose(&c->page);
}

/* ---- which ---- */

/* "7", or "OTHER-ID:7". */
static enum hub_status read_side(struct compare *c, struct hub_view asked, struct hub_error *err)
{
    const char *colon = memrchr(asked.data, ':', asked.size);
    const char *digits = colon ? colon + 1 : asked.data;
    char *end;
    if (c->count == MOST_SIDES)
        return hub_request_wrong(c->page.request, "e", err, "at most %d episodes", MOST_SIDES);
    struct side *side = &c->sides[c->count];
    side->number = strtoull(digits, &end, 10);
    if (*digits < '0' || *digits > '9' || *end)
        return hub_request_wrong(c->page.request, "e", err, "an episode's number, or ID:NUMBER");
    side->asked = asked;
    side->id = colon ? (struct hub_view){asked.data, (size_t)(colon - asked.data)} : page_id(&c->page);
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

static enum hub_status ask_side(struct compare *c, struct side *side)
{
    struct page *page = &c->page;
    HUB_TRY(page_ask(page, page_url(page, "/api/v1/datasets/%p", side->id), &side->dataset));
    HUB_TRY(page_ask(page, page_url(page, "/api/v1/datasets/%p/episodes/%u", side->id, side->number),
                     &side->document));
    HUB_TRY(page_ask_if_any(page,
                            page_url(page, "/api/v1/datasets/%p/episodes/%u/~media", side->id, side->number),
                            &side->media));
    side->steps = page_count(side->document, "steps");
    return HUB_OK;
}

static const json_t *first_of(const json_t *dataset, const char *role)
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
    const json_t *reward = first_of(side->dataset, "reward");
    uint64_t start = 0, stop = side->steps;
    for (unsigned look = 0; reward && look < LOOKS; look++) {
        HUB_CLEANUP(hub_json_decrefp) json_t *curve = NULL;
        HUB_TRY(page_ask_if_any(
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

static void text_of(const json_t *value, char out[NAME_BYTES])
{
    if (json_is_integer(value))
        snprintf(out, NAME_BYTES, "%lld", (long long)json_integer_value(value));
    else if (json_is_real(value))
        page_real(json_real_value(value), out);
    else
        snprintf(out, NAME_BYTES, "%s", json_is_string(value) ? json_string_value(value) : "");
}

static void write_row(struct compare *c, const char *name, char texts[MOST_SIDES][NAME_BYTES])
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
    char texts[MOST_SIDES][NAME_BYTES];
    for (unsigned i = 0; i < c->count; i++)
        snprintf(texts[i], NAME_BYTES, "%s", page_outcome_of(c->sides[i].document));
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
    const struct page_table table = {HUB_VIEW("compared"), HUB_VIEW("What is equal in all is grey")};
    page_table_begin(&page->out, &table);
    page_thead_begin(&page->out, NULL);
    page_th(&page->out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Measure")});
    for (unsigned i = 0; i < c->count; i++) {
        const struct side *side = &c->sides[i];
        page_compare_head(&page->out, &(struct page_compare_head){
                                          hub_view_of(side->class),
                                          page_url(page, "/d/%p/episodes/%u", side->id, side->number),
                                          side->asked, hub_view_of(side->name)});
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
    if (lanes.size)
        page_hidden(&page->out, &(struct page_hidden){HUB_VIEW("lanes"), lanes});
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
    const struct page_compare_media media = {(int64_t)c->span};
    bool any = false;
    for (unsigned i = 0; i < c->count; i++) {
        const struct side *side = &c->sides[i];
        const json_t *items = json_object_get(side->media, "items"), *item;
        size_t k;
        json_array_foreach(items, k, item)
        {
            const struct hub_view camera = page_text(item, "camera");
            if (!page_count(item, "frames") || !json_object_get(item, "width"))
                continue;
            if (!any)
                page_compare_media_begin(&page->out, &media);
            any = true;
            const struct page_compare_video video = {side->shift, page_double(side->dataset, "fps")};
            page_compare_video_begin(&page->out, &video);
            page_episode_video(&page->out,
                               &(struct page_episode_video){
                                   camera, page_url(page, "%r: %r", hub_view_of(side->name), camera),
                                   page_url(page, "/api/v1/datasets/%p/episodes/%u/~media/%p.mp4", side->id,
                                            side->number, camera),
                                   page_text(item, "codecs"), page_text(item, "codecs")});
            page_compare_video_end(&page->out, &video);
        }
    }
    if (any)
        page_compare_media_end(&page->out, &media);
}

/* ---- fields over each other ---- */

struct lane {
    const json_t *field; /* of the first dataset */
    struct hub_view dims;
    bool sum;
};

static const json_t *values_of(const struct side *side)
{
    return json_object_iter_value(json_object_iter(json_object_get(side->values, "fields")));
}

static double number_at(const json_t *field, const char *key, size_t i)
{
    return page_double_of(json_array_get(json_object_get(field, key), i));
}

/* A pair stands at its bucket's first row and at its middle; a value at its row. Broken where there is none. */
static enum hub_status line_of(const struct compare *c, const struct side *side, const struct lane *lane,
                               size_t dim, const double range[2], struct hub_buf *d)
{
    const json_t *pairs = json_object_get(values_of(side), "pairs"),
                 *rows = pairs ? pairs : json_object_get(values_of(side), "values"), *value;
    const double width = page_double(side->values, "width"),
                 first = page_double(side->values, "first") * width + side->shift -
                         hub_view_is(page_text(lane->field, "axis"), "shifted");
    const double apart = pairs ? width / 2 : 1, high = range[1] - range[0];
    bool pen = false;
    size_t i;
    json_array_foreach(json_array_get(rows, dim), i, value)
    {
        const double x = (first + (double)i * apart) / HUB_MAX(1.0, c->span) * WIDTH;
        const double up = high > 0 ? (json_number_value(value) - range[0]) / high : 0.5;
        if (json_is_number(value))
            HUB_TRY(hub_buf_addf(d, NULL, "%c%.1f %.1f", pen ? 'L' : 'M', x,
                                 HEIGHT - MARGIN - up * (HEIGHT - 2 * MARGIN)));
        pen = json_is_number(value);
    }
    return HUB_OK;
}

/* What is drawn, in words: "episode 3: from -1 to 4". */
static void add_words(const struct side *side, size_t dim, char *out, size_t size)
{
    char low[PAGE_REAL_BYTES], high[PAGE_REAL_BYTES];
    const size_t used = strlen(out);
    page_real(number_at(values_of(side), "min", dim), low);
    page_real(number_at(values_of(side), "max", dim), high);
    snprintf(out + used, size - used, "%s%s: from %s to %s", used ? "; " : "", side->name, low, high);
}

static struct hub_view title_of(struct compare *c, const struct lane *lane, const json_t *field, size_t dim)
{
    const struct hub_view path = page_text(lane->field, "path");
    const char *name = json_string_value(json_array_get(json_object_get(field, "names"), dim));
    if (lane->sum)
        return page_url(&c->page, "return: the sum of %r so far", path);
    if (json_array_size(json_object_get(field, "dims")) < 2 && !lane->dims.size)
        return page_url(&c->page, "%r", path);
    return name ? page_url(&c->page, "%r: %r", path, hub_view_of(name))
                : page_url(&c->page, "%r [%u]", path, (uint64_t)number_at(field, "dims", dim));
}

static void write_figure(struct compare *c, const struct lane *lane, const json_t *some, size_t dim)
{
    struct page_out *out = &c->page.out;
    double range[2] = {INFINITY, -INFINITY};
    char words[MOST_SIDES * (NAME_BYTES + 100)] = "";
    for (unsigned i = 0; i < c->count; i++) {
        if (!values_of(&c->sides[i]))
            continue;
        range[0] = fmin(range[0], number_at(values_of(&c->sides[i]), "min", dim));
        range[1] = fmax(range[1], number_at(values_of(&c->sides[i]), "max", dim));
        add_words(&c->sides[i], dim, words, sizeof words);
    }
    const struct page_figure figure = {title_of(c, lane, some, dim)};
    const struct page_plot plot = {hub_view_of(words), HUB_VIEW("plot")};
    page_figure_begin(out, &figure);
    page_plot_begin(out, &plot);
    for (unsigned i = 0; i < c->count; i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf d = HUB_BUF_INIT(256 * KIB);
        if (!line_of(c, &c->sides[i], lane, dim, range, &d) && d.size)
            page_plot_line(out, &(struct page_plot_line){hub_view_of(c->sides[i].class), hub_buf_view(&d)});
    }
    page_plot_end(out, &plot);
    page_legend_begin(out, NULL);
    for (unsigned i = 0; i < c->count; i++)
        page_legend_item(out, &(struct page_legend_item){i, hub_view_of(c->sides[i].class),
                                                         hub_view_of(c->sides[i].name)});
    page_legend_end(out, NULL);
    page_caption(out, &(struct page_caption){hub_view_of(words)});
    page_figure_end(out, &figure);
}

static enum hub_status write_lane(struct compare *c, const struct lane *lane)
{
    struct page *page = &c->page;
    const json_t *some = NULL;
    drop_values(c);
    for (unsigned i = 0; i < c->count; i++) {
        struct side *side = &c->sides[i];
        const struct hub_view dims = lane->dims.size ? page_url(page, "&dims=%s", lane->dims) : HUB_VIEW("");
        HUB_TRY(page_ask_if_any(page,
                                page_url(page, "/api/v1/datasets/%p/episodes/%u/%p?buckets=300%r%r", side->id,
                                         side->number, page_text(lane->field, "path"),
                                         lane->sum ? HUB_VIEW("&of=sum") : HUB_VIEW(""), dims),
                                &side->values));
        some = some ? some : values_of(side);
    }
    const size_t dims = json_array_size(json_object_get(some, "dims"));
    for (size_t i = 0; i < HUB_MIN(dims, (size_t)MOST_FIGURES); i++)
        write_figure(c, lane, some, i);
    return HUB_OK;
}

static bool is_wide(const json_t *field)
{
    double dims = 1;
    for (size_t i = 0; i < json_array_size(json_object_get(field, "shape")); i++)
        dims *= number_at(field, "shape", i);
    return dims > 4;
}

/* Rewards, their sum, the first four numbers of an action. */
static enum hub_status write_usual(struct compare *c)
{
    const json_t *reward = first_of(c->sides[0].dataset, "reward"),
                 *action = first_of(c->sides[0].dataset, "action");
    if (reward) {
        HUB_TRY(write_lane(c, &(struct lane){reward, HUB_VIEW(""), false}));
        HUB_TRY(write_lane(c, &(struct lane){reward, HUB_VIEW(""), true}));
    }
    if (!action)
        return HUB_OK;
    return write_lane(c, &(struct lane){action, is_wide(action) ? HUB_VIEW("0-3") : HUB_VIEW(""), false});
}

/* A field of `lanes=`: FIELD, or FIELD:DIMS. */
static enum hub_status write_chosen(struct compare *c, struct hub_view chosen)
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
        return write_lane(c, &(struct lane){field, {chosen.data + skip, chosen.size - skip}, false});
    }
    return HUB_OK;
}

static void write_choices(struct compare *c)
{
    struct page *page = &c->page;
    const struct page_details details = {HUB_VIEW("Other fields")};
    size_t i;
    const json_t *field;
    page_details_begin(&page->out, &details);
    page_legend_begin(&page->out, NULL);
    json_array_foreach(json_object_get(c->sides[0].dataset, "fields"), i, field)
    {
        const struct hub_view path = page_text(field, "path");
        if (hub_view_is(page_text(field, "type"), "number"))
            page_lane_link(&page->out,
                           &(struct page_lane_link){page_query(page, "lanes", "lanes", path, NULL), path});
    }
    page_legend_end(&page->out, NULL);
    page_details_end(&page->out, &details);
}

static enum hub_status write_lanes(struct compare *c)
{
    struct hub_view lanes = hub_request_query(c->page.request, "lanes");
    page_hidden_head(&c->page.out, &(struct page_hidden_head){HUB_VIEW("Fields over each other")});
    write_choices(c);
    page_compare_lanes_begin(&c->page.out, NULL);
    if (!lanes.size)
        HUB_TRY(write_usual(c));
    while (lanes.size) {
        const char *comma = memchr(lanes.data, ',', lanes.size);
        const size_t size = comma ? (size_t)(comma - lanes.data) : lanes.size;
        HUB_TRY(write_chosen(c, (struct hub_view){lanes.data, size}));
        lanes = (struct hub_view){lanes.data + size + (comma != NULL), lanes.size - size - (comma != NULL)};
    }
    page_compare_lanes_end(&c->page.out, NULL);
    return HUB_OK;
}

enum hub_status hub_page_compare(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    static const char *const parameters[] = {"e...", "align", "lanes", "for", "revision", NULL};
    HUB_CLEANUP(dispose) struct compare c = {0};
    HUB_TRY(page_begin(&c.page, request, response, parameters, err));
    HUB_TRY(read_sides(&c, err));
    for (unsigned i = 0; i < c.count; i++)
        HUB_TRY(ask_side(&c, &c.sides[i]));
    HUB_TRY(align(&c));
    const struct hub_view id = page_id(&c.page);
    page_open(&c.page, page_url(&c.page, "Compare - %r", id),
              page_url(&c.page, "/api/v1/datasets/%p/episodes", id));
    page_crumbs(&c.page, id, "compare");
    page_title(&c.page.out, &(struct page_title){HUB_VIEW("Compare episodes")});
    write_form(&c);
    if (c.count) {
        write_table(&c);
        write_videos(&c);
        HUB_TRY(write_lanes(&c));
    }
    return page_close(&c.page);
}
