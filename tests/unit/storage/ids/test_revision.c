/* storage/ids/revision.c: names of states and of contents. */
#include "storage/base/digest.h"
#include "storage/ids/revision.h"

#include <criterion/criterion.h>

Test(revision, state)
{
    char revision[HUB_REVISION_CHARS + 1], again[HUB_REVISION_CHARS + 1];
    struct hub_revision_file files[] = {{"data/main_data.hdf5", 7, 1700000000123456789, NULL},
                                        {".minari-hub.json", 3, 5, NULL},
                                        {"data/.tmp", 3, 5, NULL},
                                        {"data/a", 0, -1, NULL}};
    struct hub_revision_file fewer[] = {files[0], files[3]};
    cr_assert_eq(hub_revision(files, HUB_COUNT(files), revision, NULL), HUB_OK);
    cr_assert_eq(hub_revision(fewer, 2, again, NULL), HUB_OK);
    cr_expect_str_eq(revision, again);
    /* printf 'data/a\0000\000-1\ndata/main_data.hdf5\0007\0001700000000123456789\n' | sha256sum */
    cr_expect_str_eq(revision, "ccaf803bfff288ebb7491e07276404828af08103");
    fewer[0].mtime_ns++;
    cr_assert_eq(hub_revision(fewer, 2, again, NULL), HUB_OK);
    cr_expect_str_neq(revision, again);
    cr_assert_eq(hub_revision(NULL, 0, revision, NULL), HUB_OK);
    cr_expect_str_eq(revision, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4"); /* SHA-256 of no bytes */
}

Test(revision, content)
{
    char content[HUB_CONTENT_CHARS + 1];
    uint8_t sha[HUB_SHA256_BYTES];
    cr_assert_eq(hub_digest_of(HUB_SHA256, HUB_VIEW("abc"), sha, NULL), HUB_OK);
    struct hub_revision_file files[] = {{"b", 3, 1, sha}, {"a", 3, 2, sha}};
    cr_assert_eq(hub_content(files, 2, content, NULL), HUB_OK);
    cr_expect_str_eq(content, "074fa1a8623578f1827eeed67493b51cb796d5c6064263ab4b5c8a13a2b63fe9");
    files[1].sha256 = NULL;
    cr_expect_eq(hub_content(files, 2, content, NULL), HUB_NOT_FOUND);
}
