/* Recipes: each is what one can paste, quoted for its shell or its language. */
#include "server/page/handlers.h"
#include "server/page/recipes.h"

/* In single quotes of a shell. */
static struct hub_view shell(struct page *page, struct hub_view text)
{
    struct hub_view done = HUB_VIEW("'");
    size_t from = 0;
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '\'') {
            done = page_url(page, "%r%r'\\''", done, (struct hub_view){text.data + from, i - from});
            from = i + 1;
        }
    return page_url(page, "%r%r'", done, (struct hub_view){text.data + from, text.size - from});
}

static struct hub_view base(const struct page *page)
{
    return hub_view_of(page->request->base_url);
}

static void put(struct page *page, const char *title, struct hub_view text)
{
    page_recipe(&page->out, &(struct page_recipe){hub_view_of(title), text});
}

void page_recipe_first(struct page *page, const json_t *dataset)
{
    const bool minari = json_array_size(json_object_get(dataset, "loadable_by")) > 0;
    const struct hub_view place = minari ? HUB_VIEW("") : HUB_VIEW(" -o .");
    put(page, "minari-cli",
        page_url(page, "export MINARI_HUB_URL=%r\nminari-cli download %r%r", base(page),
                 shell(page, page_text(dataset, "id")), place));
}

void page_recipes(struct page *page, const json_t *dataset, uint64_t episode, const char *field)
{
    const struct hub_view id = page_text(dataset, "id"), path = hub_view_of(field ? field : "");
    page_recipe_first(page, dataset);
    if (field) {
        put(page, "minari-cli: rows of a field",
            page_url(page, "minari-cli get %r %u %r --rows 0:10 -o rows.npy", shell(page, id), episode,
                     shell(page, path)));
        put(page, "curl: rows of a field",
            page_url(page, "curl -s '%r/api/v1/datasets/%p/episodes/%u/%p?start=0&stop=10'", base(page), id,
                     episode, path));
        put(page, "numpy",
            page_url(page,
                     "import io, urllib.request, numpy\na = numpy.load(io.BytesIO(urllib.request.urlopen(\n  "
                     "  \"%r/api/v1/datasets/%p/episodes/%u/%p?format=npy\").read()))",
                     base(page), id, episode, path));
    }
    put(page, "curl: all files",
        page_url(page, "curl -s '%r/api/v1/datasets/%p/archive.tar' | tar x", base(page), id));
    if (json_array_size(json_object_get(dataset, "loadable_by")) && memchr(id.data, '"', id.size) == NULL &&
        memchr(id.data, '\\', id.size) == NULL)
        put(page, "Python, once downloaded",
            page_url(page,
                     "import minari\nepisode = "
                     "next(iter(minari.load_dataset(\"%r\").iterate_episodes([%u])))\nprint(episode.rewards)",
                     id, episode));
}

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
    page_recipes(&page, dataset, (uint64_t)HUB_MAX(episode, 0),
                 field.size ? field.data : first_numeric(dataset));
    return page_close(&page);
}
