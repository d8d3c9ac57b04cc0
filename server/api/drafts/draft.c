/* What the requests about drafts share: see draft.h. */
#include "server/api/drafts/draft.h"

#include "server/api/put.h"
#include "server/api/visible.h"
#include "server/mirror/occupied.h"
#include "storage/truth/verdicts.h"

#include <stdio.h>
#include <stdlib.h>

enum hub_status hub_request_may_write(const struct hub_request *request, struct hub_view id,
                                      struct hub_error *err)
{
    if (hub_request_level(request, id) >= HUB_LEVEL_WRITE)
        return HUB_OK;
    if (!hub_principal_signed_in(&request->principal))
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_SIGN_IN, "writing '%.*s' wants a token of this hub",
                           (int)id.size, id.data);
    return hub_fail_as(
        err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
        "this token may not write '%.*s': `minari-hub access set token:NAME write PREFIX` allows it",
        (int)id.size, id.data);
}

enum hub_status hub_draft_of(const struct hub_request *request, struct hub_draft_row *out,
                             struct hub_error *err)
{
    char who[HUB_WRITER_CHARS];
    const struct hub_view name = hub_request_capture(request, "name");
    hub_request_writer(request, who);
    HUB_TRY(hub_draft_find(request->app->truth, name.data, out, err));
    const bool theirs = strcmp(out->who, who) == 0 || hub_request_is_admin(request);
    if (theirs && hub_request_level(request, hub_view_of(out->dataset)) >= HUB_LEVEL_WRITE)
        return HUB_OK;
    return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DRAFT_NOT_FOUND,
                       "there is no draft '%.40s' of this principal", name.data);
}

static enum hub_status root_of(const struct hub_app *app, const struct hub_draft_row *row,
                               const struct hub_root **out, struct hub_error *err)
{
    if (row->root >= app->roots->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_ROOT_MISSING,
                           "the root of the draft is not served any more");
    *out = &app->roots->roots[row->root];
    return HUB_OK;
}

enum hub_status hub_draft_enter_any(const struct hub_app *app, const struct hub_draft_row *row,
                                    struct hub_draft_folder *out, struct hub_error *err)
{
    const struct hub_root *root;
    HUB_TRY(root_of(app, row, &root, err));
    return hub_draft_open(root->path, row->id, false, out, err);
}

enum hub_status hub_draft_enter(const struct hub_app *app, const struct hub_draft_row *row,
                                struct hub_draft_folder *out, struct hub_error *err)
{
    return row->state == HUB_DRAFT_OPEN ? hub_draft_enter_any(app, row, out, err)
                                        : hub_fail_as(err, HUB_CHANGED, HUB_PROBLEM_DRAFT_BUSY,
                                                      "the draft is %s", hub_draft_states[row->state]);
}

enum hub_status hub_draft_end(const struct hub_app *app, const struct hub_draft_row *row,
                              struct hub_error *err)
{
    const struct hub_root *root;
    if (root_of(app, row, &root, NULL) == HUB_OK)
        HUB_TRY(hub_draft_remove(root->path, row->id, err));
    return hub_draft_forget(app->truth, row->id, err);
}

/* ---- its place ---- */

enum hub_status hub_draft_choose_root(const struct hub_roots *roots, const char *id, uint32_t *out,
                                      const char **path, struct hub_error *err)
{
    const struct hub_root *found = NULL;
    *path = id;
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        const char *below = root->name ? hub_path_below(id, root->name) : NULL;
        if (below && *below) {
            found = root;
            *path = below;
            break;
        }
        if (!found && !root->name && !root->read_only)
            found = root;
    }
    if (!found)
        return hub_fail(err, HUB_DENIED,
                        "no root of this hub takes '%.200s': it has none without a name that may "
                        "be written",
                        id);
    if (found->read_only)
        return hub_fail(err, HUB_DENIED, "the root of '%.200s' is read-only in the configuration (:ro)", id);
    *out = (uint32_t)(found - roots->roots);
    return HUB_OK;
}

static enum hub_status put_by_hand(const char *id, struct hub_error *err)
{
    return hub_fail_as(
        err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
        "'%.200s' exists already, and was not published by this hub: choose the next version, or "
        "have an admin run `minari-hub adopt %.200s`, and name the commit of that as `base` to "
        "take its place",
        id, id);
}

enum hub_status hub_draft_check_free(const struct hub_app *app, const struct hub_draft_row *row,
                                     struct hub_error *err)
{
    const char *id = row->dataset;
    const struct hub_snapshot *all = hub_catalog_snapshot(app->catalog);
    const char *in_the_way = NULL;
    for (uint32_t i = 0; i < all->count && !in_the_way; i++) {
        const struct hub_summary *summary = all->summaries[i];
        const char *other = summary->id;
        if (strcmp(summary->format, "files") == 0)
            continue; /* loose files of a folder, in which datasets may lie */
        if (*row->base && strcmp(other, id) == 0)
            continue;
        if (hub_path_below(other, id) || hub_path_below(id, other))
            in_the_way = strdup(other);
    }
    hub_snapshot_put(all);
    enum hub_status st = hub_mirror_check_id(app->truth, app->roots, id, err);
    if (!st && in_the_way && strcmp(in_the_way, id) == 0)
        st = row->path ? put_by_hand(id, err)
                       : hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                                     "'%.200s' exists already: choose another id", id);
    else if (!st && in_the_way)
        st = hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                         "'%.200s' and a dataset that exists would lie in each other: choose another id", id);
    free((char *)in_the_way);
    return st;
}

/* ---- documents ---- */

/* Of one that is still open. */
static void put_verdict(struct hub_json *json, struct hub_truth *truth, const struct hub_draft_row *row)
{
    HUB_CLEANUP(hub_kept_verdict_dispose) struct hub_kept_verdict verdict = {0};
    if (row->state != HUB_DRAFT_OPEN || hub_verdict_find(truth, row->id, &verdict, NULL))
        return;
    hub_json_put_object(json, "refused");
    hub_put_time(json, "at", verdict.at_ms * 1000000);
    hub_json_put_text(json, "verdict", verdict.verdict);
    hub_json_put_text(json, "reason", verdict.reason);
    hub_json_put_raw(json, "problems", hub_view_of(verdict.problems));
    hub_json_end_object(json);
}

void hub_draft_write(struct hub_json *json, struct hub_truth *truth, const struct hub_draft_row *row)
{
    const int64_t day_ms = 86400000;
    hub_json_object(json);
    hub_json_put_text(json, "draft", row->id);
    hub_json_put_text(json, "id", row->dataset);
    hub_json_put_text(json, "state", hub_draft_states[row->state]);
    hub_json_put_text(json, "who", row->who);
    hub_put_if_set(json, "base", row->base);
    hub_put_if_set(json, "key", row->key);
    hub_put_time(json, "made", row->made_ms * 1000000);
    hub_put_time(json, "changed", row->touched_ms * 1000000);
    hub_put_time(json, "ends", (row->touched_ms + HUB_DRAFT_DAYS * day_ms) * 1000000);
    hub_json_put_uint(json, "files", row->files);
    hub_json_put_uint(json, "complete", row->complete);
    hub_json_put_uint(json, "bytes", row->bytes);
    hub_put_if_set(json, "commit", row->commit);
    put_verdict(json, truth, row);
    hub_json_end_object(json);
}

uint64_t hub_draft_offset(const struct hub_draft_folder *draft, const struct hub_draft_file *file)
{
    return file->complete ? file->size : hub_draft_came(draft, file->path);
}

void hub_draft_file_write(struct hub_json *json, const struct hub_draft_file *file, uint64_t offset)
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_json_object(json);
    hub_json_put_text(json, "path", file->path);
    hub_json_put_uint(json, "size", file->size);
    hub_json_put_uint(json, "offset", offset);
    if (file->complete) {
        hub_hex(file->sha256, sizeof file->sha256, hex);
        hub_json_put_text(json, "sha256", hex);
    }
    hub_json_end_object(json);
}

enum hub_status hub_draft_answer(struct hub_request *request, const char *id, unsigned status,
                                 struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    HUB_TRY(hub_draft_find(request->app->truth, id, &row, err));
    HUB_TRY(hub_draft_count(request->app->truth, &row, err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, status, "application/json", 1 * MIB), err);
    hub_draft_write(&json, request->app->truth, &row);
    HUB_TRY(hub_json_status(&json));
    return hub_response_header(response, err, "Cache-Control", "no-store");
}
