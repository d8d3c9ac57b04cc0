/** Drafts that nobody works on any more, and those that a start of the hub finds. */
#ifndef HUB_API_DRAFTS_TIDY_H
#define HUB_API_DRAFTS_TIDY_H

#include "server/api/app.h"
#include "storage/truth/drafts.h"

/** End drafts that were not changed for HUB_DRAFT_DAYS, and revisions that are kept no longer
 * (hub_revisions_tidy), until `stop` is set. What fails is tried the next time. */
void hub_drafts_tidy(struct hub_app *app, const atomic_bool *stop);
/** At the start: what was being published when the hub ended was published, or is open again; what is open
 * has its folder. */
void hub_drafts_recover(struct hub_app *app);

/** One whose publication failed is open again, unless its files are in their place: then the next commit, or
 * the next start, has only to say so. */
void hub_draft_reopen(struct hub_app *app, const struct hub_draft_row *row);
/** One that somebody began to publish, who ended or failed; the caller has its folder alone. Where its tree
 * is in its place, the row becomes that of one that is published, else of one that is open. */
HUB_MUST_USE enum hub_status hub_draft_finish(struct hub_app *app, struct hub_draft_row *row,
                                              struct hub_error *err);

#endif
