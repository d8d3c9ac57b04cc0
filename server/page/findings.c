/* Odd episodes: a block a rule that found some, the worst first; what else was looked for, and what is
 * extreme without being odd. */
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "server/page/lanes.h"
#include "server/page/problems.h"
#include "server/page/svg.h"
#include "storage/query/property.h"

#include <math.h>
#include <stdio.h>

enum {
    LEAST_OF_ORDER = 20 /* episodes, of which the first and the last say something */,
    LEAST_OF_SPREAD = 8
};

struct findings_view {
    struct page *page;
    const json_t *findings, *statistics;
    json_t *sparks; /* by number */
    double fps;     /* 0: not known */
};

/* All episodes in an order, none of them odd by itself. */
static bool is_order(const struct hub_odd_rule *rule)
{
    return rule->test == HUB_ODD_LOWEST || rule->test == HUB_ODD_HIGHEST;
}

static bool is_truth(const struct hub_odd_rule *rule)
{
    return hub_property_row(rule->of)->type == HUB_PROPERTY_TRUTH;
}

static const json_t *rule_named(const json_t *findings, const char *name)
{
    size_t i;
    const json_t *rule;
    json_array_foreach(json_object_get(findings, "rules"), i,
                       rule) if (hub_view_is(page_text(rule, "rule"), name)) return rule;
    return NULL;
}

/* ---- what a value means ---- */

static struct hub_view real_text(struct page *page, double value)
{
    char digits[PAGE_REAL_BYTES];
    page_real(value, digits);
    return page_url(page, "%r", hub_view_of(digits));
}

/* ", 3.2 s" of so many steps; nothing where their rate is not known. */
static struct hub_view seconds_of(const struct findings_view *v, double steps)
{
    char text[40];
    if (!(v->fps > 0) || !isfinite(steps))
        return HUB_VIEW("");
    const double seconds = steps / v->fps;
    snprintf(text, sizeof text, seconds < 10 ? ", %.2f s" : ", %.1f s", seconds);
    return page_url(v->page, "%r", hub_view_of(text));
}

static struct hub_view counted(const struct findings_view *v, double value, const char *unit)
{
    const bool time = strcmp(unit, "steps") == 0 || strcmp(unit, "frames") == 0;
    const char *one = strcmp(unit, "steps") == 0 ? "step" : strcmp(unit, "frames") == 0 ? "frame" : "value";
    return page_url(v->page, "%r %r%r", real_text(v->page, value), hub_view_of(value == 1 ? one : unit),
                    time ? seconds_of(v, value) : HUB_VIEW(""));
}

static struct hub_view share(const struct findings_view *v, double value, double steps)
{
    const double percent = 100 * value;
    char text[40];
    snprintf(text, sizeof text, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
    return page_url(v->page, "%r, %r of the episode", counted(v, round(value * steps), "steps"),
                    hub_view_of(text));
}

/* A value with its unit: a share also as the steps and seconds that it is of this episode. */
static struct hub_view value_text(const struct findings_view *v, const struct hub_odd_rule *rule,
                                  const json_t *episode)
{
    const double value = page_double(episode, "value");
    switch (rule->of) {
    case HUB_PROPERTY_FROZEN:
    case HUB_PROPERTY_STILL:
    case HUB_PROPERTY_SATURATED:
        return share(v, value, page_double(episode, "steps"));
    case HUB_PROPERTY_JERK:
    case HUB_PROPERTY_OFFSET:
        return page_url(v->page, "%r of the range", real_text(v->page, value));
    case HUB_PROPERTY_GAP:
        return isinf(value) ? HUB_VIEW("time goes back") : counted(v, value, "frames");
    default:
        return *hub_property_row(rule->of)->unit ? counted(v, value, hub_property_row(rule->of)->unit)
                                                 : real_text(v->page, value);
    }
}

/* ---- where a finding is ---- */

/* The fields whose values are not finite somewhere in the dataset. */
static enum hub_status add_odd_fields(const struct findings_view *v, struct hub_buf *out)
{
    enum { MOST_LANES = 4 };
    const char *path;
    json_t *field;
    unsigned count = 0;
    json_object_foreach(json_object_get(v->statistics, "fields"), path, field)
    {
        const json_t *odd = json_object_get(field, "nonfinite");
        if (!json_object_get(field, "role") || count == MOST_LANES ||
            page_count(odd, "nan") + page_count(odd, "+inf") + page_count(odd, "-inf") == 0)
            continue;
        HUB_TRY(hub_buf_add_text(out, count++ ? "," : "", v->page->err));
        HUB_TRY(page_lanes_add_name(out, hub_view_of(path)));
    }
    return HUB_OK;
}

/* The episode at the step, with the lane of what was found; of most others the usual lanes show it. */
static struct hub_view href_of(const struct findings_view *v, const struct hub_odd_rule *rule,
                               const json_t *episode)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf lanes = HUB_BUF_INIT(16 * KIB);
    const struct hub_view field = page_text(episode, "field");
    const uint64_t steps = page_count(episode, "steps"), at = page_count(episode, "at");
    const struct hub_view link = page_url(v->page, "@/d/%p/episodes/%u?at=%u", page_id(v->page),
                                          page_count(episode, "number"), steps ? HUB_MIN(at, steps - 1) : at);
    if (field.size ? page_lanes_add_name(&lanes, field)
                   : rule->of == HUB_PROPERTY_NONFINITE && add_odd_fields(v, &lanes))
        return link;
    return lanes.size ? page_url(v->page, "%r&lanes=%s", link, hub_buf_view(&lanes)) : link;
}

/* ---- a rule ---- */

static void write_row(const struct findings_view *v, const struct hub_odd_rule *rule, const json_t *episode)
{
    struct page_out *out = &v->page->out;
    char key[24];
    const uint64_t number = page_count(episode, "number");
    const struct page_finding_row row = {href_of(v, rule, episode), (int64_t)number};
    snprintf(key, sizeof key, "%llu", (unsigned long long)number);
    page_finding_row_begin(out, &row);
    if (!is_truth(rule))
        page_finding_value(out, &(struct page_finding_value){value_text(v, rule, episode)});
    if (json_object_get(episode, "at"))
        page_finding_at(out, &(struct page_finding_at){page_count(episode, "at"),
                                                       seconds_of(v, page_double(episode, "at"))});
    else
        page_finding_no_at(out, NULL);
    if (v->sparks) {
        page_episode_curve_begin(out, NULL);
        page_sparkline(out, page_text(v->sparks, key));
        page_episode_curve_end(out, NULL);
    }
    page_finding_row_end(out, &row);
}

static void write_episodes(const struct findings_view *v, const struct hub_odd_rule *rule,
                           const json_t *found)
{
    struct page_out *out = &v->page->out;
    const json_t *episodes = json_object_get(found, "episodes"), *episode;
    const uint64_t shown = json_array_size(episodes),
                   count = is_order(rule) ? shown : page_count(found, "count");
    const struct page_table table = {
        HUB_VIEW(""),
        is_order(rule) ? page_url(v->page, "%n of %n", shown, page_count(found, "of"))
        : shown < count
            ? page_url(v->page, "%n of %n episodes; the worst %n", count, page_count(found, "of"), shown)
            : page_url(v->page, "%n of %n episodes", count, page_count(found, "of"))};
    size_t i;
    page_table_begin(out, &table);
    page_thead_begin(out, NULL);
    page_th(out, &(struct page_th){HUB_VIEW("number"), HUB_VIEW("Episode")});
    if (!is_truth(rule))
        page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Value")});
    page_th(out, &(struct page_th){HUB_VIEW("n"), HUB_VIEW("At step")});
    if (v->sparks)
        page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Reward")});
    page_thead_end(out, NULL);
    page_tbody_begin(out, NULL);
    json_array_foreach(episodes, i, episode) write_row(v, rule, episode);
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
}

static struct hub_view rule_words(const struct hub_odd_rule *rule)
{
    return rule->test == HUB_ODD_LASTING
               ? HUB_VIEW(" Odd from 1 s on, or from 5 % of the episode and 5 steps.")
               : HUB_VIEW("");
}

static void write_rule(const struct findings_view *v, const struct hub_odd_rule *rule, const json_t *found)
{
    const struct page_figure figure = {hub_view_of(rule->title)};
    const struct hub_view name = hub_view_of(rule->name);
    page_figure_begin(&v->page->out, &figure);
    if (!is_order(rule))
        page_finding_meaning(&v->page->out,
                             &(struct page_finding_meaning){
                                 page_url(v->page, "@/d/%p/episodes?where=%s&sort=-%s", page_id(v->page),
                                          page_url(v->page, "%r is not null", name), name),
                                 name,
                                 page_url(v->page, "%r%r", hub_view_of(rule->meaning), rule_words(rule))});
    write_episodes(v, rule, found);
    page_figure_end(&v->page->out, &figure);
}

/* ---- all ---- */

/* What a rule came to: it lists something; there was nothing; it is not for so few, or no episode has what it
 * is about. */
enum outcome { FOUND, NOT_FOUND, TOO_FEW, NO_DATA };

static enum outcome outcome_of(const struct hub_odd_rule *rule, const json_t *found)
{
    const uint64_t of = page_count(found, "of");
    const bool spread = rule->test == HUB_ODD_OUTSIDE_QUARTILES;
    return page_count(found, "count")       ? FOUND
           : !of                            ? NO_DATA
           : spread && of < LEAST_OF_SPREAD ? TOO_FEW
                                            : NOT_FOUND;
}

/* A sentence that names the rules of one outcome. */
static void write_named(const struct findings_view *v, enum outcome outcome, const char *begin)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    for (unsigned i = 0; i < HUB_ODD_RULES; i++) {
        const struct hub_odd_rule *rule = hub_odd_rule(i);
        if (is_order(rule) || outcome_of(rule, rule_named(v->findings, rule->name)) != outcome)
            continue;
        const bool is_name = strncmp(rule->title, "NaN", 3) == 0;
        const char first = is_name ? 'N' : (char)(rule->title[0] | 0x20);
        if (hub_buf_addf(&text, NULL, "%s%c%s", text.size ? ", " : begin, first, rule->title + 1))
            return;
    }
    if (text.size)
        page_paragraph(&v->page->out, &(struct page_paragraph){
                                          HUB_VIEW("muted"), page_url(v->page, "%r.", hub_buf_view(&text))});
}

static void write_odd(const struct findings_view *v)
{
    page_hidden_head(&v->page->out, &(struct page_hidden_head){HUB_VIEW("Rules")});
    page_findings_cards_begin(&v->page->out, NULL);
    for (unsigned i = 0; i < HUB_ODD_RULES; i++) {
        const struct hub_odd_rule *rule = hub_odd_rule(i);
        const json_t *found = rule_named(v->findings, rule->name);
        if (!is_order(rule) && outcome_of(rule, found) == FOUND)
            write_rule(v, rule, found);
    }
    page_findings_cards_end(&v->page->out, NULL);
    write_named(v, NOT_FOUND, "Looked for and not found: ");
    write_named(v, TOO_FEW, "Looked for from 8 episodes on: ");
    write_named(v, NO_DATA, "Not looked for, as no episode has what it takes: ");
}

static void write_extremes(const struct findings_view *v)
{
    const struct page_details details = {HUB_VIEW("Extremes: lowest, highest, shortest, longest")};
    bool any = false;
    for (unsigned i = 0; i < HUB_ODD_RULES; i++) {
        const struct hub_odd_rule *rule = hub_odd_rule(i);
        const json_t *found = rule_named(v->findings, rule->name);
        if (!is_order(rule) || page_count(found, "of") < LEAST_OF_ORDER)
            continue;
        if (!any) {
            page_details_begin(&v->page->out, &details);
            page_findings_cards_begin(&v->page->out, NULL);
        }
        any = true;
        write_rule(v, rule, found);
    }
    if (any) {
        page_findings_cards_end(&v->page->out, NULL);
        page_details_end(&v->page->out, &details);
    }
}

/* ---- what is asked ---- */

static enum hub_status add_numbers(const struct findings_view *v, struct hub_buf *out)
{
    const json_t *rule, *episode;
    size_t r, i;
    json_array_foreach(json_object_get(v->findings, "rules"), r, rule)
        json_array_foreach(json_object_get(rule, "episodes"), i, episode)
            HUB_TRY(hub_buf_addf(out, v->page->err, out->size ? ",%llu" : "number in (%llu",
                                 (unsigned long long)page_count(episode, "number")));
    return out->size ? hub_buf_add_text(out, ")", v->page->err) : HUB_OK;
}

/* The sparklines of the listed episodes; none where no reward is known. */
static enum hub_status fetch_sparks(struct findings_view *v, json_t **out)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf where = HUB_BUF_INIT(16 * KIB);
    const json_t *episode;
    size_t i;
    char key[24];
    HUB_TRY(add_numbers(v, &where));
    if (!where.size)
        return HUB_OK;
    HUB_TRY(
        page_fetch_if_any(v->page,
                          page_url(v->page, "/api/v1/datasets/%p/episodes?where=%s&include=spark&limit=500",
                                   page_id(v->page), hub_buf_view(&where)),
                          &list));
    json_array_foreach(json_object_get(list, "items"), i, episode)
    {
        json_t *spark = json_object_get(episode, "spark");
        if (!page_text(episode, "spark").size)
            continue;
        *out = *out ? *out : json_object();
        snprintf(key, sizeof key, "%llu", (unsigned long long)page_count(episode, "number"));
        if (json_object_set(*out, key, spark))
            return hub_no_memory(v->page->err);
    }
    v->sparks = *out;
    return HUB_OK;
}

static void write_coverage(struct page *page, const json_t *coverage)
{
    page_paragraph(&page->out,
                   &(struct page_paragraph){
                       HUB_VIEW("muted"),
                       page_url(page,
                                "Measured: %n of %n episodes%r. Each name in bold can be used in the filter "
                                "of the episodes.",
                                page_count(coverage, "episodes"), page_count(coverage, "of"),
                                page_unreadable_words(page, coverage))});
}

enum hub_status hub_page_findings(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *findings = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *statistics = NULL;
    HUB_CLEANUP(hub_json_decrefp) json_t *sparks = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view id = page_id(&page);
    const struct hub_view query = page_query(&page, "limit", "limit", HUB_VIEW("10"), NULL);
    const struct hub_view api = page_url(&page, "/api/v1/datasets/%p/~findings%r", id, query);
    HUB_TRY(page_fetch(&page, api, &findings));
    HUB_TRY(page_fetch_if_any(&page, page_url(&page, "/api/v1/datasets/%p/~statistics", id), &statistics));
    struct findings_view v = {&page, findings, statistics, NULL, page_double(findings, "fps")};
    HUB_TRY(fetch_sparks(&v, &sparks));
    page_open(&page, page_url(&page, "Odd episodes - %r", id), api);
    page_crumbs(&page, id, "odd episodes");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Odd episodes")});
    if (page.revision.size)
        page_revision_bar(&page, findings);
    write_coverage(&page, json_object_get(findings, "coverage"));
    write_odd(&v);
    write_extremes(&v);
    return page_close(&page);
}
