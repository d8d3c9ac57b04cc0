/* The read-only connections of an open catalogue, and its flags in the state directory: the ground that the
 * other files stand on. */
#include "storage/catalog/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

void hub_catalog_path(const struct hub_catalog *catalog, const char *name, char out[4096])
{
    snprintf(out, 4096, "%s/%s", catalog->state, name);
}

enum hub_status hub_catalog_put_flag(const struct hub_catalog *catalog, const char *name,
                                     struct hub_error *err)
{
    char path[4096];
    hub_catalog_path(catalog, name, path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return hub_fail_errno(err, errno, "writing %s", path);
    close(fd);
    return HUB_OK;
}

void hub_catalog_closing(void *catalog, const struct hub_db *db)
{
    if (db && hub_db_is_damaged(db))
        (void)!hub_catalog_put_flag(catalog, "damaged", NULL);
}

enum hub_status hub_catalog_reader(struct hub_catalog *catalog, struct hub_db **out, struct hub_error *err)
{
    return hub_db_readers_get(catalog->readers, out, err);
}
