/* Shared by the files of the driver of il-representations' native demonstrations. */
#ifndef HUB_FORMATS_IL_H
#define HUB_FORMATS_IL_H

#include "storage/formats/kit/array.h"
#include "storage/formats/pickle/pickle.h"

/* ---- il.c: a file ---- */

struct il_file {
    struct hub_files *files;
    struct hub_sink *sink;
    uint32_t number;               /* of the file its episodes are in */
    struct hub_view name;          /* what names of episodes begin with, or nothing */
    struct hub_byte_source source; /* of the pickle: the file, or what was unpacked to side data */
    struct hub_pickle pickle;
};

/** Do the first bytes of a file say that it is a pickle of imitation's trajectories, not packed? Those of
 * dm_control hold the same objects, and are packed by gzip. */
bool il_is_of_imitation(struct hub_view head);
/** The writer of a file, found by reading all of it. NULL: it is too large for that, or damaged, which
 * its part says. With a sink its environment is reported. HUB_NOT_ACCEPTABLE: a pickle of something else. */
HUB_MUST_USE enum hub_status il_era_of(struct hub_files *files, uint32_t number, struct hub_sink *sink,
                                       const char **era, struct hub_error *err);
/** Report the trajectories of a part, which is one file. */
HUB_MUST_USE enum hub_status il_inspect(struct hub_files *files, const struct hub_part *part,
                                        struct hub_sink *sink, struct hub_error *err);

/* ---- rows.c: values of a pickle as rows ---- */

/** One value a step: an array whose first axis is the steps, or a list of arrays, numbers or dictionaries, of
 * which the member under `keys` is meant. */
struct il_rows {
    uint32_t value;
    struct hub_view keys[2];
    uint32_t key_count;
    uint64_t count;
    uint64_t at; /* where the last window began, so that the next one is found from there */
    uint32_t cell;
    bool copied; /* of an array: its rows are in side data, from `side` on */
    uint64_t side;
};

/** False: the value holds no rows. */
bool il_rows_of(const struct hub_pickle *p, uint32_t value, struct il_rows *out);

struct il_window {
    uint32_t episode;
    uint64_t first, count; /* of the rows */
};

/** Place the rows of a window as those of field `path`; where the items are dictionaries, as fields below it.
 * Rows that cannot be served make the field unreadable in this episode. */
HUB_MUST_USE enum hub_status il_rows_lay_out(struct il_file *f, struct hub_view path, struct il_rows *rows,
                                             const struct il_window *window, struct hub_error *err);

/** An array of objects of an archive, of which each window is of an episode. */
struct il_objects {
    const struct hub_npz_reader *npz;
    const struct hub_npz_array *array;
    const struct hub_window *windows;
    uint32_t count; /* of the windows */
    uint64_t rows;  /* that it has to have */
};

/** Lay out its rows; fields as those of il_rows_lay_out. What cannot be read, or has fewer rows, is
 * unreadable in all of these episodes. */
HUB_MUST_USE enum hub_status il_objects_lay_out(struct hub_files *files, struct hub_sink *sink,
                                                const struct il_objects *objects, struct hub_error *err);

/** The first `count` rows as numbers; false when they are not single numbers. */
bool il_rows_numbers(struct il_file *f, struct il_rows *rows, uint64_t count, double *out);

/** A field of the bytes given, `count` booleans. */
HUB_MUST_USE enum hub_status il_flags_lay_out(struct il_file *f, struct hub_view path, const uint8_t *flags,
                                              const struct il_window *window, struct hub_error *err);

/* ---- trajectory.c: what a file holds ---- */

/** What the root of a pickle is: its trajectories, and whose way of writing it is. */
struct il_demos {
    const char *era; /* NULL: not one of these */
    uint32_t value;  /* a list of trajectories, or one */
    bool several;
};
struct il_demos il_demos_of(const struct hub_pickle *p);

/** Report every trajectory as an episode of obs, next_obs, acts, dones, and rews and infos where there are.
 * `*episodes`: how many were reported, be it before a failure. */
HUB_MUST_USE enum hub_status il_demos_report(struct il_file *f, const struct il_demos *demos,
                                             uint32_t *episodes, struct hub_error *err);

#endif
