/**
 * Windows of steps, for training: drawn at random, or named one by one. An answer is an npz in the caller's
 * buffer, and its arrays are read where they lie.
 *
 * Of W windows of L steps it has for each field an array of shape (W, L, ...) and of the dtype and the units
 * it is stored in (with `final_row` states have L + 1 rows); "mask" |b1 (W, L): false where a window is
 * padded; "episode" <i8 (W): the number of its episode; "start" <i8 (W): its first step. Text is <U, padded
 * to the longest.
 *
 * The buffer is the caller's before and after, one will do for any number of calls, and what it holds is of
 * no use unless MINARI_OK is returned. A client is used by one thread at a time; so batches are drawn ahead
 * by threads with a client and a buffer each. Statuses are those of tables.h; MINARI_INVALID also where no
 * episode is as long as a window, or where rows of a batch have several shapes or types.
 */
#ifndef MINARI_SAMPLE_H
#define MINARI_SAMPLE_H

#include <minari/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero and NULL mean the default. */
struct minari_sample_query {
    size_t size;               /* of this structure, or 0: of version 0.1 */
    const char *const *fields; /* fields, groups, or roles as "@observation"; none: what learning takes */
    size_t field_count;
    uint64_t windows, length;  /* default 1 each */
    const char *where, *split; /* only of these episodes */
    const char *task;
    const char *seed;   /* in decimal, up to 2^64 - 1: the same seed is the same windows; NULL: drawn */
    const char *pad;    /* "none", "edge", "zero" */
    const char *weight; /* "steps": every window is equally likely; "uniform": every episode */
    bool final_row;     /* states have a row more, which follows the last step */
    const char *partition, *partition_seed; /* "20,5": of the episodes' parts, as Minari splits them, ... */
    unsigned part;                          /* ... this one */
    const char *format;                     /* "npz" (default), "arrow", "arrow-file": a window a row */
    const char *sentinel; /* "keep" (default), "drop": without a last action that only ends its episode */
    const char *valid;    /* "only" (default), "any": also the episodes that the dataset calls not valid */
};

/** Windows drawn at random, straight from the network into a sink. `info` may be NULL. */
MINARI_API enum minari_status minari_sample_get(struct minari_client *client, const char *id,
                                                const struct minari_sample_query *query, minari_sink_fn sink,
                                                void *user, struct minari_rows_info *info,
                                                struct minari_error *err);
/** The same into a buffer of `capacity` bytes; `*size` (or NULL) are used. MINARI_TOO_BIG: too few. */
MINARI_API enum minari_status minari_sample_read(struct minari_client *client, const char *id,
                                                 const struct minari_sample_query *query, void *buffer,
                                                 size_t capacity, size_t *size, struct minari_error *err);

struct minari_batch_item {
    const char *dataset;
    uint64_t episode;
    struct minari_slice steps; /* start and stop */
};

struct minari_batch_query {
    size_t size; /* of this structure, or 0: of version 0.1 */
    const struct minari_batch_item *items;
    size_t item_count; /* up to 4096 */
    const char *const *fields;
    size_t field_count;
    const char *pad; /* NULL: "none", every item has as many steps */
    bool final_row;
};

/** Windows that are named, of one or several datasets: as minari_sample_read. */
MINARI_API enum minari_status minari_batch_read(struct minari_client *client,
                                                const struct minari_batch_query *query, void *buffer,
                                                size_t capacity, size_t *size, struct minari_error *err);

/** An array of an npz, where it lies: valid as long as that is. */
struct minari_array {
    char dtype[24]; /* as numpy writes it: "<f4", "|b1", "<U3" (3 characters of 4 bytes each) */
    int ndim;
    int64_t shape[MINARI_MAX_DIMS];
    const void *data; /* C order; not aligned: copy values out, or read what takes unaligned ones */
    size_t bytes;
};

/** The array of this name, "observations", "mask", "episode" or "start", in an npz as a hub writes it. Safe
 * from any thread. MINARI_NOT_FOUND; MINARI_PROTOCOL: it is none. */
MINARI_API enum minari_status minari_npz_find(const void *npz, size_t size, const char *name,
                                              struct minari_array *out, struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif
