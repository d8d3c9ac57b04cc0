/* Datasets of this machine by id or path: see own_location.h. */
#include "client/cli/own_location.h"

#include "storage/ids/id.h"
#include "storage/io/fs.h"
#include "storage/io/roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_NAMES = 1000000, DESCRIBED = 4 };

bool own_is_path(const char *text)
{
    return *text == '/' || strncmp(text, "~/", 2) == 0 || !strcmp(text, "~") || strncmp(text, "./", 2) == 0 ||
           strncmp(text, "../", 3) == 0 || !strcmp(text, ".") || !strcmp(text, "..");
}

static bool put(char *out, size_t room, const char *a, const char *b)
{
    return snprintf(out, room, "%s%s", a, b) < (int)room;
}

/* "/data/x" -> "/data" and "x" */
static bool split(const char *path, char folder[PATH_MAX], char name[NAME_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return put(folder, PATH_MAX, ".", "") && put(name, NAME_MAX + 1, path, "");
    snprintf(folder, PATH_MAX, "%.*s", (int)HUB_MAX(slash - path, 1), path);
    return put(name, NAME_MAX + 1, slash + 1, "");
}

int own_location_of_path(const char *text, struct own_location *out)
{
    char path[PATH_MAX], folder[PATH_MAX];
    const char *home = getenv("HOME");
    const bool below_home = *text == '~';
    if (!put(path, sizeof path, below_home ? (home ? home : "") : "", text + below_home))
        return ENAMETOOLONG;
    *out = (struct own_location){.path = true, .alone = true};
    for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
        path[n - 1] = '\0';
    if (!realpath(path, out->end) || access(out->end, R_OK))
        return errno;
    const char *last = strrchr(path, '/');
    last = last ? last + 1 : path;
    const bool named = *last && strcmp(last, ".") != 0 && strcmp(last, "..") != 0;
    if (!split(named ? path : out->end, folder, out->name))
        return ENAMETOOLONG;
    const char *plain = out->name + strspn(out->name, "."); /* hidden names are not looked at */
    (void)put(out->shown, sizeof out->shown, *plain ? plain : "dataset", "");
    return realpath(folder, out->folder) ? 0 : errno;
}

/* ---- by id ---- */

static bool is_there(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return *name && snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path &&
           access(path, F_OK) == 0;
}

/* Of the versions of a name the newest, whatever its ending is: "human" has "human-v2" and
 * "human-v2.hdf5". */
static void newest(const struct hub_names *names, const char *stem, char out[NAME_MAX + 1])
{
    const size_t n = strlen(stem);
    unsigned long best = 0;
    for (size_t i = 0; i < names->count; i++) {
        const char *text = names->items[i].text;
        char *end;
        if (strncmp(text, stem, n) != 0 || strncmp(text + n, "-v", 2) != 0 ||
            !strspn(text + n + 2, "0123456789"))
            continue;
        const unsigned long version = strtoul(text + n + 2, &end, 10);
        if ((!*end || *end == '.') && (!*out || version >= best)) {
            snprintf(out, NAME_MAX + 1, "%.*s", (int)(end - text), text);
            best = version;
        }
    }
}

/* A file that may be a dataset of this name, or one of its series. */
static bool may_be(const struct hub_name *name, const char *stem)
{
    return name->type != DT_DIR && strncmp(name->text, stem, strlen(stem)) == 0;
}

static bool begins_any(const struct hub_names *names, const char *stem)
{
    for (size_t i = 0; i < names->count; i++)
        if (may_be(&names->items[i], stem))
            return true;
    return false;
}

int own_location_of_id(const char *root, const char *id, struct own_location *out)
{
    char space[PATH_MAX], version[NAME_MAX + 1] = "";
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    *out = (struct own_location){0};
    const char *slash = strrchr(id, '/'), *stem = slash ? slash + 1 : id;
    snprintf(out->space, sizeof out->space, "%.*s", slash ? (int)(slash - id) : 0, id);
    if (snprintf(space, sizeof space, "%s/%s", root, out->space) >= (int)sizeof space ||
        strlen(stem) > NAME_MAX)
        return ENAMETOOLONG;
    if (!realpath(space, out->folder))
        return errno;
    (void)put(out->name, sizeof out->name, stem, "");
    if (!is_there(out->folder, stem)) {
        if (hub_fs_list(AT_FDCWD, out->folder, MAX_NAMES, &names, NULL))
            return errno ? errno : EIO;
        newest(&names, stem, version);
        if (*version)
            (void)put(out->name, sizeof out->name, version, "");
        if (!*version && !begins_any(&names, stem))
            return ENOENT;
    }
    out->alone = is_there(out->folder, out->name);
    (void)put(out->shown, sizeof out->shown, out->name, "");
    if (snprintf(space, sizeof space, "%s/%s", out->folder, out->name) >= (int)sizeof space)
        return ENAMETOOLONG;
    return !out->alone                 ? !put(out->end, sizeof out->end, out->folder, "")
           : realpath(space, out->end) ? 0
                                       : errno;
}

/* ---- links ---- */

static int link_one(const char *target, int directory, const char *space, const char *name)
{
    HUB_CLEANUP(hub_freep) char *path = hub_path_join(space, name);
    if (!path)
        return ENOMEM;
    return symlinkat(target, directory, path) ? errno : 0;
}

int own_location_link(const struct own_location *location, int directory)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    if (*location->space && hub_fs_make_dirs(directory, location->space, 0700, NULL))
        return errno ? errno : EIO;
    if (location->alone)
        return link_one(location->end, directory, location->space, location->shown);
    if (hub_fs_list(AT_FDCWD, location->folder, MAX_NAMES, &names, NULL))
        return errno ? errno : EIO;
    int failed = 0;
    for (size_t i = 0; i < names.count && !failed; i++) {
        const char *name = names.items[i].text;
        HUB_CLEANUP(hub_freep) char *target = hub_path_join(location->folder, name);
        if (target && may_be(&names.items[i], location->name))
            failed = link_one(target, directory, location->space, name);
    }
    return failed;
}

void own_location_describe(const struct own_location *location, char *out, unsigned room)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names names = {0};
    struct stat st;
    size_t n = 0;
    *out = '\0';
    if (stat(location->end, &st) || !S_ISDIR(st.st_mode) ||
        hub_fs_list(AT_FDCWD, location->end, MAX_NAMES, &names, NULL))
        return;
    for (size_t i = 0; i < names.count && i < DESCRIBED && n < room; i++)
        n += (size_t)snprintf(out + n, room - n, "%s%s", i ? ", " : "", names.items[i].text);
    if (names.count > DESCRIBED && n < room)
        snprintf(out + n, room - n, ", ...");
}
