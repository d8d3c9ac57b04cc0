/* Which folders of a tar are datasets, and what is refused before anything of them is seen. */
#include "storage/io/tar.h"
#include "storage/transfer/import.h"
#include "storage/transfer/staging.h"

#include "place.h"

#include <stdio.h>

TestSuite(transfer_import, .init = set_up, .fini = tear_down);

/* A tar of files that hold their own names; one that is called "NAME=TEXT" holds that text. */
static int tar_of(const char *const *names, bool whole)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf tar = HUB_BUF_INIT(16 * MIB);
    FILE *file = tmpfile();
    for (; *names; names++) {
        const char *end = strchrnul(*names, '='), *text = *end ? end + 1 : *names;
        HUB_CLEANUP(hub_freep) char *name = strndup(*names, (size_t)(end - *names));
        const struct hub_tar_file f = {name, strlen(text), 1600000000123456789, strchr(name, '\\') != NULL};
        cr_assert_eq(hub_tar_header(&f, &tar, NULL), HUB_OK);
        cr_assert_eq(hub_buf_add_text(&tar, text, NULL), HUB_OK);
        cr_assert_eq(hub_tar_pad(f.size, &tar, NULL), HUB_OK);
    }
    if (whole)
        cr_assert_eq(hub_tar_end(&tar, NULL), HUB_OK);
    cr_assert_eq(fwrite(tar.data, 1, tar.size, file), tar.size);
    cr_assert_eq(fflush(file), 0);
    const int fd = dup(fileno(file));
    cr_assert_eq(lseek(fd, 0, SEEK_SET), 0);
    fclose(file);
    return fd;
}

static enum hub_status import(const char *const *names, const char *as, struct hub_import *im,
                              struct hub_error *err)
{
    *im = (struct hub_import){.fd = tar_of(names, true), .place = &place, .as = as};
    const enum hub_status st = hub_import_run(im, err);
    close(im->fd);
    return st;
}

static void expect_roots(const char *const *names, const char *as, const char *const *targets)
{
    HUB_CLEANUP(hub_import_dispose) struct hub_import im;
    struct hub_error err = {0};
    cr_assert_eq(import(names, as, &im, &err), HUB_OK, "%s", err.detail);
    for (uint32_t i = 0; i < im.count; i++) {
        cr_assert_not_null(targets[i]);
        cr_assert_str_eq(im.sets[i].target, targets[i]);
        cr_assert_eq(access(in(targets[i]), F_OK), 0);
    }
    cr_assert_null(targets[im.count]);
    cr_assert_eq(rmdir(in(".minari-hub/incoming")), 0, "nothing is left");
}

#define LIST(...)                                                                                            \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

Test(transfer_import, a_folder_with_data_is_a_dataset)
{
    expect_roots(LIST("ns/a-v0/data/x", "ns/a-v0/meta/y", "ns/b-v0/data/x", "ns/readme"), NULL,
                 LIST("ns/a-v0", "ns/b-v0"));
    expect_roots(LIST("./c-v0/data/data/x"), "lab/", LIST("lab/c-v0"));
    expect_roots(LIST("data/x", "meta/y"), "d-v0", LIST("d-v0"));
    cr_assert(holds_text(in("d-v0/meta/y"), "meta/y"));
}

Test(transfer_import, without_any_it_is_the_topmost_folders)
{
    expect_roots(LIST("lift/ph/x", "can/ph/x"), NULL, LIST("can", "lift"));
    expect_roots(LIST("lift/ph/x", "y"), "all", LIST("all"));
    expect_roots(LIST("lift/ph/x"), "one", LIST("one"));
    cr_assert(holds_text(in("one/ph/x"), "lift/ph/x"));
}

Test(transfer_import, names_are_as_they_were_before_they_were_spelled)
{
    struct stat st;
    expect_roots(LIST("a-v0/data/b\\x5cc\\x0a"), NULL, LIST("a-v0"));
    cr_assert(holds_text(in("a-v0/data/b\\c\n"), "a-v0/data/b\\x5cc\\x0a"));
    cr_assert_eq(stat(in("a-v0/data/b\\c\n"), &st), 0);
    cr_assert_eq(st.st_mtim.tv_nsec, 123456789);
}

Test(transfer_import, what_is_there_stays)
{
    HUB_CLEANUP(hub_import_dispose) struct hub_import im;
    struct hub_error err = {0};
    write_file(in("b-v0/data/x"), "mine");
    cr_assert_eq(import(LIST("a-v0/data/x", "b-v0/data/x"), NULL, &im, &err), HUB_EXISTS);
    cr_assert_not_null(strstr(err.detail, "--replace"));
    cr_assert(holds_text(in("b-v0/data/x"), "mine"));
    cr_assert_neq(access(in("a-v0"), F_OK), 0, "none of them is there");
}

Test(transfer_import, one_at_a_time)
{
    HUB_CLEANUP(hub_import_dispose) struct hub_import im;
    struct hub_staging held = HUB_STAGING_INIT;
    struct hub_error err = {0};
    cr_assert_eq(hub_staging_open(&place, "~import", &held, NULL), HUB_OK);
    cr_assert_eq(import(LIST("a-v0/data/x"), NULL, &im, &err), HUB_BUSY);
    cr_assert_eq(err.problem, HUB_PROBLEM_IMPORT_RUNNING);
    hub_import_tidy(&place);
    cr_assert_eq(faccessat(held.directory, "lock", F_OK, 0), 0, "what goes on is left alone");
    hub_staging_close(&held, false);
    hub_import_tidy(&place);
    cr_assert_eq(rmdir(in(".minari-hub/incoming")), 0);
}

Test(transfer_import, a_tar_without_its_end_is_cut_short)
{
    HUB_CLEANUP(hub_import_dispose) struct hub_import im = {.place = &place};
    struct hub_error err = {0};
    im.fd = tar_of(LIST("a-v0/data/x"), false);
    cr_assert_eq(hub_import_run(&im, &err), HUB_CORRUPT);
    cr_assert_eq(err.problem, HUB_PROBLEM_TRUNCATED);
    cr_assert_neq(access(in("a-v0"), F_OK), 0);
    close(im.fd);
}

#define RECORD_OF_X(crc32c)                                                                                  \
    "a-v0/.minari-hub.json={\"record\":1,\"id\":\"a-v0\",\"files\":[{\"path\":\"data/x\",\"size\":9,"        \
    "\"origin\":\"crc32c\",\"crc32c\":\"" crc32c "\"}]}"

Test(transfer_import, a_record_may_have_the_digest_of_a_bucket_alone)
{
    HUB_CLEANUP(hub_import_dispose) struct hub_import bad, good;
    struct hub_error err = {0};
    cr_assert_eq(import(LIST("a-v0/data/x=123456789", RECORD_OF_X("e3069284")), NULL, &bad, &err),
                 HUB_CORRUPT);
    cr_assert_eq(err.problem, HUB_PROBLEM_DIGEST_MISMATCH);
    cr_assert_not_null(strstr(err.detail, "CRC-32C differs"), "%s", err.detail);
    cr_assert_neq(access(in("a-v0"), F_OK), 0);
    cr_assert_eq(import(LIST("a-v0/data/x=123456789", RECORD_OF_X("e3069283")), NULL, &good, &err), HUB_OK,
                 "%s", err.detail);
    cr_assert_eq(good.sets[0].verified, 1);
}
