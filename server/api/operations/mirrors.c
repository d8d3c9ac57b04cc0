/* Mirror rules: read by everybody, made and changed by the admin of this machine. */
#include "server/api/handlers.h"

#include "server/api/app.h"
#include "server/api/cursor.h"
#include "server/api/visible.h"
#include "server/mirror/document.h"
#include "server/mirror/mirror.h"
#include "server/mirror/spec.h"
#include "server/mirror/uncovered.h"

#include <stdio.h>

enum { SPEC_BYTES = 64 * 1024 };

struct rules_page {
    const struct hub_request *request;
    const struct hub_page_query *page;
    struct hub_json json;
    uint32_t first, at; /* of the page; the next rule */
    struct hub_page_ends ends;
};

/* How many there are, and where the cursor stands. */
static enum hub_status count(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    struct rules_page *l = user;
    (void)err;
    if (!hub_request_may_see_rule(l->request, rule->name))
        return HUB_OK;
    l->ends.total++;
    l->first += l->page->goes_on && strcmp(rule->name, l->page->after.key) < !l->page->after.back;
    return HUB_OK;
}

static enum hub_status put(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    struct rules_page *l = user;
    if (!hub_request_may_see_rule(l->request, rule->name))
        return HUB_OK;
    const uint32_t at = l->at++;
    (void)err;
    if (at < l->first || at - l->first >= l->page->limit)
        return HUB_OK;
    hub_mirror_write(&l->json, rule, l->request->app->roots, l->request->local, "");
    if (at == l->first)
        snprintf(l->ends.prev.key, sizeof l->ends.prev.key, "%s", rule->name);
    snprintf(l->ends.next.key, sizeof l->ends.next.key, "%s", rule->name);
    return hub_json_status(&l->json);
}

enum hub_status hub_mirrors_list(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    struct hub_page_query page;
    struct rules_page l = {.request = request, .page = &page};
    HUB_TRY(hub_page_read(request, &page, err));
    if (!request->may_block)
        return HUB_AGAIN; /* SQLite is asked */
    HUB_TRY(hub_rules_each(request->app->truth, count, &l, err));
    l.first = hub_page_first(&page, l.first);
    l.json = hub_page_begin(&page, response, 8 * MIB, err);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    HUB_TRY(hub_rules_each(request->app->truth, put, &l, err));
    hub_page_span(&l.ends, l.first, HUB_MIN(l.at, l.first + page.limit));
    return hub_page_close(request, &page, response, &l.json, &l.ends, err);
}

static enum hub_status answer(struct hub_request *request, const char *name, unsigned status,
                              const char *note, struct hub_response *response, struct hub_error *err)
{
    struct hub_rule rule;
    HUB_TRY(hub_rule_find(request->app->truth, name, &rule, err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, status, "application/json", 256 * KIB), err);
    hub_mirror_write(&json, &rule, request->app->roots, request->local, note);
    hub_rule_dispose(&rule);
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-store"));
    return hub_json_status(&json);
}

/* As a text of its own. */
static enum hub_status name_of(const struct hub_request *request, char name[HUB_RULE_NAME_CHARS + 1],
                               struct hub_error *err)
{
    const struct hub_view text = hub_request_capture(request, "name");
    if (text.size > HUB_RULE_NAME_CHARS)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_MIRROR_NOT_FOUND,
                           "the name is longer than that of any mirror rule");
    snprintf(name, HUB_RULE_NAME_CHARS + 1, "%.*s", (int)text.size, text.data);
    return HUB_OK;
}

enum hub_status hub_mirror_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    char name[HUB_RULE_NAME_CHARS + 1];
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(name_of(request, name, err));
    if (!hub_request_may_see_rule(request, name))
        return hub_rule_absent(name, err);
    return answer(request, name, 200, "", response, err);
}

enum hub_status hub_mirror_post(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *spec = NULL;
    char name[HUB_RULE_NAME_CHARS + 1], note[HUB_MIRROR_NOTE];
    if (!request->may_block)
        return HUB_AGAIN;
    const struct hub_view text = hub_request_query(request, "spec"),
                          named = hub_request_query(request, "name");
    HUB_TRY(hub_json_parse(text, SPEC_BYTES, &spec, err));
    HUB_TRY(hub_mirror_check(spec, request->app->roots, err));
    if (named.data)
        snprintf(name, sizeof name, "%.*s", (int)HUB_MIN(named.size, sizeof name - 1), named.data);
    else
        hub_mirror_name(spec, name, sizeof name);
    HUB_TRY(hub_mirror_name_check(name, err));
    HUB_TRY(hub_rule_put(request->app->truth, name, false, spec, err));
    hub_mirrors_wake(request->app->mirrors);
    HUB_TRY(hub_mirror_overlap(request->app->truth, name, spec, note, err));
    (void)hub_mirror_uncovered(spec, request->app->roots, request->access, note);
    return answer(request, name, 201, note, response, err);
}

enum hub_status hub_mirror_do(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    struct hub_truth *truth = request->app->truth;
    char name[HUB_RULE_NAME_CHARS + 1];
    const char *action = hub_request_query(request, "do").data;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(name_of(request, name, err));
    HUB_TRY(hub_mirror_act(truth, request->app->roots, name, action, err));
    if (strcmp(action, "run-anew") == 0)
        hub_scanner_sweep(request->app->scanner);
    hub_mirrors_wake(request->app->mirrors);
    if (strcmp(action, "remove") != 0)
        return answer(request, name, 200, "", response, err);
    return hub_buf_addf(hub_response_buffer(response, 200, "application/json", KIB), err,
                        "{\"removed\":\"%s\"}", name);
}

/* ---- metrics, by rule ---- */

static double lag(const struct hub_rule *rule)
{
    return (double)hub_mirror_lag_s(rule);
}

static double bytes(const struct hub_rule *rule)
{
    return (double)rule->bytes;
}

static double transfers(const struct hub_rule *rule)
{
    return (double)rule->transfers;
}

static double failures(const struct hub_rule *rule)
{
    return (double)rule->failures;
}

struct metric {
    const char *name, *type, *help;
    double (*value)(const struct hub_rule *rule);
    struct hub_buf *out;
};

/* A rule's name has no character that would have to be escaped. */
static enum hub_status put_metric(void *user, const struct hub_rule *rule, struct hub_error *err)
{
    const struct metric *m = user;
    return hub_buf_addf(m->out, err, "%s{rule=\"%s\"} %.16g\n", m->name, rule->name, m->value(rule));
}

enum hub_status hub_mirror_metrics(struct hub_truth *truth, struct hub_buf *out, struct hub_error *err)
{
    struct metric rows[] = {
        {"minari_hub_mirror_lag_seconds", "gauge", "Seconds since all datasets were as upstream, by rule.",
         lag, out},
        {"minari_hub_mirror_bytes_total", "counter", "Bytes fetched, by rule.", bytes, out},
        {"minari_hub_mirror_transfers_total", "counter", "Datasets fetched, by rule.", transfers, out},
        {"minari_hub_mirror_failures_total", "counter", "Failed tries, by rule.", failures, out},
    };
    for (size_t i = 0; i < HUB_COUNT(rows); i++) {
        HUB_TRY(hub_buf_addf(out, err, "# HELP %s %s\n# TYPE %s %s\n", rows[i].name, rows[i].help,
                             rows[i].name, rows[i].type));
        HUB_TRY(hub_rules_each(truth, put_metric, &rows[i], err));
    }
    return HUB_OK;
}
