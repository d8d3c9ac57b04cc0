/* manifest.json: see manifest.h.
 *
 *   {"backup": 1, "made": "...", "data": true, "database": {"name", "size", "sha256"}, "config": the same,
 *    "roots": [{"key", "name", "path"}],
 *    "datasets": [{"id", "root", "path", "commit", "content", "remote", "remote_id", "problem",
 *                  "files": [{"path", "size", "modified", "sha256"}]}],
 *    "kept": earlier commits, as datasets,
 *    "repos": [{"id", "root", "problem", "objects": [{"size", "sha256"}]}]}
 *
 * A member that says nothing is left out. A program that knows no "kept" or no "repos" restores the rest. */
#include "storage/backup/manifest.h"

#include "storage/base/order.h"
#include "storage/ids/kept.h"
#include "storage/io/fs.h"
#include "storage/text/time.h"

#include <stdio.h>
#include <stdlib.h>

enum { VERSION = 1 };
#define MANIFEST_BYTES (4 * GIB)

/* ---- the struct ---- */

void hub_backup_set_dispose(struct hub_backup_set *set)
{
    for (size_t i = 0; set->files && i < set->count; i++)
        hub_file_facts_dispose(&set->files[i]);
    free(set->files);
    free(set->id);
    free(set->root);
    free(set->path);
    free(set->commit);
    free(set->tree);
    free(set->remote);
    free(set->remote_id);
    free(set->problem);
    *set = (struct hub_backup_set){0};
}

void hub_backup_forget_repos(struct hub_backup *backup)
{
    for (uint32_t i = 0; i < backup->repo_count; i++) {
        free(backup->repos[i].id);
        free(backup->repos[i].root);
        free(backup->repos[i].problem);
        free(backup->repos[i].objects);
    }
    free(backup->repos);
    backup->repos = NULL;
    backup->repo_count = backup->repo_capacity = 0;
}

void hub_backup_dispose(struct hub_backup *backup)
{
    for (uint32_t i = 0; i < backup->root_count; i++) {
        free(backup->roots[i].key);
        free(backup->roots[i].path);
        free(backup->roots[i].name);
    }
    for (uint32_t i = 0; i < backup->set_count; i++)
        hub_backup_set_dispose(&backup->sets[i]);
    hub_backup_forget_repos(backup);
    free(backup->roots);
    free(backup->sets);
    *backup = (struct hub_backup){0};
}

enum hub_status hub_backup_add_root(struct hub_backup *backup, const char *key, const char *name,
                                    const char *path, struct hub_error *err)
{
    HUB_TRY(hub_grow(&backup->roots, backup->root_count, &backup->root_capacity, sizeof *backup->roots, err));
    struct hub_backup_root *root = &backup->roots[backup->root_count++];
    *root = (struct hub_backup_root){0};
    HUB_TRY(hub_dup(&root->key, key, err));
    HUB_TRY(hub_dup(&root->path, path, err));
    return name ? hub_dup(&root->name, name, err) : HUB_OK;
}

enum hub_status hub_backup_add_set(struct hub_backup *backup, const struct hub_backup_set *like,
                                   struct hub_error *err)
{
    HUB_TRY(hub_grow(&backup->sets, backup->set_count, &backup->set_capacity, sizeof *backup->sets, err));
    struct hub_backup_set *set = &backup->sets[backup->set_count++];
    *set = (struct hub_backup_set){.kept = like->kept};
    const struct {
        char **to;
        const char *from;
    } texts[] = {{&set->id, like->id},           {&set->root, like->root},
                 {&set->path, like->path},       {&set->commit, like->commit},
                 {&set->tree, like->tree},       {&set->remote, like->remote},
                 {&set->problem, like->problem}, {&set->remote_id, like->remote_id}};
    for (size_t i = 0; i < HUB_COUNT(texts); i++)
        HUB_TRY(hub_dup(texts[i].to, texts[i].from ? texts[i].from : "", err));
    return HUB_OK;
}

enum hub_status hub_backup_add_repo(struct hub_backup *backup, const char *id, const char *root,
                                    const char *problem, struct hub_error *err)
{
    HUB_TRY(hub_grow(&backup->repos, backup->repo_count, &backup->repo_capacity, sizeof *backup->repos, err));
    struct hub_backup_repo *repo = &backup->repos[backup->repo_count++];
    *repo = (struct hub_backup_repo){0};
    HUB_TRY(hub_dup(&repo->id, id, err));
    HUB_TRY(hub_dup(&repo->root, root, err));
    return hub_dup(&repo->problem, problem, err);
}

enum hub_status hub_backup_add_object(struct hub_backup *backup, const uint8_t sha256[HUB_SHA256_BYTES],
                                      uint64_t size, struct hub_error *err)
{
    struct hub_backup_repo *repo = &backup->repos[backup->repo_count - 1];
    HUB_TRY(hub_grow(&repo->objects, repo->count, &repo->capacity, sizeof *repo->objects, err));
    struct hub_backup_object *object = &repo->objects[repo->count++];
    memcpy(object->sha256, sha256, sizeof object->sha256);
    object->size = size;
    return HUB_OK;
}

const char *hub_backup_set_name(const struct hub_backup_set *set)
{
    return *set->id ? set->id : *set->path ? set->path : set->root;
}

const char *hub_backup_set_label(const struct hub_backup_set *set, char out[HUB_BACKUP_LABEL])
{
    snprintf(out, HUB_BACKUP_LABEL, "%s%s%.7s", hub_backup_set_name(set), set->kept ? "@" : "",
             set->kept ? set->commit : "");
    return out;
}

enum hub_status hub_backup_kept_path(const struct hub_backup_set *set, struct hub_buf *out,
                                     struct hub_error *err)
{
    return hub_buf_addf(out, err, HUB_KEPT "/%s@%s", set->path, set->commit);
}

/* ---- writing ---- */

static void put_if(struct hub_json *json, const char *key, const char *text)
{
    hub_json_put_text(json, key, text && *text ? text : NULL);
}

static void put_part(struct hub_json *json, const char *key, const struct hub_backup_part *part)
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_hex(part->sha256, sizeof part->sha256, hex);
    hub_json_put_object(json, key);
    hub_json_put_text(json, "name", part->name);
    hub_json_put_uint(json, "size", part->size);
    hub_json_put_text(json, "sha256", hex);
    hub_json_end_object(json);
}

static void put_file(struct hub_json *json, const struct hub_file_facts *file)
{
    char hex[2 * HUB_SHA256_BYTES + 1], modified[HUB_TIME_CHARS];
    hub_time_rfc3339_ns(file->modified_ns, modified);
    hub_hex(file->sha256, sizeof file->sha256, hex);
    hub_json_object(json);
    hub_json_put_text(json, "path", file->path);
    hub_json_put_uint(json, "size", file->size);
    hub_json_put_text(json, "modified", modified);
    hub_json_put_text(json, "sha256", file->has_sha256 ? hex : NULL);
    hub_json_end_object(json);
}

static void put_set(struct hub_json *json, const struct hub_backup_set *set)
{
    hub_json_object(json);
    put_if(json, "id", set->id);
    put_if(json, "root", set->root);
    put_if(json, "path", set->path);
    put_if(json, "commit", set->commit);
    put_if(json, "content", set->tree);
    put_if(json, "remote", set->remote);
    put_if(json, "remote_id", set->remote_id);
    put_if(json, "problem", set->problem);
    hub_json_put_array(json, "files");
    for (size_t i = 0; i < set->count; i++)
        put_file(json, &set->files[i]);
    hub_json_end_array(json);
    hub_json_end_object(json);
}

static void put_sets(struct hub_json *json, const char *key, const struct hub_backup *backup, bool kept)
{
    hub_json_put_array(json, key);
    for (uint32_t i = 0; i < backup->set_count; i++)
        if (backup->sets[i].kept == kept)
            put_set(json, &backup->sets[i]);
    hub_json_end_array(json);
}

static void put_roots(struct hub_json *json, const struct hub_backup *backup)
{
    hub_json_put_array(json, "roots");
    for (uint32_t i = 0; i < backup->root_count; i++) {
        hub_json_object(json);
        hub_json_put_text(json, "key", backup->roots[i].key);
        hub_json_put_text(json, "name", backup->roots[i].name);
        hub_json_put_text(json, "path", backup->roots[i].path);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
}

static void put_repo(struct hub_json *json, const struct hub_backup_repo *repo)
{
    char hex[2 * HUB_SHA256_BYTES + 1];
    hub_json_object(json);
    put_if(json, "id", repo->id);
    put_if(json, "root", repo->root);
    put_if(json, "problem", repo->problem);
    hub_json_put_array(json, "objects");
    for (uint32_t i = 0; i < repo->count; i++) {
        hub_hex(repo->objects[i].sha256, HUB_SHA256_BYTES, hex);
        hub_json_object(json);
        hub_json_put_uint(json, "size", repo->objects[i].size);
        hub_json_put_text(json, "sha256", hex);
        hub_json_end_object(json);
    }
    hub_json_end_array(json);
    hub_json_end_object(json);
}

static void put_repos(struct hub_json *json, const struct hub_backup *backup)
{
    hub_json_put_array(json, "repos");
    for (uint32_t i = 0; i < backup->repo_count; i++)
        put_repo(json, &backup->repos[i]);
    hub_json_end_array(json);
}

enum hub_status hub_backup_write(const struct hub_backup *backup, int folder, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MANIFEST_BYTES);
    struct hub_json json = hub_json_to(&text, err);
    char made[HUB_TIME_CHARS];
    hub_time_rfc3339_ms(backup->made_ms, made);
    hub_json_object(&json);
    hub_json_put_int(&json, "backup", VERSION);
    hub_json_put_text(&json, "made", made);
    hub_json_put_bool(&json, "data", backup->data);
    put_part(&json, "database", &backup->database);
    put_part(&json, "config", &backup->config);
    put_roots(&json, backup);
    put_sets(&json, "datasets", backup, false);
    put_sets(&json, "kept", backup, true);
    put_repos(&json, backup);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_fs_write(folder, HUB_BACKUP_MANIFEST, hub_buf_view(&text), 0600, err);
}

/* ---- reading ---- */

static enum hub_status damaged(const char *what, struct hub_error *err)
{
    return hub_fail(err, HUB_CORRUPT, HUB_BACKUP_MANIFEST " is damaged (%s): use another backup", what);
}

static bool read_sha256(const json_t *item, uint8_t out[HUB_SHA256_BYTES])
{
    const char *hex = hub_member_text(item, "sha256");
    return hex && hub_unhex(hub_view_of(hex), out, HUB_SHA256_BYTES);
}

static enum hub_status read_part(const json_t *doc, const char *key, struct hub_backup_part *out,
                                 struct hub_error *err)
{
    const json_t *part = json_object_get(doc, key);
    const char *name = hub_member_text(part, "name");
    out->size = hub_member_uint(part, "size");
    if (!name || !*name || strchr(name, '/') || *name == '.' || strlen(name) >= sizeof out->name ||
        !read_sha256(part, out->sha256))
        return damaged(key, err);
    memcpy(out->name, name, strlen(name) + 1);
    return HUB_OK;
}

static enum hub_status read_file(const json_t *item, struct hub_file_facts *out, struct hub_error *err)
{
    const char *path = hub_member_text(item, "path"), *modified = hub_member_text(item, "modified");
    if (!path || !hub_path_plain(hub_view_of(path)))
        return damaged("the path of a file", err);
    if (!modified || !hub_time_parse_rfc3339(hub_view_of(modified), &out->modified_ns))
        return damaged("the time of a file", err);
    out->size = hub_member_uint(item, "size");
    out->has_sha256 = read_sha256(item, out->sha256);
    out->path = strdup(path);
    return hub_allocated(out->path, err);
}

static const char *text_of(const json_t *item, const char *key)
{
    const char *text = hub_member_text(item, key);
    return text ? text : "";
}

static enum hub_status read_set(const json_t *item, bool kept, struct hub_backup *out, struct hub_error *err)
{
    const json_t *files = json_object_get(item, "files");
    const size_t count = json_array_size(files);
    const struct hub_backup_set like = {.kept = kept,
                                        .id = (char *)text_of(item, "id"),
                                        .root = (char *)text_of(item, "root"),
                                        .path = (char *)text_of(item, "path"),
                                        .commit = (char *)text_of(item, "commit"),
                                        .tree = (char *)text_of(item, "content"),
                                        .remote = (char *)text_of(item, "remote"),
                                        .problem = (char *)text_of(item, "problem"),
                                        .remote_id = (char *)text_of(item, "remote_id")};
    HUB_TRY(hub_backup_add_set(out, &like, err));
    struct hub_backup_set *set = &out->sets[out->set_count - 1];
    if (*set->root && !hub_path_plain(hub_view_of(set->path)))
        return damaged("the path of a dataset", err);
    if (kept && (strlen(set->commit) != HUB_KEPT_COMMIT ||
                 strspn(set->commit, "0123456789abcdef") != HUB_KEPT_COMMIT))
        return damaged("the commit of an earlier revision", err);
    HUB_TRY(hub_new(&set->files, count, sizeof *set->files, err));
    for (; set->count < count; set->count++)
        HUB_TRY(read_file(json_array_get(files, set->count), &set->files[set->count], err));
    return HUB_OK;
}

static enum hub_status read_repo(const json_t *item, struct hub_backup *out, struct hub_error *err)
{
    const json_t *objects = json_object_get(item, "objects"), *object;
    uint8_t sha256[HUB_SHA256_BYTES];
    size_t i;
    if (!*text_of(item, "id"))
        return damaged("the id of a repo", err);
    HUB_TRY(
        hub_backup_add_repo(out, text_of(item, "id"), text_of(item, "root"), text_of(item, "problem"), err));
    json_array_foreach(objects, i, object)
    {
        if (!read_sha256(object, sha256))
            return damaged("the SHA-256 of an object", err);
        HUB_TRY(hub_backup_add_object(out, sha256, hub_member_uint(object, "size"), err));
    }
    return HUB_OK;
}

static enum hub_status read_roots(const json_t *roots, struct hub_backup *out, struct hub_error *err)
{
    size_t i;
    json_t *item;
    json_array_foreach(roots, i, item)
    {
        const char *key = hub_member_text(item, "key"), *path = hub_member_text(item, "path");
        if (!key || !path)
            return damaged("a root", err);
        HUB_TRY(hub_backup_add_root(out, key, hub_member_text(item, "name"), path, err));
    }
    return HUB_OK;
}

static enum hub_status read_document(const json_t *doc, struct hub_backup *out, struct hub_error *err)
{
    const char *made = hub_member_text(doc, "made");
    int64_t made_ns;
    size_t i;
    json_t *item;
    if (hub_member_uint(doc, "backup") > VERSION)
        return hub_fail(err, HUB_UNSUPPORTED,
                        "the backup was written by a newer minari-hub: restore it with that one");
    if (!hub_member_uint(doc, "backup") || !made || !hub_time_parse_rfc3339(hub_view_of(made), &made_ns))
        return damaged("its version or time", err);
    out->made_ms = made_ns / 1000000;
    out->data = json_is_true(json_object_get(doc, "data"));
    HUB_TRY(read_part(doc, "database", &out->database, err));
    HUB_TRY(read_part(doc, "config", &out->config, err));
    HUB_TRY(read_roots(json_object_get(doc, "roots"), out, err));
    json_array_foreach(json_object_get(doc, "datasets"), i, item) HUB_TRY(read_set(item, false, out, err));
    json_array_foreach(json_object_get(doc, "kept"), i, item) HUB_TRY(read_set(item, true, out, err));
    json_array_foreach(json_object_get(doc, "repos"), i, item) HUB_TRY(read_repo(item, out, err));
    return HUB_OK;
}

enum hub_status hub_backup_read(const char *path, int folder, struct hub_backup *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MANIFEST_BYTES);
    HUB_CLEANUP(hub_json_decrefp) json_t *doc = NULL;
    *out = (struct hub_backup){0};
    enum hub_status st = hub_fs_read(folder, HUB_BACKUP_MANIFEST, &text, err);
    if (st == HUB_NOT_FOUND)
        return hub_fail(err, st,
                        "%s is not a backup: it has no " HUB_BACKUP_MANIFEST
                        ". Name the folder that `minari-hub backup` wrote; one that was interrupted is "
                        "completed by the same command",
                        path);
    if (!st && hub_json_parse(hub_buf_view(&text), MANIFEST_BYTES, &doc, NULL))
        st = damaged("it is not JSON", err);
    if (!st)
        st = read_document(doc, out, err);
    if (st)
        hub_backup_dispose(out);
    return st;
}
