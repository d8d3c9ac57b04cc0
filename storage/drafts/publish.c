/* Publication: see publish.h. */
#include "storage/drafts/publish.h"

#include "storage/drafts/kept.h"
#include "storage/ids/revision.h"
#include "storage/io/fs.h"
#include "storage/io/roots.h"
#include "storage/transfer/publish.h"
#include "storage/transfer/record.h"
#include "storage/transfer/staging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum { TREE_CHARS = 96 };

static enum hub_status name_revision(const struct hub_remote_files *files, char out[HUB_REVISION_CHARS + 1],
                                     struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *facts = NULL;
    HUB_TRY(hub_new(&facts, files->count + (size_t)1, sizeof *facts, err));
    for (uint32_t i = 0; i < files->count; i++)
        facts[i] = (struct hub_revision_file){.path = files->items[i].path,
                                              .size = files->items[i].size,
                                              .mtime_ns = files->items[i].modified_ns};
    return hub_revision(facts, files->count, out, err);
}

enum hub_status hub_draft_record_write(int directory, const struct hub_remote_files *files,
                                       const struct hub_draft_place *to, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(1 * GIB);
    struct hub_json json = hub_json_to(&text, err);
    char revision[HUB_REVISION_CHARS + 1], hex[2 * HUB_SHA256_BYTES + 1];
    HUB_TRY(name_revision(files, revision, err));
    hub_record_begin(&json, to->id, NULL, revision);
    hub_json_put_text(&json, "commit", to->commit);
    hub_json_put_array(&json, "files");
    for (uint32_t i = 0; i < files->count; i++) {
        hub_hex(files->items[i].sha256, HUB_SHA256_BYTES, hex);
        hub_record_file(&json, files->items[i].path, files->items[i].size, hex, "hub");
    }
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    HUB_TRY(hub_json_status(&json));
    return hub_fs_write(directory, HUB_RECORD_FILE, hub_buf_view(&text), 0644, err);
}

enum hub_status hub_draft_tree_name(const struct hub_remote_files *files, char out[HUB_CONTENT_CHARS + 1],
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *named = NULL;
    HUB_TRY(hub_new(&named, files->count + (size_t)1, sizeof *named, err));
    for (uint32_t i = 0; i < files->count; i++) {
        const struct hub_file_facts *file = &files->items[i];
        named[i] = (struct hub_revision_file){.path = file->path, .size = file->size, .sha256 = file->sha256};
    }
    return hub_content(named, files->count, out, err);
}

static enum hub_status sync_all(const struct hub_draft_folder *draft, const struct hub_remote_files *files,
                                struct hub_error *err)
{
    struct hub_staging staging = HUB_STAGING_INIT;
    staging.tree = draft->tree;
    staging.plan = files;
    snprintf(staging.path, sizeof staging.path, "%.4000s", draft->place.path);
    return hub_staging_sync(&staging, HUB_RECORD_FILE, err);
}

static enum hub_status not_the_base(const struct hub_draft_place *to, struct hub_error *err)
{
    return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_EXISTS,
                       "the files of '%.200s' are not those of its commit %s: somebody changed them by hand",
                       to->path, to->base);
}

/* The commit that the record of a dataset names; empty where it has none. */
static enum hub_status read_commit(const struct hub_private *place, const char *path, struct hub_record *out,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(PATH_MAX);
    const char *name;
    HUB_TRY(hub_private_parent(place, path, false, &parent, &name, err));
    HUB_TRY(hub_buf_addf(&folder, err, "/proc/self/fd/%d/%s", parent, name));
    return hub_record_read(folder.data, out, err);
}

static enum hub_status check_base(const struct hub_draft_folder *draft, const struct hub_draft_place *to,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record there = {0};
    bool others = false;
    /* one that was published before records had commits is taken for it */
    if (read_commit(&draft->place, to->path, &there, NULL) ||
        (*there.commit && strcmp(there.commit, to->base) != 0))
        return not_the_base(to, err);
    const struct hub_fetched own = {there.files, there.count};
    HUB_TRY(hub_publish_others(&draft->place, to->path, &own, &others, err));
    return others ? not_the_base(to, err) : HUB_OK;
}

/* The folder that holds the name of the first `size` bytes of a path. */
static enum hub_status sync_name(const struct hub_private *place, const char *path, size_t size,
                                 struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    HUB_CLEANUP(hub_freep) char *named = strndup(path, size);
    const char *name;
    HUB_TRY(hub_allocated(named, err));
    HUB_TRY(hub_private_parent(place, named, false, &parent, &name, err));
    return hub_fs_sync_dir(parent, "", err);
}

/* An earlier try may have made them, and have failed or ended before they were on the disk. */
static enum hub_status sync_namespaces(const struct hub_private *place, const char *target,
                                       struct hub_error *err)
{
    for (const char *slash = strchr(target, '/'); slash; slash = strchr(slash + 1, '/'))
        HUB_TRY(sync_name(place, target, (size_t)(slash - target), err));
    return HUB_OK;
}

static enum hub_status make_namespaces(const struct hub_private *place, const char *target,
                                       struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int parent = -1;
    const char *name;
    HUB_TRY(hub_private_parent(place, target, true, &parent, &name, err));
    return sync_namespaces(place, target, err);
}

enum hub_status hub_draft_put_in_place(const struct hub_draft_folder *draft,
                                       const struct hub_remote_files *files, const struct hub_draft_place *to,
                                       struct hub_error *err)
{
    char tree[TREE_CHARS];
    snprintf(tree, sizeof tree, "%s/tree", draft->within);
    HUB_TRY(hub_publish_recover(&draft->place, err));
    HUB_TRY(hub_publish_above(&draft->place, to->path, err));
    HUB_TRY(hub_draft_record_write(draft->tree, files, to, err));
    HUB_TRY(sync_all(draft, files, err));
    HUB_TRY(make_namespaces(&draft->place, to->path, err));
    if (!*to->base)
        return hub_publish(&draft->place, to->path, tree, false, false, err);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf keep = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_TRY(check_base(draft, to, err));
    HUB_TRY(hub_kept_path(to->path, to->base, &keep, err));
    return hub_publish_keeping(&draft->place, to->path, tree, keep.data, false, err);
}

static void count_change(const struct hub_file_facts *now, const struct hub_file_facts *was,
                         struct hub_tree_changes *out)
{
    if (!was)
        out->added++;
    else if (!now)
        out->removed++;
    else
        out->changed += now->size != was->size || !was->has_sha256 ||
                        memcmp(now->sha256, was->sha256, sizeof now->sha256) != 0;
}

enum hub_status hub_draft_compare(const char *root, const char *directory,
                                  const struct hub_remote_files *files, struct hub_tree_changes *out,
                                  struct hub_error *err)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record was = {0};
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(root, directory);
    HUB_TRY(hub_allocated(path, err));
    HUB_TRY(hub_record_read(path, &was, err));
    *out = (struct hub_tree_changes){0};
    for (size_t n = 0, w = 0; n < files->count || w < was.count;) {
        const int order = n == files->count ? 1
                          : w == was.count  ? -1
                                            : strcmp(files->items[n].path, was.files[w].path);
        count_change(order <= 0 ? &files->items[n] : NULL, order >= 0 ? &was.files[w] : NULL, out);
        n += order <= 0;
        w += order >= 0;
    }
    return HUB_OK;
}

bool hub_draft_is_in_place(const char *root, const struct hub_draft_place *to)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_record_dispose) struct hub_record there = {0};
    return *to->commit && hub_private_open(root, false, &place, NULL) == HUB_OK &&
           read_commit(&place, to->path, &there, NULL) == HUB_OK && strcmp(there.commit, to->commit) == 0;
}

enum hub_status hub_draft_keep_base(const char *root, const char *draft, const struct hub_draft_place *to,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf keep = HUB_BUF_INIT(2 * PATH_MAX);
    char tree[TREE_CHARS];
    if (!*to->base)
        return HUB_OK;
    snprintf(tree, sizeof tree, "drafts/%s/tree", draft);
    HUB_TRY(hub_private_open(root, false, &place, err));
    HUB_TRY(hub_kept_path(to->path, to->base, &keep, err));
    return hub_publish_keep(&place, tree, keep.data, err);
}

enum hub_status hub_draft_sync_place(const char *root, const char *target, struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_TRY(hub_private_open(root, false, &place, err));
    HUB_TRY(sync_namespaces(&place, target, err));
    return sync_name(&place, target, strlen(target), err);
}
