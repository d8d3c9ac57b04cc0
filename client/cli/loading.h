/** The line of Python that loads what was downloaded, for formats that are not Minari's. */
#ifndef HUB_CLI_LOADING_H
#define HUB_CLI_LOADING_H

#include "storage/base/buf.h"
#include "storage/base/error.h"

/**
 * Add the line to `out`; nothing where none is known, or minari.load_dataset is it.
 *
 * @param format     of the dataset, "files" where the remote does not know
 * @param directory  where it lies, with the record of its download
 * @param episodes   the numbers and ranges that it was downloaded for, NULL: all
 */
HUB_MUST_USE enum hub_status loading_line(const char *format, const char *directory, const char *episodes,
                                          struct hub_buf *out, struct hub_error *err);

#endif
