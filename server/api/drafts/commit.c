/* The request that makes a draft a dataset. */
#include "server/api/drafts/publishing.h"
#include "server/api/drafts/stated.h"
#include "server/api/drafts/tidy.h"
#include "server/api/handlers.h"
#include "storage/text/time.h"
#include "storage/truth/verdicts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_BYTES = 1024 * 1024, OTHERS_MS = 10000, SOON_MS = 20, LATE_MS = 500 };

/* ---- what was published before ---- */

/* By the verdict that was kept of it. */
static enum hub_status recall_verdict(struct hub_publishing *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_kept_verdict_dispose) struct hub_kept_verdict kept = {0};
    const enum hub_status st = hub_verdict_find(c->app->truth, c->row.id, &kept, err);
    if (st) /* the hub ended before it was kept: what is listed says it */
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    for (unsigned i = 0; hub_verdict_names[i]; i++)
        if (strcmp(hub_verdict_names[i], kept.verdict) == 0)
            c->verdict.status = (enum hub_verdict_status)i;
    const struct hub_view items = hub_view_of(kept.problems); /* in brackets */
    c->verdict.problems = HUB_BUF_INIT(ANSWER_BYTES);
    return items.size < 2 ? HUB_OK : hub_buf_add(&c->verdict.problems, items.data + 1, items.size - 2, err);
}

static enum hub_status recall_format(struct hub_publishing *c, struct hub_error *err)
{
    const struct hub_snapshot *all = hub_catalog_snapshot(c->app->catalog);
    const struct hub_summary *summary = hub_snapshot_find(all, hub_view_of(c->row.dataset));
    const bool known = summary && c->verdict.status != HUB_VERDICT_FILES && *summary->format;
    const enum hub_status st = known ? hub_dup(&c->verdict.format, summary->format, err) : HUB_OK;
    hub_snapshot_put(all);
    return st;
}

/* The answer to another request, or one that was lost: it is given again. */
static enum hub_status recall(struct hub_publishing *c, struct hub_error *err)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit was = {0};
    const enum hub_status st =
        hub_commit_named(c->app->truth, c->row.dataset, hub_view_of(c->row.commit), &was, err);
    if (st && st != HUB_NOT_FOUND)
        return st;
    memcpy(c->facts.tree, was.tree, sizeof was.tree);
    memcpy(c->made.id, c->row.commit, sizeof c->made.id);
    HUB_TRY(recall_verdict(c, err));
    return recall_format(c, err);
}

/* ---- the request ---- */

static const char as_loose_files[] =
    "no format claims these files: they are listed as loose files, of their folder or of one above it; "
    "/api/v1/datasets?format=files and `minari-cli list --all` show where";

static enum hub_status answer(const struct hub_publishing *c, struct hub_response *response,
                              struct hub_error *err)
{
    const struct hub_view problems = hub_buf_view(&c->verdict.problems);
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", ANSWER_BYTES), err);
    hub_json_object(&json);
    hub_json_put_text(&json, "id", c->row.dataset);
    hub_json_put_text(&json, "draft", c->row.id);
    hub_json_put_text(&json, "commit", c->made.id);
    if (c->facts.tree[0])
        hub_json_put_text(&json, "content", c->facts.tree);
    if (c->verdict.format)
        hub_json_put_text(&json, "format", c->verdict.format);
    if (c->verdict.status == HUB_VERDICT_FILES)
        hub_json_put_text(&json, "listed", as_loose_files);
    hub_json_put_array(&json, "problems");
    if (problems.size)
        hub_json_raw(&json, problems);
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_response_header(response, err, "Content-Location", "/api/v1/datasets/%s", c->row.dataset));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}

/* The problems come along with a refusal. */
static enum hub_status publish(struct hub_publishing *c, struct hub_response *response, struct hub_error *err)
{
    const enum hub_status st = hub_publishing_run(c, err);
    const struct hub_view problems = hub_buf_view(&c->verdict.problems);
    if (c->refused && asprintf(&response->problem_extra, "\"verdict\":\"%s\",\"problems\":[%.*s]",
                               hub_verdict_names[c->verdict.status], (int)problems.size,
                               problems.size ? problems.data : "") < 0)
        response->problem_extra = NULL;
    return st;
}

/* ---- one after the other ---- */

struct waiting {
    int64_t since_ms;
};

/* Those who wait take no thread: they come again at first soon, then less often. */
static enum hub_status await_other(struct hub_request *request, struct hub_error *err)
{
    struct hub_file_fetch *nothing = NULL; /* comes: its time is over before */
    const int64_t now_ms = hub_time_mono_ms();
    struct waiting *w = request->state;
    if (!w) {
        HUB_TRY(hub_new(&w, 1, sizeof *w, err));
        w->since_ms = now_ms;
        request->state = w;
        request->free_state = free;
    }
    HUB_TRY(hub_fetch_new(&nothing, err));
    hub_fetch_put(nothing); /* the share of a source */
    return hub_await_held(request, nothing,
                          now_ms + HUB_MIN(SOON_MS + (now_ms - w->since_ms) / 4, (int64_t)LATE_MS));
}

static int64_t until_ms(const struct hub_request *request)
{
    const struct waiting *w = request->state;
    return w ? w->since_ms + OTHERS_MS : INT64_MAX;
}

enum hub_status hub_draft_commit(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_publishing_dispose)
    struct hub_publishing c = {.app = request->app, .draft = HUB_DRAFT_FOLDER_INIT};
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    if (!request->may_block || !request->heavy)
        return hub_await_heavy(request);
    HUB_TRY(hub_draft_message_read(request->body, &body, &c.message, err));
    c.as_broken = hub_request_choice(request, "allow") == 0;
    c.as_files = hub_request_choice(request, "allow") == 1;
    HUB_TRY(hub_draft_of(request, &c.row, err));
    c.until_ms = until_ms(request);
    const enum hub_status st = publish(&c, response, err);
    if (st)
        return st == HUB_AGAIN ? await_other(request, err) : st;
    if (!c.made.id[0])
        HUB_TRY(recall(&c, err));
    return answer(&c, response, err);
}
