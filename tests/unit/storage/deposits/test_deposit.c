/* storage/deposits: objects that come before a commit names them. */
#include "storage/deposits/deposit.h"

#include "storage/io/fs.h"
#include "storage/io/roots.h"
#include "storage/text/time.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char state[64], root[80];
static struct hub_truth *truth;
static struct hub_roots roots;
static struct hub_error wrong;
static struct hub_deposits deposits;

static void begin(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    snprintf(state, sizeof state, "/tmp/hub-deposit-XXXXXX");
    cr_assert(mkdtemp(state));
    snprintf(root, sizeof root, "%s/root", state);
    cr_assert_eq(mkdir(root, 0755), 0);
    cr_assert_eq(hub_roots_add(&roots, root, NULL, NULL), HUB_OK);
    DRAFT_OK(hub_truth_open(&options, &truth, err));
    deposits = (struct hub_deposits){.truth = truth, .roots = &roots, .budget_bytes = 100};
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(deposit, .init = begin, .fini = end);

static enum hub_status send_order(const struct hub_deposit_order *order, const char *bytes,
                                  const uint8_t *sha256, struct hub_deposit_row *out)
{
    HUB_CLEANUP(hub_deposit_abandon) struct hub_deposit deposit = HUB_DEPOSIT_INIT;
    wrong = (struct hub_error){0};
    HUB_TRY(hub_deposit_begin(&deposits, order, &deposit, &wrong));
    HUB_TRY(hub_deposit_write(&deposit, hub_view_of(bytes), &wrong));
    HUB_TRY(hub_deposit_finish(&deposit, sha256, out, &wrong));
    cr_expect(deposit.fd < 0 && deposit.folder < 0, "it is closed once: the numbers are others' now");
    if (out)
        out->who = order->who;
    return HUB_OK;
}

static enum hub_status send(const char *who, uint64_t size, const char *bytes, const uint8_t *sha256,
                            struct hub_deposit_row *out)
{
    return send_order(&(struct hub_deposit_order){.who = who, .size = size}, bytes, sha256, out);
}

static size_t names(void)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names list = {0};
    char folder[120];
    snprintf(folder, sizeof folder, "%s/.minari-hub/objects", root);
    DRAFT_OK(hub_fs_list(AT_FDCWD, folder, 100, &list, err));
    return list.count;
}

Test(deposit, an_object_is_whole_and_its_senders)
{
    struct hub_deposit_row row, other = {.who = "token:bob"};
    cr_assert_eq(send("token:ann", 5, "hello", NULL, &row), HUB_OK, "%s", wrong.detail);
    cr_expect_eq(hub_deposit_has(&deposits, &row, NULL), HUB_OK);
    cr_expect_eq(row.size, 5);
    memcpy(other.sha256, row.sha256, sizeof other.sha256);
    cr_expect_eq(hub_deposit_has(&deposits, &other, NULL), HUB_NOT_FOUND, "a digest proves nothing");
    cr_assert_eq(send("token:bob", 5, "hello", row.sha256, NULL), HUB_OK, "%s", wrong.detail);
    cr_expect_eq(hub_deposit_has(&deposits, &other, NULL), HUB_OK);
    cr_expect_eq(names(), 1, "once, whoever sent it");
}

/* By large objects nobody asks for it, and it takes as long as the SHA-256. */
Test(deposit, what_git_calls_it_is_found_where_that_is_wanted)
{
    struct hub_deposit_row row;
    char hex[2 * HUB_SHA1_BYTES + 1];
    const struct hub_deposit_order order = {.git = true, .who = "token:ann", .size = 5};
    cr_assert_eq(send("token:ann", 5, "hello", NULL, &row), HUB_OK, "%s", wrong.detail);
    DRAFT_OK(hub_deposit_has(&deposits, &row, err));
    cr_expect_not(row.has_sha1);
    cr_assert_eq(send_order(&order, "hello", NULL, NULL), HUB_OK, "%s", wrong.detail);
    cr_assert_eq(send("token:ann", 5, "hello", NULL, NULL), HUB_OK, "%s", wrong.detail);
    DRAFT_OK(hub_deposit_has(&deposits, &row, err));
    cr_assert(row.has_sha1, "found once, it stays");
    hub_hex(row.sha1, sizeof row.sha1, hex);
    cr_expect_str_eq(hex, "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0", "as git hash-object says");
}

/* The numbers of its descriptors belong to others then. */
Test(deposit, one_that_has_ended_closes_nothing_more)
{
    struct hub_deposit deposit = HUB_DEPOSIT_INIT;
    const struct hub_deposit_order order = {.who = "token:ann", .size = 5};
    DRAFT_OK(hub_deposit_begin(&deposits, &order, &deposit, err));
    DRAFT_OK(hub_deposit_write(&deposit, HUB_VIEW("hello"), err));
    DRAFT_OK(hub_deposit_finish(&deposit, NULL, NULL, err));
    int others[4];
    for (unsigned i = 0; i < HUB_COUNT(others); i++)
        others[i] = open(root, O_RDONLY | O_DIRECTORY);
    hub_deposit_abandon(&deposit);
    for (unsigned i = 0; i < HUB_COUNT(others); i++)
        cr_expect_eq(close(others[i]), 0);
}

Test(deposit, nothing_is_kept_of_what_is_wrong)
{
    const uint8_t other[HUB_SHA256_BYTES] = {1};
    cr_expect_eq(send("token:ann", 4, "hello", NULL, NULL), HUB_TOO_BIG);
    cr_expect_eq(send("token:ann", 6, "hello", NULL, NULL), HUB_INVALID);
    cr_expect_eq(send("token:ann", 5, "hello", other, NULL), HUB_CORRUPT);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_DIGEST_MISMATCH);
    cr_expect_eq(names(), 0);
}

Test(deposit, what_waits_has_a_budget)
{
    cr_expect_eq(send("token:ann", 101, "", NULL, NULL), HUB_NO_SPACE);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_NO_SPACE);
    cr_assert_eq(send("token:ann", 5, "hello", NULL, NULL), HUB_OK);
    cr_expect_eq(send("token:ann", 96, "", NULL, NULL), HUB_NO_SPACE);
    cr_expect_eq(hub_deposits_expire(truth, hub_time_now_ns() / 1000000 + 1000, NULL), HUB_OK);
    cr_expect_eq(hub_deposits_room(truth, 0, 100, 100, NULL), HUB_OK, "what expired counts no more");
}

static bool links(const struct hub_deposit_row *row, const char *path)
{
    HUB_CLEANUP(hub_closep) int tree = open(state, O_RDONLY | O_DIRECTORY);
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    wrong = (struct hub_error){0};
    return hub_object_file_link(&deposits, 0, row->sha256, tree, path, &wrong) == HUB_OK &&
           hub_fs_read(tree, path, &text, NULL) == HUB_OK && hub_view_is(hub_buf_view(&text), "hello");
}

Test(deposit, trees_are_linked_to_objects_until_these_go)
{
    struct hub_deposit_row row;
    struct stat st;
    char path[100];
    cr_assert_eq(send("token:ann", 5, "hello", NULL, &row), HUB_OK);
    cr_expect(links(&row, "a/b/c"), "%s", wrong.detail);
    hub_deposits_tidy(&deposits);
    cr_expect_eq(names(), 1, "it is new");
    cr_expect_eq(hub_deposits_expire(truth, hub_time_now_ns() / 1000000 + 1000, NULL), HUB_OK);
    hub_deposits_tidy(&deposits);
    cr_expect_eq(names(), 0);
    cr_expect_not(links(&row, "d"));
    snprintf(path, sizeof path, "%s/a/b/c", state);
    cr_assert_eq(stat(path, &st), 0);
    cr_expect(hub_stat_is_owned(&st), "what was linked stays, as a file of the hub's own");
}

Test(deposit, a_file_of_the_hubs_own_becomes_an_object)
{
    struct hub_deposit_row row;
    HUB_CLEANUP(hub_closep) int tree = open(state, O_RDONLY | O_DIRECTORY), fd = -1;
    cr_assert_eq(send("token:ann", 5, "hello", NULL, &row), HUB_OK);
    cr_assert(links(&row, "own"));
    DRAFT_OK(hub_deposits_expire(truth, hub_time_now_ns() / 1000000 + 1000, err));
    hub_deposits_tidy(&deposits);
    cr_expect_eq(hub_object_file_open(&deposits, 0, row.sha256, &fd, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_object_file_take(&deposits, 0, tree, "own", row.sha256, err));
    cr_expect_eq(hub_object_file_open(&deposits, 0, row.sha256, &fd, NULL), HUB_OK);
}
