/* Objects of repos come back: see restore_repos.h. Most are files of datasets too, which are in place by now:
 * they are linked, as they were before, and stored once. The rows say what is needed, and not the manifest:
 * so no row remains without its object, whichever program wrote the backup. */
#include "storage/backup/restore_repos.h"

#include "storage/backup/place.h"
#include "storage/deposits/deposit.h"
#include "storage/truth/copy_repos.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ASIDE "restore"

/* A file of a dataset by its digest. */
struct source {
    uint8_t sha256[HUB_SHA256_BYTES]; /* first */
    uint32_t set;
    size_t file;
};

struct run {
    const struct hub_repos_restore *with;
    struct hub_restore_report *report;
    struct hub_deposits deposits;
    struct source *sources; /* sorted */
    size_t source_count;
    bool touched[HUB_MAX_ROOTS]; /* roots that got objects */
};

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, HUB_SHA256_BYTES);
}

/* ---- from datasets ---- */

static enum hub_status list_sources(struct run *r, struct hub_error *err)
{
    const struct hub_backup *backup = &r->report->backup;
    size_t most = 0;
    for (uint32_t i = 0; i < backup->set_count; i++)
        most += backup->sets[i].count;
    HUB_TRY(hub_new(&r->sources, most, sizeof *r->sources, err));
    for (uint32_t i = 0; i < backup->set_count; i++) {
        const struct hub_backup_set *set = &backup->sets[i];
        for (size_t k = 0; k < set->count; k++) {
            if (!set->files[k].has_sha256)
                continue;
            struct source *source = &r->sources[r->source_count++];
            *source = (struct source){.set = i, .file = k};
            memcpy(source->sha256, set->files[k].sha256, HUB_SHA256_BYTES);
        }
    }
    qsort(r->sources, r->source_count, sizeof *r->sources, by_digest);
    return HUB_OK;
}

/* A file that was there before this restore is read: its size and mode alone do not prove its bytes. */
static bool has_bytes(const struct run *r, const struct source *source, int folder, const char *path)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    uint8_t sha256[HUB_DIGEST_MAX];
    struct stat st;
    if (hub_fs_open_beneath(folder, path, O_RDONLY | O_NONBLOCK, HUB_FS_NO_LINKS, &fd, NULL) ||
        fstat(fd, &st) || !S_ISREG(st.st_mode) || !hub_stat_is_owned(&st))
        return false;
    return r->report->results[source->set] == HUB_RESTORE_PLACED ||
           (hub_backup_objects_digest(r->with->objects, fd, sha256, NULL) == HUB_OK &&
            memcmp(sha256, source->sha256, HUB_SHA256_BYTES) == 0);
}

static bool link_source(const struct run *r, uint32_t root, const struct source *source)
{
    const struct hub_backup_set *set = &r->report->backup.sets[source->set];
    const struct hub_root *place = r->with->place_of(r->with->user, set);
    const char *path = set->files[source->file].path;
    HUB_CLEANUP(hub_closep) int folder = -1;
    return r->report->results[source->set] != HUB_RESTORE_MISSING && place == &r->with->roots->roots[root] &&
           hub_backup_set_open(place, set, &folder, NULL) == HUB_OK && has_bytes(r, source, folder, path) &&
           hub_object_file_take(&r->deposits, root, folder, path, source->sha256, NULL) == HUB_OK;
}

/* The first of those with a digest; NULL: there is none. */
static const struct source *find_source(const struct run *r, const uint8_t sha256[HUB_SHA256_BYTES])
{
    const struct source *one = bsearch(sha256, r->sources, r->source_count, sizeof *r->sources, by_digest);
    while (one && one > r->sources && by_digest(one - 1, sha256) == 0)
        one--;
    return one;
}

static bool link_some(const struct run *r, uint32_t root, const uint8_t sha256[HUB_SHA256_BYTES])
{
    const struct source *end = r->sources + r->source_count, *one = find_source(r, sha256);
    for (; one && one < end && by_digest(one, sha256) == 0; one++)
        if (link_source(r, root, one))
            return true;
    return false;
}

/* ---- from the backup ---- */

static enum hub_status write_aside(const struct run *r, int aside, const char *name,
                                   const struct hub_named_object *object, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep)
    int fd = openat(aside, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return hub_fail_errno(err, errno, "an object cannot be stored");
    HUB_TRY(hub_backup_objects_get(r->with->objects, object->sha256, object->size, fd, err));
    return hub_fs_own(fd, name, err);
}

static enum hub_status place_object(const struct run *r, uint32_t root, const struct hub_named_object *object,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_private_close) struct hub_private place = HUB_PRIVATE_INIT;
    HUB_CLEANUP(hub_closep) int aside = -1;
    char name[48];
    if (!r->with->objects)
        return hub_fail(err, HUB_NOT_FOUND, "the backup was taken without --data");
    hub_private_name(name);
    HUB_TRY(hub_private_open(r->with->roots->roots[root].path, true, &place, err));
    HUB_TRY(hub_private_folder(place.folder, ASIDE, true, &aside, err));
    enum hub_status st = write_aside(r, aside, name, object, err);
    if (!st)
        st = hub_object_file_move(&r->deposits, root, aside, name, object->sha256, err);
    if (st)
        (void)unlinkat(aside, name, 0);
    return st;
}

/* ---- one object ---- */

static enum hub_status get_object(struct run *r, const struct hub_named_object *object, struct hub_error *err)
{
    const uint32_t root = hub_roots_number(r->with->roots, object->root);
    if (root >= r->with->roots->count)
        return hub_fail(err, HUB_NOT_FOUND, "its root was not there");
    if (hub_object_file_is_whole(&r->deposits, root, object->sha256, object->size)) {
        r->report->objects_there++;
        return HUB_OK;
    }
    if (r->with->roots->roots[root].read_only)
        return hub_fail(err, HUB_DENIED, "its root is read-only (:ro)");
    r->touched[root] = true;
    if (link_some(r, root, object->sha256) &&
        hub_object_file_is_whole(&r->deposits, root, object->sha256, object->size)) {
        r->report->objects_linked++;
        return HUB_OK;
    }
    HUB_TRY(place_object(r, root, object, err));
    r->report->objects_placed++;
    r->report->bytes += object->size;
    return HUB_OK;
}

/* A failure of the restore, or of this object alone? */
static bool is_of_object(enum hub_status st)
{
    return st == HUB_NOT_FOUND || st == HUB_CORRUPT || st == HUB_DENIED;
}

/* The repo of an object that is missing: they come by their repos. */
static enum hub_status find_repo(struct hub_restore_report *report, const char *id, const char *why,
                                 struct hub_restored_repo **out, struct hub_error *err)
{
    *out = report->repo_count ? &report->repos[report->repo_count - 1] : NULL;
    if (*out && strcmp((*out)->id, id) == 0)
        return HUB_OK;
    HUB_TRY(hub_grow(&report->repos, report->repo_count, &report->repo_capacity, sizeof *report->repos, err));
    *out = &report->repos[report->repo_count++];
    **out = (struct hub_restored_repo){0};
    HUB_TRY(hub_dup(&(*out)->id, id, err));
    HUB_TRY(hub_dup(&(*out)->why, why, err));
    return hub_dup(&(*out)->refs, "", err);
}

static enum hub_status name_source(const struct run *r, const struct hub_named_object *object, char **out,
                                   struct hub_error *err)
{
    const struct source *source = find_source(r, object->sha256);
    char label[HUB_BACKUP_LABEL];
    if (!source)
        return hub_dup(out, "", err);
    const struct hub_backup_set *set = &r->report->backup.sets[source->set];
    if (asprintf(out, "%s: %s", hub_backup_set_label(set, label), set->files[source->file].path) >= 0)
        return HUB_OK;
    *out = NULL;
    return hub_no_memory(err);
}

static enum hub_status miss(struct run *r, const struct hub_named_object *object, const char *why,
                            struct hub_error *err)
{
    struct hub_restored_repo *repo;
    HUB_TRY(find_repo(r->report, object->repo, why, &repo, err));
    HUB_TRY(hub_grow(&repo->missing, repo->missing_count, &repo->capacity, sizeof *repo->missing, err));
    struct hub_missing_object *missing = &repo->missing[repo->missing_count++];
    *missing = (struct hub_missing_object){0};
    memcpy(missing->sha256, object->sha256, sizeof missing->sha256);
    HUB_TRY(name_source(r, object, &missing->source, err));
    return hub_copy_object_lose(r->with->db, object, err);
}

static enum hub_status restore_object(void *user, const struct hub_named_object *object,
                                      struct hub_error *err)
{
    struct run *r = user;
    struct hub_error why = {0};
    HUB_TRY(r->with->tick(r->with->user, object->repo, err));
    r->report->objects++;
    const enum hub_status st = get_object(r, object, &why);
    if (st && !is_of_object(st))
        return hub_pass(st, &why, err);
    return st ? miss(r, object, why.detail, err) : HUB_OK;
}

/* ---- all ---- */

static enum hub_status note_lost(void *user, const struct hub_lost_commits *lost, struct hub_error *err)
{
    const struct run *r = user;
    for (uint32_t i = 0; i < r->report->repo_count; i++) {
        struct hub_restored_repo *repo = &r->report->repos[i];
        if (strcmp(repo->id, lost->repo) != 0)
            continue;
        repo->commits = lost->commits;
        repo->all = lost->all;
        free(repo->refs);
        repo->refs = NULL;
        return hub_dup(&repo->refs, lost->refs, err);
    }
    return HUB_OK;
}

static enum hub_status restore_all(struct run *r, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *open = r->with->db;
    HUB_TRY(hub_db_begin(open, err));
    HUB_TRY(hub_named_objects_in(open, restore_object, r, err));
    for (uint32_t i = 0; i < r->with->roots->count; i++)
        if (r->touched[i])
            HUB_TRY(hub_object_files_sync(&r->deposits, i, err));
    HUB_TRY(hub_copy_objects_forget(open, note_lost, r, err));
    return hub_db_commit(open, err);
}

enum hub_status hub_restore_repos(const struct hub_repos_restore *restore, struct hub_error *err)
{
    struct run r = {.with = restore, .report = restore->report, .deposits = {.roots = restore->roots}};
    enum hub_status st = list_sources(&r, err);
    if (!st)
        st = restore_all(&r, err);
    free(r.sources);
    return st;
}
