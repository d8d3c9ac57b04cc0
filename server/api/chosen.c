/* Episodes and fields that a request means: see chosen.h. */
#include "server/api/chosen.h"

#include "server/api/episodes.h"
#include "server/api/fields.h"
#include "storage/base/uri.h"
#include "storage/catalog/episode_reader.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LEFT_OUT = 2048 }; /* bytes of X-Left-Out */

/* ---- episodes ---- */

void hub_chosen_dispose(struct hub_chosen_episodes *chosen)
{
    free(chosen->places);
    *chosen = (struct hub_chosen_episodes){0};
}

static const struct hub_property validity = {.kind = HUB_PROPERTY_ATTRIBUTE, .of = {"valid", 5}};

enum hub_status hub_chosen_wants_valid(const struct hub_request *request, const struct hub_summary *summary,
                                       bool *out, struct hub_error *err)
{
    static const char *const words[] = {"only", "any", NULL};
    HUB_CLEANUP(hub_episodes_asked_dispose) struct hub_episodes_asked asked = {0};
    const struct hub_property *name;
    int which;
    HUB_TRY(hub_request_choice(request, "valid", words, &which, err));
    *out =
        which < 1 && strcmp(summary->format, "molmospaces") == 0 && !hub_request_query(request, "name").data;
    if (!*out)
        return HUB_OK;
    HUB_TRY(hub_episodes_asked(request, &asked, err));
    for (unsigned i = 0; (name = hub_where_name(asked.where, i)); i++)
        *out &= name->kind != validity.kind || !hub_view_equal(name->of, validity.of);
    return HUB_OK;
}

enum hub_status hub_chosen_tell_invalid(const struct hub_chosen_episodes *chosen, struct hub_buf *left_out,
                                        struct hub_error *err)
{
    left_out->limit = left_out->limit ? left_out->limit : KIB;
    return chosen->invalid ? hub_buf_addf(left_out, err, "%svalid=any", left_out->size ? ", " : "") : HUB_OK;
}

/* One that nobody judged stays. */
static enum hub_status leave_invalid(const struct hub_state *state, struct hub_chosen_episodes *out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_episode_reader_dispose) struct hub_episode_reader reader = {.state = state};
    const uint32_t all = out->count;
    out->count = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct hub_values has;
        HUB_TRY(
            hub_episode_values_of(&reader, &state->dataset->episodes[out->places[i]], &validity, &has, err));
        if (!has.count || has.first->kind != HUB_VALUE_INT || has.first->number)
            out->places[out->count++] = out->places[i];
    }
    out->invalid = all - out->count;
    return HUB_OK;
}

enum hub_status hub_chosen_episodes(struct hub_request *request, struct hub_response *response,
                                    const struct hub_state *state, uint32_t limit,
                                    struct hub_chosen_episodes *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_episodes_asked_dispose) struct hub_episodes_asked asked = {0};
    HUB_TRY(hub_episodes_asked(request, &asked, err));
    asked.query.limit = hub_chosen_is_drawn(request) ? UINT32_MAX : limit;
    HUB_TRY(hub_episodes_admit(request, state, &asked.query, err));
    HUB_TRY(hub_budget_take(request->app->budget, request, response,
                            (uint64_t)state->dataset->episode_count * HUB_CHOOSING, err));
    HUB_TRY(hub_episode_order(state, &asked.query, &out->places, &out->count, err));
    if (out->only_valid)
        HUB_TRY(leave_invalid(state, out, err));
    HUB_TRY(hub_chosen_draw(request, out, err));
    out->count = HUB_MIN(out->count, limit);
    for (uint32_t i = 0; i < out->count; i++)
        out->steps += state->dataset->episodes[out->places[i]].steps;
    return HUB_OK;
}

/* ---- fields ---- */

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

static void find_camera(const struct hub_request *request, const struct hub_state *asked,
                        struct camera *camera)
{
    struct hub_state own = {0};
    const struct hub_state *state = asked->db ? asked : &own;
    if (!asked->db && hub_state_open(request->app->catalog, asked->dataset->summary, &own, NULL))
        return;
    if (state->dataset->episode_count &&
        hub_episode_media(state, &state->dataset->episodes[0], take_camera, camera, NULL))
        *camera->found = '\0';
    hub_state_close(&own);
}

enum hub_status hub_no_field(const struct hub_request *request, const struct hub_state *state,
                             const char *path, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    struct camera camera = {.name = path};
    const struct hub_view episode = hub_request_capture(request, "n");
    char names[300] = "";
    size_t n = 0;
    if (!request->may_block)
        return HUB_AGAIN; /* SQLite knows the cameras */
    find_camera(request, state, &camera);
    if (*camera.found)
        return hub_fail_about(err, HUB_NOT_FOUND, "field-not-found", "field", path,
                              "'%.80s' of '%s' is a video, not a field: ask for episodes/%s/~media/%s.mp4",
                              path, dataset->summary->id, episode.size ? episode.data : "N", camera.found);
    for (uint32_t i = 0; i < dataset->field_count && n + 80 < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%.70s", i ? ", " : "", dataset->fields[i].path);
    return hub_fail_about(err, HUB_NOT_FOUND, "field-not-found", "field", path,
                          "'%s' has no field '%.80s'; it has %s", dataset->summary->id, path, names);
}

static enum hub_status add(struct hub_chosen_fields *out, uint32_t field, bool exact, struct hub_error *err)
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

static enum hub_status add_role(const struct hub_request *request, const struct hub_state *state,
                                struct hub_view name, struct hub_chosen_fields *out, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const struct hub_view word = {name.data + 1, name.size - 1};
    enum hub_role role = HUB_ROLE_OTHER;
    bool found = false;
    while (role < HUB_ROLE_COUNT && !hub_view_is(word, hub_role_name(role)))
        role++;
    if (role == HUB_ROLE_COUNT)
        return hub_fail_about(err, HUB_INVALID, "bad-parameter", "fields", name.data,
                              "a role is one of @observation, @action, @reward, @done, @info, @other");
    for (uint32_t i = 0; i < dataset->field_count; i++) {
        if (dataset->fields[i].role != role)
            continue;
        HUB_TRY(add(out, i, false, err));
        found = true;
    }
    return found ? HUB_OK : hub_no_field(request, state, name.data, err);
}

enum hub_status hub_chosen_field(const struct hub_request *request, const struct hub_state *state,
                                 struct hub_view name, struct hub_chosen_fields *out, struct hub_error *err)
{
    const struct hub_dataset *dataset = state->dataset;
    const uint32_t exact = hub_dataset_find_field(dataset, name);
    uint32_t first = 0;
    size_t size = 0;
    if (exact != HUB_NONE)
        return add(out, exact, true, err);
    const uint32_t count = hub_dataset_find_group(dataset, name, &first, &size);
    if (!count)
        return hub_view_starts(name, "@") ? add_role(request, state, name, out, err)
                                          : hub_no_field(request, state, name.data, err);
    out->group = size;
    for (uint32_t i = first; i < first + count; i++)
        HUB_TRY(add(out, i, false, err));
    return HUB_OK;
}

enum hub_status hub_chosen_fields(const struct hub_request *request, const struct hub_state *state,
                                  struct hub_chosen_fields *out, struct hub_error *err)
{
    for (unsigned i = 0; i < request->query_count; i++) {
        const struct hub_param *p = &request->query[i];
        if (!hub_view_is(p->name, "fields"))
            continue;
        const enum hub_status st = hub_chosen_field(request, state, p->value, out, err);
        if (st && err) {
            snprintf(err->parameter, sizeof err->parameter, "fields");
            snprintf(err->value, sizeof err->value, "%.*s", (int)p->value.size, p->value.data);
        }
        HUB_TRY(st);
    }
    return HUB_OK;
}

enum hub_status hub_leave_out(struct hub_buf *out, struct hub_error *first, const char *name,
                              const struct hub_error *why, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf coded = HUB_BUF_INIT(64 * KIB);
    out->limit = MAX_LEFT_OUT + 8;
    if (!out->size)
        *first = *why;
    else if (hub_view_ends(hub_buf_view(out), "..."))
        return HUB_OK;
    HUB_TRY(hub_uri_encode_path(hub_view_of(name), &coded, err));
    HUB_TRY(hub_buf_add_text(out, out->size ? ", " : "", err));
    return out->size + coded.size < MAX_LEFT_OUT ? hub_buf_add_view(out, hub_buf_view(&coded), err)
                                                 : hub_buf_add_text(out, "...", err);
}
