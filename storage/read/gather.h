/**
 * Gathering: a slice is cut at the pieces of its array, and each cut is read by the file of its piece kind.
 * The same code that reads a cut knows its price. Internal to storage/read.
 */
#ifndef HUB_READ_GATHER_H
#define HUB_READ_GATHER_H

#include "storage/read/box.h"
#include "storage/read/read.h"

/* Reads whose gap is at most GAP are made one of at most RUN bytes: with its page look-ups another system
 * call costs about what copying 10 KiB does, which is also an automatic chunk of h5py. */
enum { HUB_READ_GAP = 10 * 1024, HUB_READ_RUN = 256 * 1024 };

#define HUB_MAX_OUT (2 * GIB) /* of one slice */

/** What of a slice lies in one piece, lowest row first whatever the slice's direction. */
struct hub_cut {
    const struct hub_piece *piece;
    uint64_t row;         /* lowest, within the piece */
    uint64_t count, step; /* step >= 1 */
    uint64_t first;       /* index of the lowest row among the gathered ones */
    int direction;        /* 1 or -1: where the next one goes */
};

/** The cuts of a plan, in the order of rows. */
struct hub_cuts {
    const struct hub_plan *plan;
    uint64_t low, step, done;
    uint32_t piece;
};
struct hub_cuts hub_cuts_of(const struct hub_plan *plan);
bool hub_cuts_next(struct hub_cuts *cuts, struct hub_cut *out);

/** One call of hub_read. `offsets`, `pool` and `pooled` are for rows of varying length (VAR). */
struct hub_gather {
    const struct hub_plan *plan;
    unsigned flags;
    const struct hub_parallel *parallel;
    uint64_t row_bytes;
    uint8_t *data;
    uint8_t *valid;      /* one byte a value, made where the first null is met */
    uint64_t *offsets;   /* offsets[i + 1] is the length of row i until all are known */
    struct hub_buf pool; /* rows that had to be decoded when their lengths were asked for ... */
    uint64_t *pooled;    /* ... and where each is */
};

struct hub_price {
    uint64_t bytes_out, bytes_read, bytes_decode, reads, scratch;
    uint64_t steps, limit;
    double ns;
    bool nulls;              /* there may be some */
    struct hub_wants *wants; /* NULL: not noted */
    enum hub_status status;  /* of noting them */
};

/** May `n` more chunks, extents or pages be looked at? Else the price ends here. */
static inline bool hub_price_steps(struct hub_price *price, uint64_t n)
{
    price->steps += n;
    return price->steps < price->limit;
}

/** Bytes that the gathering of a cut is going to read. */
static inline void hub_price_want(struct hub_price *price, const struct hub_cut *cut, uint64_t offset,
                                  uint64_t size)
{
    if (price->wants && !price->status)
        price->status = hub_wants_add(price->wants, cut->piece->file, offset, size, NULL);
}

/** A piece kind: one const instance each, listed in plan.c. */
struct hub_piece_ops {
    /** Must. What a cut takes. */
    void (*price)(const struct hub_plan *plan, const struct hub_cut *cut, struct hub_price *price);
    /** How long the rows of a cut are, into g->offsets. NULL: rows of varying length cannot lie so. */
    enum hub_status (*lengths)(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err);
    /** Must. The rows of a cut into place; those of varying length when all lengths are known. */
    enum hub_status (*gather)(struct hub_gather *g, const struct hub_cut *cut, struct hub_error *err);
    /** The first row of the piece behind those that are decoded together with this one. NULL: each is read
     * alone. */
    uint64_t (*together)(const struct hub_layout *layout, const struct hub_variant *variant,
                         const struct hub_piece *piece, uint64_t row);
};
extern const struct hub_piece_ops hub_piece_strided, hub_piece_chunked, hub_piece_extents, hub_piece_pages,
    hub_piece_fill, hub_piece_inline;
const struct hub_piece_ops *hub_piece_ops(const struct hub_piece *piece);
/** The piece that a row of an array lies in. */
const struct hub_piece *hub_piece_of(const struct hub_layout *layout, const struct hub_array *array,
                                     uint64_t row);

/** Bytes of a file into memory: block by block, so that a gather that was cancelled ends within one. */
HUB_MUST_USE enum hub_status hub_gather_read(const struct hub_gather *g, struct hub_file *file,
                                             uint64_t offset, void *out, size_t size, struct hub_error *err);
/** The file of a piece. HUB_INVALID: nobody opened it. */
HUB_MUST_USE enum hub_status hub_gather_file(const struct hub_gather *g, const struct hub_piece *piece,
                                             struct hub_file **out, struct hub_error *err);

/** Where the lowest row of a cut goes, and how far it is from there to the next. */
static inline uint8_t *hub_cut_out(const struct hub_gather *g, const struct hub_cut *cut, int64_t *stride)
{
    *stride = cut->direction * (int64_t)g->row_bytes;
    return g->data + cut->first * g->row_bytes;
}

static inline uint64_t hub_cut_index(const struct hub_cut *cut, uint64_t i)
{
    return cut->direction > 0 ? cut->first + i : cut->first - i;
}

/* gather_strided.c */
/** Read a simplified box whose `from` strides are a file's, its first element at `offset`. */
HUB_MUST_USE enum hub_status hub_box_read(const struct hub_gather *g, struct hub_file *file, uint64_t offset,
                                          const struct hub_box *box, uint8_t *to, struct hub_error *err);
/** What that takes; `offset` as there. */
void hub_box_price(const struct hub_cut *cut, const struct hub_box *box, uint64_t offset,
                   struct hub_price *price);

/* What things take on warm pages, in nanoseconds; measured by tests/bench/micro_gather.c, rounded up. */
#define HUB_NS_PLAN 300.0      /* a plan, its checks and its output */
#define HUB_NS_READ 350.0      /* a system call */
#define HUB_NS_READ_BYTE 0.05  /* page cache to memory */
#define HUB_NS_COPY_BYTE 0.04  /* memory to memory */
#define HUB_NS_MOVE 0.8        /* one element or run of a scatter */
#define HUB_NS_UNPACK_BYTE 0.8 /* decoded by snappy, zstd, lz4 */
#define HUB_NS_CHUNK 60.0      /* finding and preparing a chunk, page or extent */
#define HUB_NS_VALUE 1.5       /* a Parquet value taken */
#define HUB_NS_SKIP 1.2        /* a Parquet level or length passed over */
#define HUB_NS_SKIP_RUN 0.2    /* ... a value in runs, without levels */

#endif
