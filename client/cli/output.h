/** Bytes of an answer to stdout, or into a file that is whole once it is there. */
#ifndef HUB_CLI_OUTPUT_H
#define HUB_CLI_OUTPUT_H

#include "client/cli/cli.h"
#include "storage/ids/representations.h"

/** Asks for the bytes: they go into the sink as they come. */
typedef enum minari_status output_fetch(struct cli *cli, minari_sink_fn sink, void *sink_user,
                                        struct minari_rows_info *info, void *user, struct minari_error *err);

/** Where -o points to; NULL: to stdout. */
const char *output_path(const struct cli *cli);
/**
 * --format, else what the name given to -o ends in, as numpy and people expect.
 *
 * @param least      the formats that the command writes hold at least this
 * @param otherwise  what a name that does not say is; NULL: it must
 * @return NULL, and reported: the name does not say, or is of a format that is not among them
 */
const char *output_format(const struct cli *cli, enum hub_table_rank least, const char *otherwise);
/** It is text, which a terminal shows. */
bool output_is_text(const char *format);
/** False, and reported: only text is written to a terminal. */
bool output_fits(const struct cli *cli, const char *path, bool text, const char *format);
/** Have it fetched, to `path` or stdout. An exit code. */
int output_save(struct cli *cli, const char *path, bool text, output_fetch *fetch, void *user);

#endif
