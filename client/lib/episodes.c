/* Episodes: pages of them, and the document of one. */
#include "client/lib/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static enum hub_status first_url(const struct minari_client *client, const char *id,
                                 const struct minari_episode_query *q, struct hub_buf *url,
                                 struct hub_error *err)
{
    char limit[24] = "1000";
    HUB_TRY(hub_api_url(&client->remote, id, "episodes", url, err));
    if (q->limit && q->limit < 1000)
        snprintf(limit, sizeof limit, "%" PRIu64, q->limit);
    HUB_TRY(hub_api_parameter(url, "limit", limit, err));
    HUB_TRY(hub_api_parameter(url, "sort", q->sort, err));
    HUB_TRY(hub_api_parameter(url, "split", q->split, err));
    HUB_TRY(hub_api_parameter(url, "where", q->where, err));
    return hub_api_parameter(url, "task", q->task, err);
}

struct episode_walk {
    minari_episode_fn fn;
    void *user;
    uint64_t left; /* that are wanted */
};

/* "NaN", "Infinity" and "-Infinity" are texts in JSON. */
static double return_of(const json_t *value)
{
    return json_is_string(value) ? strtod(json_string_value(value), NULL) : json_number_value(value);
}

/* The item's own text is terminated for the callback. */
static enum hub_status hand_over(json_t *item, struct hub_view raw, void *user, struct hub_error *err)
{
    struct episode_walk *listing = user;
    char seed[32] = "";
    const json_t *seed_value = json_object_get(item, "seed"), *ret = json_object_get(item, "return");
    if (!json_is_integer(json_object_get(item, "number")))
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "an episode without a number: is it a hub?");
    if (json_is_integer(seed_value))
        snprintf(seed, sizeof seed, "%" JSON_INTEGER_FORMAT, json_integer_value(seed_value));
    HUB_CLEANUP(hub_freep) char *json = hub_view_dup(raw);
    HUB_TRY(hub_allocated(json, err));
    const struct minari_episode episode = {.number = hub_member_uint(item, "number"),
                                           .steps = hub_member_uint(item, "steps"),
                                           .name = hub_member_text(item, "name"),
                                           .file = hub_member_text(item, "file"),
                                           .seed = *seed ? seed : json_string_value(seed_value),
                                           .task = hub_member_text(item, "task"),
                                           .has_return = json_is_number(ret) || json_is_string(ret),
                                           .total_return = return_of(ret),
                                           .json = json};
    if (listing->fn(&episode, listing->user))
        return hub_fail(err, HUB_CANCELLED, "stopped");
    return --listing->left ? HUB_OK : HUB_CANCELLED; /* enough */
}

static enum hub_status each(struct minari_client *client, const char *id,
                            const struct minari_episode_query *query, minari_episode_fn fn, void *user,
                            struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    struct episode_walk listing = {fn, user, query->limit ? query->limit : UINT64_MAX};
    HUB_TRY(first_url(client, id, query, &url, err));
    const enum hub_status st = hub_api_each(&client->remote, id, "episodes", &url, hand_over, &listing, err);
    return listing.left ? st : HUB_OK;
}

enum minari_status minari_episodes_each(struct minari_client *client, const char *id,
                                        const struct minari_episode_query *query, minari_episode_fn fn,
                                        void *user, struct minari_error *err)
{
    struct hub_error error = {0};
    struct minari_episode_query own;
    HUB_OPTIONS_COPY(own, query);
    const enum hub_status st =
        client && fn ? each(client, id ? id : "", &own, fn, user, &error) : hub_client_missing(&error);
    return hub_client_report(st, &error, err);
}

/* What is below an episode, "" or "/~media", as JSON. */
static enum hub_status get(struct minari_client *client, const char *id, uint64_t number, const char *below,
                           char **json, struct hub_error *err)
{
    char rest[48];
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB), text = HUB_BUF_INIT(64 * MIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    if (!client || !json)
        return hub_client_missing(err);
    snprintf(rest, sizeof rest, "episodes/%" PRIu64 "%s", number, below);
    HUB_TRY(hub_api_url(&client->remote, id ? id : "", rest, &url, err));
    HUB_TRY(hub_remote_document(&client->remote, url.data, text.limit, &text, &document, err));
    *json = hub_buf_take(&text, NULL);
    return HUB_OK;
}

enum minari_status minari_episode_get(struct minari_client *client, const char *id, uint64_t number,
                                      char **json, struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st = get(client, id, number, "", json, &error);
    return hub_client_report(st, &error, err);
}

enum minari_status minari_media_list_get(struct minari_client *client, const char *id, uint64_t episode,
                                         char **json, struct minari_error *err)
{
    struct hub_error error = {0};
    const enum hub_status st = get(client, id, episode, "/~media", json, &error);
    return hub_client_report(st, &error, err);
}
