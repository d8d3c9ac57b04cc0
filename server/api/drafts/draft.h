/** What the requests about drafts share: which one, whether its writer asks, where it lies. */
#ifndef HUB_API_DRAFTS_DRAFT_H
#define HUB_API_DRAFTS_DRAFT_H

#include "server/api/app.h"
#include "server/http/user.h"
#include "storage/drafts/draft.h"
#include "storage/text/json.h"
#include "storage/truth/drafts.h"

/** Whether the request may write a dataset: HUB_DENIED "sign-in" or "forbidden". By rules alone, so that it
 * tells nothing of what is there. */
HUB_MUST_USE enum hub_status hub_request_may_write(const struct hub_request *request, struct hub_view id,
                                                   struct hub_error *err);

/** The draft that the path names, whose writer asks, or an admin. HUB_NOT_FOUND "draft-not-found". Dispose
 * it. */
HUB_MUST_USE enum hub_status hub_draft_of(const struct hub_request *request, struct hub_draft_row *out,
                                          struct hub_error *err);

/** The folder of one that is open. Close it. HUB_CHANGED "draft-busy": it is not open; HUB_NOT_FOUND
 * "root-missing" where its root is not served. */
HUB_MUST_USE enum hub_status hub_draft_enter(const struct hub_app *app, const struct hub_draft_row *row,
                                             struct hub_draft_folder *out, struct hub_error *err);
/** The same in whatever state it is. HUB_NOT_FOUND: it has no folder, as one that was published. */
HUB_MUST_USE enum hub_status hub_draft_enter_any(const struct hub_app *app, const struct hub_draft_row *row,
                                                 struct hub_draft_folder *out, struct hub_error *err);

/** The root whose name begins an id, else the first one without a name. `path`: below it, borrows the id.
 * HUB_DENIED: there is none that may be written. */
HUB_MUST_USE enum hub_status hub_draft_choose_root(const struct hub_roots *roots, const char *id,
                                                   uint32_t *out, const char **path, struct hub_error *err);
/** A folder is a dataset, holds some, or lies in one: never two of it. It never lies where a mirror or an
 * upstream puts its own. HUB_EXISTS says what is in the way, but for the dataset whose place a draft
 * takes. */
HUB_MUST_USE enum hub_status hub_draft_check_free(const struct hub_app *app, const struct hub_draft_row *row,
                                                  struct hub_error *err);

/** The draft as an object, without its files; with the verdict that it was refused for. */
void hub_draft_write(struct hub_json *json, struct hub_truth *truth, const struct hub_draft_row *row);
/** How many bytes of a file are there. */
uint64_t hub_draft_offset(const struct hub_draft_folder *draft, const struct hub_draft_file *file);
/** A file of it as an object. */
void hub_draft_file_write(struct hub_json *json, const struct hub_draft_file *file, uint64_t offset);
/** A quota that refused is an event for the hook. `draft`: its id; "": it was not opened. */
void hub_draft_tell_quota(const struct hub_app *app, const struct hub_draft_row *row, const char *draft,
                          const struct hub_error *why);
/** State a file that is to come (hub_draft_file_put); a quota that refuses it is an event
 * for the hook. */
HUB_MUST_USE enum hub_status hub_draft_file_state(const struct hub_app *app, const struct hub_draft_row *row,
                                                  const struct hub_draft_file *file, struct hub_error *err);
/** A file that came as a whole goes into the tree, and its row says so. `file` gets its digests.
 * @param stated  that they must be; NULL: any */
HUB_MUST_USE enum hub_status hub_draft_file_whole(const struct hub_app *app, const char *id,
                                                  const struct hub_draft_folder *draft,
                                                  struct hub_upload *upload,
                                                  const struct hub_stated_digests *stated,
                                                  struct hub_draft_file *file, struct hub_error *err);
/** Answer with it. */
HUB_MUST_USE enum hub_status hub_draft_answer(struct hub_request *request, const char *id, unsigned status,
                                              struct hub_response *response, struct hub_error *err);

/** Remove a draft with all that came of it. */
HUB_MUST_USE enum hub_status hub_draft_end(const struct hub_app *app, const struct hub_draft_row *row,
                                           struct hub_error *err);

#endif
