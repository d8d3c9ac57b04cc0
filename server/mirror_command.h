/** `minari-hub mirror`: rules made, shown and changed, through the running hub, or in its state directory when none
 * runs. */
#ifndef HUB_SERVER_MIRROR_COMMAND_H
#define HUB_SERVER_MIRROR_COMMAND_H

#include "server/config.h"
#include "storage/catalog/truth.h"
#include "storage/text/json.h"

struct hub_catalog;

enum { HUB_MIRROR_OPTIONS = 20 };
/** Its options, as data: how many. */
size_t hub_mirror_usage(struct hub_usage_option out[HUB_MIRROR_OPTIONS]);

/** Make the rules of the configuration file what it says; those that it no longer has are removed. HUB_INVALID names the
 * section. */
HUB_MUST_USE enum hub_status hub_mirror_configure(const struct hub_config *config, struct hub_truth *truth,
                                                  struct hub_error *err);

/** A rule's document in two or three lines. */
void hub_mirror_print(const json_t *rule);

/** "500K", "50M", "2G". */
bool hub_mirror_bytes(const char *text, json_int_t *out);

/** @param argv  what stands behind "mirror"; those that are settings are left to be read as such
 *  @return an exit code */
int hub_mirror_command(char **argv);

#endif
