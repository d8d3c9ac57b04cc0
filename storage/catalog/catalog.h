/**
 * The catalogue: what every dataset holds. index-N.db is derived (another format number N: built beside the
 * old one), hub.db is truth (digests; later tokens, mirrors). One connection writes; readers are read-only,
 * one a thread.
 *
 * Three levels, from hot to cold:
 * - snapshot: all dataset heads, in memory, immutable, counted; replaced as a whole when something is
 * published;
 * - dataset: files, parts, fields, the episode directory of one dataset; opened from the index, kept in an
 * LRU;
 * - layout: the checked layout of one field of one part; read from the index on first use, kept in the same
 * LRU.
 *
 * No SQL runs where all three are warm. Listing datasets works on the snapshot alone.
 *
 * Thread-safety: everything may be called from any thread; writers wait for each other.
 */
#ifndef HUB_CATALOG_CATALOG_H
#define HUB_CATALOG_CATALOG_H

#include "storage/model/findings.h"
#include "storage/model/layout.h"

struct hub_catalog;

struct hub_catalog_options {
    const char *state;  /* directory: hub.db, index-N.db, side/ */
    size_t cache_bytes; /* opened datasets and layouts; default 64 MiB */
    /** Memory for layouts that are in use at the same time and find no room in that. False: there is none
     * now. From any thread; until the catalogue is closed. NULL: as much as it takes. */
    bool (*take)(void *memory, uint64_t bytes);
    void (*give)(void *memory, uint64_t bytes);
    void *memory;
};

HUB_MUST_USE enum hub_status hub_catalog_open(const struct hub_catalog_options *options,
                                              struct hub_catalog **out, struct hub_error *err);
void hub_catalog_close(struct hub_catalog *catalog);
/** One line for the operator about what opening had to do (a damaged index is built anew), or "". */
const char *hub_catalog_notice(const struct hub_catalog *catalog);
/** Version of SQLite at run time. */
const char *hub_catalog_library(void);

/* ---- snapshot ---- */

enum hub_dataset_status {
    HUB_DATASET_READY = 1,
    HUB_DATASET_PENDING,
    HUB_DATASET_BROKEN,
    HUB_DATASET_UNSUPPORTED
};
const char *hub_dataset_status_name(enum hub_dataset_status status);

/** Everything a summary shows (DESIGN 4 "Documents"). Immutable; texts are never NULL ("" = unknown). */
struct hub_head {
    int64_t row;        /* of the index */
    uint64_t serial;    /* grows with every publication of this dataset: (row, serial) names one state */
    const char *id;     /* "D4RL/door/human-v2" */
    const char *key;    /* id without -vN */
    const char *space;  /* namespace, or "" */
    const char *name;   /* last segment without -vN */
    int64_t version;    /* -1: none */
    const char *format; /* "minari-hdf5", "lerobot", "webdataset", "files" */
    const char *era, *reason, *stated_version, *description;
    const char *rule; /* whose releases load it (hub_load_rule_find), or "" */
    const char
        *loadable_by;    /* JSON array of those; "[]" also where a library without a rule refuses it; or "" */
    const char *authors; /* JSON array */
    const char *revision; /* 40 hex, "" while pending */
    uint32_t root;        /* number of the root it lies under */
    const char
        *path; /* of its directory (or of the folder its files lie in) below the root; "" = the root itself */
    enum hub_dataset_status status;
    uint64_t episodes, steps, size;
    uint32_t files;
    int64_t modified_ns; /* newest mtime */
};

struct hub_snapshot {
    const struct hub_head *const
        *heads; /* sorted by id in version order: namespace, name, integer version, then bytes */
    uint32_t count;
    uint64_t generation;
};

/** The current snapshot, counted: it and its heads live until the caller puts it. Takes no lock. */
const struct hub_snapshot *hub_catalog_snapshot(struct hub_catalog *catalog);
/** Of NULL: nothing. */
void hub_snapshot_put(const struct hub_snapshot *snapshot);
static inline void hub_snapshot_putp(const struct hub_snapshot **snapshot)
{
    hub_snapshot_put(*snapshot);
}
/** Exact id. NULL: none. */
const struct hub_head *hub_snapshot_find(const struct hub_snapshot *snapshot, struct hub_view id);
/** Newest version of a versionless id; `release` (may be NULL) limits to those that release loads. NULL:
 * none.
 */
const struct hub_head *hub_snapshot_newest(const struct hub_snapshot *snapshot, struct hub_view key,
                                           const char *release);
/** First and number of the heads with this key: its versions, ascending. */
uint32_t hub_snapshot_versions(const struct hub_snapshot *snapshot, struct hub_view key,
                               const struct hub_head *const **first);
/** Up to `limit` ids nearest in spelling (edit distance over key and name). Returns how many. */
uint32_t hub_snapshot_nearest(const struct hub_snapshot *snapshot, struct hub_view id,
                              const struct hub_head **out, uint32_t limit);
/** Ready, but its own library does not load it: its problem "not-loadable" says why. */
bool hub_head_refused(const struct hub_head *head);
/** Does this release of its library load it? False where its format has no rule. */
bool hub_head_loadable(const struct hub_head *head, const char *release);

/* ---- one dataset ---- */

struct hub_ds_part {
    const char *name;
    int64_t row;
    const char *broken;          /* NULL: fine; else why */
    const char *side;            /* path of its side data below the state directory, or NULL */
    struct hub_stamp side_stamp; /* of a sealed file */
};
struct hub_ds_field {
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
struct hub_ds_episode {
    int64_t number;
    uint32_t part;  /* index in parts */
    uint32_t index; /* within the part: the window's `episode` */
    uint64_t steps;
};

struct hub_dataset {
    const struct hub_head *head; /* counted with the dataset */
    const struct hub_ds_file *files;
    uint32_t file_count; /* all files, sorted by path: file numbers of layouts */
    const struct hub_ds_part *parts;
    uint32_t part_count;
    const struct hub_ds_field *fields;
    uint32_t field_count; /* sorted by path */
    const struct hub_ds_episode *episodes;
    uint32_t episode_count;
};

/** Counted; from the LRU, else the newest state is loaded (blocking), which may be ahead of `head`. HUB_AGAIN
 * when it would have to be loaded and `may_block` is false. */
HUB_MUST_USE enum hub_status hub_dataset_get(struct hub_catalog *catalog, const struct hub_head *head,
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
    const struct hub_dataset *dataset; /* its head too may be ahead of the snapshot's */
    struct hub_catalog *catalog;
    struct hub_db *db;
};
/** HUB_NOT_FOUND: the dataset of `head` is no longer there. */
HUB_MUST_USE enum hub_status hub_state_open(struct hub_catalog *catalog, const struct hub_head *head,
                                            struct hub_state *out, struct hub_error *err);
/** Of a zeroed one: nothing. */
void hub_state_close(struct hub_state *state);

/** Index of a field, or HUB_NONE. */
uint32_t hub_dataset_field(const struct hub_dataset *dataset, struct hub_view path);
/** Fields strictly below a group path: [first, first+count). */
uint32_t hub_dataset_group(const struct hub_dataset *dataset, struct hub_view path, uint32_t *first);
const struct hub_ds_episode *hub_dataset_episode(const struct hub_dataset *dataset, int64_t number);

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
                                             const struct hub_ds_episode *episode,
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
/** The problems as a JSON array of {"code","path"?,"detail"}. Blocking. */
HUB_MUST_USE enum hub_status hub_dataset_problems(const struct hub_state *state, struct hub_buf *out,
                                                  struct hub_error *err);

typedef enum hub_status (*hub_problem_each)(void *user, const struct hub_problem *problem,
                                            struct hub_error *err);
/** Calls `each` for up to `limit` problems of one dataset, behind the first `skip`. Blocking. */
HUB_MUST_USE enum hub_status hub_dataset_each_problem(struct hub_catalog *catalog,
                                                      const struct hub_head *head, uint32_t skip,
                                                      uint32_t limit, hub_problem_each each, void *user,
                                                      struct hub_error *err);

/** How many problems each dataset has that has any. Zero it first, dispose it. Blocking. */
struct hub_problem_counts {
    struct hub_problem_count {
        int64_t row;
        uint32_t count;
    } * items; /* ascending by row */
    uint32_t size, capacity;
};
HUB_MUST_USE enum hub_status hub_catalog_problem_counts(struct hub_catalog *catalog,
                                                        struct hub_problem_counts *out,
                                                        struct hub_error *err);
uint32_t hub_problem_count_of(const struct hub_problem_counts *counts, const struct hub_head *head);
void hub_problem_counts_dispose(struct hub_problem_counts *counts);

/* ---- episodes (SQL, blocking) ---- */

/** One row of the episodes table; texts live until the callback returns. */
struct hub_episode_row {
    int64_t number;
    const char *name, *file, *seed, *task, *splits, *attributes, *statistics; /* NULL: unknown */
    uint64_t steps;
    bool has_return, return_computed;
    double episode_return;
    int success, terminated, truncated; /* -1 unknown */
};
enum hub_episode_sort {
    HUB_BY_NUMBER = 0,
    HUB_BY_STEPS,
    HUB_BY_RETURN,
    HUB_BY_SEED,
    HUB_BY_TASK,
    HUB_BY_SUCCESS
};
struct hub_episode_query {
    enum hub_episode_sort sort;
    bool descending;
    const char *split; /* NULL: all */
    uint32_t limit;    /* 1..1000 */
    /* keyset: rows strictly after this key (ties by number); has_after false: from the start. Episodes
     * without the key come last in both directions. */
    bool has_after,
        after_is_null;         /* after_is_null is the same as an empty after_key; not for HUB_BY_NUMBER */
    struct hub_view after_key; /* as hub_episode_page wrote it: empty when the row has none, and by number */
    int64_t after_number;
};
/** Calls `each` for up to limit rows, in order. `key` receives the last row's sort key for the cursor; `more`
 * whether rows remain; `total` the exact number the filters match. */
HUB_MUST_USE enum hub_status hub_episode_page(
    const struct hub_state *state, const struct hub_episode_query *query,
    enum hub_status (*each)(void *user, const struct hub_episode_row *row, struct hub_error *err), void *user,
    struct hub_buf *key, bool *more, uint64_t *total, struct hub_error *err);
HUB_MUST_USE enum hub_status
hub_episode_one(const struct hub_state *state, int64_t number,
                enum hub_status (*each)(void *user, const struct hub_episode_row *row, struct hub_error *err),
                void *user, struct hub_error *err);

/* ---- digests (hub.db) ---- */

struct hub_file_digests {
    char sha256[65], md5[33], crc32c[9];
};
/** Digests verified at exactly this stamp. HUB_NOT_FOUND: unknown. Cheap (in memory after the first use). */
HUB_MUST_USE enum hub_status hub_digest_find(struct hub_catalog *catalog, uint32_t root, const char *path,
                                             const struct hub_stamp *stamp, struct hub_file_digests *out,
                                             struct hub_error *err);
/** The same from memory alone, for threads that must not block: HUB_AGAIN where hub.db has to be asked. */
HUB_MUST_USE enum hub_status hub_digest_recall(struct hub_catalog *catalog, uint32_t root, const char *path,
                                               const struct hub_stamp *stamp, struct hub_file_digests *out);
/** Those of many files at once, in the order of hub_dataset's: one question instead of one a file. What is
 * not known has an empty sha256. `path` is of the folder they lie in. */
HUB_MUST_USE enum hub_status hub_digest_list(struct hub_catalog *catalog, uint32_t root, const char *path,
                                             const struct hub_ds_file *files, uint32_t count,
                                             struct hub_file_digests *out, struct hub_error *err);
/** How often digests were stored since the start: what is derived from them is as old as this number. */
uint64_t hub_digest_generation(const struct hub_catalog *catalog);
HUB_MUST_USE enum hub_status hub_digest_store(struct hub_catalog *catalog, uint32_t root, const char *path,
                                              const struct hub_stamp *stamp,
                                              const struct hub_file_digests *digests, struct hub_error *err);

/* ---- writing (the scanner) ---- */

struct hub_draft_part {
    const char *name;
    uint64_t signature; /* over the names and stamps of its files, hint and driver version */
    const struct hub_findings
        *found;         /* NULL: keep the part of this name and signature that is in the index */
    const char *broken; /* NULL, or why (found is then NULL) */
    const char *side;   /* side data just written, below the state directory, or NULL */
    struct hub_stamp side_stamp;
};
/**
 * The right to publish the next state of a dataset: taken before work on it begins, and lost to whoever takes
 * it later or publishes meanwhile.
 */
struct hub_turn {
    uint64_t expect;  /* serial of the state to be replaced; 0: there is none */
    uint64_t fence;   /* grows with each turn of the dataset */
    uint64_t attempt; /* random: what is published again because the answer was lost counts once */
};
struct hub_draft {
    const char *id, *path, *format, *reason;
    const char *rule; /* of the format's row; NULL: none */
    uint32_t root;
    enum hub_dataset_status status;
    const struct hub_ds_file *files;
    uint32_t file_count;
    const struct hub_findings *plan; /* facts and problems; NULL: keep what is known */
    const struct hub_draft_part *parts;
    uint32_t part_count;
    const char *revision;
    const char *note; /* NULL, or the key of a note that is put down with it */
    struct hub_view note_value;
    const struct hub_turn
        *turn; /* HUB_CHANGED when it was lost; NULL: whatever was there before is replaced */
};
/** Of the draft root, id, path and format are used. */
HUB_MUST_USE enum hub_status hub_catalog_take_turn(struct hub_catalog *catalog, const struct hub_draft *draft,
                                                   struct hub_turn *out, struct hub_error *err);
/** Publish one state of a dataset, all of it in one transaction, and a new snapshot with it (coalesced: at
 * most every 200 ms while many are published; hub_catalog_flush forces it). Old parts and their side data go
 * at the first flush after the last reader is done. */
HUB_MUST_USE enum hub_status hub_catalog_publish(struct hub_catalog *catalog, const struct hub_draft *draft,
                                                 struct hub_error *err);
/** Publish several in one transaction: all of them or none, and no snapshot shows some alone. */
HUB_MUST_USE enum hub_status hub_catalog_publish_all(struct hub_catalog *catalog,
                                                     const struct hub_draft *drafts, uint32_t count,
                                                     struct hub_error *err);
/** Keep one inspected part ahead of the publication that will show it (whose draft then has neither `found`
 * nor `broken` for it). Bounds the memory of large datasets; an interrupted inspection goes on where it was.
 * Of the draft root, id, path, format, files and turn are used. */
HUB_MUST_USE enum hub_status hub_catalog_stage(struct hub_catalog *catalog, const struct hub_draft *draft,
                                               const struct hub_draft_part *part, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_catalog_remove(struct hub_catalog *catalog, uint32_t root, const char *id,
                                                struct hub_error *err);
/** True when the part of that name and signature is in the index of this dataset and its side data are whole
 * (so it need not be inspected). */
bool hub_catalog_has_part(struct hub_catalog *catalog, uint32_t root, const char *id, const char *part,
                          uint64_t signature);
HUB_MUST_USE enum hub_status hub_catalog_flush(struct hub_catalog *catalog, struct hub_error *err);
/** An index of another format lies beside this one: kept, with its side data, until hub_catalog_complete says
 * that this one has all the datasets. */
bool hub_catalog_has_older(const struct hub_catalog *catalog);
void hub_catalog_complete(struct hub_catalog *catalog);

/** The scanner's own memory between runs: what a directory looked like and who claimed it. Keys and values
 * are opaque; an empty value forgets the key. */
HUB_MUST_USE enum hub_status hub_catalog_note_put(struct hub_catalog *catalog, const char *key,
                                                  struct hub_view value, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_catalog_note_get(struct hub_catalog *catalog, const char *key,
                                                  struct hub_buf *value, struct hub_error *err);
/** Forget those whose key begins with `prefix` and that `keep` does not want. */
HUB_MUST_USE enum hub_status hub_catalog_notes_prune(struct hub_catalog *catalog, const char *prefix,
                                                     bool (*keep)(void *user, const char *key), void *user,
                                                     struct hub_error *err);

#endif
