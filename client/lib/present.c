/* Sizes of what is there: see present.h. */
#include "client/lib/present.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

/* A link counts as what it leads to: people keep large files on another disk. */
static enum hub_status compare(const char *folder, const char *file, uint64_t size, const char *with,
                               struct hub_error *err)
{
    char path[PATH_MAX];
    struct stat st;
    const int n = snprintf(path, sizeof path, "%s/%s", folder, file);
    if (n >= (int)sizeof path || stat(path, &st) || !S_ISREG(st.st_mode))
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_DIFFERS_HERE,
                           "'%s' is there, but is not %s: '%.300s' is missing", folder, with, file);
    if ((uint64_t)st.st_size != size)
        return hub_fail_as(err, HUB_EXISTS, HUB_PROBLEM_DIFFERS_HERE,
                           "'%s' is there, but is not %s: '%.300s' has %" PRIu64 " bytes instead of %" PRIu64,
                           folder, with, file, (uint64_t)st.st_size, size);
    return HUB_OK;
}

enum hub_status hub_present_as_recorded(const char *path, const struct hub_record *record,
                                        struct hub_error *err)
{
    for (size_t i = 0; i < record->count; i++)
        HUB_TRY(compare(path, record->files[i].path, record->files[i].size, "as it was downloaded", err));
    return HUB_OK;
}

enum hub_status hub_present_as_listed(const char *path, const struct hub_remote_files *files,
                                      struct hub_error *err)
{
    for (uint32_t i = 0; i < files->count; i++)
        HUB_TRY(compare(path, files->items[i].path, files->items[i].size,
                        "the remote's (it has no record of a download, and sizes differ)", err));
    return HUB_OK;
}
