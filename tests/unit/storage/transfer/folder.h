/** A fresh folder for a test, and small files in it. */
#ifndef HUB_TEST_FOLDER_H
#define HUB_TEST_FOLDER_H

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static inline void make_folder(void)
{
    strcpy(folder, "/tmp/hub-transfer-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static inline void remove_folder(void)
{
    cr_assert_eq(hub_fs_remove(AT_FDCWD, folder, NULL), HUB_OK);
}

static inline const char *in(const char *path)
{
    static char out[8][512];
    static unsigned next;
    char *at = out[next++ % 8];
    snprintf(at, 512, "%s/%s", folder, path);
    return at;
}

static inline void write_file(const char *path, const char *text)
{
    char parent[PATH_MAX];
    snprintf(parent, sizeof parent, "%s", path);
    *strrchr(parent, '/') = '\0';
    cr_assert_eq(hub_fs_make_dirs(AT_FDCWD, parent, 0777, NULL), HUB_OK);
    cr_assert_eq(hub_fs_write(AT_FDCWD, path, hub_view_of(text), 0644, NULL), HUB_OK);
}

static inline bool holds_text(const char *path, const char *text)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf got = HUB_BUF_INIT(1 * MIB);
    return !hub_fs_read(AT_FDCWD, path, &got, NULL) && hub_view_is(hub_buf_view(&got), text);
}

#endif
