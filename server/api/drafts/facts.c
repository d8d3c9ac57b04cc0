/* See facts.h. */
#include "server/api/drafts/facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct reading {
    const struct hub_draft_folder *draft;
    struct hub_draft_facts *facts;
    uint32_t *doubtful; /* of the files those that are to be read again */
    uint32_t doubtful_count, doubtful_capacity;
    char missing[256]; /* the first file that is not whole */
    uint64_t missing_count;
};

static void reading_dispose(struct reading *r)
{
    free(r->doubtful);
}

static void note_missing(struct reading *r, const char *path)
{
    if (!r->missing_count++)
        snprintf(r->missing, sizeof r->missing, "%s", path);
}

static enum hub_status note_lost(struct reading *r, const char *path, uint64_t size, struct hub_error *err)
{
    note_missing(r, path);
    return hub_remote_files_add(&r->facts->lost, path, size, NULL, err);
}

/* The rows come in the order of their paths, as the files are sorted in the end. */
static enum hub_status add_sums(struct hub_draft_facts *facts, const struct hub_draft_file *file,
                                struct hub_error *err)
{
    const uint32_t count = (uint32_t)facts->files.count;
    HUB_TRY(hub_grow(&facts->sums, count, &facts->sums_capacity, sizeof *facts->sums, err));
    struct hub_draft_sums *sums = &facts->sums[count];
    *sums = (struct hub_draft_sums){.has_md5 = file->has_md5, .has_crc32c = file->has_crc32c};
    memcpy(sums->md5, file->md5, sizeof sums->md5);
    memcpy(sums->crc32c, file->crc32c, sizeof sums->crc32c);
    return HUB_OK;
}

static enum hub_status add(void *user, const struct hub_draft_file *file, struct hub_error *err)
{
    struct reading *r = user;
    struct hub_remote_files *files = &r->facts->files;
    char hex[2 * HUB_SHA256_BYTES + 1];
    struct stat st;
    if (!file->complete) {
        note_missing(r, file->path);
        return HUB_OK;
    }
    if (r->draft &&
        (fstatat(r->draft->tree, file->path, &st, AT_SYMLINK_NOFOLLOW) || (uint64_t)st.st_size != file->size))
        return note_lost(r, file->path, file->size, err);
    hub_hex(file->sha256, sizeof file->sha256, hex);
    HUB_TRY(add_sums(r->facts, file, err));
    HUB_TRY(hub_remote_files_add(files, file->path, file->size, hex, err));
    if (!r->draft)
        return HUB_OK;
    files->items[files->count - 1].modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (!file->doubtful)
        return HUB_OK;
    HUB_TRY(hub_grow(&r->doubtful, r->doubtful_count, &r->doubtful_capacity, sizeof *r->doubtful, err));
    r->doubtful[r->doubtful_count++] = (uint32_t)files->count - 1;
    return HUB_OK;
}

/* ---- after a power cut ---- */

static enum hub_status read_doubtful(struct reading *r, struct hub_error *err)
{
    for (uint32_t i = 0; i < r->doubtful_count; i++) {
        const struct hub_file_facts *file = &r->facts->files.items[r->doubtful[i]];
        bool same = false;
        HUB_TRY(hub_draft_has(r->draft, file->path, file->size, file->sha256, &same, err));
        if (!same)
            HUB_TRY(note_lost(r, file->path, file->size, err));
    }
    return HUB_OK;
}

enum hub_status hub_draft_forget_lost(const struct hub_app *app, const struct hub_draft_row *row,
                                      const struct hub_draft_folder *draft,
                                      const struct hub_draft_facts *facts, struct hub_error *err)
{
    for (uint32_t i = 0; i < facts->lost.count; i++) {
        const struct hub_file_facts *lost = &facts->lost.items[i];
        const struct hub_draft_file file = {.path = lost->path, .size = lost->size};
        HUB_TRY(hub_draft_drop(draft, file.path, err));
        HUB_TRY(hub_draft_file_put(app->truth, row->id, &file, err));
    }
    return HUB_OK;
}

/* ---- all of it ---- */

enum hub_status hub_draft_facts_read(const struct hub_app *app, const struct hub_draft_row *row,
                                     const struct hub_draft_folder *draft, struct hub_draft_facts *out,
                                     struct hub_error *err)
{
    HUB_CLEANUP(reading_dispose)
    struct reading r = {.draft = draft, .facts = out};
    out->episodes = -1;
    HUB_TRY(hub_draft_files_each(app->truth, row->id, NULL, 0, add, &r, err));
    HUB_TRY(read_doubtful(&r, err));
    if (r.missing_count)
        return hub_fail_as(
            err, HUB_INVALID, HUB_PROBLEM_DRAFT_REFUSED,
            "%llu file%s of the draft have not come completely%s, '%.200s' first: send what is "
            "missing, and commit again",
            (unsigned long long)r.missing_count, r.missing_count == 1 ? "" : "s",
            out->lost.count ? ", or were lost when the machine stopped" : "", r.missing);
    if (!out->files.count)
        return hub_fail_as(err, HUB_INVALID, HUB_PROBLEM_DRAFT_REFUSED, "the draft has no file");
    HUB_TRY(hub_remote_files_finish(&out->files, err));
    return hub_draft_tree_name(&out->files, out->tree, err);
}

void hub_draft_facts_compare(const struct hub_app *app, const struct hub_draft_row *row,
                             const char *directory, struct hub_draft_facts *facts)
{
    struct hub_tree_changes found = {.added = facts->files.count}; /* all files of a first commit */
    if (*row->base &&
        hub_draft_compare(app->roots->roots[row->root].path, directory, &facts->files, &found, NULL))
        return;
    facts->changes = (struct hub_commit_changes){true, found.added, found.changed, found.removed};
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
                               .bytes = facts->files.bytes,
                               .changes = facts->changes,
                               .episodes = facts->episodes};
    memcpy(out->id, row->commit, sizeof out->id);
    memcpy(out->parent, row->base, sizeof out->parent);
    memcpy(out->tree, facts->tree, sizeof out->tree);
}

void hub_draft_facts_dispose(struct hub_draft_facts *facts)
{
    hub_remote_files_dispose(&facts->files);
    hub_remote_files_dispose(&facts->lost);
    free(facts->sums);
}
