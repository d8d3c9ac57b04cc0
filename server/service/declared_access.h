/** Access rules and tokens out of the configuration: the lines of [access], read-token-file and
 * write-token-file. */
#ifndef HUB_SERVICE_DECLARED_ACCESS_H
#define HUB_SERVICE_DECLARED_ACCESS_H

#include "server/config/config.h"
#include "storage/truth/live_access.h"

/** Names of the tokens of the two files. */
#define HUB_READ_TOKEN_NAME "read-token-file"
#define HUB_WRITE_TOKEN_NAME "write-token-file"

/**
 * Read what the configuration declares; dispose it whatever happens.
 * @param make  a token file that is not there is made, with a new token and for its owner alone; else it
 *              declares its rules and no token
 * @return HUB_INVALID names the line or the file
 */
HUB_MUST_USE enum hub_status hub_access_declare(const struct hub_config *config, bool make,
                                                struct hub_declared_access *out, struct hub_error *err);

/**
 * Read again, while the hub runs, what the configuration declares, and put it in force: the lines of [access]
 * and the content of the two token files, whose paths are those of the start. A file that is not there is
 * made. On a failure all stays in force as it is.
 */
HUB_MUST_USE enum hub_status hub_access_reload(const struct hub_config *config, struct hub_live_access *live,
                                               struct hub_error *err);

#endif
