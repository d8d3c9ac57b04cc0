/** What is known of a dataset, as lines and tables for people. */
#ifndef HUB_CLI_DESCRIBE_H
#define HUB_CLI_DESCRIBE_H

#include "client/cli/cli.h"

/**
 * Print it.
 *
 * @param doc       a document of the API, or of minari-inspect, which has the same members
 * @param where     "at http://hub:8080"
 * @param download  the command that downloads it; NULL: it is here
 */
void describe(const struct cli *cli, const char *id, const json_t *doc, const char *where,
              const char *download);

#endif
