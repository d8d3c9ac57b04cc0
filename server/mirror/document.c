/* A rule as a document: see document.h. */
#include "server/mirror/document.h"

#include "storage/text/time.h"

static void put_ms(struct hub_json *json, const char *key, int64_t unix_ms)
{
    char text[HUB_TIME_CHARS];
    if (unix_ms <= 0)
        return;
    hub_time_rfc3339_ms(unix_ms, text);
    hub_json_put_text(json, key, text);
}

static void put_member(struct hub_json *json, const char *key, const json_t *spec, const char *member)
{
    const json_t *value = json_object_get(spec, member), *item;
    size_t i;
    if (json_is_string(value)) {
        hub_json_put_text(json, key, json_string_value(value));
    } else if (json_is_integer(value)) {
        hub_json_put_int(json, key, json_integer_value(value));
    } else if (json_is_array(value)) {
        hub_json_put_array(json, key);
        json_array_foreach(value, i, item) hub_json_string(json, hub_view_of(json_string_value(item)));
        hub_json_end_array(json);
    }
}

/* Of a root without a name its path is what it is called. */
static void put_root(struct hub_json *json, const char *key, const struct hub_roots *roots, bool local)
{
    for (uint32_t i = 0; key && i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        if (strcmp(hub_root_key(root), key) == 0)
            hub_json_put_text(json, "root", local ? key : root->name);
    }
}

const char *hub_mirror_state(const struct hub_rule *rule)
{
    return rule->paused                        ? "paused"
           : *rule->error                      ? "failing"
           : rule->running || rule->waiting    ? "running"
           : rule->begun_ms == rule->synced_ms ? "idle"
                                               : "running";
}

int64_t hub_mirror_lag_s(const struct hub_rule *rule)
{
    const int64_t since = rule->synced_ms ? rule->synced_ms : rule->made_ms;
    const int64_t lag_s = hub_time_now_s() - since / 1000;
    return HUB_MAX(lag_s, 0);
}

struct hub_view hub_mirror_error(const char *error, bool local)
{
    return local ? hub_view_of(error) : (struct hub_view){error, strcspn(error, ":")};
}

/* Names on the remote are for the admin. */
static void put_left_out(struct hub_json *json, const json_t *left, bool local)
{
    static const char *const counts[] = {"places", "files", "bytes"};
    if (!left)
        return;
    hub_json_put_object(json, "left_out");
    for (size_t i = 0; i < HUB_COUNT(counts); i++)
        put_member(json, counts[i], left, counts[i]);
    if (local)
        put_member(json, "names", left, "names");
    hub_json_end_object(json);
}

void hub_mirror_write(struct hub_json *json, const struct hub_rule *rule, const struct hub_roots *roots,
                      bool local, const char *note)
{
    const json_t *spec = rule->spec;
    hub_json_object(json);
    hub_json_put_text(json, "name", rule->name);
    put_member(json, "remote", spec, "remote");
    put_member(json, "prefix", spec, "prefix");
    put_member(json, "only", spec, "only");
    put_member(json, "as", spec, "as");
    put_root(json, json_string_value(json_object_get(spec, "root")), roots, local);
    put_member(json, "every", spec, "every");
    put_member(json, "limit", spec, "limit");
    put_member(json, "include", spec, "include");
    put_member(json, "exclude", spec, "exclude");
    hub_json_put_bool(json, "delete", json_is_true(json_object_get(spec, "delete")));
    hub_json_put_bool(json, "pull", json_is_true(json_object_get(spec, "pull")));
    hub_json_put_bool(json, "internal", json_is_true(json_object_get(spec, "internal")));
    if (local)
        put_member(json, "token_file", spec, "token-file");
    hub_json_put_text(json, "from", rule->from_file ? "file" : "command");
    hub_json_put_text(json, "state", hub_mirror_state(rule));
    put_ms(json, "begun", rule->begun_ms);
    put_ms(json, "synced", rule->synced_ms);
    if (!rule->paused)
        put_ms(json, "next", rule->due_ms);
    hub_json_put_int(json, "lag", hub_mirror_lag_s(rule));
    hub_json_put_uint(json, "datasets", rule->datasets);
    hub_json_put_uint(json, "waiting", rule->waiting);
    hub_json_put_uint(json, "running", rule->running);
    hub_json_put_uint(json, "transfers", rule->transfers);
    hub_json_put_uint(json, "bytes", rule->bytes);
    hub_json_put_uint(json, "failures", rule->failures);
    if (rule->unlisted)
        hub_json_put_uint(json, "unlisted", rule->unlisted);
    put_left_out(json, rule->left_out, local);
    if (*rule->error)
        hub_json_put_string(json, "error", hub_mirror_error(rule->error, local));
    if (*note)
        hub_json_put_text(json, "note", note);
    hub_json_end_object(json);
}
