/** What the files of the Minari driver share: the plan's note to inspect, episode names, and the table of a
 * part's fields. */
#ifndef HUB_FORMATS_MINARI_H
#define HUB_FORMATS_MINARI_H

#include "storage/formats/hdf5/h5.h"
#include "storage/formats/json_stream.h"

enum { MINARI_MAX_HINT = 4096, MINARI_MAX_DEPTH = 16, MINARI_VOTERS = 16 };

/** "episode_12" -> 12. No sign, no leading zeros, at most 18 digits. */
bool minari_episode_number(struct hub_view name, int64_t *out);

/** Where an external link leads. */
enum minari_link { MINARI_LINK_GOOD = 0, MINARI_LINK_LEAVES, MINARI_LINK_MISSING };
/** The file of the dataset that an external link in data/ names; only relative names inside data/ are good.
 */
enum minari_link minari_link_target(const struct hub_files *files, struct hub_view name, uint32_t *number);

/** Report the facts of metadata.json (era E5). `hint` gets the image paths. HUB_UNSUPPORTED for other data
 * formats. */
HUB_MUST_USE enum hub_status minari_facts_json(struct hub_files *files, uint32_t number,
                                               struct hub_sink *sink, struct hub_buf *hint,
                                               struct hub_error *err);
/** Report the facts of the root attributes (eras E3, E4). False in `any` when there are none. */
HUB_MUST_USE enum hub_status minari_facts_attributes(struct hub_files *files, struct hub_h5 *file,
                                                     const struct hub_h5_object *root, struct hub_sink *sink,
                                                     struct hub_buf *hint, bool *any, struct hub_error *err);

/* ---- spaces ---- */

/** A space as it is shown, and where its text is. */
struct minari_space {
    const char *key, *images; /* fact; root of the fields it describes */
    bool there, fits,
        placed; /* fits: `shown` holds it; placed: `place` is where its text lies, else `text` */
    struct hub_buf shown, text;
    struct hub_place place;
    char trouble[200]; /* it is no JSON */
};
#define MINARI_OBSERVATION_SPACE                                                                             \
    {                                                                                                        \
        .key = "observation_space", .images = "observations"                                                 \
    }
#define MINARI_ACTION_SPACE                                                                                  \
    {                                                                                                        \
        .key = "action_space", .images = "actions"                                                           \
    }

/** The next value of metadata.json, file number `file`, which the stream reads. */
HUB_MUST_USE enum hub_status minari_space_read(struct minari_space *space, struct hub_json_stream *stream,
                                               uint32_t file, struct hub_error *err);
/** An attribute's text; `is_text` is false when it is none. */
HUB_MUST_USE enum hub_status minari_space_attribute(struct minari_space *space, struct hub_files *files,
                                                    struct hub_h5 *file,
                                                    const struct hub_h5_attribute *attribute, bool *is_text,
                                                    struct hub_error *err);
/** Report it, and its image paths to `hint`. */
HUB_MUST_USE enum hub_status minari_space_send(const struct minari_space *space, struct hub_sink *sink,
                                               struct hub_buf *hint, struct hub_error *err);
void minari_space_dispose(struct minari_space *space);
/** Add "image PATH LF" for each leaf of a space, as it is shown, that is a uint8 Box of 2 or 3 dimensions. */
HUB_MUST_USE enum hub_status minari_image_paths(const char *space_json, size_t size, const char *root,
                                                struct hub_buf *hint, struct hub_error *err);
/** Does the note say that this path holds images? A note that was cut says yes to everything. */
bool minari_hint_image(struct hub_view hint, struct hub_view path);

/** Report a file whose writer did not close it. */
HUB_MUST_USE enum hub_status minari_tell_open(const struct hub_h5 *file, struct hub_view path,
                                              struct hub_sink *sink, struct hub_error *err);

/** The driver's inspect function. */
HUB_MUST_USE enum hub_status minari_inspect(struct hub_files *files, const struct hub_part *part,
                                            struct hub_sink *sink, struct hub_error *err);

/* ---- one episode's datasets ---- */

struct minari_leaf {
    struct hub_view path; /* below the episode; in minari_tree.text */
    size_t path_at;
    struct hub_h5_object object;
    struct hub_h5_dataset dataset;
};

/** Datasets below a group, reused from episode to episode. */
struct minari_tree {
    struct hub_h5 *file;
    struct hub_sink *sink;
    struct hub_view episode; /* its name, for problems */
    bool quiet;              /* problems were or will be reported by another walk */
    struct minari_leaf *leaves;
    uint32_t count, capacity;
    struct hub_buf text, path;
    struct hub_h5_object groups[MINARI_MAX_DEPTH];
    struct hub_h5_links links[MINARI_MAX_DEPTH];
    uint64_t above[MINARI_MAX_DEPTH]; /* addresses on the way down, against cycles */
};

/** Gather the datasets below the group at `address`; groups[0] then holds its header. What is wrong with one
 * link or dataset is a problem; only what is wrong with the group itself, the sink or memory is returned. */
HUB_MUST_USE enum hub_status minari_tree_load(struct minari_tree *tree, uint64_t address,
                                              struct hub_error *err);
const struct minari_leaf *minari_tree_find(const struct minari_tree *tree, const char *path);
void minari_tree_dispose(struct minari_tree *tree);
/** Report "episode/path" under a code; a failure to report is passed up. */
HUB_MUST_USE enum hub_status minari_problem(struct minari_tree *tree, const char *code, struct hub_view path,
                                            struct hub_error *err, const char *detail);

/* ---- the attributes of one episode ---- */

struct minari_note {
    struct hub_buf key, value; /* value is JSON */
};

struct minari_episode {
    char seed[64];
    bool has_id, has_steps;
    int64_t id, steps;
    double stats[5]; /* sum mean std min max */
    bool has_stat[5], stats_on_rewards;
    struct hub_buf statistics, attributes; /* JSON */
    struct minari_note *notes;             /* other attributes, by name */
    uint32_t note_count, note_capacity;
};

/** Read the attributes of the episode's group and of its rewards. Reusable. */
HUB_MUST_USE enum hub_status minari_episode_load(struct minari_tree *tree, struct minari_episode *out,
                                                 struct hub_error *err);
void minari_episode_dispose(struct minari_episode *episode);
/** Rows of rewards, else of actions, else of the first dataset along the steps; else the attribute, else 0.
 */
uint64_t minari_episode_steps(const struct minari_tree *tree, const struct minari_episode *episode);

/* ---- the fields of a part ---- */

struct minari_field {
    char *path;
    uint32_t number; /* HUB_NONE: not declared yet */
    enum hub_field_type type;
    enum hub_axis axis;
    uint32_t votes[HUB_AXIS_COUNT];
    uint32_t readable, unreadable, odd; /* episodes */
    char reason[200], odd_first[200];
};

struct minari_fields {
    struct hub_view hint;
    struct minari_field *items;
    uint32_t count, capacity, last; /* last: the field found last; the next is likely asked for next */
    bool full;
};

/** Count how the rows of an episode's datasets relate to its steps. */
HUB_MUST_USE enum hub_status minari_fields_vote(struct minari_fields *fields, const struct minari_tree *tree,
                                                uint64_t steps, struct hub_error *err);
/** Declare and place all datasets of an episode that was reported as `index`. */
HUB_MUST_USE enum hub_status minari_fields_place(struct minari_fields *fields, struct minari_tree *tree,
                                                 uint32_t index, uint64_t steps, struct hub_error *err);
/** Tell what no episode could show, and the exceptions. */
HUB_MUST_USE enum hub_status minari_fields_finish(struct minari_fields *fields, struct hub_sink *sink,
                                                  struct hub_error *err);
void minari_fields_dispose(struct minari_fields *fields);

#endif
