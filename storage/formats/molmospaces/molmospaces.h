/* Shared by the files of the MolmoSpaces driver: what the path of a file says. */
#ifndef HUB_FORMATS_MOLMOSPACES_H
#define HUB_FORMATS_MOLMOSPACES_H

#include "storage/formats/kit/h5_kit.h"
#include "storage/formats/mp4/videos.h"

#include <stdio.h>

#define MOLMO_PREFIX "traj_"
#define MOLMO_INDEX "valid_trajectory_index.json"
/* Of a part: what the index says of its file, as JSON; or "house_12", of the files of a dataset that is one.
 * */
enum { MOLMO_HINT_BYTES = 4000 };

struct molmo_location {
    struct hub_view split;  /* "train", or empty */
    struct hub_view folder; /* with its slash, or empty */
    unsigned order;         /* of splits, 0: none */
    int64_t house, batch;   /* -1: not said */
};

/** "house_12/x" or "house_12" -> 12 */
bool molmo_house_of(struct hub_view path, int64_t *house);
/** False: not a file of trajectories. Views borrow from `path`. */
bool molmo_location_of(struct hub_view path, struct molmo_location *out);

/** A file of trajectories that was in an archive, unpacked to the side data. */
struct molmo_packed {
    struct hub_view path; /* in the archive */
    struct hub_view split;
    uint32_t shard; /* the file of the dataset that holds the archive */
    uint64_t offset, size;
};
/** Its episodes. Their videos stay in the archive: each is missing, and says so. */
HUB_MUST_USE enum hub_status molmo_inspect_packed(struct hub_files *files, const struct molmo_packed *packed,
                                                  struct hub_sink *sink, struct hub_error *err);

HUB_MUST_USE enum hub_status molmo_inspect(struct hub_files *files, const struct hub_part *part,
                                           struct hub_sink *sink, struct hub_error *err);

/** The statistics below `path` of the file, as an object of JSON; nothing where there are none. `whole`
 * false: they are too large for `out`, or cannot be read, and nothing is there either. */
HUB_MUST_USE enum hub_status molmo_statistics(struct hub_h5_tree *stats, uint64_t root, const char *path,
                                              struct hub_buf *out, bool *whole, struct hub_error *err);

#endif
