/* storage/transfer/record.c: what a copy says of its files, read back. */
#include "storage/transfer/record.h"

#include "folder.h"
#include "storage/model/file_hasher.h"

TestSuite(record, .init = make_folder, .fini = remove_folder);

static struct hub_file_facts files[] = {
    {.path = "a", .size = 1, .other = HUB_BY_CRC32C, .sum = {1, 2, 3, 4}},
    {.path = "b",
     .size = 2,
     .has_sha256 = true,
     .computed = true,
     .sha256 = {9},
     .other = HUB_BY_CRC32C,
     .sum = {5, 6, 7, 8}},
    {.path = "c", .size = 3, .has_sha256 = true, .computed = true, .sha256 = {8}},
};
static const struct hub_remote_files plan = {
    .id = (char *)"x-v0", .revision = (char *)"r", .items = files, .count = 3};

static void write_record(struct hub_view text)
{
    cr_assert_eq(hub_fs_write(AT_FDCWD, in(".minari-hub.json"), text, 0644, NULL), HUB_OK);
}

Test(record, a_file_that_is_not_hashed_yet_has_what_its_remote_said)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(64 * KIB);
    HUB_CLEANUP(hub_record_dispose) struct hub_record record = {0};
    cr_assert_eq(hub_record_write(&plan, "gcp://lab", &text, NULL), HUB_OK);
    write_record(hub_buf_view(&text));
    cr_assert_eq(hub_record_read(in(""), &record, NULL), HUB_OK);
    cr_assert_eq(record.count, 3);
    cr_assert(!record.files[0].has_sha256 && record.files[1].has_sha256 && record.files[2].has_sha256);

    struct hub_sums sums = {.known = true, .kind = HUB_BY_CRC32C, .other = {1, 2, 3, 4}};
    const struct hub_file_facts *expected = &record.files[0];
    cr_assert(hub_sums_agree(&sums, expected));
    sums.other[3] ^= 1;
    cr_assert_not(hub_sums_agree(&sums, expected));
    expected = &record.files[1]; /* its SHA-256 counts, where there is one */
    sums = (struct hub_sums){.known = true, .kind = HUB_BY_CRC32C, .other = {5, 6, 7, 8}};
    cr_assert_not(hub_sums_agree(&sums, expected));
    sums.has_sha256 = true;
    sums.sha256[0] = 9;
    cr_assert(hub_sums_agree(&sums, expected));
}

Test(record, a_file_without_any_digest_is_refused)
{
    static const char *const items[] = {"", ",\"sha256\":\"12\"",
                                        ",\"sha256\":\"12\",\"crc32c\":\"01020304\"", ",\"crc32c\":\"0102\""};
    for (size_t i = 0; i < HUB_COUNT(items); i++) {
        HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
        struct hub_record record;
        cr_assert_eq(
            hub_buf_addf(&text, NULL, "{\"record\":1,\"files\":[{\"path\":\"a\",\"size\":1%s}]}", items[i]),
            HUB_OK);
        write_record(hub_buf_view(&text));
        cr_expect_eq(hub_record_read(in(""), &record, NULL), HUB_CORRUPT, "%s", items[i]);
    }
}
