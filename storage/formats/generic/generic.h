/* Shared by the files of the generic driver. */
#ifndef HUB_FORMATS_GENERIC_H
#define HUB_FORMATS_GENERIC_H

#include "storage/formats/kit/kit.h"

/** The file that is inspected, and the episode it is. */
struct generic_one {
    uint32_t file;
    int64_t number;
    struct hub_view name, attributes; /* JSON, or empty */
};

/** A container of arrays that belongs to no format: one row of generic.c's table. Its arrays or columns are the fields
 * of one episode. */
struct generic_container {
    const char *const *endings;
    bool (*is)(const uint8_t *head, size_t size); /* `size`: up to GENERIC_HEAD; NULL: `found` says it */
    /** May. The facts of the one file there is, number 0. */
    enum hub_status (*plan)(struct hub_files *files, struct hub_sink *sink, struct hub_error *err);
    enum hub_status (*inspect)(struct hub_files *files, const struct generic_one *one, struct hub_sink *sink,
                               struct hub_error *err);
    bool (*found)(struct hub_files *files, uint32_t number); /* of what need not begin the file */
    /** May: it can be one of a series. Whether two files hold arrays of the same names. */
    bool (*alike)(struct hub_files *files, uint32_t a, uint32_t b);
};

enum { GENERIC_HEAD = 8 };

extern const struct generic_container generic_h5, generic_npy, generic_npz, generic_parquet, generic_arrow;

/** Of a file by its name and its head; NULL: none. */
const struct generic_container *generic_container_of(struct hub_files *files, uint32_t number);

/** Report the episode of the file. */
HUB_MUST_USE enum hub_status generic_episode(struct hub_sink *sink, const struct generic_one *one,
                                             uint64_t steps, uint32_t *index, struct hub_error *err);

/* ---- series.c ---- */

struct generic_item {
    int64_t number;        /* first: items are in their order */
    uint32_t file, beside; /* beside: its JSON file, or HUB_NONE */
    struct hub_view name;  /* "episode_012" */
};

struct generic_series {
    struct generic_item *items;
    uint32_t count, capacity;
    struct hub_view rest; /* of their paths, behind the names: ".npz" or "/trajectory.npz" */
    const struct generic_container *container;
};

/** Of the first `count` files, or of those in `numbers`. Zero before; dispose it in any case. */
HUB_MUST_USE enum hub_status generic_series_list(struct generic_series *s, struct hub_files *files,
                                                 const uint32_t *numbers, uint32_t count,
                                                 struct hub_error *err);
void generic_series_dispose(struct generic_series *s);
/** Two or more of different numbers that hold the same arrays. */
bool generic_series_is_one(const struct generic_series *s, struct hub_files *files);
/** Whether no other file is data. */
bool generic_series_is_all(const struct generic_series *s, const struct hub_files *files);
/** Is a directory a series, or does it hold folders that may be one: then its plan has to say so. */
bool generic_claim_series(struct hub_files *listing);
/** The series among the files of a directory. */
bool generic_claim_series_files(struct hub_files *listing, struct hub_claim *claim);
HUB_MUST_USE enum hub_status generic_plan_series(const struct generic_series *s, struct hub_files *files,
                                                 struct hub_sink *sink, struct hub_error *err);
HUB_MUST_USE enum hub_status generic_inspect_series(struct hub_files *files, const struct hub_part *part,
                                                    struct hub_sink *sink, struct hub_error *err);

/** Whose directory is it, of the formats that are recognised so that they can be refused by name (a row each
 * in refused.c)? One sentence that says what it is and what to do; NULL: nobody's that we know. */
const char *generic_refuse_directory(struct hub_files *listing);
/** The same of a file, by its name and head. */
const char *generic_refuse_file(struct hub_files *files, uint32_t number);
/** The same of all files of a dataset, where they are one series. */
const char *generic_refuse_files(struct hub_files *files);
/** Have a claim of one file that is refused take the others of its series. */
void generic_widen(struct hub_files *listing, struct hub_claim *claim);

#endif
