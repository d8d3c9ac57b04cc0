/** A rule as a document: for the API and for the command line. */
#ifndef HUB_MIRROR_DOCUMENT_H
#define HUB_MIRROR_DOCUMENT_H

#include "storage/io/roots.h"
#include "storage/text/json.h"
#include "storage/truth/rules.h"

/** @param local  for the admin of this machine: with paths, and errors in full
 *  @param note   what its maker should know, or "" */
void hub_mirror_write(struct hub_json *json, const struct hub_rule *rule, const struct hub_roots *roots,
                      bool local, const char *note);
/** "idle", "running", "paused", "failing". */
const char *hub_mirror_state(const struct hub_rule *rule);
/** Seconds since all was as upstream; since it was made, where it never was. */
int64_t hub_mirror_lag_s(const struct hub_rule *rule);
/** What everybody may see of the text of an error: its name. */
struct hub_view hub_mirror_error(const char *error, bool local);

#endif
