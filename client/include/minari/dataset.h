/**
 * What a hub knows: datasets, episodes, rows of a field, files. Everything a getter returns is borrowed from
 * its object.
 */
#ifndef MINARI_DATASET_H
#define MINARI_DATASET_H

#include <minari/client.h>

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One line of a listing. Texts are NULL where unknown. */
struct minari_summary {
    const char *id, *ns, *name; /* "D4RL/door/human-v2", "D4RL/door", "human" */
    int64_t version;            /* -1: none */
    const char *format;         /* "minari-hdf5", "lerobot", "files" ... */
    const char *status; /* "ready", "pending", "broken", "unsupported", "remote" (its hub fetches it) */
    const char *reason; /* of a status that is not ready */
    uint64_t episodes, steps, size; /* size in bytes */
    const char *minari_version, *description, *revision, *modified;
    const char *const *authors;
    size_t author_count;
    const char *const *loadable_by; /* Minari releases, oldest first */
    size_t loadable_count;
    bool unloadable; /* ready, but its own library refuses it */
};

/** Which datasets, and in which order. NULL and false: no limit. */
struct minari_dataset_query {
    size_t size;        /* of this structure, or 0: of version 0.1 */
    const char *prefix; /* the id begins with it */
    const char *format;
    const char *status;
    const char *loadable_by; /* a Minari release, "0.5.3" */
    const char *sort; /* "id", "name", "episodes", "steps", "size", "modified"; "-" before it: descending */
    bool latest;      /* only the highest version of each name */
    /* only hubs choose by these */
    const char *words; /* each is in the id, the description, ...; then "relevance" is the order */
    const char *env, *task, *robot, *camera, *author, *algorithm, *kind, *license, *action_dim;
    const char *loadable; /* "true", "false": whether its own library reads it */
};

struct minari_dataset_list;

/** All pages. `query` may be NULL. Free the result. */
MINARI_API enum minari_status minari_dataset_list_get(struct minari_client *client,
                                                      const struct minari_dataset_query *query,
                                                      struct minari_dataset_list **out,
                                                      struct minari_error *err);
MINARI_API size_t minari_dataset_list_count(const struct minari_dataset_list *list);
MINARI_API const struct minari_summary *minari_dataset_list_at(const struct minari_dataset_list *list,
                                                               size_t index);
/** The item as the hub wrote it: a JSON object. */
MINARI_API const char *minari_dataset_list_json(const struct minari_dataset_list *list, size_t index);
/** What lies beside the datasets on a remote that keeps only files: the first names, ended by NULL. Borrowed.
 * `places` and `files`, unless NULL, get the number of such places, and of their files if known. */
MINARI_API const char *const *minari_dataset_list_left_out(const struct minari_dataset_list *list,
                                                           uint64_t *places, uint64_t *files);
MINARI_API void minari_dataset_list_free(struct minari_dataset_list *list);

/** So many datasets have a value of what lists can be narrowed by. Borrowed from its list. */
struct minari_facet {
    const char *name;  /* "env", "robot" ...: as of minari_dataset_query */
    const char *value; /* "AdroitHandDoor-v1" */
    uint64_t count;    /* datasets */
};

struct minari_facet_list;

/**
 * Of each facet its values, up to 100, those that most datasets have first. A facet is counted over the
 * datasets that all of the query but its own member leaves, so that the other choices are listed too.
 *
 * @param query  NULL: all datasets; `sort` is of no use here
 * @param names  between commas, of env, task, robot, camera, author, algorithm, kind, license, action_dim,
 * format, status; NULL: all of them
 * @param out    free the result
 * @return MINARI_INVALID: another name; MINARI_UNSUPPORTED: the remote is no hub
 */
MINARI_API enum minari_status minari_facet_list_get(struct minari_client *client,
                                                    const struct minari_dataset_query *query,
                                                    const char *names, struct minari_facet_list **out,
                                                    struct minari_error *err);
/** Values of all facets together, facet by facet. */
MINARI_API size_t minari_facet_list_count(const struct minari_facet_list *list);
/** NULL beyond the last. */
MINARI_API const struct minari_facet *minari_facet_list_at(const struct minari_facet_list *list,
                                                           size_t index);
/** The datasets that the whole query leaves. */
MINARI_API uint64_t minari_facet_list_total(const struct minari_facet_list *list);
/** {"env":[{"value":"AdroitHandDoor-v1","count":12}, ...], ...}: also facets that no dataset has a value
 * of. */
MINARI_API const char *minari_facet_list_json(const struct minari_facet_list *list);
MINARI_API void minari_facet_list_free(struct minari_facet_list *list);

struct minari_dataset;

/**
 * The whole document of one dataset. An id without "-vN" is the newest version.
 *
 * @param loadable_by  NULL, or a Minari release: then the newest version that it reads
 */
MINARI_API enum minari_status minari_dataset_get(struct minari_client *client, const char *id,
                                                 const char *loadable_by, struct minari_dataset **out,
                                                 struct minari_error *err);
MINARI_API const struct minari_summary *minari_dataset_summary(const struct minari_dataset *dataset);
/** The document as the hub wrote it. */
MINARI_API const char *minari_dataset_json(const struct minari_dataset *dataset);
/** All versions of this name, this one among them. */
MINARI_API size_t minari_dataset_version_count(const struct minari_dataset *dataset);
MINARI_API const struct minari_summary *minari_dataset_version_at(const struct minari_dataset *dataset,
                                                                  size_t index);
/** The ids of the datasets this one was combined from. */
MINARI_API size_t minari_dataset_combined_count(const struct minari_dataset *dataset);
MINARI_API const char *minari_dataset_combined_at(const struct minari_dataset *dataset, size_t index);
MINARI_API void minari_dataset_free(struct minari_dataset *dataset);

struct minari_episode {
    uint64_t number, steps;
    const char *name, *file, *seed, *task; /* NULL where unknown; the seed in decimal */
    bool has_return;
    double total_return; /* may be infinite, or NaN where a reward is */
    const char *json;    /* the item as the hub wrote it */
};

struct minari_episode_query {
    size_t size; /* of this structure, or 0: of version 0.1 */
    /* a name as in `where`: "number", "return", "mean(\"rewards\")" ...; "-" before it: descending */
    const char *sort;
    const char *split;
    uint64_t limit;   /* stop after so many; 0: all */
    const char *task; /* its text, or its number in the dataset's list of tasks */
    /** Only those it holds for: "return > 100 and success = true"; the grammar is in the hub's openapi.json.
     * One that cannot be read is MINARI_INVALID with the position of what is wrong. */
    const char *where;
};

/** Called once an episode; non-zero stops with MINARI_CANCELLED. */
typedef int (*minari_episode_fn)(const struct minari_episode *episode, void *user);

/** All pages, in order. `query` may be NULL. */
MINARI_API enum minari_status minari_episodes_each(struct minari_client *client, const char *id,
                                                   const struct minari_episode_query *query,
                                                   minari_episode_fn fn, void *user,
                                                   struct minari_error *err);

struct minari_statistics_query {
    size_t size; /* of this structure, or 0 */
    const char
        *field; /* "return", "steps", a metric, or the path of a field, with its histogram; NULL: all */
    const char *where, *split, *task; /* episodes, as of minari_episode_query; not with the path of a field */
};

/** What the numbers of a dataset come to, as far as the hub has measured it, as JSON. `query` may be NULL.
 * Free with free. */
MINARI_API enum minari_status minari_statistics_get(struct minari_client *client, const char *id,
                                                    const struct minari_statistics_query *query, char **json,
                                                    struct minari_error *err);
/** Odd episodes of a dataset, by one rule, or by all where it is NULL, as JSON. Free with free. */
MINARI_API enum minari_status minari_findings_get(struct minari_client *client, const char *id,
                                                  const char *rule, char **json, struct minari_error *err);

/** The document of one episode: its attributes and fields, as JSON. Free with free. */
MINARI_API enum minari_status minari_episode_get(struct minari_client *client, const char *id,
                                                 uint64_t number, char **json, struct minari_error *err);

/** Rows as Python slices them; without a bound: from the first, to the last, every one. */
struct minari_slice {
    bool has_start, has_stop, has_step, has_row; /* has_row: one row, without the row axis */
    int64_t start, stop, step, row;
};

enum { MINARI_MAX_DIMS = 32 };

/** What the answer says about the rows. */
struct minari_rows_info {
    char media_type[64];
    int ndim; /* of the rows together; -1: the answer does not say */
    int64_t shape[MINARI_MAX_DIMS];
    char dtype[64];
    uint64_t bytes;
    uint64_t nonfinite; /* values that JSON had to say null for */
};

/** Called with the bytes as they come; non-zero stops with MINARI_CANCELLED. */
typedef int (*minari_sink_fn)(const void *data, size_t size, void *user);

/**
 * Rows of one field of one episode, straight from the network into a sink. An answer that breaks off is an
 * error, never a short success (and minari_client_resume is how it may go on). An npy or npz has the dtype,
 * the byte order and the units of what is stored, with the rows first.
 *
 * @param format  "json", "npy", "npz", "csv", "arrow", "arrow-file", "jsonl", "raw", "image"; NULL: json
 * @param slice   NULL: all rows
 * @param info    NULL, or written before the first byte reaches the sink
 */
MINARI_API enum minari_status minari_rows_get(struct minari_client *client, const char *id, uint64_t episode,
                                              const char *field, const struct minari_slice *slice,
                                              const char *format, minari_sink_fn sink, void *user,
                                              struct minari_rows_info *info, struct minari_error *err);

/** The same of several fields in one answer, of steps where `slice` has bounds: as "npz" or "json". */
MINARI_API enum minari_status minari_fields_get(struct minari_client *client, const char *id,
                                                uint64_t episode, const char *const *fields, size_t count,
                                                const struct minari_slice *slice, const char *format,
                                                minari_sink_fn sink, void *user,
                                                struct minari_rows_info *info, struct minari_error *err);

/** One field into memory of at most `max_bytes`. `size` may be NULL. Free `*data` with free; a NUL follows
 * it. */
MINARI_API enum minari_status minari_rows_read(struct minari_client *client, const char *id, uint64_t episode,
                                               const char *field, const struct minari_slice *slice,
                                               const char *format, size_t max_bytes, char **data,
                                               size_t *size, struct minari_rows_info *info,
                                               struct minari_error *err);

/** The cameras of an episode and where their frames lie: {"items":[...]}, as the hub wrote it. Free with
 * free. */
MINARI_API enum minari_status minari_media_list_get(struct minari_client *client, const char *id,
                                                    uint64_t episode, char **json, struct minari_error *err);

/**
 * The frames of one camera of an episode as an mp4, straight into a sink. Of `slice` the start, the stop or
 * the row count, in steps.
 *
 * @param camera  the key of its feature, "observation.images.front", or its label, "front"
 */
MINARI_API enum minari_status minari_media_get(struct minari_client *client, const char *id, uint64_t episode,
                                               const char *camera, const struct minari_slice *slice,
                                               minari_sink_fn sink, void *user, struct minari_rows_info *info,
                                               struct minari_error *err);

/** All files of a dataset of a hub as a tar, straight into a sink: what is unpacked in a folder of datasets
 * installs it. */
MINARI_API enum minari_status minari_archive_get(struct minari_client *client, const char *id,
                                                 minari_sink_fn sink, void *user,
                                                 struct minari_rows_info *info, struct minari_error *err);

struct minari_file {
    const char *path; /* relative to the dataset */
    uint64_t size;
    const char *sha256; /* lower hex; NULL: not known yet */
};

struct minari_file_list;

/** The files of a dataset. Free the result. */
MINARI_API enum minari_status minari_file_list_get(struct minari_client *client, const char *id,
                                                   struct minari_file_list **out, struct minari_error *err);
/** The bytes of one of them, of a hub, straight into a sink. `info` may be NULL. */
MINARI_API enum minari_status minari_file_get(struct minari_client *client, const char *id, const char *path,
                                              minari_sink_fn sink, void *user, struct minari_rows_info *info,
                                              struct minari_error *err);
MINARI_API const char *minari_file_list_id(const struct minari_file_list *list);
MINARI_API const char *minari_file_list_revision(const struct minari_file_list *list);
MINARI_API size_t minari_file_list_count(const struct minari_file_list *list);
MINARI_API const struct minari_file *minari_file_list_at(const struct minari_file_list *list, size_t index);
MINARI_API void minari_file_list_free(struct minari_file_list *list);

#ifdef __cplusplus
}
#endif

#endif
