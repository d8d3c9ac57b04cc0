/* Taking a backup: see backup.h.
 *
 *   FOLDER/manifest.json   written last: what the backup is
 *   FOLDER/hub-TAG.db, minari-hub-TAG.conf
 *   FOLDER/objects/        files by digest (objects.h)
 *   FOLDER/unfinished      while a backup is written; it says "synced" where one ended early, in order
 *
 * hub.db is copied first, then the files of its datasets are taken. A dataset that was published again
 * meanwhile is another one than its newest commit in that copy: then both are taken again. */
#include "storage/backup/backup.h"

#include "storage/access/token.h"
#include "storage/backup/capture.h"
#include "storage/backup/objects.h"
#include "storage/backup/repos.h"
#include "storage/text/time.h"
#include "storage/truth/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, ROUND_WAIT_MS = 200, MOST_ENTRIES = 100000 };

static const char unfinished[] = "unfinished", synced[] = "synced\n";

struct taking {
    const struct hub_backup_options *options;
    struct hub_backup_report *report;
    struct hub_backup_objects objects;
    int folder;
    bool begun;
    bool doubtful; /* what the last run left may be damaged */
    struct hub_backup_progress progress;
};

void hub_backup_report_dispose(struct hub_backup_report *report)
{
    hub_backup_dispose(&report->backup);
    *report = (struct hub_backup_report){0};
}

static enum hub_status tick(void *user, uint64_t bytes, struct hub_error *err)
{
    struct taking *t = user;
    t->progress.bytes += bytes;
    return t->options->tick ? t->options->tick(t->options->user, &t->progress, err) : HUB_OK;
}

/* ---- the folder ---- */

static enum hub_status lock_folder(struct taking *t, struct hub_error *err)
{
    const char *path = t->options->folder;
    HUB_TRY(hub_fs_make_dirs(AT_FDCWD, path, 0700, err));
    t->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->folder < 0)
        return hub_fail_errno(err, errno, "%s", path);
    return flock(t->folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK
               ? hub_fail(err, HUB_BUSY,
                          "another backup is being written to %s: wait for it, or name another "
                          "folder",
                          path)
               : HUB_OK;
}

/* Where a folder is, or will be: by the nearest one above it that is there. */
static enum hub_status find_real(const char *folder, char **out, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *above = NULL;
    HUB_TRY(hub_dup(&above, folder, err));
    while (!(*out = realpath(*above ? above : ".", NULL))) {
        if (errno != ENOENT)
            return hub_fail_errno(err, errno, "%s", above);
        char *slash = strrchr(above, '/');
        *(slash ? slash + (slash == above) : above) = '\0';
    }
    return HUB_OK;
}

static enum hub_status check_outside(const struct taking *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *real = NULL;
    HUB_TRY(find_real(t->options->folder, &real, err));
    for (uint32_t i = 0; i < t->options->roots->count; i++)
        if (hub_path_below(real, t->options->roots->roots[i].path))
            return hub_fail(err, HUB_INVALID, "%s lies in the root %s: name a folder outside of the roots",
                            t->options->folder, t->options->roots->roots[i].path);
    return hub_path_below(real, t->options->state)
               ? hub_fail(err, HUB_INVALID, "%s lies in the state directory %s: name a folder outside of it",
                          t->options->folder, t->options->state)
               : HUB_OK;
}

/* Did an earlier run leave something? Where it could not sync that, it is read again. */
static bool find_unfinished(struct taking *t)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    if (faccessat(t->folder, unfinished, F_OK, 0))
        return false;
    t->doubtful =
        hub_fs_read(t->folder, unfinished, &text, NULL) || !hub_view_is(hub_buf_view(&text), synced);
    return true;
}

/* A new folder, a backup, or what an interrupted one left. */
static enum hub_status check_folder(struct taking *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_backup_dispose) struct hub_backup before = {0};
    const bool backup = faccessat(t->folder, HUB_BACKUP_MANIFEST, F_OK, 0) == 0;
    const bool interrupted = find_unfinished(t);
    HUB_TRY(hub_fs_list(t->folder, ".", MOST_ENTRIES, &names, err));
    if (!backup && !interrupted)
        return names.count == 0 || (names.count == 1 && strcmp(names.items[0].text, "lost+found") == 0)
                   ? HUB_OK
                   : hub_fail(err, HUB_INVALID,
                              "%s holds other files and no backup: name a new folder, or an empty one",
                              t->options->folder);
    if (!backup || hub_backup_read(t->options->folder, t->folder, &before, NULL))
        return HUB_OK;
    return before.data && !t->options->data
               ? hub_fail(err, HUB_INVALID,
                          "%s holds a backup with data, which one without would replace: add --data, or name "
                          "another folder",
                          t->options->folder)
               : HUB_OK;
}

/* In place at once: beside a file of another name nobody would know what the folder is. */
static enum hub_status mark_unfinished(const struct taking *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep)
    int fd = openat(t->folder, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 || fsync(fd))
        return hub_fail_errno(err, errno, "%s/%s", t->options->folder, unfinished);
    return hub_fs_sync_dir(t->folder, ".", err);
}

static enum hub_status begin(struct taking *t, struct hub_error *err)
{
    HUB_TRY(check_outside(t, err));
    HUB_TRY(lock_folder(t, err));
    HUB_TRY(check_folder(t, err));
    HUB_TRY(mark_unfinished(t, err));
    t->begun = true;
    if (!t->options->data)
        return HUB_OK;
    t->objects = (struct hub_backup_objects){.folder = -1, .doubtful = t->doubtful, .tick = tick, .user = t};
    return hub_backup_objects_open(t->folder, true, &t->objects, err);
}

/* ---- datasets ---- */

static enum hub_status add_owned(void *user, const struct hub_owned *owned, struct hub_error *err)
{
    const struct hub_backup_set like = {.id = (char *)owned->dataset,
                                        .root = (char *)owned->root,
                                        .path = (char *)owned->path,
                                        .commit = (char *)owned->commit,
                                        .tree = (char *)owned->tree,
                                        .remote = (char *)owned->remote,
                                        .remote_id = (char *)owned->remote_id,
                                        .kept = owned->kept};
    return hub_backup_add_set(user, &like, err);
}

static bool is_same(const struct hub_backup_set *a, const struct hub_backup_set *b)
{
    return a->kept == b->kept && strcmp(a->id, b->id) == 0 && strcmp(a->commit, b->commit) == 0 &&
           (*a->id || (strcmp(a->root, b->root) == 0 && strcmp(a->path, b->path) == 0));
}

/* What an earlier round took of it, if that still holds. */
static bool reuse(struct hub_backup *before, struct hub_backup_set *set)
{
    for (uint32_t i = 0; i < before->set_count; i++) {
        struct hub_backup_set *old = &before->sets[i];
        if (!is_same(old, set) || !old->count || *old->problem || !hub_capture_is_of_commit(old))
            continue;
        const struct hub_backup_set swap = *set;
        *set = *old;
        *old = swap;
        return true;
    }
    return false;
}

/* @param agrees  all that was taken belongs to the copy of hub.db */
static enum hub_status take_sets(struct taking *t, struct hub_backup *before, bool *agrees,
                                 struct hub_error *err)
{
    struct hub_backup *backup = &t->report->backup;
    *agrees = true;
    t->progress.of = backup->set_count;
    for (uint32_t i = 0; i < backup->set_count; i++) {
        struct hub_backup_set *set = &backup->sets[i];
        t->progress.done = i;
        t->progress.name = hub_backup_set_name(set);
        HUB_TRY(tick(t, 0, err));
        if (reuse(before, set))
            continue;
        HUB_TRY(hub_capture_place(t->options->roots, set, err));
        HUB_TRY(hub_capture(t->options->roots, t->options->data ? &t->objects : NULL, set, err));
        *agrees = *agrees && !*set->problem && hub_capture_is_of_commit(set);
    }
    return HUB_OK;
}

/* What an earlier round took of them is found in the backup. */
static enum hub_status take_repos(struct taking *t, bool *agrees, struct hub_error *err)
{
    struct hub_backup *backup = &t->report->backup;
    for (uint32_t i = 0; i < backup->repo_count; i++) {
        struct hub_backup_repo *repo = &backup->repos[i];
        t->progress.name = repo->id;
        HUB_TRY(tick(t, 0, err));
        HUB_TRY(hub_backup_repo_take(t->options->roots, t->options->data ? &t->objects : NULL, repo, err));
        *agrees = *agrees && !*repo->problem;
    }
    return HUB_OK;
}

static enum hub_status copy_hub_db(const struct taking *t, struct hub_error *err)
{
    char path[4096];
    const int n = snprintf(path, sizeof path, "%s/%s", t->options->folder, t->report->backup.database.name);
    if (n < 0 || n >= (int)sizeof path)
        return hub_fail(err, HUB_INVALID, "the path of the folder is too long");
    if (unlink(path) && errno != ENOENT)
        return hub_fail_errno(err, errno, "%s", path);
    HUB_TRY(hub_truth_copy(t->options->state, path, err));
    HUB_TRY(hub_truth_copy_owned(path, add_owned, &t->report->backup, err));
    return hub_backup_repos_list(path, &t->report->backup, err);
}

static enum hub_status take_round(struct taking *t, bool *agrees, struct hub_error *err)
{
    HUB_CLEANUP(hub_backup_dispose)
    struct hub_backup before = {.sets = t->report->backup.sets, .set_count = t->report->backup.set_count};
    t->report->backup.sets = NULL;
    t->report->backup.set_count = t->report->backup.set_capacity = 0;
    HUB_TRY(copy_hub_db(t, err));
    HUB_TRY(take_sets(t, &before, agrees, err));
    return take_repos(t, agrees, err);
}

/* What is not as hub.db says, in no round, is nothing to rely on. */
static enum hub_status name_others(struct hub_backup *backup, struct hub_error *err)
{
    for (uint32_t i = 0; i < backup->set_count; i++) {
        struct hub_backup_set *set = &backup->sets[i];
        if (!*set->commit || *set->problem || hub_capture_is_of_commit(set))
            continue;
        free(set->problem);
        HUB_TRY(hub_dup(&set->problem, "its files are not those of its commit", err));
    }
    return HUB_OK;
}

static enum hub_status take_all(struct taking *t, struct hub_error *err)
{
    bool agrees = false;
    for (unsigned round = 0; round < ROUNDS && !agrees; round++) {
        if (round)
            nanosleep(&(struct timespec){.tv_nsec = ROUND_WAIT_MS * 1000000L}, NULL);
        HUB_TRY(take_round(t, &agrees, err));
    }
    return name_others(&t->report->backup, err);
}

/* ---- the rest ---- */

static enum hub_status name_parts(struct taking *t, struct hub_error *err)
{
    struct hub_backup *backup = &t->report->backup;
    uint8_t random[4];
    char hex[2 * sizeof random + 1], when[32];
    struct tm tm;
    backup->made_ms = hub_time_now_ns() / 1000000;
    backup->data = t->options->data;
    const time_t now = (time_t)(backup->made_ms / 1000);
    HUB_TRY(hub_secret_make(random, sizeof random, err));
    hub_hex(random, sizeof random, hex);
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
    snprintf(backup->database.name, sizeof backup->database.name, "hub-%s-%s.db", when, hex);
    snprintf(backup->config.name, sizeof backup->config.name, "minari-hub-%s-%s.conf", when, hex);
    for (uint32_t i = 0; i < t->options->roots->count; i++) {
        const struct hub_root *root = &t->options->roots->roots[i];
        HUB_TRY(hub_backup_add_root(backup, hub_root_key(root), root->name, root->path, err));
    }
    return HUB_OK;
}

static enum hub_status measure_part(const struct taking *t, struct hub_backup_part *part,
                                    struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * GIB);
    uint8_t sha256[HUB_DIGEST_MAX];
    HUB_TRY(hub_fs_read(t->folder, part->name, &text, err));
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_buf_view(&text), sha256, err));
    memcpy(part->sha256, sha256, sizeof part->sha256);
    part->size = text.size;
    return HUB_OK;
}

static void count_all(struct taking *t)
{
    struct hub_backup_report *report = t->report;
    for (uint32_t i = 0; i < report->backup.set_count; i++) {
        const struct hub_backup_set *set = &report->backup.sets[i];
        report->problems += *set->problem != '\0';
        report->kept += set->kept;
        report->files += set->count;
        for (size_t k = 0; k < set->count; k++)
            report->bytes += set->files[k].size;
    }
    for (uint32_t i = 0; i < report->backup.repo_count; i++) {
        const struct hub_backup_repo *repo = &report->backup.repos[i];
        report->problems += *repo->problem != '\0';
        report->objects += repo->count;
    }
    report->datasets = report->backup.set_count - report->kept;
    report->new_files = t->objects.files;
    report->new_bytes = t->objects.bytes;
}

static bool is_of_backup(const struct hub_backup *backup, const char *name)
{
    const struct hub_view view = hub_view_of(name);
    const bool ours = (hub_view_starts(view, "hub-") && hub_view_ends(view, ".db")) ||
                      (hub_view_starts(view, "minari-hub-") && hub_view_ends(view, ".conf"));
    return !ours || strcmp(name, backup->database.name) == 0 || strcmp(name, backup->config.name) == 0;
}

struct kept {
    const uint8_t (*digests)[HUB_SHA256_BYTES];
    size_t count;
};

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, HUB_SHA256_BYTES);
}

static bool keeps(void *user, const uint8_t sha256[HUB_SHA256_BYTES])
{
    const struct kept *kept = user;
    return bsearch(sha256, kept->digests, kept->count, HUB_SHA256_BYTES, by_digest);
}

static enum hub_status prune(struct taking *t, struct hub_error *err)
{
    const struct hub_backup *backup = &t->report->backup;
    HUB_CLEANUP(hub_freep) uint8_t(*digests)[HUB_SHA256_BYTES] = NULL;
    size_t count = 0;
    if (t->report->problems)
        return hub_fail(
            err, HUB_INVALID,
            "the backup is written, but --prune removed nothing: %u of its datasets and repos are not whole "
            "(see above), and an earlier backup may have what they lack",
            t->report->problems);
    HUB_TRY(hub_new(&digests, t->report->files + t->report->objects, HUB_SHA256_BYTES, err));
    for (uint32_t i = 0; i < backup->set_count; i++)
        for (size_t k = 0; k < backup->sets[i].count; k++)
            memcpy(digests[count++], backup->sets[i].files[k].sha256, HUB_SHA256_BYTES);
    for (uint32_t i = 0; i < backup->repo_count; i++)
        for (uint32_t k = 0; k < backup->repos[i].count; k++)
            memcpy(digests[count++], backup->repos[i].objects[k].sha256, HUB_SHA256_BYTES);
    qsort(digests, count, HUB_SHA256_BYTES, by_digest);
    struct kept kept = {(const uint8_t(*)[HUB_SHA256_BYTES])digests, count};
    return hub_backup_objects_prune(&t->objects, keeps, &kept, &t->report->pruned, err);
}

/* What the backups before left, now that the manifest names others. */
static enum hub_status clear_old(struct taking *t, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_TRY(hub_fs_list(t->folder, ".", MOST_ENTRIES, &names, err));
    for (size_t i = 0; i < names.count; i++)
        if (!is_of_backup(&t->report->backup, names.items[i].text))
            HUB_TRY(hub_fs_remove(t->folder, names.items[i].text, err));
    HUB_TRY(hub_fs_remove(t->folder, unfinished, err));
    return t->options->prune && t->options->data ? prune(t, err) : HUB_OK;
}

static enum hub_status take(struct taking *t, struct hub_error *err)
{
    struct hub_backup *backup = &t->report->backup;
    HUB_TRY(begin(t, err));
    HUB_TRY(name_parts(t, err));
    HUB_TRY(take_all(t, err));
    HUB_TRY(hub_fs_write(t->folder, backup->config.name, t->options->config, 0600, err));
    HUB_TRY(measure_part(t, &backup->config, err));
    HUB_TRY(measure_part(t, &backup->database, err));
    if (syncfs(t->folder))
        return hub_fail_errno(err, errno, "syncing %s", t->options->folder);
    HUB_TRY(hub_backup_write(backup, t->folder, err));
    count_all(t);
    return clear_old(t, err);
}

enum hub_status hub_backup_take(const struct hub_backup_options *options, struct hub_backup_report *out,
                                struct hub_error *err)
{
    struct taking t = {.options = options, .report = out, .folder = -1, .objects = {.folder = -1}};
    *out = (struct hub_backup_report){0};
    const enum hub_status st = take(&t, err);
    if (st && t.begun && faccessat(t.folder, unfinished, F_OK, 0) == 0 && syncfs(t.folder) == 0)
        (void)!hub_fs_write(t.folder, unfinished, hub_view_of(synced), 0600, NULL);
    hub_backup_objects_close(&t.objects);
    hub_closep(&t.folder);
    return st;
}
