/* storage/deposits: objects that come in parts. */
#include "storage/deposits/parts.h"

#include "storage/base/digest.h"
#include "storage/io/fs.h"
#include "storage/io/roots.h"
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
static struct hub_parted object;
static uint8_t rows[3][HUB_PART_ROW];

static void begin(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    uint8_t sum[HUB_DIGEST_MAX];
    snprintf(state, sizeof state, "/tmp/hub-parts-XXXXXX");
    cr_assert(mkdtemp(state));
    snprintf(root, sizeof root, "%s/root", state);
    cr_assert_eq(mkdir(root, 0755), 0);
    cr_assert_eq(hub_roots_add(&roots, root, NULL, NULL), HUB_OK);
    DRAFT_OK(hub_truth_open(&options, &truth, err));
    deposits = (struct hub_deposits){.truth = truth, .roots = &roots, .budget_bytes = 200};
    object = (struct hub_parted){.who = "token:ann", .size = 5, .part_bytes = 2};
    DRAFT_OK(hub_digest_of(HUB_SHA256, HUB_VIEW("hello"), sum, err));
    memcpy(object.sha256, sum, sizeof object.sha256);
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(parts, .init = begin, .fini = end);

static enum hub_status send(uint32_t number, const char *bytes)
{
    HUB_CLEANUP(hub_object_part_close) struct hub_object_part part = HUB_OBJECT_PART_INIT;
    wrong = (struct hub_error){0};
    HUB_TRY(hub_object_part_begin(&deposits, &object, number, &part, &wrong));
    HUB_TRY(hub_object_part_write(&part, hub_view_of(bytes), &wrong));
    return hub_object_part_finish(&part, rows[number - 1], &wrong);
}

static enum hub_status join(uint32_t count)
{
    wrong = (struct hub_error){0};
    return hub_parts_join(&deposits, &object, (const uint8_t(*)[HUB_PART_ROW])rows, count, &wrong);
}

static size_t names(const char *name)
{
    HUB_CLEANUP(hub_names_dispose) struct hub_names list = {0};
    char folder[120];
    snprintf(folder, sizeof folder, "%s/.minari-hub/%s", root, name);
    return hub_fs_list(AT_FDCWD, folder, 100, &list, NULL) ? 0 : list.count;
}

Test(parts, all_of_them_are_an_object)
{
    struct hub_deposit_row row = {.who = "token:ann"};
    cr_assert_eq(send(3, "o"), HUB_OK, "%s", wrong.detail);
    cr_assert_eq(send(1, "he"), HUB_OK, "%s", wrong.detail);
    cr_expect_eq(join(3), HUB_INVALID, "one is missing");
    cr_assert_eq(send(2, "ll"), HUB_OK, "%s", wrong.detail);
    cr_expect_eq(join(2), HUB_INVALID);
    cr_assert_eq(join(3), HUB_OK, "%s", wrong.detail);
    memcpy(row.sha256, object.sha256, sizeof row.sha256);
    cr_expect_eq(hub_deposit_has(&deposits, &row, NULL), HUB_OK);
    cr_expect(row.size == 5 && !row.has_sha1);
    cr_expect_eq(join(3), HUB_OK, "its answer was lost");
    cr_expect_eq(names("parts"), 0);
    cr_expect_eq(names("objects"), 1);
}

Test(parts, one_that_is_wrong_is_not_kept)
{
    cr_expect_eq(send(1, "h"), HUB_INVALID, "a byte is missing");
    cr_expect_eq(send(1, "hel"), HUB_TOO_BIG);
    cr_assert(send(1, "he") == HUB_OK && send(2, "ll") == HUB_OK && send(3, "o") == HUB_OK);
    cr_expect_eq(send(2, "l"), HUB_INVALID);
    cr_expect_eq(join(3), HUB_INVALID, "what came again is not there until it is whole");
    cr_assert_eq(send(2, "LL"), HUB_OK);
    cr_expect_eq(join(3), HUB_CORRUPT);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_DIGEST_MISMATCH);
    cr_expect_eq(names("parts") + names("objects"), 0);
}

Test(parts, none_is_put_together_while_one_comes)
{
    struct hub_object_part part;
    cr_assert(send(1, "he") == HUB_OK && send(2, "ll") == HUB_OK && send(3, "o") == HUB_OK);
    DRAFT_OK(hub_object_part_begin(&deposits, &object, 1, &part, err));
    cr_expect_eq(join(3), HUB_BUSY);
    DRAFT_OK(hub_object_part_write(&part, HUB_VIEW("he"), err));
    DRAFT_OK(hub_object_part_finish(&part, rows[0], err));
    cr_expect_eq(join(3), HUB_OK, "%s", wrong.detail);
}

Test(parts, numbers_and_counts)
{
    uint32_t count;
    cr_expect_eq(send(4, "x"), HUB_INVALID);
    cr_expect(hub_parts_count(&object, &count, NULL) == HUB_OK && count == 3);
    object.part_bytes = 0;
    cr_expect_eq(hub_parts_count(&object, &count, NULL), HUB_INVALID);
    object = (struct hub_parted){.size = UINT64_MAX, .part_bytes = 1};
    cr_expect_eq(hub_parts_count(&object, &count, NULL), HUB_INVALID);
}

Test(parts, they_take_their_room_and_leave_it)
{
    char command[200];
    cr_assert_eq(send(1, "he"), HUB_OK, "%s", wrong.detail);
    cr_expect_eq(hub_parts_room(&deposits, &object, &wrong), HUB_OK, "%s", wrong.detail);
    object.who = "token:bob";
    cr_expect_eq(send(1, "he"), HUB_OK, "%s", wrong.detail);
    deposits.budget_bytes = 100;
    object.who = "token:cyd";
    cr_expect_eq(send(1, "he"), HUB_NO_SPACE);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_NO_SPACE);
    hub_parts_tidy(&deposits);
    cr_expect_geq(names("parts"), 2, "they came a moment ago");
    snprintf(command, sizeof command, "touch -d '2 days ago' %s/.minari-hub/parts/*", root);
    cr_assert_eq(system(command), 0);
    hub_parts_tidy(&deposits);
    cr_expect_eq(names("parts"), 0);
}
