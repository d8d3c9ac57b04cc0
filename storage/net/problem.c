/* Error answers: see problem.h. */
#include "storage/net/problem.h"

#include "storage/text/json.h"

#include <stdio.h>

static enum hub_status status_of(unsigned http)
{
    switch (http) {
    case 401:
    case 403:
    case 407:
        return HUB_DENIED;
    case 404:
        return HUB_NOT_FOUND;
    case 406:
        return HUB_NOT_ACCEPTABLE;
    case 409:
        return HUB_EXISTS;
    case 410:
    case 412:
        return HUB_CHANGED;
    case 413:
        return HUB_TOO_BIG;
    case 416:
        return HUB_OUT_OF_RANGE;
    case 422:
        return HUB_UNSUPPORTED;
    case 408:
    case 425:
    case 429:
    case 503:
        return HUB_BUSY;
    case 507:
        return HUB_NO_SPACE;
    default:
        return http >= 400 && http < 500 ? HUB_INVALID : HUB_IO;
    }
}

/* " (NAME: a, b, c)" of the last texts of an array, as long as there is room: of versions those are the
 * newest. */
static void add_list(char *detail, size_t room, const json_t *list, const char *name)
{
    enum { MOST = 8 };
    const size_t count = json_array_size(list), skip = count > MOST ? count - MOST : 0;
    size_t at = strlen(detail), shown = 0;
    for (size_t i = skip; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text || at + strlen(text) + strlen(name) + 16 > room)
            break;
        at += (size_t)snprintf(detail + at, room - at, "%s%s%s%s", shown ? ", " : " (", shown ? "" : name,
                               !shown && skip ? "..., " : "", text);
        shown++;
    }
    if (shown && at + 2 < room)
        snprintf(detail + at, room - at, ")");
}

static bool read_document(struct hub_view body, enum hub_status status, struct hub_error *err)
{
    static const char urn[] = "urn:minari-hub:";
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    if (hub_json_parse(body, 1 * MIB, &doc, NULL))
        return false;
    const char *type = json_string_value(json_object_get(doc, "type"));
    const char *detail = json_string_value(json_object_get(doc, "detail"));
    if (!type || !detail || strncmp(type, urn, sizeof urn - 1) != 0)
        return false;
    hub_fail_as(err, status, hub_problem_find(type + sizeof urn - 1), "%s", detail);
    if (!err->problem)
        snprintf(err->foreign, sizeof err->foreign, "%s", type + sizeof urn - 1);
    if (!json_object_get(doc, "unit")) { /* parts */
        err->done = (uint64_t)json_integer_value(json_object_get(doc, "done"));
        err->of = (uint64_t)json_integer_value(json_object_get(doc, "of"));
    }
    add_list(err->detail, sizeof err->detail, json_object_get(doc, "versions"), "there are: ");
    add_list(err->detail, sizeof err->detail, json_object_get(doc, "contents"), "there are: ");
    if (!json_array_size(json_object_get(doc, "versions")))
        add_list(err->detail, sizeof err->detail, json_object_get(doc, "nearest"), "nearest: ");
    return true;
}

/* What other services say in their JSON: {"error": {"message"}}, {"error", "error_description"},
 * {"error"}. */
static void add_message(char *detail, size_t room, struct hub_view body)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    if (hub_json_parse(body, 256 * KIB, &doc, NULL))
        return;
    const json_t *error = json_object_get(doc, "error"),
                 *described = json_object_get(doc, "error_description");
    const char *text = json_string_value(described               ? described
                                         : json_is_object(error) ? json_object_get(error, "message")
                                                                 : error);
    const size_t at = strlen(detail);
    if (text && *text)
        snprintf(detail + at, room - at, " (%.200s)", text);
}

enum hub_status hub_problem_read(const struct hub_answer *answer, struct hub_view body, struct hub_error *err)
{
    struct hub_error local;
    struct hub_error *e = err ? err : &local;
    const enum hub_status status = status_of(answer->status);
    const bool is_json =
        !strcmp(answer->type, "application/problem+json") || !strcmp(answer->type, "application/json");
    e->done = e->of = 0;
    if (!is_json || !read_document(body, status, e)) {
        if (answer->status == 0)
            return hub_fail_as(e, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the answer is not valid HTTP");
        hub_fail(e, status, "the server answered %u", answer->status);
        if (is_json)
            add_message(e->detail, sizeof e->detail, body);
        if (status == HUB_IO)
            e->problem = HUB_PROBLEM_UPSTREAM;
        if (status == HUB_NOT_FOUND)
            e->problem = HUB_PROBLEM_NO_HUB;
    }
    e->retry_after_s = answer->retry_after_s;
    return status;
}
