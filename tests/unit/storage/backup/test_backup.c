/* A backup and its way back, without a hub: a root with a dataset that hub.db has a commit of. */
#include "storage/backup/restore.h"
#include "storage/ids/revision.h"
#include "storage/sqlite/db.h"
#include "storage/truth/drafts.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[64], root[100], state[100], folder[100], other_root[100], other_state[100];
static struct hub_roots roots, other_roots;
static struct hub_error err;

#define OK(expression) cr_assert_eq(expression, HUB_OK, "%s", err.detail)

static void begin(void)
{
    snprintf(top, sizeof top, "/tmp/hub-backup-XXXXXX");
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
}

static void end(void)
{
    char command[100];
    hub_roots_dispose(&roots);
    hub_roots_dispose(&other_roots);
    snprintf(command, sizeof command, "chmod -R u+w %s; rm -rf %s", top, top);
    cr_assert_eq(system(command), 0);
}
TestSuite(backup, .init = begin, .fini = end);

static void write_in(const char *directory, const char *path, const char *text)
{
    char above[300], whole[400];
    snprintf(above, sizeof above, "%s/%.*s", directory, (int)(strrchr(path, '/') - path), path);
    snprintf(whole, sizeof whole, "%s/%s", directory, path);
    OK(hub_fs_make_dirs(AT_FDCWD, above, 0755, &err));
    OK(hub_fs_write(AT_FDCWD, whole, hub_view_of(text), 0644, &err));
}

static void write_record(const char *id, const char *bytes, char content[HUB_CONTENT_CHARS + 1])
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    struct hub_json json = hub_json_to(&text, &err);
    uint8_t sha256[HUB_DIGEST_MAX];
    char hex[2 * HUB_SHA256_BYTES + 1], path[200];
    struct hub_revision_file file = {.path = "data/a.bin", .size = strlen(bytes), .sha256 = sha256};
    OK(hub_digest_of(HUB_SHA256, hub_view_of(bytes), sha256, &err));
    hub_hex(sha256, HUB_SHA256_BYTES, hex);
    OK(hub_content(&file, 1, content, &err));
    hub_record_begin(&json, id, NULL, "0000000000000000000000000000000000000000");
    hub_json_put_array(&json, "files");
    hub_record_file(&json, "data/a.bin", strlen(bytes), hex, "hub");
    hub_json_end_array(&json);
    hub_json_end_object(&json);
    OK(hub_json_status(&json));
    snprintf(path, sizeof path, "%s/.minari-hub.json", id);
    write_in(root, path, text.data);
}

static void commit(struct hub_truth *truth, const char *id, const char *content)
{
    char path[100];
    snprintf(path, sizeof path, "%s", id);
    struct hub_draft_row row = {.dataset = (char *)id, .path = path, .who = (char *)"token:ann"};
    struct hub_commit made = {.dataset = id, .who = "token:ann", .message = "", .path = path};
    HUB_CLEANUP(hub_commit_dispose) struct hub_commit head = {0};
    memcpy(made.tree, content, sizeof made.tree);
    if (hub_commit_head(truth, id, &head, NULL) == HUB_OK) {
        memcpy(row.base, head.id, sizeof row.base);
        memcpy(made.parent, head.id, sizeof made.parent);
    }
    OK(hub_draft_add(truth, &row, &err));
    OK(hub_draft_turn(truth, row.id, HUB_DRAFT_OPEN, HUB_DRAFT_COMMITTING, &err));
    OK(hub_draft_claim(truth, &row, made.id, &err));
    OK(hub_draft_publish(truth, row.id, &made, true, &err));
}

/* Datasets as a hub publishes them, and a draft that stays open. */
static void push(const char *id, const char *bytes)
{
    const struct hub_truth_options options = {.state = state, .roots = &roots};
    struct hub_draft_row open = {
        .dataset = (char *)"lab/open-v0", .path = (char *)"lab/open-v0", .who = (char *)"token:bob"};
    struct hub_truth *truth;
    char content[HUB_CONTENT_CHARS + 1], path[200];
    snprintf(path, sizeof path, "%s/data/a.bin", id);
    write_in(root, path, bytes);
    write_record(id, bytes, content);
    OK(hub_truth_open(&options, &truth, &err));
    commit(truth, id, content);
    OK(hub_draft_add(truth, &open, &err));
    hub_truth_close(truth);
}

static enum hub_status take(bool data, bool prune, struct hub_backup_report *report)
{
    const struct hub_backup_options options = {.state = state,
                                               .folder = folder,
                                               .roots = &roots,
                                               .config = HUB_VIEW("# settings\n"),
                                               .data = data,
                                               .prune = prune};
    return hub_backup_take(&options, report, &err);
}

static enum hub_status restore(struct hub_restore_report *report)
{
    const struct hub_restore_options options = {
        .folder = folder, .state = other_state, .roots = &other_roots};
    return hub_restore(&options, report, &err);
}

static bool other_has(const char *path, const char *bytes)
{
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf text = HUB_BUF_INIT(MIB);
    char whole[400];
    snprintf(whole, sizeof whole, "%s/%s", other_root, path);
    return hub_fs_read(AT_FDCWD, whole, &text, NULL) == HUB_OK && hub_view_is(hub_buf_view(&text), bytes);
}

static int64_t count_in_other(const char *sql)
{
    struct hub_db *db;
    struct hub_stmt *stmt;
    bool row;
    char path[200];
    snprintf(path, sizeof path, "%s/hub.db", other_state);
    OK(hub_db_open(path, HUB_DB_READ, &db, &err));
    OK(hub_db_prepare(db, sql, &stmt, &err));
    OK(hub_stmt_step(stmt, &row, &err));
    const int64_t count = hub_stmt_int(stmt, 0);
    hub_db_close(db);
    return count;
}

Test(backup, with_data_and_back)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    push("lab/arm-v0", "hello");
    push("lab/door-v0", "hello");
    OK(take(true, false, &report));
    cr_expect_eq(report.problems, 0, "%s", report.backup.sets[0].problem);
    cr_expect(report.backup.set_count == 2 && report.files == 4 && report.new_files == 3,
              "a file of both is kept once: %u sets, %u files, %u new", report.backup.set_count,
              (unsigned)report.files, (unsigned)report.new_files);
    OK(restore(&back));
    cr_expect(back.placed == 2 && back.missing == 0 && back.there == 0, "%s", back.backup.sets[0].problem);
    cr_expect(other_has("lab/arm-v0/data/a.bin", "hello") && other_has("lab/door-v0/data/a.bin", "hello"));
    cr_expect_eq(count_in_other("SELECT count(*) FROM commits"), 2);
    cr_expect_eq(count_in_other("SELECT count(*) FROM drafts WHERE state = 'open'"), 0,
                 "what came of a draft is not in a backup");
    cr_expect_eq(count_in_other("SELECT count(*) FROM drafts WHERE root LIKE '%/other-root'"), 2);
    hub_restore_report_dispose(&back);
    cr_expect_eq(restore(&back), HUB_INVALID);
    cr_expect(strstr(err.detail, "is not empty") && strstr(err.detail, "--state"), "%s", err.detail);
}

Test(backup, the_next_one_adds_what_is_new)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    push("lab/arm-v0", "hello");
    OK(take(true, false, &report));
    hub_backup_report_dispose(&report);
    OK(take(true, false, &report));
    cr_expect_eq(report.new_files, 0);
    hub_backup_report_dispose(&report);
    push("lab/door-v0", "other");
    OK(take(true, true, &report));
    cr_expect(report.new_files == 2 && report.pruned == 0);
    hub_backup_report_dispose(&report);
    cr_expect_eq(take(false, false, &report), HUB_INVALID);
    cr_expect(strstr(err.detail, "add --data"), "%s", err.detail);
}

static enum hub_status end_early(void *user, const struct hub_backup_progress *progress,
                                 struct hub_error *why)
{
    (void)user;
    return progress->done ? hub_fail(why, HUB_CANCELLED, "interrupted") : HUB_OK;
}

Test(backup, an_interrupted_one_goes_on)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    const struct hub_backup_options options = {
        .state = state, .folder = folder, .roots = &roots, .data = true, .tick = end_early};
    push("lab/arm-v0", "hello");
    push("lab/door-v0", "other");
    cr_expect_eq(hub_backup_take(&options, &report, &err), HUB_CANCELLED);
    hub_backup_report_dispose(&report);
    cr_expect_eq(restore(&back), HUB_NOT_FOUND, "it is not a backup");
    OK(take(true, false, &report));
    cr_expect(report.new_files == 2 && report.files == 4, "%u", (unsigned)report.new_files);
    OK(restore(&back));
    cr_expect_eq(back.placed, 2);
}

Test(backup, without_data_what_is_missing_is_known)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    push("lab/arm-v0", "hello");
    OK(take(false, false, &report));
    OK(restore(&back));
    cr_expect(back.missing == 1 && back.placed == 0);
    cr_expect_str_eq(back.backup.sets[0].problem, "the backup was taken without --data");
}

Test(backup, data_that_is_there_stays)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    char command[400];
    push("lab/arm-v0", "hello");
    push("lab/door-v0", "other");
    OK(take(true, false, &report));
    snprintf(command, sizeof command, "cp -r %s/lab %s && echo more >>%s/lab/door-v0/data/a.bin", root,
             other_root, other_root);
    cr_assert_eq(system(command), 0);
    OK(restore(&back));
    cr_expect(back.there == 1 && back.missing == 1 && back.placed == 0);
    cr_expect(strstr(back.backup.sets[1].problem, "another dataset"), "%s", back.backup.sets[1].problem);
    cr_expect(other_has("lab/door-v0/data/a.bin", "othermore\n"), "it is nobody's to replace");
}

Test(backup, damage_is_found_on_the_way_in_and_out)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    char command[400];
    push("lab/arm-v0", "hello");
    push("lab/door-v0", "other");
    write_in(root, "lab/door-v0/data/a.bin", "0ther");
    OK(take(true, false, &report));
    cr_expect_eq(report.problems, 1);
    cr_expect(strstr(report.backup.sets[1].problem, "data/a.bin"), "%s", report.backup.sets[1].problem);
    hub_backup_report_dispose(&report);
    cr_expect_eq(take(true, true, &report), HUB_INVALID, "nothing is pruned then");
    snprintf(command, sizeof command,
             "chmod -R u+w %s/objects && cd %s/objects && for f in */*; do echo x >$f; done", folder, folder);
    cr_assert_eq(system(command), 0);
    OK(restore(&back));
    cr_expect(back.missing == 2 && strstr(back.backup.sets[0].problem, "damaged"), "%s",
              back.backup.sets[0].problem);
}

Test(backup, wrong_places_are_refused)
{
    HUB_CLEANUP(hub_backup_report_dispose) struct hub_backup_report report = {0};
    HUB_CLEANUP(hub_restore_report_dispose) struct hub_restore_report back = {0};
    push("lab/arm-v0", "hello");
    OK(take(true, false, &report));
    OK(hub_roots_add(&other_roots, top, NULL, &err));
    cr_expect_eq(restore(&back), HUB_INVALID);
    cr_expect(strstr(err.detail, root) && strstr(err.detail, "--root"), "%s", err.detail);
    hub_backup_report_dispose(&report);
    snprintf(folder, sizeof folder, "%s/inside", root);
    cr_expect_eq(take(true, false, &report), HUB_INVALID);
    cr_expect(strstr(err.detail, "outside of the roots") && access(folder, F_OK), "%s", err.detail);
    hub_backup_report_dispose(&report);
    snprintf(folder, sizeof folder, "%s", top);
    cr_expect_eq(take(true, false, &report), HUB_INVALID);
    cr_expect(strstr(err.detail, "other files"), "%s", err.detail);
}
