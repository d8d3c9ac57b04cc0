/* Xorbs in a folder, and files made of them. */
#include "storage/xet/rebuild.h"

#include "storage/io/fs.h"
#include "tests/unit/storage/xet/xet_kit.h"

#include <fcntl.h>
#include <unistd.h>

static char place[64];
static int folder = -1;
static struct hub_error err;

static void begin(void)
{
    snprintf(place, sizeof place, "/tmp/hub-xet-XXXXXX");
    cr_assert(mkdtemp(place));
    folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
    close(folder);
    (void)!hub_fs_remove(AT_FDCWD, place, NULL);
}
TestSuite(rebuild, .init = begin, .fini = end);

static enum hub_status send(const char *hash, const void *data, size_t size)
{
    HUB_CLEANUP(hub_xorb_upload_dispose) struct hub_xorb_upload upload = HUB_XORB_UPLOAD_INIT;
    uint8_t name[HUB_XET_HASH];
    uint64_t stored = 0;
    cr_assert(hub_xet_hash_read(hub_view_of(hash), name));
    HUB_TRY(hub_xorb_upload_begin(folder, name, &upload, &err));
    for (size_t at = 0; at < size; at += 1000)
        HUB_TRY(hub_xorb_upload_add(
            &upload, (struct hub_view){(const char *)data + at, HUB_MIN(size - at, 1000)}, &err));
    HUB_TRY(hub_xorb_upload_end(&upload, &stored, &err));
    cr_expect_gt(stored, size);
    return HUB_OK;
}

static void send_fixture(const char *hash)
{
    char path[128];
    size_t size;
    snprintf(path, sizeof path, "xet/xorbs/%s", hash);
    uint8_t *data = slurp(path, &size);
    cr_assert_eq(send(hash, data, size), HUB_OK, "%s", err.detail);
    free(data);
}

static void read_shard(const char *path, struct hub_shard *out)
{
    HUB_CLEANUP(hub_shard_scan_dispose) struct hub_shard_scan scan = {0};
    size_t size;
    uint8_t *data = slurp(path, &size);
    cr_assert_eq(hub_shard_scan_add(&scan, (struct hub_view){(char *)data, size}, &err), HUB_OK);
    cr_assert_eq(hub_shard_scan_end(&scan, out, &err), HUB_OK);
    free(data);
}

static enum hub_status digest_of(struct hub_rebuild *rebuild, uint32_t file, uint8_t out[HUB_DIGEST_MAX],
                                 uint64_t *size)
{
    HUB_CLEANUP(hub_digest_dispose) struct hub_digest digest = {0};
    struct hub_view bytes;
    *size = 0;
    HUB_TRY(hub_digest_begin(&digest, HUB_SHA256, &err));
    HUB_TRY(hub_rebuild_begin(rebuild, file, &err));
    do {
        HUB_TRY(hub_rebuild_next(rebuild, &bytes, &err));
        HUB_TRY(hub_digest_add(&digest, bytes, &err));
        *size += bytes.size;
    } while (bytes.size);
    return hub_digest_end(&digest, out, &err);
}

/* Make every file of a shard, as far as it goes. */
static enum hub_status make(const struct hub_shard *shard)
{
    HUB_CLEANUP(hub_rebuild_dispose) struct hub_rebuild rebuild;
    HUB_CLEANUP(hub_xorbs_dispose) struct hub_xorbs xorbs;
    hub_xorbs_init(&xorbs, folder);
    cr_assert_eq(hub_rebuild_init(&rebuild, shard, &xorbs, &err), HUB_OK);
    for (uint32_t i = 0; i < shard->file_count; i++) {
        uint8_t sha256[HUB_DIGEST_MAX];
        uint64_t size;
        HUB_TRY(digest_of(&rebuild, i, sha256, &size));
        cr_expect_eq(size, shard->files[i].size);
        if (memcmp(sha256, shard->files[i].sha256, sizeof sha256) != 0)
            return HUB_CHANGED;
    }
    return HUB_OK;
}

Test(rebuild, files_have_the_sha256_that_the_shard_states)
{
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard first, second;
    read_shard(FIRST_SHARD, &first);
    read_shard(SECOND_SHARD, &second);
    send_fixture(FIRST_XORB);
    cr_expect_eq(make(&first), HUB_OK, "%s", err.detail);
    cr_expect_eq(make(&second), HUB_NOT_FOUND);
    cr_expect(strstr(err.detail, SECOND_XORB), "%s", err.detail);
    send_fixture(SECOND_XORB);
    send_fixture(SECOND_XORB); /* again: nothing is wrong with that */
    cr_expect_eq(make(&second), HUB_OK, "%s", err.detail);
}

Test(rebuild, terms_out_of_range_are_refused_before_a_byte_is_made)
{
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
    read_shard(FIRST_SHARD, &shard);
    send_fixture(FIRST_XORB);
    shard.terms[0].end = 12;
    cr_expect_eq(make(&shard), HUB_INVALID);
    shard.terms[0].first = 11;
    cr_expect_eq(make(&shard), HUB_INVALID);
    shard.terms[0] = shard.terms[1];
    shard.terms[0].bytes++;
    cr_expect_eq(make(&shard), HUB_INVALID);
    cr_expect(strstr(err.detail, "states 20001 bytes"), "%s", err.detail);
}

Test(rebuild, other_bytes_under_the_same_hash_are_noticed_by_the_sha256)
{
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
    size_t size;
    uint8_t *data = slurp("xet/xorbs/" FIRST_XORB, &size);
    read_shard(FIRST_SHARD, &shard);
    data[HUB_XORB_HEADER] ^= 1; /* "x" is stored as it is */
    cr_assert_eq(send(FIRST_XORB, data, size), HUB_OK);
    cr_expect_eq(make(&shard), HUB_CHANGED);
    data[HUB_XORB_HEADER] ^= 1;
    cr_assert_eq(send(FIRST_XORB, data, size), HUB_OK); /* sent again, it replaces the other */
    cr_expect_eq(make(&shard), HUB_OK);
    free(data);
}

Test(rebuild, a_xorb_that_is_not_whole_has_no_name)
{
    size_t size;
    struct hub_names names;
    uint8_t *data = slurp("xet/xorbs/" FIRST_XORB, &size);
    cr_expect_eq(send(FIRST_XORB, data, size - 1), HUB_CORRUPT);
    cr_expect_eq(send(FIRST_XORB, data, 0), HUB_CORRUPT);
    data[0] = 9;
    cr_expect_eq(send(FIRST_XORB, data, size), HUB_CORRUPT);
    cr_assert_eq(hub_fs_list(folder, ".", 10, &names, NULL), HUB_OK);
    cr_expect_eq(names.count, 0);
    hub_names_dispose(&names);
    free(data);
}

/* What a power cut may leave: the file cut anywhere, or a table of other bytes. */
Test(rebuild, a_damaged_file_is_noticed)
{
    HUB_CLEANUP(hub_shard_dispose) struct hub_shard shard;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf whole = HUB_BUF_INIT(MIB);
    read_shard(FIRST_SHARD, &shard);
    send_fixture(FIRST_XORB);
    cr_assert_eq(hub_fs_read(folder, FIRST_XORB, &whole, &err), HUB_OK);
    const struct hub_view all = hub_buf_view(&whole);
    const size_t sizes[] = {0, 1, 15, 16, 17, 1000, all.size - 104, all.size - 16, all.size - 1};
    for (unsigned i = 0; i < HUB_COUNT(sizes); i++) {
        cr_assert_eq(hub_fs_write(folder, FIRST_XORB, (struct hub_view){all.data, sizes[i]}, 0600, &err),
                     HUB_OK);
        cr_expect_eq(make(&shard), HUB_CORRUPT, "of %zu bytes", sizes[i]);
    }
    for (size_t at = all.size - 104; at < all.size; at++) {
        whole.data[at] ^= 0x55;
        cr_assert_eq(hub_fs_write_unsynced(folder, FIRST_XORB, all, 0600, &err), HUB_OK);
        cr_expect_neq(make(&shard), HUB_OK, "byte %zu", at);
        whole.data[at] ^= 0x55;
    }
}

/* One chunk from each of more xorbs than are kept open, twice over. */
Test(rebuild, terms_may_name_any_number_of_xorbs)
{
    enum { XORBS = 3 * HUB_XORBS_OPEN };
    uint8_t chunk[HUB_XORB_HEADER + 4] = {0, 4, 0, 0, 0, 4, 0, 0};
    struct hub_shard_term terms[2 * XORBS];
    struct hub_shard_file file = {.term_count = 2 * XORBS, .size = 8 * XORBS};
    const struct hub_shard shard = {.files = &file, .terms = terms, .file_count = 1, .term_count = 2 * XORBS};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf all = HUB_BUF_INIT(MIB);
    for (unsigned i = 0; i < XORBS; i++) {
        char hash[HUB_XET_HASH_TEXT + 1];
        memset(terms[i].xorb, (int)i + 1, HUB_XET_HASH);
        terms[i].bytes = 4, terms[i].first = 0, terms[i].end = 1;
        terms[i + XORBS] = terms[i];
        hub_xet_hash_write(terms[i].xorb, hash);
        memcpy(chunk + HUB_XORB_HEADER, &i, 4);
        cr_assert_eq(send(hash, chunk, sizeof chunk), HUB_OK);
        cr_assert_eq(hub_buf_add(&all, &i, 4, NULL), HUB_OK);
    }
    cr_assert_eq(hub_buf_reserve(&all, all.size, NULL), HUB_OK);
    cr_assert_eq(hub_buf_add_view(&all, hub_buf_view(&all), NULL), HUB_OK);
    cr_assert_eq(hub_digest_of(HUB_SHA256, hub_buf_view(&all), file.sha256, NULL), HUB_OK);
    cr_expect_eq(make(&shard), HUB_OK, "%s", err.detail);
}
