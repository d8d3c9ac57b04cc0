/* What is in a repo that was pushed: its tree, a folder of it, or some of its files. */
#include "server/facade/hf_paths.h"
#include "server/facade/hf_pushed.h"

#include "server/api/cursor.h"
#include "storage/text/time.h"

#include <stdlib.h>

enum { PAGE = 1000, MOST_PATHS = 10000 };
#define JSON_TYPE "application/json; charset=utf-8"

struct tree {
    struct hub_request *request;
    struct hub_hf_pushed *pushed;
    struct hub_json json;
    struct hub_buf folder, last; /* "data/" or ""; the last folder that was given out */
    bool recursive, expand;
    uint32_t count, asked;
    struct hub_page_cursor next;
};

static void tree_dispose(struct tree *t)
{
    hub_buf_dispose(&t->folder);
    hub_buf_dispose(&t->last);
}

static void put_last_commit(struct tree *t)
{
    char text[HUB_TIME_CHARS];
    if (!t->expand)
        return;
    hub_time_rfc3339_ms(t->pushed->at.at_ms, text);
    hub_json_put_object(&t->json, "lastCommit");
    hub_json_put_text(&t->json, "id", t->pushed->at.id);
    hub_json_put_text(&t->json, "title", t->pushed->at.title);
    hub_json_put_text(&t->json, "date", text);
    hub_json_end_object(&t->json);
}

static enum hub_status put_file(struct tree *t, const struct hub_push_file *file)
{
    struct hub_hf_file_id id;
    hub_hf_pushed_id(file, &id);
    hub_json_object(&t->json);
    hub_json_put_text(&t->json, "type", "file");
    hub_json_put_text(&t->json, "oid", id.oid);
    hub_json_put_uint(&t->json, "size", file->size);
    if (id.sha256[0])
        hub_hf_put_lfs(&t->json, "oid", &id, file->size);
    hub_json_put_text(&t->json, "path", file->path);
    put_last_commit(t);
    hub_json_end_object(&t->json);
    t->count++;
    return hub_json_status(&t->json);
}

static enum hub_status put_folder(struct tree *t, struct hub_view path)
{
    hub_json_object(&t->json);
    hub_json_put_text(&t->json, "type", "directory");
    hub_json_put_text(&t->json, "oid", t->pushed->at.id);
    hub_json_put_uint(&t->json, "size", 0);
    hub_json_put_string(&t->json, "path", path);
    put_last_commit(t);
    hub_json_end_object(&t->json);
    t->count++;
    return hub_json_status(&t->json);
}

/* ---- a folder ---- */

/* Was this folder, or one in it, the last that was given out? */
static bool is_given(const struct tree *t, struct hub_view path)
{
    return t->last.size >= path.size && memcmp(t->last.data, path.data, path.size) == 0 &&
           (t->last.size == path.size || t->last.data[path.size] == '/');
}

/* The folders on the way to a file; `inside`: it lies in one of them. */
static enum hub_status put_folders(struct tree *t, const char *path, bool *inside, struct hub_error *err)
{
    *inside = false;
    for (const char *slash = path + t->folder.size; (slash = strchr(slash, '/')); slash++) {
        const struct hub_view folder = {path, (size_t)(slash - path)};
        *inside = true;
        if (is_given(t, folder))
            continue;
        HUB_TRY(put_folder(t, folder));
        t->last.size = 0;
        HUB_TRY(hub_buf_add_view(&t->last, folder, err));
        if (!t->recursive)
            return HUB_OK;
    }
    return HUB_OK;
}

static enum hub_status add_file(void *user, const struct hub_push_file *file, struct hub_error *err)
{
    struct tree *t = user;
    bool inside;
    if (t->count >= PAGE) {
        if (strlen(file->path) >= sizeof t->next.key || t->last.size >= sizeof t->next.tie)
            return hub_fail(err, HUB_TOO_BIG, "a page cannot end at the name '%.200s...'", file->path);
        strcpy(t->next.key, file->path);
        memcpy(t->next.tie, t->last.data ? t->last.data : "", t->last.size);
        return HUB_CANCELLED;
    }
    HUB_TRY(put_folders(t, file->path, &inside, err));
    return inside && !t->recursive ? HUB_OK : put_file(t, file);
}

static enum hub_status begin(struct tree *t, struct hub_response *response, struct hub_error *err)
{
    t->folder = t->last = HUB_BUF_INIT(64 * KIB);
    t->json = hub_json_to(hub_response_buffer(response, 200, JSON_TYPE, 32 * MIB), err);
    hub_json_array(&t->json);
    return hub_json_status(&t->json);
}

static enum hub_status link_next(struct tree *t, struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf url = HUB_BUF_INIT(64 * KIB);
    if (!t->next.key[0])
        return HUB_OK;
    memcpy(t->next.scope, t->pushed->at.id, sizeof t->next.scope - 1);
    HUB_TRY(hub_page_next_url(t->request, &t->next, &url, err));
    return hub_response_header(response, err, "Link", "<%s>; rel=\"next\"", url.data);
}

/* From where the page before it ended. */
static enum hub_status read_cursor(struct tree *t, struct hub_page_cursor *after, struct hub_error *err)
{
    char scope[33] = "";
    const struct hub_view cursor = hub_request_query(t->request, "cursor");
    memcpy(scope, t->pushed->at.id, sizeof scope - 1);
    if (cursor.data)
        HUB_TRY(hub_cursor_decode(cursor, scope, after, err));
    return hub_buf_add_text(&t->last, after->tie, err);
}

enum hub_status hub_hf_pushed_tree(struct hub_request *request, struct hub_hf_pushed *pushed,
                                   struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(tree_dispose) struct tree t = {.request = request, .pushed = pushed};
    struct hub_page_cursor after = {0};
    const struct hub_view path = hub_hf_without_slash(hub_request_capture(request, "path"));
    t.recursive = hub_hf_is_true(hub_request_if_taken(request, "recursive"));
    t.expand = hub_hf_is_true(hub_request_if_taken(request, "expand"));
    HUB_TRY(begin(&t, response, err));
    HUB_TRY(hub_buf_add_view(&t.folder, path, err));
    HUB_TRY(hub_buf_add_text(&t.folder, path.size ? "/" : "", err));
    HUB_TRY(read_cursor(&t, &after, err));
    HUB_TRY(
        hub_push_files_each(request->app->truth, &pushed->at, t.folder.data, after.key, add_file, &t, err));
    if (!t.count && path.size)
        return hub_fail_as(err, HUB_NOT_FOUND, HUB_PROBLEM_FILE_NOT_FOUND,
                           "%.300s does not exist on \"%.60s\"", path.data,
                           hub_request_capture(request, "rev").data);
    hub_json_end_array(&t.json);
    HUB_TRY(link_next(&t, response, err));
    return hub_json_status(&t.json);
}

/* ---- some files ---- */

static enum hub_status note_file(void *user, const struct hub_push_file *file, struct hub_error *err)
{
    (void)file;
    (void)err;
    *(bool *)user = true;
    return HUB_CANCELLED;
}

/* A file, or a folder that something lies in; what is neither is left out. */
static enum hub_status add_path(void *user, struct hub_view text, struct hub_error *err)
{
    struct tree *t = user;
    struct hub_push_file file;
    struct hub_truth *truth = t->request->app->truth;
    const struct hub_view path = hub_hf_without_slash(text);
    bool some = false;
    if (++t->asked > MOST_PATHS)
        return hub_fail(err, HUB_TOO_BIG, "more than %d paths: send them in several requests", MOST_PATHS);
    t->folder.size = 0;
    HUB_TRY(hub_buf_add_view(&t->folder, path, err));
    if (!path.size)
        return HUB_OK;
    const enum hub_status st = hub_push_file_find(truth, &t->pushed->at, t->folder.data, &file, NULL);
    if (st != HUB_NOT_FOUND)
        return st                       ? hub_fail(err, st, "the files of the repo cannot be read")
               : path.size == text.size ? put_file(t, &file)
                                        : HUB_OK;
    HUB_TRY(hub_buf_add_text(&t->folder, "/", err));
    HUB_TRY(hub_push_files_each(truth, &t->pushed->at, t->folder.data, "", note_file, &some, err));
    return some ? put_folder(t, (struct hub_view){t->folder.data, t->folder.size - 1}) : HUB_OK;
}

enum hub_status hub_hf_pushed_paths(struct hub_request *request, struct hub_hf_pushed *pushed,
                                    struct hub_response *response, struct hub_error *err)
{
    HUB_CLEANUP(tree_dispose) struct tree t = {.request = request, .pushed = pushed};
    HUB_TRY(begin(&t, response, err));
    HUB_TRY(hub_hf_paths_read(request, &t.expand, add_path, &t, err));
    hub_json_end_array(&t.json);
    return hub_json_status(&t.json);
}
