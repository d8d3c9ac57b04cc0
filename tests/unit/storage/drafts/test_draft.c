/* storage/drafts: names, files that come, the tree that goes to its place. */
#include "storage/drafts/kept.h"
#include "storage/drafts/publish.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];
static struct hub_draft_folder draft;
static struct hub_error err;

static void begin(void)
{
    snprintf(root, sizeof root, "/tmp/hub-draft-XXXXXX");
    cr_assert(mkdtemp(root));
    cr_assert_eq(hub_draft_open(root, "abc", true, &draft, &err), HUB_OK, "%s", err.detail);
}

static void end(void)
{
    char command[100];
    hub_draft_close(&draft);
    snprintf(command, sizeof command, "rm -rf %s", root);
    cr_assert_eq(system(command), 0);
}
TestSuite(draft, .init = begin, .fini = end);

static enum hub_status send(const char *path, uint64_t offset, uint64_t size, const char *bytes,
                            const uint8_t *sha256, bool *whole)
{
    struct hub_stated_digests stated = {.has_sha256 = sha256 != NULL};
    if (sha256)
        memcpy(stated.sha256, sha256, sizeof stated.sha256);
    HUB_CLEANUP(hub_upload_dispose) struct hub_upload upload = HUB_UPLOAD_INIT;
    err = (struct hub_error){0};
    HUB_TRY(
        hub_upload_begin(&draft, &(struct hub_upload_order){path, offset, size, .md5 = true}, &upload, &err));
    HUB_TRY(hub_upload_add(&upload, hub_view_of(bytes), &err));
    *whole = hub_upload_is_whole(&upload);
    return hub_upload_end(&upload, &stated, &err);
}

static bool has(const char *path, const char *bytes)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    return hub_fs_read(draft.tree, path, &text, NULL) == HUB_OK && hub_view_is(hub_buf_view(&text), bytes);
}

Test(draft, files_are_whole_or_not_there)
{
    bool whole;
    cr_assert_eq(send("data/a.bin", 0, 10, "hello", NULL, &whole), HUB_OK, "%s", err.detail);
    cr_expect_not(whole);
    cr_expect_eq(hub_draft_came(&draft, "data/a.bin"), 5);
    cr_expect_not(has("data/a.bin", "hello"));
    cr_expect_eq(send("data/a.bin", 4, 10, "world", NULL, &whole), HUB_INVALID);
    cr_expect_eq(err.problem, HUB_PROBLEM_UPLOAD_OFFSET);
    cr_assert_eq(send("data/a.bin", 5, 10, "world", NULL, &whole), HUB_OK, "%s", err.detail);
    cr_expect(whole && has("data/a.bin", "helloworld"));
    cr_expect_eq(hub_draft_came(&draft, "data/a.bin"), 0);
    cr_assert_eq(send("data/a.bin", 0, 2, "hi", NULL, &whole), HUB_OK);
    cr_expect(has("data/a.bin", "hi"), "it may come again");
    cr_assert_eq(send("empty", 0, 0, "", NULL, &whole), HUB_OK);
    cr_expect(whole && has("empty", ""));
}

Test(draft, files_have_their_size_and_digest)
{
    bool whole;
    uint8_t right[HUB_SHA256_BYTES], wrong[HUB_SHA256_BYTES] = {1};
    cr_assert_eq(hub_digest_of(HUB_SHA256, HUB_VIEW("hello"), right, NULL), HUB_OK);
    cr_expect_eq(send("a", 0, 4, "hello", NULL, &whole), HUB_TOO_BIG);
    cr_expect_eq(send("a", 0, 5, "hello", wrong, &whole), HUB_CORRUPT);
    cr_expect_eq(err.problem, HUB_PROBLEM_DIGEST_MISMATCH);
    cr_expect_eq(hub_draft_came(&draft, "a"), 0, "nothing of it is kept");
    cr_expect_eq(send("a", 0, 5, "hello", right, &whole), HUB_OK, "%s", err.detail);
    cr_expect_eq(send("b", 0, UINT64_C(1) << 60, "x", NULL, &whole), HUB_NO_SPACE);
    cr_expect_eq(send("b", 6, 5, "x", NULL, &whole), HUB_INVALID);
}

Test(draft, one_writer_at_a_time)
{
    HUB_CLEANUP(hub_upload_dispose) struct hub_upload first = HUB_UPLOAD_INIT, second = HUB_UPLOAD_INIT;
    cr_assert_eq(hub_upload_begin(&draft, &(struct hub_upload_order){"a", .size = 5}, &first, &err), HUB_OK);
    cr_expect_eq(hub_upload_begin(&draft, &(struct hub_upload_order){"a", .size = 5}, &second, &err),
                 HUB_BUSY);
    cr_expect_eq(hub_upload_begin(&draft, &(struct hub_upload_order){"b", .size = 5}, &second, &err), HUB_OK);
}

/* Only its first byte makes a file. */
Test(draft, a_part_of_nothing_leaves_nothing)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names parts = {0};
    bool whole;
    cr_expect_eq(send("a", 5, 10, "world", NULL, &whole), HUB_INVALID);
    cr_expect(err.problem == HUB_PROBLEM_UPLOAD_OFFSET && strncmp(err.detail, "0 bytes", 7) == 0, "%s",
              err.detail);
    cr_assert_eq(hub_fs_list(draft.parts, "", 10, &parts, &err), HUB_OK);
    cr_expect_eq(parts.count, 0);
}

/* As after a power cut: which bytes of it are on the disk nobody knows. */
Test(draft, a_part_of_another_start_is_not_gone_on_with)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names parts = {0}, left = {0};
    bool whole;
    char old[100];
    cr_assert_eq(send("a", 0, 10, "hello", NULL, &whole), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_fs_list(draft.parts, "", 10, &parts, &err), HUB_OK);
    cr_assert_eq(parts.count, 1);
    snprintf(old, sizeof old, "%s", parts.items[0].text);
    old[0] = old[0] == '0' ? '1' : '0';
    cr_assert_eq(renameat(draft.parts, parts.items[0].text, draft.parts, old), 0);
    cr_expect_eq(hub_draft_came(&draft, "a"), 0);
    cr_expect_eq(send("a", 5, 10, "world", NULL, &whole), HUB_INVALID);
    cr_assert_eq(send("a", 0, 10, "HELLO", NULL, &whole), HUB_OK, "%s", err.detail);
    hub_draft_drop_old_parts(&draft);
    cr_assert_eq(hub_fs_list(draft.parts, "", 10, &left, &err), HUB_OK);
    cr_expect_eq(left.count, 1);
    cr_expect_eq(hub_draft_came(&draft, "a"), 5);
}

Test(draft, a_file_is_read_again)
{
    uint8_t right[HUB_SHA256_BYTES], wrong[HUB_SHA256_BYTES] = {1};
    bool whole, same = false;
    cr_assert_eq(hub_digest_of(HUB_SHA256, HUB_VIEW("hello"), right, NULL), HUB_OK);
    cr_assert_eq(send("a/b", 0, 5, "hello", NULL, &whole), HUB_OK, "%s", err.detail);
    cr_expect(hub_draft_has(&draft, "a/b", 5, right, &same, &err) == HUB_OK && same);
    cr_expect(hub_draft_has(&draft, "a/b", 5, wrong, &same, &err) == HUB_OK && !same);
    cr_expect(hub_draft_has(&draft, "a/b", 6, right, &same, &err) == HUB_OK && !same);
    cr_expect_eq(hub_draft_has(&draft, "a/c", 5, right, &same, &err), HUB_NOT_FOUND);
}

Test(draft, is_locked_by_one)
{
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder again = HUB_DRAFT_FOLDER_INIT;
    cr_assert_eq(hub_draft_open(root, "abc", false, &again, &err), HUB_OK);
    cr_expect(hub_draft_try_lock(&draft) && !hub_draft_try_lock(&again));
    cr_expect_eq(hub_draft_lock(&again, &err), HUB_BUSY);
}

Test(draft, names_that_no_file_has)
{
    char long_name[300];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    const char *const wrong[] = {
        "",     "/a",   "a/",    "a//b", "..",     "a/../b", ".a", "a/.b", ".minari-hub.json",
        "a\\b", "a\nb", "a\x7f", "\xff", long_name};
    for (size_t i = 0; i < HUB_COUNT(wrong); i++)
        cr_expect_eq(hub_draft_path_check(hub_view_of(wrong[i]), NULL), HUB_INVALID, "%s", wrong[i]);
    cr_expect_eq(hub_draft_path_check((struct hub_view){"a\0b", 3}, NULL), HUB_INVALID);
    const char *const good[] = {"a", "data/main_data.hdf5", "videos/chunk-000/\xc3\xa4 b.mp4", "a.b",
                                "data/.zarray"};
    for (size_t i = 0; i < HUB_COUNT(good); i++)
        cr_expect_eq(hub_draft_path_check(hub_view_of(good[i]), &err), HUB_OK, "%s: %s", good[i], err.detail);
}

#define A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
static const struct hub_draft_place first = {"lab/new-v0", "lab/new-v0", A, ""},
                                    second = {"lab/new-v0", "lab/new-v0", B, A};

Test(draft, goes_to_its_place)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    bool whole;
    struct stat st;
    char path[200];
    cr_assert_eq(send("data/a.bin", 0, 5, "hello", NULL, &whole), HUB_OK);
    cr_assert_eq(hub_remote_files_add(&files, "data/a.bin", 5, NULL, &err), HUB_OK);
    cr_expect_not(hub_draft_is_in_place(root, &first));
    cr_assert_eq(hub_draft_put_in_place(&draft, &files, &first, &err), HUB_OK, "%s", err.detail);
    snprintf(path, sizeof path, "%s/lab/new-v0/data/a.bin", root);
    cr_expect_eq(stat(path, &st), 0);
    cr_expect(hub_stat_is_owned(&st));
    cr_expect(hub_draft_is_in_place(root, &first));
    cr_expect_not(hub_draft_is_in_place(root, &second));
    cr_expect_eq(hub_draft_sync_place(root, "lab/new-v0", &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_draft_remove(root, "abc", &err), HUB_OK);
    cr_assert_eq(hub_draft_remove(root, "abc", &err), HUB_OK, "nothing there is fine");
    cr_expect_eq(hub_draft_open(root, "abc", false, &draft, &err), HUB_NOT_FOUND);
}

/* What is there already stays. */
Test(draft, takes_no_place_that_is_taken)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    bool whole;
    cr_assert_eq(send("data/a.bin", 0, 5, "hello", NULL, &whole), HUB_OK);
    cr_assert_eq(hub_remote_files_add(&files, "data/a.bin", 5, NULL, &err), HUB_OK);
    cr_assert_eq(hub_fs_make_dirs(draft.place.root, "lab/new-v0/data", 0777, &err), HUB_OK);
    cr_expect_eq(hub_draft_put_in_place(&draft, &files, &first, &err), HUB_EXISTS);
    cr_expect_eq(hub_draft_put_in_place(&draft, &files, &second, &err), HUB_EXISTS, "it is not of its base");
    cr_expect(has("data/a.bin", "hello"));
}

static enum hub_status count(void *user, const struct hub_file_facts *file, struct hub_error *why)
{
    (void)why;
    *(int *)user += file->has_sha256;
    return HUB_OK;
}

/* The second revision begins with the files of the first one, which are kept, and may be had back. */
Test(draft, takes_the_place_of_its_base)
{
    HUB_CLEANUP(hub_remote_files_dispose) struct hub_remote_files files = {0};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf kept = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_draft_close) struct hub_draft_folder next = HUB_DRAFT_FOLDER_INIT;
    bool whole;
    int linked = 0;
    struct stat was, st;
    char path[300];
    cr_assert_eq(send("data/a.bin", 0, 5, "hello", NULL, &whole), HUB_OK);
    cr_assert_eq(hub_remote_files_add(&files, "data/a.bin", 5,
                                      "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
                                      &err),
                 HUB_OK);
    cr_assert_eq(hub_draft_put_in_place(&draft, &files, &first, &err), HUB_OK, "%s", err.detail);
    snprintf(path, sizeof path, "%s/lab/new-v0/data/a.bin", root);
    cr_assert_eq(stat(path, &was), 0);
    cr_assert_eq(hub_draft_open(root, "def", true, &next, &err), HUB_OK);
    cr_assert_eq(hub_draft_begin_with(&next, "lab/new-v0", count, &linked, &err), HUB_OK, "%s", err.detail);
    cr_expect_eq(linked, 1);
    cr_assert_eq(hub_draft_put_in_place(&next, &files, &second, &err), HUB_OK, "%s", err.detail);
    cr_expect(hub_draft_is_in_place(root, &second) && !hub_draft_is_in_place(root, &first));
    cr_assert_eq(stat(path, &st), 0);
    const struct hub_stamp before = hub_stamp_of(&was), now = hub_stamp_of(&st);
    cr_expect(hub_stamp_equal(&before, &now), "links do not change what is known of a file");
    cr_assert_eq(hub_kept_find(root, "lab/new-v0", A, &kept, &err), HUB_OK, "%s", err.detail);
    cr_expect_str_eq(kept.data, ".minari-hub/kept/lab/new-v0@" A);
    snprintf(path, sizeof path, "%s/%s/data/a.bin", root, kept.data);
    cr_expect_eq(stat(path, &st), 0);
    cr_expect_eq(st.st_nlink, 2);
    cr_assert_eq(hub_kept_move(root, "lab/new-v0", A, &err), HUB_OK, "another commit is there: it stays");
    cr_expect(hub_draft_is_in_place(root, &second));
    cr_assert_eq(hub_kept_move(root, "lab/new-v0", B, &err), HUB_OK, "%s", err.detail);
    cr_expect_not(hub_draft_is_in_place(root, &second));
    cr_assert_eq(hub_kept_remove(root, "lab/new-v0", A, &err), HUB_OK, "%s", err.detail);
    cr_assert_eq(hub_kept_remove(root, "lab/new-v0", A, &err), HUB_OK);
    cr_expect_eq(hub_kept_find(root, "lab/new-v0", A, &kept, NULL), HUB_NOT_FOUND);
    snprintf(path, sizeof path, "%s/.minari-hub/kept/lab/new-v0@" B "/data/a.bin", root);
    cr_expect_eq(stat(path, &st), 0);
}
