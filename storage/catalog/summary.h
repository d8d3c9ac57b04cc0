/**
 * The snapshot of the catalogue: what a list of datasets shows, in memory. It takes no SQL, and no lock.
 */
#ifndef HUB_CATALOG_SUMMARY_H
#define HUB_CATALOG_SUMMARY_H

#include "storage/base/buf.h"
#include "storage/base/error.h"
#include "storage/ids/id.h"

struct hub_catalog;

enum hub_dataset_status {
    HUB_DATASET_READY = 1,
    HUB_DATASET_PENDING,
    HUB_DATASET_BROKEN,
    HUB_DATASET_UNSUPPORTED,
    HUB_DATASET_REMOTE /* an upstream has it; never stored */
};
enum { HUB_DATASET_STATUSES = HUB_DATASET_REMOTE + 1 };
const char *hub_dataset_status_name(enum hub_dataset_status status);

/** Everything a summary shows of a dataset in a list. Immutable; texts are never NULL ("" = unknown). */
struct hub_summary {
    int64_t row;        /* of the index */
    uint64_t serial;    /* grows with every publication of this dataset: (row, serial) names one state */
    const char *id;     /* "D4RL/door/human-v2" */
    const char *key;    /* id without -vN */
    const char *ns;     /* namespace, or "" */
    const char *name;   /* last segment without -vN */
    int64_t version;    /* -1: none */
    const char *format; /* "minari-hdf5", "lerobot", "webdataset", "files" */
    const char *era, *reason, *stated_version, *description;
    const char *rule; /* library whose releases load it (hub_load_rule_find), or "" */
    /* JSON array of those; "[]" also where a library without a rule refuses it; or "" */
    const char *loadable_by;
    const char *authors;  /* JSON array */
    const char *known;    /* lines: see storage/model/facet.h */
    const char *revision; /* 40 hex, "" while pending */
    uint32_t root;        /* number of the root it lies under */
    /* of its directory (or of the folder its files lie in) below the root; "" = the root itself */
    const char *path;
    const char *upstream, *remote_id; /* REMOTE: the name of its rule, and what it is called there */
    enum hub_dataset_status status;
    uint64_t episodes, steps, size;
    uint32_t files;
    uint32_t problems;   /* found in it: hub_dataset_each_problem */
    uint32_t costly;     /* of these: they cost data or loading, see storage/model/problem.h */
    int64_t modified_ns; /* newest mtime */
};

/** Whether it lies here: else an upstream lists it, and nothing of it is in a root or in the index. */
static inline bool hub_summary_is_here(const struct hub_summary *summary)
{
    return summary->status != HUB_DATASET_REMOTE;
}

struct hub_snapshot {
    /* sorted by id in version order: namespace, name, integer version, then bytes */
    const struct hub_summary *const *summaries;
    uint32_t count;
    /* behind these, in the same order: snapshots of a cache of Hugging Face that are no longer main's. No
     * list has them; hub_snapshot_find knows their ids, "lab/plans@COMMIT" */
    uint32_t others;
    /* of those the kept revisions of which the dataset itself is not listed (any more) */
    uint32_t orphans;
    uint64_t generation;
};

/** The current snapshot, counted: it and its summaries live until the caller puts it. Takes no lock. */
const struct hub_snapshot *hub_catalog_snapshot(struct hub_catalog *catalog);
/** One more reference; returns the snapshot. */
const struct hub_snapshot *hub_snapshot_share(const struct hub_snapshot *snapshot);
/** Of NULL: nothing. */
void hub_snapshot_put(const struct hub_snapshot *snapshot);
static inline void hub_snapshot_putp(const struct hub_snapshot **snapshot)
{
    hub_snapshot_put(*snapshot);
}
/** Whether a list shows a dataset. */
typedef bool hub_summary_filter(const void *user, const struct hub_summary *summary);
/** A snapshot of those that pass; the caller puts it. Its `generation` is the caller's choice, another one
 * than of any other snapshot. NULL: no memory. */
const struct hub_snapshot *hub_snapshot_filter(const struct hub_snapshot *of, hub_summary_filter *passes,
                                               const void *user, uint64_t generation);
struct hub_snapshot_totals {
    uint64_t by_status[HUB_DATASET_STATUSES];
    uint64_t here, episodes, steps, size; /* of the datasets that lie here */
};
void hub_snapshot_count(const struct hub_snapshot *snapshot, struct hub_snapshot_totals *out);

/** Show what is published, unless a snapshot has this state already: for who tells others of a state that was
 * read from the database, ahead of the snapshot. Waits for a publication under way. */
void hub_catalog_show(struct hub_catalog *catalog, const struct hub_summary *seen);
/**
 * What an upstream lists, beside what is here: in place of what it listed before. A dataset that is here
 * hides what others have of the same id; of several upstreams the first by name is shown. Safe from any
 * thread.
 *
 * @param items  copied; of status HUB_DATASET_REMOTE, with id, root, path, upstream, remote_id and what
 * else is known;               a text that is NULL is "". key, ns, name and version are worked out
 */
HUB_MUST_USE enum hub_status hub_catalog_show_remote(struct hub_catalog *catalog, const char *upstream,
                                                     const struct hub_summary *items, uint32_t count,
                                                     struct hub_error *err);
/** Exact id. NULL: none. */
const struct hub_summary *hub_snapshot_find(const struct hub_snapshot *snapshot, struct hub_view id);
/** The other snapshot of a dataset in a cache of Hugging Face, by its commit or the first 7 digits of it or
 * more. NULL: it has none. */
const struct hub_summary *hub_snapshot_at(const struct hub_snapshot *snapshot,
                                          const struct hub_summary *summary, struct hub_view commit);
/** The id of the dataset that a kept revision is one of, where a snapshot does not list that. False: the
 * summary is of no such revision. */
bool hub_snapshot_orphan_of(const struct hub_snapshot *snapshot, const struct hub_summary *summary,
                            char out[HUB_MAX_ID + 1]);
/** Newest version of a versionless id; `release` (may be NULL) limits to those that release loads. NULL:
 * none. */
const struct hub_summary *hub_snapshot_newest(const struct hub_snapshot *snapshot, struct hub_view key,
                                              const char *release);
/** First and number of the summaries with this key: its versions, ascending. */
uint32_t hub_snapshot_versions(const struct hub_snapshot *snapshot, struct hub_view key,
                               const struct hub_summary *const **first);
/** Up to `limit` ids nearest in spelling (edit distance over key and name). Returns how many. */
uint32_t hub_snapshot_nearest(const struct hub_snapshot *snapshot, struct hub_view id,
                              const struct hub_summary **out, uint32_t limit);
/** The datasets that have all the words of a text (search.h): their ranks by number in the snapshot, 1 the
 * best, 0 for who lacks one. Blocking. */
HUB_MUST_USE enum hub_status hub_catalog_search(struct hub_catalog *catalog,
                                                const struct hub_snapshot *snapshot, struct hub_view text,
                                                uint8_t *ranks, struct hub_error *err);
/** Somebody reads it: cheap, from any thread. When that was last is Unix time; 0: not since the start. */
void hub_summary_touch(const struct hub_summary *summary);
int64_t hub_summary_read_ms(const struct hub_summary *summary);
/** Ready, but its own library does not load it: its problem "not-loadable" says why. */
bool hub_summary_refused(const struct hub_summary *summary);
/** Whether its own library loads it, as far as is known: 1, 0, or -1 for one that is not inspected yet. */
int hub_summary_loads(const struct hub_summary *summary);
/** Whether others are offered it: not what a DataCollector keeps meanwhile. */
bool hub_summary_is_offered(const struct hub_summary *summary);
/** Does this release of its library load it? False where its format has no rule. */
bool hub_summary_loadable(const struct hub_summary *summary, const char *release);

#endif
