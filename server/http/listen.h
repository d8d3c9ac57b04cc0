/** The listening socket. */
#ifndef HUB_HTTP_LISTEN_H
#define HUB_HTTP_LISTEN_H

#include "storage/base/error.h"

/** Listen on a numeric address; port 0 takes any free one. */
HUB_MUST_USE enum hub_status hub_listen(const char *address, uint16_t port, int backlog, int *fd,
                                        uint16_t *bound, struct hub_error *err);

#endif
