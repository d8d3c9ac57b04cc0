/* Repos: commits that each can be read, branches, tags, what changes nothing. */
#include "storage/truth/push.h"

#include "storage/truth/deposits.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char state[64], root[80], seen[400];
static struct hub_truth *truth;
static struct hub_roots roots;
static struct hub_error wrong;
static const struct hub_repo_row repo = {
    .id = (char *)"lab/arm-v1", .path = (char *)"lab/arm-v1", .who = (char *)"token:ann"};

/* The object whose digest is this byte, again and again, is sent by ann. */
static void deposit(uint8_t byte)
{
    struct hub_deposit_row row = {.who = "token:ann", .size = byte};
    memset(row.sha256, byte, sizeof row.sha256);
    DRAFT_OK(hub_deposit_add(truth, &row, err));
}

static void begin(void)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    snprintf(state, sizeof state, "/tmp/hub-repos-XXXXXX");
    cr_assert(mkdtemp(state));
    snprintf(root, sizeof root, "%s/root", state);
    cr_assert_eq(mkdir(root, 0755), 0);
    cr_assert_eq(hub_roots_add(&roots, root, NULL, NULL), HUB_OK);
    DRAFT_OK(hub_truth_open(&options, &truth, err));
    cr_expect_not(hub_repos_any(truth));
    DRAFT_OK(hub_repo_add(truth, &repo, err));
    for (uint8_t i = 1; i < 5; i++)
        deposit(i);
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(repos, .init = begin, .fini = end);

static struct hub_change put(const char *path, uint8_t byte)
{
    struct hub_change change = {.kind = HUB_CHANGE_PUT, .path = path, .lfs = true};
    memset(change.sha256, byte, sizeof change.sha256);
    return change;
}

static enum hub_status add(struct hub_push_order order, char id[HUB_COMMIT_ID + 1])
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push push = {0};
    order.repo = repo.id;
    order.who = "token:ann";
    order.title = "t";
    order.message = "";
    wrong = (struct hub_error){0};
    const enum hub_status st = hub_push_add(truth, &order, &push, &wrong);
    if (!st)
        snprintf(id, HUB_COMMIT_ID + 1, "%s", push.id);
    return st;
}

static enum hub_status push_to(const char *branch, const char *parent, const struct hub_change *changes,
                               uint32_t count, char id[HUB_COMMIT_ID + 1])
{
    return add(
        (struct hub_push_order){.branch = branch, .parent = parent, .changes = changes, .count = count}, id);
}

static enum hub_status note(void *user, const struct hub_push_file *file, struct hub_error *err)
{
    (void)user;
    (void)err;
    snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s=%llu ", file->path,
             (unsigned long long)file->size);
    return HUB_OK;
}

static const char *files(const char *rev, const char *begins)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push push = {0};
    seen[0] = '\0';
    if (hub_push_named(truth, repo.id, hub_view_of(rev), &push, &wrong))
        return "none";
    DRAFT_OK(hub_push_files_each(truth, &push, begins, "", note, NULL, err));
    return seen;
}

Test(repos, each_commit_can_be_read)
{
    char one[41], two[41], same[41];
    const struct hub_change first[] = {put("a", 1), put("d/x", 2), put("d/y", 3)},
                            second[] = {{.kind = HUB_CHANGE_EMPTY, .path = "d"},
                                        put("d/y", 4),
                                        {.kind = HUB_CHANGE_DELETE, .path = "a"},
                                        put("b", 2)};
    cr_expect_str_eq(files("main", ""), "");
    cr_assert_eq(push_to("main", NULL, first, 3, one), HUB_OK, "%s", wrong.detail);
    cr_expect_str_eq(files("main", ""), "a=1 d/x=2 d/y=3 ");
    cr_expect_str_eq(files("main", "d/"), "d/x=2 d/y=3 ");
    cr_assert_eq(push_to("main", one, second, 4, two), HUB_OK, "%s", wrong.detail);
    cr_expect_str_eq(files("main", ""), "b=2 d/y=4 ");
    one[7] = '\0';
    cr_expect_str_eq(files(one, ""), "a=1 d/x=2 d/y=3 ");
    cr_expect_str_eq(files("nothing", ""), "none");
    cr_expect_eq(wrong.problem, HUB_PROBLEM_REVISION_NOT_FOUND);
    cr_assert_eq(push_to("main", NULL, &second[1], 1, same), HUB_OK, "what changes nothing");
    cr_expect_str_eq(same, two, "is the head");
}

Test(repos, one_that_has_a_name_is_a_commit_of_that_name)
{
    static const char name[] = "0123456789012345678901234567890123456789";
    char one[41], two[41];
    const struct hub_change first = put("a", 1);
    const struct hub_push_order order = {.branch = "main", .name = name, .changes = &first, .count = 1};
    cr_assert_eq(add(order, one), HUB_OK, "%s", wrong.detail);
    cr_expect_str_eq(one, name);
    cr_assert_eq(add(order, two), HUB_OK, "it changes nothing, and has a name that is taken: %s",
                 wrong.detail);
    cr_expect_str_neq(two, name);
    cr_expect_eq(strlen(two), strlen(name));
    cr_expect_str_eq(files("main", ""), "a=1 ");
}

Test(repos, of_two_who_add_one_is_late)
{
    char one[41], two[41], again[41];
    const struct hub_change first = put("a", 1), other = put("b", 2);
    cr_assert_eq(push_to("main", NULL, &first, 1, one), HUB_OK, "%s", wrong.detail);
    cr_assert_eq(push_to("main", one, &other, 1, two), HUB_OK, "%s", wrong.detail);
    cr_assert_eq(push_to("main", one, &other, 1, again), HUB_OK, "its answer was lost: %s", wrong.detail);
    cr_expect_str_eq(again, two);
    const struct hub_change late = put("c", 3);
    cr_expect_eq(push_to("main", one, &late, 1, again), HUB_CHANGED);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_COMMIT_CONFLICT);
    cr_expect_str_eq(files("main", ""), "a=1 b=2 ");
}

Test(repos, what_cannot_be_is_refused_whole)
{
    char id[41];
    const struct hub_change folder[] = {put("a", 1), put("a/b", 2)}, file[] = {put("a/b", 1), put("a", 2)},
                            unsent[] = {put("a", 1), put("b", 9)};
    cr_expect_eq(push_to("main", NULL, folder, 2, id), HUB_INVALID);
    cr_expect_eq(push_to("main", NULL, file, 2, id), HUB_INVALID);
    cr_expect_eq(push_to("main", NULL, unsent, 2, id), HUB_INVALID);
    cr_expect(strstr(wrong.detail, "not sent"), "%s", wrong.detail);
    cr_expect_eq(push_to("other", NULL, folder, 1, id), HUB_NOT_FOUND);
    cr_expect_str_eq(files("main", ""), "");
}

Test(repos, branches_and_tags)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push at = {0};
    char one[41], two[41];
    const struct hub_change first = put("a", 1), other = put("b", 2);
    cr_assert_eq(push_to("main", NULL, &first, 1, one), HUB_OK, "%s", wrong.detail);
    DRAFT_OK(hub_push_named(truth, repo.id, HUB_VIEW("main"), &at, err));
    DRAFT_OK(hub_ref_add(truth, repo.id, "branch", "dev", &at, err));
    DRAFT_OK(hub_ref_add(truth, repo.id, "tag", "v3.0", &at, err));
    cr_expect_eq(hub_ref_add(truth, repo.id, "tag", "v3.0", &at, NULL), HUB_EXISTS);
    cr_assert_eq(push_to("dev", one, &other, 1, two), HUB_OK, "%s", wrong.detail);
    cr_expect_str_eq(files("dev", ""), "a=1 b=2 ");
    cr_expect_str_eq(files("main", ""), "a=1 ");
    cr_expect_str_eq(files("v3.0", ""), "a=1 ");
    DRAFT_OK(hub_ref_remove(truth, repo.id, "tag", "v3.0", err));
    cr_expect_eq(hub_ref_remove(truth, repo.id, "tag", "v3.0", NULL), HUB_NOT_FOUND);
}

Test(repos, what_a_commit_took_waits_no_more)
{
    struct hub_deposit_row row = {.who = "token:ann"};
    struct hub_push_file found = {0};
    char id[41];
    const struct hub_change first = put("a", 1);
    memset(row.sha256, 1, sizeof row.sha256);
    memset(found.sha256, 1, sizeof found.sha256);
    cr_expect_eq(hub_push_object_find(truth, repo.id, &found, NULL), HUB_NOT_FOUND);
    cr_assert_eq(push_to("main", NULL, &first, 1, id), HUB_OK, "%s", wrong.detail);
    cr_expect_eq(hub_deposit_find(truth, &row, NULL), HUB_NOT_FOUND);
    cr_expect_eq(hub_push_object_find(truth, repo.id, &found, NULL), HUB_OK);
    cr_expect_eq(found.size, 1);
}

Test(repos, the_head_of_main_is_inspected)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push next = {0}, none = {0};
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row of = {0};
    char one[41], two[41];
    const struct hub_change first = put("a", 1), other = put("b", 2);
    cr_expect_eq(hub_push_next(truth, &of, &next, NULL), HUB_NOT_FOUND);
    cr_assert_eq(push_to("main", NULL, &first, 1, one), HUB_OK, "%s", wrong.detail);
    cr_assert_eq(push_to("main", NULL, &other, 1, two), HUB_OK, "%s", wrong.detail);
    DRAFT_OK(hub_push_next(truth, &of, &next, err));
    cr_expect_str_eq(next.id, two, "not the one before it");
    cr_expect_str_eq(of.id, repo.id);
    DRAFT_OK(hub_push_turn(truth, next.number, HUB_PUSH_READY, "", err));
    cr_expect_eq(hub_push_next(truth, &of, &none, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_push_published(truth, repo.id, &none, err));
    cr_expect_str_eq(none.id, two);
}

Test(repos, a_repo_is_renamed_and_forgotten)
{
    HUB_CLEANUP(hub_repo_row_dispose) struct hub_repo_row found = {0};
    struct hub_repo_row to = repo;
    cr_expect_eq(hub_repo_add(truth, &repo, NULL), HUB_EXISTS);
    to.id = to.path = (char *)"lab/arm-v2";
    DRAFT_OK(hub_repo_rename(truth, repo.id, &to, err));
    DRAFT_OK(hub_repo_find(truth, to.id, &found, err));
    cr_expect_eq(hub_repo_find(truth, repo.id, &found, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_repo_forget(truth, to.id, "token:ann", err));
    cr_expect_eq(hub_push_named(truth, to.id, HUB_VIEW("main"), &(struct hub_push){0}, NULL), HUB_NOT_FOUND);
}

Test(repos, old_commits_are_forgotten_but_for_those_with_a_name)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push at = {0};
    const int64_t later_ms = INT64_MAX;
    char ids[4][41];
    for (uint8_t i = 0; i < 4; i++) {
        const struct hub_change change = put("a", (uint8_t)(i + 1));
        cr_assert_eq(push_to("main", NULL, &change, 1, ids[i]), HUB_OK, "%s", wrong.detail);
    }
    DRAFT_OK(hub_push_named(truth, repo.id, hub_view_of(ids[0]), &at, err));
    DRAFT_OK(hub_ref_add(truth, repo.id, "tag", "first", &at, err));
    DRAFT_OK(hub_pushes_trim(truth, 1, 0, err));
    cr_expect_str_eq(files(ids[1], ""), "a=2 ", "it is new");
    DRAFT_OK(hub_pushes_trim(truth, 1, later_ms, err));
    cr_expect_str_eq(files("first", ""), "a=1 ");
    cr_expect_str_eq(files(ids[1], ""), "none");
    cr_expect_str_eq(files(ids[2], ""), "a=3 ");
    cr_expect_str_eq(files("main", ""), "a=4 ");
    struct hub_push_file object = {0};
    memset(object.sha256, 2, sizeof object.sha256);
    cr_expect_eq(hub_push_object_find(truth, repo.id, &object, NULL), HUB_NOT_FOUND);
}
