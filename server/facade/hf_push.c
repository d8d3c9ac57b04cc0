/* Repos that are written: see hf_push.h. */
#include "server/facade/hf_push.h"

#include "server/api/pushes/adopt.h"
#include "server/api/visible.h"
#include "storage/catalog/catalog.h"
#include "storage/ids/id.h"

#include <stdlib.h>

enum { REGULAR_BYTES = 1024 * 1024, WARNING_CHARS = 900 };

enum hub_status hub_hf_repo_id(const struct hub_app *app, struct hub_view org, struct hub_view name,
                               struct hub_buf *out, struct hub_error *err)
{
    if (!hub_hf_can_be_named(org) || !hub_hf_can_be_named(name))
        return hub_fail(err, HUB_INVALID,
                        "'%.100s/%.*s' cannot be the name of a repo: parts of it have letters, digits, '-', "
                        "'_' and '.', up to 96 of them",
                        org.data ? org.data : "", (int)HUB_MIN(name.size, 100), name.data ? name.data : "");
    if (!hub_view_is(org, app->author)) {
        HUB_TRY(hub_buf_add_view(out, org, err));
        HUB_TRY(hub_buf_add_text(out, "/", err));
    }
    return hub_buf_add_view(out, name, err);
}

enum hub_status hub_hf_may_write(const struct hub_request *request, struct hub_view id, struct hub_error *err)
{
    HUB_TRY(hub_request_absent(request, id, err));
    if (!hub_request_may_read(request, id))
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "Repository not found: %.*s",
                           (int)id.size, id.data);
    return hub_request_may_write(request, id, err);
}

void hub_hf_written_dispose(struct hub_hf_written *written)
{
    hub_repo_row_dispose(&written->row);
}

static struct hub_view without_git(struct hub_view name)
{
    return hub_view_ends(name, ".git") ? (struct hub_view){name.data, name.size - 4} : name;
}

enum hub_status hub_hf_written_id(const struct hub_request *request, struct hub_buf *out,
                                  struct hub_error *err)
{
    return hub_hf_repo_id(request->app, hub_request_capture(request, "org"),
                          without_git(hub_request_capture(request, "name")), out, err);
}

/* HUB_NOT_FOUND also where something was done to its dataset by other means since. */
static enum hub_status find_current(const struct hub_app *app, const char *id, struct hub_repo_row *out,
                                    struct hub_error *err)
{
    bool current = false;
    HUB_TRY(hub_repo_find(app->truth, id, out, err));
    const enum hub_status st = hub_repo_is_current(app, out, &current, err);
    if (st || !current)
        hub_repo_row_dispose(out);
    return st ? st : current ? HUB_OK : HUB_NOT_FOUND;
}

/* What others put there by hand is theirs. */
static enum hub_status adopt(struct hub_request *request, const char *id, struct hub_hf_written *out,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *all = hub_request_snapshot(request);
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    const struct hub_view org = hub_request_capture(request, "org"),
                          name = without_git(hub_request_capture(request, "name"));
    enum hub_status st = hub_hf_repo_named(request, org, name, &repo, NULL);
    if (st == HUB_AGAIN)
        return st;
    st = hub_repo_adopt(request->app, id, out->who, st ? "" : repo.commit, err);
    if (st == HUB_NOT_FOUND && hub_snapshot_find(all, hub_view_of(id)))
        return hub_fail_as(
            err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
            "'%.200s' was not published by this hub: whoever put its files there moves them away "
            "first, or push under another name",
            id);
    HUB_TRY(st);
    return hub_repo_find(request->app->truth, id, &out->row, err);
}

enum hub_status hub_hf_written_open(struct hub_request *request, struct hub_hf_written *out,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    HUB_TRY(hub_hf_written_id(request, &id, err));
    HUB_TRY(hub_hf_may_write(request, hub_buf_view(&id), err));
    hub_request_writer(request, out->who);
    enum hub_status st = find_current(request->app, id.data, &out->row, err);
    if (st == HUB_NOT_FOUND)
        st = adopt(request, id.data, out, err);
    return st;
}

static bool may_read(const void *request, const char *repo)
{
    return hub_request_may_read(request, hub_view_of(repo));
}

struct hub_repo_sharing hub_hf_sharing(const struct hub_request *request)
{
    return (struct hub_repo_sharing){may_read, request};
}

enum hub_status hub_hf_branch(const struct hub_request *request, const char **out, struct hub_error *err)
{
    static const char heads[] = "refs/heads/";
    const struct hub_view rev = hub_request_capture(request, "rev");
    *out = rev.data + (hub_view_starts(rev, heads) ? sizeof heads - 1 : 0);
    if (strncmp(*out, "refs/", 5) == 0)
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_FORBIDDEN,
                           "This hub has no pull requests: commit to a branch");
    return HUB_OK;
}

enum hub_status hub_hf_body(const struct hub_request *request, json_t **out, struct hub_error *err)
{
    struct hub_error why = {0};
    if (hub_json_parse(request->body, request->body.size + 1, out, &why))
        return hub_fail(err, HUB_INVALID, "the body is not JSON: %s", why.detail);
    return json_is_object(*out) ? HUB_OK : hub_fail(err, HUB_INVALID, "the body is not a JSON object");
}

/* ---- files ---- */

bool hub_hf_is_lfs(struct hub_view path, uint64_t size)
{
    static const char *const texts[] = {".json", ".jsonl", ".md",   ".txt", ".yaml", ".yml", ".csv",
                                        ".tsv",  ".py",    ".toml", ".cfg", ".ini",  ".xml", ".html"};
    if (size == 0)
        return false;
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        if (hub_view_ends(path, texts[i]))
            return size > REGULAR_BYTES;
    return true;
}

bool hub_hf_is_ignored(struct hub_view path)
{
    for (size_t at = 0; at < path.size;) {
        const char *slash = memchr(path.data + at, '/', path.size - at);
        const size_t size = slash ? (size_t)(slash - path.data) - at : path.size - at;
        const struct hub_view segment = {path.data + at, size};
        if (hub_name_hidden(segment) && !hub_view_is(segment, ".") && !hub_view_is(segment, ".."))
            return true;
        at += size + 1;
    }
    return false;
}

/* ---- the verdict ---- */

static const char *said_of(const struct hub_push *push)
{
    switch (push->state) {
    case HUB_PUSH_BROKEN:
        return "is not published";
    case HUB_PUSH_REFUSED:
        return "cannot be published";
    case HUB_PUSH_FILES:
        return "is kept, and is not a dataset yet";
    case HUB_PUSH_READY:
        return "is published, but";
    case HUB_PUSH_WAITING:
    case HUB_PUSH_PASSED:
        break;
    }
    return NULL;
}

enum hub_status hub_hf_warn(struct hub_response *response, const struct hub_repo_row *repo,
                            const struct hub_push *push, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(4 * KIB);
    const char *said = said_of(push);
    if (!said || !*push->reason)
        return HUB_OK;
    HUB_TRY(hub_buf_addf(&text, err, "minari-hub; %.200s %s: %.600s", repo->id, said, push->reason));
    for (size_t i = 0; i < text.size; i++) /* clients take ASCII */
        if (text.data[i] < ' ' || text.data[i] > '~')
            text.data[i] = '?';
    return hub_response_header(response, err, "X-HF-Warning", "%.*s", WARNING_CHARS, text.data);
}
