/**
 * Windows: the same number of steps of many episodes, each field one array (windows, length, ...). They are
 * planned, priced, fetched and written together, so that what several of them need is read once. A plan
 * borrows the datasets and holds the layouts and files it needs until it is disposed. For workers:
 * everything may block.
 */
#ifndef HUB_API_ROWS_WINDOWS_H
#define HUB_API_ROWS_WINDOWS_H

#include "server/api/episodes/episode_selection.h"
#include "storage/encode/representation.h"
#include "storage/read/scatter.h"

#define HUB_MAX_WINDOWS 4096
#define HUB_MAX_WINDOW_LENGTH 1000000

/** What stands where an episode has no more steps. */
enum hub_pad { HUB_PAD_REFUSE, HUB_PAD_EDGE, HUB_PAD_ZERO };

/** Steps [start, start + steps) of an episode; those up to the length of all windows are padded. */
struct hub_window_query {
    uint32_t dataset; /* which of them */
    const struct hub_dataset_episode *episode;
    uint64_t start, steps;
};

struct hub_windows_query {
    const struct hub_dataset *const *datasets;
    uint32_t dataset_count;
    /* of each dataset, those of the same place have the same name */
    const struct hub_named_fields *fields;
    const struct hub_window_query *windows;
    uint32_t count;
    uint64_t length;
    bool final_row; /* fields of states have a row more */
    enum hub_pad pad;
    const struct hub_representation *as; /* hub_windows_format */
    const char *counted;                 /* the parameter that says how many windows there are */
};

/** One field in the answer. */
struct hub_windows_field {
    const char *name;
    enum hub_field_type type;
    uint64_t rows; /* of a window */
    bool bare;     /* single values: no axis for them */
    bool mixed;    /* texts or files whose sizes are stored in several ways */
    struct hub_scatter many;
};

/** What lies in one part of a dataset. */
struct hub_windows_source;

struct hub_windows {
    struct hub_windows_query query; /* its arrays are the caller's */
    struct hub_windows_field *fields;
    uint32_t field_count;
    struct hub_windows_source *sources; /* by dataset and part */
    uint32_t source_count;
    struct hub_plan_files **lists; /* of the sources */
    struct hub_wants wants;
    struct hub_file_fetch *fetch;
    uint64_t bytes_out, memory, cost_us;
};

/** npz, or arrow: by ?format=, then Accept. */
HUB_MUST_USE enum hub_status hub_windows_format(const struct hub_request *request,
                                                const struct hub_representation **out, struct hub_error *err);

/**
 * Where the rows lie: no file is touched. Reserves the memory it takes. HUB_NOT_FOUND "field-not-found": an
 * episode lacks a field; HUB_UNSUPPORTED "field-unreadable"; HUB_NOT_ACCEPTABLE; HUB_INVALID
 * "bad-parameter": rows of several shapes or types, or fields shorter than their episodes where nothing is
 * padded; HUB_TOO_BIG.
 */
HUB_MUST_USE enum hub_status hub_windows_plan(struct hub_request *request, struct hub_response *response,
                                              const struct hub_windows_query *query, struct hub_windows *out,
                                              struct hub_error *err);
/** Of a zeroed one: nothing. */
void hub_windows_dispose(struct hub_windows *windows);

/**
 * The answer, from a plan: the fields, `mask` (windows, length), `episode` and `start` (windows). HUB_AGAIN
 * for bytes: the same plan is to be answered when they are there; HUB_AGAIN for a heavy thread or for
 * memory: from the start.
 */
HUB_MUST_USE enum hub_status hub_windows_answer(struct hub_request *request, struct hub_windows *windows,
                                                struct hub_response *response, struct hub_error *err);

/* ---- within windows ---- */

/** HUB_TOO_BIG "too-large". */
HUB_MUST_USE enum hub_status hub_windows_too_large(const struct hub_windows *windows, const char *what,
                                                   struct hub_error *err);
/** No field has the name of an array of every answer. */
HUB_MUST_USE enum hub_status hub_windows_check_names(const struct hub_windows *windows,
                                                     struct hub_error *err);
/** All of it, from files that are open and fetched; with how many nulls. */
HUB_MUST_USE enum hub_status hub_windows_write(struct hub_request *request, struct hub_response *response,
                                               const struct hub_windows *windows, struct hub_buf *out,
                                               uint64_t *nulls, struct hub_error *err);

#endif
