/* Shared by the files of the generic driver. */
#ifndef HUB_FORMATS_GENERIC_H
#define HUB_FORMATS_GENERIC_H

#include "storage/formats/kit/array.h"

struct generic_container;

/** A file of an episode, on its way to fields. */
struct generic_input {
    struct hub_files *files;
    struct hub_sink *sink;
    const struct generic_container *container;
    uint32_t file;
    struct hub_view prefix; /* of its fields, where the episode has several files: "cameras/top"; or empty */
    uint32_t episode;       /* lay_out: the part's episode, and its steps */
    uint64_t steps;
};

/** The episode that files are. */
struct generic_one {
    uint32_t file; /* the first of them */
    int64_t number;
    struct hub_view name, attributes; /* JSON, or empty */
};

/** A container of arrays that belongs to no format: one row of generic.c's table. Its arrays or columns are
 * fields of an episode. */
struct generic_container {
    const char *const *endings;
    bool (*is)(const uint8_t *head, size_t size); /* `size`: up to GENERIC_HEAD; NULL: `found` says it */
    bool (*found)(struct hub_files *files,
                  uint32_t number); /* for formats without magic bytes at the start */
    /** May. The facts of the one file there is, number 0. */
    enum hub_status (*plan)(struct hub_files *files, struct hub_sink *sink, struct hub_error *err);
    /** Read what arrays there are. `*state` is closed in any case, unless it is NULL. */
    enum hub_status (*open)(const struct generic_input *at, void **state, struct hub_error *err);
    /** What they say of the steps: at most `room` votes. */
    size_t (*vote)(const void *state, struct hub_row_vote *votes, size_t room);
    /** Report its arrays or columns as fields of the episode. */
    enum hub_status (*lay_out)(const struct generic_input *at, void *state, struct hub_error *err);
    void (*close)(void *state);
    /** May: it can be one of a series. Whether two files hold arrays of the same names. */
    bool (*alike)(struct hub_files *files, uint32_t a, uint32_t b);
};

enum { GENERIC_HEAD = 8 };

extern const struct generic_container generic_h5, generic_npy, generic_npz, generic_parquet, generic_arrow;

/** Of a file by its name; NULL: none. */
const struct generic_container *generic_container_named(struct hub_view path);
/** Of a file by its name and its head; NULL: none. */
const struct generic_container *generic_container_of(struct hub_files *files, uint32_t number);

/* ---- episode.c ---- */

enum { GENERIC_MAX_FILES = 64 }; /* of an episode */

/** Report the episode that these files are, and its fields. Of several one that cannot be read is a
 * problem. */
HUB_MUST_USE enum hub_status generic_inspect_episode(struct generic_input *inputs, uint32_t count,
                                                     const struct generic_one *one, struct hub_error *err);
/** An array or a column as a field of its file: "PREFIX/NAME", or NAME alone; and what of it says its
 * role. */
HUB_MUST_USE enum hub_status generic_path(const struct generic_input *at, struct hub_view name,
                                          struct hub_buf *path, struct hub_view *named,
                                          struct hub_error *err);

/* ---- series.c ---- */

struct generic_item {
    int64_t number;                /* first: items are in their order */
    uint32_t first, count, beside; /* of its files; beside: its JSON file, or HUB_NONE */
    struct hub_view name;          /* "episode_012" */
};

/** A file of the series, and which of the shapes it is. */
struct generic_file {
    uint32_t file, shape;
};

/** What a file's path is behind the name: ".npz", or "/trajectory.npz". */
struct generic_shape {
    struct hub_view rest, prefix; /* prefix: without its ending */
    const struct generic_container *container;
};

struct generic_series {
    struct generic_item *items;
    struct generic_file *files;
    uint32_t count, capacity, file_count, file_capacity;
    struct generic_shape shapes[GENERIC_MAX_FILES];
    uint32_t shape_count;
    bool many;        /* more shapes than that */
    bool names_alone; /* given: what a file is, its name says, for its head may belong to another part */
};

/** Of all files. Zero before, but for `names_alone`; dispose it in any case. */
HUB_MUST_USE enum hub_status generic_series_list(struct generic_series *s, struct hub_files *files,
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

/** The reason to refuse a directory of a format that is recognised but not read (a row each in refused.c):
 * what it is and what to do; NULL: it is of no such format. */
const char *generic_refuse_directory(struct hub_files *listing);
/** The same of a file, by its name and head. */
const char *generic_refuse_file(struct hub_files *files, uint32_t number);
/** The same of all files of a dataset, where they are one series. */
const char *generic_refuse_files(struct hub_files *files);
/** Have a claim of one file that is refused take the others of its series. */
void generic_widen(struct hub_files *listing, struct hub_claim *claim);

#endif
