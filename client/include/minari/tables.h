/**
 * Rows of all episodes of a dataset one after another, and what is known of its episodes as a table: whole
 * answers, as npz, Arrow, csv or lines of JSON, whatever format the dataset has.
 *
 * Into a sink, or into a buffer: that is the caller's before and after, one will do for any number of
 * calls, and what it holds is of no use unless MINARI_OK is returned. Arrays of an npz are read where they
 * lie by minari_npz_find (sample.h). A client is used by one thread at a time; buffers and clients of
 * different threads have nothing in common. Nothing of a query is kept.
 *
 * All of these return MINARI_INVALID for a `where`, a name or a number that cannot be read, or fields that
 * do not go together; MINARI_NOT_FOUND without such a dataset or field; MINARI_UNSUPPORTED where the format
 * has no way to hold the values, or the remote is no hub; MINARI_BROKEN for what the hub cannot read;
 * MINARI_CANCELLED when a callback says so; MINARI_UNREACHABLE, MINARI_PROTOCOL, MINARI_BUSY and
 * MINARI_DENIED as error.h has them.
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
    const char *view;   /* an older name of `layout`, which comes first */
    const char *format; /* "npz" (default), "arrow", "arrow-file", "csv", "jsonl" */
    const char *partition, *partition_seed; /* "20,5": of the episodes' parts, as Minari splits them, ... */
    unsigned part;                          /* ... this one */
    uint64_t random;      /* so many of the episodes, drawn as Minari's sample_episodes does with ... */
    const char *seed;     /* ... this seed, in decimal, up to 2^64 - 1 */
    const char *sentinel; /* "keep" (default), "drop": without a last action that only ends its episode */
    struct minari_slice steps; /* of each episode, negative from its end: start, stop, and a step from 1 */
    const char *step_where;    /* only the steps of which this holds: "rewards < -10" */
    const char *valid;  /* "only" (default), "any": also the episodes that the dataset calls not valid */
    const char *layout; /* "rows", or "transitions": obs, next_obs, acts, rews, dones ... */
};

/**
 * Rows of all episodes that are meant, straight from the network into a sink. An answer that breaks off is
 * an error, never a short success. `info` may be NULL.
 *
 * Of N steps in E episodes an npz has for each field an array of shape (N, ...) and of the dtype and the
 * units it is stored in, little-endian or big-endian as there; "episode" <i8 (N): the number of each row's
 * episode; "step" <i8 (N): which of its steps, from 0; "ends" <i8 (E): where each episode ends, so that it
 * is the rows from the one before it on. Text is <U, padded to the longest. The arrays of layout
 * "transitions" are (N, ...) too, "dones", "terminated" and "truncated" |b1.
 */
MINARI_API enum minari_status minari_all_rows_get(struct minari_client *client, const char *id,
                                                  const struct minari_all_rows_query *query,
                                                  minari_sink_fn sink, void *user,
                                                  struct minari_rows_info *info, struct minari_error *err);
/** The same into a buffer of `capacity` bytes, of which `*size` (or NULL) are used. MINARI_TOO_BIG: they do
 * not suffice. */
MINARI_API enum minari_status minari_all_rows_read(struct minari_client *client, const char *id,
                                                   const struct minari_all_rows_query *query, void *buffer,
                                                   size_t capacity, size_t *size, struct minari_error *err);

struct minari_table_query {
    size_t size;         /* of this structure, or 0: of version 0.1 */
    const char *columns; /* names as in `where`, between commas: "number,steps,return"; must */
    const char *where, *sort, *split, *task;
    /* "csv" (into a sink the default), "json", "jsonl", "arrow", "arrow-file", "npz" (into a buffer) */
    const char *format;
    uint64_t limit; /* at most so many episodes; 0: all */
};

/** What is known of the episodes, a row each, straight into a sink. `info` may be NULL. */
MINARI_API enum minari_status minari_episode_table_get(struct minari_client *client, const char *id,
                                                       const struct minari_table_query *query,
                                                       minari_sink_fn sink, void *user,
                                                       struct minari_rows_info *info,
                                                       struct minari_error *err);
/**
 * The same into a buffer of `capacity` bytes, of which `*size` (or NULL) are used. MINARI_TOO_BIG: they do
 * not suffice.
 *
 * Of E episodes an npz has an array of shape (E) a column, of its name: whole numbers <i8, or <u8 where one
 * is beyond 2^63-1; other numbers <f8; truth values |b1; where an episode has no value, numbers and truth
 * values are <f8 with NaN there. Text is <U, padded to the longest, and empty where there is none; several
 * splits stand in one, with semicolons between them. "number" is the format's own, "steps" counts, "return"
 * is the sum of the rewards in their unit; metrics have the units that the hub's openapi.json gives them.
 * So a table takes some 8 bytes a number, 4 a character of text, and 300 a column.
 */
MINARI_API enum minari_status minari_episode_table_read(struct minari_client *client, const char *id,
                                                        const struct minari_table_query *query, void *buffer,
                                                        size_t capacity, size_t *size,
                                                        struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif
