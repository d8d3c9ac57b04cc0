/* See facts.h. */
#include "server/api/drafts/facts.h"

#include "storage/ids/revision.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

struct reading {
    const struct hub_draft_folder *draft;
    struct hub_remote_files *files;
    char missing[256]; /* the first file that is not whole */
    uint64_t missing_count;
};

static enum hub_status add(void *user, const struct hub_draft_file *file, struct hub_error *err)
{
    struct reading *r = user;
    char hex[2 * HUB_SHA256_BYTES + 1];
    struct stat st;
    if (!file->complete) {
        if (!r->missing_count++)
            snprintf(r->missing, sizeof r->missing, "%s", file->path);
        return HUB_OK;
    }
    if (r->draft && (fstatat(r->draft->tree, file->path, &st, AT_SYMLINK_NOFOLLOW) ||
                     (uint64_t)st.st_size != file->size)) { /* as after a power cut */
        if (!r->missing_count++)
            snprintf(r->missing, sizeof r->missing, "%s", file->path);
        return HUB_OK;
    }
    hub_hex(file->sha256, sizeof file->sha256, hex);
    HUB_TRY(hub_remote_files_add(r->files, file->path, file->size, hex, err));
    if (r->draft)
        r->files->items[r->files->count - 1].modified_ns =
            (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    return HUB_OK;
}

static enum hub_status name_tree(struct hub_draft_facts *facts, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) struct hub_revision_file *named = NULL;
    HUB_TRY(hub_new(&named, facts->files.count + (size_t)1, sizeof *named, err));
    for (uint32_t i = 0; i < facts->files.count; i++) {
        const struct hub_file_facts *file = &facts->files.items[i];
        named[i] = (struct hub_revision_file){.path = file->path, .size = file->size, .sha256 = file->sha256};
    }
    return hub_content(named, facts->files.count, facts->tree, err);
}

enum hub_status hub_draft_facts_read(const struct hub_app *app, const struct hub_draft_row *row,
                                     const struct hub_draft_folder *draft, struct hub_draft_facts *out,
                                     struct hub_error *err)
{
    struct reading r = {.draft = draft, .files = &out->files};
    HUB_TRY(hub_draft_files_each(app->truth, row->id, NULL, 0, add, &r, err));
    if (r.missing_count)
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_DRAFT_REFUSED,
                           "%llu file%s of the draft have not come completely, '%.200s' first",
                           (unsigned long long)r.missing_count, r.missing_count == 1 ? "" : "s", r.missing);
    if (!out->files.count)
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_DRAFT_REFUSED, "the draft has no file");
    HUB_TRY(hub_remote_files_finish(&out->files, err));
    return name_tree(out, err);
}

struct hub_draft_place hub_draft_place_of(const struct hub_draft_row *row)
{
    return (struct hub_draft_place){
        .id = row->dataset, .path = row->path, .commit = row->commit, .base = row->base};
}

void hub_draft_commit_of(const struct hub_draft_row *row, const struct hub_draft_facts *facts,
                         const char *message, struct hub_commit *out)
{
    *out = (struct hub_commit){.kind = HUB_COMMIT_PUBLISH,
                               .dataset = row->dataset,
                               .who = row->who,
                               .message = message,
                               .root = row->root,
                               .path = row->path,
                               .files = facts->files.count,
                               .bytes = facts->files.bytes};
    memcpy(out->id, row->commit, sizeof out->id);
    memcpy(out->parent, row->base, sizeof out->parent);
    memcpy(out->tree, facts->tree, sizeof out->tree);
}

void hub_draft_facts_dispose(struct hub_draft_facts *facts)
{
    hub_remote_files_dispose(&facts->files);
}
