/**
 * What a backup holds, and manifest.json, which says so. A folder with a manifest is a backup; one without is
 * none, whatever else is in it. One thread at a time.
 */
#ifndef HUB_BACKUP_MANIFEST_H
#define HUB_BACKUP_MANIFEST_H

#include "storage/base/digest.h"
#include "storage/transfer/record.h"

#define HUB_BACKUP_MANIFEST "manifest.json"

/** A file of the backup's folder. */
struct hub_backup_part {
    char name[80];
    uint64_t size;
    uint8_t sha256[HUB_SHA256_BYTES];
};

struct hub_backup_root {
    char *key, *path; /* see hub_root_key; where it was */
    char *name;       /* NULL: none */
};

/** A dataset that the hub owns. Texts are its own; "" where they say nothing. */
struct hub_backup_set {
    char *id;   /* of one that was pushed */
    char *root; /* key; "": its root was not there */
    char *path; /* below the root */
    char *commit, *tree;
    char *remote, *remote_id;     /* where a mirrored one came from */
    char *problem;                /* why its files are not in the backup, or not all */
    struct hub_file_facts *files; /* its own, sorted; its record is one of them */
    size_t count;
    bool kept; /* an earlier commit of a dataset, which lies in the private folder of its root */
};

struct hub_backup_object {
    uint8_t sha256[HUB_SHA256_BYTES]; /* first */
    uint64_t size;
};

/** A repo, and the objects that its commits name. Texts are its own. */
struct hub_backup_repo {
    char *id, *root;                   /* key */
    char *problem;                     /* why some are not in the backup; "": all are */
    struct hub_backup_object *objects; /* by digest, each once */
    uint32_t count, capacity;
};

/** Zeroed at first. */
struct hub_backup {
    int64_t made_ms; /* Unix time */
    bool data;       /* the files are in it, but for those of sets and repos with a problem */
    struct hub_backup_part database, config;
    struct hub_backup_root *roots;
    uint32_t root_count, root_capacity;
    struct hub_backup_set *sets;
    uint32_t set_count, set_capacity;
    struct hub_backup_repo *repos;
    uint32_t repo_count, repo_capacity;
};
void hub_backup_dispose(struct hub_backup *backup);
void hub_backup_set_dispose(struct hub_backup_set *set);
/** Add a root; `name` may be NULL. */
HUB_MUST_USE enum hub_status hub_backup_add_root(struct hub_backup *backup, const char *key, const char *name,
                                                 const char *path, struct hub_error *err);
/** Add a set with copies of the texts of `like`, and without files. */
HUB_MUST_USE enum hub_status hub_backup_add_set(struct hub_backup *backup, const struct hub_backup_set *like,
                                                struct hub_error *err);
/** Add a repo without objects, and one of its objects to the last repo. */
HUB_MUST_USE enum hub_status hub_backup_add_repo(struct hub_backup *backup, const char *id, const char *root,
                                                 const char *problem, struct hub_error *err);
HUB_MUST_USE enum hub_status hub_backup_add_object(struct hub_backup *backup,
                                                   const uint8_t sha256[HUB_SHA256_BYTES], uint64_t size,
                                                   struct hub_error *err);
void hub_backup_forget_repos(struct hub_backup *backup);
/** Its id, or where it lies; of one that is kept, the id of the dataset. */
const char *hub_backup_set_name(const struct hub_backup_set *set);
/** What messages call it: its name, and of one that is kept its commit. */
enum { HUB_BACKUP_LABEL = 600 };
const char *hub_backup_set_label(const struct hub_backup_set *set, char out[HUB_BACKUP_LABEL]);
/** The folder of a set that is kept, in the private folder of its root. */
HUB_MUST_USE enum hub_status hub_backup_kept_path(const struct hub_backup_set *set, struct hub_buf *out,
                                                  struct hub_error *err);

/** Put the manifest in place of the one that is there, synced. */
HUB_MUST_USE enum hub_status hub_backup_write(const struct hub_backup *backup, int folder,
                                              struct hub_error *err);
/** HUB_NOT_FOUND: the folder is no backup. HUB_UNSUPPORTED: a newer program wrote it. Dispose the result. */
HUB_MUST_USE enum hub_status hub_backup_read(const char *path, int folder, struct hub_backup *out,
                                             struct hub_error *err);

#endif
