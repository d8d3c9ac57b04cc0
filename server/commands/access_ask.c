/* Of the running hub, or of hub.db: see access_ask.h. */
#include "server/commands/access_ask.h"

#include "server/api/access/document.h"
#include "server/commands/control.h"
#include "server/service/declared_access.h"
#include "server/service/stores.h"
#include "storage/io/fs.h"
#include "storage/text/uri.h"

#include <fcntl.h>
#include <stdio.h>

enum { DOCUMENT_BYTES = 256 * 1024 * 1024, TARGET_BYTES = 256 * 1024 };

/* ---- through the running hub ---- */

static enum hub_status add_parameter(struct hub_buf *target, const char *name, const char *value,
                                     struct hub_error *err)
{
    if (!value)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(target, err, "%c%s=", memchr(target->data, '?', target->size) ? '&' : '?', name));
    return hub_uri_encode_segment(hub_view_of(value), target, err);
}

static enum hub_status add_words(struct hub_buf *target, const char *name,
                                 const struct hub_order_words *words, struct hub_error *err)
{
    for (uint32_t i = 0; i < words->count; i++)
        HUB_TRY(add_parameter(target, name, words->items[i], err));
    return HUB_OK;
}

static enum hub_status token_target(const struct hub_access_order *order, struct hub_buf *target,
                                    struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(target, "/api/v1/tokens", err));
    if (order->action != HUB_ORDER_TOKEN_ADD) {
        HUB_TRY(hub_buf_add_text(target, "/", err));
        HUB_TRY(hub_uri_encode_segment(hub_view_of(order->name), target, err));
        if (order->action == HUB_ORDER_TOKEN_ROTATE)
            HUB_TRY(add_parameter(target, "do", "rotate", err));
        return add_parameter(target, "overlap", order->overlap, err);
    }
    HUB_TRY(add_parameter(target, "name", order->name, err));
    HUB_TRY(add_words(target, "read", &order->read, err));
    HUB_TRY(add_words(target, "label", &order->label, err));
    HUB_TRY(add_words(target, "write", &order->write, err));
    HUB_TRY(add_words(target, "from", &order->from, err));
    HUB_TRY(add_parameter(target, "admin", order->admin ? "1" : NULL, err));
    return add_parameter(target, "expires", order->expires, err);
}

static enum hub_status rule_target(const struct hub_access_order *order, struct hub_buf *target,
                                   struct hub_error *err)
{
    HUB_TRY(hub_buf_add_text(target, "/api/v1/access", err));
    HUB_TRY(add_parameter(target, "who", order->who, err));
    HUB_TRY(add_parameter(target, "level", order->level, err));
    return add_parameter(target, "prefix", order->prefix, err);
}

static enum hub_status change_at(const char *state, const struct hub_access_order *order, json_t **out,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(TARGET_BYTES);
    const bool rule = order->action == HUB_ORDER_SET || order->action == HUB_ORDER_UNSET;
    HUB_TRY(rule ? rule_target(order, &target, err) : token_target(order, &target, err));
    if (order->action == HUB_ORDER_UNSET || order->action == HUB_ORDER_TOKEN_REVOKE)
        return hub_control_delete(state, target.data, out, err);
    return hub_control_request(state, true, target.data, out, err);
}

/* All pages into one document. `next` is an absolute URL; what follows the host is asked for. */
static enum hub_status gather(const char *state, struct hub_buf *target, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *all = json_array();
    HUB_TRY(hub_allocated(all, err));
    while (target->size) {
        HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
        HUB_TRY(hub_control_request(state, false, target->data, &page, err));
        if (json_array_extend(all, json_object_get(page, "items")))
            return hub_no_memory(err);
        const char *next = json_string_value(json_object_get(page, "next")),
                   *path = next ? strstr(next, "/api/") : NULL;
        target->size = 0;
        HUB_TRY(hub_buf_add_text(target, path ? path : "", err));
    }
    *out = json_pack("{s:O}", "items", all);
    return hub_allocated(*out, err);
}

static enum hub_status list_at(const char *state, const struct hub_access_ask *ask, json_t **out,
                               struct hub_error *err)
{
    static const char *const paths[] = {[HUB_LIST_TOKENS] = "/api/v1/tokens",
                                        [HUB_LIST_RULES] = "/api/v1/access",
                                        [HUB_LIST_DECISION] = "/api/v1/access",
                                        [HUB_LIST_AUDIT] = "/api/v1/audit"};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf target = HUB_BUF_INIT(TARGET_BYTES);
    HUB_TRY(hub_buf_add_text(&target, paths[ask->list], err));
    if (ask->list == HUB_LIST_DECISION) {
        HUB_TRY(add_parameter(&target, "who", ask->order.who, err));
        HUB_TRY(add_parameter(&target, "id", ask->order.name, err));
        return hub_control_request(state, false, target.data, out, err);
    }
    HUB_TRY(add_parameter(&target, "limit", "1000", err));
    HUB_TRY(add_parameter(&target, "since", ask->since, err));
    return gather(state, &target, out, err);
}

/* ---- in the state directory ---- */

struct access_in_state {
    const struct hub_access_ask *ask;
    struct hub_truth *truth;
    const struct hub_declared_access *declared;
    struct hub_json json;
};

static enum hub_status put_audit(void *user, const struct hub_audit *audit, struct hub_error *err)
{
    struct access_in_state *d = user;
    (void)err;
    hub_audit_document(&d->json, audit);
    return hub_json_status(&d->json);
}

static enum hub_status list_audit(struct access_in_state *d, struct hub_error *err)
{
    struct hub_audit_query query = {0};
    if (d->ask->since)
        HUB_TRY(hub_order_since("since", d->ask->since, &query.since_ms, err));
    return hub_audit_each(d->truth, &query, put_audit, d, err);
}

static void list_table(struct access_in_state *d, const struct hub_access_table *table)
{
    uint32_t count;
    const struct hub_token *tokens = hub_access_tokens_of(table, &count);
    for (uint32_t i = 0; d->ask->list == HUB_LIST_TOKENS && i < count; i++)
        hub_token_write(&d->json, table, &tokens[i]);
    const struct hub_access_rule *rules = hub_access_rules_of(table, &count);
    for (uint32_t i = 0; d->ask->list == HUB_LIST_RULES && i < count; i++)
        hub_access_rule_write(&d->json, &rules[i]);
}

static enum hub_status list_directly(struct access_in_state *d, struct hub_error *err)
{
    struct hub_access_table *table = NULL;
    enum hub_status st = HUB_OK;
    HUB_TRY(hub_truth_access_load(d->truth, d->declared, &table, err));
    if (d->ask->list == HUB_LIST_DECISION) {
        st = hub_access_explain_write(table, d->ask->order.who, d->ask->order.name, &d->json, err);
    } else {
        hub_json_object(&d->json);
        hub_json_put_array(&d->json, "items");
        if (d->ask->list == HUB_LIST_AUDIT)
            st = list_audit(d, err);
        else
            list_table(d, table);
        hub_json_end_array(&d->json);
        hub_json_end_object(&d->json);
    }
    hub_access_put(table);
    return st ? st : hub_json_status(&d->json);
}

static enum hub_status act(struct access_in_state *d, struct hub_error *err)
{
    char note[HUB_ORDER_NOTE];
    const struct hub_access_actor actor = {"local", d->declared};
    return d->ask->list ? list_directly(d, err)
                        : hub_access_obey(d->truth, &d->ask->order, &actor, &d->json, note, err);
}

/* Directories of datasets need not be there. */
static enum hub_status do_directly(const struct hub_access_ask *ask, const struct hub_config *config,
                                   const char *state, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(DOCUMENT_BYTES);
    HUB_CLEANUP(hub_declared_access_dispose) struct hub_declared_access declared = {0};
    struct hub_stores stores;
    HUB_TRY(hub_access_declare(config, false, &declared, err));
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, state, 0700, err));
    HUB_TRY(hub_stores_open_truth(state, NULL, &stores, err));
    struct access_in_state d = {ask, stores.truth, &declared, hub_json_to(&text, err)};
    enum hub_status st = act(&d, err);
    hub_stores_close(&stores);
    if (!st)
        st = hub_json_parse(hub_buf_view(&text), DOCUMENT_BYTES, out, err);
    if (text.data)
        explicit_bzero(text.data, text.size); /* a new token was in it */
    return st;
}

enum hub_status hub_access_ask(const struct hub_access_ask *ask, const struct hub_config *config,
                               json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *state = NULL;
    struct hub_error why = {0};
    HUB_TRY(hub_control_state(config, &state, err));
    const enum hub_status st =
        ask->list ? list_at(state, ask, out, &why) : change_at(state, &ask->order, out, &why);
    const bool answered =
        why.problem == HUB_PROBLEM_TOKEN_NOT_FOUND || why.problem == HUB_PROBLEM_RULE_NOT_FOUND;
    if (st == HUB_NOT_FOUND && !answered)
        return do_directly(ask, config, state, out, err);
    return st ? hub_pass(st, &why, err) : HUB_OK;
}
