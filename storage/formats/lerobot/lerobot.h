/* Shared by the files of the LeRobot driver: its metadata as read, and what its part keeps while it is
 * inspected. */
#ifndef HUB_FORMATS_LEROBOT_H
#define HUB_FORMATS_LEROBOT_H

#include "storage/formats/kit/table_kit.h"
#include "storage/formats/mp4/videos.h"

#define LEROBOT_INFO "meta/info.json"
#define LEROBOT_EPISODES "meta/episodes.jsonl"
#define LEROBOT_TASKS "meta/tasks.jsonl"
#define LEROBOT_TASK_TABLE "meta/tasks.parquet"
#define LEROBOT_MODALITY "meta/modality.json"
#define LEROBOT_STATS "meta/stats.json"
#define LEROBOT_EPISODES_STATS "meta/episodes_stats.jsonl"
/* of v3, where info.json states none */
#define LEROBOT_DATA_TEMPLATE "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
#define LEROBOT_VIDEO_TEMPLATE "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"

/* ---- lines.c: JSON lines ---- */

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
 * reported to the sink as "bad-json-line", and a list of objects in their place ("json-array") is taken for
 * lines. Lines that begin with an episode_index outside [first, last] are passed over unread.
 */
HUB_MUST_USE enum hub_status hub_lerobot_lines(const struct lerobot_lines *lines, struct hub_error *err);

/** The episode a line of episodes.jsonl is about: episode_index, or episode_id as text. -1: neither. */
int64_t hub_lerobot_line_episode(const json_t *line);
/** What a line states as a number; -1: none, or a negative one. */
int64_t hub_lerobot_stated(const json_t *line, const char *key);

/** "…/episode_000012.parquet" -> 12, -1 for any other name. */
int64_t hub_lerobot_episode_of(struct hub_view path, const char *extension);
/** A Parquet file of rows, not of metadata. */
bool hub_lerobot_is_data(struct hub_view path);

/** A file that belongs to an episode. */
struct lerobot_file {
    int64_t episode; /* -1: its name does not say */
    uint32_t file;
};
/** Order by episode, then file, of structs that begin with a lerobot_file. */
int hub_lerobot_by_file(const void *a, const void *b);

/* ---- info.c: meta/info.json ---- */

struct lerobot_info {
    json_t *json;
    const json_t *features; /* of it; may be NULL */
    const json_t *stats;    /* meta/stats.json, or NULL */
};

/** The text of a string member, or NULL. */
const char *hub_lerobot_text(const json_t *object, const char *key);
/** "2.1" of codebase_version "v2.1" or version "2.1"; NULL: neither is there. */
const char *hub_lerobot_version(const json_t *info);
/** "from:to" as two numbers. */
bool hub_lerobot_range(const json_t *split, int64_t *from, int64_t *to);
/** Is this the dtype of a feature: "video"? */
bool hub_lerobot_is(const json_t *feature, const char *dtype);
const json_t *hub_lerobot_video_info(const json_t *feature);
/** Of a camera, else of the dataset; 0: unknown. */
double hub_lerobot_fps(const struct lerobot_info *info, const json_t *feature);

/** What a template of paths speaks of; negative or NULL: it may not. */
struct lerobot_path_values {
    int64_t chunk, file, episode;
    const char *key;
};
/** Fill in "data/chunk-{episode_chunk:03d}/...". False: it names what `values` does not have. */
bool hub_lerobot_path(const char *template, const struct lerobot_path_values *values, struct hub_buf *out);
/** The file of that path, by `otherwise` where the template names none; or HUB_NONE. */
uint32_t hub_lerobot_find(const struct hub_files *files, const char *template, const char *otherwise,
                          const struct lerobot_path_values *values);

/** era, fps, robot_type, dimensions, cameras. */
HUB_MUST_USE enum hub_status hub_lerobot_send_info(const struct lerobot_info *info, struct hub_files *files,
                                                   struct hub_sink *sink, struct hub_error *err);
/** dimensions (dimensions.c) */
HUB_MUST_USE enum hub_status hub_lerobot_send_dimensions(const struct lerobot_info *info,
                                                         struct hub_files *files, struct hub_sink *sink,
                                                         struct hub_error *err);

/* ---- extras.c: RoboCasa's, of an episode ---- */

/** "extras/episode_000012/ep_meta.json" -> 12, -1 for any other path. */
int64_t hub_lerobot_extra_of(struct hub_view path);
/** NULL in `out`: there is none, or it cannot be read. */
HUB_MUST_USE enum hub_status hub_lerobot_read_extra(struct hub_files *files, int64_t episode, json_t **out,
                                                    struct hub_error *err);
/** As a member of an episode's attributes. */
void hub_lerobot_put_extra(struct hub_json *json, const json_t *extra);

/* ---- table.c: metadata that lies in Parquet ---- */

/** A file of rows. HUB_CORRUPT "not-finalized": its writer was stopped before the footer. */
HUB_MUST_USE enum hub_status hub_lerobot_open_rows(struct hub_files *files, uint32_t number,
                                                   struct hub_table *out, struct hub_error *err);
/** The same of metadata: an empty file says so. */
HUB_MUST_USE enum hub_status hub_lerobot_table_open(struct hub_files *files, uint32_t number,
                                                    struct hub_table *out, struct hub_error *err);
/** Rows [first, first + count) of a column; HUB_NOT_FOUND. `out` is to be disposed of whatever it says. */
HUB_MUST_USE enum hub_status hub_lerobot_table_read(struct hub_table *t, const char *name, uint64_t first,
                                                    uint64_t count, struct hub_parquet_items *out,
                                                    struct hub_error *err);
HUB_MUST_USE enum hub_status hub_lerobot_table_leaf(struct hub_table *t, uint32_t leaf, uint64_t first,
                                                    uint64_t count, struct hub_parquet_items *out,
                                                    struct hub_error *err);
/** The first item of a row: a number, NAN where there is none; a whole one, -1 where there is none; a text,
 * by the item's own number. */
double hub_lerobot_number(const struct hub_parquet_items *items, uint64_t row);
int64_t hub_lerobot_integer(const struct hub_parquet_items *items, uint64_t row);
struct hub_view hub_lerobot_string(const struct hub_parquet_items *items, uint64_t item);

/* ---- statistics.c: of the whole, and of an episode ---- */

/** The fact; what it was read to is kept in `stats` for `info`, which borrows it. */
HUB_MUST_USE enum hub_status hub_lerobot_send_statistics(struct lerobot_info *info, struct hub_files *files,
                                                         struct hub_sink *sink, json_t **stats,
                                                         struct hub_error *err);

struct lerobot_statistic {
    struct hub_view feature, name; /* into `path` */
    char *path;
    uint32_t place; /* of its column */
    struct hub_parquet_items items;
};
/** The columns "stats/..." of some rows of a table, feature by feature. */
struct lerobot_statistics {
    struct lerobot_statistic *items;
    uint32_t count;
};
HUB_MUST_USE enum hub_status hub_lerobot_statistics_read(struct hub_table *t, uint64_t first, uint64_t count,
                                                         struct lerobot_statistics *out,
                                                         struct hub_error *err);
void hub_lerobot_statistics_dispose(struct lerobot_statistics *statistics);
/** As one object of objects; nothing where there are none. */
HUB_MUST_USE enum hub_status hub_lerobot_put_row_statistics(const struct lerobot_statistics *s, uint64_t row,
                                                            struct hub_buf *out, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_lerobot_put_line_statistics(const json_t *line, struct hub_buf *out,
                                                             struct hub_error *err);

/* ---- episodes.c, tasks.c: what the metadata says of episodes and of tasks, by number ---- */

struct lerobot_said {
    int64_t episode; /* of tasks: the task's number */
    json_t *line;
    uint32_t table; /* the row's table; HUB_NONE: none */
    uint64_t row;   /* among those that were read of it */
};
struct lerobot_said_list {
    struct lerobot_said *items; /* by number */
    uint32_t count, capacity;
    int64_t first, last; /* wanted */
    struct lerobot_statistics *tables;
    uint32_t table_count;
};

/** A table below meta/episodes. */
bool hub_lerobot_is_episodes(struct hub_view path);
bool hub_lerobot_has_tables(const struct hub_files *files);
HUB_MUST_USE enum hub_status hub_lerobot_read_lines(struct hub_files *files, struct hub_sink *sink,
                                                    const char *path, struct lerobot_said_list *list,
                                                    struct hub_error *err);
HUB_MUST_USE enum hub_status hub_lerobot_read_tables(struct hub_files *files, struct lerobot_said_list *list,
                                                     struct hub_error *err);
/** NULL: nothing is said of it. */
const struct lerobot_said *hub_lerobot_said(const struct lerobot_said_list *list, int64_t episode);
void hub_lerobot_said_dispose(struct lerobot_said_list *list);

/** A list of texts with numbers, and where it lies. */
struct lerobot_texts {
    const char *fact, *table, *lines, *number, *text;
};
extern const struct lerobot_texts hub_lerobot_tasks, hub_lerobot_subtasks;
/** `sink` NULL: damage is reported to nobody. */
HUB_MUST_USE enum hub_status hub_lerobot_read_texts(struct hub_files *files, struct hub_sink *sink,
                                                    const struct lerobot_texts *of,
                                                    struct lerobot_said_list *list, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_lerobot_send_texts(struct hub_sink *sink, const struct lerobot_texts *of,
                                                    const struct lerobot_said_list *list,
                                                    struct hub_error *err);

/* ---- bookkeeping.c: small columns of a data file ---- */

struct lerobot_small {
    uint64_t rows;
    int64_t *episodes, *indexes, *tasks, *success; /* NULL: not known */
    double *rewards;
};
HUB_MUST_USE enum hub_status hub_lerobot_read_small(struct hub_table *table, struct lerobot_small *s,
                                                    struct hub_error *err);
void hub_lerobot_small_dispose(struct lerobot_small *s);
/** The episode of every row, or NULL. */
HUB_MUST_USE enum hub_status hub_lerobot_read_numbers(struct hub_table *table, int64_t **out,
                                                      struct hub_error *err);

/** The run of a file's rows that is one episode. */
struct lerobot_cut {
    int64_t number;
    uint32_t episode; /* index in the part */
    uint64_t first, count;
};

/* ---- columns.c: a column as a field ---- */

struct lerobot_columns {
    struct hub_table_fields fields; /* by the first file that has them */
    uint32_t files_seen;
    const json_t *features; /* of info.json; may be NULL */
};

void hub_lerobot_columns_begin(struct lerobot_columns *c, struct hub_files *files, struct hub_sink *sink);
/** Report all columns of one data file, whose rows are those of the windows' episodes. A column that cannot
 * be read there is remembered, and never fails the file. */
HUB_MUST_USE enum hub_status hub_lerobot_add_columns(struct lerobot_columns *c, struct hub_table *table,
                                                     struct hub_window *windows, uint32_t count,
                                                     struct hub_error *err);
/** Report what was remembered: unreadable fields, nulls, features without a column. */
HUB_MUST_USE enum hub_status hub_lerobot_finish_columns(struct lerobot_columns *c, struct hub_error *err);

/* ---- videos.c: whose they are ---- */

struct lerobot_video {
    struct lerobot_file of; /* first, to be sorted by */
    struct hub_view camera;
};
struct lerobot_camera {
    const char *key;
    const json_t *feature;
    uint32_t found, moved;            /* episodes with a video, and with one in another folder */
    struct hub_view elsewhere;        /* that folder */
    bool searched;                    /* for it */
    struct hub_tally unplaced, spans; /* rows without a place, or whose times do not fit */
    uint32_t judged;                  /* 1 + the file of another frame rate than the rows that this is of: */
    bool by_row, timed;               /* it has a frame for each; its times are its own */
    struct hub_tally rates, codecs;   /* files that are not what info.json says of them */
};
struct lerobot_videos {
    struct hub_files *files;
    struct hub_sink *sink;
    const struct lerobot_info *info;
    const struct lerobot_said_list *said; /* of episodes */
    struct hub_videos read;
    struct lerobot_video *named; /* of one episode each, by its number */
    uint32_t named_count;
    struct lerobot_camera *cameras;
    uint32_t camera_count, episodes;
};
HUB_MUST_USE enum hub_status hub_lerobot_videos_find(struct lerobot_videos *v, int64_t first, int64_t last,
                                                     struct hub_error *err);
/** Those of an episode. `line`: what the metadata says of it, or NULL. */
HUB_MUST_USE enum hub_status hub_lerobot_videos_send(struct lerobot_videos *v, const json_t *line,
                                                     const struct lerobot_cut *cut, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_lerobot_videos_finish(struct lerobot_videos *v, struct hub_error *err);
void hub_lerobot_videos_dispose(struct lerobot_videos *v);

/* ---- episode.c: one of a part ---- */

struct lerobot_part_state {
    struct hub_files *files;
    struct hub_sink *sink;
    struct lerobot_info info;
    struct lerobot_said_list tasks, episodes, stats;
    json_t *texts; /* of tasks, as keys */
    json_t *taken; /* numbers of episodes that have their rows, as keys */
    struct lerobot_videos videos;
    struct lerobot_columns columns;
    struct hub_tally misplaced, ranges; /* what the metadata says of rows, and is not so */
    uint32_t done, failed;
    struct hub_error first_failure;
};

/** Report the episode that is `cut`, whose index in the part is then known, its videos, and what the metadata
 * says otherwise. */
HUB_MUST_USE enum hub_status hub_lerobot_send_episode(struct lerobot_part_state *p, uint32_t file,
                                                      const struct lerobot_small *s, struct lerobot_cut *cut,
                                                      struct hub_error *err);

/* ---- video.c: are they whole ---- */

/** Count the videos, and report those that are not there as a whole: of the first 10,000. */
HUB_MUST_USE enum hub_status hub_lerobot_check_videos(struct hub_files *files, struct hub_sink *sink,
                                                      uint64_t *count, struct hub_error *err);

/* ---- rules.c: how files are called; others.c: what else lies there; card.c: README.md ---- */

/** "data/chunk-012/..." -> 12 and its three digits. */
bool hub_lerobot_chunk_of(struct hub_view path, uint64_t *number, size_t *digits);
/** `data`: the files whose names say their episode, by it. */
HUB_MUST_USE enum hub_status hub_lerobot_check_rules(const struct hub_files *files,
                                                     const struct lerobot_info *info,
                                                     const struct lerobot_file *data, uint32_t count,
                                                     struct hub_sink *sink, struct hub_error *err);
/** other-files: what lies in the folder and is no part of the dataset. */
HUB_MUST_USE enum hub_status hub_lerobot_check_others(const struct hub_files *files, struct hub_sink *sink,
                                                      struct hub_error *err);
/** The feature that a camera's folder is called after, or alone ends like; NULL: none. */
const char *hub_lerobot_camera_key(const json_t *features, struct hub_view folder);
/** card, description. */
HUB_MUST_USE enum hub_status hub_lerobot_send_card(struct hub_files *files, struct hub_sink *sink,
                                                   struct hub_error *err);

/* ---- plan.c, part.c ---- */

/** Does the folder hold LeRobot's other files, so that a broken info.json is one? */
bool hub_lerobot_has_company(const struct hub_files *files);
HUB_MUST_USE enum hub_status hub_lerobot_plan(struct hub_files *files, struct hub_sink *sink,
                                              struct hub_error *err);
HUB_MUST_USE enum hub_status hub_lerobot_inspect(struct hub_files *files, const struct hub_part *part,
                                                 struct hub_sink *sink, struct hub_error *err);

#endif
