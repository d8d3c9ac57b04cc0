/* What pushed datasets may hold below a prefix. */
#include "storage/truth/quotas.h"

#include "storage/truth/aliases.h"
#include "storage/truth/drafts.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char state[64], root[80];
static struct hub_truth *truth;
static struct hub_roots roots;
static struct hub_error wrong;
static const struct hub_quota items[] = {{"lab/", 100}, {"", 150}};
static const struct hub_quotas quotas = {items, HUB_COUNT(items)};

static void begin(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    snprintf(state, sizeof state, "/tmp/hub-quotas-XXXXXX");
    cr_assert(mkdtemp(state));
    snprintf(root, sizeof root, "%s/root", state);
    cr_assert_eq(mkdir(root, 0755), 0);
    cr_assert_eq(hub_roots_add(&roots, root, NULL, NULL), HUB_OK);
    DRAFT_OK(hub_truth_open(&options, &truth, err));
    hub_truth_set_quotas(truth, &quotas);
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(quotas, .init = begin, .fini = end);

static struct hub_draft_row add(const char *dataset, const char *path)
{
    struct hub_draft_row row = {.dataset = (char *)dataset, .path = (char *)path, .who = (char *)"token:ann"};
    DRAFT_OK(hub_draft_add(truth, &row, err));
    return row;
}

static enum hub_status put(const char *draft, const char *path, uint64_t size, bool complete)
{
    const struct hub_draft_file file = {.path = path, .size = size, .complete = complete};
    wrong = (struct hub_error){0};
    return hub_draft_file_put(truth, draft, &file, &wrong);
}

static void publish(const char *draft, const char *dataset)
{
    struct hub_commit commit = {
        .dataset = dataset, .who = "token:ann", .message = "", .tree = "t", .path = dataset};
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row row = {0};
    DRAFT_OK(hub_draft_turn(truth, draft, HUB_DRAFT_OPEN, HUB_DRAFT_COMMITTING, err));
    DRAFT_OK(hub_draft_find(truth, draft, &row, err));
    DRAFT_OK(hub_draft_claim(truth, &row, commit.id, err));
    DRAFT_OK(hub_draft_publish(truth, draft, &commit, false, err));
}

static enum hub_status collect(void *user, const struct hub_quota *quota, uint64_t used,
                               struct hub_error *err)
{
    return hub_buf_addf(user, err, "%s%llu/%llu ", quota->prefix, (unsigned long long)used,
                        (unsigned long long)quota->bytes);
}

static void expect_used(const char *expected)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    DRAFT_OK(hub_quotas_each(truth, collect, &text, err));
    cr_expect_str_eq(text.data, expected);
}

Test(quotas, count_what_is_stated_of_open_drafts)
{
    const struct hub_draft_row one = add("lab/a-v0", "lab/a-v0"), two = add("lab/b-v0", "lab/b-v0");
    const struct hub_draft_row other = add("labs/c-v0", "labs/c-v0");
    cr_expect_eq(put(one.id, "a", 60, false), HUB_OK, "%s", wrong.detail);
    cr_expect_eq(put(two.id, "a", 41, false), HUB_NO_SPACE);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_QUOTA_EXCEEDED);
    cr_expect(strstr(wrong.detail, "'lab/'") && strstr(wrong.detail, "(100 bytes)") &&
                  strstr(wrong.detail, "(101 bytes)"),
              "%s", wrong.detail);
    cr_expect_eq(put(two.id, "a", 40, false), HUB_OK, "it fits exactly");
    expect_used("lab/100/100 100/150 ");
    cr_expect_eq(put(two.id, "a", 10, false), HUB_OK, "stated again");
    cr_expect_eq(put(two.id, "a", 10, true), HUB_OK, "it came");
    expect_used("lab/70/100 70/150 ");
    cr_expect_eq(put(other.id, "a", 81, false), HUB_NO_SPACE, "of all ids");
    cr_expect_eq(put(other.id, "a", 80, false), HUB_OK, "no folder of lab");
    DRAFT_OK(hub_draft_file_forget(truth, one.id, "a", err));
    DRAFT_OK(hub_draft_forget(truth, other.id, err));
    expect_used("lab/10/100 10/150 ");
}

Test(quotas, count_published_datasets_that_are_there)
{
    char made[200];
    bool changed;
    const struct hub_draft_row one = add("lab/a-v0", "a-v0"), two = add("lab/b-v0", "b-v0");
    cr_expect_eq(put(one.id, "a", 70, true), HUB_OK);
    publish(one.id, "lab/a-v0");
    DRAFT_OK(hub_draft_forget(truth, one.id, err));
    expect_used("lab/70/100 70/150 ");
    snprintf(made, sizeof made, "%s/a-v0", root);
    cr_assert_eq(mkdir(made, 0755), 0);
    cr_expect_eq(put(two.id, "a", 40, false), HUB_NO_SPACE);
    cr_assert_eq(rmdir(made), 0);
    cr_expect_eq(put(two.id, "a", 40, false), HUB_OK, "somebody removed the other one");
    expect_used("lab/40/100 40/150 ");
    cr_assert_eq(mkdir(made, 0755), 0);
    DRAFT_OK(hub_holdings_look(truth, &changed, err));
    cr_expect(changed);
    expect_used("lab/110/100 110/150 ");
    DRAFT_OK(hub_holdings_look(truth, &changed, err));
    cr_expect(!changed);
}

static enum hub_status declare(const char *dataset, const char *base, uint64_t bytes)
{
    struct hub_draft_row row = {
        .dataset = (char *)dataset, .path = (char *)dataset, .who = (char *)"token:ann", .declared = bytes};
    snprintf(row.base, sizeof row.base, "%s", base);
    wrong = (struct hub_error){0};
    return hub_draft_add(truth, &row, &wrong);
}

Test(quotas, count_what_a_draft_declares)
{
    cr_expect_eq(declare("lab/a-v0", "", 101), HUB_NO_SPACE);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_QUOTA_EXCEEDED);
    cr_expect(strstr(wrong.detail, "(101 bytes)"), "%s", wrong.detail);
    expect_used("lab/0/100 0/150 ");
    cr_expect_eq(declare("lab/a-v0", "", 60), HUB_OK, "%s", wrong.detail);
    expect_used("lab/60/100 60/150 ");
    cr_expect_eq(declare("lab/b-v0", "", 41), HUB_NO_SPACE, "the other one will take the rest");
    const struct hub_draft_row more = add("lab/c-v0", "lab/c-v0");
    cr_expect_eq(put(more.id, "a", 40, false), HUB_OK);
    cr_expect_eq(put(more.id, "b", 1, false), HUB_NO_SPACE);
}

Test(quotas, count_of_what_takes_a_place_what_is_new)
{
    char made[200];
    const struct hub_draft_row one = add("lab/a-v0", "lab");
    snprintf(made, sizeof made, "%s/lab", root);
    cr_assert_eq(mkdir(made, 0755), 0);
    cr_expect_eq(put(one.id, "a", 70, true), HUB_OK);
    publish(one.id, "lab/a-v0");
    cr_expect_eq(declare("lab/a-v0", "0123", 101), HUB_NO_SPACE);
    cr_expect_eq(declare("lab/a-v0", "0123", 100), HUB_OK, "%s", wrong.detail);
    expect_used("lab/100/100 100/150 ");
}

Test(quotas, hold_for_a_new_id)
{
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    struct hub_move move = {.dataset = "lab/a-v0", .from = "x", .to = "a"};
    char made[200];
    const struct hub_draft_row one = add("a-v0", "x"), two = add("lab/b-v0", "lab/b-v0");
    snprintf(made, sizeof made, "%s/x", root);
    cr_assert_eq(mkdir(made, 0755), 0);
    cr_expect_eq(put(one.id, "a", 70, true), HUB_OK);
    publish(one.id, "a-v0");
    cr_expect_eq(put(two.id, "a", 40, false), HUB_OK);
    DRAFT_OK(hub_commit_head(truth, "a-v0", &head, err));
    wrong = (struct hub_error){0};
    cr_expect_eq(hub_dataset_rename(truth, &head, "token:ann", &move, &wrong), HUB_NO_SPACE);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_QUOTA_EXCEEDED);
    cr_expect(strstr(wrong.detail, "'lab/a-v0'") && strstr(wrong.detail, "(110 bytes)"), "%s", wrong.detail);
    expect_used("lab/40/100 110/150 ");
    move.dataset = "b-v0";
    cr_expect_eq(hub_dataset_rename(truth, &head, "token:ann", &move, &wrong), HUB_OK,
                 "it is below no other prefix than before");
    DRAFT_OK(hub_draft_forget(truth, two.id, err));
    move.dataset = "lab/a-v0";
    DRAFT_OK(hub_commit_head(truth, "b-v0", &head, err));
    cr_expect_eq(hub_dataset_rename(truth, &head, "token:ann", &move, &wrong), HUB_OK, "%s", wrong.detail);
    expect_used("lab/70/100 70/150 ");
}
