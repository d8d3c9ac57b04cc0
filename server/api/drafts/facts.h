/** All files of a draft, as its publication wants them. */
#ifndef HUB_API_DRAFTS_FACTS_H
#define HUB_API_DRAFTS_FACTS_H

#include "server/api/drafts/draft.h"
#include "storage/drafts/publish.h"
#include "storage/remote/remote.h"

struct hub_draft_facts {
    struct hub_remote_files files;       /* sorted by path bytes, with their SHA-256 */
    char tree[2 * HUB_SHA256_BYTES + 1]; /* names them all: hub_content */
};
/** @param draft  where their times are looked up; NULL: they have none
 *  @return HUB_INVALID "draft-refused": a file is not whole, or there is none */
HUB_MUST_USE enum hub_status hub_draft_facts_read(const struct hub_app *app, const struct hub_draft_row *row,
                                                  const struct hub_draft_folder *draft,
                                                  struct hub_draft_facts *out, struct hub_error *err);
/** Where it goes, by its row, which names the commit. */
struct hub_draft_place hub_draft_place_of(const struct hub_draft_row *row);
/** The commit that publishes it, by its row and its facts, which lend their texts. */
void hub_draft_commit_of(const struct hub_draft_row *row, const struct hub_draft_facts *facts,
                         const char *message, struct hub_commit *out);
void hub_draft_facts_dispose(struct hub_draft_facts *facts);

#endif
