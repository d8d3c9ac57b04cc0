/* Drafts in hub.db: states by compare-and-set, files, commits. */
#include "storage/truth/drafts.h"

#include "storage/truth/hubdb.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static char state[64];
static struct hub_truth *truth;
static struct hub_roots roots;
static struct hub_error wrong;

static void begin(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    snprintf(state, sizeof state, "/tmp/hub-drafts-XXXXXX");
    cr_assert(mkdtemp(state));
    cr_assert_eq(hub_roots_add(&roots, "/data", NULL, NULL), HUB_OK);
    DRAFT_OK(hub_truth_open(&options, &truth, err));
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(drafts, .init = begin, .fini = end);

/* Texts of literals are not freed. */
static struct hub_draft_row add(const char *dataset, const char *who)
{
    static char path[] = "lab/new-v0";
    struct hub_draft_row row = {.dataset = (char *)dataset, .path = path, .who = (char *)who};
    DRAFT_OK(hub_draft_add(truth, &row, err));
    return row;
}

static struct hub_draft_row find(const char *id)
{
    struct hub_draft_row row = {0};
    DRAFT_OK(hub_draft_find(truth, id, &row, err));
    return row;
}

static enum hub_status put(const char *draft, const char *path, uint64_t size, bool complete)
{
    const struct hub_draft_file file = {.path = path, .size = size, .complete = complete, .sha256 = {7}};
    wrong = (struct hub_error){0};
    return hub_draft_file_put(truth, draft, &file, &wrong);
}

Test(drafts, turn_from_the_state_that_is_expected)
{
    const struct hub_draft_row row = add("lab/new-v0", "token:ann");
    cr_expect_eq(strlen(row.id), HUB_DRAFT_ID);
    DRAFT_OK(hub_draft_turn(truth, row.id, HUB_DRAFT_OPEN, HUB_DRAFT_COMMITTING, err));
    cr_expect_eq(hub_draft_turn(truth, row.id, HUB_DRAFT_OPEN, HUB_DRAFT_COMMITTING, &wrong), HUB_CHANGED);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_DRAFT_BUSY);
    cr_expect_eq(put(row.id, "a", 1, false), HUB_CHANGED, "it takes no more files");
    struct hub_commit commit = {.dataset = "lab/new-v0", .who = "token:ann", .message = "m", .tree = "t"};
    DRAFT_OK(hub_draft_publish(truth, row.id, &commit, err));
    cr_expect_eq(strlen(commit.id), HUB_COMMIT_ID);
    cr_expect_eq(hub_draft_publish(truth, row.id, &commit, &wrong), HUB_CHANGED);
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row found = find(row.id);
    cr_expect_eq(found.state, HUB_DRAFT_PUBLISHED);
    cr_expect_eq(strlen(found.commit), HUB_COMMIT_ID);
    cr_expect_eq(found.root, 0);
    DRAFT_OK(hub_draft_forget(truth, row.id, err));
    cr_expect_eq(hub_draft_find(truth, row.id, &found, &wrong), HUB_NOT_FOUND);
    DRAFT_OK(hub_draft_forget(truth, row.id, err));
}

static enum hub_status join(void *user, const struct hub_draft_file *file, struct hub_error *why)
{
    return hub_buf_addf(user, why, "%s%s ", file->path, file->complete ? "" : "?");
}

Test(drafts, have_files)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    const struct hub_draft_row row = add("lab/new-v0", "token:ann"), other = add("lab/other-v0", "token:ann");
    struct hub_draft_file file;
    cr_assert_eq(put(row.id, "b/c", 3, true), HUB_OK, "%s", wrong.detail);
    cr_assert_eq(put(row.id, "a", 5, false), HUB_OK);
    cr_assert_eq(put(other.id, "z", 9, true), HUB_OK);
    const char *const twins[] = {"A", "b", "a/x", "B/c", "b/c/d"};
    for (size_t i = 0; i < HUB_COUNT(twins); i++)
        cr_expect_eq(put(row.id, twins[i], 1, false), HUB_INVALID, "%s", twins[i]);
    cr_expect_eq(put(row.id, "ab", 1, true), HUB_OK, "the beginning of a name is no folder");
    DRAFT_OK(hub_draft_files_each(truth, row.id, NULL, 0, join, &text, err));
    cr_expect_str_eq(text.data, "a? ab b/c ");
    DRAFT_OK(hub_draft_file_find(truth, row.id, "b/c", &file, err));
    cr_expect(file.complete && file.size == 3 && file.sha256[0] == 7);
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row found = find(row.id);
    DRAFT_OK(hub_draft_count(truth, &found, err));
    cr_expect(found.files == 3 && found.complete == 2 && found.bytes == 9);
    DRAFT_OK(hub_draft_file_forget(truth, row.id, "a", err));
    cr_expect_eq(hub_draft_file_find(truth, row.id, "a", &file, &wrong), HUB_NOT_FOUND);
}

Test(drafts, are_not_too_many)
{
    struct hub_draft_row more = {.dataset = "lab/x", .path = "lab/x", .who = "token:ann"};
    struct hub_draft_row first = add("lab/x", "token:ann");
    for (int i = 1; i < HUB_DRAFTS_OF_ONE; i++)
        (void)add("lab/x", "token:ann");
    cr_expect_eq(hub_draft_add(truth, &more, &wrong), HUB_BUSY);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_TOO_MANY_DRAFTS);
    (void)add("lab/x", "token:bob");
    DRAFT_OK(hub_draft_turn(truth, first.id, HUB_DRAFT_OPEN, HUB_DRAFT_DROPPED, err));
    (void)add("lab/x", "token:ann");
}
