/* Branches and tags that clients make and remove. */
#include "server/facade/handlers.h"
#include "server/facade/hf_push.h"

#include "server/api/pushes/pushes.h"
#include "storage/io/roots.h"

enum { VERDICT_MS = 4000, SURE_MS = 20000 };

/* None is an empty one. */
static enum hub_status read_body(const struct hub_request *request, json_t **out, struct hub_error *err)
{
    return request->body.size ? hub_hf_body(request, out, err) : HUB_OK;
}

static enum hub_status check_name(struct hub_view name, struct hub_error *err)
{
    static const char others[] = "-_./";
    bool fits = name.size && name.size <= 200 && !strchr("/.-", name.data[0]) && !hub_view_ends(name, "/") &&
                !memmem(name.data, name.size, "..", 2) && !hub_view_starts(name, "refs/");
    for (size_t i = 0; fits && i < name.size; i++) {
        const char c = name.data[i];
        fits = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
               memchr(others, c, sizeof others - 1);
    }
    return fits ? HUB_OK
                : hub_fail(err, HUB_INVALID, "a branch or tag cannot be called '%.*s'",
                           (int)HUB_MIN(name.size, 100), name.data ? name.data : "");
}

static enum hub_status done(struct hub_response *response, struct hub_error *err)
{
    return hub_buf_add_text(hub_response_buffer(response, 200, "application/json; charset=utf-8", KIB),
                            "{}\n", err);
}

/* ---- branches ---- */

enum hub_status hub_hf_branch_add(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_written_dispose) struct hub_hf_written written = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    HUB_CLEANUP(hub_push_dispose) struct hub_push at = {0};
    const struct hub_view name = hub_request_capture(request, "path");
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &written, err));
    HUB_TRY(check_name(name, err));
    HUB_TRY(read_body(request, &body, err));
    const char *from = json_string_value(json_object_get(body, "startingPoint"));
    HUB_TRY(hub_push_named(request->app->truth, written.row.id, hub_view_of(from ? from : "main"), &at, err));
    HUB_TRY(hub_ref_add(request->app->truth, written.row.id, "branch", name.data, &at, err));
    return done(response, err);
}

static enum hub_status remove_ref(struct hub_request *request, const char *kind,
                                  struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_written_dispose) struct hub_hf_written written = {0};
    const struct hub_view name = hub_request_capture(request, "path");
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_hf_written_open(request, &written, err));
    if (strcmp(kind, "branch") == 0 && hub_view_is(name, "main"))
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN, "The branch main stays");
    HUB_TRY(hub_ref_remove(request->app->truth, written.row.id, kind, name.data, err));
    return done(response, err);
}

enum hub_status hub_hf_branch_remove(struct hub_request *request, struct hub_response *response,
                                     struct hub_error *err)
{
    return remove_ref(request, "branch", response, err);
}

/* ---- tags ---- */

static bool is_strict(const struct hub_app *app, const char *repo)
{
    for (uint32_t i = 0; i < app->refuse_broken_count; i++)
        if (hub_path_below(repo, app->refuse_broken[i]))
            return true;
    return false;
}

/* Below a prefix of --refuse-broken nobody tags what cannot be read. */
static enum hub_status check_sound(const struct hub_app *app, const char *repo, struct hub_push *at,
                                   struct hub_error *err)
{
    if (!is_strict(app, repo))
        return HUB_OK;
    HUB_TRY(hub_push_await(app, repo, SURE_MS, at, err));
    if (at->state == HUB_PUSH_WAITING)
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING,
                           "'%.200s' is still being inspected: create the tag again in a moment", repo);
    if (at->state == HUB_PUSH_BROKEN)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_DATASET_BROKEN,
                           "No tag is set, for '%.200s' is broken: %.500s", repo, at->reason);
    return HUB_OK;
}

/* The tag is the last call of LeRobot's push: it says what became of all before it. */
enum hub_status hub_hf_tag_add(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_written_dispose) struct hub_hf_written written = {0};
    HUB_CLEANUP(hub_json_decrefp) json_t *body = NULL;
    HUB_CLEANUP(hub_push_dispose) struct hub_push at = {0};
    if (!request->may_block || !request->heavy)
        return hub_await_heavy(request);
    HUB_TRY(hub_hf_written_open(request, &written, err));
    HUB_TRY(read_body(request, &body, err));
    const char *name = json_string_value(json_object_get(body, "tag"));
    HUB_TRY(check_name(hub_view_of(name ? name : ""), err));
    HUB_TRY(
        hub_push_named(request->app->truth, written.row.id, hub_request_capture(request, "path"), &at, err));
    HUB_TRY(check_sound(request->app, written.row.id, &at, err));
    HUB_TRY(hub_ref_add(request->app->truth, written.row.id, "tag", name, &at, err));
    HUB_TRY(hub_push_await(request->app, written.row.id, VERDICT_MS, &at, err));
    HUB_TRY(hub_hf_warn(response, &written.row, &at, err));
    return done(response, err);
}

enum hub_status hub_hf_tag_remove(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    return remove_ref(request, "tag", response, err);
}
