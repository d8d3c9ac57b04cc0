/* Drafts in hub.db: states by compare-and-set, files, commits. */
#include "storage/truth/drafts.h"

#include "storage/truth/hubdb.h"
#include "storage/truth/verdicts.h"
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
    struct hub_commit commit = {
        .dataset = "lab/new-v0", .who = "token:ann", .message = "m", .tree = "t", .path = "lab/new-v0"};
    cr_expect_eq(hub_draft_publish(truth, row.id, &commit, false, &wrong), HUB_CHANGED, "it has no place");
    DRAFT_OK(hub_draft_claim(truth, &row, commit.id, err));
    cr_expect_eq(strlen(commit.id), HUB_COMMIT_ID);
    DRAFT_OK(hub_draft_publish(truth, row.id, &commit, false, err));
    cr_expect_eq(hub_draft_publish(truth, row.id, &commit, false, &wrong), HUB_CHANGED);
    HUB_CLEANUP(hub_draft_row_dispose) struct hub_draft_row found = find(row.id);
    cr_expect_eq(found.state, HUB_DRAFT_PUBLISHED);
    cr_expect_eq(strlen(found.commit), HUB_COMMIT_ID);
    cr_expect_eq(found.root, 0);
    DRAFT_OK(hub_draft_forget(truth, row.id, err));
    cr_expect_eq(hub_draft_find(truth, row.id, &found, &wrong), HUB_NOT_FOUND);
    DRAFT_OK(hub_draft_forget(truth, row.id, err));
}

/* A draft of this base that is about to be published. */
static struct hub_draft_row ready(const char *base)
{
    static char path[] = "lab/new-v0", who[] = "token:ann";
    struct hub_draft_row row = {.dataset = path, .path = path, .who = who};
    snprintf(row.base, sizeof row.base, "%s", base);
    DRAFT_OK(hub_draft_add(truth, &row, err));
    DRAFT_OK(hub_draft_turn(truth, row.id, HUB_DRAFT_OPEN, HUB_DRAFT_COMMITTING, err));
    return row;
}

static struct hub_commit commit_of(const char *base, const char *tree)
{
    struct hub_commit commit = {.dataset = "lab/new-v0",
                                .who = "token:ann",
                                .message = "",
                                .path = "lab/new-v0",
                                .files = 2,
                                .bytes = 5,
                                .changes = {.known = *base != 0, .added = 1, .removed = 3},
                                .episodes = *base ? 7 : 4};
    snprintf(commit.parent, sizeof commit.parent, "%s", base);
    snprintf(commit.tree, sizeof commit.tree, "%s", tree);
    return commit;
}

Test(drafts, take_the_place_of_their_base)
{
    const struct hub_draft_row first = ready(""), second = ready("");
    struct hub_commit a = commit_of("", "ta"), other = a;
    DRAFT_OK(hub_draft_claim(truth, &first, a.id, err));
    cr_expect_eq(hub_draft_claim(truth, &second, other.id, &wrong), HUB_BUSY, "one at a time");
    DRAFT_OK(hub_draft_publish(truth, first.id, &a, true, err));
    cr_expect_eq(hub_draft_claim(truth, &second, other.id, &wrong), HUB_CHANGED);
    cr_expect_eq(wrong.problem, HUB_PROBLEM_COMMIT_CONFLICT);
    const struct hub_draft_row third = ready(a.id);
    struct hub_commit b = commit_of(a.id, "tb");
    DRAFT_OK(hub_draft_claim(truth, &third, b.id, err));
    DRAFT_OK(hub_draft_publish(truth, third.id, &b, true, err));
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0}, was = {0};
    DRAFT_OK(hub_commit_head(truth, "lab/new-v0", &head, err));
    cr_expect_str_eq(head.id, b.id);
    cr_expect_str_eq(head.parent, a.id);
    cr_expect(head.files == 2 && head.bytes == 5 && !head.ended_ms && head.root == 0);
    cr_expect(head.changes.known && head.changes.added == 1 && !head.changes.changed &&
              head.changes.removed == 3);
    cr_expect(head.episodes == 7 && head.parent_episodes == 4);
    DRAFT_OK(hub_commit_named(truth, "lab/new-v0", (struct hub_view){a.id, 7}, &was, err));
    cr_expect_str_eq(was.id, a.id);
    cr_expect(was.kept && was.ended_ms);
    cr_expect(!was.changes.known && was.episodes == 4 && was.parent_episodes == -1);
}

static enum hub_status name_commit(void *user, const struct hub_commit *commit, struct hub_error *why)
{
    return hub_buf_addf(user, why, "%s %s%s\n", commit->dataset, hub_commit_kinds[commit->kind],
                        commit->kept ? " kept" : "");
}

Test(drafts, commits_of_a_dataset)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(KIB);
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit found = {0};
    struct hub_commit a = commit_of("", "ta"), gone = commit_of("", ""), again = commit_of("", "ta");
    DRAFT_OK(hub_commit_name(a.id, err));
    DRAFT_OK(hub_commit_add(truth, &a, false, err));
    gone.kind = HUB_COMMIT_DELETE;
    DRAFT_OK(hub_commit_name(gone.id, err));
    cr_expect_eq(hub_commit_add(truth, &gone, true, &wrong), HUB_CHANGED, "the head is another");
    memcpy(gone.parent, a.id, sizeof gone.parent);
    DRAFT_OK(hub_commit_add(truth, &gone, true, err));
    DRAFT_OK(hub_commit_name(again.id, err));
    DRAFT_OK(hub_commit_add(truth, &again, true, err));
    DRAFT_OK(hub_commits_each(truth, "lab/new-v0", name_commit, &text, err));
    cr_expect_str_eq(text.data, "lab/new-v0 publish\nlab/new-v0 delete\nlab/new-v0 publish kept\n");
    cr_expect_eq(hub_commit_named(truth, "lab/new-v0", HUB_VIEW("ta"), &found, &wrong), HUB_NOT_FOUND,
                 "too short to name one");
    DRAFT_OK(hub_commit_keep(truth, a.id, false, err));
    text.size = 0;
    DRAFT_OK(hub_commits_heads(truth, name_commit, &text, err));
    cr_expect_str_eq(text.data, "lab/new-v0 publish\n");
    cr_expect_eq(hub_commit_head(truth, "lab/none", &found, &wrong), HUB_NOT_FOUND);
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
    cr_expect_eq(put(row.id, "b/c", 3, true), HUB_OK, "it is no twin of itself");
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

/* Names that are one and the same to some file system. */
Test(drafts, have_no_twins)
{
    static const struct {
        const char *there, *twin;
    } cases[] = {
        {"Data/a", "data/b"},                                     /* a folder */
        {"caf\u00e9.txt", "cafe\u0301.txt"},                      /* NFC and NFD */
        {"o\u0301/caf\u00e9/a", "\u00d3/cafe\u0301/b"},           /* and case */
        {"\u1e69", "s\u0307\u0323"},                              /* marks in another order */
        {"\ud55c\uae00", "\u1112\u1161\u11ab\u1100\u1173\u11af"}, /* Hangul */
        {"\u03a3\u03b1\u03c2", "\u03c3\u03b1\u03c3"},             /* sigma at the end */
        {"stra\u00dfe", "STRASSE"},
        {"\u0436/x/y", "\u0416"}, /* and a folder that would be a file */
        {"\u212b", "\u00e5"},     /* angstrom */
    };
    for (size_t i = 0; i < HUB_COUNT(cases); i++) {
        const struct hub_draft_row row = add("lab/new-v0", "token:ann");
        cr_expect_eq(put(row.id, cases[i].there, 1, true), HUB_OK, "%s", wrong.detail);
        cr_expect_eq(put(row.id, cases[i].twin, 1, false), HUB_INVALID, "%s", cases[i].twin);
        cr_expect(strstr(wrong.detail, cases[i].there) && strstr(wrong.detail, cases[i].twin), "%s",
                  wrong.detail);
        cr_expect_eq(put(row.id, cases[i].there, 1, true), HUB_OK);
        DRAFT_OK(hub_draft_forget(truth, row.id, err));
    }
    const struct hub_draft_row row = add("lab/new-v0", "token:ann");
    static const char *const apart[] = {"\u00e9", "e",      "\u00e8", "a/\u0338b", "\u00b2",
                                        "2",      "\u1e9b", "x/1",    "x/2"};
    for (size_t i = 0; i < HUB_COUNT(apart); i++)
        cr_expect_eq(put(row.id, apart[i], 1, true), HUB_OK, "%s", wrong.detail);
}

Test(drafts, are_found_by_their_key_while_they_are_open)
{
    struct hub_draft_row row = {
        .dataset = "lab/x", .path = "lab/x", .who = "token:ann", .key = "one", .base = "0123"};
    struct hub_draft_row again = row, other = row;
    bool found = true;
    DRAFT_OK(hub_draft_add_once(truth, &row, &found, err));
    cr_expect_not(found);
    DRAFT_OK(hub_draft_add_once(truth, &again, &found, err));
    cr_expect(found && strcmp(again.id, row.id) == 0);
    other.base[0] = '1';
    DRAFT_OK(hub_draft_add_once(truth, &other, &found, err));
    cr_expect_not(found);
    DRAFT_OK(hub_draft_turn(truth, row.id, HUB_DRAFT_OPEN, HUB_DRAFT_DROPPED, err));
    DRAFT_OK(hub_draft_add_once(truth, &again, &found, err));
    cr_expect(!found && strcmp(again.id, row.id) != 0);
    row.key[0] = again.key[0] = '\0';
    DRAFT_OK(hub_draft_add_once(truth, &row, &found, err));
    DRAFT_OK(hub_draft_add_once(truth, &again, &found, err));
    cr_expect(!found && strcmp(again.id, row.id) != 0);
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

Test(drafts, keep_why_they_were_refused_until_they_are_forgotten)
{
    HUB_CLEANUP(hub_kept_verdict_dispose) struct hub_kept_verdict verdict = {0}, again = {0};
    const struct hub_draft_row row = add("lab/new-v0", "token:ann");
    cr_expect_eq(hub_verdict_find(truth, row.id, &verdict, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_verdict_keep(
        truth, row.id, &(struct hub_kept_verdict){.verdict = "files", .reason = "x", .problems = "[]"}, err));
    DRAFT_OK(hub_verdict_keep(truth, row.id,
                              &(struct hub_kept_verdict){.verdict = "broken",
                                                         .reason = "cut short",
                                                         .problems = "[{\"code\":\"y\"}]"},
                              err));
    DRAFT_OK(hub_verdict_find(truth, row.id, &verdict, err));
    cr_expect_str_eq(verdict.verdict, "broken");
    cr_expect_str_eq(verdict.reason, "cut short");
    cr_expect_str_eq(verdict.problems, "[{\"code\":\"y\"}]");
    cr_expect_gt(verdict.at_ms, 0);
    DRAFT_OK(hub_draft_forget(truth, row.id, err));
    cr_expect_eq(hub_verdict_find(truth, row.id, &again, NULL), HUB_NOT_FOUND);
}
