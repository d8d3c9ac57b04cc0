/** Tar archives among the files of a job: storage/io/tar.h reads them. Sparse members are refused. Names are
 * labels: nothing here or above uses one as a path. */
#ifndef HUB_FORMATS_TAR_H
#define HUB_FORMATS_TAR_H

#include "storage/formats/source.h"
#include "storage/io/tar.h"

void hub_tar_init(struct hub_tar *tar, struct hub_byte_source *source);

#endif
