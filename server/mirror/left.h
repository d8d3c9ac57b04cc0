/** What a pass of a rule did not list: as JSON for hub.db, and as a sentence. */
#ifndef HUB_MIRROR_LEFT_H
#define HUB_MIRROR_LEFT_H

#include "server/mirror/work.h"

/** Keep it with the rule, and report it if it is another than before. */
HUB_MUST_USE enum hub_status hub_left_note(struct hub_mirror_work *work, const struct hub_remote_left *left,
                                           struct hub_error *err);

/** As JSON; NULL: no memory. */
json_t *hub_left_document(const struct hub_remote_left *left);

/** "26 files (1.2 GB) left out, not datasets of Minari: docs, robots, ... (4 places)". `left` as in hub_rule;
 * NULL: "". */
void hub_left_text(const json_t *left, const char *only, char *out, size_t size);

#endif
