/**
 * Fields of a dataset that a name means: a field, a group of them, or, by a word with an @, all of a role,
 * so that one script serves every format.
 */
#ifndef HUB_ROWS_NAMED_H
#define HUB_ROWS_NAMED_H

#include "storage/rows/rows.h"

/** Some fields of a dataset, by their numbers, each once. */
struct hub_named_fields {
    uint32_t fields[HUB_MAX_SELECTED], count;
    size_t group; /* bytes of the path of the group that was named last; 0: no group was */
    /* of each: it was named itself; else it is one of a group or of a role, and may be left out where it
     * has no place in the answer */
    bool exact[HUB_MAX_SELECTED];
};

/** A name, and what a message about it says of the episode. */
struct hub_field_name {
    struct hub_view text; /* terminated */
    const char *episode;  /* its number; NULL: any */
};

/**
 * Add what one text names: a field, all below a group, or @observation, @action, @reward, @done, @info,
 * @other. A field that is called so itself comes first. HUB_NOT_FOUND "field-not-found", HUB_INVALID
 * "bad-parameter", HUB_TOO_BIG: more than HUB_MAX_SELECTED; HUB_AGAIN as hub_named_missing.
 */
HUB_MUST_USE enum hub_status hub_named_add(const struct hub_rows_context *context,
                                           const struct hub_state *state, const struct hub_field_name *name,
                                           struct hub_named_fields *out, struct hub_error *err);
/** HUB_NOT_FOUND "field-not-found", with the names there are, or with where the video is of a camera that
 * has the name. HUB_AGAIN where the context may not block. */
enum hub_status hub_named_missing(const struct hub_rows_context *context, const struct hub_state *state,
                                  const struct hub_field_name *name, struct hub_error *err);

/** The whole name of a camera, or what stands behind one of its dots and slashes. */
bool hub_camera_is_called(const char *camera, const char *name);

#endif
