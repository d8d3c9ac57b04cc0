/* Repos in a backup: objects that are collected while it is taken, and commits that lack theirs. */
#include "storage/backup/restore.h"
#include "storage/deposits/deposit.h"
#include "storage/truth/push.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], root[100], state[100], folder[100], other_root[100], other_state[100];
static struct hub_roots roots, other_roots;
static struct hub_truth *truth;
static struct hub_deposits deposits;
static struct hub_error err;

#define OK(expression) cr_assert_eq(expression, HUB_OK, "%s", err.detail)

static void begin(void)
{
    snprintf(top, sizeof top, "/tmp/hub-repos-XXXXXX");
    cr_assert(mkdtemp(top));
    const struct {
        char *path;
        const char *name;
    } places[] = {{root, "root"},
                  {state, "state"},
                  {folder, "backup"},
                  {other_root, "other-root"},
                  {other_state, "other-state"}};
    for (size_t i = 0; i < HUB_COUNT(places); i++) {
        snprintf(places[i].path, 100, "%s/%s", top, places[i].name);
        cr_assert(places[i].path == folder || mkdir(places[i].path, 0700) == 0);
    }
    OK(hub_roots_add(&roots, root, NULL, &err));
    OK(hub_roots_add(&other_roots, other_root, NULL, &err));
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    OK(hub_truth_open(&options, &truth, &err));
    deposits = (struct hub_deposits){.truth = truth, .roots = &roots, .budget_bytes = MIB};
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    hub_roots_dispose(&roots);
    hub_roots_dispose(&other_roots);
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", top, top);
    cr_assert_eq(system(command), 0);
}
TestSuite(backup_repos, .init = begin, .fini = end);

/* A commit with one file more; the file is its path's text. */
static void push(const char *id, const char *path, bool first)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push made = {0};
    HUB_CLEANUP(hub_deposit_abandon) struct hub_deposit deposit = HUB_DEPOSIT_INIT;
    const struct hub_repo_row repo = {.id = (char *)id, .path = (char *)id, .who = (char *)"token:ann"};
    struct hub_change change = {.kind = HUB_CHANGE_PUT, .path = path, .lfs = true};
    const struct hub_push_order order = {.repo = id,
                                         .branch = "main",
                                         .who = "token:ann",
                                         .title = "t",
                                         .message = "",
                                         .changes = &change,
                                         .count = 1};
    struct hub_deposit_row row;
    if (first)
        OK(hub_repo_add(truth, &repo, &err));
    OK(hub_deposit_begin(&deposits, &(struct hub_deposit_order){.who = "token:ann", .size = strlen(path)},
                         &deposit, &err));
    OK(hub_deposit_write(&deposit, hub_view_of(path), &err));
    OK(hub_deposit_finish(&deposit, NULL, &row, &err));
    memcpy(change.sha256, row.sha256, sizeof change.sha256);
    OK(hub_push_add(truth, &order, &made, &err));
}

static void object_path(const char *at, const char *bytes, char out[300])
{
    uint8_t sha256[HUB_DIGEST_MAX];
    char hex[2 * HUB_SHA256_BYTES + 1];
    OK(hub_digest_of(HUB_SHA256, hub_view_of(bytes), sha256, &err));
    hub_hex(sha256, HUB_SHA256_BYTES, hex);
    snprintf(out, 300, "%s/.minari-hub/objects/%s", at, hex);
}

static enum hub_status take(hub_backup_tick tick, struct hub_backup_report *report)
{
    const struct hub_backup_options options = {.state = state,
                                               .folder = folder,
                                               .roots = &roots,
                                               .config = HUB_VIEW("# settings\n"),
                                               .data = true,
                                               .tick = tick};
    return hub_backup_take(&options, report, &err);
}

static enum hub_status restore(struct hub_restore_report *report)
{
    const struct hub_restore_options options = {
        .folder = folder, .state = other_state, .roots = &other_roots};
    return hub_restore(&options, report, &err);
}

/* ---- while it is taken ---- */

static unsigned ticks;

/* Of one repo the objects are collected, and another one comes. */
static enum hub_status change_repos(void *user, const struct hub_backup_progress *progress,
                                    struct hub_error *why)
{
    (void)user;
    (void)why;
    if (!progress->name || strcmp(progress->name, "lab/gone") != 0 || ticks++)
        return HUB_OK;
    OK(hub_repo_forget(truth, "lab/gone", "token:ann", &err));
    hub_deposits_tidy(&deposits);
    push("lab/new", "new", true);
    return HUB_OK;
}

Test(backup_repos, objects_that_go_and_come_meanwhile)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    char path[300];
    push("lab/gone", "gone", true);
    push("lab/stays", "stays", true);
    OK(take(change_repos, &report));
    object_path(root, "gone", path);
    cr_expect(ticks == 1 && access(path, F_OK), "it was collected");
    cr_expect(report.problems == 0 && report.backup.repo_count == 2 && report.objects == 2,
              "%u problems, %u repos", report.problems, report.backup.repo_count);
    OK(restore(&back));
    cr_expect(back.repo_count == 0 && back.objects_placed == 2);
    object_path(other_root, "new", path);
    cr_expect_eq(access(path, F_OK), 0, "its row is there, and so it is");
}

/* ---- what is lost ---- */

static bool has(struct hub_truth *other, const char *repo, const char *path)
{
    HUB_CLEANUP(hub_push_dispose) struct hub_push at = {0};
    struct hub_push_file file;
    return hub_push_named(other, repo, HUB_VIEW("main"), &at, NULL) == HUB_OK &&
           hub_push_file_find(other, &at, path, &file, NULL) == HUB_OK;
}

Test(backup_repos, no_row_remains_without_its_object)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    const struct hub_change less = {.kind = HUB_CHANGE_DELETE, .path = "b"};
    HUB_CLEANUP(hub_push_dispose) struct hub_push made = {0};
    const struct hub_push_order order = {.repo = "lab/earlier",
                                         .branch = "main",
                                         .who = "token:ann",
                                         .title = "t",
                                         .message = "",
                                         .changes = &less,
                                         .count = 1};
    struct hub_truth *other;
    char command[400];
    push("lab/earlier", "a", true);
    push("lab/earlier", "b", false);
    OK(hub_push_add(truth, &order, &made, &err));
    push("lab/head", "b", true);
    OK(take(NULL, &report));
    uint8_t sha256[HUB_DIGEST_MAX];
    char hex[2 * HUB_SHA256_BYTES + 1];
    OK(hub_digest_of(HUB_SHA256, HUB_VIEW("b"), sha256, &err));
    hub_hex(sha256, HUB_SHA256_BYTES, hex);
    snprintf(command, sizeof command, "rm %s/objects/%.2s/%s", folder, hex, hex + 2);
    cr_assert_eq(system(command), 0);
    OK(restore(&back));
    cr_assert_eq(back.repo_count, 2);
    cr_expect(!back.repos[0].all && back.repos[0].commits == 1 && back.repos[0].missing_count == 1,
              "an earlier commit of it is lost: %u", back.repos[0].commits);
    cr_expect(back.repos[1].all, "its head is lost");
    const struct hub_truth_options options = {.state = other_state, .roots = &other_roots};
    OK(hub_truth_open(&options, &other, &err));
    cr_expect(has(other, "lab/earlier", "a") && !has(other, "lab/head", "b"));
    struct hub_push_file file = {0};
    memcpy(file.sha256, sha256, sizeof file.sha256);
    cr_expect_eq(hub_push_object_find(other, "lab/earlier", &file, &err), HUB_NOT_FOUND);
    hub_truth_close(other);
}
