/* A repo of Hugging Face at a commit: see hf_commit.h. */
#include "storage/remote/hf_commit.h"

#include "storage/base/order.h"
#include "storage/ids/id.h"
#include "storage/text/time.h"
#include "storage/text/uri.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_PAGES = 100 * 1000 };

/* ---- asking ---- */

/* What an error answer means for a person. */
static enum hub_status explain(const struct hub_hf *h, const char *repo, enum hub_status st,
                               const struct hub_answer *answer, const struct hub_error *why,
                               struct hub_error *err)
{
    char name[256];
    snprintf(name, sizeof name, "%s%s%s", h->org, *repo ? "/" : "", repo);
    if (strcmp(answer->code, "RevisionNotFound") == 0)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_MISSING, "'%s' has no revision '%s'",
                           name, h->revision);
    if (strcmp(answer->code, "GatedRepo") == 0 ||
        (st == HUB_DENIED && strcmp(answer->code, "RepoNotFound") != 0))
        return hub_fail_as(err, HUB_DENIED, HUB_PROBLEM_REPO_CLOSED, "'%s' is closed to %s: %.200s", name,
                           h->token ? "this token" : "everybody without a token", why->detail);
    if (st == HUB_NOT_FOUND || st == HUB_DENIED)
        return hub_fail_as(err, st, st == HUB_DENIED ? HUB_PROBLEM_REPO_CLOSED : HUB_PROBLEM_REPO_MISSING,
                           "there is no dataset repo '%s'%s", name,
                           st == HUB_DENIED ? ", or it is closed to this token" : "");
    if (err)
        *err = *why;
    return st;
}

static enum hub_status request_json(struct hub_remote *remote, const char *repo, const char *url,
                                    struct hub_answer *answer, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(HUB_HF_PAGE_BYTES);
    struct hub_error why = {0};
    json_decref(*out);
    *out = NULL;
    const enum hub_status st = hub_remote_json(remote, url, &text, answer, out, &why);
    return st ? explain(remote->own, repo, st, answer, &why, err) : HUB_OK;
}

/* Each item of a list in pages. Only the query of the next page's URL is taken over: no other host is
 * asked. */
enum hub_status hub_hf_each(struct hub_remote *remote, const char *repo, const char *path, const char *query,
                            enum hub_status (*fn)(const json_t *item, void *user, struct hub_error *err),
                            void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *page = NULL;
    struct hub_answer answer;
    HUB_TRY(hub_buf_addf(&url, err, "%s?%s", path, query));
    for (unsigned pages = 1;; pages++) {
        const json_t *item;
        size_t i;
        HUB_TRY(request_json(remote, repo, url.data, &answer, &page, err));
        if (!json_is_array(page))
            return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the answer of %.200s is not a list",
                               url.data);
        json_array_foreach(page, i, item) HUB_TRY(fn(item, user, err));
        const char *next = strchr(answer.next, '?');
        if (!next)
            return HUB_OK;
        if (pages == MAX_PAGES)
            return hub_fail_as(err, HUB_TOO_BIG, HUB_PROBLEM_TOO_LONG, "the list does not end after %u pages",
                               pages);
        url.size = 0;
        HUB_TRY(hub_buf_addf(&url, err, "%s%s", path, next));
    }
}

/* ---- one repo ---- */

void hub_hf_commit_dispose(struct hub_hf_commit *p)
{
    hub_remote_files_dispose(&p->tree);
}

/* "(there are: main, v2.0)" behind what was said. */
static void name_revisions(struct hub_hf_commit *p, struct hub_error *err)
{
    static const char *const kinds[] = {"branches", "tags"};
    const struct hub_hf *h = p->remote->own;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *refs = NULL;
    struct hub_answer answer;
    unsigned named = 0;
    if (!err || hub_buf_addf(&url, NULL, "%s/api/datasets/%s/%s/refs", h->endpoint, h->org, p->repo) ||
        request_json(p->remote, p->repo, url.data, &answer, &refs, NULL))
        return;
    for (size_t k = 0; k < HUB_COUNT(kinds); k++) {
        const json_t *list = json_object_get(refs, kinds[k]), *item;
        size_t i;
        json_array_foreach(list, i, item)
        {
            const size_t at = strlen(err->detail);
            const char *name = hub_member_text(item, "name");
            if (name && named < 12)
                snprintf(err->detail + at, sizeof err->detail - at, "%s%.60s",
                         named++ ? ", " : "; there are: ", name);
        }
    }
}

enum hub_status hub_hf_commit_find(struct hub_hf_commit *p, struct hub_error *err)
{
    const struct hub_hf *h = p->remote->own;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(4 * KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *info = NULL;
    struct hub_answer answer;
    HUB_TRY(hub_buf_addf(&url, err, "%s/api/datasets/%s/%s/revision/%s", h->endpoint, h->org, p->repo,
                         h->revision));
    const enum hub_status st = request_json(p->remote, p->repo, url.data, &answer, &info, err);
    if (st && err && err->problem == HUB_PROBLEM_REVISION_MISSING)
        name_revisions(p, err);
    if (st)
        return st;
    const char *sha = hub_member_text(info, "sha"), *modified = hub_member_text(info, "lastModified");
    if (!sha || strlen(sha) != HUB_REVISION_CHARS || strspn(sha, "0123456789abcdef") != HUB_REVISION_CHARS)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL, "the answer of %.200s has no commit",
                           url.data);
    memcpy(p->sha, sha, sizeof p->sha);
    if (modified)
        (void)hub_time_parse_rfc3339(hub_view_of(modified), &p->modified_ns);
    return HUB_OK;
}

static enum hub_status take_entry(const json_t *item, void *user, struct hub_error *err)
{
    struct hub_hf_commit *p = user;
    const json_t *lfs = json_object_get(item, "lfs"), *size = json_object_get(item, "size");
    const struct hub_view path = hub_member_view(item, "path");
    const char *type = hub_member_text(item, "type");
    const char *oid = hub_member_text(item, "oid"), *sha256 = hub_member_text(lfs, "oid");
    struct hub_file_facts *file;
    if (!type || strcmp(type, "file") != 0)
        return HUB_OK;
    if (!path.data || !json_is_integer(size) || json_integer_value(size) < 0)
        return hub_fail_as(err, HUB_CORRUPT, HUB_PROBLEM_PROTOCOL,
                           "'%s/%s' lists a file without path or size",
                           ((const struct hub_hf *)p->remote->own)->org, p->repo);
    HUB_TRY(hub_remote_files_try(&p->tree, path, (uint64_t)json_integer_value(size), &file, err));
    if (!file)
        return HUB_OK;
    file->modified_ns = p->modified_ns;
    file->has_sha256 = sha256 && hub_unhex(hub_view_of(sha256), file->sha256, HUB_SHA256_BYTES);
    const bool hashed =
        !json_is_true(json_object_get(item, "unhashed")); /* a hub's own word: the oid is no blob's */
    if (!lfs && oid && hashed && hub_unhex(hub_view_of(oid), file->sum, HUB_SHA1_BYTES))
        file->other = HUB_GIT_SHA1;
    return HUB_OK;
}

/* The tree below a folder, "" for all; an empty one where there is no such folder. */
enum hub_status hub_hf_commit_list(struct hub_hf_commit *p, const char *folder, bool recursive,
                                   struct hub_error *err)
{
    const struct hub_hf *h = p->remote->own;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(32 * KIB);
    hub_remote_files_dispose(&p->tree);
    HUB_TRY(hub_buf_addf(&path, err, "%s/api/datasets/%s/%s/tree/%s", h->endpoint, h->org, p->repo, p->sha));
    if (*folder) {
        HUB_TRY(hub_buf_add_text(&path, "/", err));
        HUB_TRY(hub_uri_encode_path(hub_view_of(folder), &path, err));
    }
    struct hub_error why = {0};
    const enum hub_status st = hub_hf_each(
        p->remote, p->repo, path.data, recursive ? "recursive=true" : "recursive=false", take_entry, p, &why);
    if (st && st != HUB_NOT_FOUND) {
        if (err)
            *err = why;
        return st;
    }
    return hub_remote_files_sort(&p->tree, err);
}

static bool has_file(const struct hub_hf_commit *p, const char *path)
{
    return p->tree.count && bsearch(&path, p->tree.items, p->tree.count, sizeof *p->tree.items, hub_by_text);
}

/* Where a file is; the path is encoded, and may be cut anywhere. */
enum hub_status hub_hf_commit_url(const struct hub_hf_commit *p, const char *folder, const char *path,
                                  struct hub_buf *url, struct hub_error *err)
{
    const struct hub_hf *h = p->remote->own;
    HUB_TRY(hub_buf_addf(url, err, "%s/datasets/%s/%s/resolve/%s/", h->endpoint, h->org, p->repo, p->sha));
    HUB_TRY(hub_uri_encode_path(hub_view_of(folder), url, err));
    HUB_TRY(hub_buf_add_text(url, *folder ? "/" : "", err));
    return hub_uri_encode_path(hub_view_of(path), url, err);
}

/* ---- its datasets ---- */

static enum hub_status add_dataset(struct hub_hf_commit *p, struct hub_found_list *out, const char *id,
                                   const char *folder, bool plain, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(32 * KIB);
    struct hub_found *found;
    HUB_TRY(hub_found_add(out, id, &p->tree, folder, &found, err));
    found->plain = plain;
    found->format = plain ? hub_found_format(&p->tree, folder) : NULL;
    if (plain)
        return HUB_OK;
    HUB_TRY(hub_hf_commit_url(p, folder, "data/metadata.json", &url, err));
    found->url = hub_buf_take(&url, NULL);
    return HUB_OK;
}

/* The ids that namespace_metadata.json lists, as Python Minari takes them; of one without a list those that
 * are there by their layout. */
static enum hub_status add_namespace(struct hub_hf_commit *p, struct hub_found_list *out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(32 * KIB), head = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_json_decrefp) json_t *document = NULL;
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list scanned = {0};
    struct hub_answer answer;
    const json_t *item;
    size_t i;
    HUB_TRY(hub_hf_commit_url(p, "", HUB_HF_NAMESPACE_FILE, &url, err));
    HUB_TRY(hub_buf_addf(&head, err, "%s/", p->repo));
    HUB_TRY(request_json(p->remote, p->repo, url.data, &answer, &document, err));
    const json_t *ids = json_object_get(document, "datasets");
    json_array_foreach(ids, i, item)
    {
        const char *id = json_string_value(item);
        if (id && strncmp(id, head.data, head.size) == 0 && !hub_id_check(hub_view_of(id), NULL))
            HUB_TRY(add_dataset(p, out, id, id + head.size, false, err));
    }
    if (i)
        return HUB_OK;
    HUB_TRY(hub_found_scan(&scanned, &p->tree, head.data, err));
    for (uint32_t k = 0; k < scanned.count; k++)
        HUB_TRY(add_dataset(p, out, scanned.items[k].id, scanned.items[k].id + head.size, false, err));
    return HUB_OK;
}

/* What a repo with a namespace of Minari's holds besides its datasets. */
static enum hub_status add_others(struct hub_hf_commit *p, enum hub_remote_only only,
                                  struct hub_remote_left *left, struct hub_found_list *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf head = HUB_BUF_INIT(KIB);
    HUB_TRY(hub_buf_addf(&head, err, "%s/", p->repo));
    const struct hub_division division = {.tree = &p->tree,
                                          .base = "",
                                          .name = p->repo,
                                          .head = head.data,
                                          .cuts = true,
                                          .counts = only == HUB_REMOTE_MINARI,
                                          .left = left};
    return hub_found_divide(&division, out, err);
}

enum hub_status hub_hf_find_repo(struct hub_remote *remote, const struct hub_hf_wish *wish,
                                 struct hub_found_list *out, struct hub_error *err)
{
    const uint32_t before = out->count;
    HUB_CLEANUP(hub_hf_commit_dispose) struct hub_hf_commit p = {.remote = remote, .repo = wish->repo};
    HUB_TRY(hub_hf_commit_find(&p, err));
    if (!wish->named) { /* a look at the top of what may be large and of no use */
        HUB_TRY(hub_hf_commit_list(&p, "", false, err));
        const bool space = has_file(&p, HUB_HF_NAMESPACE_FILE);
        if (!space)
            HUB_TRY(hub_hf_commit_list(&p, "data", false, err));
        if (!space && !has_file(&p, "data/metadata.json"))
            return HUB_OK;
    }
    HUB_TRY(hub_hf_commit_list(&p, "", true, err));
    if (has_file(&p, HUB_HF_NAMESPACE_FILE) && wish->only != HUB_REMOTE_TREE)
        HUB_TRY(add_namespace(&p, out, err));
    if (out->count > before && !wish->whole)
        return wish->left ? add_others(&p, wish->only, wish->left, out, err) : HUB_OK;
    if (wish->left && hub_found_describes(&p.tree, 0, p.tree.count))
        return HUB_OK;
    return add_dataset(&p, out, wish->repo, "", !has_file(&p, "data/metadata.json"), err);
}
