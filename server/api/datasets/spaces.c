/* A space's text as the dataset's writer stored it, whatever its size: sent from the file where it lies. */
#include "server/api/handlers.h"

#include "server/api/resolve.h"
#include "storage/rows/open.h"

#include <stdio.h>

static enum hub_status read_fact(const struct hub_state *state, const char *space, const char *what,
                                 struct hub_buf *out, struct hub_error *err)
{
    char key[64];
    snprintf(key, sizeof key, "%s_space_%s", space, what);
    return hub_dataset_fact(state, key, out, err);
}

static enum hub_status send_file(struct hub_request *request, const struct hub_dataset *dataset,
                                 struct hub_view location_text, struct hub_response *response,
                                 struct hub_error *err)
{
    struct hub_location location;
    if (!hub_location_read(location_text, &location) || location.file >= dataset->file_count ||
        location.offset > dataset->files[location.file].stamp.size ||
        location.stored > dataset->files[location.file].stamp.size - location.offset)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_INTERNAL,
                           "the catalogue does not have the space of '%s'", dataset->summary->id);
    const struct hub_rows_context rows = hub_request_rows(request);
    HUB_TRY(hub_files_open(&rows, dataset, &dataset->files[location.file], &response->file, err));
    response->kind = HUB_BODY_FILE;
    response->offset = location.offset;
    response->length = location.decoded;
    response->escaped = location.escaped ? location.stored : 0;
    return HUB_OK;
}

static enum hub_status send(struct hub_request *request, const struct hub_state *state, const char *space,
                            struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_MAX_TEXT);
    static const char type[] = "text/plain; charset=utf-8";
    HUB_TRY(read_fact(state, space, "place", &text, err));
    if (text.size) {
        HUB_TRY(hub_response_header(response, err, "Content-Type", "%s", type));
        return send_file(request, state->dataset, hub_buf_view(&text), response, err);
    }
    HUB_TRY(read_fact(state, space, "text", &text, err));
    if (text.size)
        return hub_buf_add_view(hub_response_buffer(response, 200, type, HUB_MAX_TEXT), hub_buf_view(&text),
                                err);
    return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "of", space,
                          "'%s' does not state its %s space", state->dataset->summary->id, space);
}

enum hub_status hub_space_data(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    char etag[40];
    bool done = false;
    const char *space = hub_request_query(request, "of").data;
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE, &target, err));
    const struct hub_view parts[] = {hub_view_of(target.summary->revision), HUB_VIEW("~spaces"),
                                     hub_view_of(space)};
    hub_fingerprint(etag, parts, HUB_COUNT(parts));
    HUB_TRY(hub_resolve_headers(request, &target, response, err));
    HUB_TRY(hub_resolve_conditions(request, response, etag, -1, &done, err));
    return done ? HUB_OK : send(request, &target.state, space, response, err);
}
