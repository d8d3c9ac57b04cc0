/**
 * What people choose datasets by, under one name whatever the format: read out of the facts a driver reports,
 * by one table, and out of the fields.
 *
 * As a text, which is how it is kept: a line a value, its first character the kind ('a' + enum hub_facet),
 * kinds
 * ascending, no value twice.
 */
#ifndef HUB_MODEL_FACET_H
#define HUB_MODEL_FACET_H

#include "storage/model/dtype.h"
#include "storage/text/json.h"

enum hub_facet {
    HUB_FACET_ENV = 0,
    HUB_FACET_TASK,
    HUB_FACET_ROBOT,
    HUB_FACET_CAMERA,
    HUB_FACET_AUTHOR,
    HUB_FACET_ALGORITHM,
    HUB_FACET_KIND,
    HUB_FACET_LICENSE,
    HUB_FACET_ACTION_DIM,
    HUB_FACET_COUNT
};
/** As it is asked for: "env", "task", "robot", "camera", "author", "algorithm", "kind", "license",
 * "action_dim"; NULL behind the last. */
extern const char *const hub_facet_names[HUB_FACET_COUNT + 1];

/** A field, as far as it tells something. */
struct hub_facet_field {
    const char *path;
    enum hub_field_type type;
    enum hub_role role;
    bool is_byte;         /* its values are uint8 */
    bool known;           /* `rank` and `dims` are */
    uint32_t rank, *dims; /* of a row; UINT32_MAX: varies */
};

struct hub_facet_source {
    void *user;
    const char *path; /* of the dataset below its root */
    /** The text of a fact, empty where there is none; borrowed until the next call. */
    enum hub_status (*fact)(void *user, const char *key, struct hub_view *out, struct hub_error *err);
    /** One field after the other; false: there are no more. */
    bool (*field)(void *user, uint32_t number, struct hub_facet_field *out);
    /** NULL, or what the episodes say, one text after the other: their tasks, their cameras. NULL: no
     * more. */
    const char *(*said)(void *user, enum hub_facet kind, uint32_t number);
};
/** Append the lines. */
HUB_MUST_USE enum hub_status hub_facet_collect(const struct hub_facet_source *source, struct hub_buf *out,
                                               struct hub_error *err);

/** The next value, taken off the lines. False at their end. */
bool hub_facet_take(struct hub_view *lines, enum hub_facet *kind, struct hub_view *value);
/** Whether it is among them, upper or lower case. */
bool hub_facet_has(const char *lines, enum hub_facet kind, const char *value);
/** The member "facts" of a document. */
void hub_facet_put(struct hub_json *json, const char *lines);

#endif
