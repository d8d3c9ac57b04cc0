/* Repos: see hf.h. */
#include "server/facade/hf.h"

#include "server/api/commits.h"
#include "server/api/response_cache.h"
#include "server/api/visible.h"
#include "server/mirror/listed.h"
#include "storage/base/digest.h"
#include "storage/ids/hf_cache.h"
#include "storage/model/format_row.h"
#include "storage/truth/upstream.h"

#include <inttypes.h>
#include <stdio.h>

void hub_hf_repo_dispose(struct hub_hf_repo *repo)
{
    hub_buf_dispose(&repo->begins);
}

/* huggingface_hub's rule for the parts of a repo's id. */
size_t hub_hf_repo_author(const struct hub_hf_repo *repo)
{
    const size_t size = repo->org.size;
    const bool is_own = repo->begins.size > size + 1 &&
                        memcmp(repo->begins.data, repo->org.data, size) == 0 &&
                        repo->begins.data[size] == '/';
    return is_own ? size + 1 : 0;
}

bool hub_hf_can_be_named(struct hub_view segment)
{
    static const char others[] = "-_.";
    if (!segment.size || segment.size > 96 || strchr("-.", segment.data[0]) ||
        strchr("-.", segment.data[segment.size - 1]) || hub_view_ends(segment, ".git"))
        return false;
    for (size_t i = 0; i < segment.size; i++) {
        const char c = segment.data[i];
        const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!plain && !memchr(others, c, sizeof others - 1))
            return false;
        if (i && strchr("-.", c) && segment.data[i - 1] == c)
            return false;
    }
    return true;
}

/* `top`: it lies there, without its author. */
static enum hub_status set_begins(struct hub_hf_repo *repo, bool top, struct hub_error *err)
{
    hub_buf_dispose(&repo->begins);
    repo->begins = HUB_BUF_INIT(KIB);
    if (!top) {
        HUB_TRY(hub_buf_add_view(&repo->begins, repo->org, err));
        HUB_TRY(hub_buf_add_text(&repo->begins, "/", err));
    }
    HUB_TRY(hub_buf_add_view(&repo->begins, repo->name, err));
    return hub_buf_add_text(&repo->begins, "/", err);
}

/* What is known of a repo in one snapshot. */
struct cached_repo {
    unsigned count;
    int64_t modified_ns;
    const char *topic; /* of a format's row, or NULL */
    char commit[41], tag[16];
    bool fetched; /* the commit is upstream's */
};

/* A repo stays at its commit when what was listed of an upstream has come: that is called here as there. */
static enum hub_status add_revision(const struct hub_app *app, const struct hub_summary *summary,
                                    struct hub_digest *digest, struct hub_error *err)
{
    struct hub_upstream known;
    struct hub_rule rule;
    bool pulled = false;
    if (!hub_summary_is_here(summary) ||
        hub_upstream_find(app->truth, summary->root, summary->path, false, &known, NULL))
        return hub_digest_add(digest, hub_view_of(summary->revision), err);
    if (*known.revision && hub_rule_find(app->truth, known.rule, &rule, NULL) == HUB_OK) {
        pulled = hub_rule_pulls(&rule);
        hub_rule_dispose(&rule);
    }
    const enum hub_status st =
        hub_digest_add(digest, hub_view_of(pulled ? known.revision : summary->revision), err);
    hub_upstream_dispose(&known);
    return st;
}

/* In the cache of huggingface_hub a repo is at the commit that was fetched, as it is upstream. */
static void take_commit(struct cached_repo *repo, const struct hub_summary *summary)
{
    const struct hub_view commit = hub_hf_cache_commit(hub_view_of(summary->path));
    const bool whole =
        commit.size == sizeof repo->commit - 1 && strspn(commit.data, "0123456789abcdef") >= commit.size;
    const bool same = !repo->count || memcmp(repo->commit, commit.data, commit.size) == 0;
    repo->fetched = whole && same && (repo->fetched || !repo->count);
    if (repo->fetched)
        memcpy(repo->commit, commit.data, commit.size);
}

/* The last dataset whose format has tags gives them; before it states its version it has none. */
static void take_tags(struct cached_repo *repo, const struct hub_summary *summary)
{
    const struct hub_format_traits *format = hub_format_traits_of(summary->format);
    if (format->era_is_version && strlen(summary->era) < sizeof repo->tag)
        strcpy(repo->tag, summary->era);
    if (format->repo_tag)
        repo->topic = !format->era_is_version || repo->tag[0] ? format->repo_tag : NULL;
}

/* By what is in it: ids and revisions, which are made of paths, sizes and times. */
static enum hub_status look_at_all(const struct hub_objects *objects, struct hub_view begins,
                                   struct cached_repo *repo, struct hub_digest *digest, struct hub_error *err)
{
    const struct hub_summary *summary;
    for (uint32_t at = 0; (summary = hub_objects_below(objects, begins, &at)); repo->count++) {
        HUB_TRY(hub_digest_add(digest, hub_view_of(summary->id), err));
        HUB_TRY(hub_digest_add(digest, HUB_VIEW("\n"), err));
        HUB_TRY(add_revision(objects->app, summary, digest, err));
        take_commit(repo, summary);
        repo->modified_ns = HUB_MAX(repo->modified_ns, summary->modified_ns);
        take_tags(repo, summary);
    }
    return HUB_OK;
}

static enum hub_status make(const struct hub_request *request, struct hub_view begins,
                            struct cached_repo *repo, struct hub_error *err)
{
    HUB_CLEANUP(hub_objects_dispose) struct hub_objects objects = {0};
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    uint8_t sum[HUB_DIGEST_MAX];
    HUB_TRY(hub_objects_open(request, &objects, err));
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, err));
    HUB_TRY(look_at_all(&objects, begins, repo, &digest, err));
    HUB_TRY(hub_digest_end(&digest, sum, err));
    if (!repo->fetched)
        hub_hex(sum, 20, repo->commit);
    return HUB_OK;
}

static enum hub_status look_up(struct hub_request *request, struct hub_hf_repo *out, struct hub_error *err)
{
    const struct hub_snapshot *snapshot = hub_request_snapshot(request);
    const struct hub_cached_response_key key = {
        .kind = HUB_KEPT_REPO, .state = snapshot->generation, .question = hub_buf_view(&out->begins)};
    struct cached_repo repo = {0};
    hub_snapshot_put(snapshot);
    HUB_CLEANUP(hub_cached_response_putp)
    struct hub_cached_response *answer = hub_cached_response_find(request->app, &key);
    if (answer) {
        repo = *(const struct cached_repo *)hub_cached_response_object(answer);
    } else {
        if (!request->may_block)
            return HUB_AGAIN;
        HUB_TRY(make(request, key.question, &repo, err));
        const struct hub_cached_response_content content = {.object = &repo, .bytes = sizeof repo};
        hub_cached_response_put(hub_cached_response_add(request->app, &key, &content));
    }
    out->count = repo.count;
    out->modified_ns = repo.modified_ns;
    memcpy(out->commit, repo.commit, sizeof out->commit);
    memcpy(out->tag, repo.tag, sizeof out->tag);
    out->topic = repo.topic;
    return HUB_OK;
}

/* Where it would lie, a rule may hide it. */
static enum hub_status look_for_rule(const struct hub_request *request, const struct hub_hf_repo *repo,
                                     bool *hidden, struct hub_error *err)
{
    const struct hub_view begins = hub_buf_view(&repo->begins), id = {begins.data, begins.size - 1};
    *hidden |= !hub_request_may_read(request, id) || !hub_request_may_read(request, begins);
    HUB_TRY(hub_request_absent(request, id, err));
    return hub_request_absent(request, begins, err);
}

/* What a rule hides is not asked of an upstream either, which would learn its name. */
static enum hub_status not_found(const struct hub_request *request, struct hub_hf_repo *repo, bool top,
                                 struct hub_error *err)
{
    bool hidden = false;
    HUB_TRY(look_for_rule(request, repo, &hidden, err));
    if (top) {
        HUB_TRY(set_begins(repo, true, err));
        HUB_TRY(look_for_rule(request, repo, &hidden, err));
    }
    return hub_fail_as(err, hidden ? HUB_DENIED : HUB_NOT_FOUND, HUB_PROBLEM_DATASET_NOT_FOUND,
                       "Repository not found: %.200s/%.200s", repo->org.data, repo->name.data);
}

enum hub_status hub_hf_repo_named(struct hub_request *request, struct hub_view org, struct hub_view name,
                                  struct hub_hf_repo *out, struct hub_error *err)
{
    const bool top = hub_view_is(org, request->app->author),
               named = hub_hf_can_be_named(org) && hub_hf_can_be_named(name);
    out->org = org;
    out->name = name;
    HUB_TRY(set_begins(out, top, err));
    if (named)
        HUB_TRY(look_up(request, out, err));
    if (named && top && !out->count) { /* in the cache of huggingface_hub it lies below its author */
        HUB_TRY(set_begins(out, false, err));
        HUB_TRY(look_up(request, out, err));
    }
    return out->count ? HUB_OK : not_found(request, out, top, err);
}

enum hub_status hub_hf_repo_open(struct hub_request *request, struct hub_hf_repo *out, struct hub_error *err)
{
    return hub_hf_repo_named(request, hub_request_capture(request, "org"),
                             hub_request_capture(request, "name"), out, err);
}

/* As the list of refs calls it: "refs/heads/main". */
static bool is_ref(struct hub_view rev, const char *kind, const char *name)
{
    char ref[64];
    snprintf(ref, sizeof ref, "refs/%s/%s", kind, name);
    return hub_view_is(rev, ref);
}

/* The commit, or as much of it as git takes for one. */
static bool is_commit(struct hub_view rev, const char *commit)
{
    return rev.size >= 7 && rev.size <= 40 && memcmp(rev.data, commit, rev.size) == 0;
}

/* The repo at the commit of a snapshot that main does not name. */
static enum hub_status go_to(struct hub_request *request, struct hub_hf_repo *repo,
                             const struct hub_summary *summary, struct hub_error *err)
{
    const struct hub_view commit = hub_hf_cache_commit(hub_view_of(summary->path));
    repo->begins.size--; /* the slash */
    HUB_TRY(hub_buf_addf(&repo->begins, err, "@%.*s/", (int)commit.size, commit.data));
    repo->other = true;
    repo->count = 0;
    return look_up(request, repo, err);
}

/* HUB_NOT_FOUND (without an error): nothing of that revision is here. */
static enum hub_status find_other(struct hub_request *request, struct hub_hf_repo *repo, struct hub_view rev,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_objects_dispose) struct hub_objects objects = {0};
    const struct hub_summary *summary, *found = NULL;
    uint32_t at = 0;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(hub_objects_open(request, &objects, err));
    while ((summary = hub_objects_below(&objects, hub_buf_view(&repo->begins), &at))) {
        const enum hub_status st = hub_commit_find(request, objects.snapshot, summary, rev, &found, err);
        if (st != HUB_NOT_FOUND)
            return st ? st : found == summary ? HUB_OK : go_to(request, repo, found, err);
    }
    return HUB_NOT_FOUND;
}

enum hub_status hub_hf_revision(struct hub_request *request, struct hub_hf_repo *repo, struct hub_error *err)
{
    const struct hub_view rev = hub_request_capture(request, "rev");
    if (!rev.data || hub_view_is(rev, "main") || hub_view_is(rev, "HEAD") || is_ref(rev, "heads", "main") ||
        is_commit(rev, repo->commit) ||
        (repo->tag[0] && (hub_view_is(rev, repo->tag) || is_ref(rev, "tags", repo->tag))))
        return HUB_OK;
    const enum hub_status st = find_other(request, repo, rev, err);
    if (st != HUB_NOT_FOUND)
        return st;
    return hub_fail_about(err, HUB_NOT_FOUND, HUB_PROBLEM_REVISION_NOT_FOUND, "rev", rev.data,
                          "Invalid rev id: %.200s; the current commit is %s", rev.data, repo->commit);
}

enum hub_status hub_hf_file_id(const struct hub_object *object, const struct hub_object_facts *facts,
                               struct hub_hf_file_id *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(128 * KIB);
    uint8_t sum[HUB_DIGEST_MAX];
    memcpy(out->sha256, facts->digests.sha256, sizeof out->sha256);
    HUB_TRY(hub_buf_addf(&text, err, "%" PRIu64 " %" PRId64 " ", facts->size, facts->modified_ns));
    HUB_TRY(hub_buf_add_view(&text, object->name, err));
    HUB_TRY(hub_digest_of(HUB_SHA1, hub_buf_view(&text), sum, err));
    hub_hex(sum, HUB_SHA1_BYTES, out->oid);
    return HUB_OK;
}

void hub_hf_put_lfs(struct hub_json *json, const char *key, const struct hub_hf_file_id *id, uint64_t size)
{
    hub_json_put_object(json, "lfs");
    hub_json_put_text(json, key, id->sha256);
    hub_json_put_uint(json, "size", size);
    hub_json_put_uint(json, "pointerSize", 134); /* that of the text that stands for it in git */
    hub_json_end_object(json);
}
