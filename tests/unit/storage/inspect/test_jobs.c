/* Honest jobs: claims, plans, inspections, what is mended, what is said when files change, workers die or
 * callers cancel. */
#include "storage/inspect/inspector_state.h"
#include "tests/support/inspect_job.h"

#include <signal.h>
#include <sys/wait.h>

static struct hub_inspector_options options(void)
{
    struct hub_inspector_options o = HUB_INSPECTOR_OPTIONS_INIT;
    o.wall_ms = 20000;
    return o;
}

static void set_listing(struct fixture *f, const char *const *names, uint32_t count)
{
    f->job.kind = HUB_JOB_CLAIM;
    f->job.file_count = count;
    for (uint32_t i = 0; i < count; i++)
        f->files[i] =
            (struct hub_job_file){.path = names[i], .size = 1, .directory = strchr(names[i], '.') == NULL};
}

Test(jobs, claims_a_directory_with_the_best_bid_first, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    set_listing(&f, (const char *const[]){"a.one", "dataset.txt", "sub"}, 3);
    cr_assert_eq(fixture_run(&f, NULL), HUB_OK, "%s", f.err.detail);
    cr_assert_eq(f.found.claim_count, 2);
    cr_expect_str_eq(f.found.claims[0].format, "claimer");
    cr_expect_eq(f.found.claims[0].confidence, 80);
    cr_expect_null(f.found.claims[0].name);
    cr_expect_str_eq(f.found.claims[1].format, "low");
    fixture_stop(&f);
}

Test(jobs, claims_files_until_nobody_wants_one, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    set_listing(&f, (const char *const[]){"a.many", "b.one", "c.many", "d.one", "e.txt", "f"}, 6);
    cr_assert_eq(fixture_run(&f, NULL), HUB_OK, "%s", f.err.detail);
    cr_assert_eq(f.found.claim_count, 3);
    cr_expect_str_eq(f.found.claims[0].format, "many");
    cr_expect_eq(f.found.claims[0].file_count, 2);
    cr_expect_eq(f.found.claims[0].files[1], 2);
    cr_expect_str_eq(f.found.claims[1].name, "b.one");
    cr_expect_str_eq(f.found.claims[2].name, "d.one");
    fixture_stop(&f);
}

Test(jobs, one_child_claims_several_listings, .timeout = 60)
{
    static const uint32_t listings[] = {0, 2, 2, 5};
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    set_listing(&f, (const char *const[]){"a.one", "z.txt", "dataset.txt", "e.txt", "sub", "b.one", "c.one"},
                7);
    f.job.listings = listings;
    f.job.listing_count = HUB_COUNT(listings);
    cr_assert_eq(fixture_run(&f, NULL), HUB_OK, "%s", f.err.detail);
    cr_assert_eq(f.found.claim_count, 5);
    static const uint32_t of[] = {0, 2, 2, 3, 3}, files[] = {0, 0, 0, 5, 6};
    for (uint32_t i = 0; i < HUB_COUNT(of); i++) {
        cr_expect_eq(f.found.claims[i].listing, of[i]);
        cr_expect_eq(f.found.claims[i].file_count, files[i] || i == 0 ? 1 : 0);
        if (f.found.claims[i].file_count)
            cr_expect_eq(f.found.claims[i].files[0], files[i], "numbers are those of the job");
    }
    cr_expect_str_eq(f.found.claims[1].format, "claimer");
    cr_expect_str_eq(f.found.claims[4].name, "c.one");
    fixture_stop(&f);
}

Test(jobs, nobody_claims_and_a_claim_may_crash, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    set_listing(&f, (const char *const[]){"readme.txt"}, 1);
    cr_assert_eq(fixture_run(&f, NULL), HUB_OK, "%s", f.err.detail);
    cr_expect_eq(f.found.claim_count, 0);
    set_listing(&f, (const char *const[]){"crash.txt"}, 1);
    cr_expect_eq(fixture_run(&f, NULL), HUB_CORRUPT);
    fixture_stop(&f);
}

Test(jobs, plans, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    f.job.kind = HUB_JOB_PLAN;
    cr_assert_eq(fixture_run(&f, "claimer"), HUB_OK, "%s", f.err.detail);
    cr_assert_eq(f.found.fact_count, 4);
    cr_expect_str_eq(f.found.facts[0].text, "set\xEF\xBF\xBD");
    cr_expect_str_eq(f.found.facts[1].text, "{\"x\":[1,2.5]}");
    cr_expect_eq(strlen(f.found.facts[3].text), 3 * MIB);
    cr_assert_eq(f.found.part_count, 2);
    cr_expect_str_eq(f.found.parts[1].name, "b.txt");
    cr_expect_str_eq(f.found.parts[1].hint, "h");
    cr_expect_eq(f.found.parts[1].files[0], 1);
    cr_assert_eq(f.found.problem_count, 2, "the fact stated twice and the authors that are no list");
    hub_findings_dispose(&f.found);
    cr_expect_eq(fixture_run(&f, "low"), HUB_CORRUPT);
    cr_expect_str_eq(f.err.detail, "the inspector child sent two parts named p");
    cr_expect_eq(fixture_run(&f, "no-such-format"), HUB_CORRUPT);
    fixture_stop(&f);
}

Test(jobs, inspects, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    cr_assert_eq(fixture_run(&f, "honest"), HUB_OK, "%s", f.err.detail);
    cr_assert_eq(f.found.field_count, 1);
    cr_expect_str_eq(f.found.fields[0].path, "rows");
    cr_expect_eq(f.found.fields[0].axis, HUB_AXIS_STEP);
    struct hub_layout layout;
    cr_assert_eq(hub_layout_open(f.found.fields[0].layout, f.found.fields[0].layout_size, &layout, NULL),
                 HUB_OK);
    cr_expect_eq(hub_layout_window(&layout, 0)->count, 3);
    cr_assert_eq(f.found.episode_count, 1);
    cr_expect_eq(f.found.episodes[0].steps, 3);
    cr_expect_eq(f.found.episodes[0].success, -1);
    cr_expect_eq(f.found.side_size, 8);
    cr_assert_eq(f.found.problem_count, 2);
    cr_expect_str_eq(f.found.problems[0].detail, "hint here");
    cr_expect_str_eq(f.found.problems[1].path, "\xEF\xBF\xBD");
    cr_expect_str_eq(f.found.problems[1].detail, "two lines");
    fixture_stop(&f);
}

Test(jobs, fields_beyond_the_limit_are_left_out, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    cr_assert_eq(fixture_run(&f, "crowded"), HUB_OK, "%s", f.err.detail);
    cr_expect_eq(f.found.field_count, HUB_MAX_FIELDS);
    cr_assert_eq(f.found.problem_count, 1);
    cr_expect_str_eq(f.found.problems[0].code, "too-many-fields");
    cr_expect_str_eq(f.found.problems[0].path, "f04096");
    fixture_stop(&f);
}

Test(jobs, mends_what_a_writer_got_wrong, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    cr_assert_eq(fixture_run(&f, "mended"), HUB_OK, "%s", f.err.detail);
    cr_assert_eq(f.found.field_count, 2);
    cr_expect_str_eq(f.found.fields[0].unreadable, "filter 32001");
    cr_expect_eq(strncmp(f.found.fields[1].unreadable, "damaged: ", 9), 0, "%s",
                 f.found.fields[1].unreadable);
    cr_expect_not_null(f.found.fields[1].layout, "which episodes have it is known");
    cr_assert_gt(f.found.problem_count, 1);
    cr_expect_str_eq(f.found.problems[0].code, "bad-field-name");
    const struct hub_found_problem *many = NULL;
    for (uint32_t i = 0; i < f.found.problem_count; i++)
        if (strcmp(f.found.problems[i].code, "many") == 0) {
            cr_expect_null(many, "one line for all of a kind");
            many = &f.found.problems[i];
        }
    cr_assert_not_null(many);
    cr_expect_str_eq(many->detail, "number 0 ... and 299 more");
    cr_assert_eq(f.found.episode_count, 2);
    cr_expect_str_eq(f.found.episodes[0].name, "n\xEF\xBF\xBD");
    cr_expect_eq(f.found.episodes[0].number, -1);
    cr_expect_eq(f.found.episodes[0].steps, 0);
    cr_expect_null(f.found.episodes[0].attributes);
    cr_expect_str_eq(f.found.episodes[0].statistics, "{\"a\":\"NaN\"}");
    fixture_stop(&f);
}

Test(jobs, keeps_files_open_between_reads, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    cr_assert_eq(fixture_run(&f, "read"), HUB_OK, "%s", f.err.detail);
    cr_expect_str_eq(f.found.problems[0].detail, "aaaaa");
    cr_expect_eq(f.opened, 1);
    fixture_stop(&f);
}

Test(jobs, verdicts_and_changes, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    cr_expect_eq(fixture_run(&f, "decline"), HUB_NOT_ACCEPTABLE);
    cr_expect_str_eq(f.err.detail, "not mine");
    cr_expect_eq(fixture_run(&f, "unsupported"), HUB_UNSUPPORTED);
    cr_expect_eq(f.err.problem, HUB_PROBLEM_NO_VERSION);
    f.grown = 10;
    cr_expect_eq(fixture_run(&f, "read"), HUB_CHANGED, "%s", f.err.detail);
    fixture_stop(&f);
}

Test(jobs, a_dead_worker_is_replaced, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    for (int i = 0; i < 3; i++) {
        kill(f.inspector->worker, SIGKILL);
        cr_assert_eq(waitid(P_PID, (id_t)f.inspector->worker, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
        cr_expect_eq(fixture_run(&f, "ordinary"), HUB_OK, "%s", f.err.detail);
    }
    fixture_stop(&f);
}

static void *kill_soon(void *worker)
{
    usleep(200000);
    kill(*(pid_t *)worker, SIGKILL);
    return NULL;
}

Test(jobs, a_worker_may_die_in_the_middle, .timeout = 60)
{
    struct fixture f;
    pthread_t thread;
    fixture_start(&f, HUB_PLANTED, options());
    pid_t worker = f.inspector->worker;
    pthread_create(&thread, NULL, kill_soon, &worker);
    cr_expect_eq(fixture_run(&f, "loop"), HUB_IO);
    cr_expect_str_eq(f.err.detail, "the inspector process ended during the inspection");
    pthread_join(thread, NULL);
    cr_expect_eq(fixture_run(&f, "honest"), HUB_OK, "%s", f.err.detail);
    fixture_stop(&f);
}

Test(jobs, a_worker_that_keeps_dying_is_given_up_for_now, .timeout = 60)
{
    struct fixture f;
    fixture_start(&f, HUB_PLANTED, options());
    enum hub_status st = HUB_OK;
    for (int i = 0; i <= HUB_MAX_RESTARTS && !st; i++) {
        kill(f.inspector->worker, SIGKILL);
        usleep(10000);
        st = fixture_run(&f, "ordinary");
    }
    cr_expect_eq(st, HUB_IO);
    fixture_stop(&f);
}

/* The first child of a process, 0 when there is none. */
static pid_t child_of(pid_t parent)
{
    char path[64];
    int child = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)parent, (int)parent);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &child) != 1)
        child = 0;
    if (file)
        fclose(file);
    return child;
}

static bool gone(pid_t pid)
{
    for (int i = 0; i < 200; i++) {
        char path[64], state = 'X';
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        FILE *file = fopen(path, "r");
        if (!file || fscanf(file, "%*d %*s %c", &state) != 1)
            state = 'X';
        if (file)
            fclose(file);
        if (state == 'X' || state == 'Z')
            return true;
        usleep(10000);
    }
    return false;
}

Test(jobs, nothing_outlives_a_killed_hub, .timeout = 60)
{
    int report[2];
    pid_t worker = 0, job = 0;
    cr_assert_eq(pipe(report), 0);
    const pid_t hub = fork();
    if (hub == 0) {
        struct fixture f;
        fixture_start(&f, HUB_PLANTED, options());
        (void)!write(report[1], &f.inspector->worker, sizeof f.inspector->worker);
        (void)!fixture_run(&f, "loop");
        _exit(0);
    }
    cr_assert_eq(read(report[0], &worker, sizeof worker), (ssize_t)sizeof worker);
    for (int i = 0; i < 200 && job == 0; i++) {
        usleep(10000);
        job = child_of(worker);
    }
    cr_assert_neq(job, 0);
    kill(hub, SIGKILL);
    waitpid(hub, NULL, 0);
    cr_expect(gone(job), "the child ends with its worker");
    cr_expect(gone(worker), "the worker ends with its hub");
}

struct killer {
    struct hub_inspector *inspector;
    char score[16]; /* of the child, for the system that runs out of memory */
};

static void *kill_child(void *arg)
{
    struct killer *k = arg;
    char path[64];
    pid_t job = 0;
    while ((job = child_of(k->inspector->worker)) == 0)
        usleep(1000);
    snprintf(path, sizeof path, "/proc/%d/oom_score_adj", (int)job);
    for (int i = 0; i < 1000 && strcmp(k->score, "1000\n") != 0; i++) {
        FILE *file = fopen(path, "r");
        if (file && !fgets(k->score, sizeof k->score, file))
            k->score[0] = '\0';
        if (file)
            fclose(file);
        usleep(1000);
    }
    kill(job, SIGKILL);
    return NULL;
}

Test(jobs, death_from_outside_is_no_verdict, .timeout = 60)
{
    struct fixture f;
    pthread_t thread;
    fixture_start(&f, HUB_PLANTED, options());
    struct killer killer = {.inspector = f.inspector};
    pthread_create(&thread, NULL, kill_child, &killer);
    cr_expect_eq(fixture_run(&f, "sleep"), HUB_TIMEOUT);
    cr_expect_eq(f.err.problem, HUB_PROBLEM_INSPECTOR_KILLED);
    pthread_join(thread, NULL);
    cr_expect_str_eq(killer.score, "1000\n");
    fixture_stop(&f);
}

Test(jobs, children_share_a_bound_of_memory, .timeout = 60)
{
    struct fixture f;
    struct hub_inspector_options o = options();
    atomic_bool cancel = true;
    o.total_bytes = 3 * GIB;
    fixture_start(&f, HUB_PLANTED, o);
    cr_assert_eq(hub_inspector_reserve(f.inspector, 2 * GIB, NULL, NULL), HUB_OK);
    cr_assert_eq(hub_inspector_reserve(f.inspector, 1 * GIB, NULL, NULL), HUB_OK);
    cr_expect_eq(hub_inspector_reserve(f.inspector, 1, &cancel, NULL), HUB_CANCELLED);
    hub_inspector_release(f.inspector, 2 * GIB);
    cr_expect_eq(hub_inspector_reserve(f.inspector, 2 * GIB, &cancel, NULL), HUB_OK);
    hub_inspector_release(f.inspector, 3 * GIB);
    cr_expect_eq(hub_inspector_reserve(f.inspector, 8 * GIB, &cancel, NULL), HUB_OK, "one alone always may");
    fixture_stop(&f);
}

static void *cancel_soon(void *flag)
{
    usleep(100000);
    *(atomic_bool *)flag = true;
    return NULL;
}

Test(jobs, can_be_cancelled, .timeout = 60)
{
    struct fixture f;
    pthread_t thread;
    atomic_bool cancel = false;
    fixture_start(&f, HUB_PLANTED, options());
    f.job.cancel = &cancel;
    pthread_create(&thread, NULL, cancel_soon, (void *)&cancel);
    cr_expect_eq(fixture_run(&f, "loop"), HUB_CANCELLED);
    pthread_join(thread, NULL);
    fixture_stop(&f);
}

struct racer {
    struct hub_inspector *inspector;
    enum hub_status st;
};

static void *race(void *arg)
{
    struct racer *r = arg;
    for (int i = 0; i < 20 && !r->st; i++) {
        struct fixture f = {.inspector = r->inspector};
        f.files[0] = (struct hub_job_file){"a.txt", 2048, false};
        f.job = (struct hub_job){.kind = HUB_JOB_INSPECT,
                                 .files = f.files,
                                 .file_count = 1,
                                 .part_files = f.part_files,
                                 .part_file_count = 1,
                                 .side_fd = -1,
                                 .open_file = fixture_open,
                                 .user = &f};
        r->st = fixture_run(&f, i % 3 == 1 ? "open" : "read");
        if (i % 3 == 1 && r->st == HUB_CORRUPT)
            r->st = HUB_OK;
        hub_findings_dispose(&f.found);
    }
    return NULL;
}

Test(jobs, many_threads_share_a_worker, .timeout = 60)
{
    struct fixture f;
    pthread_t threads[8];
    struct racer racers[8];
    fixture_start(&f, HUB_PLANTED, options());
    for (int i = 0; i < 8; i++) {
        racers[i] = (struct racer){f.inspector, HUB_OK};
        pthread_create(&threads[i], NULL, race, &racers[i]);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(racers[i].st, HUB_OK);
    }
    fixture_stop(&f);
}

Test(jobs, a_missing_program_is_reported)
{
    struct hub_inspector_options o = options();
    struct hub_inspector *inspector;
    struct hub_error err;
    o.program = "/nowhere/minari-inspect";
    cr_expect_eq(hub_inspector_new(&o, &inspector, &err), HUB_NOT_FOUND);
}
