/** What the files of the Minari driver share: facts, spaces, the plan's note to inspect, the attributes of an
 * episode. */
#ifndef HUB_FORMATS_MINARI_H
#define HUB_FORMATS_MINARI_H

#include "storage/formats/json_stream.h"
#include "storage/formats/kit/h5_kit.h"

enum { MINARI_MAX_HINT = 4096 };
#define MINARI_EPISODE "episode_"
#define MINARI_READERS "h5py and Minari"

/** Where an external link leads. */
enum minari_link { MINARI_LINK_GOOD = 0, MINARI_LINK_LEAVES, MINARI_LINK_MISSING };
/** The file of the dataset that an external link in data/ names; only relative names inside data/ are
 * good. */
enum minari_link minari_link_target(const struct hub_files *files, struct hub_view name, uint32_t *number);

/** Report the facts of metadata.json (era E5). `hint` gets the image paths, `format` its data_format, "hdf5"
 * where it has none. */
HUB_MUST_USE enum hub_status minari_facts_json(struct hub_files *files, uint32_t number,
                                               struct hub_sink *sink, struct hub_buf *hint, char format[16],
                                               struct hub_error *err);
/** Its spaces alone, observation and action, as they are shown; NULL where there is none to show. */
HUB_MUST_USE enum hub_status minari_spaces_load(struct hub_files *files, uint32_t number, json_t *out[2],
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
        located; /* fits: `shown` holds it; located: its text lies at `location`, else it is `text` */
    struct hub_buf shown, text;
    struct hub_location location;
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

/* ---- columns of Arrow and Parquet ---- */

/** A field's path as it is reported. */
struct minari_spelled {
    char text[HUB_MAX_PATH + 1];
    size_t size;
    bool fits; /* else the column's own path has to do */
};
/** The space of a column, NULL where there is none; `as` is the column's path with _index_N where N is an
 * item of a Tuple. */
const json_t *minari_space_of(json_t *const spaces[2], const char *path, struct minari_spelled *as);
/** Trailing dims of a Box, MultiBinary or MultiDiscrete; false: it says none. */
bool minari_space_shape(const json_t *space, struct hub_variant *out);
/** "2,3" as the writer of infos notes it; "" is a row of one number. */
bool minari_noted_shape(const char *text, struct hub_variant *out);

/** What the metadata.json of an episode says. Zeroed before it is read, disposed of in any case. */
struct minari_said {
    struct hub_buf attributes, statistics; /* JSON, or empty */
    char seed[64];
    bool has_id, has_sum;
    int64_t id, steps; /* steps -1: not said */
    double sum;        /* of the rewards */
};
/** That of data/`number`; `metadata`: the file, or HUB_NONE. One that cannot be used is a problem. */
HUB_MUST_USE enum hub_status minari_said_read(struct hub_files *files, struct hub_sink *sink, int64_t number,
                                              uint32_t metadata, struct minari_said *out,
                                              struct hub_error *err);
void minari_said_dispose(struct minari_said *said);

/** The driver's inspect function. */
HUB_MUST_USE enum hub_status minari_inspect(struct hub_files *files, const struct hub_part *part,
                                            struct hub_sink *sink, struct hub_error *err);

/* ---- the attributes of one episode ---- */

struct mh5_episode {
    char seed[64];
    bool has_id, has_steps;
    int64_t id, steps;
    double stats[5]; /* sum mean std min max */
    bool has_stat[5], stats_on_rewards;
    struct hub_buf statistics; /* JSON */
    struct hub_h5_notes notes; /* other attributes */
};

/** Read the attributes of the episode's group and of its rewards. Reusable. */
HUB_MUST_USE enum hub_status mh5_episode_load(struct hub_h5_tree *tree, struct mh5_episode *out,
                                              struct hub_error *err);
void mh5_episode_dispose(struct mh5_episode *episode);
/** Rows of rewards, else of actions, else of the first dataset along the steps; else the attribute, else
 * 0. */
uint64_t mh5_episode_steps(const struct hub_h5_tree *tree, const struct mh5_episode *episode);

#endif
