/* Odd episodes: a block a rule that found some, the worst first. */
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "server/page/problems.h"

#include <stdio.h>

static const struct {
    const char *rule, *title, *about;
    bool order; /* all episodes in an order, none of them odd by itself */
} rules[] = {
    {"nonfinite", "NaN or infinite values", "Number of NaN and infinite values in an episode.", false},
    {"frozen", "Actions stand still", "Longest run of equal actions, as a share of the episode.", false},
    {"gap", "Gaps in time", "Largest distance of two timestamps, in frames; 1: no frame is lost.", false},
    {"video_frames", "Videos and steps differ", "The video has too few or too many frames.", false},
    {"unended", "Neither terminated nor truncated", "The last step is neither terminated nor truncated.",
     false},
    {"flat_reward", "The reward never changes", "1: all rewards of the episode are equal.", false},
    {"jerk", "Unusually rough or smooth actions",
     "95th percentile of the second difference of the actions: an outlier in this dataset.", false},
    {"still", "Moves unusually little or much",
     "Share of steps whose action hardly changes: an outlier in this dataset.", false},
    {"saturated", "Actions at their bounds",
     "Share of steps with an action at a bound of its space: an outlier in this dataset.", false},
    {"offset", "Action and state differ at rest",
     "Mean distance on still rows: an outlier in this dataset, as after a drift of calibration.", false},
    {"return", "Unusual return", "Outside 1.5 \xC3\x97 the interquartile range.", false},
    {"steps", "Unusual length", "Outside 1.5 \xC3\x97 the interquartile range.", false},
    {"lowest_return", "Lowest return", "", true},
    {"highest_return", "Highest return", "", true},
    {"shortest", "Shortest", "", true},
    {"longest", "Longest", "", true},
};

static const json_t *rule_named(const json_t *findings, const char *name)
{
    size_t i;
    const json_t *rule;
    json_array_foreach(json_object_get(findings, "rules"), i,
                       rule) if (hub_view_is(page_text(rule, "rule"), name)) return rule;
    return NULL;
}

static void write_episodes(struct page *page, const json_t *rule, bool order)
{
    struct page_out *out = &page->out;
    const uint64_t count =
        order ? json_array_size(json_object_get(rule, "episodes")) : page_count(rule, "count");
    const struct page_table table = {
        HUB_VIEW(""),
        page_url(page, order ? "%u of all %u episodes" : "%u of %u episodes", count, page_count(rule, "of"))};
    size_t i;
    const json_t *episode;
    page_table_begin(out, &table);
    page_thead_begin(out, NULL);
    page_th(out, &(struct page_th){HUB_VIEW("number"), HUB_VIEW("Episode")});
    page_th(out, &(struct page_th){HUB_VIEW("n"), HUB_VIEW("Value")});
    page_th(out, &(struct page_th){HUB_VIEW(""), HUB_VIEW("Field")});
    page_thead_end(out, NULL);
    page_tbody_begin(out, NULL);
    json_array_foreach(json_object_get(rule, "episodes"), i, episode)
    {
        const uint64_t number = page_count(episode, "number");
        const bool has_step = json_object_get(episode, "at") != NULL;
        const struct hub_view at =
            has_step ? page_url(page, "?at=%u", page_count(episode, "at")) : HUB_VIEW("");
        page_finding_row(
            out, &(struct page_finding_row){page_url(page, "/d/%p/episodes/%u%r", page_id(page), number, at),
                                            (int64_t)number, page_double(episode, "value"),
                                            page_text(episode, "field")});
    }
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
}

enum hub_status hub_page_findings(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    static const char *const parameters[] = {"rule", "k", "limit", "for", "revision", NULL};
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *findings = NULL;
    HUB_TRY(page_begin(&page, request, response, parameters, err));
    const struct hub_view id = page_id(&page);
    const struct hub_view query = page_query(&page, "limit", "limit", HUB_VIEW("10"), NULL);
    const struct hub_view api = page_url(&page, "/api/v1/datasets/%p/~findings%r", id, query);
    HUB_TRY(page_fetch(&page, api, &findings));
    const json_t *coverage = json_object_get(findings, "coverage");
    page_open(&page, page_url(&page, "Odd episodes - %r", id), api);
    page_crumbs(&page, id, "odd episodes");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Odd episodes")});
    page_paragraph(&page.out, &(struct page_paragraph){
                                  HUB_VIEW("muted"),
                                  page_url(&page,
                                           "Measured: %u of %u episodes%r. The names before a colon can be "
                                           "used in the filter of the episodes.",
                                           page_count(coverage, "episodes"), page_count(coverage, "of"),
                                           page_unreadable_words(&page, coverage))});
    page_hidden_head(&page.out, &(struct page_hidden_head){HUB_VIEW("Rules")});
    page_dataset_cards_begin(&page.out, NULL);
    for (size_t i = 0; i < HUB_COUNT(rules); i++) {
        const json_t *rule = rule_named(findings, rules[i].rule);
        if (!page_count(rule, "count"))
            continue;
        const struct page_figure figure = {hub_view_of(rules[i].title)};
        page_figure_begin(&page.out, &figure);
        if (!rules[i].order)
            page_caption(&page.out,
                         &(struct page_caption){page_url(&page, "%r: %r", hub_view_of(rules[i].rule),
                                                         hub_view_of(rules[i].about))});
        write_episodes(&page, rule, rules[i].order);
        page_figure_end(&page.out, &figure);
    }
    page_dataset_cards_end(&page.out, NULL);
    return page_close(&page);
}
