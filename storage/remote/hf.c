/* Dataset repositories of Hugging Face, or of what speaks its API, as a remote: hf://ORG[/REPO[@REVISION]].
 * The first segment of an id is the repo, the rest the path in it, as Python Minari has it. Files are asked
 * for at a commit. Spec: https://huggingface.co/docs/hub/api */
#include "storage/remote/hf_commit.h"

#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/model/format_marks.h"
#include "storage/text/uri.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOKEN_BYTES = 4096, LONGEST_ADVICE_S = 330 };

static const char hugging_face[] = "https://huggingface.co";

/* ---- opening ---- */

static bool is_name(struct hub_view name)
{
    for (size_t i = 0; i < name.size; i++) {
        const char c = name.data[i];
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strchr("-_.", c))
            return false;
    }
    return name.size && name.size <= 96 && name.data[0] != '.' && name.data[0] != '-';
}

/* ORG[/REPO[@REVISION]] */
static bool split(struct hub_view rest, struct hub_view *org, struct hub_view *repo,
                  struct hub_view *revision)
{
    const char *slash = memchr(rest.data, '/', rest.size);
    *org = (struct hub_view){rest.data, slash ? (size_t)(slash - rest.data) : rest.size};
    *repo = slash ? (struct hub_view){slash + 1, rest.size - org->size - 1} : HUB_VIEW("");
    const char *at = repo->size ? memchr(repo->data, '@', repo->size) : NULL;
    *revision = at ? (struct hub_view){at + 1, (size_t)(repo->data + repo->size - at - 1)} : HUB_VIEW("main");
    if (at)
        repo->size = (size_t)(at - repo->data);
    return is_name(*org) && (!slash || is_name(*repo)) && hub_path_plain(*revision);
}

static bool is_address(struct hub_view rest)
{
    struct hub_view org, repo, revision;
    return split(rest, &org, &repo, &revision);
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* As huggingface_hub finds it. */
static enum hub_status find_token(struct hub_hf *h, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(TOKEN_BYTES);
    char path[PATH_MAX];
    const char *token = environment("HF_TOKEN"), *file = environment("HF_TOKEN_PATH"),
               *home = environment("HF_HOME");
    const char *cache = environment("XDG_CACHE_HOME"), *user = environment("HOME");
    if (file)
        snprintf(path, sizeof path, "%s", file);
    else if (home)
        snprintf(path, sizeof path, "%s/token", home);
    else
        snprintf(path, sizeof path, "%s%s/huggingface/token",
                 cache  ? cache
                 : user ? user
                        : "",
                 cache ? "" : "/.cache");
    if (token)
        HUB_TRY(hub_buf_add_text(&text, token, err));
    else if (hub_fs_read(AT_FDCWD, path, &text, NULL) || !text.size)
        return HUB_OK;
    const size_t from = strspn(text.data, " \t\r\n"), size = strcspn(text.data + from, " \t\r\n");
    h->token = strndup(text.data + from, size);
    return hub_allocated(h->token, err);
}

static enum hub_status set_location(struct hub_hf *h, struct hub_view rest, const char *endpoint,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf encoded = HUB_BUF_INIT(4 * KIB);
    struct hub_view org, repo, revision;
    size_t size = strlen(endpoint);
    while (size && endpoint[size - 1] == '/')
        size--;
    (void)split(rest, &org, &repo, &revision);
    HUB_TRY(hub_uri_encode_segment(revision, &encoded, err));
    h->endpoint = strndup(endpoint, size);
    h->org = hub_view_dup(org);
    h->repo = hub_view_dup(repo);
    h->revision = hub_buf_take(&encoded, NULL);
    return hub_allocated(h->endpoint && h->org && h->repo && h->revision, err);
}

static enum hub_status begin(struct hub_remote *remote, const struct hub_remote_options *options,
                             struct hub_transport_options *transport, struct hub_error *err)
{
    struct hub_view rest;
    struct hub_hf *h;
    const char *endpoint = options->endpoint ? options->endpoint : environment("HF_ENDPOINT");
    (void)hub_remote_find(hub_view_of(remote->base), &rest);
    HUB_TRY(hub_new(&h, 1, sizeof *h, err));
    remote->own = h;
    HUB_TRY(set_location(h, rest, endpoint ? endpoint : hugging_face, err));
    if (!transport->token)
        HUB_TRY(find_token(h, err));
    if (h->token)
        transport->token = h->token;
    if (transport->other_hosts == HUB_OTHER_HOSTS_NONE)
        transport->other_hosts = HUB_OTHER_HOSTS_PUBLIC;  /* large files lie elsewhere */
    transport->retry.longest_advice_s = LONGEST_ADVICE_S; /* limits are by windows of five minutes */
    return HUB_OK;
}

static void end(struct hub_remote *remote)
{
    struct hub_hf *h = remote->own;
    if (!h)
        return;
    free(h->endpoint);
    free(h->org);
    free(h->repo);
    free(h->revision);
    free(h->token);
    free(h);
}

/* ---- the row ---- */

struct repo_list {
    char **names;
    char **urls; /* what tells whether a repo has datasets of Minari's: one a name, or NULL */
    bool *wanted;
    const char **formats; /* as their names say, or NULL */
    uint32_t count, capacity;
    const struct hub_hf *hf;
    const char *prefix;
};

static void dispose_repos(struct repo_list *r)
{
    for (uint32_t i = 0; i < r->count; i++)
        free(r->names[i]);
    for (uint32_t i = 0; r->urls && i < r->count; i++)
        free(r->urls[i]);
    free(r->names);
    free(r->urls);
    free(r->wanted);
    free(r->formats);
}

static enum hub_status take_repo(const json_t *item, void *user, struct hub_error *err)
{
    struct repo_list *r = user;
    const char *id = hub_member_text(item, "id"), *slash = id ? strchr(id, '/') : NULL;
    const char *name = slash ? slash + 1 : "";
    if (!slash || !is_name(hub_view_of(name)) || (size_t)(slash - id) != strlen(r->hf->org) ||
        strncmp(id, r->hf->org, (size_t)(slash - id)) != 0)
        return HUB_OK;
    const size_t common = r->prefix ? HUB_MIN(strcspn(r->prefix, "/"), strlen(name)) : 0;
    if (r->prefix &&
        (strncmp(name, r->prefix, common) != 0 || (strlen(name) > common && r->prefix[common] == '/') ||
         (r->prefix[common] && r->prefix[common] != '/')))
        return HUB_OK;
    HUB_TRY(hub_grow(&r->names, r->count, &r->capacity, sizeof *r->names, err));
    HUB_TRY(hub_dup(&r->names[r->count], name, err));
    r->count++;
    return HUB_OK;
}

static const char *url_of(size_t index, void *user)
{
    return ((struct repo_list *)user)->urls[index];
}

/* The files that a repo's document names: all of them, or none. Then only a look at it can tell. */
static enum hub_status take_siblings(size_t index, enum hub_status st, struct hub_view text, void *user,
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_json_decrefp) json_t *info = NULL;
    struct repo_list *r = user;
    struct hub_formats_seen seen = {0};
    const json_t *file;
    size_t i;
    if (st == HUB_CANCELLED || st == HUB_IO || st == HUB_BUSY)
        return st;
    if (!st)
        st = hub_json_parse(text, HUB_HF_PAGE_BYTES, &info, NULL);
    const json_t *siblings = json_object_get(info, "siblings");
    r->wanted[index] = st || !json_array_size(siblings);
    json_array_foreach(siblings, i, file)
    {
        const char *name = hub_member_text(file, "rfilename");
        hub_formats_see_file(&seen, hub_view_of(name));
        if (name && (strcmp(name, HUB_HF_NAMESPACE_FILE) == 0 || strcmp(name, "data/metadata.json") == 0))
            r->wanted[index] = true;
    }
    r->formats[index] = hub_formats_best(&seen);
    (void)err;
    return HUB_OK;
}

/* An organisation may have thousands of repos, few of them Minari's: all are asked at once. */
static enum hub_status look_at_all(struct hub_remote *remote, struct repo_list *r, struct hub_error *err)
{
    HUB_TRY(hub_new(&r->urls, r->count + 1, sizeof *r->urls, err));
    HUB_TRY(hub_new(&r->wanted, r->count + 1, sizeof *r->wanted, err));
    HUB_TRY(hub_new(&r->formats, r->count + 1, sizeof *r->formats, err));
    for (uint32_t i = 0; i < r->count; i++)
        if (asprintf(&r->urls[i], "%s/api/datasets/%s/%s/revision/%s", r->hf->endpoint, r->hf->org,
                     r->names[i], r->hf->revision) < 0) {
            r->urls[i] = NULL;
            return hub_no_memory(err);
        }
    return hub_remote_each(remote, url_of, r->count, HUB_HF_PAGE_BYTES, take_siblings, r, err);
}

/* A repo that has nothing of Minari's. What it holds is looked at where revisions are needed; else it is
 * named, and its format as far as names say. */
static enum hub_status add_other_repo(struct hub_remote *remote, const struct repo_list *repos, uint32_t i,
                                      const struct hub_remote_query *q, struct hub_found_list *out,
                                      struct hub_error *err)
{
    static const struct hub_remote_files nothing;
    const char *repo = repos->names[i];
    struct hub_found *found;
    if (q->only == HUB_REMOTE_MINARI)
        return hub_remote_left_add(q->left, hub_view_of(repo), 0, 0, err);
    if (q->exact)
        return hub_hf_find_repo(
            remote, &(struct hub_hf_wish){.repo = repo, .named = true, .only = q->only, .left = q->left}, out,
            err);
    HUB_TRY(hub_found_add(out, repo, &nothing, "", &found, err));
    found->plain = true;
    found->format = repos->formats[i];
    return HUB_OK;
}

static enum hub_status add_repo(struct hub_remote *remote, const struct repo_list *repos, uint32_t i,
                                const struct hub_remote_query *q, struct hub_found_list *out,
                                struct hub_error *err)
{
    const uint32_t before = out->count;
    const char *repo = repos->names[i];
    const struct hub_hf_wish wish = {.repo = repo, .only = q->only, .left = q->left};
    struct hub_error why = {0};
    enum hub_status st = repos->wanted[i] ? hub_hf_find_repo(remote, &wish, out, &why) : HUB_OK;
    if (!st && out->count == before)
        st = add_other_repo(remote, repos, i, q, out, &why);
    if (st == HUB_DENIED && q->left) /* one that is closed hides no other */
        return hub_remote_left_add(q->left, hub_view_of(repo), 0, 0, err);
    return st ? hub_pass(st, &why, err) : HUB_OK;
}

static enum hub_status find_all(struct hub_remote *remote, const struct hub_remote_query *q,
                                struct hub_found_list *out, struct hub_error *err)
{
    const struct hub_hf *h = remote->own;
    HUB_CLEANUP(dispose_repos) struct repo_list repos = {.hf = h, .prefix = q->prefix};
    char path[PATH_MAX], query[256];
    snprintf(path, sizeof path, "%s/api/datasets", h->endpoint);
    snprintf(query, sizeof query, "author=%s", h->org);
    HUB_TRY(hub_hf_each(remote, "", path, query, take_repo, &repos, err));
    HUB_TRY(look_at_all(remote, &repos, err));
    for (uint32_t i = 0; i < repos.count; i++)
        HUB_TRY(add_repo(remote, &repos, i, q, out, err));
    if (!out->count && !q->prefix)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_REPO_EMPTY, "'hf://%s' has no datasets%s", h->org,
                           repos.count ? " of Minari, but other repos" : "");
    return HUB_OK;
}

static enum hub_status list(struct hub_remote *remote, const struct hub_remote_query *q,
                            hub_remote_item_fn fn, void *user, struct hub_error *err)
{
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list found = {0};
    const struct hub_hf *h = remote->own;
    const struct hub_hf_wish wish = {.repo = h->repo, .named = true, .only = q->only, .left = q->left};
    HUB_TRY(*h->repo ? hub_hf_find_repo(remote, &wish, &found, err) : find_all(remote, q, &found, err));
    return hub_found_each(remote, &found, q, fn, user, err);
}

/* REPO[/FOLDER] of an id; the repo is to be freed. */
static enum hub_status split_id(const struct hub_remote *remote, const char *id, char **repo,
                                const char **folder, struct hub_error *err)
{
    const struct hub_hf *h = remote->own;
    const size_t size = strcspn(id, "/");
    HUB_TRY(hub_id_check(hub_view_of(id), err));
    if (!is_name((struct hub_view){id, size}) ||
        (*h->repo && (strlen(h->repo) != size || strncmp(h->repo, id, size) != 0)))
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "there is no dataset '%.200s'",
                           id);
    *folder = id[size] ? id + size + 1 : "";
    *repo = strndup(id, size);
    return hub_allocated(*repo, err);
}

static enum hub_status as_dataset(enum hub_status st, const char *id, struct hub_error *err)
{
    const bool gone = st == HUB_NOT_FOUND && err && err->problem == HUB_PROBLEM_REPO_MISSING;
    return gone ? hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                              "there is no dataset '%.200s'", id)
                : st;
}

/* An id without its version may name the repo of one with it: a repo a version. */
static enum hub_status find_versions(struct hub_remote *remote, const char *repo, struct hub_found_list *out,
                                     struct hub_error *err)
{
    const struct hub_hf *h = remote->own;
    HUB_CLEANUP(dispose_repos) struct repo_list repos = {.hf = h};
    char path[PATH_MAX], query[512];
    struct hub_view name, other;
    uint32_t version;
    (void)hub_id_split_alias(hub_view_of(repo), &name, &version);
    snprintf(path, sizeof path, "%s/api/datasets", h->endpoint);
    snprintf(query, sizeof query, "author=%s&search=%.*s", h->org, (int)name.size, name.data);
    HUB_TRY(hub_hf_each(remote, "", path, query, take_repo, &repos, err));
    for (uint32_t i = 0; i < repos.count; i++)
        if (hub_id_split_alias(hub_view_of(repos.names[i]), &other, &version) && hub_view_equal(name, other))
            HUB_TRY(hub_hf_find_repo(remote, &(struct hub_hf_wish){.repo = repos.names[i]}, out, err));
    return HUB_OK;
}

static enum hub_status describe(struct hub_remote *remote, const char *id, const char *release,
                                struct hub_buf *text, json_t **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_found_dispose) struct hub_found_list found = {0};
    HUB_CLEANUP(hub_freep) char *repo = NULL;
    const struct hub_hf *h = remote->own;
    const char *folder;
    struct hub_error why = {0};
    HUB_TRY(split_id(remote, id, &repo, &folder, err));
    const struct hub_hf_wish wish = {.repo = repo, .named = true, .whole = !*folder};
    enum hub_status st = as_dataset(hub_hf_find_repo(remote, &wish, &found, &why), id, &why);
    if (st == HUB_NOT_FOUND && !*folder && !*h->repo)
        st = find_versions(remote, repo, &found, &why);
    if (st && err)
        *err = why;
    if (st)
        return st;
    return hub_found_describe(remote, &found, id, release, text, out, err);
}

static enum hub_status list_files(struct hub_hf_commit *p, const char *id, const char *folder,
                                  struct hub_remote_files *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf pin = HUB_BUF_INIT(32 * KIB);
    HUB_TRY(as_dataset(hub_hf_commit_find(p, err), id, err));
    HUB_TRY(hub_hf_commit_list(p, folder, true, err));
    HUB_TRY(hub_remote_files_below(&p->tree, folder, out, err));
    if (!out->count)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND, "no dataset '%.200s'", id);
    HUB_TRY(hub_hf_commit_url(p, folder, "", &pin, err));
    out->pin = hub_buf_take(&pin, NULL);
    return HUB_OK;
}

static enum hub_status files(struct hub_remote *remote, const char *id, const char *revision,
                             struct hub_remote_files *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *repo = NULL;
    const char *folder;
    (void)revision;
    HUB_TRY(split_id(remote, id, &repo, &folder, err));
    HUB_CLEANUP(hub_hf_commit_dispose) struct hub_hf_commit p = {.remote = remote, .repo = repo};
    return list_files(&p, id, folder, out, err);
}

static enum hub_status open_file(const struct hub_remote *remote, const struct hub_remote_files *files_of,
                                 const struct hub_file_facts *file, struct hub_buf *url,
                                 struct hub_fetch *fetch, struct hub_error *err)
{
    (void)remote;
    (void)fetch;
    HUB_TRY(hub_buf_add_text(url, files_of->pin, err));
    return hub_uri_encode_path(hub_view_of(file->path), url, err);
}

/* Of the repo's newest commit, not of that of the files: it is no part of a dataset. */
static enum hub_status space(const struct hub_remote *remote, const char *name, struct hub_buf *url,
                             struct hub_error *err)
{
    const struct hub_hf *h = remote->own;
    const size_t size = strcspn(name, "/");
    HUB_TRY(hub_buf_addf(url, err, "%s/datasets/%s/%.*s/resolve/%s/", h->endpoint, h->org, (int)size, name,
                         h->revision));
    HUB_TRY(hub_uri_encode_path(hub_view_of(name[size] ? name + size + 1 : ""), url, err));
    return hub_buf_addf(url, err, "%s%s", name[size] ? "/" : "", HUB_HF_NAMESPACE_FILE);
}

const struct hub_remote_kind hub_remote_hf = {
    .noun = "repo",
    .piece_bytes = 64 * MIB, /* each is resolved by itself, and resolving is limited */
    .is_address = is_address,
    .begin = begin,
    .end = end,
    .list = list,
    .describe = describe,
    .files = files,
    .open = open_file,
    .space = space,
};
