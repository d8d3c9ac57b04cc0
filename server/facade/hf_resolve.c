/* The bytes of a file of a repo. */
#include "server/facade/handlers.h"
#include "server/facade/hf.h"
#include "server/facade/hf_pushed.h"
#include "server/facade/hf_upstream.h"

#include "server/api/files/listing.h"
#include "storage/ids/spell.h"
#include "storage/transfer/spaces.h"

#include <inttypes.h>

struct resolving {
    struct hub_hf_repo repo;
    struct hub_target target;
    struct hub_buf name;
    struct hub_object object;
    struct hub_object_facts facts;
};

static void resolving_dispose(struct resolving *r)
{
    hub_hf_repo_dispose(&r->repo);
    hub_target_dispose(&r->target);
    hub_buf_dispose(&r->name);
    hub_object_facts_dispose(&r->facts);
}

static enum hub_status put_headers(const struct resolving *r, struct hub_response *response,
                                   struct hub_error *err)
{
    const char *name = r->facts.digests.sha256;
    struct hub_hf_file_id id;
    if (!*name) { /* until it is hashed */
        HUB_TRY(hub_hf_file_id(&r->object, &r->facts, &id, err));
        name = id.oid;
    }
    HUB_TRY(hub_response_header(response, err, "X-Repo-Commit", "%s", r->repo.commit));
    HUB_TRY(hub_response_header(response, err, "X-Linked-Etag", "\"%s\"", name));
    return hub_response_header(response, err, "X-Linked-Size", "%" PRIu64, r->facts.size);
}

/* @huggingface/hub asks for the first byte of each file to learn its size, and takes 416 for a failure: of
 * an empty one it gets all there is, and the size where it looks for it. */
static enum hub_status send_nothing(const struct resolving *r, struct hub_response *response,
                                    struct hub_error *err)
{
    hub_response_dispose(response);
    (void)hub_response_buffer(response, 200, hub_file_type(r->object.file->path), KIB);
    HUB_TRY(put_headers(r, response, err));
    HUB_TRY(hub_response_header(response, err, "Accept-Ranges", "bytes"));
    return hub_response_header(response, err, "Content-Range", "bytes */0");
}

static enum hub_status send(struct hub_request *request, struct resolving *r, struct hub_response *response,
                            struct hub_error *err)
{
    HUB_TRY(hub_object_facts(request, &r->object, request->may_block, &r->facts, err));
    if (request->method ==
        HUB_HEAD) /* clients keep what they have under this name, and go on with it by that */
        HUB_TRY(hub_object_await(request, &r->object, &r->facts, err));
    HUB_TRY(put_headers(r, response, err));
    HUB_TRY(hub_object_send(request, &r->target, &r->object, &r->facts, response, err));
    const bool empty = r->object.file && r->facts.size == 0;
    return empty && response->status == 416 ? send_nothing(r, response, err) : HUB_OK;
}

static enum hub_status resolve_here(struct hub_request *request, struct hub_response *response,
                                    struct hub_error *err)
{
    HUB_CLEANUP(resolving_dispose) struct resolving r = {.name = HUB_BUF_INIT(128 * KIB)};
    const struct hub_view path = hub_request_capture(request, "path");
    HUB_TRY(hub_hf_repo_open(request, &r.repo, err));
    HUB_TRY(hub_hf_revision(request, &r.repo, err));
    HUB_TRY(hub_buf_add_view(&r.name, hub_buf_view(&r.repo.begins), err));
    HUB_TRY(hub_unspell(path, &r.name, err));
    const enum hub_status st = hub_object_find(request, hub_buf_view(&r.name), &r.target, &r.object, err);
    r.object.author = hub_hf_repo_author(&r.repo);
    if (st != HUB_NOT_FOUND)
        return st ? st : send(request, &r, response, err);
    (void)hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND, "Entry not found: %.500s", path.data);
    hub_problem_write(response, request, err, NULL);
    return hub_response_header(response, err, "X-Repo-Commit", "%s",
                               r.repo.commit); /* clients remember the absence */
}

/* What a namespace says of itself on a branch is made of what lies in it, once something does; at a commit it
 * is what was pushed. */
static enum hub_status send_pushed(struct hub_request *request, struct hub_hf_pushed *pushed,
                                   struct hub_response *response, struct hub_error *err)
{
    const struct hub_view path = hub_request_capture(request, "path"),
                          rev = hub_request_capture(request, "rev");
    const bool made = pushed->in.count && !hub_view_is(rev, pushed->at.id) &&
                      hub_view_is(hub_view_behind(path, '/'), hub_space_file);
    return made ? resolve_here(request, response, err) : hub_hf_pushed_file(request, pushed, response, err);
}

static enum hub_status resolve_or_pushed(struct hub_request *request, struct hub_response *response,
                                         struct hub_error *err)
{
    return hub_hf_pushed_or(request, response, err, send_pushed, resolve_here);
}

enum hub_status hub_hf_resolve(struct hub_request *request, struct hub_response *response,
                               struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, resolve_or_pushed);
}
