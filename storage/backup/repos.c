/* Repos for a backup: see repos.h. Objects of a hub never change, and each is there before a row names it.
 * One that is gone was collected: a newer copy of hub.db does not name it any more. */
#include "storage/backup/repos.h"

#include "storage/backup/capture.h"
#include "storage/deposits/deposit.h"
#include "storage/truth/copy_repos.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void closep(struct hub_db **db)
{
    hub_db_close(*db);
}

static enum hub_status add_object(void *user, const struct hub_named_object *object, struct hub_error *err)
{
    struct hub_backup *backup = user;
    const struct hub_backup_repo *last = backup->repo_count ? &backup->repos[backup->repo_count - 1] : NULL;
    if (!last || strcmp(last->id, object->repo) != 0)
        HUB_TRY(hub_backup_add_repo(backup, object->repo, object->root, "", err));
    return hub_backup_add_object(backup, object->sha256, object->size, err);
}

enum hub_status hub_backup_repos_list(const char *database, struct hub_backup *backup, struct hub_error *err)
{
    HUB_CLEANUP(closep) struct hub_db *db = NULL;
    hub_backup_forget_repos(backup);
    HUB_TRY(hub_db_open(database, HUB_DB_READ, &db, err));
    return hub_named_objects_in(db, add_object, backup, err);
}

/* ---- their objects ---- */

static enum hub_status take_object(const struct hub_deposits *deposits, uint32_t root,
                                   struct hub_backup_objects *objects, struct hub_backup_object *object,
                                   struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    bool there = false;
    struct stat st;
    if (objects)
        HUB_TRY(hub_backup_objects_has(objects, object->sha256, object->size, &there, err));
    if (there)
        return HUB_OK;
    HUB_TRY(hub_object_file_open(deposits, root, object->sha256, &fd, err));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != object->size)
        return hub_fail(err, HUB_CHANGED, "it has another size than its commit says");
    return objects ? hub_backup_objects_put(objects, fd, object->size, true, object->sha256, err) : HUB_OK;
}

static enum hub_status note(struct hub_backup_repo *repo, bool served, const struct hub_backup_object *object,
                            enum hub_status st, const char *why, struct hub_error *err)
{
    char hex[2 * HUB_SHA256_BYTES + 1], text[700];
    hub_hex(object->sha256, sizeof object->sha256, hex);
    if (!served)
        snprintf(text, sizeof text, "its root '%.200s' is not served", repo->root);
    else if (st == HUB_NOT_FOUND)
        snprintf(text, sizeof text, "its object %s is missing", hex);
    else
        snprintf(text, sizeof text, "its object %s: %s", hex, why);
    free(repo->problem);
    repo->problem = NULL;
    return hub_dup(&repo->problem, text, err);
}

enum hub_status hub_backup_repo_take(const struct hub_roots *roots, struct hub_backup_objects *objects,
                                     struct hub_backup_repo *repo, struct hub_error *err)
{
    const struct hub_deposits deposits = {.roots = roots};
    const uint32_t root = hub_roots_number(roots, repo->root);
    for (uint32_t i = 0; i < repo->count; i++) {
        struct hub_error why = {0};
        const enum hub_status st = take_object(&deposits, root, objects, &repo->objects[i], &why);
        if (st && !hub_capture_is_problem(st))
            return hub_pass(st, &why, err);
        if (st && !*repo->problem) /* the others are kept all the same */
            HUB_TRY(note(repo, root < roots->count, &repo->objects[i], st, why.detail, err));
    }
    return HUB_OK;
}
