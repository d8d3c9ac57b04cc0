/** The listening socket. */
#ifndef HUB_HTTP_LISTEN_H
#define HUB_HTTP_LISTEN_H

#include "storage/base/error.h"

#include <stdbool.h>

/** Listen on a numeric address; port 0 takes any free one. */
HUB_MUST_USE enum hub_status hub_listen(const char *address, uint16_t port, int backlog, int *fd,
                                        uint16_t *bound, struct hub_error *err);
/** Listen on the Unix socket `path`/`name`, mode 0600; one left behind is replaced. The path may be long. */
HUB_MUST_USE enum hub_status hub_listen_local(const char *path, const char *name, int backlog, int *fd,
                                              struct hub_error *err);
/** Remove its name. */
void hub_listen_local_end(const char *path, const char *name);
/** True when the process at the other end of a Unix socket runs as our user or as root. */
bool hub_peer_is_ours(int fd);

#endif
