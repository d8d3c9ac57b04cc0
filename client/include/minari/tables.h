/**
 * Rows of all episodes of a dataset one after another, and what is known of its episodes as a table: whole answers, as npz,
 * Arrow, csv or lines of JSON, whatever format the dataset has.
 */
#ifndef MINARI_TABLES_H
#define MINARI_TABLES_H

#include <minari/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero and NULL mean the default. */
struct minari_all_rows_query {
    size_t size;               /* of this structure, or 0: of version 0.1 */
    const char *const *fields; /* fields, groups, or roles as "@observation"; none: what learning takes */
    size_t field_count;
    const char *where, *sort, *split,
        *task;          /* only of these episodes, in this order: as minari_episode_query */
    const char *view;   /* "rows", or "transitions": obs, next_obs, acts, rews, dones ... */
    const char *format; /* "npz" (default), "arrow", "csv", "jsonl" */
    const char *partition, *partition_seed; /* "20,5": of the episodes' parts, as Minari splits them, ... */
    unsigned part;                          /* ... this one */
};

/**
 * Rows of all episodes that are meant, straight from the network into a sink, with "episode", "step" and, in an npz, "ends".
 * An answer that breaks off is an error, never a short success. `info` may be NULL.
 *
 * @return MINARI_INVALID: a `where` that cannot be read, or fields that do not go together; MINARI_NOT_FOUND
 */
MINARI_API enum minari_status minari_all_rows_get(struct minari_client *client, const char *id,
                                                  const struct minari_all_rows_query *query,
                                                  minari_sink_fn sink, void *user,
                                                  struct minari_rows_info *info, struct minari_error *err);
/** The same into a buffer of `capacity` bytes, of which `*size` are used; arrays of an npz are read where they lie by
 * minari_npz_find. MINARI_TOO_BIG: they do not suffice. */
MINARI_API enum minari_status minari_all_rows_read(struct minari_client *client, const char *id,
                                                   const struct minari_all_rows_query *query, void *buffer,
                                                   size_t capacity, size_t *size, struct minari_error *err);

struct minari_table_query {
    size_t size;         /* of this structure, or 0: of version 0.1 */
    const char *columns; /* names as in `where`, between commas: "number,steps,return"; must */
    const char *where, *sort, *split, *task;
    const char *format; /* "csv" (default), "json", "jsonl", "arrow", "npz" */
    uint64_t limit;     /* at most so many episodes; 0: all */
};

/** What is known of the episodes, a row each, straight into a sink. `info` may be NULL. */
MINARI_API enum minari_status minari_episode_table_get(struct minari_client *client, const char *id,
                                                       const struct minari_table_query *query,
                                                       minari_sink_fn sink, void *user,
                                                       struct minari_rows_info *info,
                                                       struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif
