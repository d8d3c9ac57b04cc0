/* A page of recipes: what one can paste, for this dataset, episode and hub. */
#include "server/page/handlers.h"
#include "server/page/recipes.h"

/* The episode that e= names, else the first that can be read; -1: there is none. */
static enum hub_status choose_episode(struct page *page, int64_t *number, json_t **out)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *list = NULL;
    if (!hub_request_int(page->request, "e", number)) {
        HUB_TRY(page_fetch_if_any(page, page_url(page, "/api/v1/datasets/%p/episodes?limit=1", page_id(page)),
                                  &list));
        *number = page_first_episode(list);
    }
    if (*number >= 0)
        HUB_TRY(page_fetch_if_any(
            page, page_url(page, "/api/v1/datasets/%p/episodes/%u", page_id(page), (uint64_t)*number), out));
    *number = *out ? *number : -1;
    return HUB_OK;
}

enum hub_status hub_page_use(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    HUB_CLEANUP(page_dispose) struct page page = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *dataset = NULL;
    HUB_TRY(page_begin(&page, request, response, err));
    HUB_CLEANUP(hub_json_decrefp) json_t *shown = NULL;
    int64_t episode = -1;
    HUB_TRY(choose_episode(&page, &episode, &shown));
    const struct hub_view api = page_url(&page, "/api/v1/datasets/%p", page_id(&page));
    HUB_TRY(page_fetch(&page, api, &dataset));
    const struct hub_view id = page_id_of(&page, dataset), field = hub_request_query(request, "fields");
    page_open(&page, page_url(&page, "Download and use - %r", id), api);
    page_crumbs(&page, id, "use");
    page_title(&page.out, &(struct page_title){HUB_VIEW("Download and use")});
    page_use_intro(&page.out, &(struct page_use_intro){id, page_url(&page, "/d/%p", id)});
    page_hidden_head(&page.out, &(struct page_hidden_head){HUB_VIEW("Code")});
    HUB_TRY(page_recipes(&page, dataset, episode, field.size ? field.data : page_first_number(dataset, shown),
                         false));
    return page_close(&page);
}
