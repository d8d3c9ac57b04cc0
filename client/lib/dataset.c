/* Datasets: listings and documents. */
#include "client/lib/internal.h"

#include <stdlib.h>

enum { MAX_DATASETS = 1000 * 1000, DOCUMENT_BYTES = 64 * 1024 * 1024, LISTING_BYTES = 256 * 1024 * 1024 };

/* Strings of an array into `out`, as far as there is room. */
static size_t texts_of(const json_t *array, const char **out)
{
    size_t i, n = 0;
    const json_t *item;
    json_array_foreach(array, i, item)
    {
        if (json_is_string(item))
            out[n++] = json_string_value(item);
    }
    return n;
}

enum hub_status hub_summary_read(const json_t *object, struct minari_summary *out, struct hub_error *err)
{
    const json_t *authors = json_object_get(object, "authors"),
                 *loadable = json_object_get(object, "loadable_by");
    const json_t *version = json_object_get(object, "version");
    const size_t room = json_array_size(authors) + json_array_size(loadable);
    const char **list = NULL;
    *out = (struct minari_summary){.id = hub_member_text(object, "id"),
                                   .ns = hub_member_text(object, "namespace"),
                                   .name = hub_member_text(object, "name"),
                                   .version = json_is_integer(version) ? json_integer_value(version) : -1,
                                   .format = hub_member_text(object, "format"),
                                   .status = hub_member_text(object, "status"),
                                   .reason = hub_member_text(object, "reason"),
                                   .episodes = hub_member_uint(object, "episodes"),
                                   .steps = hub_member_uint(object, "steps"),
                                   .size = hub_member_uint(object, "size"),
                                   .minari_version = hub_member_text(object, "minari_version"),
                                   .description = hub_member_text(object, "description"),
                                   .revision = hub_member_text(object, "revision"),
                                   .modified = hub_member_text(object, "modified"),
                                   .unloadable = json_is_false(json_object_get(object, "loadable"))};
    if (!out->id || !out->format || !out->status)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "a dataset without id, format or status: is it a hub?");
    if (!room)
        return HUB_OK;
    HUB_TRY(hub_new(&list, room, sizeof *list, err));
    out->authors = list;
    out->author_count = texts_of(authors, list);
    out->loadable_by = list + out->author_count;
    out->loadable_count = texts_of(loadable, list + out->author_count);
    return HUB_OK;
}

/* ---- listings ---- */

struct summary_entry {
    struct minari_summary summary;
    json_t *object;
    char *json;
};

struct minari_dataset_list {
    struct summary_entry *entries;
    uint32_t count, capacity;
    size_t bytes;
    struct hub_remote_left left;
    const char *left_names[HUB_LEFT_OUT + 1]; /* of `left` */
};

/* A listing has ceilings: in datasets, in bytes of all of them together. */
static enum hub_status take_item(json_t *item, struct hub_view text, void *user, struct hub_error *err)
{
    struct minari_dataset_list *list = user;
    if (list->count >= MAX_DATASETS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d datasets: narrow the list with a prefix",
                        MAX_DATASETS);
    HUB_TRY(hub_grow(&list->entries, list->count, &list->capacity, sizeof *list->entries, err));
    list->bytes += text.size;
    if (list->bytes > LISTING_BYTES)
        return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LONG,
                           "the hub's list does not end after %zu MB: narrow it with a prefix",
                           list->bytes / 1000000);
    struct summary_entry *e = &list->entries[list->count];
    *e = (struct summary_entry){0};
    HUB_TRY(hub_summary_read(item, &e->summary, err));
    e->object = json_incref(item);
    e->json = hub_view_dup(text);
    list->count++;
    return hub_allocated(e->json, err);
}

struct hub_remote_query hub_remote_query_of(const struct minari_dataset_query *q,
                                            struct hub_dataset_filters *filters)
{
    *filters = (struct hub_dataset_filters){{{"q", q->words},
                                             {"env", q->env},
                                             {"task", q->task},
                                             {"robot", q->robot},
                                             {"camera", q->camera},
                                             {"author", q->author},
                                             {"algorithm", q->algorithm},
                                             {"kind", q->kind},
                                             {"license", q->license},
                                             {"action_dim", q->action_dim},
                                             {"loadable", q->loadable}}};
    return (struct hub_remote_query){.prefix = q->prefix,
                                     .filters = filters->items,
                                     .format = q->format,
                                     .status = q->status,
                                     .release = q->loadable_by,
                                     .sort = q->sort,
                                     .latest = q->latest};
}

static enum hub_status list_all(struct minari_client *client, const struct minari_dataset_query *q,
                                struct minari_dataset_list *list, struct hub_error *err)
{
    struct hub_dataset_filters filters;
    struct hub_remote_query query = hub_remote_query_of(q, &filters);
    query.left = &list->left;
    HUB_TRY(client->remote.kind->list(&client->remote, &query, take_item, list, err));
    for (size_t i = 0; i < HUB_LEFT_OUT; i++)
        list->left_names[i] = list->left.names[i];
    return HUB_OK;
}

enum minari_status minari_dataset_list_get(struct minari_client *client,
                                           const struct minari_dataset_query *query,
                                           struct minari_dataset_list **out, struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_dataset_query own;
    HUB_OPTIONS_COPY(own, query);
    if (!client || !out)
        return hub_client_report(hub_client_missing(&error), &error, err);
    struct minari_dataset_list *list = calloc(1, sizeof *list);
    const enum hub_status st = list ? list_all(client, &own, list, &error) : hub_no_memory(&error);
    if (st)
        minari_dataset_list_free(list);
    else
        *out = list;
    return hub_client_report(st, &error, err);
}

size_t minari_dataset_list_count(const struct minari_dataset_list *list)
{
    return list->count;
}

const struct minari_summary *minari_dataset_list_at(const struct minari_dataset_list *list, size_t index)
{
    return index < list->count ? &list->entries[index].summary : NULL;
}

const char *minari_dataset_list_json(const struct minari_dataset_list *list, size_t index)
{
    return index < list->count ? list->entries[index].json : NULL;
}

const char *const *minari_dataset_list_left_out(const struct minari_dataset_list *list, uint64_t *places,
                                                uint64_t *files)
{
    if (places)
        *places = list->left.places;
    if (files)
        *files = list->left.files;
    return list->left_names;
}

void minari_dataset_list_free(struct minari_dataset_list *list)
{
    if (!list)
        return;
    hub_remote_left_dispose(&list->left);
    for (size_t i = 0; i < list->count; i++) {
        json_decref(list->entries[i].object);
        free((void *)list->entries[i].summary.authors);
        free(list->entries[i].json);
    }
    free(list->entries);
    free(list);
}

/* ---- one dataset ---- */

struct minari_dataset {
    struct hub_buf text;
    json_t *document;
    struct minari_summary summary;
    struct minari_summary *versions;
    size_t version_count;
    const char **combined;
    size_t combined_count;
};

static enum hub_status read_versions(struct minari_dataset *dataset, struct hub_error *err)
{
    const json_t *array = json_object_get(dataset->document, "versions");
    const size_t n = json_array_size(array);
    HUB_TRY(hub_new(&dataset->versions, n, sizeof *dataset->versions, err));
    for (size_t i = 0; i < n; i++) {
        HUB_TRY(hub_summary_read(json_array_get(array, i), &dataset->versions[i], err));
        dataset->version_count++;
    }
    return HUB_OK;
}

static enum hub_status read_dataset(struct minari_client *client, const char *id, const char *release,
                                    struct minari_dataset *dataset, struct hub_error *err)
{
    dataset->text = HUB_BUF_INIT(DOCUMENT_BYTES);
    HUB_TRY(
        client->remote.kind->describe(&client->remote, id, release, &dataset->text, &dataset->document, err));
    HUB_TRY(hub_summary_read(dataset->document, &dataset->summary, err));
    if (!hub_api_same_id(id, dataset->summary.id))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "the request names '%.200s', but the remote's answer is about '%.200s'", id,
                           dataset->summary.id);
    HUB_TRY(read_versions(dataset, err));
    const json_t *combined = json_object_get(dataset->document, "combined");
    HUB_TRY(hub_new(&dataset->combined, json_array_size(combined) + 1, sizeof *dataset->combined, err));
    dataset->combined_count = texts_of(combined, dataset->combined);
    return HUB_OK;
}

enum hub_status hub_client_get_dataset(struct minari_client *client, const char *id, const char *release,
                                       struct minari_dataset **out, struct hub_error *err)
{
    if (!client || !out)
        return hub_client_missing(err);
    struct minari_dataset *dataset;
    HUB_TRY(hub_new(&dataset, 1, sizeof *dataset, err));
    const enum hub_status st = read_dataset(client, id, release, dataset, err);
    if (st)
        minari_dataset_free(dataset);
    else
        *out = dataset;
    return st;
}

enum minari_status minari_dataset_get(struct minari_client *client, const char *id, const char *loadable_by,
                                      struct minari_dataset **out, struct minari_error *err)
{
    struct hub_error error = {0};
    return hub_client_report(hub_client_get_dataset(client, id ? id : "", loadable_by, out, &error), &error,
                             err);
}

const char *hub_dataset_problem(const struct minari_dataset *dataset, const char *code)
{
    const json_t *problem;
    size_t i;
    json_array_foreach(json_object_get(dataset->document, "problems"), i, problem)
    {
        const char *name = hub_member_text(problem, "code"), *detail = hub_member_text(problem, "detail");
        if (name && detail && strcmp(name, code) == 0)
            return detail;
    }
    return "";
}

const struct minari_summary *minari_dataset_summary(const struct minari_dataset *dataset)
{
    return &dataset->summary;
}

const char *minari_dataset_json(const struct minari_dataset *dataset)
{
    return dataset->text.data;
}

size_t minari_dataset_version_count(const struct minari_dataset *dataset)
{
    return dataset->version_count;
}

const struct minari_summary *minari_dataset_version_at(const struct minari_dataset *dataset, size_t index)
{
    return index < dataset->version_count ? &dataset->versions[index] : NULL;
}

size_t minari_dataset_combined_count(const struct minari_dataset *dataset)
{
    return dataset->combined_count;
}

const char *minari_dataset_combined_at(const struct minari_dataset *dataset, size_t index)
{
    return index < dataset->combined_count ? dataset->combined[index] : NULL;
}

void minari_dataset_free(struct minari_dataset *dataset)
{
    if (!dataset)
        return;
    for (size_t i = 0; i < dataset->version_count; i++)
        free((void *)dataset->versions[i].authors);
    free(dataset->versions);
    free(dataset->combined);
    free((void *)dataset->summary.authors);
    json_decref(dataset->document);
    hub_buf_dispose(&dataset->text);
    free(dataset);
}
