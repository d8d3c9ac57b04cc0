/**
 * HDF5 files that hold one group an episode: their datasets as fields, their attributes as JSON, in the order
 * of their numbers. A driver says which groups are episodes and what their attributes mean; all else is here.
 *
 * Problems reported here: of a file file-not-closed, not-loadable; of links link-leaves-dataset,
 * link-target-missing, link-user-defined, link-cycle; of an episode unreadable-episode, attribute-damaged,
 * attributes-too-big; below it group-damaged, object-damaged, dataset-damaged, bad-name, too-deep; of a field
 * rows-differ, type-differs, unreadable-in-episodes; of a split bad-split.
 */
#ifndef HUB_FORMATS_H5_KIT_H
#define HUB_FORMATS_H5_KIT_H

#include "storage/formats/hdf5/h5.h"
#include "storage/formats/kit/json_rows.h"

enum { HUB_H5_MAX_DEPTH = 16 };

/** hub_is_local, but for a file that asked for too much, which is at its end. */
bool hub_h5_is_local(const struct hub_h5 *file, enum hub_status st);

/** Report a file whose writer did not close it; `readers` are those that refuse it: "h5py and Minari". */
HUB_MUST_USE enum hub_status hub_h5_report_open(const struct hub_h5 *file, const struct hub_files *files,
                                                struct hub_sink *sink, const char *readers,
                                                struct hub_error *err);

/** ".hdf5" and ".h5", for hub_ending_of and hub_claim_file. */
extern const char *const hub_h5_endings[];
/** Open a file and load its root; what was opened before a failure is the caller's all the same. */
HUB_MUST_USE enum hub_status hub_h5_open_root(struct hub_files *files, uint32_t number, struct hub_h5 **file,
                                              struct hub_h5_object *root, struct hub_error *err);

/* ---- h5_tree.c: the datasets below a group ---- */

struct hub_h5_leaf {
    struct hub_view path; /* below the group; in the tree's text */
    size_t path_at;
    struct hub_h5_object object;
    struct hub_h5_dataset dataset;
    uint64_t rows; /* of them the episode's: those of the dataset, where the driver does not lower it */
};

/** Reused from episode to episode. */
struct hub_h5_tree {
    struct hub_h5 *file;
    struct hub_sink *sink;
    struct hub_view episode; /* its name, for problems */
    bool quiet;              /* problems were or will be reported by another walk */
    bool full;               /* there are more datasets than are taken */
    struct hub_h5_leaf *leaves;
    uint32_t count, capacity;
    struct hub_buf text, path;
    struct hub_h5_object groups[HUB_H5_MAX_DEPTH];
    struct hub_h5_links links[HUB_H5_MAX_DEPTH];
    uint64_t above[HUB_H5_MAX_DEPTH]; /* addresses on the way down, against cycles */
};

/** Gather the datasets below the group at `address`; groups[0] then holds its header. What is wrong with one
 * link or dataset is a problem; only what is wrong with the group itself, the sink or memory is returned. */
HUB_MUST_USE enum hub_status hub_h5_tree_load(struct hub_h5_tree *tree, uint64_t address,
                                              struct hub_error *err);
const struct hub_h5_leaf *hub_h5_tree_find(const struct hub_h5_tree *tree, const char *path);
/** Rows of the dataset at `path`, or of the first one below; false: there is none with rows. */
bool hub_h5_tree_rows(const struct hub_h5_tree *tree, const char *path, uint64_t *rows);
void hub_h5_tree_dispose(struct hub_h5_tree *tree);
/** Report "episode/path" under a code; a failure to report is passed up. */
HUB_MUST_USE enum hub_status hub_h5_tree_problem(struct hub_h5_tree *tree, const char *code,
                                                 struct hub_view path, struct hub_error *err,
                                                 const char *detail);

/** End one object: report `code` if only this object failed with `st`, else pass the failure up. */
HUB_MUST_USE enum hub_status hub_h5_tree_finish(struct hub_h5_tree *tree, enum hub_status st,
                                                const char *code, struct hub_view path,
                                                const struct hub_error *why, struct hub_error *err);
/** hub_h5_attributes; those that are damaged are a problem, and hide nothing else. */
HUB_MUST_USE enum hub_status hub_h5_tree_attributes(struct hub_h5_tree *tree,
                                                    const struct hub_h5_object *object,
                                                    hub_h5_attribute_fn fn, void *user,
                                                    struct hub_error *err);

/* ---- h5_column.c: columns of numbers ---- */

/** Hand on all numbers of a dataset in C order. False: there is no such dataset of numbers, or it cannot be
 * read (then some may have been handed on). */
bool hub_h5_each(const struct hub_h5_tree *tree, const char *path, void (*take)(void *user, double value),
                 void *user);
/** The number that a dataset without dimensions is; false: it is none, or cannot be read. */
bool hub_h5_scalar(const struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf, double *out);
/** The return of an episode: the sum of a column from row `first` on, in the order Python's sum takes them.
 * None where there is no such column. */
void hub_h5_return(const struct hub_h5_tree *tree, const char *path, uint64_t first,
                   struct hub_episode *episode);
/** All of a short dataset as bytes, appended: a text, or rows of uint8 up to the zeros behind them. False:
 * it is none of these, or longer than `out` may be. */
bool hub_h5_bytes(const struct hub_h5_tree *tree, const struct hub_h5_leaf *leaf, struct hub_buf *out);
/** The rows, of one byte each, of the dataset at `path` below the group at `address`; `*out` is the
 * caller's. False: there are none, or they cannot be read. */
bool hub_h5_flags(struct hub_h5 *file, uint64_t address, const char *path, uint8_t **out, uint64_t *count);
/** Is the last number true? 1, 0, or -1 for unknown. */
int8_t hub_h5_last_flag(const struct hub_h5_tree *tree, const char *path);

/** The largest magnitude in rows of numbers, NaN where one is none; 0 of no rows. False: they cannot be
 * read. */
bool hub_h5_largest(const struct hub_h5_tree *tree, const char *path, double *out);

/* ---- h5_notes.c: attributes as JSON ---- */

struct hub_h5_note {
    struct hub_buf key, value; /* value is JSON */
};

/** Attributes of one episode; keys with '/' become nested objects. Reused. */
struct hub_h5_notes {
    struct hub_h5_note *items;
    uint32_t count, capacity;
    struct hub_buf json;
};
void hub_h5_notes_clear(struct hub_h5_notes *notes);
/** Keep an attribute; long ones by their length and digest. A damaged one is a problem. */
HUB_MUST_USE enum hub_status hub_h5_notes_take(struct hub_h5_notes *notes, struct hub_h5_tree *tree,
                                               const struct hub_h5_attribute *attribute,
                                               struct hub_error *err);
/** The same of one text that holds an object or a list of JSON: its value, and `*parsed` (may be NULL). What
 * is neither stays the text it is. */
HUB_MUST_USE enum hub_status hub_h5_notes_take_json(struct hub_h5_notes *notes, struct hub_h5_tree *tree,
                                                    const struct hub_h5_attribute *attribute, bool *parsed,
                                                    struct hub_error *err);
/** Write `json`, empty where nothing was kept. More than an episode may have is a problem, and left out. */
HUB_MUST_USE enum hub_status hub_h5_notes_write(struct hub_h5_notes *notes, struct hub_h5_tree *tree,
                                                struct hub_error *err);
/** Tell all attributes of an object as the fact "metadata". Damaged ones are problems. */
HUB_MUST_USE enum hub_status hub_h5_notes_report(struct hub_h5_tree *tree, const struct hub_h5_object *object,
                                                 struct hub_error *err);
void hub_h5_notes_dispose(struct hub_h5_notes *notes);

/* ---- h5_fields.c: the fields of a part ---- */

struct hub_h5_field {
    char *path;
    uint32_t number; /* HUB_NONE: not declared yet */
    enum hub_field_type type;
    enum hub_axis axis;
    uint32_t votes[HUB_AXIS_COUNT], types[HUB_FIELD_TYPE_COUNT];
    struct hub_readings readings;
    struct hub_tally odd; /* episodes with another number of rows than the axis says */
};

struct hub_h5_fields {
    /* Does the dataset say that these are pictures? NULL: observations may be. */
    bool (*pictured)(const void *user, struct hub_view path);
    enum hub_role (*role)(struct hub_view path); /* NULL: hub_role_of */
    /* NULL: the number of rows says it. Where the format knows better than that. */
    enum hub_axis (*axis)(const struct hub_h5_leaf *leaf, enum hub_axis by_rows);
    bool (*padded)(struct hub_view path); /* NULL: none. Are rows of bytes JSON, padded with zeros? */
    /* NULL: none. Are the bytes of a dataset of one dimension together one value, HUB_FIELD_PADDED_JSON or
     * HUB_FIELD_TEXT, up to the zeros behind it? Else the type that it is given. */
    enum hub_field_type (*whole)(const struct hub_h5_leaf *leaf, enum hub_field_type type);
    const void *user;
    /* Numbers inside rows of JSON; `files` NULL: they are not looked for. Not of datasets that are cut. */
    struct hub_json_rows inside;
    struct hub_tally cut_rows,
        bad_rows; /* of JSON, cut off at their width, and that are none for other reasons */
    struct hub_buf scratch;
    struct hub_h5_field *items;
    uint32_t count, capacity, last; /* last: the field found last; the next is likely asked for next */
    bool full;
};

/** Count how the rows of an episode's datasets relate to its steps. */
HUB_MUST_USE enum hub_status hub_h5_fields_vote(struct hub_h5_fields *fields, const struct hub_h5_tree *tree,
                                                uint64_t steps, struct hub_error *err);
/** Declare and lay out all datasets of an episode that was reported as `index`. */
HUB_MUST_USE enum hub_status hub_h5_fields_lay_out(struct hub_h5_fields *fields, struct hub_h5_tree *tree,
                                                   uint32_t index, uint64_t steps, struct hub_error *err);
/** An episode that is a run of the datasets' rows. */
struct hub_h5_cut {
    uint32_t episode; /* as it was reported */
    uint64_t first, count;
};
/** The same of several episodes: datasets of `rows` rows are cut, others belong to each as they are. */
HUB_MUST_USE enum hub_status hub_h5_fields_cut(struct hub_h5_fields *fields, struct hub_h5_tree *tree,
                                               const struct hub_h5_cut *cuts, uint32_t count, uint64_t rows,
                                               struct hub_error *err);
/** Tell what no episode could show, and the exceptions. */
HUB_MUST_USE enum hub_status hub_h5_fields_finish(struct hub_h5_fields *fields, struct hub_sink *sink,
                                                  struct hub_error *err);
void hub_h5_fields_dispose(struct hub_h5_fields *fields);

/* ---- h5_episodes.c: the episodes of a file ---- */

struct hub_h5_entry {
    int64_t number;
    uint64_t address;
    char name[32];
};

/** What a format makes of an episode; `user` is its own. */
struct hub_h5_dialect {
    const char *prefix; /* of the names of groups that are episodes; a number follows */
    /** May. Is this link, whose name fits, one of the part's? NULL: all are, and external ones a problem. */
    bool (*takes)(void *user, const struct hub_h5_link *link);
    /** Must. The tree is loaded: read the attributes, and say how many steps the episode has. */
    enum hub_status (*load)(void *user, struct hub_h5_tree *tree, uint64_t *steps, struct hub_error *err);
    /** Must. Complete what is reported of an episode: its number, name, file, steps are there, the rest
     * unknown. */
    enum hub_status (*describe)(void *user, struct hub_h5_tree *tree, struct hub_episode *episode,
                                struct hub_error *err);
    /** May. The episode was reported as number `index` of the part. */
    enum hub_status (*reported)(void *user, struct hub_h5_tree *tree, uint32_t index, struct hub_error *err);
};

struct hub_h5_episodes {
    const struct hub_h5_dialect *dialect;
    void *user;
    struct hub_h5_entry *entries; /* by number, once listed */
    uint32_t count, capacity;
    struct hub_h5_tree tree; /* its file, where the episodes are, and sink are the caller's to set */
    struct hub_h5_fields fields;
};

/** The first dataset at `path`, or right below it, of the groups that `prefix` and a number name: of 16 that
 * are tried. `holder` keeps what `out` borrows. False: none has one. */
bool hub_h5_episodes_sample(struct hub_h5 *file, const struct hub_h5_object *group, const char *prefix,
                            const char *path, struct hub_h5_object *holder, struct hub_h5_dataset *out);
/** How many groups at the root are called `prefix` and a number; 0 of a file that cannot be read. */
uint64_t hub_h5_episodes_count(struct hub_files *files, uint32_t number, const char *prefix);
/** List the episodes that the links of a group name, in `index`, which may be another file than they are
 * in. */
HUB_MUST_USE enum hub_status hub_h5_episodes_list(struct hub_h5_episodes *e, struct hub_h5 *index,
                                                  const struct hub_h5_object *group, struct hub_error *err);
/** Report all that were listed, with their fields. A bad one is a problem. */
HUB_MUST_USE enum hub_status hub_h5_episodes_report(struct hub_h5_episodes *e, struct hub_error *err);
void hub_h5_episodes_dispose(struct hub_h5_episodes *e);

/* ---- h5_splits.c: splits by lists of names ---- */

struct hub_h5_split {
    char *name;
    int64_t *numbers; /* of the episodes that are there, sorted */
    uint32_t count;
    struct hub_tally missing;
};

struct hub_h5_splits {
    bool quiet; /* problems were reported before */
    struct hub_h5_split *items;
    uint32_t count;
};

/** Read the datasets of text below the group at `address`, each a split by its path. The episodes are
 * listed. */
HUB_MUST_USE enum hub_status hub_h5_splits_load(struct hub_h5_splits *splits, const struct hub_h5_episodes *e,
                                                uint64_t address, struct hub_error *err);
/** Report how many episodes each has, and names that are not there. */
HUB_MUST_USE enum hub_status hub_h5_splits_report(const struct hub_h5_splits *splits, struct hub_sink *sink,
                                                  struct hub_error *err);
/** Those of one episode, as a JSON array; nothing where there are none at all. */
HUB_MUST_USE enum hub_status hub_h5_splits_of(const struct hub_h5_splits *splits, int64_t number,
                                              struct hub_buf *out, struct hub_error *err);
void hub_h5_splits_dispose(struct hub_h5_splits *splits);

#endif
