/** Repos that were pushed here, at one of their commits: what the catalogue does not know yet, or never
 * will. */
#ifndef HUB_FACADE_HF_PUSHED_H
#define HUB_FACADE_HF_PUSHED_H

#include "server/facade/hf.h"
#include "storage/truth/repos.h"

/** Zeroed, or disposed of. */
struct hub_hf_pushed {
    struct hub_view org, name;
    struct hub_repo_row row;
    struct hub_push at;    /* the commit that {rev} names, else the head of main */
    struct hub_hf_repo in; /* the same in the catalogue; `count` 0: it is not there */
};
void hub_hf_pushed_dispose(struct hub_hf_pushed *pushed);
/** `found`: {org} and {name} are a repo that was pushed, and {rev} is of it; else the catalogue knows more.
 * HUB_NOT_FOUND "revision-not-found": neither does. */
HUB_MUST_USE enum hub_status hub_hf_pushed_open(struct hub_request *request, struct hub_hf_pushed *out,
                                                bool *found, struct hub_error *err);

/** Answers of such a repo. */
typedef enum hub_status hub_hf_answer(struct hub_request *request, struct hub_hf_pushed *pushed,
                                      struct hub_response *response, struct hub_error *err);
hub_hf_answer hub_hf_pushed_repo, hub_hf_pushed_refs, hub_hf_pushed_commits; /* hf_pushed_info.c */
hub_hf_answer hub_hf_pushed_tree, hub_hf_pushed_paths;                       /* hf_pushed_tree.c */
hub_hf_answer hub_hf_pushed_file, hub_hf_pushed_known;                       /* hf_pushed_file.c */

/** Answer with `pushed` where the repo was pushed, else with `listed`, from the catalogue. */
HUB_MUST_USE enum hub_status hub_hf_pushed_or(struct hub_request *request, struct hub_response *response,
                                              struct hub_error *err, hub_hf_answer *pushed,
                                              hub_handler *listed);

/** What a file is known by. */
void hub_hf_pushed_id(const struct hub_push_file *file, struct hub_hf_file_id *out);

#endif
