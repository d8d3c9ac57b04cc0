/* Files of a dataset: the listing and their bytes, by range, with every conditional. No status of a dataset
 * blocks its bytes. */
#include "server/api/episodes/episode_parameters.h"
#include "server/api/files/file_bytes.h"
#include "server/api/files/pulled_file.h"
#include "server/api/handlers.h"

#include "server/api/episodes/coverage.h"
#include "server/api/files/listing.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "storage/base/order.h"
#include "storage/ids/spell.h"
#include "storage/model/format_row.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- those of some episodes ---- */

/* A number from the first to the one before the last, or behind the colon nothing. */
static bool read_bound(const char **at, int64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

/* "0:10,15,20:": leaves chosen only those that have these numbers. */
static bool choose_numbers(const struct hub_dataset *dataset, const char *text, bool *chosen)
{
    HUB_CLEANUP(hub_freep) bool *named = calloc(dataset->episode_count + 1, sizeof *named);
    for (const char *at = text; named; at++) {
        int64_t from = 0, to = INT64_MAX;
        const bool has_from = read_bound(&at, &from);
        if (!has_from && *at != ':')
            return false;
        if (*at != ':')
            to = from < INT64_MAX ? from + 1 : from;
        else if (*++at >= '0' && *at <= '9' && !read_bound(&at, &to))
            return false;
        const struct hub_dataset_episode *e = dataset->episodes;
        for (uint32_t i = hub_lower_bound(&from, e, dataset->episode_count, sizeof *e, hub_by_i64);
             i < dataset->episode_count && e[i].number < to; i++)
            named[i] = true;
        if (*at != ',' && *at)
            return false;
        if (!*at)
            break;
    }
    for (uint32_t i = 0; i < dataset->episode_count; i++)
        chosen[i] = chosen[i] && named && named[i];
    return named;
}

static enum hub_status choose(struct hub_request *request, const struct hub_state *state, bool *chosen,
                              uint32_t *count, struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_parameters_dispose) struct hub_episode_parameters params = {0};
    const char *numbers = hub_request_query(request, "episodes").data;
    HUB_TRY(hub_episode_parameters_parse(request, &params, err));
    HUB_TRY(hub_episodes_admit(request, state, &params.query, err));
    HUB_TRY(hub_episode_choose(state, &params.query, chosen, err));
    if (numbers && !choose_numbers(state->dataset, numbers, chosen))
        return hub_request_wrong(request, "episodes", err,
                                 "episodes must be numbers and ranges, such as 0:10,15,20:");
    *count = 0;
    for (uint32_t i = 0; i < state->dataset->episode_count; i++)
        *count += chosen[i];
    return *count ? HUB_OK
                  : hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_EPISODE_MISSING, "episodes", numbers,
                                   "%s has no such episodes", state->dataset->summary->id);
}

static enum hub_status write_chosen(struct hub_request *request, const struct hub_target *target,
                                    struct hub_json *json, struct hub_error *err)
{
    const struct hub_dataset *dataset = target->state.dataset;
    HUB_CLEANUP(hub_freep) bool *chosen = NULL, *needed = NULL;
    uint32_t count = 0, left_out = 0;
    bool hashed;
    HUB_TRY(hub_new(&chosen, dataset->episode_count + 1, sizeof *chosen, err));
    HUB_TRY(hub_new(&needed, dataset->file_count + 1, sizeof *needed, err));
    HUB_TRY(choose(request, &target->state, chosen, &count, err));
    const bool apart = hub_format_traits_of(dataset->summary->format)->episodes_apart;
    if (apart)
        HUB_TRY(hub_files_needed(&target->state, chosen, needed, err));
    for (uint32_t i = 0; apart && i < dataset->file_count; i++)
        left_out += !needed[i];
    hub_json_object(json);
    HUB_TRY(hub_files_write(json, request->app->truth, &target->state, apart ? needed : NULL, &hashed, err));
    hub_json_put_uint(json, "episodes", count);
    hub_json_put_uint(json, "left_out", left_out);
    hub_json_end_object(json);
    return hub_json_status(json);
}

enum hub_status hub_files_of_episodes(struct hub_request *request, struct hub_response *response,
                                      struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &target, err));
    const struct hub_dataset *dataset = target.state.dataset;
    struct hub_coverage measured;
    HUB_TRY(hub_coverage_require(request, response, &target, NULL, 0, &measured, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            dataset->file_count * (sizeof(struct hub_file_digests) + 64) +
                                dataset->episode_count * (uint64_t)8,
                            err));
    struct hub_json json =
        hub_json_to(hub_response_buffer(response, 200, "application/json", 256 * MIB), err);
    HUB_TRY(write_chosen(request, &target, &json, err));
    HUB_TRY(hub_coverage_named_headers(request, &target, &measured, response, err));
    return hub_reply_document(request, response, err);
}

/* ---- the listing ---- */

enum hub_status hub_files_list(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_TRY(hub_resolve(request, response, HUB_TO_SUMMARY | HUB_TO_REMOTE, &target, err));
    if (hub_remote_is_fetching(request, target.summary))
        return hub_pulled_files_list(request, &target, response, err);
    return hub_document_answer(request, &target, &hub_files_document, response, err);
}

enum hub_status hub_file_data(struct hub_request *request, struct hub_response *response,
                              struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf raw = HUB_BUF_INIT(64 * KIB);
    HUB_TRY(hub_resolve(request, response, HUB_TO_DATASET | HUB_TO_REMOTE, &target, err));
    if (hub_remote_is_fetching(request, target.summary))
        return hub_pulled_file_data(request, &target, response, err);
    const struct hub_dataset *dataset = target.state.dataset;
    const struct hub_view path = hub_request_capture(request, "path");
    const struct hub_file_part part = {.entry = hub_unspell(path, &raw, NULL)
                                                    ? NULL
                                                    : bsearch(&raw.data, dataset->files, dataset->file_count,
                                                              sizeof *dataset->files, hub_by_text)};
    if (!part.entry)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "path", path.data,
                              "'%s' has no file '%s'", target.summary->id, path.data);
    return hub_file_send(request, &target, &part, response, err);
}
