/* Files of datasets that are on their way here: see pulled_file.h. */
#include "server/api/files/pulled_file.h"

#include "server/api/files/file_bytes.h"
#include "server/api/files/listing.h"
#include "server/api/reply.h"
#include "server/mirror/pull.h"
#include "storage/base/hex.h"
#include "storage/ids/spell.h"

bool hub_remote_is_fetching(struct hub_request *request, const struct hub_summary *summary)
{
    return !hub_summary_is_here(summary) ||
           (summary->status == HUB_DATASET_PENDING && hub_pull_comes(request->app->mirrors, summary->id));
}

static void put_fetch(void *fetch)
{
    hub_fetch_put(fetch);
}

/* The wait for the list of its files is over, or it has to go on. */
static enum hub_status get_plan(struct hub_request *request, const struct hub_summary *summary,
                                struct hub_pull_plan **out, struct hub_response *response,
                                struct hub_error *err)
{
    struct hub_mirrors *mirrors = request->app->mirrors;
    struct hub_file_fetch *wait = NULL;
    struct hub_pull_progress progress = {0};
    enum hub_status st = hub_pull_open(mirrors, summary, request->may_block, out, &wait, err);
    if (st == HUB_AGAIN && wait && request->state) { /* it was waited for already */
        hub_fetch_put(wait);
        st = hub_pull_request(mirrors, summary, request->may_block, &progress, err);
        hub_resolve_progress(response, &progress);
        return st;
    }
    if (st != HUB_AGAIN || !wait)
        return st;
    request->state = wait;
    request->free_state = put_fetch;
    return hub_await_bytes(request, wait);
}

static enum hub_status check_revision(const struct hub_request *request, const struct hub_target *target,
                                      const struct hub_pull_plan *plan, struct hub_error *err)
{
    return hub_resolve_has_revision(request, hub_pull_revision(plan))
               ? HUB_OK
               : hub_fail_about(err, HUB_CHANGED, HUB_PROBLEM_REVISION_GONE, "revision",
                                hub_request_if_taken(request, "revision").data, "'%s' is now at revision %s",
                                target->summary->id, hub_pull_revision(plan));
}

static void write_files(struct hub_json *json, const struct hub_target *target,
                        const struct hub_pull_plan *plan)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < hub_pull_count(plan); i++)
        size += hub_pull_file(plan, i)->size;
    hub_json_object(json);
    hub_json_put_text(json, "id", target->summary->id);
    hub_json_put_text(json, "revision", hub_pull_revision(plan));
    hub_json_put_uint(json, "size", size);
    hub_json_put_uint(json, "total", hub_pull_count(plan));
    hub_json_put_array(json, "items");
    for (uint32_t i = 0; i < hub_pull_count(plan); i++) {
        const struct hub_file_facts *file = hub_pull_file(plan, i);
        const struct hub_dataset_file entry = {
            .path = file->path, .stamp = {.size = file->size, .mtime_ns = (uint64_t)file->modified_ns}};
        struct hub_file_digests digests = {0};
        if (file->has_sha256)
            hub_hex(file->sha256, sizeof file->sha256, digests.sha256);
        hub_file_item(json, &entry, &digests);
    }
    hub_json_end_array(json);
    hub_json_end_object(json);
}

enum hub_status hub_pulled_files_list(struct hub_request *request, const struct hub_target *target,
                                      struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_pull_putp) struct hub_pull_plan *plan = NULL;
    HUB_TRY(get_plan(request, target->summary, &plan, response, err));
    HUB_TRY(check_revision(request, target, plan, err));
    HUB_TRY(hub_reply_on_worker(request));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", 256 * MIB), err);
    write_files(&json, target, plan);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_resolve_headers(request, target, response, err));
    return hub_reply_document(request, response, err);
}

enum hub_status hub_pulled_file_send(struct hub_request *request, const struct hub_target *target,
                                     const char *path, struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_pull_putp) struct hub_pull_plan *plan = NULL;
    HUB_TRY(get_plan(request, target->summary, &plan, response, err));
    HUB_TRY(check_revision(request, target, plan, err));
    const uint32_t number = path ? hub_pull_find(plan, path) : UINT32_MAX;
    if (number == UINT32_MAX)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "path", path,
                              "'%s' has no file '%s'", target->summary->id,
                              path ? path : hub_request_capture(request, "path").data);
    const struct hub_file_facts *file = hub_pull_file(plan, number);
    const struct hub_dataset_file entry = {
        .path = file->path, .stamp = {.size = file->size, .mtime_ns = (uint64_t)file->modified_ns}};
    struct hub_file_part part = {.entry = &entry,
                                 .sha256 = file->has_sha256 ? file->sha256 : NULL,
                                 .revision = hub_pull_revision(plan)};
    HUB_TRY(hub_pull_read(plan, number, &part.coming, err));
    const enum hub_status st = hub_file_send(request, target, &part, response, err);
    struct hub_pull_progress progress = {0};
    if (st == HUB_BUSY &&
        hub_pull_request(request->app->mirrors, target->summary, false, &progress, NULL) == HUB_BUSY)
        hub_resolve_progress(response, &progress);
    return st;
}

enum hub_status hub_pulled_file_data(struct hub_request *request, const struct hub_target *target,
                                     struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf raw = HUB_BUF_INIT(64 * KIB);
    const bool spelled = hub_unspell(hub_request_capture(request, "path"), &raw, NULL) == HUB_OK;
    return hub_pulled_file_send(request, target, spelled ? raw.data : NULL, response, err);
}
