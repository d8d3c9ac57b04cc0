/* See kept_file.h. */
#include "storage/read/kept_file.h"

#include "storage/ids/kept.h"
#include "storage/io/fs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_NAMES = 10000 };

struct kept_search {
    const struct hub_roots *roots;
    uint32_t root;
    const struct hub_stamp *stamp;
    const char *kept; /* folder of kept revisions, below the root */
    int *fd;
};

/* Whether the file at `rest` of a kept revision is the one. */
static bool try_revision(const struct kept_search *s, struct hub_view above, const char *name,
                         const char *rest)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf path = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_CLEANUP(hub_closep) int fd = -1;
    struct stat st;
    if (hub_buf_addf(&path, NULL, "%s/%.*s%s%s/%s", s->kept, (int)above.size, above.data,
                     above.size ? "/" : "", name, rest) ||
        hub_roots_open(s->roots, s->root, path.data, O_RDONLY, &fd, NULL) || fstat(fd, &st))
        return false;
    const struct hub_stamp found = hub_stamp_of(&st);
    if (!hub_stamp_equal(&found, s->stamp))
        return false;
    *s->fd = fd;
    fd = -1;
    return true;
}

/* Of the dataset in folder `above`/`base`, whose file at `rest` is looked for. */
static bool try_dataset(const struct kept_search *s, struct hub_view above, struct hub_view base,
                        const char *rest)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf folder = HUB_BUF_INIT(2 * PATH_MAX);
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    HUB_CLEANUP(hub_closep) int directory = -1;
    if (hub_buf_addf(&folder, NULL, "%s%s%.*s", s->kept, above.size ? "/" : "", (int)above.size,
                     above.data) ||
        hub_roots_open(s->roots, s->root, folder.data, O_RDONLY | O_DIRECTORY, &directory, NULL) ||
        hub_fs_list(directory, "", MOST_NAMES, &names, NULL))
        return false;
    for (size_t i = 0; i < names.count; i++) {
        const char *name = names.items[i].text;
        if (strncmp(name, base.data, base.size) == 0 && name[base.size] == '@' &&
            strlen(name) == base.size + 1 + HUB_KEPT_COMMIT && try_revision(s, above, name, rest))
            return true;
    }
    return false;
}

/* Each folder above the file may be the dataset's. */
static bool try_folders(const struct kept_search *s, const char *path)
{
    for (const char *end = strrchr(path, '/'); end;) {
        const char *slash = memrchr(path, '/', (size_t)(end - path));
        const char *base = slash ? slash + 1 : path;
        if (try_dataset(s, (struct hub_view){path, slash ? (size_t)(slash - path) : 0},
                        (struct hub_view){base, (size_t)(end - base)}, end + 1))
            return true;
        end = slash;
    }
    return false;
}

enum hub_status hub_kept_file_open(const struct hub_roots *roots, uint32_t root, const char *path,
                                   const struct hub_stamp *stamp, int *fd)
{
    char other[64];
    snprintf(other, sizeof other, ".minari-hub-%u/" HUB_KEPT, (unsigned)geteuid());
    const char *const folders[] = {".minari-hub/" HUB_KEPT, other};
    for (size_t i = 0; i < HUB_COUNT(folders); i++) {
        const struct kept_search s = {roots, root, stamp, folders[i], fd};
        if (try_folders(&s, path))
            return HUB_OK;
    }
    return HUB_NOT_FOUND;
}
