/* A deep check: what the hub owns, by its commits, and where what is not whole can come from. See
 * check_run.h. */
#include "server/mirror/check_run.h"

#include "storage/drafts/kept.h"
#include "storage/ids/id.h"
#include "storage/truth/commits.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_COMMITS = 1000000, MOST_SOURCES = 3 };

/* ---- one commit ---- */

struct owned {
    struct hub_commit *rows; /* of each dataset the newest, and what is kept */
    uint32_t count, capacity;
};

static void owned_dispose(struct owned *owned)
{
    for (uint32_t i = 0; i < owned->count; i++) {
        free((char *)owned->rows[i].dataset);
        free((char *)owned->rows[i].path);
    }
    free(owned->rows);
}

static enum hub_status add_commit(void *user, const struct hub_commit *row, struct hub_error *err)
{
    struct owned *owned = user;
    if (owned->count == MOST_COMMITS)
        return hub_fail(err, HUB_TOO_BIG, "hub.db has more than %d commits with files", MOST_COMMITS);
    HUB_TRY(hub_grow(&owned->rows, owned->count, &owned->capacity, sizeof *owned->rows, err));
    struct hub_commit *copy = &owned->rows[owned->count++];
    *copy = *row;
    copy->who = copy->message = copy->dataset = copy->path = NULL;
    HUB_TRY(hub_dup((char **)&copy->dataset, row->dataset, err));
    return hub_dup((char **)&copy->path, row->path, err);
}

static void name_commit(const struct hub_commit *commit, char out[HUB_MAX_ID + HUB_COMMIT_ID + 2])
{
    snprintf(out, HUB_MAX_ID + HUB_COMMIT_ID + 2, "%s%s%s", commit->dataset, commit->kept ? "@" : "",
             commit->kept ? commit->id : "");
}

static enum hub_status check_commit(struct hub_check_run *c, const struct hub_snapshot *all,
                                    const struct hub_commit *commit, struct hub_error *err)
{
    char id[HUB_MAX_ID + HUB_COMMIT_ID + 2];
    name_commit(commit, id);
    const struct hub_summary gone = {.id = id};
    const struct hub_summary *found = hub_snapshot_find(all, hub_view_of(id));
    c->summary = found && hub_summary_is_here(found) ? found : &gone;
    if (c->summary == &gone) {
        hub_check_note(c, "", "missing",
                       commit->kept ? "the files of this earlier revision are gone"
                                    : "all of its files are gone");
        return HUB_OK;
    }
    c->commit = commit->id;
    const enum hub_status st = hub_check_dataset(c, err);
    c->commit = NULL;
    return st;
}

/* Copies of mirrors, which have no commits. */
static enum hub_status check_copies(struct hub_check_run *c, const struct hub_snapshot *all,
                                    struct hub_error *err)
{
    struct hub_truth *truth = c->w->mirrors->options.truth;
    for (uint32_t i = 0; i < all->count; i++) {
        struct hub_upstream up;
        struct hub_view below;
        c->summary = all->summaries[i];
        if (!hub_summary_is_here(c->summary) || !hub_check_is_requested(c->ids, c->summary->id) ||
            hub_upstream_around(truth, c->summary->root, c->summary->path, false, &up, &below, NULL))
            continue;
        hub_upstream_dispose(&up);
        c->w->total += c->summary->size;
        HUB_TRY(hub_check_dataset(c, err));
    }
    return HUB_OK;
}

/* ---- where it can come from ---- */

/* Files of this commit, by its record. */
static enum hub_status read_record(const struct hub_check_run *c, const struct hub_commit *commit,
                                   struct hub_record *out)
{
    const struct hub_roots *roots = c->w->mirrors->options.roots;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf below = HUB_BUF_INIT(2 * PATH_MAX);
    if (commit->root >= roots->count)
        return HUB_NOT_FOUND;
    const char *root = roots->roots[commit->root].path;
    HUB_TRY(commit->kept ? hub_kept_find(root, commit->path, commit->id, &below, NULL)
                         : hub_buf_add_text(&below, commit->path, NULL));
    HUB_CLEANUP(hub_freep) char *folder = hub_path_join(root, below.data);
    return folder ? hub_record_read(folder, out, NULL) : HUB_NO_MEMORY;
}

/* A file that is itself among the findings is no source. */
static bool is_found(const json_t *findings, const char *dataset, const char *path)
{
    const json_t *item;
    size_t i;
    json_array_foreach(findings, i, item)
    {
        const char *of = hub_member_text(item, "path");
        if (strcmp(hub_member_text(item, "dataset"), dataset) == 0 && of && (!*of || strcmp(of, path) == 0))
            return true;
    }
    return false;
}

static void add_source(json_t *finding, const char *dataset, const char *path)
{
    json_t *sources = json_object_get(finding, "sources");
    if (!sources && json_object_set_new(finding, "sources", sources = json_array()))
        return;
    if (json_array_size(sources) < MOST_SOURCES)
        (void)json_array_append_new(sources, json_sprintf("%s: %s", dataset, path));
}

/* A finding by the SHA-256 that its file should have. */
struct wanted {
    uint8_t sha256[HUB_SHA256_BYTES]; /* first */
    json_t *finding;
};
struct search {
    const struct hub_check_run *c;
    const json_t *findings;
    struct wanted *items; /* sorted */
    size_t count;
};

static int by_sha256(const void *a, const void *b)
{
    return memcmp(a, b, HUB_SHA256_BYTES);
}

static void offer_file(const struct search *s, const char *id, const struct hub_file_facts *file)
{
    const struct wanted *one =
        file->has_sha256 ? bsearch(file->sha256, s->items, s->count, sizeof *s->items, by_sha256) : NULL;
    if (!one || is_found(s->findings, id, file->path))
        return;
    while (one > s->items && by_sha256(one - 1, file->sha256) == 0)
        one--;
    for (; one < s->items + s->count && by_sha256(one, file->sha256) == 0; one++)
        add_source(one->finding, id, file->path);
}

static void offer_files(const struct search *s, const struct hub_commit *commit)
{
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    char id[HUB_MAX_ID + HUB_COMMIT_ID + 2];
    name_commit(commit, id);
    if (read_record(s->c, commit, &record))
        return;
    for (size_t i = 0; i < record.count; i++)
        offer_file(s, id, &record.files[i]);
}

static enum hub_status find_sources(const struct hub_check_run *c, const struct owned *owned,
                                    struct hub_error *err)
{
    const json_t *findings = json_object_get(c->result, "findings");
    HUB_CLEANUP(hub_freep) struct wanted *items = NULL;
    struct search s = {.c = c, .findings = findings};
    json_t *finding;
    size_t i;
    HUB_TRY(hub_new(&items, json_array_size(findings) + 1, sizeof *items, err));
    json_array_foreach(findings, i, finding)
    {
        const char *hex = hub_member_text(finding, "sha256");
        items[s.count].finding = finding;
        s.count += hex && hub_unhex(hub_view_of(hex), items[s.count].sha256, HUB_SHA256_BYTES);
    }
    s.items = items;
    qsort(items, s.count, sizeof *items, by_sha256);
    for (uint32_t k = 0; s.count && k < owned->count; k++)
        offer_files(&s, &owned->rows[k]);
    for (size_t k = 0; k < s.count; k++) {
        char path[HUB_OBJECT_PATH];
        const char *root = hub_check_find_object(c, items[k].sha256, path);
        if (root)
            add_source(items[k].finding, root, path);
    }
    return HUB_OK;
}

/* ---- all ---- */

enum hub_status hub_check_deep(struct hub_check_run *c, struct hub_error *err)
{
    HUB_CLEANUP(owned_dispose) struct owned owned = {0};
    HUB_CLEANUP(hub_snapshot_putp)
    const struct hub_snapshot *all = hub_catalog_snapshot(c->w->mirrors->options.catalog);
    HUB_TRY(hub_commits_with_files(c->w->mirrors->options.truth, add_commit, &owned, err));
    for (uint32_t i = 0; i < owned.count; i++)
        c->w->total += hub_check_is_requested(c->ids, owned.rows[i].dataset) ? owned.rows[i].bytes : 0;
    for (uint32_t i = 0; i < owned.count; i++)
        if (hub_check_is_requested(c->ids, owned.rows[i].dataset))
            HUB_TRY(check_commit(c, all, &owned.rows[i], err));
    HUB_TRY(check_copies(c, all, err));
    HUB_TRY(hub_check_objects(c, err));
    HUB_TRY(find_sources(c, &owned, err));
    HUB_TRY(hub_check_flush(c, err));
    return hub_mirror_keep_now(c->w, err);
}
