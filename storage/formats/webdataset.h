/* Shared by the files of the webdataset driver. */
#ifndef HUB_FORMATS_WEBDATASET_H
#define HUB_FORMATS_WEBDATASET_H

#include "storage/formats/pickle.h"
#include "storage/formats/tar.h"

#define WDS_METADATA "_metadata.meta.pickle" /* the first member of a shard of il-representations */
enum { WDS_MAX_SAMPLES = 4000000, WDS_MAX_COLUMNS = 4096, WDS_MAX_VALUES = 24000000 };

/* ---- webdataset.c: names ---- */

/** A member's name as webdataset reads it: the key up to the first dot after the last slash, the field behind
 * it. False: it belongs to no sample (no dot, no key, __meta__). */
bool hub_wds_split(struct hub_view name, struct hub_view *key, struct hub_view *field);

enum hub_wds_packing { HUB_WDS_NOT, HUB_WDS_TAR, HUB_WDS_COMPRESSED };
struct hub_wds_shard {
    enum hub_wds_packing packing;
    struct hub_view series; /* the path before its number; the whole stem when it has none */
    bool numbered;
};
/** "train-000012.tar" -> tar, "train-" */
struct hub_wds_shard hub_wds_shard_of(struct hub_view path);

/* ---- webdataset_column.c ---- */

/** One value of a row: bytes in place, or a small number held here. */
struct hub_wds_value {
    enum hub_field_type type;
    struct hub_variant variant;
    uint32_t file; /* where the bytes are: a file's number or HUB_SIDE_FILE */
    uint64_t offset, size;
    bool held; /* a scalar: its bytes are in `scalar` */
    uint8_t scalar[16];
};

struct hub_wds_run {
    uint32_t first, file;
};

struct hub_wds_column {
    char *path;
    uint32_t rows;               /* given so far, without a gap */
    uint32_t given;              /* given in all */
    char trouble[160];           /* empty: readable */
    struct hub_wds_value sample; /* the first value: all others are of its kind */
    struct hub_extent *extents;
    struct hub_wds_run *runs; /* of extents in the same file */
    uint32_t run_count, run_capacity;
    uint8_t *scalars;
    size_t capacity; /* rows there is room for */
};

struct hub_wds_columns {
    struct hub_wds_column *items;
    uint32_t count, capacity;
    uint64_t values;
    uint32_t hint; /* where the last one was found: members come in the same order again and again */
};

/** The column of this path, made when it is new. HUB_TOO_BIG over WDS_MAX_COLUMNS. */
HUB_MUST_USE enum hub_status hub_wds_column(struct hub_wds_columns *c, struct hub_view path,
                                            struct hub_wds_column **out, struct hub_error *err);
/** Give row `row` its value. Another kind than the rows before have, a gap, a second value: the column
 * becomes unreadable. */
HUB_MUST_USE enum hub_status hub_wds_give(struct hub_wds_columns *c, struct hub_wds_column *column,
                                          uint32_t row, const struct hub_wds_value *value,
                                          struct hub_error *err);
/** The first reason stands. */
void hub_wds_spoil(struct hub_wds_column *column, const char *fmt, ...) HUB_PRINTF(2, 3);

/** The row as a number (bool, int or float); 0 for anything else. */
double hub_wds_number(const struct hub_wds_column *column, uint32_t row);

/** Forget rows from `rows` on. */
void hub_wds_trim(struct hub_wds_columns *c, uint32_t rows);

struct hub_wds_window {
    uint32_t episode, first, count;
};
/** Report all columns: fields, one array each, the windows of all episodes. `rows`: of the shard. */
HUB_MUST_USE enum hub_status hub_wds_finish(struct hub_wds_columns *c, struct hub_files *files,
                                            struct hub_sink *sink, uint32_t rows,
                                            const struct hub_wds_window *windows, uint32_t window_count,
                                            struct hub_error *err);
void hub_wds_dispose(struct hub_wds_columns *c);

/* ---- webdataset_value.c ---- */

/** A member of a plain shard as a value, by its field's last extension. HUB_UNSUPPORTED, HUB_CORRUPT,
 * HUB_TOO_BIG: why not. */
HUB_MUST_USE enum hub_status hub_wds_member_value(struct hub_source *source, struct hub_view field,
                                                  const struct hub_tar_member *m, struct hub_wds_value *out,
                                                  struct hub_error *err);

/** A pickled value as the value of column `path`, a dictionary as columns `path/key`. What cannot be a row
 * spoils its column; a pickle that cannot be read is the status. Arrays in Fortran order and bytes of
 * protocol 2 are copied to side data. */
HUB_MUST_USE enum hub_status hub_wds_pickle_values(struct hub_wds_columns *c, struct hub_files *files,
                                                   struct hub_source *source, struct hub_pickle *p,
                                                   struct hub_view path, uint32_t row,
                                                   const struct hub_tar_member *m, struct hub_error *err);

/* ---- webdataset_shard.c ---- */

HUB_MUST_USE enum hub_status hub_wds_inspect(struct hub_files *files, const struct hub_part *part,
                                             struct hub_sink *sink, struct hub_error *err);

#endif
