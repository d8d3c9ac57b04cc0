/* Shared by the files of the LeRobot driver: its metadata as read, and what its part keeps while it is
 * inspected. */
#ifndef HUB_FORMATS_LEROBOT_H
#define HUB_FORMATS_LEROBOT_H

#include "storage/formats/kit/kit.h"
#include "storage/formats/parquet/column.h"

#define LEROBOT_INFO "meta/info.json"
#define LEROBOT_EPISODES "meta/episodes.jsonl"
#define LEROBOT_TASKS "meta/tasks.jsonl"
#define LEROBOT_STATS "meta/stats.json"
#define LEROBOT_EPISODES_STATS "meta/episodes_stats.jsonl"
enum { LEROBOT_RUN = 1000 }; /* episodes of a part */

/* ---- meta.c ---- */

/** Called for every line that is an object; returns a status other than HUB_OK to stop. */
typedef enum hub_status hub_lerobot_line(void *user, json_t *object, uint32_t number, struct hub_error *err);

/** Lines of a .jsonl file, and who takes them. */
struct lerobot_lines {
    struct hub_files *files;
    struct hub_sink *sink; /* NULL: damage is reported to nobody */
    const char *path;
    int64_t first, last;
    hub_lerobot_line *line;
    void *user;
};

/**
 * The lines of a .jsonl file; one that is not there has none. Empty lines are passed over, damaged ones are
 * reported to the sink as "bad-json-line". Lines that begin with an episode_index outside
 * [first, last] are passed over unread.
 */
HUB_MUST_USE enum hub_status hub_lerobot_lines(const struct lerobot_lines *lines, struct hub_error *err);

/** The episode a line of episodes.jsonl is about: episode_index, or episode_id as text. -1: neither. */
int64_t hub_lerobot_line_episode(const json_t *line);

/** "…/episode_000012.parquet" -> 12, -1 for any other name. */
int64_t hub_lerobot_episode_of(struct hub_view path, const char *extension);

/** The text of a string member, or NULL. */
const char *hub_lerobot_text(const json_t *object, const char *key);

/** "2.1" of codebase_version "v2.1" or version "2.1"; NULL: neither is there. */
const char *hub_lerobot_version(const json_t *info);

/** "from:to" as two numbers. */
bool hub_lerobot_range(const json_t *split, int64_t *from, int64_t *to);

/** A file that belongs to an episode. */
struct lerobot_file {
    int64_t episode; /* -1: its name does not say */
    uint32_t file;
};
/** Order by episode, then file, of structs that begin with a lerobot_file. */
int hub_lerobot_by_file(const void *a, const void *b);

/* ---- columns.c ---- */

/** A column of the part, by its first file. */
struct lerobot_column {
    char *path;
    uint32_t field;
    enum hub_field_type type;
    struct hub_variant variant;          /* of the last file that could be read */
    uint64_t nulls;                      /* in columns that have no way to say so */
    uint32_t files;                      /* episode files that have it */
    struct hub_readings readings;        /* of them */
    bool shape_reported, dtype_reported; /* the difference to info.json was reported */
};

struct lerobot_columns {
    struct lerobot_column *items;
    uint32_t count, capacity, files_seen;
    struct hub_files *files;
    struct hub_sink *sink;
    const json_t *features; /* of info.json; may be NULL */
};

/** The run of a file's rows that is one episode. */
struct lerobot_cut {
    uint32_t episode; /* index in the part */
    uint64_t first, count;
};

/** Report all columns of one episode file. A column that cannot be read there is remembered, and never fails
 * the file. */
HUB_MUST_USE enum hub_status hub_lerobot_add_columns(struct lerobot_columns *c,
                                                     const struct hub_parquet *parquet,
                                                     struct hub_parquet_decoder *d,
                                                     const struct lerobot_cut *cuts, uint32_t cut_count,
                                                     struct hub_error *err);
/** Report what was remembered: unreadable fields, nulls, features without a column. */
HUB_MUST_USE enum hub_status hub_lerobot_finish_columns(struct lerobot_columns *c, struct hub_error *err);
void hub_lerobot_columns_dispose(struct lerobot_columns *c);

/* ---- video.c ---- */

/** Count the episodes' videos, and report those that are not there as a whole: of the first 10,000. */
HUB_MUST_USE enum hub_status hub_lerobot_check_videos(struct hub_files *files, struct hub_sink *sink,
                                                      uint64_t *count, struct hub_error *err);

/* ---- part.c ---- */

HUB_MUST_USE enum hub_status hub_lerobot_inspect(struct hub_files *files, const struct hub_part *part,
                                                 struct hub_sink *sink, struct hub_error *err);

#endif
