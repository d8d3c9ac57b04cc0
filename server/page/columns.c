/* Columns of what episodes are chosen and sorted by: see columns.h. */
#include "server/page/columns.h"

#include "server/page/names.h"

enum { MOST_EPISODES = 500 }; /* in a filter of their numbers */

void page_columns_dispose(struct page_columns *columns)
{
    json_decref(columns->table);
}

/* What the table of episodes shows anyway. */
static bool is_shown(const char *name)
{
    static const char *const shown[] = {"number",     "return",    "steps", "success",
                                        "terminated", "truncated", "task",  "seed"};
    for (size_t i = 0; i < HUB_COUNT(shown); i++)
        if (strcmp(name, shown[i]) == 0)
            return true;
    return false;
}

static enum hub_status add_names(struct page *page, struct hub_buf *out, unsigned *count)
{
    HUB_CLEANUP(hub_freep) struct page_names *names = NULL;
    HUB_TRY(hub_new(&names, 1, sizeof *names, page->err));
    HUB_TRY(page_names_of_sort(hub_request_query(page->request, "sort"), names, page->err));
    HUB_TRY(page_names_of_where(hub_request_query(page->request, "where"), names, page->err));
    HUB_TRY(hub_buf_add_text(out, "number", page->err));
    for (unsigned i = 0; i < names->count; i++)
        if (!is_shown(names->spelled[i])) {
            HUB_TRY(hub_buf_addf(out, page->err, ",%s", names->spelled[i]));
            ++*count;
        }
    return HUB_OK;
}

enum hub_status page_columns_fetch(struct page *page, const json_t *list, struct page_columns *out)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf names = HUB_BUF_INIT(32 * KIB);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf where = HUB_BUF_INIT(32 * KIB);
    const json_t *items = json_object_get(list, "items"), *episode;
    unsigned count = 0;
    size_t i;
    HUB_TRY(add_names(page, &names, &count));
    if (!count || !json_array_size(items) || json_array_size(items) > MOST_EPISODES)
        return HUB_OK;
    json_array_foreach(items, i, episode)
        HUB_TRY(hub_buf_addf(&where, page->err, i ? ",%llu" : "number in (%llu",
                             (unsigned long long)page_count(episode, "number")));
    HUB_TRY(hub_buf_add_text(&where, ")", page->err));
    return page_fetch_if_any(
        page,
        page_url(page, "/api/v1/datasets/%p/episodes?columns=%s&where=%s&partial=1&format=json",
                 page_id(page), hub_buf_view(&names), hub_buf_view(&where)),
        &out->table);
}

/* ---- the table ---- */

#define EACH_COLUMN(columns, name, values)                                                                   \
    json_object_foreach(json_object_get((columns)->table, "columns"), name,                                  \
                        values) if (strcmp(name, "number") != 0)

void page_columns_heads(struct page *page, const struct page_columns *columns)
{
    const char *name;
    json_t *values;
    EACH_COLUMN(columns, name, values) page_sort_head(page, "n", name, name);
}

/* Numbers as the other columns have them; of several texts all. */
static struct hub_view text_of(struct page *page, const json_t *value)
{
    char digits[PAGE_REAL_BYTES];
    if (json_is_boolean(value))
        return json_is_true(value) ? HUB_VIEW("yes") : HUB_VIEW("no");
    if (json_is_number(value)) {
        page_real(json_number_value(value), digits);
        return page_url(page, "%r", hub_view_of(digits));
    }
    if (!json_is_array(value))
        return (struct hub_view){json_string_value(value), json_string_length(value)};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(16 * KIB);
    const json_t *item;
    size_t i;
    json_array_foreach(value, i,
                       item) if (json_is_string(item) &&
                                 hub_buf_addf(&all, NULL, i ? ", %s" : "%s", json_string_value(item))) break;
    return page_url(page, "%r", hub_buf_view(&all));
}

void page_columns_cells(struct page *page, const struct page_columns *columns, uint64_t number)
{
    const json_t *numbers = json_object_get(json_object_get(columns->table, "columns"), "number"), *known;
    const char *name;
    json_t *values;
    size_t row;
    json_array_foreach(numbers, row, known) if ((uint64_t)json_integer_value(known) == number) break;
    EACH_COLUMN(columns, name, values)
    page_episode_value(&page->out, &(struct page_episode_value){hub_view_of(name),
                                                                text_of(page, json_array_get(values, row))});
}
