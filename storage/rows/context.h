/**
 * What reading rows needs of the program that it is part of. Borrowed; alike for every call about the same
 * rows, but for `may_block` and `parallel`, which are of the thread that runs.
 */
#ifndef HUB_ROWS_CONTEXT_H
#define HUB_ROWS_CONTEXT_H

#include "storage/base/parallel.h"
#include "storage/catalog/catalog.h"
#include "storage/read/read.h"
#include "storage/truth/truth.h"

/** What is no longer as it was indexed. */
enum hub_rows_change { HUB_ROWS_FILE_CHANGED, HUB_ROWS_SIDE_LOST };

struct hub_rows_context {
    struct hub_catalog *catalog;
    struct hub_truth *truth;
    struct hub_store *store;
    bool may_block;                      /* else HUB_AGAIN where the thread would wait */
    const struct hub_parallel *parallel; /* spreads decoding, and is cancelled with the answer; or NULL */
    void *user;
    /** Has the dataset inspected again, and fails: HUB_CHANGED "dataset-changing". */
    enum hub_status (*changed)(void *user, const struct hub_summary *summary, enum hub_rows_change change,
                               struct hub_error *err);
    /** Counts the memory that a reader keeps between two blocks: it was `from` bytes and is `to`. */
    void (*resized)(void *user, uint64_t from, uint64_t to);
};

/** hub_rows_context.changed, of a file. */
static inline enum hub_status hub_rows_changed(const struct hub_rows_context *context,
                                               const struct hub_summary *summary, struct hub_error *err)
{
    return context->changed(context->user, summary, HUB_ROWS_FILE_CHANGED, err);
}

#endif
