/* Lists of repos. */
#include "server/facade/handlers.h"
#include "server/facade/hf.h"
#include "server/facade/hf_push.h"

#include "server/api/cursor.h"
#include "server/api/pushes/adopt.h"
#include "server/api/visible.h"
#include "storage/ids/hf_cache.h"
#include "storage/model/format_row.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct listed_repo {
    char id[256];
    int64_t modified_ns; /* time of its last change */
};

struct repo_listing {
    struct hub_request *request;
    struct hub_json json;
    struct hub_view author;
    struct listed_repo *all, *last; /* those that are meant; the last that was given out */
    uint32_t known, count, limit;
    bool by_time, ascending;
};

/* The repo that a dataset is in, "org/name": that of Minari's namespace, or its first two folders, which are
 * ORG/NAME in the cache of huggingface_hub whatever the format. False: none. */
static bool repo_of(const struct hub_app *app, const struct hub_summary *summary, char out[256],
                    struct hub_view *org, struct hub_view *name)
{
    const char *first = strchr(summary->id, '/');
    const bool minari = hub_is_minari(summary) && !hub_hf_cache_commit(hub_view_of(summary->path)).size;
    if (!first && minari) /* Python Minari asks for a repo that is called as its author, and gives up */
        return false;
    const char *second = first ? strchrnul(first + 1, '/') : NULL;
    const int size =
        first && !minari
            ? snprintf(out, 256, "%.*s", (int)(second - summary->id), summary->id)
            : snprintf(out, 256, "%s/%.*s", app->author,
                       (int)(first ? first - summary->id : (ptrdiff_t)strlen(summary->id)), summary->id);
    const char *slash = size < 256 ? strchr(out, '/') : NULL;
    if (!slash)
        return false;
    *org = (struct hub_view){out, (size_t)(slash - out)};
    *name = hub_view_of(slash + 1);
    return hub_hf_can_be_named(*org) && hub_hf_can_be_named(*name);
}

/* One that was pushed is at the head of its branch main, whether or not the catalogue has it. */
static enum hub_status take_pushed(const struct repo_listing *r, struct hub_hf_repo *repo,
                                   enum hub_status listed, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf id = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row row = {0};
    HUB_CLEANUP(hub_push_dispose) struct hub_push head = {0};
    const struct hub_app *app = r->request->app;
    bool current = false;
    if (!hub_repos_any(app->truth))
        return listed;
    HUB_TRY(hub_hf_repo_id(app, repo->org, repo->name, &id, err));
    const enum hub_status st = hub_repo_find(app->truth, id.data, &row, NULL);
    if (!st)
        HUB_TRY(hub_repo_is_current(app, &row, &current, err));
    if (!current)
        return listed;
    HUB_TRY(hub_push_named(app->truth, row.id, HUB_VIEW("main"), &head, err));
    memcpy(repo->commit, head.id, sizeof repo->commit);
    repo->modified_ns = head.at_ms * 1000000;
    return HUB_OK;
}

static enum hub_status add_repo(struct repo_listing *r, struct hub_view org, struct hub_view name,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_hf_repo_dispose) struct hub_hf_repo repo = {0};
    HUB_CLEANUP(hub_freep) char *copy = hub_view_dup(org);
    HUB_TRY(hub_allocated(copy, err));
    enum hub_status st = hub_hf_repo_named(r->request, (struct hub_view){copy, org.size}, name, &repo, err);
    if (!st || st == HUB_NOT_FOUND)
        st = take_pushed(r, &repo, st, err);
    if (st)
        return st == HUB_NOT_FOUND ? HUB_OK : st;
    hub_json_object(&r->json);
    HUB_TRY(hub_hf_put_head(&r->json, &repo, err));
    hub_json_end_object(&r->json);
    r->count++;
    return HUB_OK;
}

/* Those of a name that may be given several times: all have to hold. */
static bool has_all(const struct hub_request *request, const char *name, const char *text,
                    bool (*has)(const char *text, struct hub_view wanted))
{
    for (unsigned i = 0; i < request->query_count; i++)
        if (hub_view_is(request->query[i].name, name) && request->query[i].value.size &&
            !has(text, request->query[i].value))
            return false;
    return true;
}

static bool has_words(const char *id, struct hub_view wanted)
{
    return strcasestr(id, wanted.data);
}

static bool has_tag(const char *tag, struct hub_view wanted)
{
    return hub_view_is(wanted, tag);
}

/* By author and words alone: tags come of the format. */
static bool is_named(const struct repo_listing *r, const char *id, struct hub_view org)
{
    return (!r->author.size || hub_view_equal(org, r->author)) &&
           has_all(r->request, "search", id, has_words) && has_all(r->request, "filter", "", has_tag);
}

/* Its tags are known by the format; no repo here is gated. */
static bool is_meant(const struct repo_listing *r, const struct hub_summary *summary, const char *id,
                     struct hub_view org)
{
    const struct hub_view gated = hub_request_query(r->request, "gated");
    const char *tag = hub_format_traits_of(summary->format)->repo_tag;
    if (r->author.size && !hub_view_equal(org, r->author))
        return false;
    return has_all(r->request, "search", id, has_words) &&
           has_all(r->request, "filter", tag ? tag : "", has_tag) &&
           !(gated.size && strcasecmp(gated.data, "false") != 0);
}

static int by_id(const void *a, const void *b)
{
    return strcmp(((const struct listed_repo *)a)->id, ((const struct listed_repo *)b)->id);
}

static int by_time(const void *a, const void *b)
{
    const int64_t first = ((const struct listed_repo *)a)->modified_ns,
                  second = ((const struct listed_repo *)b)->modified_ns;
    return first != second ? (first < second) - (first > second) : by_id(a, b);
}

static int by_time_ascending(const void *a, const void *b)
{
    return by_time(b, a);
}

static int (*order_of(const struct repo_listing *r))(const void *, const void *)
{
    return !r->by_time ? by_id : r->ascending ? by_time_ascending : by_time;
}

/* Datasets of one repo count as one. */
static void merge(struct repo_listing *r)
{
    uint32_t count = 0;
    qsort(r->all, r->known, sizeof *r->all, by_id);
    for (uint32_t i = 0; i < r->known; i++) {
        struct listed_repo *before = count ? &r->all[count - 1] : NULL;
        if (before && strcmp(before->id, r->all[i].id) == 0)
            before->modified_ns = HUB_MAX(before->modified_ns, r->all[i].modified_ns);
        else
            r->all[count++] = r->all[i];
    }
    r->known = count;
    qsort(r->all, r->known, sizeof *r->all, order_of(r));
}

/* Those that were pushed, for the catalogue may not have them. */
struct pushed_repos {
    const struct repo_listing *r;
    struct listed_repo *all;
    uint32_t count, capacity;
};

static enum hub_status note_pushed(void *user, const struct hub_repo_row *row, struct hub_error *err)
{
    struct pushed_repos *p = user;
    const char *author = strchr(row->id, '/') ? "" : p->r->request->app->author;
    if (!hub_request_may_read(p->r->request, hub_view_of(row->id)))
        return HUB_OK;
    HUB_TRY(hub_grow(&p->all, p->count, &p->capacity, sizeof *p->all, err));
    struct listed_repo *listed = &p->all[p->count];
    const int size = snprintf(listed->id, sizeof listed->id, "%s%s%s", author, *author ? "/" : "", row->id);
    const struct hub_view org = {listed->id, strcspn(listed->id, "/")};
    listed->modified_ns = row->made_ms * 1000000;
    p->count += (size_t)size < sizeof listed->id && is_named(p->r, listed->id, org);
    return HUB_OK;
}

static void collect(struct repo_listing *r, const struct hub_snapshot *snapshot)
{
    struct hub_view org, name;
    for (uint32_t i = 0; i < snapshot->count; i++) {
        const struct hub_summary *summary = snapshot->summaries[i];
        struct listed_repo *listed = &r->all[r->known];
        listed->modified_ns = summary->modified_ns;
        r->known += hub_summary_is_offered(summary) &&
                    repo_of(r->request->app, summary, listed->id, &org, &name) &&
                    is_meant(r, summary, listed->id, org);
    }
    merge(r);
}

/* Those behind `after`, up to the limit. */
static enum hub_status write_repos(struct repo_listing *r, const struct listed_repo *after, bool *more,
                                   struct hub_error *err)
{
    for (uint32_t i = 0; i < r->known; i++) {
        struct listed_repo *listed = &r->all[i];
        if (*after->id && order_of(r)(listed, after) <= 0)
            continue;
        *more = r->count == r->limit;
        if (*more)
            return HUB_OK;
        const char *slash = strchr(listed->id, '/');
        HUB_TRY(add_repo(r, (struct hub_view){listed->id, (size_t)(slash - listed->id)},
                         hub_view_of(slash + 1), err));
        r->last = listed;
    }
    return HUB_OK;
}

static void repos_dispose(struct repo_listing *r)
{
    free(r->all);
}

/* What there is to sort by is the time: nobody counts downloads or likes. The newest come first, as there. */
static enum hub_status read_repos(struct hub_request *request, struct repo_listing *r,
                                  struct listed_repo *after, struct hub_error *err)
{
    struct hub_page_cursor cursor = {0};
    int64_t limit = 1000;
    const struct hub_view sort = hub_request_query(request, "sort");
    r->request = request;
    r->author = hub_request_query(request, "author");
    r->by_time = sort.data && (hub_view_is(sort, "lastModified") || hub_view_is(sort, "last_modified") ||
                               hub_view_is(sort, "createdAt") || hub_view_is(sort, "created_at"));
    r->ascending = hub_view_is(hub_request_query(request, "direction"), "1");
    (void)hub_request_int(request, "limit", &limit);
    r->limit = limit > 0 && limit < 1000 ? (uint32_t)limit : 1000;
    if (hub_request_query(request, "cursor").data)
        HUB_TRY(hub_cursor_decode(hub_request_query(request, "cursor"), "", &cursor, err));
    snprintf(after->id, sizeof after->id, "%.255s", cursor.key);
    after->modified_ns = strtoll(cursor.tie, NULL, 10);
    return HUB_OK;
}

static enum hub_status link_repos(const struct repo_listing *r, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(16 * KIB);
    struct hub_page_cursor next = {0};
    snprintf(next.key, sizeof next.key, "%s", r->last->id);
    snprintf(next.tie, sizeof next.tie, "%" PRId64, r->last->modified_ns);
    HUB_TRY(hub_page_next_url(r->request, &next, &url, err));
    return hub_response_header(response, err, "Link", "<%s>; rel=\"next\"", url.data);
}

static enum hub_status take_all(struct repo_listing *r, const struct hub_snapshot *snapshot,
                                struct hub_error *err)
{
    struct pushed_repos pushed = {.r = r};
    enum hub_status st = hub_repos_any(r->request->app->truth)
                             ? hub_repos_each(r->request->app->truth, note_pushed, &pushed, err)
                             : HUB_OK;
    if (!st)
        st = hub_new(&r->all, snapshot->count + pushed.count + (size_t)1, sizeof *r->all, err);
    if (!st) {
        if (pushed.count)
            memcpy(r->all, pushed.all, pushed.count * sizeof *r->all);
        r->known = pushed.count;
        collect(r, snapshot);
    }
    free(pushed.all);
    return st;
}

enum hub_status hub_hf_repos(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    HUB_CLEANUP(hub_snapshot_putp) const struct hub_snapshot *snapshot = NULL;
    HUB_CLEANUP(repos_dispose) struct repo_listing r = {0};
    struct listed_repo after;
    bool more = false;
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(read_repos(request, &r, &after, err));
    snapshot = hub_request_snapshot(request);
    HUB_TRY(take_all(&r, snapshot, err));
    r.json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 16 * MIB), err);
    hub_json_array(&r.json);
    HUB_TRY(write_repos(&r, &after, &more, err));
    hub_json_end_array(&r.json);
    if (more)
        HUB_TRY(link_repos(&r, response, err));
    return hub_json_status(&r.json);
}
