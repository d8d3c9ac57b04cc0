/** Files of the hub's own that somebody changed in place. */
#ifndef HUB_MIRROR_EDITED_H
#define HUB_MIRROR_EDITED_H

#include "storage/model/file_facts.h"
#include "storage/scan/scan.h"
#include "storage/truth/damage.h"

enum { HUB_EDITED_BYTES = 400 };
/** Keep that it is another file than a commit has: `of`. What it is and the remedy stand in `why`. */
HUB_MUST_USE enum hub_status hub_edited_put(struct hub_truth *truth, const struct hub_hash_result *file,
                                            const char *commit, const struct hub_file_facts *of,
                                            char why[HUB_EDITED_BYTES], struct hub_error *err);
/** A file was hashed: keep that where the head of its dataset has another one. */
void hub_edited_look(struct hub_truth *truth, const struct hub_roots *roots,
                     const struct hub_hash_result *file);

#endif
