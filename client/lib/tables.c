/* Rows of all episodes, and episodes as tables. */
#include "client/lib/internal.h"

#include <inttypes.h>
#include <stdio.h>

struct parameter {
    const char *name, *value;
};

static enum hub_status add_all(struct hub_buf *url, const struct parameter *all, size_t count,
                               struct hub_error *err)
{
    for (size_t i = 0; i < count; i++)
        HUB_TRY(hub_api_parameter(url, all[i].name, all[i].value, err));
    return HUB_OK;
}

static enum hub_status all_rows(struct minari_client *client, const char *id,
                                const struct minari_all_rows_query *query, struct hub_taken *taken,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct minari_all_rows_query q;
    char part[24], random[24];
    HUB_OPTIONS_COPY(q, query);
    if (!client || !id || (!taken->sink && !taken->buffer))
        return hub_client_missing(err);
    snprintf(part, sizeof part, "%u", q.part);
    snprintf(random, sizeof random, "%" PRIu64, q.random);
    const struct parameter all[] = {{"where", q.where},
                                    {"sort", q.sort},
                                    {"split", q.split},
                                    {"task", q.task},
                                    {"layout", q.layout ? q.layout : q.view},
                                    {"format", q.format ? q.format : "npz"},
                                    {"partition", q.partition},
                                    {"partition_seed", q.partition_seed},
                                    {"part", q.partition ? part : NULL},
                                    {"random", q.random ? random : NULL},
                                    {"seed", q.seed},
                                    {"sentinel", q.sentinel},
                                    {"step_where", q.step_where},
                                    {"valid", q.valid}};
    HUB_TRY(hub_api_url(&client->remote, id, "rows", &url, err));
    for (size_t i = 0; i < q.field_count; i++)
        HUB_TRY(hub_api_parameter(&url, "fields", q.fields[i], err));
    HUB_TRY(add_all(&url, all, HUB_COUNT(all), err));
    HUB_TRY(hub_api_slice(&url, &q.steps, err));
    return hub_take(client, url.data, NULL, taken, err);
}

enum minari_status minari_all_rows_get(struct minari_client *client, const char *id,
                                       const struct minari_all_rows_query *query, minari_sink_fn sink,
                                       void *user, struct minari_rows_info *info, struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_taken taken = {.sink = sink, .user = user, .info = info};
    return hub_client_report(all_rows(client, id, query, &taken, &error), &error, err);
}

enum minari_status minari_all_rows_read(struct minari_client *client, const char *id,
                                        const struct minari_all_rows_query *query, void *buffer,
                                        size_t capacity, size_t *size, struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_taken taken = {.buffer = buffer, .capacity = capacity};
    const enum hub_status st = all_rows(client, id, query, &taken, &error);
    if (!st && size)
        *size = taken.used;
    return hub_client_report(st, &error, err);
}

static enum hub_status table(struct minari_client *client, const char *id,
                             const struct minari_table_query *query, struct hub_taken *taken,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct minari_table_query q;
    char limit[24];
    HUB_OPTIONS_COPY(q, query);
    if (!client || !id || (!taken->sink && !taken->buffer) || !q.columns)
        return hub_client_missing(err);
    snprintf(limit, sizeof limit, "%" PRIu64, q.limit);
    const struct parameter all[] = {{"columns", q.columns},
                                    {"where", q.where},
                                    {"sort", q.sort},
                                    {"split", q.split},
                                    {"task", q.task},
                                    {"format", q.format        ? q.format
                                               : taken->buffer ? "npz"
                                                               : "csv"},
                                    {"limit", q.limit ? limit : NULL}};
    HUB_TRY(hub_api_url(&client->remote, id, "episodes", &url, err));
    HUB_TRY(add_all(&url, all, HUB_COUNT(all), err));
    return hub_take(client, url.data, NULL, taken, err);
}

enum minari_status minari_episode_table_get(struct minari_client *client, const char *id,
                                            const struct minari_table_query *query, minari_sink_fn sink,
                                            void *user, struct minari_rows_info *info,
                                            struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_taken taken = {.sink = sink, .user = user, .info = info};
    return hub_client_report(table(client, id, query, &taken, &error), &error, err);
}

enum minari_status minari_episode_table_read(struct minari_client *client, const char *id,
                                             const struct minari_table_query *query, void *buffer,
                                             size_t capacity, size_t *size, struct minari_error *err)
{
    struct hub_error error = {0};
    struct hub_taken taken = {.buffer = buffer, .capacity = capacity};
    const enum hub_status st = table(client, id, query, &taken, &error);
    if (!st && size)
        *size = taken.used;
    return hub_client_report(st, &error, err);
}
