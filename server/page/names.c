/* The names that a filter of episodes asks for: see names.h. */
#include "server/page/names.h"

#include <stdio.h>
#include <string.h>

static enum hub_status add(struct page_names *names, const struct hub_property *name, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf spelled = HUB_BUF_INIT(PAGE_NAME_BYTES - 1);
    if (names->count == PAGE_NAMES)
        return HUB_OK;
    HUB_TRY(hub_property_spell(name, &spelled, err));
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->spelled[i], spelled.data) == 0)
            return HUB_OK;
    names->plain[names->count] = name->kind != HUB_PROPERTY_ATTRIBUTE && !name->of.size;
    snprintf(names->spelled[names->count++], PAGE_NAME_BYTES, "%s", spelled.data);
    return HUB_OK;
}

/* The episode has no values, so that most names of the filter are looked up. */
static enum hub_status take_name(void *user, const struct hub_property *name, struct hub_values *out,
                                 struct hub_error *err)
{
    *out = (struct hub_values){0};
    return add(user, name, err);
}

enum hub_status page_names_of_where(struct hub_view where, struct page_names *names, struct hub_error *err)
{
    HUB_CLEANUP(hub_where_freep) struct hub_where *parsed = NULL;
    bool holds;
    if (!where.size || hub_where_parse(where, &parsed, NULL))
        return HUB_OK;
    return hub_where_holds(parsed, &(struct hub_episode_values){take_name, names}, &holds, err);
}

enum hub_status page_names_of_sort(struct hub_view sort, struct page_names *names, struct hub_error *err)
{
    HUB_CLEANUP(hub_where_freep) struct hub_where *holder = NULL;
    const size_t down = sort.size && sort.data[0] == '-';
    struct hub_property name;
    if (!sort.size ||
        hub_property_parse((struct hub_view){sort.data + down, sort.size - down}, &holder, &name, NULL))
        return HUB_OK;
    return add(names, &name, err);
}
