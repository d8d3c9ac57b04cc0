/**
 * What is known of single episodes, out of the columns of their parts: the blobs that were last looked into
 * stay at hand. Of one thread, and of a state that outlives it.
 */
#ifndef HUB_EPISODES_EPISODE_READER_H
#define HUB_EPISODES_EPISODE_READER_H

#include "storage/episodes/column_cursor.h"
#include "storage/query/where.h"

#include "storage/text/json.h"

/* JSON that was last parsed of the texts of rows: of neighbours it is often the same. */
struct hub_parsed {
    const char *text;
    unsigned moves;
    json_t *json;
};

/* The columns of a property: a word's in the place of its kind, those of a field or an attribute behind
 * these, in the place of its index. */
struct hub_property_slot {
    struct hub_property name;
    struct hub_column_cursor known, measured; /* stated by the files or made of rows; measured */
};

/** The return between these is the score. */
struct hub_reference_scores {
    bool read, there;
    double low, high;
};

/** All zero but for the state. */
struct hub_episode_reader {
    const struct hub_state *state;
    struct hub_column_cursor rows;
    struct hub_property_slot slots[HUB_PROPERTY_ATTRIBUTE + HUB_NAMES];
    struct hub_parsed attributes, statistics;
    struct hub_reference_scores scores;
    struct hub_value one, *set; /* the last value that was returned */
    uint32_t room;
    bool passing; /* what it has looked into is not kept in the cache */
    bool knows_tasks;
    json_t *tasks; /* the dataset's, text -> number; NULL: it has no list of them */
};

void hub_episode_reader_dispose(struct hub_episode_reader *reader);

/** All that is known of it, but for its number; texts live until the reader is asked for another episode. */
HUB_MUST_USE enum hub_status hub_episode_row(struct hub_episode_reader *reader,
                                             const struct hub_dataset_episode *episode,
                                             struct hub_found_episode *out, struct hub_error *err);
/** The same, with the number it is shown under and the path of its file instead of its number (NULL: not
 * known). */
HUB_MUST_USE enum hub_status hub_episode_describe(struct hub_episode_reader *reader,
                                                  const struct hub_dataset_episode *episode,
                                                  struct hub_found_episode *out, const char **path,
                                                  struct hub_error *err);
/** What it has under a name. The values live until the next call. */
HUB_MUST_USE enum hub_status hub_episode_values_of(struct hub_episode_reader *reader,
                                                   const struct hub_dataset_episode *episode,
                                                   const struct hub_property *name, struct hub_values *out,
                                                   struct hub_error *err);

/** One of its values under this name is the text, or the number that the text spells. */
HUB_MUST_USE enum hub_status hub_episode_has_text(struct hub_episode_reader *reader,
                                                  const struct hub_dataset_episode *episode,
                                                  enum hub_property_kind kind, struct hub_view text, bool *in,
                                                  struct hub_error *err);

#endif
