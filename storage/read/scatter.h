/**
 * Rows from many places into one destination: windows of many episodes of a field, or all rows of many
 * episodes. Parts that share a chunk or page are read together, so that each is decoded once, and
 * neighbours are one read; where files do not lie in place, what all of them read is fetched at once.
 *
 * Thread-safety: as of plans.
 */
#ifndef HUB_READ_SCATTER_H
#define HUB_READ_SCATTER_H

#include "storage/read/read.h"

/** Rows of one array, one after another, and where they go. */
struct hub_scatter_part {
    const struct hub_layout *layout; /* checked; must outlive it */
    const struct hub_array *array;
    struct hub_plan_files *files; /* that they lie in, as of a plan */
    uint64_t first, count;        /* rows of the array */
    uint64_t to;                  /* which row of the destination the first one is */
    uint64_t repeat;              /* so many rows of the destination behind them are the last one again */
};

struct hub_scatter_span; /* rows that are read together */

/** How rows of one size come out where `variant` is VAR. */
enum hub_scatter_sized {
    HUB_SIZED_WHOLE,   /* all bytes */
    HUB_SIZED_TEXT,    /* up to the padding of a text */
    HUB_SIZED_TRIMMED, /* without zeros at their end, as of files */
};

struct hub_scatter {
    struct hub_variant variant; /* of all the arrays; VAR: some of them may have rows of one size */
    enum hub_scatter_sized sized;
    uint64_t rows; /* of the destination; those that belong to no part are zeros, or empty */
    /* borrowed; hub_scatter_price puts them in another order. No two go to the same row */
    struct hub_scatter_part *parts;
    uint32_t count;

    /* filled by hub_scatter_price */
    struct hub_scatter_span *runs;
    uint32_t run_count;
    bool sparse;           /* there are rows of no part */
    bool nulls;            /* there may be some */
    uint64_t bytes_out;    /* of the destination's rows (VAR: upper bound) */
    uint64_t bytes_decode; /* decoded bytes of filtered chunks and pages */
    uint64_t memory;       /* that it takes besides these rows */
    uint64_t cost_ns;      /* estimate for warm pages, one thread */
};

/** Which rows are read together, what they cost, and which files they lie in. No I/O. HUB_TOO_BIG over 2 GiB
 * out. */
HUB_MUST_USE enum hub_status hub_scatter_price(struct hub_scatter *many, struct hub_error *err);
/** What hub_scatter_price made of it; the parts stay. Of a zeroed one: nothing. */
void hub_scatter_dispose(struct hub_scatter *many);

/** Rows of a priced one whose files are open. Arguments as of hub_read, `into` for many->bytes_out bytes. */
HUB_MUST_USE enum hub_status hub_scatter_run(const struct hub_scatter *many,
                                             const struct hub_parallel *parallel, void *into,
                                             struct hub_rows *out, struct hub_error *err);

/** What several lists of files want, each in its `wants`, as one list to be fetched: the files are open. */
HUB_MUST_USE enum hub_status hub_scatter_wants(struct hub_plan_files *const *lists, uint32_t count,
                                               struct hub_wants *out, struct hub_error *err);

#endif
