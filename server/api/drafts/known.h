/** What the pass that stored the files of a draft computed, once they are a dataset. */
#ifndef HUB_API_DRAFTS_KNOWN_H
#define HUB_API_DRAFTS_KNOWN_H

#include "server/api/drafts/facts.h"

/** Keep the digests of its files, which lie in their place: nobody has to read them for that; those of its
 * base go with its files. What cannot be kept is computed when somebody asks for it. */
void hub_draft_keep_digests(const struct hub_app *app, const struct hub_draft_row *row,
                            const struct hub_draft_facts *facts);

#endif
