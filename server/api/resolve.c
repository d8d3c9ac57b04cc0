/* From the {id} of a request to a dataset: see resolve.h. */
#include "server/api/resolve.h"

#include "server/api/commits.h"
#include "server/api/handlers.h"
#include "server/api/remote_view.h"
#include "server/api/visible.h"
#include "server/mirror/pull.h"
#include "server/mirror/readers.h"
#include "storage/ids/id.h"
#include "storage/ids/spell.h"
#include "storage/ids/version.h"
#include "storage/text/json.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"
#include "storage/truth/aliases.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { INLINE_SUMMARIES = 256 };

static const struct hub_summary *find(const struct hub_snapshot *snapshot, struct hub_view id,
                                      const char *minari, bool *alias)
{
    const struct hub_summary *summary = hub_snapshot_find(snapshot, id);
    *alias = !summary;
    return summary ? summary : hub_snapshot_newest(snapshot, id, minari);
}

static void id_list(struct hub_json *json, const char *key, const struct hub_summary *const *summaries,
                    uint32_t count)
{
    hub_json_put_array(json, key);
    for (uint32_t i = 0; i < count; i++)
        hub_json_string(json, hub_view_of(summaries[i]->id));
    hub_json_end_array(json);
}

/* The dataset in the folder that the address names: one whose id spells a segment of it otherwise, as
 * "lab/episodes~" does. Of several the deepest. */
static const struct hub_summary *in_folder(const struct hub_request *request,
                                           const struct hub_snapshot *snapshot)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(8 * KIB), id = HUB_BUF_INIT(32 * KIB);
    const struct hub_summary *found = NULL;
    const bool page = request->segment_count && hub_view_is(request->segments[0], "d");
    for (unsigned i = page ? 1 : 3; i < request->segment_count; i++) {
        id.size = 0;
        if (hub_buf_addf(&path, NULL, "%s%.*s", path.size ? "/" : "", (int)request->segments[i].size,
                         request->segments[i].data) ||
            hub_respell_id(hub_buf_view(&path), &id, NULL))
            break;
        const struct hub_summary *here = hub_snapshot_find(snapshot, hub_buf_view(&id));
        found = here ? here : found;
    }
    return found;
}

/* Members of the problem: what there is instead. The versions of this name, and ids spelled nearly so. */
static char *alternatives(const struct hub_snapshot *snapshot, struct hub_view id,
                          const struct hub_summary *plain)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf out = HUB_BUF_INIT(64 * KIB);
    struct hub_json json = hub_json_to(&out, NULL);
    struct hub_view key;
    uint32_t version;
    const struct hub_summary *const *first = NULL, *nearest[5] = {plain};
    (void)hub_id_split_alias(id, &key, &version);
    const uint32_t versions = hub_snapshot_versions(snapshot, key, &first);
    id_list(&json, "versions", first, versions);
    id_list(&json, "nearest", nearest,
            plain ? 1 : hub_snapshot_nearest(snapshot, id, nearest, HUB_COUNT(nearest)));
    return hub_json_status(&json) ? NULL : hub_buf_take(&out, NULL);
}

/* The first dataset in a folder of this name; NULL: there is none. */
static const struct hub_summary *first_within(const struct hub_snapshot *snapshot, struct hub_view id)
{
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const char *other = snapshot->summaries[i]->id;
        if (strncmp(other, id.data, id.size) == 0 && other[id.size] == '/')
            return snapshot->summaries[i];
    }
    return NULL;
}

static enum hub_status not_found(struct hub_request *request, struct hub_response *response,
                                 const struct hub_snapshot *snapshot, struct hub_view id,
                                 struct hub_view release, struct hub_error *err)
{
    struct hub_scan_progress progress;
    hub_scanner_progress(request->app->scanner, &progress);
    if (!progress.walked)
        return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_STARTING,
                           "the roots are still being read: '%s' may appear", id.data);
    HUB_TRY(hub_request_absent(request, id, err));
    if (!request->may_block && snapshot->count > INLINE_SUMMARIES) /* all are compared */
        return HUB_AGAIN;
    const struct hub_summary *plain = in_folder(request, snapshot);
    response->problem_extra = alternatives(snapshot, id, plain);
    hub_mirrors_missed(request->app->mirrors);
    if (plain)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "id", id.data,
                              "there is no dataset '%s': the dataset in that folder has the id '%s'", id.data,
                              plain->id);
    const struct hub_summary *within = release.data ? NULL : first_within(snapshot, id);
    if (within)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "id", id.data,
                              "'%s' is a folder of datasets, as '%s'", id.data, within->id);
    return release.data
               ? hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "id", id.data,
                                "release %s of its library reads no version of '%s'", id.data, release.data)
               : hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "id", id.data,
                                "there is no dataset '%s'", id.data);
}

enum hub_status hub_resolve_nowhere(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    const struct hub_snapshot *snapshot = hub_request_snapshot(request);
    const bool named = in_folder(request, snapshot);
    const enum hub_status st =
        named ? not_found(request, response, snapshot, hub_request_capture(request, "path"),
                          (struct hub_view){0}, err)
              : hub_route_none(request, err);
    hub_snapshot_put(snapshot);
    return st;
}

bool hub_resolve_has_revision(const struct hub_request *request, const char *revision)
{
    const struct hub_view wanted = hub_request_if_taken(request, "revision");
    return !wanted.data || hub_view_is(wanted, revision);
}

static enum hub_status not_inspected(struct hub_scanner *scanner, const struct hub_summary *summary,
                                     struct hub_error *err)
{
    hub_scanner_prioritize(scanner, summary->id);
    return hub_fail_as(err, HUB_BUSY, HUB_PROBLEM_PENDING, "'%s' has not been inspected yet%s%s", summary->id,
                       *summary->reason ? ": " : "", summary->reason);
}

static enum hub_status revision_gone(const struct hub_request *request, const struct hub_summary *summary,
                                     struct hub_error *err)
{
    if (!*summary->revision) /* it may yet be the one */
        return not_inspected(request->app->scanner, summary, err);
    return hub_fail_about(err, HUB_CHANGED, HUB_PROBLEM_REVISION_GONE, "revision",
                          hub_request_if_taken(request, "revision").data, "'%s' is now at revision %s",
                          summary->id, summary->revision);
}

static enum hub_status check_revision(const struct hub_request *request, struct hub_error *err)
{
    const struct hub_view revision = hub_request_if_taken(request, "revision");
    if (revision.size == 40 && strspn(revision.data, "0123456789abcdef") == 40)
        return HUB_OK;
    return hub_request_wrong(request, "revision", err, "revision must be 40 lower-case hexadecimal digits");
}

/* In a cache of Hugging Face a revision may be a commit or a ref, and is else one of the hub's own. */
static enum hub_status take_revision(struct hub_request *request, struct hub_target *out,
                                     struct hub_error *err)
{
    const struct hub_view revision = hub_request_if_taken(request, "revision");
    out->pinned = out->commit = false;
    if (!revision.data)
        return HUB_OK;
    const enum hub_status st =
        out->summary ? hub_commit_find(request, out->snapshot, out->summary, revision, &out->summary, err)
                     : HUB_NOT_FOUND;
    out->commit = !st;
    out->pinned = st == HUB_NOT_FOUND;
    return out->pinned ? check_revision(request, err) : st;
}

enum hub_status hub_resolve_release(const struct hub_request *request, struct hub_view *out,
                                    struct hub_error *err)
{
    struct hub_version version;
    *out = hub_request_if_taken(request, "for");
    if (!out->data || hub_version_parse(*out, &version, NULL) == HUB_OK)
        return HUB_OK;
    return hub_request_wrong(request, "for", err,
                             "for must be a release of the dataset's library, such as 0.4.3");
}

/* One that was renamed is found under its new id. */
static enum hub_status find_renamed(struct hub_request *request, struct hub_view id, struct hub_target *out,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf now = HUB_BUF_INIT(64 * KIB);
    if (!hub_alias_any(request->app->truth) || !hub_request_may_read(request, id))
        return HUB_OK;
    if (!request->may_block)
        return HUB_AGAIN;
    const enum hub_status st = hub_alias_find(request->app->truth, id.data, &now, err);
    if (st == HUB_OK)
        out->summary = hub_snapshot_find(out->snapshot, hub_buf_view(&now));
    return st == HUB_NOT_FOUND ? HUB_OK : st;
}

/* A commit of one that was deleted, for who could have it back. */
static enum hub_status find_deleted(struct hub_request *request, struct hub_view id, struct hub_target *out)
{
    const char *at = memchr(id.data, '@', id.size);
    if (!at ||
        hub_request_level(request, (struct hub_view){id.data, (size_t)(at - id.data)}) < HUB_LEVEL_WRITE)
        return HUB_OK;
    if (!request->may_block)
        return HUB_AGAIN;
    hub_snapshot_put(out->snapshot);
    out->snapshot = hub_request_snapshot_deleted(request);
    out->summary = hub_snapshot_find(out->snapshot, id);
    return HUB_OK;
}

static enum hub_status find_summary(struct hub_request *request, struct hub_response *response,
                                    struct hub_view id, struct hub_target *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf spelled = HUB_BUF_INIT(64 * KIB);
    struct hub_view release;
    if (memchr(id.data, '\\', id.size)) {
        HUB_TRY(hub_respell_id(id, &spelled, err));
        id = hub_buf_view(&spelled);
    }
    HUB_TRY(hub_resolve_release(request, &release, err));
    out->snapshot = hub_request_snapshot(request);
    out->summary = find(out->snapshot, id, release.data, &out->alias);
    if (!out->summary)
        HUB_TRY(find_renamed(request, id, out, err));
    if (!out->summary)
        HUB_TRY(find_deleted(request, id, out));
    HUB_TRY(take_revision(request, out, err));
    if (!out->summary)
        return not_found(request, response, out->snapshot, id, release, err);
    hub_request_is_about(request, out->summary);
    return HUB_OK;
}

void hub_target_dispose(struct hub_target *target)
{
    hub_remote_view_put(target->view);
    hub_state_close(&target->state);
    hub_snapshot_put(target->snapshot);
}

/* Put a state that is newer than the listed one into the lists. */
static void take_summary(const struct hub_request *request, struct hub_target *target,
                         const struct hub_dataset *dataset)
{
    if (dataset->summary->serial > target->summary->serial)
        hub_catalog_show(request->app->catalog, dataset->summary);
    target->summary = dataset->summary;
}

enum hub_status hub_resolve_state(struct hub_request *request, struct hub_target *target,
                                  struct hub_state *out, struct hub_error *err)
{
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_state_open(request->app->catalog, target->summary, out, err));
    take_summary(request, target, out->dataset);
    if (target->commit || hub_resolve_has_revision(request, target->summary->revision))
        return HUB_OK;
    const enum hub_status st = revision_gone(request, target->summary, err);
    hub_state_close(out);
    return st;
}

static enum hub_status open_dataset(struct hub_request *request, struct hub_target *target,
                                    struct hub_error *err)
{
    struct hub_state *state = &target->state;
    HUB_TRY(
        hub_dataset_get(request->app->catalog, target->summary, request->may_block, &state->dataset, err));
    if (target->commit || hub_resolve_has_revision(request, state->dataset->summary->revision)) {
        take_summary(request, target, state->dataset);
        return HUB_OK;
    }
    hub_state_close(state); /* the newest state may be the one */
    HUB_CLEANUP(hub_state_close) struct hub_state newest = {0};
    HUB_TRY(hub_resolve_state(request, target, &newest, err));
    state->dataset = newest.dataset;
    newest.dataset = NULL;
    return HUB_OK;
}

static void begin_reading(struct hub_request *request, const struct hub_summary *summary, bool several)
{
    hub_summary_touch(summary);
    if (hub_reader_is_of(request->reading, summary->id))
        return; /* the handler is called again */
    if (!several) {
        hub_reader_end(request->reading);
        request->reading = NULL;
    }
    request->reading = hub_reader_begin(request->app->mirrors, summary->id, request->reading);
    request->end_reading = hub_reader_end;
}

void hub_resolve_begin_reading(struct hub_request *request, const struct hub_summary *summary)
{
    begin_reading(request, summary, false);
}

enum hub_status hub_resolve_summary(struct hub_request *request, const struct hub_summary *summary,
                                    struct hub_target *target, struct hub_error *err)
{
    target->summary = summary;
    hub_resolve_begin_reading(request, summary);
    return open_dataset(request, target, err);
}

static enum hub_status pending(struct hub_scanner *scanner, struct hub_response *response,
                               const struct hub_summary *summary, struct hub_error *err)
{
    uint32_t parts, done;
    if (hub_scanner_parts(scanner, summary->id, &parts, &done) &&
        asprintf(&response->problem_extra, "\"parts\":%" PRIu32 ",\"done\":%" PRIu32, parts, done) < 0)
        response->problem_extra = NULL; /* the answer is worth giving without it */
    return not_inspected(scanner, summary, err);
}

static enum hub_status check_ready(struct hub_request *request, struct hub_response *response,
                                   const struct hub_summary *summary, struct hub_error *err)
{
    switch (summary->status) {
    case HUB_DATASET_READY:
        return HUB_OK;
    case HUB_DATASET_PENDING:
        return pending(request->app->scanner, response, summary, err);
    case HUB_DATASET_BROKEN:
    case HUB_DATASET_UNSUPPORTED:
    case HUB_DATASET_REMOTE:
        break;
    }
    return hub_fail_as(err, HUB_UNSUPPORTED, HUB_PROBLEM_DATASET_BROKEN,
                       "'%s' is %s (%s); its files can be downloaded", summary->id,
                       hub_dataset_status_name(summary->status),
                       *summary->reason ? summary->reason : summary->format);
}

void hub_resolve_progress(struct hub_response *response, const struct hub_pull_progress *progress)
{
    free(response->problem_extra);
    response->problem_extra = NULL;
    if (progress->total && /* set once its files are listed */
        asprintf(&response->problem_extra, "\"done\":%" PRIu64 ",\"of\":%" PRIu64 ",\"unit\":\"bytes\"",
                 progress->done, progress->total) < 0)
        response->problem_extra = NULL; /* the answer is worth giving without it */
}

static enum hub_status query_upstream(struct hub_request *request, struct hub_response *response,
                                      const struct hub_summary *summary, struct hub_error *err)
{
    struct hub_pull_progress progress = {0};
    const enum hub_status st =
        hub_pull_request(request->app->mirrors, summary, request->may_block, &progress, err);
    hub_resolve_progress(response, &progress);
    return st;
}

enum hub_status hub_resolve_id(struct hub_request *request, struct hub_response *response, struct hub_view id,
                               unsigned to, struct hub_target *out, struct hub_error *err)
{
    HUB_TRY(find_summary(request, response, id, out, err));
    if (to & (HUB_TO_DATASET | HUB_TO_STATE))
        begin_reading(request, out->summary, to & HUB_TO_SEVERAL);
    if (!hub_summary_is_here(out->summary))
        return to & HUB_TO_REMOTE ? HUB_OK : query_upstream(request, response, out->summary, err);
    if (to & HUB_TO_DATASET)
        HUB_TRY(open_dataset(request, out, err));
    if (to & HUB_TO_STATE)
        HUB_TRY(hub_resolve_state(request, out, &out->state, err));
    return to & HUB_TO_READY ? check_ready(request, response, out->summary, err) : HUB_OK;
}

enum hub_status hub_resolve(struct hub_request *request, struct hub_response *response, unsigned to,
                            struct hub_target *out, struct hub_error *err)
{
    return hub_resolve_id(request, response, hub_request_capture(request, "id"), to, out, err);
}

/* Of a problem that says why episodes are missing its text; the first counts. */
static enum hub_status take_reason(void *user, const struct hub_problem *problem, struct hub_error *err)
{
    struct hub_buf *reason = user;
    if (!hub_view_is(problem->code, "missing-file") || reason->size)
        return HUB_OK;
    HUB_TRY(hub_buf_add_text(reason, ": ", err));
    return hub_buf_add_view(reason, problem->detail, err);
}

static enum hub_status no_episode(const struct hub_request *request, const struct hub_summary *summary,
                                  struct hub_view n, struct hub_error *err)
{
    enum { MOST_PROBLEMS = 1000 };
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf reason = HUB_BUF_INIT(4 * KIB);
    if (!request->may_block)
        return HUB_AGAIN;
    (void)!hub_dataset_each_problem(request->app->catalog, summary, 0, MOST_PROBLEMS, take_reason, &reason,
                                    NULL);
    return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_EPISODE_MISSING, "n", n.data,
                          "'%s' has no episode %s%s", summary->id, n.data, reason.size ? reason.data : "");
}

enum hub_status hub_find_episode(const struct hub_request *request, const struct hub_dataset *dataset,
                                 const struct hub_dataset_episode **out, struct hub_error *err)
{
    const struct hub_view n = hub_request_capture(request, "n");
    char *end = NULL;
    const int64_t number = n.size && n.size < 20 ? strtoll(n.data, &end, 10) : -1;
    const bool digits = end && *end == '\0' && n.data[0] >= '0' && n.data[0] <= '9';
    *out = digits ? hub_dataset_find_episode(dataset, number) : NULL;
    return *out ? HUB_OK : no_episode(request, dataset->summary, n, err);
}

/* What stands behind the id in the path, as it was sent. A segment of the id may itself hold slashes (%2F),
 * so segments are counted by their decoded sizes. */
static const char *behind_id(const struct hub_request *request, size_t id_size)
{
    enum { BEFORE = 3 }; /* api, v1, datasets */
    unsigned segments = BEFORE;
    for (size_t size = 0; segments < request->segment_count && size < id_size; segments++)
        size += request->segments[segments].size + (size > 0);
    const char *rest = request->target;
    for (; segments > 0 && *rest; segments--)
        rest += 1 + strcspn(rest + 1, "/"); /* a slash and its segment */
    return rest;
}

/* The path of this request with the alias replaced by the full id. */
static enum hub_status content_location(const struct hub_request *request, const struct hub_summary *summary,
                                        struct hub_response *response, struct hub_error *err)
{
    const char *rest = behind_id(request, hub_request_capture(request, "id").size);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(8 * KIB);
    HUB_TRY(hub_buf_add_text(&text, "/api/v1/datasets/", err));
    HUB_TRY(hub_uri_encode_path(hub_view_of(summary->id), &text, err));
    HUB_TRY(hub_buf_add_text(&text, rest, err));
    return hub_response_header(response, err, "Content-Location", "%s", text.data);
}

enum hub_status hub_resolve_headers(struct hub_request *request, const struct hub_target *target,
                                    struct hub_response *response, struct hub_error *err)
{
    HUB_TRY(hub_response_header(response, err, "Cache-Control", "%s",
                                target->passing  ? "no-store"
                                : target->pinned ? "public, max-age=31536000, immutable"
                                                 : "no-cache"));
    return target->alias ? content_location(request, target->summary, response, err) : HUB_OK;
}

enum hub_status hub_resolve_conditions(struct hub_request *request, struct hub_response *response,
                                       const char *etag, int64_t modified_s, bool *done,
                                       struct hub_error *err)
{
    const struct hub_validators validators = {etag, modified_s};
    HUB_TRY(hub_response_header(response, err, "ETag", "%s", etag));
    if (modified_s >= 0) {
        char date[HUB_TIME_CHARS];
        hub_time_http(modified_s, date);
        HUB_TRY(hub_response_header(response, err, "Last-Modified", "%s", date));
    }
    *done = true;
    switch (hub_conditions(request, &validators)) {
    case HUB_SERVE:
        *done = false;
        return HUB_OK;
    case HUB_NOT_MODIFIED:
        response->status = 304;
        response->kind = HUB_BODY_NONE;
        return HUB_OK;
    case HUB_PRECONDITION_FAILED:
        break;
    }
    return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_PRECONDITION_FAILED,
                       "this resource is available only as %s", etag);
}
