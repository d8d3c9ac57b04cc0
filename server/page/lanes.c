/* The lanes of an episode: see lanes.h. */
#include "server/page/lanes.h"

#include "server/page/camera_words.h"
#include "server/page/curve.h"

#include <ctype.h>
#include <stdio.h>

enum {
    MOST_LANES = 12,
    FEW_LANES = 3,   /* where no role is known */
    MOST_INSIDE = 5, /* numbers inside rows of JSON, of a role, among default fields */
    MOST_PAIRED = 8,
    MOST_CHOICES = 60,
    MOST_CHOSEN = 512,
    NAME_BYTES = 1024,
    DIMS_BYTES = 128
};

struct curve_lane {
    const json_t *field, *over; /* of the dataset; over: drawn over it, or NULL */
    bool sum;
    char dims[DIMS_BYTES]; /* "", "0-3+7", or of rows of JSON a pointer: "/arm/0" */
};

struct shown_lanes {
    struct curve_lane lanes[MOST_LANES];
    unsigned count;
};

const json_t *page_field_of(const json_t *document, struct hub_view path)
{
    const json_t *fields = json_object_get(document, "fields");
    for (size_t i = 0; i < json_array_size(fields); i++)
        if (hub_view_equal(page_text(json_array_get(fields, i), "path"), path))
            return json_array_get(fields, i);
    return NULL;
}

/* ---- which ---- */

static bool has_role(const json_t *field, const char *role)
{
    return hub_view_is(page_text(field, "role"), role);
}

static bool is_number(const json_t *field)
{
    return hub_view_is(page_text(field, "type"), "number");
}

/* Numbers in a row of a field of the dataset; 0: more than a lane can be made of. */
static unsigned dims_of(const json_t *field)
{
    const json_t *shape = json_object_get(field, "shape");
    double dims = 1;
    for (size_t i = 0; i < json_array_size(shape); i++)
        dims *= page_double_of(json_array_get(shape, i));
    return dims >= 1 && dims <= MOST_CHOSEN ? (unsigned)dims : 0;
}

static bool is_band(const json_t *field)
{
    return (hub_view_is(page_text(field, "type"), "bool") || hub_view_is(page_text(field, "type"), "text")) &&
           dims_of(field) == 1;
}

static bool can_be_lane(const struct page_lanes *l, const json_t *field)
{
    return (is_number(field) || is_band(field)) && !hub_view_is(page_text(field, "axis"), "none") &&
           page_field_of(l->document, page_text(field, "path"));
}

/* Numbers within rows of JSON. */
static bool can_have_leaves(const struct page_lanes *l, const json_t *field)
{
    return hub_view_is(page_text(field, "type"), "padded-json") &&
           !hub_view_is(page_text(field, "axis"), "none") &&
           page_field_of(l->document, page_text(field, "path"));
}

static void add(struct shown_lanes *shown, const json_t *field, bool sum, struct hub_view dims)
{
    if (shown->count == MOST_LANES || dims.size >= DIMS_BYTES)
        return;
    struct curve_lane *lane = &shown->lanes[shown->count++];
    *lane = (struct curve_lane){.field = field, .sum = sum};
    memcpy(lane->dims, dims.data, dims.size);
}

static const json_t *first_reward(const struct page_lanes *l)
{
    const json_t *fields = json_object_get(l->dataset, "fields");
    for (size_t i = 0; i < json_array_size(fields); i++)
        if (is_number(json_array_get(fields, i)) && has_role(json_array_get(fields, i), "reward") &&
            can_be_lane(l, json_array_get(fields, i)))
            return json_array_get(fields, i);
    return NULL;
}

/* A number inside the rows of another field, which are JSON. */
static bool is_inside(const struct page_lanes *l, const json_t *field)
{
    struct hub_view above = page_text(field, "path");
    while (above.size) {
        const json_t *rows = above.data[--above.size] == '/' ? page_field_of(l->dataset, above) : NULL;
        if (rows)
            return hub_view_is(page_text(rows, "type"), "padded-json");
    }
    return false;
}

/* Many numbers of which a curve shows nothing: pictures, and how cameras stand. */
static bool is_better_seen(const json_t *field)
{
    return page_is_picture(field) || page_is_camera_matrix(field);
}

/* Where no role is known: the first numbers. */
static void choose_first(const struct page_lanes *l, struct shown_lanes *shown)
{
    const json_t *fields = json_object_get(l->dataset, "fields");
    for (size_t i = 0; i < json_array_size(fields) && shown->count < FEW_LANES; i++) {
        const json_t *field = json_array_get(fields, i);
        if (is_number(field) && can_be_lane(l, field) && dims_of(field) && !is_better_seen(field))
            add(shown, field, false, HUB_VIEW(""));
    }
}

/* Rewards, their sum, actions, observations. Actions stored in several ways leave room for the last. */
static void choose_usual(const struct page_lanes *l, struct shown_lanes *shown)
{
    static const char *const roles[] = {"reward", "action", "observation"};
    const json_t *fields = json_object_get(l->dataset, "fields");
    for (size_t r = 0; r < HUB_COUNT(roles); r++) {
        unsigned inside = 0;
        for (size_t i = 0; i < json_array_size(fields); i++) {
            const json_t *field = json_array_get(fields, i);
            if (!is_number(field) || !has_role(field, roles[r]) || !can_be_lane(l, field) ||
                !dims_of(field) || is_better_seen(field))
                continue;
            if (is_inside(l, field) && inside++ >= MOST_INSIDE)
                continue;
            add(shown, field, false, HUB_VIEW(""));
            if (r == 0)
                add(shown, field, true, HUB_VIEW(""));
        }
    }
    if (!shown->count)
        choose_first(l, shown);
}

static unsigned hex_of(char c)
{
    return isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(tolower((unsigned char)c) - 'a' + 10);
}

/* In a field's name and in a pointer ',', ':', '|' and '%' are written %2C, %3A, %7C, %25. 0: it is too
 * long. */
static size_t decode_name(struct hub_view text, char out[NAME_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < text.size && n < NAME_BYTES; i++) {
        const bool coded = text.data[i] == '%' && i + 2 < text.size &&
                           isxdigit((unsigned char)text.data[i + 1]) &&
                           isxdigit((unsigned char)text.data[i + 2]);
        out[n++] = coded ? (char)(hex_of(text.data[i + 1]) << 4 | hex_of(text.data[i + 2])) : text.data[i];
        i += coded ? 2 : 0;
    }
    return n < NAME_BYTES ? n : 0;
}

/* Two that stand over each other: as many numbers at the same steps, few enough to be curves. */
static bool can_be_paired(const struct page_lanes *l, const struct curve_lane *lane, const json_t *over)
{
    const json_t *field = lane->field;
    return over != field && !lane->sum && *lane->dims != '/' && is_number(field) && is_number(over) &&
           can_be_lane(l, over) && dims_of(field) && dims_of(field) == dims_of(over) &&
           (*lane->dims || dims_of(field) <= MOST_PAIRED) &&
           hub_view_equal(page_text(field, "axis"), page_text(over, "axis"));
}

/* The first other field whose dimensions have the same names, as the state of what an action asks for;
 * NULL: none. */
static const json_t *partner_of(const struct page_lanes *l, const struct curve_lane *lane)
{
    const json_t *fields = json_object_get(l->dataset, "fields"),
                 *names = json_object_get(lane->field, "names");
    for (size_t i = 0; json_array_size(names) && i < json_array_size(fields); i++)
        if (can_be_paired(l, lane, json_array_get(fields, i)) &&
            json_equal(names, json_object_get(json_array_get(fields, i), "names")))
            return json_array_get(fields, i);
    return NULL;
}

/* "return" is the sum of the first reward, unless a field has that name. */
static void choose_one(const struct page_lanes *l, struct hub_view text, struct shown_lanes *shown)
{
    char name[NAME_BYTES], pointer[NAME_BYTES];
    const char *colon = memchr(text.data, ':', text.size);
    const size_t size = colon ? (size_t)(colon - text.data) : text.size;
    struct hub_view dims = {text.data + size + (colon != NULL), text.size - size - (colon != NULL)};
    const char *bar = memchr(text.data, '|', size);
    const size_t own = bar ? (size_t)(bar - text.data) : size;
    const struct hub_view path = {name, decode_name((struct hub_view){text.data, own}, name)};
    const json_t *field = page_field_of(l->dataset, path);
    const bool sum = !field && hub_view_is(path, "return");
    if (sum)
        field = first_reward(l);
    const bool leaf = hub_view_starts(dims, "/");
    if (leaf)
        dims = (struct hub_view){pointer, decode_name(dims, pointer)};
    if (field && (leaf ? can_have_leaves(l, field) : can_be_lane(l, field)) && (dims.size || dims_of(field)))
        add(shown, field, sum, dims);
    if (bar && shown->count && shown->lanes[shown->count - 1].field == field) {
        const struct hub_view other = {pointer,
                                       decode_name((struct hub_view){bar + 1, size - own - 1}, pointer)};
        struct curve_lane *lane = &shown->lanes[shown->count - 1];
        const json_t *over = page_field_of(l->dataset, other);
        lane->over = over && can_be_paired(l, lane, over) ? over : NULL;
    }
}

static void choose(const struct page_lanes *l, struct shown_lanes *shown)
{
    struct hub_view requested = hub_request_query(l->page->request, "lanes");
    if (!requested.size)
        choose_usual(l, shown);
    while (requested.size) {
        const char *comma = memchr(requested.data, ',', requested.size);
        const size_t size = comma ? (size_t)(comma - requested.data) : requested.size;
        choose_one(l, (struct hub_view){requested.data, size}, shown);
        requested.data += size + (comma != NULL);
        requested.size -= size + (comma != NULL);
    }
}

/* ---- how they are written in an address ---- */

enum hub_status page_lanes_add_name(struct hub_buf *out, struct hub_view text)
{
    for (size_t i = 0; i < text.size; i++)
        HUB_TRY(memchr(",:|%", text.data[i], 4)
                    ? hub_buf_addf(out, NULL, "%%%02X", (unsigned)(unsigned char)text.data[i])
                    : hub_buf_add(out, &text.data[i], 1, NULL));
    return HUB_OK;
}

static enum hub_status add_name(struct hub_buf *out, const struct curve_lane *lane, const json_t *first)
{
    if (lane->sum && lane->field == first)
        return hub_buf_add_text(out, "return", NULL);
    HUB_TRY(page_lanes_add_name(out, page_text(lane->field, "path")));
    if (lane->over) {
        HUB_TRY(hub_buf_add_text(out, "|", NULL));
        HUB_TRY(page_lanes_add_name(out, page_text(lane->over, "path")));
    }
    HUB_TRY(hub_buf_add_text(out, *lane->dims ? ":" : "", NULL));
    return page_lanes_add_name(out, hub_view_of(lane->dims));
}

/* All but one, then another one: NULL for none. */
static enum hub_status add_list(struct hub_buf *out, const struct page_lanes *l,
                                const struct shown_lanes *shown, const json_t *without,
                                const struct curve_lane *more)
{
    const json_t *first = first_reward(l);
    for (unsigned i = 0; i < shown->count; i++) {
        if (shown->lanes[i].field == without)
            continue;
        HUB_TRY(hub_buf_add_text(out, out->size ? "," : "", NULL));
        HUB_TRY(add_name(out, &shown->lanes[i], first));
    }
    if (!more)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(out, out->size ? "," : "", NULL));
    return add_name(out, more, first);
}

struct hub_view page_lanes_leaf(const struct page_lanes *l, const json_t *field, struct hub_view pointer)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
    struct shown_lanes shown = {0}, one = {0};
    choose(l, &shown);
    if (!hub_request_query(l->page->request, "lanes").size)
        shown.count =
            HUB_MIN(shown.count, MOST_LANES - 1u); /* default fields make room for one that is wanted */
    add(&one, field, false, pointer);
    if (!one.count || shown.count == MOST_LANES || add_list(&list, l, &shown, NULL, &one.lanes[0]))
        return HUB_VIEW("");
    return page_query(l->page, "lanes", "lanes", hub_buf_view(&list), NULL);
}

static const struct curve_lane *lane_of(const struct shown_lanes *shown, const json_t *field)
{
    for (unsigned i = 0; i < shown->count; i++)
        if (shown->lanes[i].field == field)
            return &shown->lanes[i];
    return NULL;
}

/* A link for each field that can be one: it is put there, or taken away. */
static enum hub_status write_choices(const struct page_lanes *l, const struct shown_lanes *shown)
{
    struct page *page = l->page;
    const struct page_chips chips = {HUB_VIEW("Fields")};
    const json_t *fields = json_object_get(l->dataset, "fields");
    page_chips_begin(&page->out, &chips);
    uint64_t count = 0;
    for (size_t i = 0; i < json_array_size(fields); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
        const json_t *field = json_array_get(fields, i);
        const struct curve_lane *there = lane_of(shown, field);
        if ((!can_be_lane(l, field) && !there) || (count++ >= MOST_CHOICES && !there))
            continue;
        const struct hub_view path = page_text(field, "path");
        const struct curve_lane more = {.field = field, .dims = ""};
        struct curve_lane cut = more;
        if (!dims_of(field))
            memcpy(cut.dims, "0-7", sizeof "0-7");
        HUB_TRY(add_list(&list, l, shown, field, there ? NULL : &cut));
        const struct hub_view href = page_query(page, "lanes", "lanes", hub_buf_view(&list), NULL);
        if (there)
            page_lane_there(&page->out, &(struct page_lane_there){href, path});
        else
            page_lane_link(&page->out, &(struct page_lane_link){href, path});
    }
    if (count > MOST_CHOICES)
        page_item(&page->out,
                  &(struct page_item){
                      page_url(page, "%u fields in total; lanes=NAME in the address chooses others", count)});
    if (hub_request_query(page->request, "lanes").size)
        page_lane_link(&page->out,
                       &(struct page_lane_link){page_query(page, "lanes", NULL), HUB_VIEW("default fields")});
    page_chips_end(&page->out, &chips);
    return HUB_OK;
}

/* ---- the section ---- */

/* The same lanes, with the partner of one over it. */
static struct hub_view href_of_pair(const struct page_lanes *l, const struct shown_lanes *shown,
                                    const struct curve_lane *lane, const json_t *partner)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
    struct shown_lanes with = *shown;
    with.lanes[lane - shown->lanes].over = partner;
    if (add_list(&list, l, &with, NULL, NULL))
        return HUB_VIEW("");
    return page_query(l->page, "lanes", "lanes", hub_buf_view(&list), NULL);
}

/* Of a field of few numbers: all of them, those that are off too. */
static enum hub_status add_all(struct hub_buf *out, const struct curve_lane *lane, const json_t *first)
{
    struct curve_lane whole = *lane;
    const unsigned dims = dims_of(lane->field);
    if (*lane->dims != '/' && dims && dims <= MOST_PAIRED)
        *whole.dims = '\0';
    return add_name(out, &whole, first);
}

/* The lanes before it, each with a comma behind; those after it, each with one ahead. */
static enum hub_status add_around(struct hub_buf *before, struct hub_buf *after, const struct page_lanes *l,
                                  const struct shown_lanes *shown, const struct curve_lane *lane)
{
    const json_t *first = first_reward(l);
    for (const struct curve_lane *other = shown->lanes; other < shown->lanes + shown->count; other++) {
        struct hub_buf *out = other < lane ? before : after;
        if (other == lane)
            continue;
        HUB_TRY(hub_buf_add_text(out, out == after ? "," : "", NULL));
        HUB_TRY(add_name(out, other, first));
        HUB_TRY(hub_buf_add_text(out, out == before ? "," : "", NULL));
    }
    return HUB_OK;
}

static enum hub_status draw(const struct page_lanes *l, const struct shown_lanes *shown,
                            const struct curve_lane *lane, struct hub_view list)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf name = HUB_BUF_INIT(8 * KIB), href = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(8 * KIB);
    HUB_CLEANUP(hub_buf_dispose)
    struct hub_buf before = HUB_BUF_INIT(64 * KIB), after = HUB_BUF_INIT(64 * KIB);
    const json_t *partner = lane->over ? NULL : partner_of(l, lane);
    HUB_TRY(add_name(&name, lane, first_reward(l)));
    HUB_TRY(add_all(&all, lane, first_reward(l)));
    HUB_TRY(add_around(&before, &after, l, shown, lane));
    if (partner)
        HUB_TRY(hub_buf_add_view(&href, href_of_pair(l, shown, lane, partner), NULL));
    const struct page_curve curve = {
        .id = l->id,
        .path = page_text(lane->field, "path"),
        .axis = page_text(lane->field, "axis"),
        .dtype = page_text(lane->field, "dtype"),
        .name = hub_buf_view(&name),
        .shown = list,
        .all = hub_buf_view(&all),
        .before = hub_buf_view(&before),
        .after = hub_buf_view(&after),
        .chosen = hub_view_of(lane->dims),
        .episode = l->episode,
        .steps = l->steps,
        .at = l->at,
        .from = l->from,
        .to = l->to,
        .over = page_text(lane->over, "path"),
        .offer = page_text(partner, "path"),
        .offer_href = hub_buf_view(&href),
        .sum = lane->sum,
        .band = is_band(lane->field),
        .field = lane->field,
        .dims = *lane->dims == '/' ? 1 : dims_of(lane->field),
    };
    return page_curve_figure(l->page, &curve);
}

enum hub_status page_lanes_section(const struct page_lanes *l)
{
    struct page_out *out = &l->page->out;
    const struct page_section section = {HUB_VIEW("curves"), HUB_VIEW("Curves")};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
    struct shown_lanes shown = {0};
    choose(l, &shown);
    HUB_TRY(add_list(&list, l, &shown, NULL, NULL));
    page_section_begin(out, &section);
    HUB_TRY(write_choices(l, &shown));
    page_plain(out, NULL);
    if (!first_reward(l))
        page_paragraph(
            out, &(struct page_paragraph){HUB_VIEW("muted"), HUB_VIEW("This dataset stores no rewards.")});
    const struct page_lane_list lanes = {HUB_VIEW("lanes"), hub_buf_view(&list)};
    page_lane_list_begin(out, &lanes);
    for (unsigned i = 0; i < shown.count; i++)
        HUB_TRY(draw(l, &shown, &shown.lanes[i], hub_buf_view(&list)));
    page_lane_list_end(out, &lanes);
    page_section_end(out, &section);
    return HUB_OK;
}

/* The field that is drawn over the whole episode: the reward, else the first number. */
static const json_t *overview_of(const struct page_lanes *l)
{
    const json_t *fields = json_object_get(l->dataset, "fields"), *reward = first_reward(l);
    for (size_t i = 0; !reward && i < json_array_size(fields); i++)
        if (is_number(json_array_get(fields, i)) && can_be_lane(l, json_array_get(fields, i)))
            reward = json_array_get(fields, i);
    return reward;
}

static void write_timeline_field(const struct page_lanes *l, const char *kind, const json_t *field)
{
    const struct hub_view path = page_text(field, "path");
    page_timeline_field(&l->page->out,
                        &(struct page_timeline_field){
                            hub_view_of(kind),
                            page_url(l->page, "/api/v1/datasets/%p/episodes/%u/%p", l->id, l->episode, path),
                            path, page_text(field, "axis"), 0, HUB_VIEW("")});
}

static bool has_name(const json_t *field, struct hub_view name)
{
    const struct hub_view path = page_text(field, "path");
    return hub_view_ends(path, name.data) &&
           (path.size == name.size || memchr("./", path.data[path.size - name.size - 1], 2));
}

/* What of a field is marked on the overview: where it is true, where time leaps, where another task begins.
 * NULL: nothing. */
static const char *mark_of(const struct page_lanes *l, const json_t *field)
{
    if (!can_be_lane(l, field) || dims_of(field) != 1)
        return NULL;
    if (is_band(field) && has_role(field, "done"))
        return "mark";
    if (is_number(field) && has_name(field, HUB_VIEW("timestamp")) && page_double(l->dataset, "fps") > 0)
        return "times";
    return is_number(field) && has_name(field, HUB_VIEW("task_index")) ? "tasks" : NULL;
}

void page_lanes_timeline(const struct page_lanes *l)
{
    struct page *page = l->page;
    const json_t *fields = json_object_get(l->dataset, "fields"), *over = overview_of(l);
    const double fps = page_double(l->dataset, "fps");
    const struct page_timeline timeline = {
        page_url(page, "/api/v1/datasets/%p/episodes/%u", l->id, l->episode),
        page_text(l->dataset, "revision"),
        (int64_t)l->steps,
        (int64_t)l->at,
        (int64_t)l->from,
        (int64_t)l->to,
        fps > 0 ? fps : 0};
    page_timeline_begin(&page->out, &timeline);
    if (over)
        write_timeline_field(l, "overview", over);
    for (size_t i = 0; i < json_array_size(fields); i++) {
        const json_t *field = json_array_get(fields, i);
        const char *kind = mark_of(l, field);
        if (kind)
            write_timeline_field(l, kind, field);
    }
    page_timeline_end(&page->out, &timeline);
}
