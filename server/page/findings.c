/* Odd episodes: a block a rule that found some, the worst first. */
#include "server/page/frame.h"
#include "server/page/handlers.h"
#include "server/page/problems.h"
#include "storage/query/property.h"

#include <stdio.h>

/* All episodes in an order, none of them odd by itself. */
static bool is_order(const struct hub_odd_rule *rule)
{
    return rule->test == HUB_ODD_LOWEST || rule->test == HUB_ODD_HIGHEST;
}

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
            out, &(struct page_finding_row){page_url(page, "@/d/%p/episodes/%u%r", page_id(page), number, at),
                                            (int64_t)number, page_double(episode, "value"),
                                            page_text(episode, "field")});
    }
    page_tbody_end(out, NULL);
    page_table_end(out, &table);
}

static void write_rule(struct page *page, const struct hub_odd_rule *rule, const json_t *found)
{
    const struct page_figure figure = {hub_view_of(rule->title)};
    if (!page_count(found, "count"))
        return;
    page_figure_begin(&page->out, &figure);
    if (!is_order(rule))
        page_caption(&page->out, &(struct page_caption){page_url(page, "%r: %r", hub_view_of(rule->name),
                                                                 hub_view_of(rule->meaning))});
    write_episodes(page, found, is_order(rule));
    page_figure_end(&page->out, &figure);
}

enum hub_status hub_page_findings(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *findings = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    const struct hub_view id = page_id(&page);
    const struct hub_view query = page_query(&page, "limit", "limit", HUB_VIEW("10"), NULL);
    const struct hub_view api = page_url(&page, "/api/v1/datasets/%p/~findings%r", id, query);
    HUB_TRY(page_fetch(&page, api, &findings));
    const json_t *coverage = json_object_get(findings, "coverage");
    page_open(&page, page_url(&page, "Odd episodes - %r", id), api);
    page_crumbs(&page, id, "odd episodes");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Odd episodes")});
    if (page.revision.size)
        page_revision_bar(&page, findings);
    page_paragraph(&page.out, &(struct page_paragraph){
                                  HUB_VIEW("muted"),
                                  page_url(&page,
                                           "Measured: %u of %u episodes%r. The names before a colon can be "
                                           "used in the filter of the episodes.",
                                           page_count(coverage, "episodes"), page_count(coverage, "of"),
                                           page_unreadable_words(&page, coverage))});
    page_hidden_head(&page.out, &(struct page_hidden_head){HUB_VIEW("Rules")});
    page_dataset_cards_begin(&page.out, NULL);
    for (unsigned i = 0; i < 2 * HUB_ODD_RULES; i++) {
        const struct hub_odd_rule *rule = hub_odd_rule(i % HUB_ODD_RULES);
        if (is_order(rule) == (i >= HUB_ODD_RULES))
            write_rule(&page, rule, rule_named(findings, rule->name));
    }
    page_dataset_cards_end(&page.out, NULL);
    return page_close(&page);
}
