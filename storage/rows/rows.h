/**
 * Rows of fields of one episode: chosen, planned, priced, read. A selection borrows the dataset and holds
 * the layouts and files it needs until it is disposed. Once it is priced it stays where it is: its plans
 * name its files.
 */
#ifndef HUB_ROWS_ROWS_H
#define HUB_ROWS_ROWS_H

#include "storage/rows/context.h"

/** One field's rows. */
struct hub_selected_field {
    uint32_t field;
    struct hub_layout_ref *layout;
    struct hub_plan plan;
    struct hub_slice slice; /* within the window: for X-headers and tests */
    bool bare;              /* one row, without the leading axis: ?row=, or a single value */
};

#define HUB_MAX_SELECTED 256

struct hub_selection {
    const struct hub_dataset *dataset;
    const struct hub_dataset_episode *episode;
    struct hub_selected_field *fields;
    uint32_t count;
    struct hub_plan_files files;  /* that the priced fields read */
    struct hub_wants wants;       /* what they read, where that has to be fetched */
    struct hub_file_fetch *fetch; /* of these, once it began */
    uint64_t bytes_out, bytes_fetched, scratch, cost_us;
};

/** Which rows: as given, before resolution. */
struct hub_row_range {
    bool has_start, has_stop, has_step, has_row;
    int64_t start, stop, step, row;
    bool by_steps;  /* aligned: cut in steps, then mapped to each field's axis */
    bool final_row; /* with by_steps: `state` fields get the row after the last step too */
    /* with by_steps: without the last step where actions end with a sentinel, as those of `shifted` rows
     * do */
    bool drop_sentinel;
    bool of_several; /* a slice is not of those that are single values */
};

/** Rows of some fields of an episode. */
struct hub_row_query {
    const struct hub_dataset *dataset;
    const struct hub_dataset_episode *episode;
    const uint32_t *fields;
    uint32_t count;
    const struct hub_row_range *range;
};

/**
 * Which rows of the fields of an episode: enough to name them in an ETag. No file is touched. Blocking only
 * where the context may block; else HUB_AGAIN. HUB_NOT_FOUND "field-not-found" (field has no rows in this
 * episode), HUB_UNSUPPORTED "field-unreadable", HUB_INVALID "bad-slice".
 */
HUB_MUST_USE enum hub_status hub_select(const struct hub_rows_context *context,
                                        const struct hub_row_query *query, struct hub_selection *out,
                                        struct hub_error *err);
void hub_selection_dispose(struct hub_selection *selection);

/** What they will cost: bytes_out, scratch, cost_us. On an event thread HUB_AGAIN where many chunks have to
 * be looked at. HUB_TOO_BIG. */
HUB_MUST_USE enum hub_status hub_selection_price(const struct hub_rows_context *context,
                                                 struct hub_selection *selection, struct hub_error *err);

/** Open those of a list that are not, files of a part of the dataset: as hub_selection_open. */
HUB_MUST_USE enum hub_status hub_rows_open(const struct hub_rows_context *context,
                                           const struct hub_dataset *dataset, uint32_t part,
                                           struct hub_plan_files *files, struct hub_error *err);

/** Open the files they lie in. HUB_CHANGED: one is not what was indexed; the dataset is inspected again
 * soon. */
HUB_MUST_USE enum hub_status hub_selection_open(const struct hub_rows_context *context,
                                                struct hub_selection *selection, struct hub_error *err);

/** Have what they read fetched, where it does not lie in place. HUB_AGAIN: it is coming, as
 * selection->fetch; to be called again when that is done. */
HUB_MUST_USE enum hub_status hub_selection_fetch(struct hub_selection *selection, struct hub_error *err);

/** Read one field. On an event thread only from warm pages (HUB_AGAIN). */
HUB_MUST_USE enum hub_status hub_selection_read(const struct hub_rows_context *context,
                                                const struct hub_selection *selection,
                                                const struct hub_selected_field *selected, void *into,
                                                struct hub_rows *rows, struct hub_error *err);
/** After the last read: every file is still the one that was indexed. */
HUB_MUST_USE enum hub_status hub_selection_unchanged(const struct hub_rows_context *context,
                                                     const struct hub_selection *selection,
                                                     struct hub_error *err);

#endif
