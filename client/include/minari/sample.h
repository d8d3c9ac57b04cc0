/**
 * Windows of steps, for training: drawn at random, or named one by one. An answer is an npz in the caller's buffer, and
 * its arrays are read where they lie.
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
};

/** Windows drawn at random, as an npz, straight from the network into a sink. `info` may be NULL. */
MINARI_API enum minari_status minari_sample_get(struct minari_client *client, const char *id,
                                                const struct minari_sample_query *query, minari_sink_fn sink,
                                                void *user, struct minari_rows_info *info,
                                                struct minari_error *err);
/** The same into a buffer of `capacity` bytes, of which `*size` are used. MINARI_TOO_BIG: they do not suffice. */
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

/** An array of an npz, where it lies. */
struct minari_array {
    char dtype[24]; /* as numpy writes it: "<f4", "|b1" */
    int ndim;
    int64_t shape[MINARI_MAX_DIMS];
    const void *data; /* C order; not aligned */
    size_t bytes;
};

/** The array of this name, "observations", "mask", "episode" or "start", in an npz as a hub writes it.
 * MINARI_NOT_FOUND; MINARI_PROTOCOL: it is none. */
MINARI_API enum minari_status minari_npz_find(const void *npz, size_t size, const char *name,
                                              struct minari_array *out, struct minari_error *err);

#ifdef __cplusplus
}
#endif

#endif
