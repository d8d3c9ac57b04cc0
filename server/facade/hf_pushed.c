/* See hf_pushed.h. */
#include "server/facade/hf_pushed.h"

#include "server/api/pushes/adopt.h"
#include "server/api/visible.h"
#include "server/facade/hf_push.h"

void hub_hf_pushed_dispose(struct hub_hf_pushed *pushed)
{
    hub_repo_row_dispose(&pushed->row);
    hub_push_dispose(&pushed->at);
    hub_hf_repo_dispose(&pushed->in);
}

/* As refs call them: "refs/heads/main". */
static struct hub_view name_of(struct hub_view rev)
{
    static const char *const begins[] = {"refs/heads/", "refs/tags/"};
    for (size_t i = 0; i < HUB_COUNT(begins); i++)
        if (hub_view_starts(rev, begins[i]))
            return (struct hub_view){rev.data + strlen(begins[i]), rev.size - strlen(begins[i])};
    return !rev.data || hub_view_is(rev, "HEAD") ? HUB_VIEW("main") : rev;
}

/* The tag of the format's version that nobody set means what is published. */
static enum hub_status find_rev(struct hub_request *request, struct hub_hf_pushed *out, bool *found,
                                struct hub_error *err)
{
    const struct hub_app *app = request->app;
    const struct hub_view name = name_of(hub_request_capture(request, "rev"));
    struct hub_error why = {0};
    enum hub_status st = hub_push_named(app->truth, out->row.id, name, &out->at, &why);
    if (st == HUB_NOT_FOUND && out->in.tag[0] && hub_view_is(name, out->in.tag))
        st = hub_push_published(app->truth, out->row.id, &out->at, &why);
    *found = !st;
    if (st == HUB_NOT_FOUND && out->in.count)
        return HUB_OK; /* an earlier commit, of which the catalogue knows */
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

enum hub_status hub_hf_pushed_open(struct hub_request *request, struct hub_hf_pushed *out, bool *found,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    struct hub_app *app = request->app;
    *found = false;
    if (!hub_repos_any(app->truth))
        return HUB_OK;
    if (!request->may_block)
        return HUB_AGAIN;
    out->org = hub_request_capture(request, "org");
    out->name = hub_request_capture(request, "name");
    if (hub_hf_repo_id(app, out->org, out->name, &id, NULL) ||
        !hub_request_may_read(request, hub_buf_view(&id)))
        return HUB_OK;
    enum hub_status st = hub_repo_find(app->truth, id.data, &out->row, err);
    if (!st)
        st = hub_repo_is_current(app, &out->row, found, err);
    if (st || !*found)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    st = hub_hf_repo_named(request, out->org, out->name, &out->in, NULL);
    if (st && st != HUB_NOT_FOUND)
        return st;
    return find_rev(request, out, found, err);
}

enum hub_status hub_hf_pushed_or(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err, hub_hf_answer *pushed, hub_handler *listed)
{
    HUB_CLEANUP(hub_hf_pushed_dispose) struct hub_hf_pushed repo = {0};
    bool found;
    HUB_TRY(hub_hf_pushed_open(request, &repo, &found, err));
    if (!found)
        return listed(request, response, err);
    HUB_TRY(hub_response_header(response, err, "X-Repo-Commit", "%s", repo.at.id));
    return pushed(request, &repo, response, err);
}

void hub_hf_pushed_id(const struct hub_push_file *file, struct hub_hf_file_id *out)
{
    const bool plain = !file->lfs && file->has_sha1;
    out->sha256[0] = '\0';
    if (!plain)
        hub_hex(file->sha256, sizeof file->sha256, out->sha256);
    hub_hex(file->has_sha1 ? file->sha1 : file->sha256, HUB_SHA1_BYTES, out->oid);
}
