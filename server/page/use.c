/* A page of recipes: what one can paste, for this dataset, episode and hub. */
#include "server/page/handlers.h"
#include "server/page/recipes.h"

static const char *first_numeric(const json_t *dataset)
{
    size_t i;
    const json_t *field;
    json_array_foreach(
        json_object_get(dataset, "fields"), i,
        field) if (hub_view_is(page_text(field, "type"),
                               "number")) return json_string_value(json_object_get(field, "path"));
    return NULL;
}

enum hub_status hub_page_use(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    static const char *const parameters[] = {"e", "fields", "for", "revision", NULL};
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *dataset = NULL;
    HUB_TRY(page_begin(&page, request, response, parameters, err));
    int64_t episode = 0;
    bool present;
    HUB_TRY(hub_request_int(request, "e", &episode, &present, err));
    const struct hub_view api = page_url(&page, "/api/v1/datasets/%p", page_id(&page));
    HUB_TRY(page_ask(&page, api, &dataset));
    const struct hub_view id = page_text(dataset, "id"), field = hub_request_query(request, "fields");
    page_open(&page, page_url(&page, "Use it - %r", id), api);
    page_crumbs(&page, id, "use");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Use it")});
    page_use_intro(&page.out, &(struct page_use_intro){id, page_url(&page, "/d/%p", id)});
    page_hidden_head(&page.out, &(struct page_hidden_head){HUB_VIEW("Commands and programs")});
    HUB_TRY(page_recipes(&page, dataset, (uint64_t)HUB_MAX(episode, 0),
                         field.size ? field.data : first_numeric(dataset), false));
    return page_close(&page);
}
