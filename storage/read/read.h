/**
 * Reading rows: a plan (which rows of which array) is priced, then gathered into memory by a file store. No
 * container is parsed here: only extents that a checked layout names are read and only codecs run.
 *
 * Thread-safety: stores are safe from any thread; a plan belongs to one thread at a time.
 */
#ifndef HUB_READ_READ_H
#define HUB_READ_READ_H

#include "storage/base/parallel.h"
#include "storage/io/fetch.h"
#include "storage/io/roots.h"
#include "storage/model/layout.h"

/* ---- file stores ---- */

struct hub_file_ref {
    /* number of the root it lies under; HUB_ROOT_STATE: the state directory (sealed side data) */
    uint32_t root;
    const char *path;               /* relative to the root */
    const struct hub_stamp *expect; /* NULL: any */
    bool if_open; /* with `expect`, for threads that must not block: HUB_AGAIN unless it is open already */
};
#define HUB_ROOT_STATE UINT32_MAX

struct hub_store;

struct hub_store_options {
    const struct hub_roots *roots; /* borrowed until the store is closed */
    const char *state;             /* state directory */
    uint32_t max_open;             /* cached descriptors; default 512 */
    /** NULL, or asked about each file of a root that is handed out: anything but HUB_OK is the answer. Must
     * not block. */
    enum hub_status (*admit)(void *user, uint32_t root, const char *path, const struct hub_stamp *stamp,
                             struct hub_error *err);
    void *user;
};

/** A kind of store: one const instance each. What the functions do is said below. */
struct hub_store_kind {
    bool in_place; /* the bytes of all its files */
    enum hub_status (*open)(const struct hub_store_options *options, struct hub_store **out,
                            struct hub_error *err);
    void (*close)(struct hub_store *store);
    enum hub_status (*get)(struct hub_store *store, const struct hub_file_ref *ref, struct hub_file **out,
                           struct hub_error *err);
    void (*forget)(struct hub_store *store, uint32_t root, const char *prefix);
};
extern const struct hub_store_kind hub_store_local;
/** The one of this program. */
extern const struct hub_store_kind *const hub_store_kind;

HUB_MUST_USE enum hub_status hub_store_open(const struct hub_store_options *options, struct hub_store **out,
                                            struct hub_error *err);
/** After the last fetch of its files was done or failed. */
void hub_store_close(struct hub_store *store);
/** No file of this store has to be fetched: nobody needs to note what is read. */
bool hub_store_in_place(void);

/**
 * A file, counted: the store keeps recently used ones open (an LRU of descriptors). One whose stamp is not
 * the expected one is HUB_CHANGED ("dataset-changing"). Opened beneath the root (openat2 RESOLVE_BENEATH,
 * else a walk with O_NOFOLLOW; a link is followed only to a root or an allowed target). Blocking only on a
 * cold directory entry. HUB_NOT_FOUND, HUB_DENIED, HUB_CHANGED, HUB_BUSY (too many open files), and what
 * `admit` says.
 */
HUB_MUST_USE enum hub_status hub_file_get(struct hub_store *store, const struct hub_file_ref *ref,
                                          struct hub_file **out, struct hub_error *err);
/** Drop cached descriptors of a path prefix (a dataset was replaced). */
void hub_store_forget(struct hub_store *store, uint32_t root, const char *prefix);

/* ---- plans ---- */

/** Rows start, start+step, ... (count of them) within a window; step may be negative, never 0. */
struct hub_slice {
    uint64_t start, count;
    int64_t step;
};

/** Python's rules: absent bounds, negative indices, clamping. HUB_INVALID for step 0. Never fails
 * otherwise. */
HUB_MUST_USE enum hub_status hub_slice_resolve(const int64_t *start, const int64_t *stop, const int64_t *step,
                                               uint64_t rows, struct hub_slice *out, struct hub_error *err);
/** Of the rows that a slice names, those below `rows`. */
void hub_slice_within(struct hub_slice *slice, uint64_t rows);

/** A file that a plan reads. */
struct hub_plan_file {
    uint32_t number;       /* of the layout, or HUB_SIDE_FILE */
    struct hub_file *file; /* NULL until somebody opens it; then the list's reference */
};

/** The files of all plans of one answer, each once, by number. Zeroed at first; grows as plans are priced. */
struct hub_plan_files {
    struct hub_plan_file *items;
    uint32_t count, capacity;
    struct hub_wants *wants; /* where is noted what of them is read, to be fetched; NULL: all lies in place */
    const struct hub_file_fetch *fetch; /* of these wants, once it is done */
};
/** One that is open, borrowed; else NULL. */
struct hub_file *hub_plan_files_get(const struct hub_plan_files *files, uint32_t number);
void hub_plan_files_close(struct hub_plan_files *files); /* the list stays */
void hub_plan_files_dispose(struct hub_plan_files *files);

/** What of a block's last chunks and pages the next block is going to take: decoded, so that each is decoded
 * once by a reader in blocks, however large it is and whatever else is read meanwhile. Zeroed at first; of
 * one reader of one field. */
enum { HUB_HELD = 4 };
struct hub_decoded;
struct hub_held {
    struct hub_decoded *before[HUB_HELD], *now[HUB_HELD]; /* of the last read; of the present one */
    atomic_uint count;                                    /* of the present one */
};
uint64_t hub_held_bytes(const struct hub_held *held);
void hub_held_dispose(struct hub_held *held);

struct hub_plan {
    const struct hub_layout *layout; /* checked; must outlive the plan */
    const struct hub_array *array;
    const struct hub_variant *variant;
    struct hub_plan_files *files; /* where those that it reads are noted, and found open; NULL: only priced */
    struct hub_slice slice;       /* in rows of the array: window already added */
    uint64_t step_limit;          /* 0: none; else fewer chunks, extents and pages than that are looked at */
    uint32_t column;              /* 0: whole rows; else see hub_plan_column */
    struct hub_held *held;        /* of the reader whose block it is; NULL: no other block follows */

    /* filled by hub_plan_price */
    uint32_t piece;        /* of the array, that holds the lowest row */
    uint64_t steps;        /* chunks, extents and pages that were looked at */
    uint64_t bytes_out;    /* of the gathered rows (VAR: upper bound) */
    uint64_t bytes_read;   /* stored bytes to be read */
    uint64_t bytes_decode; /* decoded bytes of filtered chunks and pages */
    uint32_t reads;        /* preads */
    bool nulls;            /* there may be some */
    uint64_t scratch_peak; /* bytes of scratch memory besides the output, for one thread */
    uint32_t cost_us;      /* estimate for warm pages, one thread */
};

/** Items of a row that a chunk holds, where rows of one axis lie in several chunks beside each other, all of
 * one width; else 0. */
uint32_t hub_array_column(const struct hub_layout *layout, const struct hub_array *array);
/** Before the price: of the rows only what lies in one of these chunks, from 0. `narrow` becomes the plan's
 * variant, and is borrowed. */
void hub_plan_column(struct hub_plan *plan, uint32_t column, struct hub_variant *narrow);

/** Walk the slice: fill the price and note the files. No I/O. HUB_TOO_BIG over 2 GiB out; HUB_AGAIN at the
 * limit of steps. */
HUB_MUST_USE enum hub_status hub_plan_price(struct hub_plan *plan, struct hub_error *err);

/** Gathered rows. Fixed-size variants: `data` holds rows * row_bytes, C order, file byte order, `offsets` is
 * NULL. VAR: row i is data[offsets[i] .. offsets[i+1]]. */
struct hub_rows {
    struct hub_variant variant;
    uint64_t rows;
    uint8_t *data;
    uint64_t *offsets;
    uint8_t *valid;   /* NULL: all are; else one byte a value (rows x values of a row, C order): 0 where the
                        file has a null, whose data is zero, NaN or no bytes */
    bool owned;       /* data is freed by hub_rows_dispose */
    uint64_t windows; /* not 0: they stand in so many windows, perhaps of no rows, one axis more */
};
void hub_rows_dispose(struct hub_rows *rows);
/** Rows of one size that are files padded with zeros become rows of their own length. HUB_NO_MEMORY. */
HUB_MUST_USE enum hub_status hub_rows_trim(struct hub_rows *rows, struct hub_error *err);
/** How many values are null. */
uint64_t hub_rows_nulls(const struct hub_rows *rows);

/**
 * Gather the rows of a priced plan whose files are open.
 * @param into  where fixed-size rows go (plan->bytes_out bytes), e.g. behind an npy header; NULL: allocated.
 * VAR always allocates.
 */
HUB_MUST_USE enum hub_status hub_read(const struct hub_plan *plan, unsigned flags,
                                      const struct hub_parallel *parallel, void *into, struct hub_rows *out,
                                      struct hub_error *err);

#endif
