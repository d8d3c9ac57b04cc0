/* Shared by the files of the webdataset driver. */
#ifndef HUB_FORMATS_WEBDATASET_H
#define HUB_FORMATS_WEBDATASET_H

#include "storage/formats/kit/array.h"
#include "storage/formats/pickle/pickle.h"
#include "storage/formats/tar.h"
#include "storage/formats/unpack.h"

#define WDS_METADATA "_metadata.meta.pickle" /* the first member of a shard of il-representations */
enum { WDS_MAX_SAMPLES = 4000000, WDS_MAX_COLUMNS = 4096, WDS_MAX_VALUES = 24000000 };

/* ---- webdataset.c: names ---- */

/** A member's name as webdataset reads it: the key up to the first dot after the last slash, the field behind
 * it. False: it belongs to no sample (no dot, no key, __meta__). */
bool hub_wds_split(struct hub_view name, struct hub_view *key, struct hub_view *field);

/* PACKED: by gzip or zstd, unpacked to side data; REFUSED: by another compressor. */
enum hub_wds_packing { HUB_WDS_NOT, HUB_WDS_TAR, HUB_WDS_PACKED, HUB_WDS_REFUSED };
struct hub_wds_shard {
    enum hub_wds_packing packing;
    struct hub_view series; /* the path before its number; the whole stem when it has none */
    bool numbered;
    uint64_t number;
};
/** "train-000012.tar" -> tar, "train-", 12 */
struct hub_wds_shard hub_wds_shard_of(struct hub_view path);
/** "data/train-000012.tar.gz" -> "train-000012" */
struct hub_view hub_wds_stem(struct hub_view path);

/** The first member of a shard of il-representations: its metadata, or "frame_000.acts.pickle". */
bool hub_wds_is_frame(struct hub_view name);
/** "data/train-" -> "train", "" -> "" */
struct hub_view hub_wds_series_name(struct hub_view series);
/** How many digits are at the end. */
size_t hub_wds_digits(struct hub_view text);
/** Put shards in order: by series, then by number, be it padded or not. */
HUB_MUST_USE enum hub_status hub_wds_order(const struct hub_files *files, uint32_t *numbers, uint32_t count,
                                           struct hub_error *err);
/* ---- look.c ---- */

/* UNKNOWN: no member can be read, or those behind the first ones cannot. */
enum hub_wds_content { HUB_WDS_UNKNOWN, HUB_WDS_SAMPLES, HUB_WDS_LEROBOT, HUB_WDS_OTHER };
/** What a tar holds, plain or packed, by its first members. */
enum hub_wds_content hub_wds_look(struct hub_files *files, uint32_t number);
/** How a file is packed: a shard's name promises it, its first bytes say it. */
struct hub_packed hub_wds_packed(struct hub_byte_source *source);

/* ---- plan.c ---- */

HUB_MUST_USE enum hub_status hub_wds_plan(struct hub_files *files, struct hub_sink *sink,
                                          struct hub_error *err);

/* ---- column.c ---- */

/** One value of a row: bytes in place, or a small number held here. */
struct hub_wds_value {
    enum hub_field_type type;
    struct hub_variant variant;
    uint32_t file; /* where the bytes are: a file's number or HUB_SIDE_FILE */
    uint64_t offset, size;
    bool fortran; /* an array whose first axis is the one whose items adjoin */
    bool held;    /* a scalar: its bytes are in `scalar` */
    uint8_t scalar[16];
};

struct hub_wds_run {
    uint32_t at, row; /* rows from here on: of file `at`, or of samples from `at` on */
    bool fortran;     /* ... those of files */
};

struct hub_wds_runs {
    struct hub_wds_run *items;
    uint32_t count, capacity;
};

struct hub_wds_column {
    char *path;
    uint32_t rows;               /* values kept, one after another: a sample without one leaves no row */
    char reason[160];            /* why a sample has none, of the first */
    struct hub_wds_value sample; /* the first value: all others are of its kind */
    struct hub_wds_runs samples; /* which samples the rows belong to */
    struct hub_wds_runs seen;    /* which samples have a value, be it one without a row: from `row` to `at` */
    struct hub_wds_runs files;   /* which files the extents lie in */
    struct hub_extent *extents;
    uint8_t *scalars;
    uint32_t capacity; /* rows there is room for */
};

struct hub_wds_columns {
    struct hub_wds_column *items;
    uint32_t count, capacity;
    uint64_t values;
    uint32_t hint; /* where the last one was found: members come in the same order again and again */
};

/** The column of this path, made when it is new, of which a sample has a value. Samples come in order.
 * HUB_TOO_BIG over WDS_MAX_COLUMNS. */
HUB_MUST_USE enum hub_status hub_wds_column(struct hub_wds_columns *c, struct hub_view path, uint32_t sample,
                                            struct hub_wds_column **out, struct hub_error *err);
/** The column of this path; NULL: there is none. */
const struct hub_wds_column *hub_wds_find(struct hub_wds_columns *c, struct hub_view path);
/** Give a sample its value; samples come in order. A value of another kind than the first, or a second one,
 * is not kept. */
HUB_MUST_USE enum hub_status hub_wds_give(struct hub_wds_columns *c, struct hub_wds_column *column,
                                          uint32_t sample, const struct hub_wds_value *value,
                                          struct hub_error *err);
/** Say why a sample has no value; the first reason stands. */
void hub_wds_spoil(struct hub_wds_column *column, const char *fmt, ...) HUB_PRINTF(2, 3);

/** Have all of these samples a value? `row`: of the first. */
bool hub_wds_has(const struct hub_wds_column *column, uint32_t first, uint32_t count, uint32_t *row);

/** A sample's value as a number (bool, int or float); 0 for anything else. */
double hub_wds_number(const struct hub_wds_column *column, uint32_t sample);

/** Forget samples from `samples` on. */
void hub_wds_trim(struct hub_wds_columns *c, uint32_t samples);

struct hub_wds_window {
    uint32_t episode, first, count;
};
/** Which samples belong to which episode. */
struct hub_wds_windows {
    struct hub_wds_window *items;
    uint32_t count, capacity;
    uint32_t samples;   /* of the shard */
    enum hub_axis axis; /* a sample is a step, or (none) a whole episode */
};
/** Report all columns: fields, one array each, the windows of the episodes whose samples all have a value. */
HUB_MUST_USE enum hub_status hub_wds_finish(struct hub_wds_columns *c, struct hub_files *files,
                                            struct hub_sink *sink, const struct hub_wds_windows *windows,
                                            struct hub_error *err);
void hub_wds_dispose(struct hub_wds_columns *c);

/* ---- value.c ---- */

/** A member of a plain shard as the value that its field's last extension says; else as bytes. */
void hub_wds_member_value(struct hub_byte_source *source, struct hub_view field,
                          const struct hub_tar_member *m, struct hub_wds_value *out);

struct hub_wds_pickled {
    struct hub_wds_columns *columns;
    struct hub_files *files;
    struct hub_byte_source *source;
    struct hub_pickle *p;
    uint32_t row;
    const struct hub_tar_member *member;
    bool plain; /* what is no row is bytes, like any other member */
};

/** A pickled value as the value of column `path`, a dictionary as columns `path/key`. What cannot be a row
 * spoils its column; a pickle that cannot be read is the status. Bytes of protocol 2 are copied to side
 * data. */
HUB_MUST_USE enum hub_status hub_wds_pickle_values(struct hub_wds_pickled *pickled, struct hub_view path,
                                                   struct hub_error *err);

/** An array as a value. HUB_UNSUPPORTED: it can be no row. */
HUB_MUST_USE enum hub_status hub_wds_npy_value(const struct hub_npy *npy, uint32_t file,
                                               struct hub_wds_value *out, struct hub_error *err);

/* ---- member.c ---- */

/** A member that holds several values: "npz", "pkl", "pickle", each with ".gz" or without. */
bool hub_wds_is_container(struct hub_view field);
/** One that holds one array, which may be of objects: "npy", "npy.gz". */
bool hub_wds_is_npy(struct hub_view field);

struct hub_wds_container {
    struct hub_wds_columns *columns;
    struct hub_files *files;
    struct hub_sink *sink;
    struct hub_byte_source *source;
    struct hub_pickle *pickle;
    struct hub_view key, field;
    const struct hub_tar_member *member;
    uint32_t file, row; /* the shard, the sample */
};

/** Its values as those of columns `field/name`, of a pickle as hub_wds_pickle_values. */
HUB_MUST_USE enum hub_status hub_wds_give_container(const struct hub_wds_container *c, struct hub_error *err);
/** Report it as one episode or several, when it holds demonstrations: `*episodes` are how many. */
HUB_MUST_USE enum hub_status hub_wds_report_demos(const struct hub_wds_container *c, uint32_t *episodes,
                                                  struct hub_error *err);

/* ---- shard.c ---- */

HUB_MUST_USE enum hub_status hub_wds_inspect(struct hub_files *files, const struct hub_part *part,
                                             struct hub_sink *sink, struct hub_error *err);

#endif
