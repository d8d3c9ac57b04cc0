/**
 * HDF5 files for drivers. Everything that says where rows lie (headers, links, attributes, chunk indexes,
 * global heaps) is parsed by us from pread bytes; every address, count and size is checked before use.
 * libhdf5 is asked only for rows behind filters that have no codec here (szip, nbit, scaleoffset). Addresses
 * are as stored: relative to the end of the user block. Specification: HDF5 File Format Specification 3.0,
 * https://docs.hdfgroup.org/hdf5/develop/_f_m_t3.html
 *
 * Single-threaded. HUB_CORRUPT: the bytes contradict themselves; HUB_UNSUPPORTED: a feature refused, named in
 * the detail.
 */
#ifndef HUB_FORMATS_H5_H
#define HUB_FORMATS_H5_H

#include "storage/worker/format.h"

struct hub_h5; /* an open file */

/** Has the file the signature, behind a user block of 0, 512, 1024, ... up to 2 MiB? Needs reads of 8 bytes
 * only. */
bool hub_h5_is(struct hub_files *files, uint32_t number);
/** HUB_CORRUPT for a file that was cut short: it says how long it should be. */
HUB_MUST_USE enum hub_status hub_h5_open(struct hub_files *files, uint32_t number, struct hub_h5 **out,
                                         struct hub_error *err);
/** One that was unpacked to the side data, `size` bytes at `offset`; `number`: the file of the dataset that
 * it was in. Datasets that only libhdf5 decodes cannot be read. */
HUB_MUST_USE enum hub_status hub_h5_open_side(struct hub_files *files, uint32_t number, uint64_t offset,
                                              uint64_t size, struct hub_h5 **out, struct hub_error *err);
void hub_h5_close(struct hub_h5 *file);
void hub_h5_closep(struct hub_h5 **file);
uint64_t hub_h5_root(const struct hub_h5 *file);   /* address of the root group */
uint32_t hub_h5_number(const struct hub_h5 *file); /* in the dataset's file table */

/** Were more objects or index nodes asked for than any file may have? Then every further call fails. */
bool hub_h5_exhausted(const struct hub_h5 *file);

/** Was the file marked as open for writing and never unmarked? Only superblocks of version 3 tell; the
 * library refuses to read such a file. */
bool hub_h5_left_open(const struct hub_h5 *file);

/* ---- objects ---- */

enum hub_h5_kind { HUB_H5_OTHER = 0, HUB_H5_GROUP, HUB_H5_DATASET, HUB_H5_TYPE };

struct hub_h5_message {
    uint16_t type;
    uint8_t flags;
    uint32_t offset, size; /* in the object's bytes */
};

/** An object header read into memory. Reusable: loading again drops what was there. */
struct hub_h5_object {
    uint64_t address;
    enum hub_h5_kind kind;
    struct hub_buf bytes;
    struct hub_h5_message *messages;
    uint32_t count, capacity;
    char damaged[160]; /* of a group: empty, or why some of its links and attributes are missing */
};

HUB_MUST_USE enum hub_status hub_h5_object_load(struct hub_h5 *file, uint64_t address,
                                                struct hub_h5_object *object, struct hub_error *err);
void hub_h5_object_dispose(struct hub_h5_object *object);

/* ---- links ---- */

enum hub_h5_link_kind { HUB_H5_HARD = 0, HUB_H5_SOFT, HUB_H5_EXTERNAL, HUB_H5_USER };

struct hub_h5_link {
    struct hub_view name;
    enum hub_h5_link_kind kind;
    uint64_t address;     /* HARD */
    struct hub_view file; /* EXTERNAL: as written */
    struct hub_view path; /* EXTERNAL, SOFT: object path */
    size_t at[3];         /* of the three texts while a group is being read */
};

/** The links of a group in stored order. Reusable. */
struct hub_h5_links {
    struct hub_h5_link *items;
    uint32_t count, capacity;
    struct hub_buf text;
};

/** A group whose links cannot be read to the end keeps those that were: HUB_CORRUPT, and `links` holds
 * them. */
HUB_MUST_USE enum hub_status hub_h5_links_load(struct hub_h5 *file, const struct hub_h5_object *group,
                                               struct hub_h5_links *links, struct hub_error *err);
void hub_h5_links_dispose(struct hub_h5_links *links);

/** Follow a path from a group (or the root if it begins with '/'), soft links included, to an object's
 * address. HUB_NOT_FOUND; HUB_DENIED for an external or user-defined link on the way; HUB_UNSUPPORTED for a
 * cycle of soft links. */
HUB_MUST_USE enum hub_status hub_h5_resolve(struct hub_h5 *file, uint64_t group, struct hub_view path,
                                            uint64_t *address, struct hub_error *err);

/* ---- types ---- */

enum hub_h5_class {
    HUB_H5_INT = 0,
    HUB_H5_FLOAT,
    HUB_H5_TIME,
    HUB_H5_STRING,
    HUB_H5_BITFIELD,
    HUB_H5_OPAQUE,
    HUB_H5_COMPOUND,
    HUB_H5_REFERENCE,
    HUB_H5_ENUM,
    HUB_H5_VLEN,
    HUB_H5_ARRAY,
    HUB_H5_COMPLEX
};

/** A datatype as rows see it. */
struct hub_h5_type {
    enum hub_h5_class class;
    uint32_t size;              /* stored bytes of one element of the dataspace */
    struct hub_variant variant; /* element; array types put their dimensions here; VAR for variable length */
    enum hub_field_type field;
    uint32_t vlen_item;  /* VLEN: bytes of an item (1 for text and bytes) */
    bool convert;        /* stored bits are not the value (odd precision): rows need the library */
    char unreadable[96]; /* empty, or why by name */
};

/* ---- attributes ---- */

struct hub_h5_attribute {
    struct hub_view name;
    struct hub_h5_type type;
    uint32_t rank;  /* HUB_NONE: null space */
    uint64_t items; /* elements of the dataspace */
    uint64_t dims[HUB_MAX_RANK];
    struct hub_view data; /* items * type.size stored bytes */
};

/** Called for each attribute; views die with the call. A non-OK answer ends the walk. */
typedef enum hub_status (*hub_h5_attribute_fn)(void *user, const struct hub_h5_attribute *attribute,
                                               struct hub_error *err);
/** An attribute that cannot be parsed is passed over after `fn` saw it with type.unreadable set. */
HUB_MUST_USE enum hub_status hub_h5_attributes(struct hub_h5 *file, const struct hub_h5_object *object,
                                               hub_h5_attribute_fn fn, void *user, struct hub_error *err);

/** The text of a scalar string attribute, or of element `item`; HUB_NOT_ACCEPTABLE when it is none. Appended
 * to `out`. */
HUB_MUST_USE enum hub_status hub_h5_attribute_text(struct hub_h5 *file,
                                                   const struct hub_h5_attribute *attribute, uint64_t item,
                                                   struct hub_buf *out, struct hub_error *err);
/** Where the text of a scalar attribute of variable length lies in the file. HUB_NOT_ACCEPTABLE for
 * others. */
HUB_MUST_USE enum hub_status hub_h5_attribute_location(struct hub_h5 *file,
                                                       const struct hub_h5_attribute *attribute,
                                                       struct hub_location *out, struct hub_error *err);
/** Element 0 as a number; false when it is none, or does not fit. */
bool hub_h5_attribute_int(const struct hub_h5_attribute *attribute, int64_t *out);
bool hub_h5_attribute_double(const struct hub_h5_attribute *attribute, double *out);
/** The value as strict JSON (record.h). Bytes of variable length are {"base64":"..."}. Text and
 *  bytes over `text_limit` and arrays over 4,096 elements become {"length":n,"sha256":"..."} over the stored
 *  bytes; unreadable types {"unreadable":"why"}. */
HUB_MUST_USE enum hub_status hub_h5_attribute_json(struct hub_h5 *file,
                                                   const struct hub_h5_attribute *attribute,
                                                   size_t text_limit, struct hub_buf *out,
                                                   struct hub_error *err);

/* ---- datasets ---- */

struct hub_h5_dataset {
    uint64_t address; /* of its header */
    uint32_t rank;    /* of the dataspace; HUB_NONE: null space */
    uint64_t dims[HUB_MAX_RANK];
    uint64_t rows; /* dims[0]; 1 for a scalar; 0 for a null space */
    struct hub_h5_type type;
    uint32_t element, at;       /* stored bytes of an element of the dataspace; where in it the type lies */
    struct hub_variant variant; /* of a row */
    char unreadable[160];       /* empty, or why by name: the rest is then only good for documents */

    /* how its rows are stored; for hub_h5_layout and hub_h5_read */
    enum { HUB_H5_COMPACT = 0, HUB_H5_CONTIGUOUS, HUB_H5_CHUNKED } storage;
    bool library;  /* a filter or type that only libhdf5 decodes */
    uint64_t data; /* address of raw data or chunk index, HUB_ABSENT: unallocated */
    struct hub_view compact;
    uint8_t index; /* 0: B-tree 1; else chunk index type of layout versions 4 and 5 */
    uint8_t layout_flags;
    uint64_t single_size; /* index 1 with filters */
    uint32_t single_mask;
    uint64_t max_dims[HUB_MAX_RANK];
    uint32_t chunk[HUB_MAX_RANK];
    uint64_t chunk_bytes;
    struct hub_pipeline pipeline;
    char filter_name[48];     /* first filter without a codec: "filter 32001 (blosc)" */
    uint32_t unknown_filters; /* bit i: filter i has no codec; 0 in `pipeline` */
    struct hub_view fill;     /* bytes of one element, or empty: zeros */
};

/** Describe a dataset. OK with `unreadable` set for what is refused by name. Views borrow from `object`. */
HUB_MUST_USE enum hub_status hub_h5_dataset(struct hub_h5 *file, const struct hub_h5_object *object,
                                            struct hub_h5_dataset *out, struct hub_error *err);

/** Does an element have members of its own? Complex numbers have not. Such a dataset is unreadable as it
 * is. */
bool hub_h5_has_members(const struct hub_h5_dataset *dataset);
/** Called for each member as a dataset of its own, `name` being its path within the element ("pose/x"). */
typedef enum hub_status (*hub_h5_member_fn)(void *user, struct hub_view name,
                                            const struct hub_h5_dataset *member, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_h5_members(struct hub_h5 *file, const struct hub_h5_object *object,
                                            const struct hub_h5_dataset *dataset, hub_h5_member_fn fn,
                                            void *user, struct hub_error *err);

/** Add the dataset's rows as one array. On failure nothing was added: HUB_UNSUPPORTED and HUB_TOO_BIG say by
 * name why it is unreadable, HUB_CORRUPT what contradicts. */
HUB_MUST_USE enum hub_status hub_h5_layout(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                           struct hub_layout_builder *builder, uint32_t *array,
                                           struct hub_error *err);

/** The same of rows that together are one value: `row` has as many bytes as all of them, and no element of
 * the dataset has members. In chunks they are copied to the side data. */
HUB_MUST_USE enum hub_status hub_h5_layout_whole(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                                 const struct hub_variant *row,
                                                 struct hub_layout_builder *builder, uint32_t *array,
                                                 struct hub_error *err);

/** Copy rows first .. first+count-1 as stored (VAR: references) into `out` of count * row bytes. For small,
 * whole reads. */
HUB_MUST_USE enum hub_status hub_h5_read(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                         uint64_t first, uint64_t count, void *out, struct hub_error *err);
/** Stored bytes of a row as hub_h5_read copies it: of a member, the elements it is a part of. */
uint64_t hub_h5_row_bytes(const struct hub_h5_dataset *dataset);
/** Row `row` of a text dataset (FIXED or VAR), appended; at most `limit` bytes, else HUB_TOO_BIG. */
HUB_MUST_USE enum hub_status hub_h5_read_text(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                              uint64_t row, struct hub_buf *out, struct hub_error *err);

#endif
