/* manifest.json: written, read, damaged. */
#include "storage/backup/manifest.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char place[64];
static int folder;
static struct hub_error err;

static void begin(void)
{
    snprintf(place, sizeof place, "/tmp/hub-manifest-XXXXXX");
    cr_assert(mkdtemp(place));
    folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
    char command[100];
    close(folder);
    snprintf(command, sizeof command, "rm -rf %s", place);
    cr_assert_eq(system(command), 0);
}
TestSuite(manifest, .init = begin, .fini = end);

static void write_one(void)
{
    HUB_CLEANUP(hub_backup_dispose)
    struct hub_backup backup = {.made_ms = 1700000000123,
                                .data = true,
                                .database = {.name = "hub-1.db", .size = 7, .sha256 = {1, 2}},
                                .config = {.name = "minari-hub-1.conf"}};
    const struct hub_backup_set like = {
        .id = (char *)"lab/arm-v0", .root = (char *)"main", .path = (char *)"arm-v0", .commit = (char *)"c"};
    cr_assert_eq(hub_backup_add_root(&backup, "main", "main", "/data", &err), HUB_OK);
    cr_assert_eq(hub_backup_add_root(&backup, "/other", NULL, "/other", &err), HUB_OK);
    cr_assert_eq(hub_backup_add_set(&backup, &like, &err), HUB_OK);
    struct hub_backup_set *set = &backup.sets[0];
    cr_assert_eq(hub_new(&set->files, 1, sizeof *set->files, &err), HUB_OK);
    set->count = 1;
    set->files[0] = (struct hub_file_facts){.path = strdup("data/a.bin"),
                                            .size = 5,
                                            .modified_ns = 1700000000123456789,
                                            .has_sha256 = true,
                                            .sha256 = {0xab}};
    cr_assert_eq(hub_backup_add_repo(&backup, "lab/arm", "main", "", &err), HUB_OK);
    cr_assert_eq(hub_backup_add_object(&backup, set->files[0].sha256, 5, &err), HUB_OK);
    cr_assert_eq(hub_backup_write(&backup, folder, &err), HUB_OK, "%s", err.detail);
}

Test(manifest, what_was_written_is_read)
{
    HUB_CLEANUP(hub_backup_dispose) struct hub_backup read = {0};
    write_one();
    cr_assert_eq(hub_backup_read(place, folder, &read, &err), HUB_OK, "%s", err.detail);
    cr_expect(read.made_ms == 1700000000123 && read.data && read.root_count == 2 && read.set_count == 1);
    cr_assert(read.repo_count == 1 && read.repos[0].count == 1);
    cr_expect_str_eq(read.repos[0].id, "lab/arm");
    cr_expect(read.repos[0].objects[0].size == 5 && read.repos[0].objects[0].sha256[0] == 0xab);
    cr_expect_str_eq(read.database.name, "hub-1.db");
    cr_expect(read.database.size == 7 && read.database.sha256[1] == 2);
    cr_expect(read.roots[1].name == NULL && strcmp(read.roots[1].key, "/other") == 0);
    cr_assert_eq(read.sets[0].count, 1);
    cr_expect_str_eq(hub_backup_set_name(&read.sets[0]), "lab/arm-v0");
    const struct hub_file_facts *file = &read.sets[0].files[0];
    cr_expect(strcmp(file->path, "data/a.bin") == 0 && file->size == 5 && file->has_sha256 &&
              file->sha256[0] == 0xab && file->modified_ns == 1700000000123456789);
}

/* Read the manifest with one text of it replaced. */
static enum hub_status read_with(const char *from, const char *to)
{
    HUB_CLEANUP(hub_backup_dispose) struct hub_backup read = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB), other = HUB_BUF_INIT(MIB);
    write_one();
    cr_assert_eq(hub_fs_read(folder, HUB_BACKUP_MANIFEST, &text, &err), HUB_OK);
    const char *at = strstr(text.data, from);
    cr_assert(at, "%s in %s", from, text.data);
    cr_assert_eq(hub_buf_add(&other, text.data, (size_t)(at - text.data), &err), HUB_OK);
    cr_assert_eq(hub_buf_add_text(&other, to, &err), HUB_OK);
    cr_assert_eq(hub_buf_add_text(&other, at + strlen(from), &err), HUB_OK);
    cr_assert_eq(hub_fs_write(folder, HUB_BACKUP_MANIFEST, hub_buf_view(&other), 0600, &err), HUB_OK);
    return hub_backup_read(place, folder, &read, &err);
}

Test(manifest, what_is_wrong_with_it_is_found)
{
    HUB_CLEANUP(hub_backup_dispose) struct hub_backup read = {0};
    cr_expect_eq(hub_backup_read(place, folder, &read, &err), HUB_NOT_FOUND);
    cr_expect(strstr(err.detail, "is not a backup") && strstr(err.detail, place), "%s", err.detail);
    cr_expect_eq(read_with("data/a.bin", "data/../../a"), HUB_CORRUPT);
    cr_expect(strstr(err.detail, "use another backup"), "%s", err.detail);
    cr_expect_eq(read_with("data/a.bin", "/etc/a"), HUB_CORRUPT);
    cr_expect_eq(read_with("\"arm-v0\"", "\"../arm\""), HUB_CORRUPT);
    cr_expect_eq(read_with("hub-1.db", "../hub.db"), HUB_CORRUPT);
    cr_expect_eq(read_with("\"made\"", "\"mad\""), HUB_CORRUPT);
    cr_expect_eq(read_with("{", ""), HUB_CORRUPT);
    cr_expect_eq(read_with("\"backup\":1", "\"backup\":2"), HUB_UNSUPPORTED);
    cr_expect(strstr(err.detail, "newer minari-hub"), "%s", err.detail);
}
