/** Repos that clients of Hugging Face write: which one a request means, and whether it may. */
#ifndef HUB_FACADE_HF_PUSH_H
#define HUB_FACADE_HF_PUSH_H

#include "server/api/app.h"
#include "server/api/drafts/draft.h"
#include "server/facade/hf.h"
#include "storage/truth/repos.h"

/** Append what the ids of the datasets of a repo are, or begin with: "name" of the author whose repos lie at
 * the top, else "org/name". HUB_INVALID: clients could not ask for it by that name. */
HUB_MUST_USE enum hub_status hub_hf_repo_id(const struct hub_app *app, struct hub_view org,
                                            struct hub_view name, struct hub_buf *out, struct hub_error *err);
/** HUB_NOT_FOUND or HUB_DENIED "sign-in" for who may not read it, HUB_DENIED for who may only read it. */
HUB_MUST_USE enum hub_status hub_hf_may_write(const struct hub_request *request, struct hub_view id,
                                              struct hub_error *err);

/** A repo that a request writes. HUB_HF_WRITTEN_INIT; dispose it. */
struct hub_hf_written {
    struct hub_repo_row row;
    char who[HUB_WRITER_CHARS];
};
void hub_hf_written_dispose(struct hub_hf_written *written);
/** The id of the repo that {org} and {name} name; ".git" behind the name is fine. */
HUB_MUST_USE enum hub_status hub_hf_written_id(const struct hub_request *request, struct hub_buf *out,
                                               struct hub_error *err);
/** That repo. */
HUB_MUST_USE enum hub_status hub_hf_written_open(struct hub_request *request, struct hub_hf_written *out,
                                                 struct hub_error *err);
/** The repos that the asker can read: what is there need not be sent again to another one of the root. */
struct hub_repo_sharing hub_hf_sharing(const struct hub_request *request);
/** The branch that {rev} names, without refs/heads/. HUB_INVALID for what is none. Borrows the request. */
HUB_MUST_USE enum hub_status hub_hf_branch(const struct hub_request *request, const char **out,
                                           struct hub_error *err);

/** A JSON object; HUB_INVALID for what is none. Free it, on failure too. */
HUB_MUST_USE enum hub_status hub_hf_body(const struct hub_request *request, json_t **out,
                                         struct hub_error *err);
/** Whether clients send a file as one that Git LFS keeps, rather than within the commit. */
bool hub_hf_is_lfs(struct hub_view path, uint64_t size);
/** Whether a file of a push is left out: hidden names. */
bool hub_hf_is_ignored(struct hub_view path);
/** The warning that stock clients print: "X-HF-Warning: minari-hub; TEXT". None where nothing is wrong. */
HUB_MUST_USE enum hub_status hub_hf_warn(struct hub_response *response, const struct hub_repo_row *repo,
                                         const struct hub_push *push, struct hub_error *err);

#endif
