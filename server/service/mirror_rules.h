/** The rules that the configuration asks for. */
#ifndef HUB_SERVICE_MIRROR_RULES_H
#define HUB_SERVICE_MIRROR_RULES_H

#include "server/config/config.h"
#include "storage/truth/truth.h"

/** Make the rules of the configuration file what it says; those that it no longer has are removed.
 * HUB_INVALID names the section. */
HUB_MUST_USE enum hub_status hub_mirror_configure(const struct hub_config *config, struct hub_truth *truth,
                                                  struct hub_error *err);

#endif
