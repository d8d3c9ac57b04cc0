/**
 * Files of a dataset whose place another revision has taken: whoever reads the old state by its paths finds
 * them among the kept revisions (storage/ids/kept.h), until the new state is listed and his answer has ended.
 */
#ifndef HUB_READ_KEPT_FILE_H
#define HUB_READ_KEPT_FILE_H

#include "storage/io/roots.h"

/** Open the kept file that had this path and has this stamp. HUB_NOT_FOUND (without an error): none has. */
enum hub_status hub_kept_file_open(const struct hub_roots *roots, uint32_t root, const char *path,
                                   const struct hub_stamp *stamp, int *fd);

#endif
