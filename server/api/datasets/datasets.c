/* The list of datasets and one dataset. */
#include "server/api/handlers.h"

#include "server/api/datasets/dataset_selection.h"
#include "server/api/datasets/documents.h"
#include "server/api/datasets/remote.h"
#include "server/api/datasets/returns.h"
#include "server/api/negotiate.h"
#include "server/api/reply.h"
#include "server/api/tables/lines.h"

/* How only tables are written. */
static enum hub_status check_form(const struct hub_request *request, struct hub_error *err)
{
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, "format") &&
            hub_negotiate_named(HUB_LIST_OF_VALUES, request->query[i].value) &&
            !hub_negotiate_named(HUB_LIST_OF_PAGES, request->query[i].value))
            return hub_request_wrong(request, "format", err,
                                     "a table needs columns=, with names separated by commas");
    return HUB_OK;
}

static void put_item(struct hub_json *json, struct hub_truth *truth, struct hub_returns *returns,
                     const struct hub_summary *summary)
{
    hub_summary_write(json, truth, summary);
    if (returns->app)
        hub_returns_put(json, returns, summary);
}

/* Facets count other choices than the page, so they are made of the entries before it. */
static enum hub_status write_page(struct hub_request *request, struct hub_datasets *l,
                                  struct hub_page_query *page, struct hub_returns *returns,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_page_ends_dispose) struct hub_page_ends ends = {.more = HUB_BUF_INIT(1 * MIB)};
    struct hub_json json = hub_page_begin(page, response, 16 * MIB, err), more = hub_json_to(&ends.more, err);
    uint32_t first, end;
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    hub_datasets_page(l, page, &first, &end);
    for (uint32_t i = first; i < end; i++) {
        hub_json_object(&json);
        put_item(&json, request->app->truth, returns, l->entries[i].summary);
        hub_json_end_object(&json);
    }
    ends.total = l->count;
    hub_page_span(&ends, first, end);
    if (ends.has_next)
        hub_datasets_cursor(l, end - 1, &ends.next);
    if (ends.has_prev)
        hub_datasets_cursor(l, first, &ends.prev);
    HUB_TRY(hub_datasets_facets(l, &more, err));
    HUB_TRY(hub_page_close(request, page, response, &json, &ends, err));
    return hub_reply_document(request, response, err);
}

struct dataset_lines {
    struct hub_lines lines; /* first */
    struct hub_datasets chosen;
    struct hub_truth *truth;
    struct hub_returns returns;
};

static void dispose_lines(struct hub_lines *lines)
{
    hub_datasets_dispose(&((struct dataset_lines *)lines)->chosen);
}

static enum hub_status put_line(struct hub_lines *lines, uint32_t entry, struct hub_json *json,
                                struct hub_error *err)
{
    (void)err; /* the writer has the same one */
    struct dataset_lines *d = (struct dataset_lines *)lines;
    put_item(json, d->truth, &d->returns, d->chosen.entries[entry].summary);
    return HUB_OK;
}

static enum hub_status send_lines(struct hub_request *request, struct hub_datasets *l, uint32_t first,
                                  const struct hub_returns *returns, struct hub_response *response,
                                  struct hub_error *err)
{
    struct dataset_lines *d;
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "no-cache"));
    HUB_TRY(hub_new(&d, 1, sizeof *d, err));
    d->lines = (struct hub_lines){.at = first, .end = l->count, .put = put_line, .dispose = dispose_lines};
    d->chosen = *l;
    d->truth = request->app->truth;
    d->returns = *returns;
    *l = (struct hub_datasets){0};
    return hub_lines_answer(response, &d->lines, err);
}

enum hub_status hub_datasets_list(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_datasets_dispose) struct hub_datasets l = {0};
    struct hub_page_query page;
    struct hub_returns returns = {.left = HUB_RETURNS_EPISODES};
    HUB_TRY(hub_page_read(request, &page, err));
    HUB_TRY(check_form(request, err));
    if (hub_request_query(request, "include").data)
        returns.app = request->app; /* NULL where they are not asked for */
    HUB_TRY(hub_datasets_read(request, &l, err));
    HUB_TRY(hub_reply_on_worker(request));
    HUB_TRY(hub_datasets_choose(request, &l, err));
    uint32_t first, end;
    hub_datasets_page(&l, &page, &first, &end);
    return page.all ? send_lines(request, &l, first, &returns, response, err)
                    : write_page(request, &l, &page, &returns, response, err);
}

enum hub_status hub_dataset_show(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_TRY(hub_resolve(request, response, HUB_TO_SUMMARY | HUB_TO_REMOTE, &target, err));
    if (!hub_summary_is_here(target.summary))
        return hub_remote_answer(request, &target, response, err);
    return hub_document_answer(request, &target, &hub_dataset_document, response, err);
}
