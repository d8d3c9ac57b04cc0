/* Epochs: whose, which, and when they end. */
#include "storage/xet/epochs.h"

#include "storage/io/fs.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char place[64], name[HUB_EPOCH_NAME + 1];
static int xorbs = -1;
static struct hub_error err;

static void begin(void)
{
    snprintf(place, sizeof place, "/tmp/hub-epochs-XXXXXX");
    cr_assert(mkdtemp(place));
    xorbs = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void end(void)
{
    close(xorbs);
    (void)!hub_fs_remove(AT_FDCWD, place, NULL);
}
TestSuite(epochs, .init = begin, .fini = end);

/* The epoch of a writer, with a file of 1 MiB, used some days ago. */
static void make(const char *who, unsigned days, char out[HUB_EPOCH_NAME + 1])
{
    static const char megabyte[1 << 20];
    char key[HUB_EPOCH_KEY + 1], path[128];
    const struct timespec then = {.tv_sec = time(NULL) - (time_t)days * 86400}, times[2] = {then, then};
    cr_assert_eq(hub_epoch_key(who, "lab/arm", key, &err), HUB_OK);
    cr_assert_eq(hub_epoch_find(xorbs, key, out, &err), HUB_OK, "%s", err.detail);
    snprintf(path, sizeof path, "%s/xorb", out);
    cr_assert_eq(hub_fs_write(xorbs, path, (struct hub_view){megabyte, sizeof megabyte}, 0600, &err), HUB_OK);
    cr_assert_eq(utimensat(xorbs, out, times, 0), 0);
}

static bool is_open(const char *epoch)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    return hub_epoch_open(xorbs, hub_view_of(epoch), &fd, NULL) == HUB_OK;
}

Test(epochs, one_for_each_writer_and_repo)
{
    char again[HUB_EPOCH_NAME + 1], a[HUB_EPOCH_KEY + 1], b[HUB_EPOCH_KEY + 1];
    make("token:ada", 0, name);
    make("token:ada", 0, again);
    cr_expect_str_eq(name, again);
    make("token:bob", 0, again);
    cr_expect_str_neq(name, again);
    cr_assert_eq(hub_epoch_key("token:ada", "lab/arm", a, &err), HUB_OK);
    cr_assert_eq(hub_epoch_key("token:ada", "lab/leg", b, &err), HUB_OK);
    cr_expect_str_neq(a, b);
}

Test(epochs, another_follows_one_that_ended)
{
    char next[HUB_EPOCH_NAME + 1];
    make("token:ada", 0, name);
    cr_expect(is_open(name));
    hub_epoch_end(xorbs, name);
    hub_epoch_end(xorbs, name);
    cr_expect_not(is_open(name));
    make("token:ada", 0, next);
    cr_expect_str_neq(name, next);
}

Test(epochs, nothing_else_is_opened)
{
    HUB_CLEANUP(hub_closep) int fd = -1;
    static const char *const names[] = {"",
                                        "..",
                                        ".",
                                        "0123456789abcdef",
                                        "0123456789abcdef-0123456789abcdef",
                                        "../456789abcdef/-0123456789abcde",
                                        "ended-0123456789abcdef"};
    for (unsigned i = 0; i < HUB_COUNT(names); i++)
        cr_expect_eq(hub_epoch_open(xorbs, hub_view_of(names[i]), &fd, &err), HUB_NOT_FOUND, "%s", names[i]);
}

Test(epochs, over_the_budget_those_end_that_were_not_used_for_longest)
{
    char old[HUB_EPOCH_NAME + 1], middle[HUB_EPOCH_NAME + 1], young[HUB_EPOCH_NAME + 1];
    make("old", 3, old);
    make("middle", 2, middle);
    make("young", 1, young);
    cr_expect_eq(hub_epochs_fit(xorbs, 4 * MIB, NULL, &err), HUB_OK);
    cr_expect(is_open(old));
    cr_expect_eq(hub_epochs_fit(xorbs, 5 * MIB / 2, old, &err), HUB_OK, "%s", err.detail);
    cr_expect(is_open(old) && !is_open(middle) && is_open(young));
    cr_expect_eq(hub_epochs_fit(xorbs, MIB / 2, young, &err), HUB_NO_SPACE);
    cr_expect(strstr(err.detail, "--upload-cache"), "%s", err.detail);
    cr_expect(!is_open(old) && is_open(young));
}

Test(epochs, those_end_that_nobody_used_for_a_week_and_what_is_left_of_ended_ones_goes)
{
    char other[HUB_EPOCH_NAME + 1], left[HUB_EPOCH_NAME + 16];
    struct hub_names names;
    make("token:ada", HUB_EPOCH_DAYS + 1, name);
    make("token:bob", HUB_EPOCH_DAYS - 1, other);
    snprintf(left, sizeof left, "ended-%s", other);
    cr_assert_eq(mkdirat(xorbs, left, 0700), 0);
    cr_assert_eq(hub_epochs_fit(xorbs, 64 * MIB, NULL, &err), HUB_OK);
    cr_expect(!is_open(name) && is_open(other));
    cr_assert_eq(hub_fs_list(xorbs, ".", 10, &names, NULL), HUB_OK);
    cr_expect_eq(names.count, 1);
    hub_names_dispose(&names);
}
