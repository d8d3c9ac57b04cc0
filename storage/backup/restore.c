/* Restoring: see restore.h. */
#include "storage/backup/restore.h"

#include "storage/backup/objects.h"
#include "storage/backup/place.h"
#include "storage/backup/restore_repos.h"
#include "storage/io/state_dir.h"
#include "storage/sqlite/open_db.h"
#include "storage/truth/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_ENTRIES = 100000 };

static const char part[] = "hub.db.part"; /* hub.db while it is not complete */

struct restoring {
    const struct hub_restore_options *options;
    struct hub_restore_report *report;
    struct hub_state_dir *dir;
    struct hub_backup_objects objects;
    int folder, state;
    const struct hub_root *places[HUB_MAX_ROOTS]; /* of the backup's roots */
    struct hub_backup_progress progress;
};

static enum hub_status tick(void *user, uint64_t bytes, struct hub_error *err)
{
    struct restoring *r = user;
    r->progress.bytes += bytes;
    return r->options->tick ? r->options->tick(r->options->user, &r->progress, err) : HUB_OK;
}

/* ---- roots ---- */

/* Those without a name follow the order of the backup. */
static const struct hub_root *find_place(const struct hub_roots *roots, const char *name, uint32_t *unnamed)
{
    uint32_t skip = name ? 0 : (*unnamed)++;
    for (uint32_t i = 0; i < roots->count; i++) {
        const struct hub_root *root = &roots->roots[i];
        if (name ? root->name && strcmp(root->name, name) == 0 : !root->name && skip-- == 0)
            return root;
    }
    return NULL;
}

static uint32_t count_unnamed(const struct hub_roots *roots)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < roots->count; i++)
        count += !roots->roots[i].name;
    return count;
}

static enum hub_status list_roots(const struct hub_backup *backup, struct hub_buf *out, struct hub_error *err)
{
    for (uint32_t i = 0; i < backup->root_count; i++) {
        const struct hub_backup_root *root = &backup->roots[i];
        HUB_TRY(hub_buf_addf(out, err, "%s--root %s%sDIR (it was %s)", i ? ", " : "",
                             root->name ? root->name : "", root->name ? "=" : "", root->path));
    }
    return HUB_OK;
}

static enum hub_status find_places(struct restoring *r, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf list = HUB_BUF_INIT(64 * KIB);
    const struct hub_backup *backup = &r->report->backup;
    uint32_t unnamed = 0, lost = 0;
    if (backup->root_count > HUB_MAX_ROOTS)
        return hub_fail(err, HUB_CORRUPT, HUB_BACKUP_MANIFEST " names more than %d roots", HUB_MAX_ROOTS);
    for (uint32_t i = 0; i < backup->root_count; i++) {
        r->places[i] = find_place(r->options->roots, backup->roots[i].name, &unnamed);
        lost += !r->places[i];
    }
    if (!lost && count_unnamed(r->options->roots) <= unnamed)
        return HUB_OK;
    HUB_TRY(list_roots(backup, &list, err));
    return hub_fail(err, HUB_INVALID,
                    "the roots do not match those of the backup. Name each of these once: %s",
                    list.data ? list.data : "");
}

static const struct hub_root *place_of(void *user, const struct hub_backup_set *set)
{
    const struct restoring *r = user;
    for (uint32_t i = 0; *set->root && i < r->report->backup.root_count; i++)
        if (strcmp(r->report->backup.roots[i].key, set->root) == 0)
            return r->places[i];
    return NULL;
}

/* ---- the state directory ---- */

/* What a restore leaves that did not end is fine. */
static bool may_be_there(const char *name)
{
    return strcmp(name, "lock") == 0 || strcmp(name, "running") == 0 || strcmp(name, "lost+found") == 0 ||
           strncmp(name + (*name == '.'), part, sizeof part - 1) == 0; /* with a dot while it is written */
}

static enum hub_status open_state(struct restoring *r, struct hub_error *err)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    const char *path = r->options->state;
    HUB_TRY(hub_fs_list(AT_FDCWD, path, MOST_ENTRIES, &names, err));
    for (size_t i = 0; i < names.count; i++)
        if (!may_be_there(names.items[i].text))
            return hub_fail(err, HUB_INVALID,
                            "the state directory %s is not empty (it has %.80s): stop its hub and move it "
                            "away, or name another one with --state DIR",
                            path, names.items[i].text);
    HUB_TRY(hub_state_dir_open(path, &r->dir, err));
    r->state = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return r->state < 0 ? hub_fail_errno(err, errno, "%s", path) : HUB_OK;
}

static enum hub_status copy_database(struct restoring *r, struct hub_error *err)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * GIB);
    const struct hub_backup_part *from = &r->report->backup.database;
    uint8_t sha256[HUB_DIGEST_MAX];
    HUB_TRY(hub_fs_read(r->folder, from->name, &text, err));
    HUB_TRY(hub_digest_of(HUB_SHA256, hub_buf_view(&text), sha256, err));
    if (text.size != from->size || memcmp(sha256, from->sha256, sizeof from->sha256) != 0)
        return hub_fail(err, HUB_CORRUPT, "%s/%s is damaged: use another backup", r->options->folder,
                        from->name);
    return hub_fs_write(r->state, part, hub_buf_view(&text), 0600, err);
}

static enum hub_status fit_database(struct restoring *r, struct hub_error *err)
{
    const struct hub_backup *backup = &r->report->backup;
    struct hub_root_move moves[HUB_MAX_ROOTS];
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/%s", r->options->state, part);
    hub_db_remove(path);
    HUB_TRY(copy_database(r, err));
    for (uint32_t i = 0; i < backup->root_count; i++)
        moves[i] = (struct hub_root_move){backup->roots[i].key, hub_root_key(r->places[i])};
    return hub_truth_copy_fit(path, moves, backup->root_count, err);
}

/* ---- datasets ---- */

static enum hub_status miss(struct hub_backup_set *set, const char *why, struct hub_error *err)
{
    if (*set->problem)
        return HUB_OK;
    free(set->problem);
    set->problem = NULL;
    return hub_dup(&set->problem, why, err);
}

/* A failure of the restore, or of this dataset alone? */
static bool is_of_set(enum hub_status st)
{
    return st == HUB_NOT_FOUND || st == HUB_EXISTS || st == HUB_CORRUPT || st == HUB_INVALID ||
           st == HUB_DENIED;
}

/* The dataset that an earlier revision is of, if its files were checked as they were put in place now. */
static const struct hub_backup_set *find_present(const struct restoring *r, const struct hub_backup_set *kept)
{
    const struct hub_backup *backup = &r->report->backup;
    for (uint32_t i = 0; kept->kept && i < backup->set_count; i++)
        if (!backup->sets[i].kept && r->report->results[i] == HUB_RESTORE_PLACED &&
            strcmp(backup->sets[i].id, kept->id) == 0 && strcmp(backup->sets[i].root, kept->root) == 0)
            return &backup->sets[i];
    return NULL;
}

static enum hub_status put_in_place(struct restoring *r, const struct hub_root *root,
                                    const struct hub_backup_set *set, struct hub_error *err)
{
    if (*set->problem || !r->report->backup.data)
        return hub_fail(err, HUB_NOT_FOUND, "the backup was taken without --data");
    if (root->read_only)
        return hub_fail(err, HUB_DENIED, "its root is read-only (:ro)");
    HUB_TRY(hub_place(root, &r->objects, set, find_present(r, set), err));
    for (size_t i = 0; i < set->count; i++)
        r->report->bytes += set->files[i].size;
    r->report->files += set->count;
    return HUB_OK;
}

static enum hub_status restore_set(struct restoring *r, struct hub_backup_set *set, enum hub_restored *result,
                                   struct hub_error *err)
{
    const struct hub_root *root = place_of(r, set);
    struct hub_error why = {0};
    if (!root)
        return miss(set, "its root was not there", err);
    enum hub_status st = set->count ? hub_place_look(root, set, &why) : HUB_NOT_FOUND;
    if (!st) {
        *result = HUB_RESTORE_THERE;
        return HUB_OK;
    }
    if (st == HUB_NOT_FOUND)
        st = put_in_place(r, root, set, &why);
    if (!st)
        *result = HUB_RESTORE_PLACED;
    return !st ? HUB_OK : is_of_set(st) ? miss(set, why.detail, err) : hub_pass(st, &why, err);
}

static enum hub_status restore_sets(struct restoring *r, struct hub_error *err)
{
    struct hub_restore_report *report = r->report;
    r->progress.of = report->backup.set_count;
    for (uint32_t i = 0; i < report->backup.set_count; i++) {
        struct hub_backup_set *set = &report->backup.sets[i];
        r->progress.done = i;
        r->progress.name = hub_backup_set_name(set);
        HUB_TRY(tick(r, 0, err));
        HUB_TRY(restore_set(r, set, &report->results[i], err));
        report->missing += report->results[i] == HUB_RESTORE_MISSING;
        report->there += !set->kept && report->results[i] == HUB_RESTORE_THERE;
        report->placed += !set->kept && report->results[i] == HUB_RESTORE_PLACED;
        report->kept += set->kept && report->results[i] != HUB_RESTORE_MISSING;
    }
    return HUB_OK;
}

/* ---- digests ---- */

static enum hub_status stamp_file(struct hub_db *db, const struct hub_root *root, const char *dataset,
                                  const struct hub_file_facts *file, struct hub_error *err)
{
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(dataset, file->path);
    HUB_CLEANUP(hub_closep) int fd = -1;
    char hex[2 * HUB_SHA256_BYTES + 1];
    struct stat st;
    HUB_TRY(hub_allocated(path, err));
    if (hub_open_below(root->path, path, O_PATH, HUB_FS_NO_LINKS, &fd, NULL) || fstat(fd, &st))
        return HUB_OK; /* it is hashed when somebody asks */
    const struct hub_stamp stamp = hub_stamp_of(&st);
    hub_hex(file->sha256, HUB_SHA256_BYTES, hex);
    return hub_truth_copy_stamp(db, hub_root_key(root), path, &stamp, hex, err);
}

static enum hub_status stamp_sets(struct restoring *r, struct hub_db *db, struct hub_error *err)
{
    HUB_CLEANUP(hub_db_rollbackp) struct hub_db *open = db;
    HUB_TRY(hub_db_begin(open, err));
    for (uint32_t i = 0; i < r->report->backup.set_count; i++) {
        const struct hub_backup_set *set = &r->report->backup.sets[i];
        for (size_t k = 0; !set->kept && r->report->results[i] == HUB_RESTORE_PLACED && k < set->count; k++)
            HUB_TRY(stamp_file(open, place_of(r, set), set->path, &set->files[k], err));
    }
    return hub_db_commit(open, err);
}

/* ---- repos ---- */

static enum hub_status tick_repo(void *user, const char *repo, struct hub_error *err)
{
    struct restoring *r = user;
    r->progress.done = r->progress.of;
    r->progress.name = repo;
    return tick(r, 0, err);
}

static enum hub_status restore_repos(struct restoring *r, struct hub_db *db, struct hub_error *err)
{
    const struct hub_repos_restore with = {.db = db,
                                           .roots = r->options->roots,
                                           .objects = r->report->backup.data ? &r->objects : NULL,
                                           .report = r->report,
                                           .place_of = place_of,
                                           .tick = tick_repo,
                                           .user = r};
    return hub_restore_repos(&with, err);
}

/* Files that were put in place were read for their digests: the hub need not do so again. */
static enum hub_status finish_database(struct restoring *r, struct hub_error *err)
{
    struct hub_db *db;
    char path[4096];
    snprintf(path, sizeof path, "%.4000s/%s", r->options->state, part);
    HUB_TRY(hub_db_open(path, HUB_DB_TRUTH, &db, err));
    enum hub_status st = restore_repos(r, db, err);
    if (!st)
        st = stamp_sets(r, db, err);
    hub_db_close(db);
    return st;
}

/* ---- all ---- */

static enum hub_status read_backup(struct restoring *r, struct hub_error *err)
{
    const char *path = r->options->folder;
    r->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->folder < 0)
        return hub_fail_errno(err, errno, "%s", path);
    HUB_TRY(hub_backup_read(path, r->folder, &r->report->backup, err));
    HUB_TRY(hub_new(&r->report->results, r->report->backup.set_count, sizeof *r->report->results, err));
    if (!r->report->backup.data)
        return HUB_OK;
    r->objects = (struct hub_backup_objects){.folder = -1, .tick = tick, .user = r};
    return hub_backup_objects_open(r->folder, false, &r->objects, err);
}

static enum hub_status restore(struct restoring *r, struct hub_error *err)
{
    HUB_TRY(read_backup(r, err));
    HUB_TRY(find_places(r, err));
    HUB_TRY(open_state(r, err));
    HUB_TRY(fit_database(r, err));
    HUB_TRY(restore_sets(r, err));
    HUB_TRY(finish_database(r, err));
    if (renameat(r->state, part, r->state, "hub.db"))
        return hub_fail_errno(err, errno, "%s/hub.db", r->options->state);
    HUB_TRY(hub_fs_sync_dir(r->state, ".", err));
    r->dir->sound = true;
    return HUB_OK;
}

enum hub_status hub_restore(const struct hub_restore_options *options, struct hub_restore_report *out,
                            struct hub_error *err)
{
    struct restoring r = {
        .options = options, .report = out, .folder = -1, .state = -1, .objects = {.folder = -1}};
    *out = (struct hub_restore_report){0};
    const enum hub_status st = restore(&r, err);
    hub_state_dir_close(r.dir);
    hub_backup_objects_close(&r.objects);
    hub_closep(&r.folder);
    hub_closep(&r.state);
    return st;
}
