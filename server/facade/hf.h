/**
 * The hub of Hugging Face as its clients speak it (huggingface_hub, @huggingface/hub, datasets, LeRobot):
 * dataset repos with one commit each, which is the state of what is here.
 *
 * A repo is a folder: of two segments "org/name"; and of one, "name", it is one of the author that the
 * settings name (farama-minari), so that the namespaces of Minari are repos where Python Minari looks for
 * them.
 */
#ifndef HUB_FACADE_HF_H
#define HUB_FACADE_HF_H

#include "server/facade/object.h"
#include "storage/text/json.h"

struct hub_hf_repo {
    struct hub_view org, name;
    struct hub_buf begins; /* what the names of its objects begin with */
    char commit[41];       /* of all that is in it */
    const char *topic;     /* "LeRobot", for lists; or NULL */
    char tag[16];          /* "v2.1": clients ask for the version of the format; or "" */
    int64_t modified_ns;
    unsigned count; /* of datasets in it */
    bool other;     /* a commit that is not main's: its objects begin with "org/name@COMMIT/" */
};
void hub_hf_repo_dispose(struct hub_hf_repo *repo);
/** The one that {org} and {name} name. HUB_NOT_FOUND "dataset-not-found": nothing lies there, or clients
 * could not ask for it by that name. */
HUB_MUST_USE enum hub_status hub_hf_repo_open(struct hub_request *request, struct hub_hf_repo *out,
                                              struct hub_error *err);
HUB_MUST_USE enum hub_status hub_hf_repo_named(struct hub_request *request, struct hub_view org,
                                               struct hub_view name, struct hub_hf_repo *out,
                                               struct hub_error *err);
/** {rev} is a branch or tag it has, or its commit; or another commit or ref of a cache, at which the repo
 * then is. HUB_NOT_FOUND "revision-not-found". */
HUB_MUST_USE enum hub_status hub_hf_revision(struct hub_request *request, struct hub_hf_repo *repo,
                                             struct hub_error *err);
/** Bytes of "org/", with which ids in the repo begin; 0 for repos of the author that lie at the top. */
size_t hub_hf_repo_author(const struct hub_hf_repo *repo);
/** Clients ask for no other names. */
bool hub_hf_can_be_named(struct hub_view segment);

/** What a file is known by: the SHA-256 of its bytes where it is known, else its state. */
struct hub_hf_file_id {
    char oid[41];
    char sha256[65]; /* or "" */
};
HUB_MUST_USE enum hub_status hub_hf_file_id(const struct hub_object *object,
                                            const struct hub_object_facts *facts, struct hub_hf_file_id *out,
                                            struct hub_error *err);

/** A file whose digest is known, as one that Git LFS keeps; `key` is what the digest is called there. */
void hub_hf_put_lfs(struct hub_json *json, const char *key, const struct hub_hf_file_id *id, uint64_t size);

/** What is said of it in lists too, in an object that is open. */
HUB_MUST_USE enum hub_status hub_hf_put_head(struct hub_json *json, const struct hub_hf_repo *repo,
                                             struct hub_error *err);
/** The members of its one commit, in an object that is open: its time is that of what was changed. */
void hub_hf_put_commit(struct hub_json *json, const struct hub_hf_repo *repo, int64_t modified_ns);

#endif
