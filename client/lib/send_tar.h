/** Files of a folder into a draft as one tar, which is made while it is sent: one request for many small
 * files. */
#ifndef HUB_CLIENT_SEND_TAR_H
#define HUB_CLIENT_SEND_TAR_H

#include "client/lib/send.h"

/**
 * Send what is not there, once. What came of it is then asked of the draft: the states stay as they are.
 * @return HUB_IO, HUB_BUSY and HUB_TIMEOUT: it broke off; what came before is in the draft. HUB_CHANGED: a
 * file changes meanwhile
 */
HUB_MUST_USE enum hub_status hub_send_tar(struct hub_send *send, struct hub_error *err);

#endif
