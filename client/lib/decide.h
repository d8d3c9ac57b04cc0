/** Whether to download, and what to say about it: Minari's own order of decisions, without a network or a
 * disk. */
#ifndef HUB_CLIENT_DECIDE_H
#define HUB_CLIENT_DECIDE_H

#include "storage/base/buf.h"

#include <minari/dataset.h>

/**
 * @param chosen    what was asked for, resolved
 * @param versions  all versions of that name
 * @param release   the Minari release that must read it, or NULL
 * @param force     incompatible is then a notice, not an error
 * @param notices   lines for a person are appended, each ending in a newline
 * @return HUB_UNSUPPORTED "incompatible" with the remedy
 */
HUB_MUST_USE enum hub_status hub_decide(const struct minari_summary *chosen,
                                        const struct minari_summary *versions, size_t count,
                                        const char *release, bool force, struct hub_buf *notices,
                                        struct hub_error *err);

#endif
