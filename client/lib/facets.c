/* What datasets of a hub can be chosen by, and how many have each value. */
#include "client/lib/internal.h"

#include <stdlib.h>

#define ALL "env,task,robot,camera,author,algorithm,kind,license,action_dim,format,status"

enum { DOCUMENT_BYTES = 64 * 1024 * 1024 };

struct minari_facet_list {
    json_t *document;
    char *json;
    struct minari_facet *items;
    uint32_t count, capacity;
};

static enum hub_status take_facet(struct minari_facet_list *list, const char *name, const json_t *values,
                                  struct hub_error *err)
{
    const json_t *item;
    size_t i;
    json_array_foreach(values, i, item)
    {
        const struct minari_facet facet = {name, hub_member_text(item, "value"),
                                           hub_member_uint(item, "count")};
        if (!facet.value)
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                               "a facet without a value: is it a hub?");
        HUB_TRY(hub_grow(&list->items, list->count, &list->capacity, sizeof *list->items, err));
        list->items[list->count++] = facet;
    }
    return HUB_OK;
}

static enum hub_status get(struct minari_client *client, const struct minari_dataset_query *q,
                           const char *names, struct minari_facet_list *list, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct hub_dataset_filters filters;
    const struct hub_remote_query query = hub_remote_query_of(q, &filters);
    const char *name;
    json_t *values;
    HUB_TRY(hub_api_list_url(&client->remote, &query, 1, &url, err));
    HUB_TRY(hub_api_parameter(&url, "facets", names ? names : ALL, err));
    HUB_TRY(hub_remote_document(&client->remote, url.data, DOCUMENT_BYTES, NULL, &list->document, err));
    json_t *facets = json_object_get(list->document, "facets");
    if (!json_is_object(facets))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the answer of %.200s has no facets: is it a hub?", url.data);
    json_object_foreach(facets, name, values) HUB_TRY(take_facet(list, name, values, err));
    list->json = json_dumps(facets, JSON_COMPACT);
    return hub_allocated(list->json, err);
}

enum minari_status minari_facet_list_get(struct minari_client *client,
                                         const struct minari_dataset_query *query, const char *names,
                                         struct minari_facet_list **out, struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_dataset_query own;
    HUB_OPTIONS_COPY(own, query);
    if (!client || !out)
        return hub_client_report(hub_client_missing(&error), &error, err);
    struct minari_facet_list *list = calloc(1, sizeof *list);
    const enum hub_status st = list ? get(client, &own, names, list, &error) : hub_no_memory(&error);
    if (st)
        minari_facet_list_free(list);
    else
        *out = list;
    return hub_client_report(st, &error, err);
}

size_t minari_facet_list_count(const struct minari_facet_list *list)
{
    return list->count;
}

const struct minari_facet *minari_facet_list_at(const struct minari_facet_list *list, size_t index)
{
    return index < list->count ? &list->items[index] : NULL;
}

uint64_t minari_facet_list_total(const struct minari_facet_list *list)
{
    return hub_member_uint(list->document, "total");
}

const char *minari_facet_list_json(const struct minari_facet_list *list)
{
    return list->json;
}

void minari_facet_list_free(struct minari_facet_list *list)
{
    if (!list)
        return;
    json_decref(list->document);
    free(list->json);
    free(list->items);
    free(list);
}
