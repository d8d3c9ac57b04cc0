/**
 * One dataset of the catalogue: its files, parts, fields and episodes, the layouts of its fields, its facts,
 * problems and digests.
 */
#ifndef HUB_CATALOG_DATASET_H
#define HUB_CATALOG_DATASET_H

#include "storage/base/parallel.h"
#include "storage/catalog/summary.h"
#include "storage/model/findings.h"
#include "storage/model/layout.h"
#include "storage/model/video.h"
#include "storage/query/where.h"

struct hub_dataset_part {
    const char *name;
    int64_t row;
    const char *broken;          /* NULL: fine; else why */
    const char *side;            /* path of its side data below the state directory, or NULL */
    struct hub_stamp side_stamp; /* of a sealed file */
};
struct hub_dataset_field {
    const char *path;
    enum hub_field_type type;
    enum hub_role role;
    enum hub_axis axis;
    const char *unreadable; /* NULL: readable */
    const char *dtype;      /* of its first variant, as hub_variant_name says */
    const char *shape; /* JSON array of the trailing shape, null for a dimension that varies; "" unknown */
    uint32_t episodes;
};
/** Where an episode lies. Sorted by number. */
struct hub_dataset_episode {
    int64_t number;
    uint32_t part;  /* index in parts */
    uint32_t index; /* within the part: the window's `episode` */
    uint64_t steps;
};

struct hub_dataset {
    const struct hub_summary *summary; /* counted with the dataset */
    const struct hub_dataset_file *files;
    uint32_t file_count; /* all files, sorted by path: file numbers of layouts */
    const struct hub_dataset_part *parts;
    uint32_t part_count;
    const struct hub_dataset_field *fields;
    uint32_t field_count; /* sorted by path */
    const struct hub_dataset_episode *episodes;
    uint32_t episode_count;
};

/** Counted; from the LRU, else the newest state is loaded (blocking), which may be ahead of `summary`.
 * HUB_AGAIN when it would have to be loaded and `may_block` is false. */
HUB_MUST_USE enum hub_status hub_dataset_get(struct hub_catalog *catalog, const struct hub_summary *summary,
                                             bool may_block, const struct hub_dataset **out,
                                             struct hub_error *err);
/** Of NULL: nothing. */
void hub_dataset_put(const struct hub_dataset *dataset);
static inline void hub_dataset_putp(const struct hub_dataset **dataset)
{
    hub_dataset_put(*dataset);
}

/**
 * The newest state of one dataset: all that is asked through it is of the moment it was opened, whatever is
 * published meanwhile. It holds a read transaction of this thread, so a thread has one at a time, loads
 * datasets before it, and closes it soon. Blocking.
 */
struct hub_state {
    const struct hub_dataset *dataset; /* its summary too may be ahead of the snapshot's */
    struct hub_catalog *catalog;
    struct hub_db *db;
    uint64_t measures; /* hub_measures_generation when it was opened, or before */
};
/** HUB_NOT_FOUND: the dataset of `summary` is no longer there. */
HUB_MUST_USE enum hub_status hub_state_open(struct hub_catalog *catalog, const struct hub_summary *summary,
                                            struct hub_state *out, struct hub_error *err);
/** Of a zeroed one: nothing. */
void hub_state_close(struct hub_state *state);

/** Index of a field, or HUB_NONE. An item of a Tuple goes by N and by _index_N. */
uint32_t hub_dataset_find_field(const struct hub_dataset *dataset, struct hub_view path);
/** Is a field a number inside the rows of another one, which are JSON? A row without it is NaN. */
bool hub_dataset_is_inside(const struct hub_dataset *dataset, uint32_t field);
/** Fields strictly below a group path: [first, first+count); `size`: of the group's path, as its fields have
 * it. */
uint32_t hub_dataset_find_group(const struct hub_dataset *dataset, struct hub_view path, uint32_t *first,
                                size_t *size);
const struct hub_dataset_episode *hub_dataset_find_episode(const struct hub_dataset *dataset, int64_t number);

/** The checked layout of a field in a part: counted, from the LRU, else loaded and proven (blocking;
 * HUB_AGAIN as above). HUB_NOT_FOUND: no episode of that part has the field. */
struct hub_layout_ref;
HUB_MUST_USE enum hub_status hub_layout_get(struct hub_catalog *catalog, const struct hub_dataset *dataset,
                                            uint32_t part, uint32_t field, bool may_block,
                                            struct hub_layout_ref **out, struct hub_error *err);
const struct hub_layout *hub_layout_of(const struct hub_layout_ref *ref);
/** Why the rows of a window cannot be read, NULL: they can. */
const char *hub_layout_why(const struct hub_layout_ref *ref, const struct hub_window *window);
/** The rows of an episode of that part. HUB_NOT_FOUND "field-not-found": it does not have the field;
 * HUB_UNSUPPORTED "field-unreadable". */
HUB_MUST_USE enum hub_status hub_layout_find(const struct hub_layout_ref *ref,
                                             const struct hub_dataset_episode *episode,
                                             const struct hub_window **out, struct hub_error *err);
/** Of NULL: nothing. */
void hub_layout_put(struct hub_layout_ref *ref);
static inline void hub_layout_putp(struct hub_layout_ref **ref)
{
    hub_layout_put(*ref);
}

/** Texts of one dataset for its document: value of a fact ("metadata", "observation_space", ...) into `out`,
 * empty when unknown. Blocking. */
HUB_MUST_USE enum hub_status hub_dataset_fact(const struct hub_state *state, const char *key,
                                              struct hub_buf *out, struct hub_error *err);
/** How many episodes each split has, as a JSON object: as the files state it, else counted; empty where
 * there are none. Blocking. */
HUB_MUST_USE enum hub_status hub_dataset_splits(const struct hub_state *state, struct hub_buf *out,
                                                struct hub_error *err);
/** The problems as a JSON array of {"code","path"?,"detail"}. Blocking. */
HUB_MUST_USE enum hub_status hub_dataset_problems(const struct hub_state *state, struct hub_buf *out,
                                                  struct hub_error *err);

typedef enum hub_status (*hub_problem_each)(void *user, const struct hub_problem *problem,
                                            struct hub_error *err);
/** Calls `each` for up to `limit` problems of one dataset, behind the first `skip`. Blocking. */
HUB_MUST_USE enum hub_status hub_dataset_each_problem(struct hub_catalog *catalog,
                                                      const struct hub_summary *summary, uint32_t skip,
                                                      uint32_t limit, hub_problem_each each, void *user,
                                                      struct hub_error *err);

/* ---- episodes (blocking) ---- */

/** Which episodes, in which order, and which of these. */
struct hub_episode_query {
    struct hub_property sort;
    bool descending;
    const char *split, *name; /* only those of it; NULL: all */
    const char *task;         /* only those of it: its text, or its index in the fact "tasks"; NULL: all */
    const struct hub_where *where;       /* borrowed; only those it holds for; NULL: all */
    const struct hub_parallel *parallel; /* says when nobody waits any more: HUB_CANCELLED; NULL: never */
    uint32_t limit;                      /* episodes of a page, at least 1; UINT32_MAX: all */
    enum {
        HUB_PAGE_FIRST,  /* from the first one on */
        HUB_PAGE_BEHIND, /* those behind an episode */
        HUB_PAGE_BEFORE, /* those before it */
        HUB_PAGE_AROUND  /* the page with it, where pages follow each other from the first one on */
    } from;
    int64_t number; /* that episode */
};
/** A page of what a query chooses, in its order: places among dataset->episodes. */
struct hub_episode_page {
    uint32_t *places;
    uint32_t count;
    uint32_t first; /* so many come before it */
    uint32_t total; /* so many there are altogether */
};
/** HUB_NOT_FOUND "episode-missing": there is no page around this episode; HUB_INVALID "bad-cursor": the
 * episode that the page lies at is gone. Dispose of `out`, zeroed at first, whatever is returned. Takes about
 * HUB_CHOOSING bytes an episode of the page meanwhile. */
#define HUB_CHOOSING 80
HUB_MUST_USE enum hub_status hub_episode_page(const struct hub_state *state,
                                              const struct hub_episode_query *query,
                                              struct hub_episode_page *out, struct hub_error *err);
/** The same of places in an order of their own. */
HUB_MUST_USE enum hub_status hub_episode_page_among(const struct hub_dataset *dataset, const uint32_t *places,
                                                    uint32_t count, const struct hub_episode_query *query,
                                                    struct hub_episode_page *out, struct hub_error *err);
void hub_episode_page_dispose(struct hub_episode_page *page);

/** Whether the query's filters take each episode, in the order of the dataset's. */
HUB_MUST_USE enum hub_status hub_episode_choose(const struct hub_state *state,
                                                const struct hub_episode_query *query, bool *chosen,
                                                struct hub_error *err);
/** Called for each episode, by its place among the dataset's, with the number of its file, or HUB_NONE. */
typedef void hub_episode_file(void *user, uint32_t place, uint32_t file);
HUB_MUST_USE enum hub_status hub_episode_files(const struct hub_state *state, hub_episode_file *each,
                                               void *user, struct hub_error *err);
/**
 * Which files the chosen episodes need: all but those that only others have their rows or videos in, and what
 * lies in folders of such files alone. Blocking.
 *
 * @param chosen  by their place among the dataset's
 * @param needed  by number, all of them written
 */
HUB_MUST_USE enum hub_status hub_files_needed(const struct hub_state *state, const bool *chosen, bool *needed,
                                              struct hub_error *err);

/* ---- videos (blocking) ---- */

/** Is given what one camera saw of an episode; `file` is today's number, or HUB_NONE. Texts live until it
 * returns. */
typedef enum hub_status hub_media_each(void *user, const struct hub_found_media *media,
                                       struct hub_error *err);
/** In the order they were reported. */
HUB_MUST_USE enum hub_status hub_episode_media(const struct hub_state *state,
                                               const struct hub_dataset_episode *episode,
                                               hub_media_each *each, void *user, struct hub_error *err);

/** Of all episodes of a part, which `media->episode` names within it. */
HUB_MUST_USE enum hub_status hub_part_media(const struct hub_state *state, uint32_t part,
                                            hub_media_each *each, void *user, struct hub_error *err);

/** The checked table of a video file: counted, from the LRU, else loaded and proven. HUB_NOT_FOUND: there is
 * none, which its media tell the reason of. */
struct hub_video_ref;
HUB_MUST_USE enum hub_status hub_video_get(const struct hub_state *state, uint32_t part, uint32_t file,
                                           struct hub_video_ref **out, struct hub_error *err);
const struct hub_video *hub_video_of(const struct hub_video_ref *ref);
void hub_video_put(struct hub_video_ref *ref);
static inline void hub_video_putp(struct hub_video_ref **ref)
{
    hub_video_put(*ref);
}

#endif
