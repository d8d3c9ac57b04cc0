/* Where one picture of a dataset can be had, for lists of them: of its first camera, else of its first field
 * of pictures; from the middle of the first episode. */
#include "server/api/handlers.h"
#include "server/api/reply.h"
#include "server/api/resolve.h"
#include "storage/text/uri.h"

#include <inttypes.h>
#include <string.h>

/* The name of the first camera with a video, and without a backslash: no address of the hub has one. */
static enum hub_status take_first(void *user, const struct hub_found_media *media, struct hub_error *err)
{
    char **name = user;
    const bool passed = *name || media->file == HUB_NONE || strchr(media->camera, '\\');
    return passed ? HUB_OK : hub_dup(name, media->camera, err);
}

static const struct hub_dataset_field *first_picture(const struct hub_dataset *dataset)
{
    for (uint32_t i = 0; i < dataset->field_count; i++)
        if (strcmp(hub_field_type_name(dataset->fields[i].type), "image") == 0)
            return &dataset->fields[i];
    return NULL;
}

static enum hub_status put_item(struct hub_request *request, struct hub_json *json,
                                const struct hub_dataset_episode *episode, const char *camera,
                                const char *field, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    const uint64_t step = episode->steps / 2;
    const char *end = strrchr(request->target, '/');
    HUB_TRY(hub_buf_addf(&url, err, "%s%.*s/episodes/%" PRId64 "/", hub_base_url(request),
                         end ? (int)(end - request->target) : 0, request->target, episode->number));
    HUB_TRY(hub_buf_add_text(&url, camera ? "~media/" : "", err));
    HUB_TRY(camera ? hub_uri_encode_segment(hub_view_of(camera), &url, err)
                   : hub_uri_encode_path(hub_view_of(field), &url, err));
    HUB_TRY(hub_buf_addf(&url, err, camera ? ".mp4?poster=%" PRIu64 : "?format=image&row=%" PRIu64, step));
    hub_json_object(json);
    hub_json_put_text(json, "kind", camera ? "video" : "picture");
    hub_json_put_text(json, "name", camera ? camera : field);
    hub_json_put_int(json, "episode", episode->number);
    hub_json_put_uint(json, "step", step);
    hub_json_put_text(json, "url", url.data);
    hub_json_end_object(json);
    return hub_json_status(json);
}

static enum hub_status put_first(struct hub_request *request, const struct hub_state *state,
                                 struct hub_json *json, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *camera = NULL;
    const struct hub_dataset *dataset = state->dataset;
    const struct hub_dataset_field *picture = first_picture(dataset);
    if (!dataset->episode_count)
        return HUB_OK;
    HUB_TRY(hub_episode_media(state, &dataset->episodes[0], take_first, &camera, err));
    return camera || picture
               ? put_item(request, json, &dataset->episodes[0], camera, picture ? picture->path : NULL, err)
               : HUB_OK;
}

enum hub_status hub_poster_show(struct hub_request *request, struct hub_response *response,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_target_dispose) struct hub_target target = {0};
    HUB_TRY(hub_resolve(request, response, HUB_TO_STATE | HUB_TO_READY, &target, err));
    struct hub_json json = hub_json_to(hub_response_buffer(response, 200, "application/json", MIB), err);
    hub_json_object(&json);
    hub_json_put_array(&json, "items");
    HUB_TRY(put_first(request, &target.state, &json, err));
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    HUB_TRY(hub_resolve_headers(request, &target, response, err));
    return hub_reply_document(request, response, err);
}
