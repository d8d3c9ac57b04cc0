/**
 * What people choose datasets by, under one name whatever the format: read out of the facts a driver reports,
 * by one table, and out of the fields.
 *
 * As a text, which is how it is kept: a line a value, its first character the kind ('a' + enum hub_known), kinds
 * ascending, no value twice.
 */
#ifndef HUB_MODEL_KNOWN_H
#define HUB_MODEL_KNOWN_H

#include "storage/model/dtype.h"
#include "storage/text/json.h"

enum hub_known {
    HUB_KNOWN_ENV = 0,
    HUB_KNOWN_TASK,
    HUB_KNOWN_ROBOT,
    HUB_KNOWN_CAMERA,
    HUB_KNOWN_AUTHOR,
    HUB_KNOWN_ALGORITHM,
    HUB_KNOWN_KIND,
    HUB_KNOWN_LICENSE,
    HUB_KNOWN_ACTION_DIM,
    HUB_KNOWN_COUNT
};
/** As it is asked for: "env", "task", "robot", "camera", "author", "algorithm", "kind", "license", "action_dim";
 * NULL behind the last. */
extern const char *const hub_known_names[HUB_KNOWN_COUNT + 1];

/** A field, as far as it tells something. */
struct hub_known_field {
    const char *path;
    enum hub_field_type type;
    enum hub_role role;
    bool is_byte;         /* its values are uint8 */
    bool known;           /* `rank` and `dims` are */
    uint32_t rank, *dims; /* of a row; UINT32_MAX: varies */
};

struct hub_known_source {
    void *user;
    const char *path; /* of the dataset below its root */
    /** The text of a fact, empty where there is none; borrowed until the next call. */
    enum hub_status (*fact)(void *user, const char *key, struct hub_view *out, struct hub_error *err);
    /** One field after the other; false: there are no more. */
    bool (*field)(void *user, uint32_t number, struct hub_known_field *out);
    /** NULL, or what the episodes say, one text after the other: their tasks, their cameras. NULL: no more. */
    const char *(*said)(void *user, enum hub_known kind, uint32_t number);
};
/** Append the lines. */
HUB_MUST_USE enum hub_status hub_known_collect(const struct hub_known_source *source, struct hub_buf *out,
                                               struct hub_error *err);

/** The next value, taken off the lines. False at their end. */
bool hub_known_take(struct hub_view *lines, enum hub_known *kind, struct hub_view *value);
/** Whether it is among them, upper or lower case. */
bool hub_known_has(const char *lines, enum hub_known kind, const char *value);
/** The member "facts" of a document. */
void hub_known_put(struct hub_json *json, const char *lines);

#endif
