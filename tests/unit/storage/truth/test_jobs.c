/* Jobs, rules and origins in hub.db. A jump of the clock is made by moving what was written instead. */
#include "storage/io/fs.h"
#include "storage/truth/hubdb.h"
#include "storage/truth/rules.h"
#include "storage/truth/upstream.h"
#include "tests/support/catalog_draft.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>

static char state[64];
static struct hub_truth *truth;

static struct hub_truth *open_it(void)
{
    struct hub_truth *out = NULL;
    const struct hub_truth_options options = {.state = state};
    DRAFT_OK(hub_truth_open(&options, &out, err));
    return out;
}

static void begin(void)
{
    snprintf(state, sizeof state, "/tmp/hub-jobs-XXXXXX");
    cr_assert(mkdtemp(state));
    truth = open_it();
}

static void end(void)
{
    char command[100];
    hub_truth_close(truth);
    snprintf(command, sizeof command, "rm -rf %s", state);
    cr_assert_eq(system(command), 0);
}
TestSuite(jobs, .init = begin, .fini = end);

static int64_t add(const char *target, uint64_t after_ms)
{
    int64_t id = 0;
    const struct hub_job_draft draft = {
        .kind = "transfer", .target = target, .rule = "", .payload = "{}", .after_ms = after_ms};
    DRAFT_OK(hub_job_add(truth, &draft, &id, err));
    return id;
}

static bool take(struct hub_job_row *job)
{
    const enum hub_status st = hub_job_take(truth, &(struct hub_job_lane){0}, 15, job, NULL);
    cr_assert(!st || st == HUB_NOT_FOUND, "%s", hub_status_name(st));
    return !st;
}

static void sql(const char *text)
{
    HUB_CLEANUP(hub_truth_unlock) struct hub_truth *held = hub_truth_lock(truth);
    DRAFT_OK(hub_db_exec(held->db, text, err));
}

static void reopen(void)
{
    hub_truth_close(truth);
    truth = open_it();
}

static bool is_fenced(enum hub_status st, const struct hub_error *err)
{
    return st == HUB_DENIED && err->problem == HUB_PROBLEM_FENCED;
}

Test(jobs, go_through_their_states)
{
    struct hub_job_row job, found;
    const int64_t id = add("a", 0);
    cr_assert(take(&job));
    cr_expect_eq(job.id, id);
    cr_expect_eq(job.attempts, 1);
    cr_expect_str_eq(job.target, "a");
    cr_expect(!take(&found), "it is taken");
    DRAFT_OK(hub_job_keep(truth, hub_job_lease(&job), 15, 3, 7, err));
    DRAFT_OK(hub_job_find(truth, id, &found, err));
    cr_expect_eq(found.state, HUB_JOB_RUNNING);
    cr_expect(found.done == 3 && found.total == 7);
    hub_job_dispose(&found);
    DRAFT_OK(hub_job_end(truth, hub_job_lease(&job), HUB_JOB_FAILED, 0, true, "why", err));
    DRAFT_OK(hub_job_find(truth, id, &found, err));
    cr_expect_eq(found.state, HUB_JOB_FAILED);
    cr_expect_str_eq(found.error, "why");
    cr_expect_gt(found.finished_ms, 0);
    cr_expect_neq(add("a", 0), id, "a new one, now that it ended");
    hub_job_dispose(&found);
    hub_job_dispose(&job);
}

Test(jobs, have_random_ids_for_the_outside)
{
    char ids[50][HUB_JOB_ID + 1];
    struct hub_error err = {0};
    for (size_t i = 0; i < HUB_COUNT(ids); i++) {
        char target[8];
        int64_t found = 0;
        snprintf(target, sizeof target, "%zu", i);
        const int64_t id = add(target, 0);
        DRAFT_OK(hub_job_public_id(truth, id, ids[i], err));
        cr_expect_eq(strspn(ids[i], "abcdefghijklmnopqrstuvwxyz234567"), HUB_JOB_ID);
        for (size_t k = 0; k < i; k++)
            cr_expect_str_neq(ids[k], ids[i]);
        DRAFT_OK(hub_job_of(truth, hub_view_of(ids[i]), &found, err));
        cr_expect_eq(found, id);
    }
    int64_t none = 0;
    cr_expect_eq(hub_job_of(truth, HUB_VIEW("1"), &none, &err), HUB_NOT_FOUND);
    cr_expect_eq(err.problem, HUB_PROBLEM_JOB_NOT_FOUND);
}

Test(jobs, one_is_open_a_target)
{
    struct hub_job_row job;
    struct hub_error err = {0};
    const struct hub_job_draft draft = {
        .kind = "transfer", .target = "a", .rule = "", .payload = "{\"b\":1}"};
    const int64_t id = add("a", 60000);
    cr_expect(!take(&job), "not before its time");
    cr_expect_eq(add("a", 0), id);
    DRAFT_OK(hub_job_add(truth, &draft, NULL, err));
    cr_assert(take(&job), "and what is asked for sooner is due sooner");
    cr_expect_str_eq(job.payload, "{\"b\":1}");
    cr_expect_eq(hub_job_add(truth, &draft, NULL, &err), HUB_EXISTS);
    hub_job_dispose(&job);
}

Test(jobs, several_are_asked_for_at_once)
{
    struct hub_job_row job;
    uint32_t added = 0;
    const struct hub_job_draft drafts[] = {
        {.kind = "transfer", .target = "a", .rule = "", .payload = "{}"},
        {.kind = "transfer", .target = "b", .rule = "", .payload = "{\"b\": 1}"},
        {.kind = "transfer", .target = "c", .rule = "", .payload = "{}"},
    };
    add("a", 0);
    cr_assert(take(&job));
    add("b", 0);
    DRAFT_OK(hub_jobs_add(truth, drafts, HUB_COUNT(drafts), &added, err));
    cr_expect_eq(added, 2, "the one that runs is left as it is");
    hub_job_dispose(&job);
    cr_assert(take(&job));
    cr_expect_str_eq(job.target, "b");
    cr_expect_str_eq(job.payload, drafts[1].payload, "it waited already, and got what is new");
    hub_job_dispose(&job);
    cr_assert(take(&job));
    cr_expect_str_eq(job.target, "c");
    hub_job_dispose(&job);
    cr_expect_not(take(&job));
    DRAFT_OK(hub_jobs_add(truth, NULL, 0, &added, err));
    cr_expect_eq(added, 2);
}

Test(jobs, wait_before_another_try)
{
    struct hub_job_row job;
    add("a", 0);
    cr_assert(take(&job));
    DRAFT_OK(hub_job_end(truth, hub_job_lease(&job), HUB_JOB_WAITING, 60000, true, "later", err));
    hub_job_dispose(&job);
    cr_expect(!take(&job));
    sql("UPDATE jobs SET run_at = run_at - 60000"); /* a minute later */
    cr_assert(take(&job));
    cr_expect_eq(job.attempts, 2);
    DRAFT_OK(hub_job_end(truth, hub_job_lease(&job), HUB_JOB_WAITING, 0, false, NULL, err));
    hub_job_dispose(&job);
    cr_assert(take(&job));
    cr_expect_eq(job.attempts, 2, "an interruption is no try");
    hub_job_dispose(&job);
}

Test(jobs, leases_of_another_start_are_void)
{
    struct hub_job_row job, again;
    struct hub_error err = {0};
    add("a", 0);
    cr_assert(take(&job));
    reopen();
    cr_assert(take(&again), "at once, whatever the lease");
    cr_expect_gt(again.fence, job.fence);
    cr_expect_eq(again.attempts, 1, "a kill is no try");
    cr_expect(is_fenced(hub_job_keep(truth, hub_job_lease(&job), 15, 0, 0, &err), &err));
    cr_expect(is_fenced(hub_job_end(truth, hub_job_lease(&job), HUB_JOB_DONE, 0, true, NULL, &err), &err));
    DRAFT_OK(hub_job_keep(truth, hub_job_lease(&again), 15, 0, 0, err));
    hub_job_dispose(&job);
    hub_job_dispose(&again);
}

Test(jobs, a_clock_that_jumps_takes_nothing_from_who_works)
{
    struct hub_job_row job, again;
    add("a", 0);
    cr_assert(take(&job));
    sql("UPDATE jobs SET lease_until = lease_until - 3600000"); /* an hour ahead */
    cr_expect(!take(&again), "the lease of this very start");
    DRAFT_OK(hub_job_keep(truth, hub_job_lease(&job), 15, 0, 0, err));
    sql("UPDATE jobs SET lease_until = lease_until + 31536000000"); /* a year back */
    DRAFT_OK(hub_job_end(truth, hub_job_lease(&job), HUB_JOB_DONE, 0, true, NULL, err));
    hub_job_dispose(&job);
    add("b", 1000);
    sql("UPDATE jobs SET run_at = run_at + 31536000000 WHERE target = 'b'");
    cr_expect(take(&job), "it does not wait for a year");
    hub_job_dispose(&job);
}

Test(jobs, a_lost_lease_cannot_commit)
{
    struct hub_job_row job, again;
    struct hub_error err = {0};
    struct hub_upstream found;
    const struct hub_upstream new = {.rule = "r", .remote = "http://x", .id = "a", .revision = "1"};
    add("a", 0);
    cr_assert(take(&job));
    /* suspended for too long, beside another hub */
    sql("UPDATE jobs SET owner = 'another', lease_until = 1");
    cr_assert(take(&again));
    cr_expect(is_fenced(hub_upstream_store(truth, hub_job_lease(&job), 0, "a", &new, &err), &err));
    cr_expect_eq(hub_upstream_find(truth, 0, "a", false, &found, NULL), HUB_NOT_FOUND);
    DRAFT_OK(hub_upstream_store(truth, hub_job_lease(&again), 0, "a", &new, err));
    DRAFT_OK(hub_upstream_find(truth, 0, "a", false, &found, err));
    cr_expect_str_eq(found.remote, "http://x");
    hub_upstream_dispose(&found);
    hub_job_dispose(&job);
    hub_job_dispose(&again);
}

static enum hub_status count(void *user, struct hub_job_row *job, struct hub_error *err)
{
    (void)job;
    (void)err;
    ++*(unsigned *)user;
    return HUB_OK;
}

static unsigned jobs_of(int job_state)
{
    unsigned n = 0;
    DRAFT_OK(hub_jobs_each(truth, NULL, job_state, count, &n, err));
    return n;
}

Test(jobs, of_a_rule_are_counted_only_for_who_asks)
{
    struct hub_rule all, some;
    json_t *spec = json_pack("{s:s}", "remote", "http://hub");
    const struct hub_job_draft draft = {.kind = "transfer", .target = "a", .rule = "lab", .payload = "{}"};
    DRAFT_OK(hub_rule_put(truth, "lab", false, spec, err));
    DRAFT_OK(hub_job_add(truth, &draft, NULL, err));
    DRAFT_OK(hub_rule_pause(truth, "lab", true, err));
    DRAFT_OK(hub_rule_left_out(truth, "lab", "{\"count\": 3}", err));
    DRAFT_OK(hub_rule_find(truth, "lab", &all, err));
    DRAFT_OK(hub_rule_find_uncounted(truth, "lab", &some, err));
    cr_expect_eq(all.waiting, 1);
    cr_expect_eq(some.waiting, 0);
    cr_expect(some.paused && some.made_ms == all.made_ms && json_equal(some.spec, all.spec));
    cr_expect(all.left_out && json_equal(some.left_out, all.left_out));
    hub_rule_dispose(&all);
    hub_rule_dispose(&some);
    cr_expect_eq(hub_rule_find_uncounted(truth, "none", &some, NULL), HUB_NOT_FOUND);
    json_decref(spec);
}

Test(jobs, of_rules)
{
    struct hub_rule rule;
    struct hub_job_row job;
    struct hub_error err = {0};
    json_t *spec = json_pack("{s:s}", "remote", "http://hub");
    DRAFT_OK(hub_rule_put(truth, "lab", false, spec, err));
    cr_expect_eq(hub_rule_put(truth, "lab", false, spec, &err), HUB_EXISTS);
    cr_expect_eq(hub_rule_put(truth, "lab", true, spec, &err), HUB_EXISTS, "the file takes none over");
    DRAFT_OK(hub_rules_due(truth, err));
    DRAFT_OK(hub_rules_due(truth, err));
    cr_expect_eq(jobs_of(-1), 1, "one pass at a time");
    DRAFT_OK(hub_rule_pause(truth, "lab", true, err));
    cr_expect(!take(&job), "paused");
    DRAFT_OK(hub_rule_run(truth, "lab", err));
    cr_assert(take(&job));
    cr_expect_str_eq(job.kind, "mirror");
    DRAFT_OK(hub_rule_listed(truth, "lab", 5, 3600000, err));
    DRAFT_OK(hub_rules_finish(truth, err));
    DRAFT_OK(hub_rule_find(truth, "lab", &rule, err));
    cr_expect_eq(rule.synced_ms, 0, "its job runs");
    hub_rule_dispose(&rule);
    DRAFT_OK(hub_job_end(truth, hub_job_lease(&job), HUB_JOB_DONE, 0, true, NULL, err));
    DRAFT_OK(hub_rules_finish(truth, err));
    DRAFT_OK(hub_rule_count(truth, "lab", 7, NULL, err));
    DRAFT_OK(hub_rule_find(truth, "lab", &rule, err));
    cr_expect_gt(rule.synced_ms, 0);
    cr_expect(rule.datasets == 5 && rule.bytes == 7 && rule.transfers == 1 && rule.failures == 0);
    cr_expect_str_eq(json_string_value(json_object_get(rule.spec, "remote")), "http://hub");
    hub_rule_dispose(&rule);
    hub_job_dispose(&job);
    DRAFT_OK(hub_rule_run(truth, "lab", err));
    DRAFT_OK(hub_rules_due(truth, err));
    cr_assert(take(&job));
    DRAFT_OK(hub_rule_remove(truth, "lab", err));
    cr_expect(is_fenced(hub_job_keep(truth, hub_job_lease(&job), 15, 0, 0, &err), &err));
    cr_expect_eq(hub_rule_find(truth, "lab", &rule, NULL), HUB_NOT_FOUND);
    hub_job_dispose(&job);
    json_decref(spec);
}

Test(jobs, that_somebody_asked_for_are_no_lag)
{
    struct hub_rule rule;
    struct hub_job_row job;
    json_t *spec = json_pack("{s:s, s:b}", "remote", "http://hub", "pull", 1);
    const struct hub_job_draft pull = {.kind = "pull", .target = "a", .rule = "up", .payload = "{}"};
    DRAFT_OK(hub_rule_put(truth, "up", true, spec, err));
    DRAFT_OK(hub_rules_due(truth, err));
    cr_assert(take(&job));
    DRAFT_OK(hub_job_add(truth, &pull, NULL, err));
    DRAFT_OK(hub_job_end(truth, hub_job_lease(&job), HUB_JOB_DONE, 0, true, NULL, err));
    DRAFT_OK(hub_rules_finish(truth, err));
    DRAFT_OK(hub_rule_find(truth, "up", &rule, err));
    cr_expect_eq(rule.synced_ms, rule.begun_ms, "the list is as upstream");
    cr_expect_eq(rule.waiting, 1);
    hub_rule_dispose(&rule);
    hub_job_dispose(&job);
    json_decref(spec);
}

/* The rule whose job a thread of the lane gets, or "". The job runs on. */
static const char *take_of(const struct hub_job_lane *lane)
{
    static char rule[8];
    struct hub_job_row job = {0};
    const enum hub_status st = hub_job_take(truth, lane, 15, &job, NULL);
    cr_assert(!st || st == HUB_NOT_FOUND, "%s", hub_status_name(st));
    snprintf(rule, sizeof rule, "%s", st ? "" : job.rule);
    hub_job_dispose(&job);
    return rule;
}

Test(jobs, of_one_rule_leave_a_thread_to_the_others)
{
    const struct hub_job_lane lane = {.kinds = "transfer import", .threads = 3},
                              full = {.kinds = "transfer import", .threads = 2};
    static const char *const targets[] = {"1", "2", "3", "4"};
    json_t *spec = json_object();
    DRAFT_OK(hub_rule_put(truth, "a", false, spec, err));
    DRAFT_OK(hub_rule_put(truth, "b", false, spec, err));
    for (size_t i = 0; i < HUB_COUNT(targets); i++)
        DRAFT_OK(hub_job_add(
            truth,
            &(struct hub_job_draft){.kind = "transfer", .rule = "a", .target = targets[i], .payload = "{}"},
            NULL, err));
    cr_expect_str_eq(take_of(&lane), "a");
    cr_expect_str_eq(take_of(&lane), "a");
    cr_expect_str_eq(take_of(&lane), "", "the third thread is for others");
    cr_expect(!hub_job_rule_waits(truth, &full));
    DRAFT_OK(hub_job_add(
        truth, &(struct hub_job_draft){.kind = "transfer", .rule = "b", .target = "5", .payload = "{}"}, NULL,
        err));
    cr_expect(hub_job_rule_waits(truth, &full));
    cr_expect(!hub_job_rule_waits(truth, &lane), "the third thread takes it");
    cr_expect(!hub_job_rule_waits(truth, &(struct hub_job_lane){.kinds = "pull", .threads = 2}));
    cr_expect_str_eq(take_of(&lane), "b", "though it came last");
    cr_expect(!hub_job_rule_waits(truth, &full));
    cr_expect_str_eq(take_of(&(struct hub_job_lane){.threads = 0}), "a", "of any number of threads");
    json_decref(spec);
}

static enum hub_status note(void *user, const struct hub_upstream_unseen *copy, struct hub_error *err)
{
    (void)err;
    snprintf(user, 20, "%s", copy->path);
    return HUB_OK;
}

Test(jobs, changes_upstream_are_counted)
{
    struct hub_file_facts files[] = {
        {.path = "a", .size = 1},
        {.path = "b", .etag = "\"x\"", .generation = 7, .has_sha256 = true},
        {.path = "c", .other = 2, .sum = {1}, .pieces = HUB_VIEW("pieces")}}; /* hashed later */
    struct hub_upstream new =
        {.rule = "r", .remote = "http://x", .id = "i", .revision = "1", .files = files, .file_count = 3},
                        found;
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf pieces = HUB_BUF_INIT(KIB);
    struct hub_job_row job;
    char gone[20] = "";
    add("i", 0);
    cr_assert(take(&job));
    DRAFT_OK(hub_upstream_store(truth, hub_job_lease(&job), 0, "i", &new, err));
    DRAFT_OK(hub_upstream_find(truth, 0, "i", true, &found, err));
    cr_expect_eq(found.changed_ms, 0);
    cr_assert_eq(found.file_count, 3);
    cr_expect(found.files[1].has_sha256 && !found.files[2].has_sha256);
    cr_expect_str_eq(found.files[1].etag, "\"x\"");
    cr_expect_eq(found.files[1].generation, 7);
    hub_upstream_dispose(&found);
    files[0].path = "aa"; /* a is gone, aa is new, b is another */
    files[1].sha256[0] = 1;
    files[2].has_sha256 = true; /* c is linked, and hashed by now */
    files[2].pieces = (struct hub_view){0};
    new.revision = "2";
    DRAFT_OK(hub_upstream_store(truth, hub_job_lease(&job), 0, "i", &new, err));
    DRAFT_OK(hub_upstream_find(truth, 0, "i", false, &found, err));
    cr_expect(found.added == 1 && found.replaced == 1 && found.removed == 1 && found.changed_ms > 0);
    cr_expect_str_eq(found.was, "1");
    DRAFT_OK(hub_upstream_pieces(truth, 0, "i", "c", &pieces, err));
    cr_expect(hub_view_equal(hub_buf_view(&pieces), HUB_VIEW("pieces")));
    cr_expect_eq(found.gone_ms, 0);
    hub_upstream_dispose(&found);
    DRAFT_OK(hub_upstream_seen(truth, "r", 5, 0, &(struct hub_upstream_seen){"i", true}, 1, err));
    DRAFT_OK(hub_upstream_unseen_each(truth, "r", 5, note, gone, err));
    cr_expect_str_eq(gone, "");
    DRAFT_OK(hub_upstream_unseen_each(truth, "r", 4, note, gone, err));
    cr_expect_str_eq(gone, "i");
    for (int is_gone = 0; is_gone < 2; is_gone++) {
        DRAFT_OK(hub_upstream_mark(truth, 0, "i", is_gone, err));
        DRAFT_OK(hub_upstream_find(truth, 0, "i", false, &found, err));
        cr_expect_eq(found.gone_ms > 0, is_gone);
        cr_expect_eq(found.unlisted_ms > 0, !is_gone);
        hub_upstream_dispose(&found);
    }
    DRAFT_OK(hub_upstream_forget(truth, 0, "i", err));
    cr_expect_eq(hub_upstream_find(truth, 0, "i", false, &found, NULL), HUB_NOT_FOUND);
    hub_job_dispose(&job);
}

/* Rules of before took Minari's datasets, or where there were none the whole as one tree. */
Test(jobs, rules_of_before_take_what_they_took)
{
    static const struct {
        const char *name, *remote, *copied, *only;
    } rules[] = {{"minari", "gcp://lab", "pen-v1", "minari"},
                 {"tree", "gcp://lab", "lab", "tree"},
                 {"below", "gcp://lab/robots/arm", "arm", "tree"},
                 {"other", "gcp://lab/robots-arm", "arm", "minari"},
                 {"none", "gcp://lab", NULL, "minari"},
                 {"repo", "hf://lab/arm", "arm", "minari"},
                 {"hub", "http://hub", "pen-v1", NULL}};
    HUB_CLEANUP(hub_buf_dispose) struct hub_buf step = HUB_BUF_INIT(64 * KIB), rows = HUB_BUF_INIT(64 * KIB);
    for (size_t i = 0; i < HUB_COUNT(rules); i++) {
        DRAFT_OK(hub_buf_addf(&rows, err,
                              "INSERT INTO rules (name, source, spec, made, due) VALUES ('%s', 'command', "
                              "'{\"remote\":\"%s\"}', 1, 0);",
                              rules[i].name, rules[i].remote));
        if (rules[i].copied)
            DRAFT_OK(hub_buf_addf(&rows, err,
                                  "INSERT INTO origins (root, path, rule, remote, remote_id, revision, "
                                  "synced, seen) VALUES ('r', '%zu', '%s', '', '%s', '', 1, 1);",
                                  i, rules[i].name, rules[i].copied));
    }
    sql("ALTER TABLE rules DROP COLUMN left_out");
    sql(rows.data);
    DRAFT_OK(hub_fs_read(AT_FDCWD, HUB_MIGRATIONS "/0009_everything.sql", &step, err));
    sql(step.data);
    for (size_t i = 0; i < HUB_COUNT(rules); i++) {
        HUB_CLEANUP(hub_rule_dispose) struct hub_rule rule = {0};
        DRAFT_OK(hub_rule_find(truth, rules[i].name, &rule, err));
        const char *only = json_string_value(json_object_get(rule.spec, "only"));
        cr_expect_str_eq(only ? only : "", rules[i].only ? rules[i].only : "", "%s", rules[i].name);
    }
}

/* Copies are compared again when a rule asks for something else, not when its text has another order. */
Test(jobs, a_rule_that_says_the_same_compares_nothing)
{
    struct hub_job_row job;
    struct hub_upstream found;
    const struct hub_upstream copy = {.rule = "r", .remote = "http://x", .id = "i", .revision = "1"};
    HUB_CLEANUP(hub_json_decrefp)
    json_t *spec = json_pack("{s:s, s:s}", "only", "minari", "remote", "gcp://x");
    DRAFT_OK(hub_rule_put(truth, "r", true, spec, err));
    add("i", 0);
    cr_assert(take(&job));
    DRAFT_OK(hub_upstream_store(truth, hub_job_lease(&job), 0, "i", &copy, err));
    sql("UPDATE rules SET spec = '{\"remote\":\"gcp://x\",\"only\":\"minari\"}', due = 77");
    for (int other = 0; other < 3; other++) {
        if (other)
            json_object_set_new(spec, "only", json_string("tree"));
        cr_expect_eq(hub_rule_put(truth, "r", other != 1, spec, NULL), other == 1 ? HUB_EXISTS : HUB_OK);
        DRAFT_OK(hub_upstream_find(truth, 0, "i", false, &found, err));
        cr_expect_str_eq(found.revision, other < 2 ? "1" : "", "%d", other);
        hub_upstream_dispose(&found);
    }
    hub_job_dispose(&job);
}
