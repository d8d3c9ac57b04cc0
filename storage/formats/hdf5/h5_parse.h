/**
 * What the h5_*.c files share and drivers need not see: the open file, bounded reads, and the walks of the
 * file format's own structures. All walks are iterative or bounded in depth and count their nodes.
 */
#ifndef HUB_FORMATS_H5_PARSE_H
#define HUB_FORMATS_H5_PARSE_H

#include "storage/base/cursor.h"
#include "storage/formats/hdf5/h5.h"

#define H5_UNDEFINED UINT64_MAX
#define H5_MAX_OBJECTS 1000000u
#define H5_MAX_NODES 4000000u     /* tree nodes read from one file */
#define H5_MAX_HEADER (16 * MIB)  /* bytes of one object header */
#define H5_MAX_LINKS 1000000u     /* of one group */
#define H5_MAX_CHUNKS (16u << 20) /* of one dataset */

enum h5_message_type {
    H5_MSG_SPACE = 0x01,
    H5_MSG_LINK_INFO = 0x02,
    H5_MSG_TYPE = 0x03,
    H5_MSG_FILL_OLD = 0x04,
    H5_MSG_FILL = 0x05,
    H5_MSG_LINK = 0x06,
    H5_MSG_EXTERNAL = 0x07,
    H5_MSG_LAYOUT = 0x08,
    H5_MSG_GROUP_INFO = 0x0A,
    H5_MSG_FILTERS = 0x0B,
    H5_MSG_ATTRIBUTE = 0x0C,
    H5_MSG_CONTINUE = 0x10,
    H5_MSG_SYMBOLS = 0x11,
    H5_MSG_ATTRIBUTE_INFO = 0x15,
    H5_MSG_CACHE_IMAGE = 0x18
};

#define H5_PAGE 4096u
#define H5_PAGES 256u
#define H5_HEAPS 256u
#define H5_VERIFIED 64u

/** Objects of one global heap collection. */
struct h5_collection {
    uint64_t address;
    struct hub_extent *objects; /* by index; length 0 and offset 0: none. Offsets are absolute */
    uint32_t count;
};

/** A dense, row-major table of a dataset's chunks, filled by the walks below. */
struct h5_grid {
    uint32_t rank;
    uint64_t along[HUB_MAX_RANK];     /* chunks along each axis, of the current extent */
    uint64_t max_along[HUB_MAX_RANK]; /* of the maximal extent; UINT64_MAX: unlimited */
    uint32_t chunk[HUB_MAX_RANK];
    uint32_t item_bytes;
    uint64_t chunk_bytes;
    uint64_t count;  /* entries in `chunks` */
    uint64_t stored; /* of them stored */
    struct hub_chunk *chunks;
};

/** A group's links, kept because paths are asked for one after another: external links name each episode of
 * their file. */
struct h5_members {
    bool loaded;
    uint64_t group;
    enum hub_h5_kind kind;
    struct hub_h5_links links;
    char damaged[160]; /* empty, or why some are missing */
    uint32_t last;     /* found last: the next one asked for is likely the next */
};

/** Metadata that lies in one block instead of in its places. */
struct h5_image {
    struct h5_image_entry *entries; /* by offset; they do not overlap */
    uint32_t count;
    uint8_t *block;
};

struct hub_h5 {
    struct hub_files *files;
    uint32_t number; /* where its bytes are, HUB_SIDE_FILE too */
    uint32_t named;  /* the file of the dataset that it is, or was in */
    int fd;
    uint64_t start; /* of it in what is read: 0, but in side data */
    uint64_t size;  /* where it ends there */
    uint64_t base;  /* behind the user block: added to every address */
    uint64_t root;
    uint8_t offset_size, length_size;
    uint8_t version, flags;      /* of the superblock; flags: bit 0: open for writing, 2: for SWMR writing */
    uint32_t objects, nodes;     /* counted against their ceilings */
    uint8_t *pages;              /* H5_PAGES pages, direct mapped */
    uint64_t *page_tags;         /* number + 1; 0: empty */
    struct h5_collection *heaps; /* H5_HEAPS, direct mapped */
    struct h5_grid grid;         /* chunks of the dataset looked at last */
    uint64_t grid_of;            /* its address */
    int64_t library;             /* its file handle, 0: not opened */
    int library_trouble;         /* errno of its last read that failed; ESTALE: the file became shorter */
    struct h5_members members;   /* of the group a path was last looked for in */
    struct h5_image image;
    bool unverified;                /* checksums are not looked at: for tests of the parsers behind them */
    uint64_t verified[H5_VERIFIED]; /* addresses + 1 of blocks whose checksum was right */
};

/** Copy `size` bytes at an address; HUB_CORRUPT past the end of the file. */
HUB_MUST_USE enum hub_status h5_get(struct hub_h5 *file, uint64_t address, void *out, size_t size,
                                    struct hub_error *err);
/** The same at an absolute offset. */
HUB_MUST_USE enum hub_status h5_get_raw(struct hub_h5 *file, uint64_t offset, void *out, size_t size,
                                        struct hub_error *err);
/** Address + base, proven to hold `size` bytes of the file. */
HUB_MUST_USE enum hub_status h5_locate(const struct hub_h5 *file, uint64_t address, uint64_t size,
                                       uint64_t *offset, struct hub_error *err);
/** Count a tree node; HUB_TOO_BIG over the ceiling. */
HUB_MUST_USE enum hub_status h5_count_node(struct hub_h5 *file, struct hub_error *err);

/** Look for a metadata cache image in the superblock's extension; reads then see it. */
HUB_MUST_USE enum hub_status h5_image_load(struct hub_h5 *file, uint64_t extension, struct hub_error *err);
/** Put what the image says over bytes that were read at an absolute offset. */
void h5_image_apply(const struct hub_h5 *file, uint64_t offset, uint8_t *out, size_t size);
void h5_image_dispose(struct hub_h5 *file);

/** HDF5's checksum of metadata. */
uint32_t h5_checksum(const void *data, size_t size);
/** Are the `size` bytes at an address followed by their checksum? HUB_CORRUPT if not; `what` names them. */
HUB_MUST_USE enum hub_status h5_verify(struct hub_h5 *file, const char *what, uint64_t address, uint64_t size,
                                       struct hub_error *err);
/** The same where the checksum stands within the bytes, at `at`. */
HUB_MUST_USE enum hub_status h5_verify_around(struct hub_h5 *file, const char *what, uint64_t address,
                                              uint64_t size, size_t at, struct hub_error *err);

/** Offsets of the file's width; all ones become H5_UNDEFINED. */
uint64_t h5_offset(const struct hub_h5 *file, struct hub_cursor *c);
uint64_t h5_length(const struct hub_h5 *file, struct hub_cursor *c);

/** The first message of a type, or NULL. */
const struct hub_h5_message *h5_find(const struct hub_h5_object *object, uint16_t type);
static inline struct hub_cursor h5_body(const struct hub_h5_object *object,
                                        const struct hub_h5_message *message)
{
    return hub_cursor_of(object->bytes.data + message->offset, message->size);
}

/** A datatype message that is shared (flag 2) lies in another header: its bytes, appended to `out`. `c` is at
 * the shared part. */
HUB_MUST_USE enum hub_status h5_shared_type(struct hub_h5 *file, struct hub_cursor *c, struct hub_buf *out,
                                            struct hub_error *err);

/** Parse a datatype; `c` is advanced past it. Unknown and refused ones are OK with `unreadable`. */
HUB_MUST_USE enum hub_status h5_type_parse(struct hub_cursor *c, struct hub_h5_type *out,
                                           struct hub_error *err);
/** A member of a compound type. */
struct h5_member {
    struct hub_view name;
    uint32_t at;
    struct hub_h5_type type;
    struct hub_cursor bytes; /* of its type, for the members of its own */
};
typedef enum hub_status (*h5_type_member_fn)(void *user, const struct h5_member *member,
                                             struct hub_error *err);
/** Walk the members of a compound type; `c` is at its first byte and goes past it. */
HUB_MUST_USE enum hub_status h5_type_members(struct hub_cursor *c, h5_type_member_fn fn, void *user,
                                             struct hub_error *err);

/** Parse a dataspace: rank (HUB_NONE: null), dims, max dims (may be NULL). More than HUB_MAX_RANK:
 * HUB_UNSUPPORTED. */
HUB_MUST_USE enum hub_status h5_space_parse(const struct hub_h5 *file, struct hub_cursor *c, uint32_t *rank,
                                            uint64_t *dims, uint64_t *max_dims, struct hub_error *err);

/* ---- B-tree version 1 ---- */

/** Visit the symbol nodes of a group's tree in order. */
typedef enum hub_status (*h5_address_fn)(void *user, uint64_t address, struct hub_error *err);
HUB_MUST_USE enum hub_status h5_btree_groups(struct hub_h5 *file, uint64_t root, h5_address_fn fn, void *user,
                                             struct hub_error *err);

/** Put one chunk, by its position in chunks along each axis; those outside the extent are passed over. Checks
 * it lies in the file. */
HUB_MUST_USE enum hub_status h5_grid_put(struct hub_h5 *file, struct h5_grid *grid, const uint64_t *scaled,
                                         uint64_t address, uint64_t size, uint32_t mask,
                                         struct hub_error *err);
HUB_MUST_USE enum hub_status h5_btree_chunks(struct hub_h5 *file, uint64_t root, struct h5_grid *grid,
                                             struct hub_error *err);
/** Index types 1 to 5 of layout version 4. */
HUB_MUST_USE enum hub_status h5_index_chunks(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                             struct h5_grid *grid, struct hub_error *err);

/** The chunk table of a dataset, built or as built last; the file's until another dataset is asked for. */
HUB_MUST_USE enum hub_status h5_grid_of(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                        const struct h5_grid **out, struct hub_error *err);
void h5_grid_dispose(struct h5_grid *grid);

/* ---- B-tree version 2, fractal heap ---- */

typedef enum hub_status (*h5_record_fn)(void *user, struct hub_cursor *record, struct hub_error *err);
/** Visit all records; `type` must be the tree's own, `record_size` (may be NULL) is set before the first
 * visit. */
HUB_MUST_USE enum hub_status h5_btree2_walk(struct hub_h5 *file, uint64_t header, uint8_t type,
                                            uint16_t *record_size, h5_record_fn fn, void *user,
                                            struct hub_error *err);

struct h5_fractal {
    uint64_t address;
    uint16_t id_length, filter_length;
    uint8_t flags;
    uint32_t max_managed;
    uint64_t huge_tree;
    uint16_t width, max_bits;
    uint64_t start_size, max_direct;
    uint64_t root;
    uint16_t root_rows;
    uint8_t offset_bytes, length_bytes;
};
HUB_MUST_USE enum hub_status h5_fractal_open(struct hub_h5 *file, uint64_t address, struct h5_fractal *out,
                                             struct hub_error *err);
/** The object of a heap id (id_length bytes), replacing what `out` holds. */
HUB_MUST_USE enum hub_status h5_fractal_get(struct hub_h5 *file, const struct h5_fractal *heap,
                                            const uint8_t *id, struct hub_buf *out, struct hub_error *err);

/* ---- global heap ---- */

/** Absolute offset and length of a heap object. Index 0 or an undefined address: an empty item. */
HUB_MUST_USE enum hub_status h5_heap_find(struct hub_h5 *file, uint64_t collection, uint32_t index,
                                          struct hub_extent *out, struct hub_error *err);
/** A variable-length reference (4 bytes count, address, 4 bytes index): where the bytes of its items lie, of
 * text those before the first NUL. */
HUB_MUST_USE enum hub_status h5_heap_item(struct hub_h5 *file, const struct hub_h5_type *type,
                                          const uint8_t *reference, struct hub_extent *out,
                                          struct hub_error *err);
void h5_heap_dispose(struct hub_h5 *file);

/* ---- the library, for what has no codec here ---- */

/** Materialise the rows into side data with libhdf5 and fill a STRIDED piece. */
HUB_MUST_USE enum hub_status h5_library_rows(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                             struct hub_piece *piece, struct hub_error *err);
/** hub_h5_read of such a dataset: its elements are of one type that is no array. HUB_UNSUPPORTED. */
HUB_MUST_USE enum hub_status h5_library_read(struct hub_h5 *file, const struct hub_h5_dataset *dataset,
                                             uint64_t first, uint64_t count, void *out,
                                             struct hub_error *err);
void h5_library_close(struct hub_h5 *file);

#endif
