/* What is in a repo: its tree, a folder of it, or some of its files. */
#include "server/facade/cached_answer.h"
#include "server/facade/handlers.h"
#include "server/facade/hf.h"
#include "server/facade/hf_paths.h"
#include "server/facade/hf_pushed.h"
#include "server/facade/hf_upstream.h"

#include "server/api/cursor.h"
#include "storage/ids/spell.h"

#include <stdlib.h>

enum { PAGE = 1000, MOST_PATHS = 10000 };

/* ---- a folder ---- */

struct repo_tree {
    struct hub_request *request;
    struct hub_hf_repo repo;
    struct hub_objects objects;
    struct hub_buf folder, last, skip, path; /* whole names; the last folder that was given out */
    struct hub_json json;
    bool recursive, expand;
    uint32_t count, asked;
    struct hub_page_cursor next;
};

static void tree_dispose(struct repo_tree *t)
{
    hub_hf_repo_dispose(&t->repo);
    hub_objects_dispose(&t->objects);
    hub_buf_dispose(&t->folder);
    hub_buf_dispose(&t->last);
    hub_buf_dispose(&t->skip);
    hub_buf_dispose(&t->path);
}

static enum hub_status set(struct hub_buf *buf, struct hub_view text, struct hub_error *err)
{
    buf->size = 0;
    return hub_buf_add_view(buf, text, err);
}

/* Its path in the repo, as text. */
static enum hub_status path_of(struct repo_tree *t, struct hub_view name, struct hub_error *err)
{
    const size_t before = t->repo.begins.size;
    t->path.size = 0;
    return hub_spell_path((struct hub_view){name.data + before, name.size - before}, &t->path, err);
}

/* The commit that changed it last: there is one, and the time is that of the disk. */
static void put_last_commit(struct repo_tree *t, int64_t modified_ns)
{
    if (!t->expand)
        return;
    hub_json_put_object(&t->json, "lastCommit");
    hub_hf_put_commit(&t->json, &t->repo, modified_ns);
    hub_json_end_object(&t->json);
}

static enum hub_status add_file(struct repo_tree *t, const struct hub_object *object, struct hub_view path,
                                struct hub_error *err)
{
    HUB_CLEANUP(hub_object_facts_dispose) struct hub_object_facts facts = {0};
    struct hub_hf_file_id id;
    HUB_TRY(hub_object_facts(t->request, object, true, &facts, err));
    HUB_TRY(hub_hf_file_id(object, &facts, &id, err));
    hub_json_object(&t->json);
    hub_json_put_text(&t->json, "type", "file");
    hub_json_put_text(&t->json, "oid", id.oid);
    hub_json_put_uint(&t->json, "size", facts.size);
    if (id.sha256[0])
        hub_hf_put_lfs(&t->json, "oid", &id, facts.size);
    else
        hub_json_put_bool(&t->json, "unhashed",
                          true); /* the oid is of its state, and not that of a git blob */
    hub_json_put_string(&t->json, "path", path);
    put_last_commit(t, facts.modified_ns);
    hub_json_end_object(&t->json);
    t->count++;
    return hub_json_status(&t->json);
}

static enum hub_status add_folder(struct repo_tree *t, struct hub_view name, struct hub_error *err)
{
    HUB_TRY(path_of(t, name, err));
    hub_json_object(&t->json);
    hub_json_put_text(&t->json, "type", "directory");
    hub_json_put_string(&t->json, "oid", (struct hub_view){t->repo.commit, 40});
    hub_json_put_uint(&t->json, "size", 0);
    hub_json_put_string(&t->json, "path", hub_buf_view(&t->path));
    put_last_commit(t, t->repo.modified_ns);
    hub_json_end_object(&t->json);
    t->count++;
    return set(&t->last, name, err);
}

/* The folders on the way to an object that were not given out yet. */
static enum hub_status add_folders(struct repo_tree *t, struct hub_view name, bool *inside,
                                   struct hub_error *err)
{
    const size_t top = t->folder.size;
    *inside = false;
    for (size_t i = top; i < name.size; i++) {
        if (name.data[i] != '/')
            continue;
        const bool known = t->last.size >= i && memcmp(t->last.data, name.data, i) == 0 &&
                           (t->last.size == i || t->last.data[i] == '/');
        if (!known)
            HUB_TRY(add_folder(t, (struct hub_view){name.data, i}, err));
        *inside = true;
        if (!t->recursive)
            return HUB_OK;
    }
    return HUB_OK;
}

/* On behind all that is in the folder that the name goes through. */
static enum hub_status skip_folder(struct repo_tree *t, struct hub_error *err)
{
    HUB_TRY(set(&t->skip, hub_buf_view(&t->last), err));
    HUB_TRY(hub_buf_add_text(&t->skip, "0", err)); /* '0' follows '/': skip all below the folder */
    return hub_objects_seek(&t->objects, hub_buf_view(&t->skip), err);
}

static enum hub_status add_object(struct repo_tree *t, const struct hub_object *object, struct hub_error *err)
{
    bool inside;
    HUB_TRY(add_folders(t, object->name, &inside, err));
    if (inside && !t->recursive)
        return skip_folder(t, err);
    HUB_TRY(path_of(t, object->name, err));
    return add_file(t, object, hub_buf_view(&t->path), err);
}

static enum hub_status walk(struct repo_tree *t, struct hub_view from, struct hub_error *err)
{
    const struct hub_view folder = hub_buf_view(&t->folder);
    HUB_TRY(hub_objects_seek(&t->objects, from, err));
    for (;;) {
        struct hub_object object;
        const enum hub_status st = hub_objects_next(&t->objects, &object, err);
        if (st)
            return st == HUB_NOT_FOUND ? HUB_OK : st;
        if (object.name.size < folder.size || memcmp(object.name.data, folder.data, folder.size) != 0)
            return HUB_OK;
        if (t->count >= PAGE || t->objects.asked > HUB_MOST_ASKED) {
            if (object.name.size >= sizeof t->next.key)
                return hub_fail(err, HUB_TOO_BIG, "a page cannot end at the name '%.200s...'",
                                object.name.data);
            memcpy(t->next.key, object.name.data, object.name.size);
            if (t->last.size < sizeof t->next.tie) /* its page gave this folder and those above it */
                memcpy(t->next.tie, t->last.data, t->last.size);
            return HUB_OK;
        }
        HUB_TRY(add_object(t, &object, err));
    }
}

static enum hub_status read_tree(struct hub_request *request, struct repo_tree *t, struct hub_error *err)
{
    const struct hub_view path = hub_hf_without_slash(hub_request_capture(request, "path"));
    struct hub_buf *const bufs[] = {&t->folder, &t->last, &t->skip, &t->path};
    for (size_t i = 0; i < HUB_COUNT(bufs); i++)
        *bufs[i] = HUB_BUF_INIT(128 * KIB);
    t->request = request;
    t->recursive = hub_hf_is_true(hub_request_if_taken(request, "recursive"));
    t->expand = hub_hf_is_true(hub_request_if_taken(request, "expand"));
    HUB_TRY(hub_hf_repo_open(request, &t->repo, err));
    HUB_TRY(hub_hf_revision(request, &t->repo, err));
    HUB_TRY(hub_buf_add_view(&t->folder, hub_buf_view(&t->repo.begins), err));
    if (!path.size)
        return HUB_OK;
    HUB_TRY(hub_unspell(path, &t->folder, err));
    return hub_buf_add_text(&t->folder, "/", err);
}

static enum hub_status link_next(struct repo_tree *t, struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    if (!t->next.key[0])
        return HUB_OK;
    memcpy(t->next.scope, t->repo.commit, sizeof t->next.scope - 1);
    HUB_TRY(hub_page_next_url(t->request, &t->next, &url, err));
    return hub_response_header(response, err, "Link", "<%s>; rel=\"next\"", url.data);
}

static enum hub_status make_tree(struct hub_request *request, struct hub_response *response, bool *lasting,
                                 struct hub_error *err)
{
    HUB_CLEANUP(tree_dispose) struct repo_tree t = {0};
    struct hub_page_cursor after = {0};
    char scope[33] = "";
    HUB_TRY(read_tree(request, &t, err));
    const struct hub_view cursor = hub_request_query(request, "cursor");
    memcpy(scope, t.repo.commit, sizeof scope - 1);
    if (cursor.data)
        HUB_TRY(hub_cursor_decode(cursor, scope, &after, err));
    t.json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 32 * MIB), err);
    hub_json_array(&t.json);
    HUB_TRY(hub_objects_open(request, &t.objects, err));
    t.objects.others = t.repo.other;
    t.objects.author = hub_hf_repo_author(&t.repo);
    HUB_TRY(set(&t.last, hub_view_of(after.tie), err));
    HUB_TRY(walk(&t, after.key[0] ? hub_view_of(after.key) : hub_buf_view(&t.folder), err));
    if (!t.count && t.folder.size > t.repo.begins.size)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND,
                           "%.300s does not exist on \"%.60s\"", hub_request_capture(request, "path").data,
                           hub_request_capture(request, "rev").data);
    hub_json_end_array(&t.json);
    HUB_TRY(link_next(&t, response, err));
    *lasting = !t.objects.remote;
    HUB_TRY(hub_response_header(response, err, "X-Repo-Commit", "%s", t.repo.commit));
    return hub_json_status(&t.json);
}

static enum hub_status tree_here(struct hub_request *request, struct hub_response *response,
                                 struct hub_error *err)
{
    return hub_cached_answer(request, response, make_tree, err);
}

static enum hub_status tree_or_pushed(struct hub_request *request, struct hub_response *response,
                                      struct hub_error *err)
{
    return hub_hf_pushed_or(request, response, err, hub_hf_pushed_tree, tree_here);
}

enum hub_status hub_hf_tree(struct hub_request *request, struct hub_response *response, struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, tree_or_pushed);
}

/* ---- some files ---- */

/* A file, or a folder that something lies in; what is neither is left out. */
static enum hub_status add_path(void *user, struct hub_view text, struct hub_error *err)
{
    struct repo_tree *t = user;
    const struct hub_view path = hub_hf_without_slash(text);
    if (++t->asked > MOST_PATHS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d paths: send them in several requests", MOST_PATHS);
    struct hub_object object;
    const size_t before = t->repo.begins.size;
    HUB_TRY(set(&t->folder, hub_buf_view(&t->repo.begins), err));
    if (hub_unspell(path, &t->folder, NULL) || t->folder.size == before)
        return HUB_OK;
    HUB_TRY(hub_objects_seek(&t->objects, hub_buf_view(&t->folder), err));
    enum hub_status st = hub_objects_next(&t->objects, &object, err);
    if (!st && hub_view_equal(object.name, hub_buf_view(&t->folder)))
        return path.size == text.size ? add_file(t, &object, path, err) : HUB_OK;
    HUB_TRY(hub_buf_add_text(&t->folder, "/", err));
    HUB_TRY(hub_objects_seek(&t->objects, hub_buf_view(&t->folder), err));
    st = hub_objects_next(&t->objects, &object, err);
    if (!st && object.name.size > t->folder.size &&
        memcmp(object.name.data, t->folder.data, t->folder.size) == 0)
        return add_folder(t, (struct hub_view){t->folder.data, t->folder.size - 1}, err);
    return st == HUB_NOT_FOUND ? HUB_OK : st;
}

static enum hub_status paths_here(struct hub_request *request, struct hub_response *response,
                                  struct hub_error *err)
{
    HUB_CLEANUP(tree_dispose) struct repo_tree t = {0};
    if (!request->may_block)
        return HUB_AGAIN;
    HUB_TRY(read_tree(request, &t, err));
    t.json =
        hub_json_to(hub_response_buffer(response, 200, "application/json; charset=utf-8", 32 * MIB), err);
    hub_json_array(&t.json);
    HUB_TRY(hub_objects_open(request, &t.objects, err));
    t.objects.others = t.repo.other;
    t.objects.author = hub_hf_repo_author(&t.repo);
    HUB_TRY(hub_hf_paths_read(request, &t.expand, add_path, &t, err));
    hub_json_end_array(&t.json);
    return hub_json_status(&t.json);
}

static enum hub_status paths_or_pushed(struct hub_request *request, struct hub_response *response,
                                       struct hub_error *err)
{
    return hub_hf_pushed_or(request, response, err, hub_hf_pushed_paths, paths_here);
}

enum hub_status hub_hf_paths(struct hub_request *request, struct hub_response *response,
                             struct hub_error *err)
{
    return hub_hf_here_or_upstream(request, response, err, paths_or_pushed);
}
