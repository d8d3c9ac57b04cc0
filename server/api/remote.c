/* Datasets that an upstream has: see remote.h. */
#include "server/api/remote.h"

#include "server/api/documents.h"
#include "server/api/reply.h"
#include "storage/catalog/rules.h"

static void write_origin(struct hub_json *json, struct hub_catalog *catalog,
                         const struct hub_summary *summary)
{
    struct hub_rule rule;
    hub_json_put_object(json, "origin");
    if (hub_rule_find(catalog, summary->upstream, &rule, NULL) == HUB_OK) {
        hub_put_known(json, "remote", json_string_value(json_object_get(rule.spec, "remote")));
        hub_rule_dispose(&rule);
    }
    hub_json_put_text(json, "id", summary->remote_id);
    hub_json_put_text(json, "rule", summary->upstream);
    hub_put_known(json, "revision", summary->revision);
    hub_json_end_object(json);
}

enum hub_status hub_remote_answer(struct hub_request *request, const struct hub_target *target,
                                  struct hub_response *response, struct hub_error *err)
{
    if (!request->may_block)
        return HUB_AGAIN; /* SQLite is asked for the rule */
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", 16 * MIB), err);
    hub_json_object(&json);
    hub_summary_write(&json, target->summary);
    hub_versions_write(&json, target);
    write_origin(&json, request->app->catalog, target->summary);
    hub_json_put_array(&json, "fields");
    hub_json_end_array(&json);
    hub_json_put_array(&json, "problems");
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_resolve_headers(request, target, response, err));
    return hub_reply_document(request, response, err);
}
