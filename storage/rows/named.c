/* Fields by their names and roles: see named.h. */
#include "storage/rows/named.h"

#include <stdio.h>
#include <stdlib.h>

bool hub_camera_is_called(const char *camera, const char *name)
{
    const size_t all = strlen(camera), size = strlen(name);
    return size && size <= all && strcmp(camera + all - size, name) == 0 &&
           (size == all || strchr("./", camera[all - size - 1]));
}

/* A camera that is called so, in the first episode. */
struct camera {
    const char *name;
    char found[256]; /* "": there is none */
};

static enum hub_status take_camera(void *user, const struct hub_found_media *media, struct hub_error *err)
{
    struct camera *camera = user;
    (void)err;
    if (media->file != HUB_NONE && hub_camera_is_called(media->camera, camera->name))
        snprintf(camera->found, sizeof camera->found, "%s", media->camera);
    return HUB_OK;
}

static void find_camera(const struct hub_rows_context *context, const struct hub_state *requested,
                        struct camera *camera)
{
    struct hub_state own = {0};
    const struct hub_state *state = requested->db ? requested : &own;
    if (!requested->db && hub_state_open(context->catalog, requested->dataset->summary, &own, NULL))
        return;
    if (state->dataset->episode_count &&
        hub_episode_media(state, &state->dataset->episodes[0], take_camera, camera, NULL))
        *camera->found = '\0';
    hub_state_close(&own);
}

enum hub_status hub_named_missing(const struct hub_rows_context *context, const struct hub_state *state,
                                  const struct hub_field_name *name, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const char *path = name->text.data;
    struct camera camera = {.name = path};
    char names[300] = "";
    size_t n = 0;
    if (!context->may_block)
        return HUB_AGAIN; /* SQLite knows the cameras */
    find_camera(context, state, &camera);
    if (*camera.found)
        return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "field", path,
                              "'%.80s' of '%s' is a video, not a field: use episodes/%s/~media/%s.mp4", path,
                              dataset->summary->id, name->episode ? name->episode : "N", camera.found);
    for (uint32_t i = 0; i < dataset->field_count && n + 80 < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%.70s", i ? ", " : "", dataset->fields[i].path);
    return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_FIELD_NOT_FOUND, "field", path,
                          "'%s' has no field '%.80s'; it has %s", dataset->summary->id, path, names);
}

static enum hub_status add(struct hub_named_fields *out, uint32_t field, bool exact, struct hub_error *err)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (out->fields[i] == field) {
            out->exact[i] |= exact;
            return HUB_OK;
        }
    if (out->count == HUB_MAX_SELECTED)
        return hub_fail(err, HUB_TOO_BIG, "more than %d fields at once", HUB_MAX_SELECTED);
    out->fields[out->count] = field;
    out->exact[out->count++] = exact;
    return HUB_OK;
}

static enum hub_status add_role(const struct hub_rows_context *context, const struct hub_state *state,
                                const struct hub_field_name *name, struct hub_named_fields *out,
                                struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const struct hub_view word = {name->text.data + 1, name->text.size - 1};
    enum hub_role role = HUB_ROLE_OTHER;
    bool found = false;
    while (role < HUB_ROLE_COUNT && !hub_view_is(word, hub_role_name(role)))
        role++;
    if (role == HUB_ROLE_COUNT)
        return hub_fail_about(err, HUB_INVALID, HUB_PROBLEM_BAD_PARAMETER, "fields", name->text.data,
                              "a role must be one of @observation, @action, @reward, @done, @info, @other");
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        if (dataset->fields[i].role != role)
            continue;
        HUB_TRY(add(out, i, false, err));
        found = true;
    }
    return found ? HUB_OK : hub_named_missing(context, state, name, err);
}

enum hub_status hub_named_add(const struct hub_rows_context *context, const struct hub_state *state,
                              const struct hub_field_name *name, struct hub_named_fields *out,
                              struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const uint32_t exact = hub_dataset_find_field(dataset, name->text);
    uint32_t first = 0;
    size_t size = 0;
    if (exact != HUB_NONE)
        return add(out, exact, true, err);
    const uint32_t count = hub_dataset_find_group(dataset, name->text, &first, &size);
    if (!count)
        return hub_view_starts(name->text, "@") ? add_role(context, state, name, out, err)
                                                : hub_named_missing(context, state, name, err);
    out->group = size;
    for (uint32_t i = first; i < first + count; i++)
        HUB_TRY(add(out, i, false, err));
    return HUB_OK;
}
