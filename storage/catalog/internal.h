/** What the files of the catalogue share: the open catalogue, a thread's own state, summaries and the opened
 * dataset. */
#ifndef HUB_CATALOG_INTERNAL_H
#define HUB_CATALOG_INTERNAL_H

#include "storage/base/lru.h"
#include "storage/catalog/catalog.h"
#include "storage/catalog/fences.h"
#include "storage/catalog/write.h"
#include "storage/io/fs.h"
#include "storage/sqlite/db.h"
#include "storage/sqlite/readers.h"

#include <pthread.h>
#include <stdatomic.h>

/** A summary with its count; all its texts are behind it. */
struct hub_summary_box {
    struct hub_summary summary; /* first: summaries are turned into boxes by a cast */
    atomic_uint refs;
    uint64_t hash;               /* of the id */
    atomic_int_fast64_t read_ms; /* Unix time; 0: not since the start */
    char text[];
};

void hub_summary_ref(const struct hub_summary *summary);
void hub_summary_unref(const struct hub_summary *summary);
/** Of the opened dataset of a summary. Measuring adds problems to a state that is published already. */
struct hub_lru_key hub_dataset_key(const struct hub_summary *summary);
/** Order of a snapshot. */
int hub_summary_compare(const struct hub_summary *a, const struct hub_summary *b);

/** A snapshot with its count and an open-addressing table of its ids. */
struct hub_snapshot_box {
    struct hub_snapshot snapshot; /* first: snapshots are turned into boxes by a cast */
    atomic_uint refs;
    uint32_t mask;
    uint32_t *slots; /* index + 1 of a summary, 0: free */
    const struct hub_summary *summaries[];
};
/** Empty, with room for so many. NULL: no memory. */
struct hub_snapshot_box *hub_snapshot_box_new(uint32_t most);
/** Make a summary of it known by its id; of equal ids the one that came first is found. */
void hub_snapshot_box_index(struct hub_snapshot_box *box, uint32_t number);

/** Side data whose part is gone: unlinked when no dataset opened at or before that state is left. */
struct hub_retired {
    struct hub_retired *next;
    int64_t row;
    uint64_t serial;
    char path[];
};

struct hub_catalog {
    char *state;
    char notice[256]; /* what opening had to do, for the operator */
    char **gone; /* roots that datasets of the index lie under and that are none now: HUB_MAX_ROOTS and on */
    uint32_t gone_count;
    struct hub_db_readers *readers;     /* of the index */
    atomic_bool older;                  /* an index of another format lies beside this one ... */
    struct hub_names side_before;       /* ... and may own these side data, which were there before */
    struct hub_catalog_options options; /* `state` is not to be used */
    struct hub_lru *lru;                /* opened datasets, layouts, columns of episodes */
    atomic_size_t blob_bytes;           /* of all in memory: in the cache or in use */
    atomic_uint_fast64_t layouts_opened;
    atomic_uint_fast64_t looks; /* numbers of looks and changes */

    pthread_t checker; /* of a large index after an unclean stop */
    struct hub_db *checked;
    atomic_bool check_ended;

    pthread_mutex_t write_lock; /* the index's connection and all down to `changed` */
    struct hub_db *index;
    uint64_t next_serial;
    struct hub_summary_box **summaries; /* all, in snapshot order: what the next snapshot will show */
    uint32_t summary_count, summary_capacity;
    struct hub_summary_box **remote; /* what upstreams list, in the same order */
    uint32_t remote_count;
    int64_t shown_ms;         /* when the current snapshot was made */
    bool dirty;               /* summaries differ from it */
    struct hub_fence *fences; /* changes under way ... */
    uint64_t changed[4096];   /* ... and of a place, by its hash, the number of the last one that is over */

    pthread_mutex_t lock;           /* all below; held briefly */
    struct hub_dataset_box *opened; /* every dataset in memory */
    struct hub_retired *retired;
    void (*on_damage)(void *user, const char *id);
    void *on_damage_user;

    struct hub_snapshot_box *_Atomic snapshot; /* replaced with write_lock held */
    atomic_uint taking; /* threads between reading that pointer and counting their reference */
    atomic_uint_fast64_t measures_stored; /* since the start */
    struct hub_measure_failures *measure_failures;
};

/* ---- roots.c ---- */

/** What a root is called in both databases; `number` is for one without a name. */
const char *hub_catalog_root(const struct hub_catalog *catalog, uint32_t root, char number[16]);
/** The other way round. A root that is none now gets a number while the summaries are loaded, so that what
 * lies under it can be removed; later HUB_NONE. */
uint32_t hub_catalog_root_number(const struct hub_catalog *catalog, const char *key);
HUB_MUST_USE enum hub_status hub_catalog_know_root(struct hub_catalog *catalog, const char *key,
                                                   struct hub_error *err);

/* ---- covered.c ---- */

/**
 * Folders in which datasets lie that are here. What an upstream lists is not shown where its place is one of
 * them: it came, and what was found in it has names of its own; or others have put theirs there, and it
 * cannot be fetched.
 */
struct hub_covered {
    uint64_t *hashes; /* sorted */
    uint32_t count, capacity;
};
HUB_MUST_USE enum hub_status hub_covered_find(const struct hub_catalog *catalog, struct hub_covered *out,
                                              struct hub_error *err);
bool hub_covered_has(const struct hub_covered *covered, const struct hub_summary *remote);
void hub_covered_dispose(struct hub_covered *covered);

/* ---- measure_failures.c ---- */

HUB_MUST_USE enum hub_status hub_measure_failures_new(struct hub_measure_failures **out,
                                                      struct hub_error *err);
void hub_measure_failures_free(struct hub_measure_failures *failures);

/* ---- thread.c ---- */

/** The path of something in the state directory. */
void hub_catalog_path(const struct hub_catalog *catalog, const char *name, char out[4096]);
/** Put an empty file there, for the next start to find. */
HUB_MUST_USE enum hub_status hub_catalog_put_flag(const struct hub_catalog *catalog, const char *name,
                                                  struct hub_error *err);
/** A connection to the index is about to be closed: what it says of damage is written down. NULL: nothing. */
void hub_catalog_closing(void *catalog, const struct hub_db *db);
/** This thread's read-only connection to the index. */
HUB_MUST_USE enum hub_status hub_catalog_reader(struct hub_catalog *catalog, struct hub_db **out,
                                                struct hub_error *err);

/* ---- notes.c ---- */

/** Put a note down, or forget it; write_lock held. */
HUB_MUST_USE enum hub_status hub_note_write(struct hub_db *db, const char *key, struct hub_view value,
                                            struct hub_error *err);

/* ---- summaries.c ---- */

/** Read all summaries at open. */
HUB_MUST_USE enum hub_status hub_summaries_load(struct hub_catalog *catalog, struct hub_error *err);
/** Read the summary of one row from a connection. HUB_NOT_FOUND. */
HUB_MUST_USE enum hub_status hub_summary_load(const struct hub_catalog *catalog, struct hub_db *db,
                                              int64_t row, struct hub_summary_box **out,
                                              struct hub_error *err);
/** Put a summary in place of the one with its row (or again) / take one away; hub_summaries_show has readers
 * see it. write_lock held. */
HUB_MUST_USE enum hub_status hub_summaries_put(struct hub_catalog *catalog, struct hub_summary_box *summary,
                                               struct hub_error *err);
void hub_summaries_remove(struct hub_catalog *catalog, int64_t row);
const struct hub_summary *hub_summaries_find(const struct hub_catalog *catalog, uint32_t root,
                                             const char *id);
/** A copy of a summary with its texts; key, ns, name and version are worked out. */
HUB_MUST_USE enum hub_status hub_summary_box_new(const struct hub_summary *from, struct hub_summary_box **out,
                                                 struct hub_error *err);
/** The catalogue ends. */
void hub_summaries_forget_remote(struct hub_catalog *catalog);

/* ---- snapshot.c ---- */

/** Show the summaries as a new snapshot, unless they were shown a moment ago and `force` is false. write_lock
 * held. */
HUB_MUST_USE enum hub_status hub_summaries_show(struct hub_catalog *catalog, bool force,
                                                struct hub_error *err);
/** The catalogue ends: it holds no snapshot any more. */
void hub_summaries_hide(struct hub_catalog *catalog);

/* ---- dataset.c ---- */

/** Files by number at the inspection of a part, where they differ from today's. */
struct hub_part_files {
    uint32_t count;
    const uint32_t *from, *to; /* `from` ascending */
};

struct hub_dataset_box {
    struct hub_lru_item item; /* first */
    struct hub_dataset dataset;
    struct hub_catalog *catalog;
    struct hub_dataset_box *next, **link;
    struct hub_part_files *maps; /* by part; count 0: numbers are today's */
    uint32_t *part_episodes;     /* by part */
    uint64_t *file_sizes;
    uint32_t *numbers; /* the maps' entries */
    char *arena;
    atomic_bool fields_agree; /* its one part was asked for its fields, which are then the dataset's */
};

enum {
    HUB_CACHE_DATASET = 1,
    HUB_CACHE_LAYOUT = 2,
    HUB_CACHE_EPISODES = 3,
    HUB_CACHE_VIDEO = 4,
    HUB_CACHE_MADE = 5 /* columns that were made of rows */,
    HUB_CACHE_MEASURES = 6
};

/** The layouts, and the tables of videos, of one state of a dataset: serials are never used again. */
static inline uint64_t hub_cache_layouts(uint64_t serial)
{
    return HUB_CACHE_LAYOUT | serial << 8;
}

static inline uint64_t hub_cache_videos(uint64_t serial)
{
    return HUB_CACHE_VIDEO | serial << 8;
}

static inline struct hub_dataset_box *hub_dataset_box_of(const struct hub_dataset *dataset)
{
    return HUB_CONTAINER_OF(dataset, struct hub_dataset_box, dataset);
}

/** A file's number today, or HUB_NONE. */
uint32_t hub_part_file(const struct hub_part_files *map, uint32_t number);
/** Unlink side data that nobody can ask for any more. No lock held, never on an event thread. */
void hub_retired_delete(struct hub_catalog *catalog);

#endif
