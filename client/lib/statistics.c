/* What a hub measured of a dataset: documents, handed on as they are. */
#include "client/lib/internal.h"

static enum hub_status read_document(struct minari_client *client, struct hub_buf *url, char **json,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_TRY(hub_remote_document(&client->remote, url->data, text.limit, &text, &document, err));
    *json = hub_buf_take(&text, NULL);
    return HUB_OK;
}

static enum hub_status get_statistics(struct minari_client *client, const char *id,
                                      const struct minari_statistics_query *q, char **json,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_api_url(&client->remote, id, "~statistics", &url, err));
    HUB_TRY(hub_api_parameter(&url, "field", q->field, err));
    HUB_TRY(hub_api_parameter(&url, "where", q->where, err));
    HUB_TRY(hub_api_parameter(&url, "split", q->split, err));
    HUB_TRY(hub_api_parameter(&url, "task", q->task, err));
    return read_document(client, &url, json, err);
}

static enum hub_status get_findings(struct minari_client *client, const char *id, const char *rule,
                                    char **json, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_api_url(&client->remote, id, "~findings", &url, err));
    HUB_TRY(hub_api_parameter(&url, "rule", rule, err));
    return read_document(client, &url, json, err);
}

enum minari_status minari_statistics_get(struct minari_client *client, const char *id,
                                         const struct minari_statistics_query *query, char **json,
                                         struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_statistics_query own;
    HUB_OPTIONS_COPY(own, query);
    const enum hub_status st = client && json ? get_statistics(client, id ? id : "", &own, json, &error)
                                              : hub_client_missing(&error);
    return hub_client_report(st, &error, err);
}

enum minari_status minari_findings_get(struct minari_client *client, const char *id, const char *rule,
                                       char **json, struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st =
        client && json ? get_findings(client, id ? id : "", rule, json, &error) : hub_client_missing(&error);
    return hub_client_report(st, &error, err);
}
