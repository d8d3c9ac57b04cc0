/* Shared by the files of the driver: folders, their tables and the plan (datasets.c), and what a part reports
 * (part.c). */
#ifndef HUB_FORMATS_DATASETS_H
#define HUB_FORMATS_DATASETS_H

#include "storage/formats/kit/table_kit.h"

enum { DATASETS_MAX_ROWS = 16 * 1024 * 1024 }; /* up to which the numbers of a column are read */

/** An episode: its rows in a table of steps; in one of trajectories its row. */
struct datasets_episode {
    int64_t number;
    uint64_t first, count;
};

/** One folder: its table and the episodes in it. */
struct datasets_folder {
    struct hub_files *files;
    struct hub_sink *sink; /* NULL: problems were or will be reported by another walk */
    char prefix[HUB_MAX_PATH], split[256];
    json_t *state;
    struct hub_table table; /* of the batches of all its files */
    uint32_t opened, failed;
    struct hub_error first_failure;
    bool trajectories;
    struct datasets_episode *cuts;
    uint32_t count, capacity;
    bool numbered;              /* the numbers of the cuts are the format's own */
    uint64_t *offsets;          /* trajectories: of the items of the column at hand, by row */
    struct hub_window *windows; /* of the column at hand, by cut */
};

/** Read state.json, open the files that it names, and find the episodes. `files`, `sink` and `prefix` are
 * given; to be disposed of whatever it says. */
HUB_MUST_USE enum hub_status datasets_folder_load(struct datasets_folder *folder, struct hub_error *err);
void datasets_folder_dispose(struct datasets_folder *folder);

/** The driver's inspect function. */
HUB_MUST_USE enum hub_status datasets_inspect(struct hub_files *files, const struct hub_part *part,
                                              struct hub_sink *sink, struct hub_error *err);

#endif
