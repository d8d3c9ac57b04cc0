/* See check_sources.h. Files are found by their SHA-256, datasets that are gone by their ids and commits. */
#include "server/commands/check_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum hub_status hub_check_read_backup(const char *folder, struct hub_backup *out, struct hub_error *err)
{
    HUB_CLEANUP(hub_closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return hub_fail_errno(err, errno, "%s", folder);
    HUB_TRY(hub_backup_read(folder, fd, out, err));
    return out->data ? HUB_OK
                     : hub_fail(err, HUB_INVALID,
                                "the backup in %s was taken without --data: it has no files", folder);
}

static bool has_file(const struct hub_backup_set *set, const uint8_t sha256[HUB_SHA256_BYTES])
{
    for (size_t i = 0; i < set->count; i++)
        if (set->files[i].has_sha256 && memcmp(set->files[i].sha256, sha256, HUB_SHA256_BYTES) == 0)
            return true;
    return false;
}

/* "lab/arm-v0", or "lab/arm-v0@COMMIT". */
static bool is_called(const struct hub_backup_set *set, const char *dataset)
{
    const size_t size = strlen(set->id);
    if (!set->kept)
        return strcmp(set->id, dataset) == 0;
    return strncmp(set->id, dataset, size) == 0 && dataset[size] == '@' &&
           strcmp(dataset + size + 1, set->commit) == 0;
}

static bool repo_has(const struct hub_backup_repo *repo, const uint8_t sha256[HUB_SHA256_BYTES])
{
    for (uint32_t i = 0; i < repo->count; i++)
        if (memcmp(repo->objects[i].sha256, sha256, HUB_SHA256_BYTES) == 0)
            return true;
    return false;
}

static bool has(const struct hub_backup *backup, const json_t *finding)
{
    uint8_t sha256[HUB_SHA256_BYTES];
    const char *hex = hub_member_text(finding, "sha256"), *path = hub_member_text(finding, "path"),
               *dataset = hub_member_text(finding, "dataset");
    const bool by_file = hex && hub_unhex(hub_view_of(hex), sha256, sizeof sha256);
    for (uint32_t i = 0; i < backup->set_count; i++) {
        const struct hub_backup_set *set = &backup->sets[i];
        if (*set->problem)
            continue;
        if (by_file ? has_file(set, sha256) : dataset && path && !*path && is_called(set, dataset))
            return true;
    }
    for (uint32_t i = 0; by_file && i < backup->repo_count; i++)
        if (!*backup->repos[i].problem && repo_has(&backup->repos[i], sha256))
            return true;
    return false;
}

void hub_check_offer_backup(const char *folder, const struct hub_backup *backup, json_t *result)
{
    json_t *finding;
    size_t i;
    json_array_foreach(json_object_get(result, "findings"), i, finding)
    {
        if (!has(backup, finding))
            continue;
        json_t *sources = json_object_get(finding, "sources");
        if (!sources && json_object_set_new(finding, "sources", sources = json_array()))
            return;
        (void)json_array_append_new(sources, json_sprintf("the backup %s", folder));
    }
}
